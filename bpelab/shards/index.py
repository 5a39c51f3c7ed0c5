"""`index.json`: what a folder of shards holds, and how far the run came that writes it.

It is one JSON object. "bpelab_shards" is the version of this form, 1. "complete" is false until all is written; then
"position" says where to go on: (number of the input, part of it, ids of that part). "tokens" and "documents" are those
of all shards. "settings" are the arguments that ids and files follow from, with the tokenizer's fingerprint (see
fingerprint.py). "inputs" lists the files with path, form, size, time of change and documents; "shards" lists file,
tokens, documents that begin in it, SHA-256, and the file of the places where these begin (int64, counted from the
shard's first token) with its SHA-256.

The file is written whole or not at all, after each shard; until "complete" is true nobody should train on the folder.
"""

import json
import re
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ..errors import ShardsError, TokenizerFileError
from ..formats.json_file import JSONFile
from ..textio import write_atomically
from .encoding import Position
from .inputs import Input

NAME, VERSION = "index.json", 1
_NAME = re.compile(r"(part-[0-9]{5,}/)?[^/\\:\0]*[^/\\:\0.][^/\\:\0]*")
"""A file of the folder, or of one of a part's (distributed.py); never one that leads out of it."""
T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """The arguments of a run that its files follow from, beside the inputs; `BPETokenizer.encode_files` explains them.

    Attributes:
        tokenizer: its fingerprint.
        n_vocab: its highest id plus one.
    """

    tokenizer: str
    n_vocab: int
    dtype: str
    shard_form: str
    shard_tokens: int
    input_form: str | None
    separator: str | None
    field: str
    errors: str
    end_of_document: str | None
    allowed_special: list[str]


@dataclass(frozen=True)
class Shard:
    """A shard: its file, how many tokens and documents' beginnings are in it, and the file of these."""

    file: str
    tokens: int
    documents: int
    sha256: str
    documents_file: str
    documents_sha256: str


@dataclass
class Index:
    """The content of an index."""

    settings: Settings
    inputs: list[Input]
    shards: list[Shard] = field(default_factory=list)
    position: Position = field(default_factory=Position)
    complete: bool = False

    @property
    def tokens(self) -> int:
        """Of all shards."""
        return sum(shard.tokens for shard in self.shards)

    @property
    def documents(self) -> int:
        """That begin in any shard."""
        return sum(shard.documents for shard in self.shards)

    def write(self, folder: Path) -> None:
        """Put the index into a folder. Raises OSError; then the one that was there still is."""
        data: dict[str, Any] = {"bpelab_shards": VERSION, "complete": self.complete}
        data |= {"tokens": self.tokens, "documents": self.documents}
        data |= {"settings": asdict(self.settings), "position": asdict(self.position)}
        data |= {name: [asdict(item) for item in getattr(self, name)] for name in ("inputs", "shards")}
        write_atomically(folder / NAME, (json.dumps(data, indent=1) + "\n").encode())


def read_index(folder: Path) -> Index:
    """The index in a folder. Raises ShardsError naming the entry that is wrong."""
    path = folder / NAME
    if not path.exists():
        raise ShardsError(f"{folder}: holds no {NAME}, so it is no folder of shards")
    try:
        file = JSONFile(path)
        if (version := file.data.get("bpelab_shards")) != VERSION:
            raise file.wrong("bpelab_shards", f"expected {VERSION}, found {str(version)[:40]}")
        known = {f.name: file.data.get(f.name) for f in fields(Index)}
        index = Index(
            _object(file, known["settings"], Settings, "settings"),
            _objects(file, known["inputs"], Input, "inputs"),
            _objects(file, known["shards"], Shard, "shards"),
            _object(file, known["position"], Position, "position"),
            file.expect(known["complete"], bool, "complete"),
        )
        for number, shard in enumerate(index.shards):
            for name in (shard.file, shard.documents_file):
                if _NAME.fullmatch(name) is None:
                    raise file.wrong(f"shards[{number}]", f"{name[:60]!r} is not the name of a file in this folder")
        if index.settings.dtype not in ("uint16", "uint32") or index.settings.shard_form not in ("npy", "bin"):
            raise file.wrong("settings", "the dtype is uint16 or uint32, the shard_form npy or bin")
        return index
    except TokenizerFileError as error:  # what the reader of JSON files raises
        raise ShardsError(str(error)) from error


def _objects(file: JSONFile, data: Any, kind: type[T], where: str) -> list[T]:
    listed = file.expect(data, list, where)
    return [_object(file, item, kind, f"{where}[{number}]") for number, item in enumerate(listed)]


def _object(file: JSONFile, data: Any, kind: type[T], where: str) -> T:
    """A dataclass from an object with exactly its fields: strings, whole numbers from 0 up, lists of strings."""
    found, hints = file.expect(data, dict, where), get_type_hints(kind)
    if strange := sorted(found.keys() ^ hints.keys()):
        raise file.wrong(where, f"{strange[0][:60]!r} is not an entry of it, or is missing")
    for name, hint in hints.items():
        place, optional = f"{where}.{name}", isinstance(hint, types.UnionType)
        if optional and found[name] is None:
            continue
        wanted = get_args(hint)[0] if optional else hint
        value = file.expect(found[name], get_origin(wanted) or wanted, place)
        if isinstance(value, int) and not 0 <= value < 1 << 63:
            raise file.wrong(place, "is not a number from 0 up")
        for item in value if isinstance(value, list) else ():
            file.expect(item, str, place)
    return kind(**found)


def differences(old: Index, new: Index) -> list[str]:
    """What another run's settings and inputs have different, in words."""
    before, now = asdict(old.settings), asdict(new.settings)
    found = [
        f"{name} was {_short(before[name])} and is {_short(now[name])}" for name in now if before[name] != now[name]
    ]
    then, given = ([item.path for item in index.inputs] for index in (old, new))
    if then != given:
        at = next((n for n, (a, b) in enumerate(zip(then, given)) if a != b), min(len(then), len(given)))
        two = [repr(paths[at]) if at < len(paths) else "none" for paths in (then, given)]
        return [*found, f"input {at} was {two[0]} and is {two[1]} ({len(then):,} inputs, now {len(given):,})"]
    for a, b in zip(old.inputs, new.inputs):
        changed = [_changed(name, vars(a), vars(b)) for name in ("form", "size", "modified")]
        if any(changed):
            found.append(f"{a.path}: {next(filter(None, changed))}")
    return found


def _changed(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if before[name] == now[name]:
        return ""
    return "was modified since" if name == "modified" else f"its {name} was {before[name]} and is {now[name]}"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
