"""Batch chat: each line of input is a message, and each answer is printed plainly or as a line of JSON.

Chapter: Chat on your hardware.
"""

import json
import sys
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import asdict

from ..._support.textio import valid_text
from ...chat.response import StreamedToken, TopToken
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
            if show(session, session.stream(valid_text(line)), screen, as_json=as_json):
                return 130
        except BPELabError as error:
            screen.end()
            print(f"bpelab: {one_line_error(error)}", file=sys.stderr)
            if as_json:
                _json_line(screen, {"error": str(error)})
            code = 1
    return code


def show(session: ChatSession, pieces: Generator[StreamedToken, None, None], screen: Screen, *, as_json: bool) -> int:
    """Show one answer or completion. Returns the exit code: 130 if it was stopped, else 0. Raises BPELabError."""
    tokens = []
    with closing(pieces):
        for piece in pieces:
            if not as_json:
                screen.piece(piece)
            elif piece.top:
                tokens.append(_with_probability(piece) | {"top": [_with_probability(each) for each in piece.top]})
    answer = session.last
    assert answer is not None
    if as_json:
        changed = answer.divergence and {"place": answer.divergence.place, "reason": answer.divergence.reason}
        data = asdict(answer) | {"dropped": len(answer.dropped), "divergence": changed}
        _json_line(screen, data | ({"tokens": tokens} if session.top_tokens else {}))
    else:
        screen.end(empty_line=True)
    return 130 if answer.reason == "cancelled" else 0


def _with_probability(token: StreamedToken | TopToken) -> dict[str, object]:
    """Return a token for JSON; bytes of incomplete characters are \\xNN."""
    return {
        "id": token.id,
        "token": token.token.decode("utf-8", "backslashreplace"),
        "probability": token.probability,
    }


def _json_line(screen: Screen, data: dict[str, object]) -> None:
    screen.out.write(json.dumps(data) + "\n")
    screen.out.flush()
