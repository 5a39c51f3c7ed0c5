"""`index.json`: the content of a folder of shards, and how far the run that writes it has got.

It is one JSON object. "bpelab_shards" is the version of this format, 1. "complete" is false until everything is
written; until then "position" says where to resume: (index of the input, part of it, ids of that part). "tokens" and
"documents" are totals over all shards. "settings" are the arguments that determine ids and files, with the tokenizer's
fingerprint (fingerprints.py). "inputs" lists the files: path, form, size, time of change and documents. "shards" lists
for each shard its file, its tokens, the documents that begin in it, its SHA-256, and the file with the offsets of these
documents (int64, counted from the shard's first token) with its SHA-256.

The index is written atomically after each shard. Don't train on the folder before "complete" is true.
"""

import json
import re
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .._support.first_difference import first_difference
from .._support.json_document import JSONFile
from .._support.textio import write_atomically
from ..corpus.inputs import Input
from ..errors import ShardsError, TokenizerFileError
from .encoding import Position

NAME, VERSION = "index.json", 1
KEYS = {"shard_format": "shard_form", "input_format": "input_form"}
"""Fields that have an older name as keys in the file -> that key."""
_NAME = re.compile(r"(part-[0-9]{5,}/)?[^/\\:\0]*[^/\\:\0.][^/\\:\0]*")
"""The name of a file in the folder or in a part's folder (distributed.py), never outside."""
T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """The arguments that determine a run's files, besides the inputs; `BPETokenizer.encode_files` explains them.

    Attributes:
        tokenizer: its fingerprint.
        n_vocab: its highest id plus one.
    """

    tokenizer: str
    n_vocab: int
    dtype: str
    shard_format: str
    shard_tokens: int
    input_format: str | None
    separator: str | None
    field: str
    errors: str
    end_of_document: str | None
    allowed_special: list[str]


@dataclass(frozen=True)
class Shard:
    """A shard: its file, its number of tokens, how many documents begin in it, and the file with their offsets."""

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
        """The number of tokens in all shards."""
        return sum(shard.tokens for shard in self.shards)

    @property
    def documents(self) -> int:
        """The number of documents in all shards."""
        return sum(shard.documents for shard in self.shards)

    def write(self, folder: Path) -> None:
        """Write the index to a folder. Raises OSError; the old index is then still there."""
        data: dict[str, Any] = {"bpelab_shards": VERSION, "complete": self.complete}
        data |= {"tokens": self.tokens, "documents": self.documents}
        data |= {"settings": _renamed(asdict(self.settings)), "position": asdict(self.position)}
        data |= {name: [asdict(item) for item in getattr(self, name)] for name in ("inputs", "shards")}
        write_atomically(folder / NAME, (json.dumps(data, indent=1) + "\n").encode())


def read_index(folder: Path) -> Index:
    """Read the index in a folder. Raises ShardsError naming the entry that is wrong."""
    path = folder / NAME
    if not path.exists():
        raise ShardsError(f"{folder}: holds no {NAME}, so it is not a folder of shards")
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
        if index.settings.dtype not in ("uint16", "uint32") or index.settings.shard_format not in ("npy", "bin"):
            raise file.wrong("settings", "the dtype is uint16 or uint32, the shard_form npy or bin")
        return index
    except TokenizerFileError as error:  # the JSON reader's error
        raise ShardsError(str(error)) from error


def _objects(file: JSONFile, data: Any, kind: type[T], where: str) -> list[T]:
    listed = file.expect(data, list, where)
    return [_object(file, item, kind, f"{where}[{index}]") for index, item in enumerate(listed)]


def _object(file: JSONFile, data: Any, kind: type[T], where: str) -> T:
    """Convert a JSON object to a dataclass; it must have exactly the fields: str, int from 0 up, list of str."""
    found, hints = file.expect(data, dict, where), _renamed(get_type_hints(kind))
    if strange := sorted(found.keys() ^ hints.keys()):
        raise file.wrong(where, f"{strange[0][:60]!r} is not an entry of it, or is missing")
    for key, hint in hints.items():
        entry, optional = f"{where}.{key}", isinstance(hint, types.UnionType)
        if optional and found[key] is None:
            continue
        wanted = get_args(hint)[0] if optional else hint
        value = file.expect(found[key], get_origin(wanted) or wanted, entry)
        if isinstance(value, int) and not 0 <= value < 1 << 63:
            raise file.wrong(entry, "is not a number from 0 up")
        for item in value if isinstance(value, list) else ():
            file.expect(item, str, entry)
    return kind(**{name: found[KEYS.get(name, name)] for name in get_type_hints(kind)})


def _renamed(of_fields: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the keys of a mapping from field names to the keys used in the file."""
    return {KEYS.get(name, name): value for name, value in of_fields.items()}


def describe_differences(old: Index, new: Index) -> list[str]:
    """Return one sentence for each setting or input that differs between two runs."""
    before, now = asdict(old.settings), asdict(new.settings)
    found = [
        f"{name} was {_short(before[name])} and is {_short(now[name])}" for name in now if before[name] != now[name]
    ]
    then, given = ([item.path for item in index.inputs] for index in (old, new))
    if then != given:
        at = first_difference(then, given)
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
