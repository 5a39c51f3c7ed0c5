"""The submission of the last exercise: a folder, treated as untrusted.

Files are read up to a maximum size, and nothing in them is run. The library tokenizers reads them in a separate process
first, since a hostile pattern can hang it; bpelab doesn't hang.

Chapter: Publish your own tokenizer.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..analysis.adversarial_texts import hostile_texts
from ..notebook.messages import code
from ..publishing.card import CARD_FILE, TEXT_FILE
from ..tokenizer import BPETokenizer
from .rubric import NotEarned

MAX_BYTES = 5_000_000
MAX_TOKENS = 300_000
TARGETS = {".gguf": "gguf", ".tiktoken": "tiktoken", ".model": "minbpe"}
ENCODE_SCRIPT = """
import json, sys
from tokenizers import Tokenizer
path, texts = json.load(sys.stdin)
tokenizer = Tokenizer.from_file(path)
json.dump([tokenizer.encode(text, add_special_tokens=False).ids for text in texts], sys.stdout)
"""
TIMEOUT = 300


@dataclass
class Submission:
    """A submitted folder. Each part is loaded once; a part that can't be loaded raises NotEarned each time."""

    folder: Path

    @cached_property
    def tokenizer(self) -> BPETokenizer:
        """The tokenizer in tokenizer.json, loaded by bpelab."""
        if not (self.folder / "tokenizer.json").is_file():
            raise NotEarned("there is no tokenizer.json", "publish(tokenizer, folder, text) writes one")
        tokenizer = BPETokenizer.from_pretrained(self.folder)
        if len(tokenizer) > MAX_TOKENS:
            raise NotEarned(
                f"{len(tokenizer):,} tokens", f"hand in one of at most {MAX_TOKENS:,}: larger ones take too long"
            )
        return tokenizer

    @cached_property
    def text(self) -> str:
        """The text that the card's numbers were measured on."""
        return self._read(TEXT_FILE, "put the text there that your numbers are measured on")

    @cached_property
    def card(self) -> str:
        """The card, as Markdown."""
        return self._read(CARD_FILE, "write a card: publish(tokenizer, folder, text) does")

    @cached_property
    def texts(self) -> list[str]:
        """The texts to encode: adversarial texts, names of added tokens, and the held-out text if there is one."""
        names = [token.content for token in self.tokenizer.added_tokens[:100]]
        texts = [*hostile_texts(), *(form.format(name) for name in names for form in ("{}", "a{}b", " {}\n"))]
        try:
            return [*texts, self.text]
        except NotEarned:  # other items judge that
            return texts

    @cached_property
    def formats(self) -> list[tuple[str, Path, str]]:
        """The other formats in the folder: name in the card, path, format."""
        files = [path for path in sorted(self.folder.iterdir()) if path.suffix in TARGETS and path.is_file()]
        formats = [(path.name, path, TARGETS[path.suffix]) for path in files]
        if (self.folder / "vocab.json").is_file() and (self.folder / "merges.txt").is_file():
            formats.append(("vocab.json", self.folder, "gpt2"))
        return formats

    def _read(self, name: str, to_do: str) -> str:
        path = self.folder / name
        if not path.is_file():
            raise NotEarned(f"there is no {name}", to_do)
        if path.stat().st_size > MAX_BYTES:
            raise NotEarned(
                f"{name} has {path.stat().st_size:,} bytes", f"at most {MAX_BYTES:,} are read here: take a part"
            )
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotEarned(f"{name} is not UTF-8, from byte {error.start:,} on", "write it in UTF-8") from error


def open_submission(folder: Any) -> Submission:
    """Return the submission in a folder. Raises NotEarned for anything else."""
    if not isinstance(folder, str):
        raise NotEarned(code(folder), "give a folder, as a str or a Path")
    if not os.path.isdir(os.path.expanduser(folder)):
        raise NotEarned(code(folder), "there is no such folder here")
    return Submission(Path(os.path.expanduser(folder)))


def ids_of_tokenizers(path: Path, texts: list[str]) -> list[list[int]]:
    """Encode texts with the library tokenizers. Raises NotEarned if it refuses the file or takes too long."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", ENCODE_SCRIPT],
            input=json.dumps([str(path), texts]),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotEarned(
            f"tokenizers had not finished after {TIMEOUT} seconds",
            "choose a pattern that doesn't backtrack (see the chapter on pre-tokenization)",
        ) from error
    if done.returncode:
        last_line = (done.stderr.strip() or "nothing").splitlines()[-1]
        raise NotEarned(f"tokenizers says: {last_line}", "write tokenizer.json with tokenizer.save(folder)")
    ids: list[list[int]] = json.loads(done.stdout)
    return ids


def open_in_transformers(folder: Path) -> Any:
    """Open a folder with transformers, quietly and without running any code in it."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")  # it would warn that there is no PyTorch
    from transformers import AutoTokenizer
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity(40)  # errors only
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    finally:
        logging.set_verbosity(level)
