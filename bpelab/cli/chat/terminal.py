"""The chat in a terminal: messages in, answers out, and a few commands.

Chapter: Chat on your hardware.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from ..._support.nearest_name import nearest
from ..._support.validate import check_size
from ...chat.response import Response, StreamedToken
from ...chat.sampling import SETTINGS
from ...chat.session import ChatSession
from ...errors import BPELabError
from .line_editing import line_editing
from .output import Screen, one_line_error

LEAVE = ("quit", "exit")
LEAST = {"max_new_tokens": 1, "top_tokens": 0}
"""Settings that are a session's own -> the least value."""
HELP = '''\
A message ends with its line. After a backslash at its end it goes on; """ starts and ends a message of many lines.
/help          this
/reset         start again, with the same system message
/system TEXT   start again, with another system message; without TEXT, with none
/template NAME start again, in another format, such as alpaca; without NAME, in the model's own
/save FILE     write the conversation to a file (JSON)
/load FILE     continue a conversation from a file
/retry         ask the last question again, or continue the last text of /raw or /exact
/raw TEXT      let the model continue TEXT, without the template and outside the conversation
/exact TEXT    the same for a TEXT that may end inside a word or after a space
/set NAME N    change a setting (temperature, top_p, max_new_tokens, top_tokens ...); without NAME, show them
/tokens        show where tokens begin and end, or stop showing it
/stats         what the last answer cost
/quit          leave; so do quit, exit and Ctrl-D
Ctrl-C stops an answer. A message that begins with a slash: put a space in front.
Tab completes the names of commands.'''
ENDS = {
    "length": "ended after {n:,} tokens, the most that max_new_tokens allows",
    "context": "ended: the model's context is full",
    "cancelled": "stopped",
}


