"""Batch chat: each line of input is a message, and each answer is printed plainly or as a line of JSON.

Chapter: Chat on your hardware.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict

from ..._support.textio import valid_text
from ...chat.session import ChatSession
from ...errors import BPELabError
from .output import Screen, one_line_error


def answer_lines(session: ChatSession, lines: Iterable[str], screen: Screen, *, as_json: bool) -> int:
    """Answer each non-empty line.

    Returns the exit code: 1 if a line couldn't be answered, 130 if an answer was stopped.

    An error goes to standard error, and with --json also into the line's output.
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
            print(f"bpelab: {one_line_error(error)}", file=sys.stderr)
            if as_json:
                _json_line(screen, {"error": str(error)})
            code = 1
            continue
        answer = session.last
        assert answer is not None
        if as_json:
            changed = answer.divergence and {"place": answer.divergence.place, "reason": answer.divergence.reason}
            _json_line(screen, asdict(answer) | {"dropped": len(answer.dropped), "divergence": changed})
        else:
            screen.end(empty_line=True)
        if answer.reason == "cancelled":
            return 130
    return code


def _json_line(screen: Screen, data: dict[str, object]) -> None:
    screen.out.write(json.dumps(data) + "\n")
    screen.out.flush()
