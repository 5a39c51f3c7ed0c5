"""Plausible wrong answers to the exercises of *Publish your own tokenizer*.

Those of capstone.4 and capstone.5 are folders, each with one thing wrong with it.
"""

import hashlib
import json
import unicodedata
from functools import lru_cache
from pathlib import Path

from bpelab import BPETokenizer
from bpelab.chat import NAMED
from bpelab.convert import convert
from bpelab.decoders import DecoderSequence, Strip
from bpelab.exercises.chapters.capstone import from_my_text
from bpelab.exercises.chapters.tiktoken import Tokenizer
from bpelab.notebook import passages
from bpelab.publishing import publish
from bpelab.publishing.folder import write_hashes
from bpelab.regex.patterns import PATTERNS

NAMES = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
STORIES, LETTERS = ("\n\n".join(passages(kind).values()) for kind in ("stories", "letters"))


def by_ids(tokenizer, texts):
    first = [tokenizer.encode(text) for text in texts]
    return [text for text, ids in zip(texts, first) if tokenizer.encode(tokenizer.decode(ids)) != ids]


def by_length(tokenizer, texts):
    return [text for text in texts if len(tokenizer.decode(tokenizer.encode(text))) != len(text)]


def up_to_normalization(tokenizer, texts):
    def nfc(text):
        return unicodedata.normalize("NFC", text)

    return [text for text in texts if nfc(tokenizer.decode(tokenizer.encode(text))) != nfc(text)]


def that_come_back(tokenizer, texts):
    return [text for text in texts if tokenizer.decode(tokenizer.encode(text)) == text]


def _rows(card):
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in card.splitlines() if "|" in line]
    return [row for row in rows if len(row) == 2]


def without_commas(card):
    found = {}
    for name, value in _rows(card):
        try:
            found[name] = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            continue
    return found


def percent_is_one(card):
    found = {}
    for name, value in _rows(card):
        try:
            found[name] = float(value.rstrip("%").replace(",", ""))
        except ValueError:
            continue
    return found


def any_digit(card):
    import re

    found = {name: re.search(r"[\d,.]+", value) for name, value in _rows(card)}
    return {name: float(match[0].replace(",", "")) for name, match in found.items() if match}


def only_listed(folder):
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    known = {line[66:]: line[:64] for line in lines}
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    return sorted(name for name in known if known[name] != there.get(name))


def only_there(folder):
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    known = {line[66:]: line[:64] for line in lines}
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    return sorted(name for name in there if known.get(name) != there[name] and name != "SHA256SUMS")


def cut_at_spaces(folder):
    known = dict(line.split()[::-1][:2] for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    del there["SHA256SUMS"]
    return sorted(name for name in known.keys() | there.keys() if known.get(name) != there.get(name))


# -- capstone.4: each is the good folder with one thing changed --------------------------------------------------------


@lru_cache(1)
def tokenizer():
    """A good one, small."""
    found = BPETokenizer.train(
        STORIES, 1200, pattern="llama3", special_tokens=NAMES, eos_token=NAMES[0], progress=False
    )
    return found.with_options(metadata={"chat_template": NAMED["chatml"].source})


@lru_cache(None)
def files(kind):
    """A published folder: name -> content. Published once, so that each wrong answer costs only what it changes."""
    import tempfile

    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "harbour")
        publish(KINDS[kind](), folder, LETTERS)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def written(home, kind="good"):
    """The folder of that kind."""
    folder = Path(home, "harbour")
    folder.mkdir()
    for name, content in files(kind).items():
        (folder / name).write_bytes(content)
    return folder


def edited(home, name, old, new, kind="good"):
    """A folder with one text replaced in one file, and hashes that fit."""
    folder = written(home, kind)
    content = (folder / name).read_bytes()
    assert old.encode() in content
    (folder / name).write_bytes(content.replace(old.encode(), new.encode()))
    write_hashes(folder)
    return folder


KINDS = {
    "good": tokenizer,
    "lossy": lambda: tokenizer().with_options(
        decoder=DecoderSequence((tokenizer().spec.decoder, Strip(content=" ", start=1, stop=0)))
    ),
    "normalized": lambda: tokenizer().with_options(normalizer="NFC"),
    "text between turns": lambda: tokenizer().with_options(metadata={"chat_template": NAMED["alpaca"].source}),
    "no template": lambda: tokenizer().with_options(metadata={}),
    "no end": lambda: tokenizer().with_options(eos_token=None),
    "no special": lambda: BPETokenizer.train(STORIES, 1200, pattern="llama3", progress=False),
    "tiny": lambda: (
        tokenizer()
        .with_options()
        .__class__.train(STORIES, 300, pattern="llama3", special_tokens=NAMES, eos_token=NAMES[0], progress=False)
        .with_options(metadata={"chat_template": NAMED["chatml"].source})
    ),
    "cut otherwise": lambda: BPETokenizer.train(
        LETTERS, 800, pattern=None, special_tokens=NAMES, eos_token=NAMES[0], progress=False
    ).with_options(pattern="llama3", metadata={"chat_template": NAMED["chatml"].source}),
}


def lossy(home):
    return written(home, "lossy")


def formats_disagree(home):
    folder = written(home)
    other = BPETokenizer.train(LETTERS, 700, pattern="llama3", progress=False)
    convert(other, folder / "harbour.tiktoken", "tiktoken")
    write_hashes(folder)
    return folder


def false_numbers(home):
    return edited(home, "README.md", "| bytes per token | ", "| bytes per token | 1")


def forged_by_text(home):
    """A token that its template writes is found in any text, since it isn't special."""
    folder = written(home)
    data = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    data["added_tokens"][2]["special"] = False
    (folder / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
    for name in ("harbour.model", "harbour.vocab", "harbour.tiktoken"):
        (folder / name).unlink()
    convert(BPETokenizer.from_pretrained(folder), folder / "harbour.gguf", "gguf")
    write_hashes(folder)
    return folder


# -- capstone.5: each is the worked answer's folder with one file changed ----------------------------------------------


def nothing_held_out(home):
    from_my_text(home)
    text = Path(home, "text.txt").read_text(encoding="utf-8")
    Path(home, "held-out.txt").write_text(text[-2_000:], encoding="utf-8")
    return home


def the_book_itself(home):
    Path(home, "text.txt").write_text(STORIES, encoding="utf-8")
    Path(home, "held-out.txt").write_text(LETTERS, encoding="utf-8")
    Tokenizer.train(STORIES, 300, PATTERNS["cl100k"].regex).save(Path(home, "mine.tiktoken"))
    return home


def learned_elsewhere(home):
    from_my_text(home)
    Tokenizer.train(LETTERS, 400, PATTERNS["cl100k"].regex).save(Path(home, "mine.tiktoken"))
    return home


def never_saved(home):
    Path(from_my_text(home), "mine.tiktoken").unlink()
    return home


WRONG = {
    "capstone.1": [by_ids, by_length, up_to_normalization, that_come_back],
    "capstone.2": [without_commas, percent_is_one, any_digit],
    "capstone.3": [only_listed, only_there, cut_at_spaces],
    "capstone.4": [lossy, formats_disagree, false_numbers, forged_by_text],
    "capstone.5": [nothing_held_out, the_book_itself, learned_elsewhere, never_saved],
}
