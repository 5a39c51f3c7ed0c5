"""A chat with a model, whose responses arrive token by token. Chapter: A model answers."""

from collections.abc import Callable, Sequence
from html import escape
from threading import Thread
from typing import TYPE_CHECKING, Any

from .._support.textio import utf8, valid_text
from ..chat.response import Response, StreamedToken
from ..errors import BPELabError
from .base import Figure
from .visible import chips, label_text, labels, plain_label, pluralize, quoted, visible

if TYPE_CHECKING:
    from ..chat.session import ChatSession

NO_TEXT = "No text, so no answer."
ENDS = {
    "stop": "The model said a stop token, and the answer ends",
    "length": "The answer ends here, since it may have no more tokens",
    "context": "The context is full, and the answer ends",
    "cancelled": "The answer was stopped",
}


class ChatBox(Figure):
    """A model's responses to `messages`, the last of which is `text`; in Jupyter, the conversation can be continued.

    The session is reset, keeping its system message, and answers all messages at once; a page plays this recording.
    In Jupyter the responses to a reader's own messages arrive token by token and can be stopped. Uses the
    first 300 characters of a message; an empty one is skipped.

    Raises the session's errors: ConversationError, TemplateError, BackendError.

    >>> from bpelab.chat import ChatSession
    >>> box = ChatBox(ChatSession(max_new_tokens=4), "What is a token?")
    >>> len(box.data["turns"][0]["tokens"]), box.data["count"]
    (4, 5)
    """

    name = "chat_box"
    limit = 300

    def __init__(self, session: "ChatSession", messages: str | Sequence[str]) -> None:
        messages = [messages] if isinstance(messages, str) else list(messages)
        self._session, self._earlier = session, messages[:-1]
        self._turns: list[dict[str, Any]] = []
        self._tokens: dict[int, bytes] = {}
        self._worker: Thread | None = None
        super().__init__(messages[-1] if messages else "")
        self.on_msg(self._on_message)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the turns, each with a message and the tokens of the response, [id, probability] each."""
        self._session.reset()
        before, self._turns, self._tokens = (self._turns, self._tokens), [], {}
        try:
            for message in [*self._earlier, text]:
                if message:
                    self._turns.append(self._turn(self.truncate(valid_text(message))))
        except Exception:
            self._turns, self._tokens = before  # so that what is shown can still be continued
            raise
        return self._current_data()

    def _turn(self, message: str, show: Callable[[StreamedToken], None] = lambda token: None) -> dict[str, Any]:
        """Send a message to the session; `show` receives each token as it arrives."""
        tokens = []
        for token in self._session.stream(message):
            self._tokens[token.id] = token.token
            tokens.append([token.id, round(token.probability, 2)])
            show(token)
        response = self._session.last
        assert response is not None
        return {"said": visible(utf8(message)), "tokens": tokens, "cost": self._cost(response), "end": _end(response)}

    def _cost(self, response: Response) -> str:
        """Describe how many tokens of the prompt were computed.

        The first turn may reuse tokens of another conversation, which isn't worth showing.
        """
        fed = f"{pluralize(response.prompt_tokens, 'token')} of prompt"
        return f"{fed}, {response.reused:,} of them held from before" if self._turns else fed

    def _current_data(self) -> dict[str, Any]:
        turns, tokens = [*self._turns], self._tokens
        made = sum(len(turn["tokens"]) for turn in turns)
        begin = f"{pluralize(len(turns), 'message')}, {pluralize(made, 'token')} of answers, none of them said yet."
        return {
            "turns": turns,
            "count": made + 2 * len(turns) - bool(turns),
            "tokens": labels(tokens, tokens),
            "bytes": {str(token): data.hex(" ").upper() for token, data in sorted(tokens.items())},
            "limit": self.limit,
            "begin": begin if turns else NO_TEXT,
            "say": turns[-1]["end"] if turns else NO_TEXT,
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the conversation with its answers as tokens, and the numbers of the last answer."""
        rows = ""
        for turn in data["turns"]:
            response = chips(self._tokens[token] for token, _ in turn["tokens"])
            rows += f"<p>user: {escape(label_text(turn['said']))}</p>\n<p>model: {response}</p>\n"
            rows += f"<p>{escape(turn['end'])}</p>\n"
        if not rows:
            return f"<p>{escape(data['say'])}</p>"
        cells = "".join(
            f"<tr><td>{token}</td><td><code>{escape(plain_label(self._tokens[token]))}</code></td><td>{share:.2f}</td></tr>\n"
            for token, share in data["turns"][-1]["tokens"][:12]
        )
        table = f"<table>\n<tr><th>id</th><th>token</th><th>probability</th></tr>\n{cells}</table>"
        return f"{rows}<p>The last answer begins with</p>\n{table}"

    # -- in a running notebook ---------------------------------------------------------------------------------------

    def _on_message(self, widget: Any, content: Any, buffers: Any) -> None:
        """Handle a message from the front end. A response runs in a thread, so that the next message can stop it."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "cancel":
            self._session.cancel()
        elif kind == "ask" and (self._worker is None or not self._worker.is_alive()):
            message = self.truncate(valid_text(str(content.get("text", ""))))
            if message:
                self._worker = Thread(target=self._respond, args=(message,), daemon=True)
                self._worker.start()

    def _respond(self, message: str) -> None:
        self.send({"kind": "begin", "said": visible(utf8(message))})
        data, error = self.data, ""
        try:
            self._turns.append(self._turn(message, self._send_token))
            data = {**self._current_data(), "note": ""}
            data["start"] = data["count"]
        except BPELabError as exception:
            error = str(exception)
        except Exception as exception:  # a reader gets a sentence, never a traceback
            error = f"The answer broke off: {type(exception).__name__}: {exception}"
        with self.hold_sync():
            self.data, self.error = data, error
        self.send({"kind": "end"})

    def _send_token(self, token: StreamedToken) -> None:
        what = {"id": token.id, "parts": visible(token.token), "bytes": token.token.hex(" ").upper()}
        self.send({"kind": "piece", **what, "share": round(token.probability, 2)})


def _end(response: Response) -> str:
    """Return the sentence of a turn's last step.

    >>> _end(Response("hi", (104, 105), "stop", 9, 0, None, (), 0.1, 50.0))
    'The model said a stop token, and the answer ends: 2 tokens, “hi”.'
    """
    return f"{ENDS[response.reason]}: {pluralize(len(response.ids), 'token')}, {quoted(utf8(response.text), 80)}."
