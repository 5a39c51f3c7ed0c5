"""Bytes per token with and without superwords: `python book/superwords_record.py NAME=FILE ...`, into a record.

Each text, plain or packed by xz, is trained on but for its last sixteenth, on which tokens are counted: words alone,
SuperBPE with three transition points, and BoundlessBPE. So that languages can be compared, `NAME=FILE:SCRIPT` takes
400,000 bytes of the lines most of whose letters are of a script, such as `THAI`: from all of the file, each line once
and as a text by itself, every sixteenth of them unseen. The chapter *Superwords* shows superwords_record.json beside
sizes that it trains itself. A training takes some 2 s for a megabyte.
"""

import argparse
import json
import lzma
import platform
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from bpelab import BPETokenizer, Split, Superwords
from bpelab.bench.machine import machine
from bpelab.notebook import book_text

RECORD = Path(__file__).with_name("superwords_record.json")
UNSEEN, ONE_SCRIPT = 16, 400_000
MARKS = r"\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""SuperBPE's pattern, but for marks, such as vowel signs, which it takes for punctuation."""
METHODS: dict[str, str | Superwords | None] = {
    "words": None,
    "superbpe, 50%": Superwords(transition=0.5),
    "superbpe, 75%": Superwords(transition=0.75),
    "superbpe, 90%": Superwords(transition=0.9),
    "superbpe, 50%, with marks": Superwords(transition=0.5, pattern=MARKS),
    "boundless": "boundless",
}
"""What is trained, with the transition point as a share of the vocabulary."""
BOOK_SIZES, BOOK_SHARES = (1024, 4096), (0.15, 0.3, 0.5, 0.75, 0.9, 0.95, 1)
"""What is trained on the book; a share of 1 is words alone."""


def read(path: Path) -> str:
    """Return the text of a file."""
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == ".xz" else data).decode()


def cut(text: str) -> tuple[list[str], list[str]]:
    """Return what is trained on, and the last sixteenth, which isn't; the border is the end of a line."""
    at = text.index("\n", len(text) - len(text) // UNSEEN) + 1
    return [text[:at]], [text[at:]]


def lines_of(text: str, script: str) -> tuple[list[str], list[str]]:
    """Return lines in one script, to train on and unseen."""
    lines = [line for line in dict.fromkeys(text.splitlines()) if mostly(line, script)]
    step = max(1, sum(len(line.encode()) for line in lines) // ONE_SCRIPT)
    lines = lines[::step]
    while sum(len(line.encode()) for line in lines) > ONE_SCRIPT:
        lines.pop()
    return [line for number, line in enumerate(lines) if number % UNSEEN], lines[::UNSEEN]


def mostly(line: str, script: str) -> bool:
    """Whether most letters of a line are of a script, by the first word of their names in Unicode."""
    letters = [unicodedata.name(char, "").partition(" ")[0] for char in line if unicodedata.category(char)[0] in "LM"]
    return letters.count(script) * 2 > len(letters)


def superwords(tokenizer: BPETokenizer, words: Split) -> dict[int, str]:
    """Return the tokens that the pattern of words would cut, where they are text by themselves: id -> text."""
    found = {}
    for number, token in tokenizer.model.tokens.items():
        text = token.decode("utf-8", "ignore")
        if text.encode() == token and len(words.split(text)) > 1:
            found[number] = text
    return found


def measure(known: list[str], unseen: list[str], size: int, method: str, pattern: str) -> dict[str, Any]:
    """Return one row of the record."""
    tokenizer = BPETokenizer.train(known, size, pattern=pattern, superwords=METHODS[method], progress=False)
    counts = Counter(number for text in unseen for number in tokenizer.encode(text))
    beyond = superwords(tokenizer, Split(pattern))
    return {
        "vocabulary": tokenizer.n_vocab,
        "method": method,
        "pattern": pattern,
        "tokens": counts.total(),
        "superwords": len(beyond),
        "superwords_used": sum(counts[number] for number in beyond),
        "most_frequent": [beyond[number] for number, _ in counts.most_common() if number in beyond][:8],
    }


def measure_text(given: str, sizes: Iterable[int], patterns: Iterable[str]) -> dict[str, Any]:
    """Return what the record has of a text: `NAME=FILE` or `NAME=FILE:SCRIPT`."""
    name, _, place = given.partition("=")
    path, _, script = place.partition(":")
    text = read(Path(path))
    known, unseen = lines_of(text, script) if script else cut(text)
    rows = []
    for size in sizes:
        for pattern in patterns:
            for method in METHODS:
                rows.append(measure(known, unseen, size, method, pattern))
                print(name, rows[-1], file=sys.stderr)
    return {
        "name": name,
        "script": script,
        "sha256": sha256(text.encode()).hexdigest(),
        "bytes_known": sum(len(text.encode()) for text in known),
        "bytes_unseen": sum(len(text.encode()) for text in unseen),
        "rows": rows,
    }


def measure_book() -> list[dict[str, int]]:
    """Return the tokens of the book's last tenth at each transition point, in the sizes that the page reads."""
    text = book_text()
    border = len(text) * 9 // 10
    rows = []
    for size in BOOK_SIZES:
        for share in BOOK_SHARES:
            settings = Superwords(transition=share) if share < 1 else None
            tokenizer = BPETokenizer.train(text[:border], size, superwords=settings, progress=False)
            tokens = tokenizer.count_tokens(text[border:])
            rows.append({"vocabulary": size, "transition": int(share * size), "tokens": tokens})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("texts", nargs="+", metavar="NAME=FILE[:SCRIPT]")
    parser.add_argument("--sizes", type=int, nargs="+", default=[32_000, 64_000], help="tokens of a whole file's text")
    parser.add_argument("--script-size", type=int, default=4096, help="tokens where a script is named")
    parser.add_argument("--out", type=Path, default=RECORD, help="the record; by default that of the book")
    options = parser.parse_args()
    measured = []
    for given in options.texts:
        whole = ":" not in given
        sizes, patterns = (options.sizes, ["cl100k"]) if whole else ([options.script_size], ["cl100k", "o200k"])
        measured.append(measure_text(given, sizes, patterns))
    record = {
        "about": "Tokens of a sixteenth of each text, unseen in training. Written by book/superwords_record.py.",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine() | {"system": platform.system()},
        "book": measure_book(),
        "texts": measured,
    }
    options.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
