"""The chat for programs: each line that comes in is a message, and each answer goes out plainly, or as a line of JSON.

Chapter: Chat on your hardware.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict

from ..errors import BPELabError
from ..textio import valid_text
from .screen import Screen, one_line
from .session import ChatSession


def answer_lines(session: ChatSession, lines: Iterable[str], screen: Screen, *, as_json: bool) -> int:
    """An answer to each line that is not empty. The exit code: 1 if one could not be answered, 130 if one was stopped.

    What is wrong with one line goes to standard error, with --json also into its line of output.
    """
    code = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            with closing(session.stream(valid_text(line))) as pieces:
                for piece in pieces:
                    if not as_json:
                        screen.piece(piece)
        except BPELabError as error:
            screen.end()
            print(f"bpelab: {one_line(error)}", file=sys.stderr)
            if as_json:
                _json_line(screen, {"error": str(error)})
            code = 1
            continue
        answer = session.last
        assert answer is not None
        if as_json:
            _json_line(screen, asdict(answer) | {"dropped": len(answer.dropped)})
        else:
            screen.end(empty_line=True)
        if answer.reason == "cancelled":
            return 130
    return code


def _json_line(screen: Screen, data: dict[str, object]) -> None:
    screen.out.write(json.dumps(data) + "\n")
    screen.out.flush()
