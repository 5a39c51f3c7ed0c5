"""The exercises of *Publish your own tokenizer*."""

import hashlib
import math
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...chat import NAMED
from ...notebook.live_source import book_text, passages
from ...notebook.messages import code
from ...publishing import publish
from ...regex.patterns import PATTERNS
from ...tokenizer import BPETokenizer
from .. import own_text
from ..capstone import RUBRIC
from ..exercise import Exercise
from ..fixtures import trained_tokenizer
from .tiktoken import Tokenizer


def texts_lost(tokenizer, texts):
    """Return the `texts` that don't survive encoding and decoding, in order."""
    return [text for text in texts if tokenizer.decode(tokenizer.encode(text)) != text]


def numbers_of(card):
    """Return {what was measured: number} from the tables of a card in Markdown.

    Only rows with two cells count, and the right one must be a number: "| tokens | 1,190 |".
    A number may have commas, a decimal point and a percent sign, and 47.2% is 0.472. Ignore
    all other rows and lines.
    """
    found = {}
    for line in card.splitlines():
        cells = [cell.strip() for cell in line.strip().split("|")]
        if len(cells) != 4 or cells[0] or cells[3]:
            continue
        if match := re.fullmatch(r"(\d[\d,]*(?:\.\d+)?)(%?)", cells[2]):
            found[cells[1]] = float(match[1].replace(",", "")) / (100 if match[2] else 1)
    return found


