"""A conversation with a model, its answers token by token. Chapter: Chat on your hardware."""

from collections.abc import Callable, Sequence
from html import escape
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..chat.answering import Answer, Piece
from ..errors import BPELabError
from ..textio import utf8, valid_text
from .base import Figure
from .visible import chips, joined, labels, number, plain, quoted, visible

if TYPE_CHECKING:
    from ..chat.session import ChatSession

NOTHING = "No text, so no answer."
ENDS = {
    "stop": "The model said a stop token, and the answer ends",
    "length": "The answer ends here, since it may have no more tokens",
    "context": "The context is full, and the answer ends",
    "cancelled": "The answer was stopped",
}


class ChatBox(Figure):
    """What a model answers to each of `said`, the last of which is `text`; in Jupyter, a box to go on in.

    The session begins anew with the same system message, and is asked everything at once: that is the recording which a
    page plays. In Jupyter the answers to what a reader sends come token by token and can be stopped. Takes 300
    characters of a message; an empty one is not asked.

    Raises what asking raises: ConversationError, TemplateError, BackendError.

    >>> from bpelab.chat import ChatSession
    >>> box = ChatBox(ChatSession(max_new_tokens=4), "What is a token?")
    >>> len(box.data["turns"][0]["tokens"]), box.data["count"]
    (4, 5)
    """

    name = "chat_box"
    limit = 300

    def __init__(self, session: "ChatSession", said: str | Sequence[str]) -> None:
        every = [said] if isinstance(said, str) else list(said)
        self._session, self._before = session, every[:-1]
        self._turns: list[dict[str, Any]] = []
        self._tokens: dict[int, bytes] = {}
        self._worker: Thread | None = None
        super().__init__(every[-1] if every else "")
        self.on_msg(self._received)

    def compute(self, text: str) -> dict[str, Any]:
        """Turns, each with a message and with the tokens of its answer, [id, probability] each."""
        self._session.reset()
        before, self._turns, self._tokens = (self._turns, self._tokens), [], {}
        try:
            for said in [*self._before, text]:
                if said:
                    self._turns.append(self._turn(self.cut(valid_text(said))))
        except Exception:
            self._turns, self._tokens = before  # what is shown stays what can be gone on with
            raise
        return self._shown()

    def _turn(self, said: str, show: Callable[[Piece], None] = lambda piece: None) -> dict[str, Any]:
        """Ask the session; `show` gets each piece as it comes."""
        tokens = []
        for piece in self._session.stream(said):
            self._tokens[piece.id] = piece.token
            tokens.append([piece.id, round(piece.probability, 2)])
            show(piece)
        answer = self._session.last
        assert answer is not None
        return {"said": visible(utf8(said)), "tokens": tokens, "cost": self._cost(answer), "end": _end(answer)}

    def _cost(self, answer: Answer) -> str:
        """What was fed. The first turn may find something held, too: of another conversation, and not worth showing."""
        fed = f"{number(answer.prompt_tokens, 'token')} of prompt"
        return f"{fed}, {answer.reused:,} of them held from before" if self._turns else fed

    def _shown(self) -> dict[str, Any]:
        turns, tokens = [*self._turns], self._tokens
        made = sum(len(turn["tokens"]) for turn in turns)
        begin = f"{number(len(turns), 'message')}, {number(made, 'token')} of answers, none of them said yet."
        return {
            "turns": turns,
            "count": made + 2 * len(turns) - bool(turns),
            "tokens": labels(tokens, tokens),
            "bytes": {str(token): data.hex(" ").upper() for token, data in sorted(tokens.items())},
            "limit": self.limit,
            "begin": begin if turns else NOTHING,
            "say": turns[-1]["end"] if turns else NOTHING,
        }

    def still(self, data: dict[str, Any]) -> str:
        """The conversation, the answers in tokens, and the last one's numbers."""
        rows = ""
        for turn in data["turns"]:
            answer = chips(self._tokens[token] for token, _ in turn["tokens"])
            rows += f"<p>user: {escape(joined(turn['said']))}</p>\n<p>model: {answer}</p>\n"
            rows += f"<p>{escape(turn['end'])}</p>\n"
        if not rows:
            return f"<p>{escape(data['say'])}</p>"
        cells = "".join(
            f"<tr><td>{token}</td><td><code>{escape(plain(self._tokens[token]))}</code></td><td>{share:.2f}</td></tr>\n"
            for token, share in data["turns"][-1]["tokens"][:12]
        )
        table = f"<table>\n<tr><th>id</th><th>token</th><th>probability</th></tr>\n{cells}</table>"
        return f"{rows}<p>The last answer begins with</p>\n{table}"

    # -- in a running notebook ---------------------------------------------------------------------------------------

    def _received(self, widget: Any, content: Any, buffers: Any) -> None:
        """A message of the front end. An answer is made in a thread, so that the next message can stop it."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "cancel":
            self._session.cancel()
        elif kind == "ask" and (self._worker is None or not self._worker.is_alive()):
            said = self.cut(valid_text(str(content.get("text", ""))))
            if said:
                self._worker = Thread(target=self._go_on, args=(said,), daemon=True)
                self._worker.start()

    def _go_on(self, said: str) -> None:
        self.send({"kind": "begin", "said": visible(utf8(said))})
        data, error = self.data, ""
        try:
            self._turns.append(self._turn(said, self._send_piece))
            data = {**self._shown(), "note": ""}
            data["start"] = data["count"]
        except BPELabError as problem:
            error = str(problem)
        except Exception as problem:  # a reader gets a sentence, never a traceback
            error = f"The answer broke off: {type(problem).__name__}: {problem}"
        with self.hold_sync():
            self.data, self.error = data, error
        self.send({"kind": "end"})

    def _send_piece(self, piece: Piece) -> None:
        what = {"id": piece.id, "parts": visible(piece.token), "bytes": piece.token.hex(" ").upper()}
        self.send({"kind": "piece", **what, "share": round(piece.probability, 2)})


def _end(answer: Answer) -> str:
    """What the last step of a turn says.

    >>> _end(Answer("hi", (104, 105), "stop", 9, 0, (), 0.1, 50.0))
    'The model said a stop token, and the answer ends: 2 tokens, “hi”.'
    """
    return f"{ENDS[answer.reason]}: {number(len(answer.ids), 'token')}, {quoted(utf8(answer.text), 80)}."
