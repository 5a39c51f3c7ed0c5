"""A chat with the scripted backend, for tests that need a terminal: `python -m tests.cli.talk KIND`."""

import sys
import time

from bpelab.chat.session import ChatSession
from bpelab.cli.chat.batch import answer_lines
from bpelab.cli.chat.output import Screen
from bpelab.cli.chat.terminal import Terminal

from ..chat.scripted import Scripted
from ..chat.tiny import tiny_tokenizer

ANSWERS = {
    "echo": lambda said, turn: tiny_tokenizer().encode(f"you said {said!r}"),
    "slow": lambda said, turn: tiny_tokenizer().encode(said if said == "quick" else "word " * 1_000),
    "escape": lambda said, turn: list(b"a\x1b]0;title\x07b\x9b2J\r\xc2\x9b!\n\tc\x7f"),
    "bytes": lambda said, turn: list("né\n\nb".encode()),
}


def main(kind: str, *options: str) -> int:
    backend = Scripted(ANSWERS[kind], context=150 if kind == "echo" else 4096)
    if kind == "slow":
        backend.before = lambda held: time.sleep(0.05)
    session = ChatSession(backend=backend, tokenizer=tiny_tokenizer(), max_new_tokens=1_000 if kind == "slow" else 40)
    screen = Screen(sys.stdout, tokens="--tokens" in options)
    try:
        if "--lines" in options:
            return answer_lines(session, map(str.strip, sys.stdin), screen, as_json=False)
        return Terminal(session, screen).run()
    except KeyboardInterrupt:  # as the command line does
        return 130


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