class Terminal:
    """A conversation with a user at a terminal, whose lines `input` reads."""

    def __init__(self, session: ChatSession, screen: Screen) -> None:
        self._session, self._screen = session, screen
        self._dropped, self._compared = 0, False
        # the text that the last answer continues, and whether exactly; None if it answers a question
        self._continued: tuple[str, bool] | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda rest: screen.note(HELP),
            "/reset": self._reset,
            "/system": self._system,
            "/template": self._template,
            "/save": self._save,
            "/load": self._load,
            "/tokens": self._tokens,
            "/retry": self._retry,
            "/raw": self._raw,
            "/exact": self._exact,
            "/set": self._set,
            "/stats": self._stats,
            "/quit": self._quit,
            "/exit": self._quit,
        }

    def run(self) -> int:
        """Run the conversation until the user leaves, and return the exit code."""
        self._screen.note(banner(self._session))
        with line_editing(self._commands):
            while True:
                try:
                    text = self._message()
                    if text.strip():
                        self._turn(text)
                except EOFError:
                    self._screen.out.write("\n")
                    return 0
                except KeyboardInterrupt:
                    self._screen.note("\nCtrl-D or /quit leaves")
                except (BPELabError, OSError, ValueError) as error:
                    self._screen.note(one_line_error(error))

    def _message(self) -> str:
        """Read a message of one or more lines."""
        line = input("> ")
        if line.startswith('"""'):
            lines = [line[3:]]
            while not lines[-1].endswith('"""'):
                lines.append(input("... "))
            return "\n".join(lines)[:-3].strip("\n")
        lines = [line]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(input("... "))
        return "\n".join(lines)

    def _turn(self, text: str) -> None:
        if text.strip().lower() in LEAVE:
            raise EOFError
        if text.startswith("/"):
            word, _, rest = text.partition(" ")
            if word not in self._commands:
                meant = nearest(word[1:], [name[1:] for name in self._commands])
                near = f"/{meant} is near; " if meant else ""
                raise BPELabError(f"there is no command {word}; {near}/help lists them")
            self._commands[word](rest if word in ("/raw", "/exact") else rest.strip())
            return
        self._ask(text)

    def _ask(self, text: str) -> None:
        """Ask, or let a base model continue the text."""
        if not self._session.takes_messages:
            self._complete(text)
            return
        self._continued = None
        self._show(self._session.stream(text))

    def _complete(self, text: str, exact: bool = False) -> None:
        self._continued = text, exact
        self._show(self._session.stream_completion(text, exact=exact))

    def _show(self, stream: Generator[StreamedToken, None, None]) -> None:
        answer = None
        try:
            with closing(stream) as pieces:
                for piece in pieces:
                    self._screen.piece(piece)
            answer = self._session.last
        except KeyboardInterrupt:  # while a piece was shown: the session keeps the answer so far
            self._screen.note(f"\n({ENDS['cancelled']})")
        finally:
            self._screen.end()
        if answer is not None:
            self._comment(answer)

    def _comment(self, answer: Response) -> None:
        """Show notes about an answer, if there are any."""
        if answer.reason in ENDS:
            self._screen.note(f"({ENDS[answer.reason].format(n=len(answer.ids))})")
        turns = sum(message["role"] == "user" for message in answer.dropped)
        if turns > self._dropped:
            count = "the oldest turn" if turns == 1 else f"the {turns:,} oldest turns"
            self._screen.note(f"(the context is full: {count} of this conversation no longer went to the model)")
        self._dropped = turns
        parity = self._session.parity
        if parity is not None and parity.equal is False and not self._compared:
            self._screen.note(f"({parity.note})")
        self._compared = True

    def _reset(self, rest: str) -> None:
        self._session.reset()
        self._continued = None
        self._screen.note("a new conversation")

    def _system(self, rest: str) -> None:
        self._session.reset(system=rest or None)
        self._continued = None
        self._screen.note("a new conversation, with " + ("that" if rest else "no") + " system message")

    def _template(self, rest: str) -> None:
        from .switching import with_template

        self._session = with_template(self._session, rest)
        self._continued, self._dropped, self._compared = None, 0, False
        own = "in the model's own format" if self._session.takes_messages else "without a format: it continues texts"
        self._screen.note("a new conversation, " + (f"in the format {rest}" if rest else own))

    def _save(self, rest: str) -> None:
        self._session.save(_file(rest, "/save"))
        self._screen.note(f"{rest}: {len(self._session.messages):,} messages written")

    def _load(self, rest: str) -> None:
        self._session.load(_file(rest, "/load"))
        self._continued = None
        self._screen.note(f"{rest}: {len(self._session.messages):,} messages; go on")

    def _tokens(self, rest: str) -> None:
        self._screen.tokens = not self._screen.tokens
        self._screen.note("tokens are " + ("shown" if self._screen.tokens else "not shown"))

    def _retry(self, rest: str) -> None:
        question = None if self._continued else self._session.undo_last_turn()
        if question is None and self._continued is None:
            raise BPELabError("there is nothing to ask or continue again")
        if not self._session.sampling.temperature:
            self._screen.note("(the temperature is 0, so the answer will be the same; /set temperature 0.8)")
        if self._continued:
            self._complete(*self._continued)
        elif question is not None:
            self._ask(question)

    def _raw(self, rest: str) -> None:
        if not rest:
            raise BPELabError("/raw needs a text to continue")
        self._complete(rest)

    def _exact(self, rest: str) -> None:
        if not rest:
            raise BPELabError("/exact needs a text to continue")
        self._complete(rest, exact=True)

    def _set(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        if not name:
            shown = {name: getattr(self._session, name) for name in LEAST} | vars(self._session.sampling)
            self._screen.note("\n".join(f"{setting:20} {now}" for setting, now in shown.items()))
            return
        if name not in (*SETTINGS, *LEAST):
            meant = nearest(name, (*SETTINGS, *LEAST))
            advice = f": did you mean {meant}?" if meant else "; /set lists them"
            raise BPELabError(f"there is no setting {name}{advice}")
        try:
            number: Any = int(value) if value.strip().lstrip("-").isdigit() else float(value)
        except ValueError:
            raise BPELabError(f"/set {name} needs a number, not {value!r}") from None
        if name not in LEAST:
            self._session.sampling = replace(self._session.sampling, **{name: number})
        else:
            check_size(number, name, LEAST[name])
            setattr(self._session, name, number)
        self._screen.note(f"{name} is {number}")

    def _stats(self, rest: str) -> None:
        self._screen.note(statistics(self._session))

    def _quit(self, rest: str) -> None:
        raise EOFError


def _file(name: str, command: str) -> str:
    if not name:
        raise BPELabError(f"{command} needs the name of a file")
    return name


def banner(session: ChatSession) -> str:
    """Return a few lines: the model that answers, what it is, and how to get help."""
    from ...chat.models.find import SHIPPED

    files, backend = session.files, session.backend
    where = f"on {backend.name} ({backend.device}), context {backend.context:,} tokens"
    if files is not None and files.folder == SHIPPED:
        return f"bpelab's own tiny model, {where}. It knows tokens, bytes and merges, and little else.\n/help for help"
    name = "a model" if files is None else files.name
    kind = "" if session.takes_messages else "\nA base model, without a chat template: it continues what you type."
    return f"{name}, {where}{kind}\n/help for help"


def statistics(session: ChatSession) -> str:
    """Return the statistics of the last answer: its cost, and the backend and device that computed it."""
    answer, backend = session.last, session.backend
    if answer is None:
        return "no answer yet"
    used = answer.prompt_tokens + len(answer.ids)
    lines = [
        f"backend   {backend.name} on {backend.device}",
        f"prompt    {answer.prompt_tokens:,} tokens, {answer.reused:,} of them held from before",
        f"answer    {len(answer.ids):,} tokens, ended by {answer.reason}",
        f"context   {used:,} of {backend.context:,} tokens, {used * backend.kv_bytes / 1e6:,.2f} MB of keys and values",
    ]
    if answer.first_token_seconds is not None:
        rate = "" if answer.tokens_per_second is None else f", then {answer.tokens_per_second:,.1f} tokens a second"
        lines.append(f"speed     first token after {answer.first_token_seconds:.3f} s{rate}")
    if answer.divergence is not None:
        lines.append(f"changed   from id {answer.divergence.place:,} on: {answer.divergence.reason}")
    if answer.dropped:
        lines.append(f"left out  {len(answer.dropped):,} messages")
    if session.parity is not None:
        lines.append(f"parity    {session.parity.note}")
    return "\n".join(lines)