def files_changed(folder):
    """Return the names of the files that don't match SHA256SUMS, sorted.

    A line of SHA256SUMS is the SHA-256 of a file in hex, two spaces, and its name. A file
    may have other bytes, may be gone, or may have no line. SHA256SUMS itself has no line.
    `folder` is a Path, and there are no folders in it.
    """
    known, there = {}, {}
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        known[name] = digest
    for path in folder.iterdir():
        if path.name != "SHA256SUMS":
            there[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sorted(name for name in known.keys() | there.keys() if known.get(name) != there.get(name))


def my_tokenizer(home):
    """Train a tokenizer and publish it in a folder inside `home`; return that folder.

    `home` is the path of an empty folder that is deleted after the check.
    """
    letters = list(passages("letters").values())
    corpus = [text for text in book_text().split("\n\n") if not any(text in letter for letter in letters)]
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = BPETokenizer.train(
        corpus, 2000, pattern="llama3", special_tokens=names, eos_token=names[0], progress=False
    )
    tokenizer = tokenizer.with_options(metadata={"chat_template": NAMED["chatml"].source})
    folder = Path(home, "harbour")
    publish(tokenizer, folder, "\n\n".join(letters), about="Trained on the bpelab book without its letters.")
    return folder


def from_my_text(home):
    """Train your own Tokenizer on a text of yours; return the folder `home` with three files.

    text.txt is the text, 10 kB or more. held-out.txt is a text of the same kind, 1 kB or more.
    mine.tiktoken is what your `save` wrote. Train with PATTERNS["cl100k"].regex.
    """
    names = [unicodedata.name(chr(code), "") for code in range(0xA0, 0x500)]  # the names of characters
    text = "\n".join(name for index, name in enumerate(names) if index % 8)
    Path(home, "text.txt").write_text(text, encoding="utf-8")
    Path(home, "held-out.txt").write_text("\n".join(names[::8]), encoding="utf-8")
    Tokenizer.train(text, 400, PATTERNS["cl100k"].regex).save(Path(home, "mine.tiktoken"))
    return home


# -- capstone.1 --------------------------------------------------------------------------------------------------------

TEXTS = [
    "",
    "a",
    "the harbour",
    " a  b\n",
    "A",
    "é",
    "e\u0301",
    "ﬁ",
    "\u212b",
    "日本",
    "\ufffd",
    "a\r\n",
    "<|end|>",
    "x<|end|> ",
]


@lru_cache(1)
def _kinds() -> dict[str, BPETokenizer]:
    whole = trained_tokenizer("the harbour " * 4, 262, {"<|end|>": 261})
    return {"": whole, **{name: whole.with_options(normalizer=name) for name in ("NFC", "NFD", "NFKC")}}


def _lossy_inputs() -> Iterator[tuple[str, list[str]]]:
    for name in _kinds():
        for text in TEXTS:
            yield name, [text]
        yield name, TEXTS
        yield name, TEXTS[::-1]


def _show_lossy(name: str, normalizer: str, texts: list[str]) -> str:
    arguments = f'"the harbour " * 4, 262, special_tokens=["<|end|>"], normalizer={normalizer or None!r}'
    return f"{name}(BPETokenizer.train({arguments}), {code(texts)})"


# -- capstone.2 --------------------------------------------------------------------------------------------------------


def _cards() -> Iterator[tuple[str]]:
    yield ("| tokens | 12 |",)
    yield ("| tokens | 1,190 |",)
    yield ("| bytes per token | 3.125 |",)
    yield ("| cut alike | 47.2% |",)
    yield ("| cut alike | 100% |",)
    yield ("| measured | |\n| --- | ---: |\n| tokens | 12 |\n",)
    yield ("tokens: 12\n\n| tokens | not known |\n| pattern | gpt2 |\n",)
    yield ("| a | 1 | 2 |\n| b | 3 |\n",)
    yield ("  |a|7|  \n|b|  8.50|",)
    yield ("| file | left out |\n| `a.gguf` | nothing |\n| 12 | 1,234,567.5 |\n",)
    yield ("| tokens for 16 spaces | 3 |\n| tokens | 3 spaces |\n| 5% | 5% |\n",)


def _same_numbers(expected: dict[str, float], got: Any) -> bool:
    return expected.keys() == got.keys() and all(math.isclose(expected[name], got[name]) for name in expected)


# -- capstone.3 --------------------------------------------------------------------------------------------------------


def _sums(files: dict[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


def _folders() -> Iterator[tuple[dict[str, bytes]]]:
    was = {"README.md": b"# A\r\n", "tokenizer.json": b"{}", "a b.gguf": b"\xff\x00\n"}
    sums = {"SHA256SUMS": _sums(was)}
    yield (sums | was,)
    yield (sums | was | {"tokenizer.json": b"{} "},)
    yield (sums | was | {"README.md": b"# A\n"},)
    yield (sums | was | {"z.txt": b""},)
    yield (sums | {name: was[name] for name in ("README.md", "a b.gguf")},)
    yield (sums | was | {"a b.gguf": b"\xff\x00\n\n", "README.md": b"", "new": b"{}"},)
    yield ({"SHA256SUMS": b""},)
    yield ({"SHA256SUMS": b"", "x": b"1"},)


def _in_folder(answer: Any, files: dict[str, bytes]) -> Any:
    with tempfile.TemporaryDirectory(prefix="bpelab-") as home:
        for name, content in files.items():
            Path(home, name).write_bytes(content)
        return answer(Path(home))


def _show_folder(name: str, files: dict[str, bytes]) -> str:
    listed = {file: content for file, content in files.items() if file != "SHA256SUMS"}
    lines = [line.partition("  ") for line in files["SHA256SUMS"].decode().splitlines()]
    sums = ", ".join(f"{file} {digest[:8]}..." for digest, _, file in lines)
    return f"{name}(a folder with {listed!r}, and SHA256SUMS of {sums or 'no lines'})"


STUB = '''from bpelab.exercises import my_tokenizer as open_mine
from bpelab.regex.patterns import PATTERNS

Tokenizer = open_mine("trie").Tokenizer


def from_my_text(home):
    """Train your own Tokenizer on a text of yours; return the folder `home` with three files.

    text.txt is the text, 10 kB or more. held-out.txt is a text of the same kind, 1 kB or more.
    mine.tiktoken is what your `save` wrote. Train with PATTERNS["cl100k"].regex.
    """
    ...  # your code here'''

EXERCISES = [
    Exercise(
        "capstone.1",
        "What doesn't come back",
        texts_lost,
        _lossy_inputs,
        (
            "tokenizer.decode(tokenizer.encode(text)) is what comes back.",
            "Compare it with the text itself, and not with anything derived from the text.",
        ),
        level="easy",
        next_step="What a tokenizer loses belongs on its card.",
        call=lambda answer, normalizer, texts: answer(_kinds()[normalizer], texts),
        format_call=_show_lossy,
        is_valid=lambda normalizer, texts: normalizer in _kinds(),
    ),
    Exercise(
        "capstone.2",
        "What a card claims",
        numbers_of,
        _cards,
        (
            'line.strip().split("|") of a row with two cells has four parts; the first and the last are empty.',
            "re.fullmatch says whether the whole cell is a number, and its groups are the number's parts.",
            'float takes no commas: replace(",", "") takes them out.',
        ),
        level="medium",
        next_step="A number that a program can read is one that a program can measure again.",
        equal=_same_numbers,
        is_valid=lambda card: False,
    ),
    Exercise(
        "capstone.3",
        "Changed on the way",
        files_changed,
        _folders,
        (
            "Make two dicts of name -> hash: what SHA256SUMS has, and what is there. Names in one of them count too.",
            "hashlib.sha256(path.read_bytes()).hexdigest() is the hash of a file. Text mode would change line ends.",
            "A name may have spaces in it: cut a line at the first two spaces only.",
        ),
        level="medium",
        next_step="Hashes show that a file has changed, and not who changed it.",
        call=_in_folder,
        format_call=_show_folder,
        is_valid=lambda files: False,
    ),
    Exercise(
        "capstone.4",
        "Your own tokenizer",
        my_tokenizer,
        lambda: iter([]),
        (
            "First hold out a text. Then train with special_tokens= and eos_token=, and give it a chat template.",
            "publish(tokenizer, folder, text) writes everything that is needed, and measures it.",
            "A pattern that llama.cpp has a name for (llama3, gpt2, qwen2) lets the tokenizer go into a GGUF file too.",
        ),
        level="hard",
        next_step="Open the folder with another library and compare the ids on a text that you care about.",
        format_call=lambda name, home: f"{name}(home)",
        rubric=RUBRIC,
    ),
    Exercise(
        "capstone.5",
        "Your tokenizer: your own text",
        from_my_text,
        lambda: iter([]),
        (
            'my_tokenizer("trie").Tokenizer is your class: `train` learns from a text, `save` writes the vocabulary.',
            "Your `train` counts all pairs again for each merge. Begin with a few hundred tokens.",
            "Take a text unlike this book: your mail, a program, another language. Leave out every eighth line, and "
            "hold those lines out.",
        ),
        level="medium",
        next_step="Write the folder where it stays. With my_tokenizer.py, which `what_you_built()` gives you whole, it "
        "needs no bpelab.",
        format_call=lambda name, home: f"{name}(home)",
        rubric=own_text.RUBRIC,
        stub_cell=STUB,
    ),
]
