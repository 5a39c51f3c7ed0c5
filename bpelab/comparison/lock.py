"""Lock ids: record how some texts are encoded, so that a test or a pipeline notices when an id changes.

A lock is a small JSON file: `tokens`, a hash of what each id stands for, and `probes`, texts with their ids. The probes
are texts of many kinds (scripts, numbers, white space, code, names of special tokens) and a sample of the tokens. They
are encoded with special tokens allowed and with the post-processor's tokens.

Cost: encoding a few hundred short texts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from .._support.first_difference import first_difference
from .._support.json_document import read_bytes
from .._support.textio import utf8, valid_text, write_atomically
from ..errors import BPELabError, TokenizerFileError
from .search import observe_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.tokenizer import Tokenizer

FORMAT = "bpelab lock 1"
SAMPLE = 64
"""The number of tokens whose text is a probe."""
PROBES = (
    "", "a", " a", "Hello, world!", "The low, lower, lowest ebb.", "don't DON'T we'll I'm they've",
    " two  spaces   three", "trailing ", "tab\tand\ttabs\n\tx",
    "line\nline\r\nline\n\n\nend", " \n ", "0 12 123 1234 1,234.5 007", "٣ Ⅷ ½ ²",
    "HTTPServer camelCase snake_case", "def f(x):\n    return x + 1\n", "a/b\\c //x #y @z $1", "...!?", "--====",
    "naïve café", "e\u0301 ﬁ \u212b ß İ ǅ ſ", "Ελληνικά русский", "日本語のテキスト。", "汉字", "한국어", "हिन्दी नमस्ते",
    "ภาษาไทย", "עברית", "العربية", "😀 👩\u200d👧 🇺🇸", "\u200b\ufeff\u00a0\u3000", "\ufffd\U0010ffff",
    "<unk> </s> <0x0A> ▁ Ġ ##",
)  # fmt: skip
"""Texts that are in every lock."""


@dataclass(frozen=True)
class MovedProbe:
    """A text in a lock whose ids have changed.

    Attributes:
        text: the text.
        at: the index of the first id that differs.
        locked, now: its ids in the lock and its current ids; an error's name if encoding fails.
    """

    text: str
    at: int
    locked: list[int] | str
    now: list[int] | str

    def __str__(self) -> str:
        shown = [
            ids if isinstance(ids, str) else ids[self.at : self.at + 4] or "no more" for ids in (self.locked, self.now)
        ]
        return f"the ids of {self.text!r} differ from number {self.at} on: {shown[0]} in the lock, {shown[1]} now"


def make_lock(tokenizer: Tokenizer, name: str, texts: Iterable[str] = ()) -> dict[str, Any]:
    """Return a lock as a JSON object: the `name` that opens the tokenizer, and the ids of the probes and `texts`.

    >>> from bpelab import BPETokenizer
    >>> lock = make_lock(BPETokenizer.train("abab", 257), "mine", ["cab"])
    >>> lock["tokenizer"], lock["probes"][-1]
    ('mine', {'text': 'cab', 'ids': [99, 256]})
    """
    tokens = sorted(tokenizer.model.tokens.items())
    sample = [token.decode("utf-8", "ignore") for _, token in tokens[:: len(tokens) // SAMPLE + 1]]
    special = [token.content for token in tokenizer.spec.special_tokens.tokens[:SAMPLE]]
    probes = list(dict.fromkeys(valid_text(text) for text in (*PROBES, *special, *sample, *texts)))
    ids = observe_ids(tokenizer, probes)
    return {
        "format": FORMAT,
        "tokenizer": name,
        "tokens": hash_of_tokens(tokenizer),
        "probes": [{"text": text, "ids": found} for text, found in zip(probes, ids)],
    }


def hash_of_tokens(tokenizer: Tokenizer) -> str:
    """Return the SHA-256, in hexadecimal, of the map from ids to tokens, added tokens included."""
    digest = sha256()
    for kind in (tokenizer.model.tokens, {i: utf8(name) for i, name in tokenizer.spec.special_tokens.contents.items()}):
        for token_id, token in sorted(kind.items()):
            digest.update(b"%d %d " % (token_id, len(token)) + token)
        digest.update(b"\n")
    return digest.hexdigest()


def write_lock(path: Path, lock: dict[str, Any]) -> None:
    """Write a lock atomically, one line per probe."""
    head = {name: value for name, value in lock.items() if name != "probes"}
    lines = [json.dumps(probe, ensure_ascii=False) for probe in lock["probes"]]
    text = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
    probes = ",\n  ".join(lines)
    write_atomically(path, f'{text},\n "probes": [\n  {probes}\n ]\n}}\n'.encode())


def read_lock(path: Path) -> dict[str, Any]:
    """Read a lock. Raises TokenizerFileError, naming the wrong entry, if it isn't one."""
    try:
        lock = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise TokenizerFileError(path, "", f"not a readable lock: {error}") from error
    if not isinstance(lock, dict) or lock.get("format") != FORMAT:
        raise TokenizerFileError(path, "format", f"expected {FORMAT!r}, which `bpelab lock` writes")
    for name in ("tokenizer", "tokens"):
        if not isinstance(lock.get(name), str):
            raise TokenizerFileError(path, name, "expected a string")
    probes = lock.get("probes")
    for number, probe in enumerate(probes if isinstance(probes, list) and probes else [None]):
        ids = probe.get("ids") if isinstance(probe, dict) and isinstance(probe.get("text"), str) else None
        if not isinstance(ids, str) and (
            not isinstance(ids, list) or not all(type(token_id) is int for token_id in ids)
        ):
            raise TokenizerFileError(path, f"probes[{number}]", 'expected {"text": a string, "ids": a list of ids}')
    return lock


def moved_probes(tokenizer: Tokenizer, lock: dict[str, Any]) -> list[MovedProbe]:
    """Return the probes in a lock whose ids have changed, in the lock's order."""
    probes = lock["probes"]
    moved = []
    for probe, now in zip(probes, observe_ids(tokenizer, [probe["text"] for probe in probes])):
        locked = probe["ids"]
        if locked != now:
            failed = isinstance(locked, str) or isinstance(now, str)
            moved.append(MovedProbe(probe["text"], 0 if failed else first_difference(locked, now), locked, now))
    return moved


def verify_lock(tokenizer: Tokenizer, path: Path) -> int:
    """Compare a tokenizer with a lock and return the number of probes.

    Raises BPELabError if an id has changed, naming the first probe and the first id that differ, or if the probes' ids
    are the same but other ids stand for different tokens.
    """
    lock = read_lock(path)
    moved = moved_probes(tokenizer, lock)
    if moved:
        raise BPELabError(
            f"{path}: {len(moved):,} of {len(lock['probes']):,} probes have different ids. The first: {moved[0]}"
        )
    if hash_of_tokens(tokenizer) != lock["tokens"]:
        raise BPELabError(
            f"{path}: all {len(lock['probes']):,} probes have the same ids, but other ids have different tokens now. "
            "To see which, run `bpelab diff` with the locked tokenizer"
        )
    return len(lock["probes"])
