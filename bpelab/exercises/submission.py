"""What is handed in for the last exercise: a folder, opened by somebody who doesn't trust it.

What is read is no larger than can be handled, nothing in it is run, and other libraries read it in a process of their
own first, since a hostile pattern can keep them busy for ever; ours can't be.

Chapter: Your own tokenizer.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..publishing.card import CARD, TEXT
from ..publishing.hostile import hostile_texts
from ..tokenizer import BPETokenizer
from .rubric import Missing
from .show import code

LARGEST = 5_000_000
MOST_TOKENS = 300_000
TARGETS = {".gguf": "gguf", ".tiktoken": "tiktoken", ".model": "minbpe"}
CHILD = """
import json, sys
from tokenizers import Tokenizer
path, texts = json.load(sys.stdin)
found = Tokenizer.from_file(path)
json.dump([found.encode(text, add_special_tokens=False).ids for text in texts], sys.stdout)
"""
SECONDS = 300


@dataclass
class Work:
    """What was handed in. What is looked at more than once is kept; what can't be had raises Missing each time."""

    folder: Path

    @cached_property
    def tokenizer(self) -> BPETokenizer:
        """As bpelab opens tokenizer.json."""
        if not (self.folder / "tokenizer.json").is_file():
            raise Missing("there is no tokenizer.json", "publish(tokenizer, folder, text) writes one")
        found = BPETokenizer.from_pretrained(self.folder)
        if len(found) > MOST_TOKENS:
            raise Missing(
                f"{len(found):,} tokens", f"hand in one of at most {MOST_TOKENS:,}: larger ones take too long"
            )
        return found

    @cached_property
    def text(self) -> str:
        """The text that numbers were measured on."""
        return self._read(TEXT, "put the text there that your numbers are measured on")

    @cached_property
    def card(self) -> str:
        """The card."""
        return self._read(CARD, "write a card: publish(tokenizer, folder, text) does")

    @cached_property
    def texts(self) -> list[str]:
        """What is encoded: hostile texts, names of added tokens, and the held-out text if there is one."""
        names = [token.content for token in self.tokenizer.added_tokens[:100]]
        texts = [*hostile_texts(), *(form.format(name) for name in names for form in ("{}", "a{}b", " {}\n"))]
        try:
            return [*texts, self.text]
        except Missing:  # costs its own points
            return texts

    @cached_property
    def formats(self) -> list[tuple[str, Path, str]]:
        """The other formats in the folder: name in the card, path, format."""
        files = [path for path in sorted(self.folder.iterdir()) if path.suffix in TARGETS and path.is_file()]
        found = [(path.name, path, TARGETS[path.suffix]) for path in files]
        if (self.folder / "vocab.json").is_file() and (self.folder / "merges.txt").is_file():
            found.append(("vocab.json", self.folder, "gpt2"))
        return found

    def _read(self, name: str, to_do: str) -> str:
        path = self.folder / name
        if not path.is_file():
            raise Missing(f"there is no {name}", to_do)
        if path.stat().st_size > LARGEST:
            raise Missing(
                f"{name} has {path.stat().st_size:,} bytes", f"at most {LARGEST:,} are read here: take a part"
            )
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise Missing(f"{name} is not UTF-8, from byte {error.start:,} on", "write it in UTF-8") from error


def begin(handed_in: Any) -> Work:
    """The work in a folder. Raises Missing for anything else."""
    if not isinstance(handed_in, str):
        raise Missing(code(handed_in), "a folder is asked for, as a str or a Path")
    if not os.path.isdir(os.path.expanduser(handed_in)):
        raise Missing(code(handed_in), "there is no such folder here")
    return Work(Path(os.path.expanduser(handed_in)))


def ids_of_tokenizers(path: Path, texts: list[str]) -> list[list[int]]:
    """The ids that the library tokenizers gives. Raises Missing where it refuses the file, or takes too long."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=json.dumps([str(path), texts]),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Missing(
            f"tokenizers had not finished after {SECONDS} seconds",
            "choose a pattern that doesn't backtrack (chapter 14)",
        ) from error
    if done.returncode:
        said = (done.stderr.strip() or "nothing").splitlines()[-1]
        raise Missing(f"tokenizers says: {said}", "write tokenizer.json with tokenizer.save(folder)")
    ids: list[list[int]] = json.loads(done.stdout)
    return ids


def open_in_transformers(folder: Path) -> Any:
    """What transformers makes of a folder, asked to be quiet and to run nothing that lies in it."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")  # it would say that there is no PyTorch
    from transformers import AutoTokenizer
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity(40)  # errors only
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    finally:
        logging.set_verbosity(level)
