"""Tables of vocabularies that were read before, kept per user, so that the second time a file opens at once.

A tokenizer.json of 150,000 tokens takes half a second to parse and check. What came out of it is written, as plain
arrays, into a file named by the SHA-256 of the source, and read from there while the source stays the same. Every file
carries the hash of its own content and is ignored when that doesn't fit; it is written whole or not at all, so two
processes may do so at once; and it can be deleted at any time. Nothing in it is code.

The folder is that of `user_cache.py`. Chapter: File formats.
"""

import contextlib
import hashlib
import json
import sys
from array import array
from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from ..model import BPEModel, RankMerges
from ..no_collection import no_collection
from ..textio import write_atomically
from ..units import Units
from ..user_cache import cache_folder

VERSION = f"bpelab tables 3 {sys.byteorder} {array('I').itemsize}"
SMALLEST = 20_000
"""Tokens from which it pays to keep tables."""
HASH = "_hash_of_tables"


def fingerprint(*parts: bytes) -> str:
    """The name under which tables are kept: a hash of what they come from and of the version of this file's format."""
    digest = hashlib.sha256(VERSION.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def store(name: str, model: BPEModel, extra: Any = None) -> None:
    """Keep a model and anything else that JSON can hold. What can't be written is not kept, and nobody is told."""
    folder = cache_folder()
    if folder is None or len(model.tokens) < SMALLEST or not _holds(model):
        return
    body = _written(model, {"extra": extra, "hash": model_hash(model), "highest": max(model.tokens)})
    digest = hashlib.sha256(body).digest()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(folder / f"{name}.tables", digest + body)


def model_hash(model: BPEModel) -> str | None:
    """A hash of all that a model's ids depend on, known for one that is kept here; None where arrays don't say all."""
    if HASH not in vars(model) and _holds(model):
        vars(model)[HASH] = hashlib.sha256(_written(model, {})).hexdigest()
    known: str | None = vars(model).get(HASH)
    return known


def _written(model: BPEModel, more: dict[str, Any]) -> bytes:
    units = None if model.units is None else {key: _plain(value) for key, value in vars(model.units).items()}
    (units or {}).pop("symbols", None)
    ranked = isinstance(model.merges, RankMerges)
    merges = [] if ranked else sorted((rank, *pair, new) for pair, (rank, new) in model.merges.items())
    numbers = [model.tokens.keys(), map(len, model.tokens.values()), *zip(*merges)]
    arrays = [array("I", column) for column in numbers]
    blob = b"".join(model.tokens.values())
    head = {"units": units, "take_whole": model.take_whole, "ranked": ranked, **more}
    head["sizes"] = [len(column) for column in arrays]
    line = json.dumps(head).encode()
    return b"".join([len(line).to_bytes(8, "little"), line, *(column.tobytes() for column in arrays), blob])


def fetch(name: str) -> tuple[BPEModel, Any] | None:
    """A model that was kept, and what was kept with it; None where there is none, or its file is damaged."""
    folder = cache_folder()
    try:
        data = (folder / f"{name}.tables").read_bytes() if folder is not None else b""
    except OSError:
        return None
    body = memoryview(data)[32:]
    if len(data) < 40 or hashlib.sha256(body).digest() != data[:32]:
        return None
    try:
        return _read(body)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None  # somebody else's file under this name


def _read(body: memoryview) -> tuple[BPEModel, Any]:
    start = 8 + int.from_bytes(body[:8], "little")
    head = json.loads(bytes(body[8:start]))
    columns = []
    for size in head["sizes"]:
        column = array("I")
        column.frombytes(body[start : start + 4 * size])
        columns.append(column)
        start += 4 * size
    model = _later(head, columns, bytes(body[start:]))
    vars(model)[HASH] = head["hash"]
    return model, head["extra"]


def _later(head: dict[str, Any], columns: list[Any], blob: bytes) -> BPEModel:
    """The model, whose dictionaries of a hundred thousand tokens are made when something looks into them."""
    ids, lengths = columns[:2]
    if not SMALLEST <= len(ids) == len(lengths) or sum(lengths) != len(blob):
        raise ValueError("the columns don't fit each other")
    units, highest = None if head["units"] is None else _units(head["units"]), int(head["highest"])

    def load() -> BPEModel:
        with no_collection():  # hundreds of thousands of tuples are made at once, none of them garbage
            return _model(head, units, columns, blob)

    return BPEModel.later(load, head["take_whole"], units, lambda number, text: number > highest and text not in blob)


def _model(head: dict[str, Any], units: Units | None, columns: list[Any], blob: bytes) -> BPEModel:
    ids, lengths, *merged = columns
    ends = list(accumulate(lengths))
    written = [blob[start:end] for start, end in zip([0, *ends], ends)]
    tokens = dict(zip(ids, written))
    by_bytes = dict(zip(written, ids))
    alphabet = units.alphabet(by_bytes) if units else {unit: by_bytes[unit] for unit in map(bytes, zip(range(256)))}
    merges: Mapping[Any, Any] = RankMerges(tokens, by_bytes)
    if not head["ranked"]:
        ranks, left, right, new = merged or ([], [], [], [])
        merges = MappingProxyType(dict(zip(zip(left, right), zip(ranks, new))))
    return BPEModel.unchecked(
        MappingProxyType(tokens), merges, MappingProxyType(alphabet), head["take_whole"], units, by_bytes
    )


def _holds(model: BPEModel) -> bool:
    """Whether the arrays say all: not where ranks are no ids, symbols are units, or two tokens have the same bytes."""
    ranked = isinstance(model.merges, RankMerges) and model.units is not None
    symbols = model.units is not None and model.units.symbols
    return not ranked and not symbols and len(set(model.tokens.values())) == len(model.tokens)


def _plain(value: Any) -> Any:
    return (
        value.decode("latin-1")
        if isinstance(value, bytes)
        else list(value.items())
        if isinstance(value, dict)
        else value
    )


def _units(data: dict[str, Any]) -> Units:
    byte_tokens = None if data["byte_tokens"] is None else dict(data["byte_tokens"])
    texts = {key: data[key].encode("latin-1") for key in ("prefix", "suffix")}
    return Units(**{**data, "byte_tokens": byte_tokens, **texts})
