"""`bpelab chat` as people and programs use it: in a real pseudo-terminal, and through pipes."""

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from bpelab.chat.backends import close_backends
from bpelab.chat.base_models import BaseModelWarning
from bpelab.chat.session import ChatSession
from bpelab.cli.chat.leaving import leaving_at_interrupt
from bpelab.cli.chat.output import escape_controls, probability_line, show_token, wants_colours
from bpelab.cli.main import main

from ..chat.tiny import write_base_llama, write_tiny_llama
from ..conftest import ROOT

pty = pytest.importorskip("pty", reason="pseudo-terminals are a Unix thing")
PATIENCE = 600
"""Seconds after which a program hangs."""


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return write_tiny_llama(tmp_path_factory.mktemp("llama"), context=256)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The same model without a chat template."""
    return write_base_llama(tmp_path_factory.mktemp("base"), 256)


def model(folder) -> list[str]:
    return [str(folder), "--backend", "reference"]


def heeds_interrupts() -> None:
    """In a new process: SIGINT is not ignored, as it is by what runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def at_a_terminal() -> None:
    """In a new process: its input is its terminal, so that ^C is a signal."""
    import fcntl
    import termios

    heeds_interrupts()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Typist:
    """Someone at a terminal."""

    def __init__(self, words, **environment: str) -> None:
        self._hand, far = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", **environment}
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdin=far,
            stdout=far,
            stderr=far,
            cwd=ROOT,
            env={name: value for name, value in environment.items() if value},
            start_new_session=True,
            preexec_fn=at_a_terminal,  # noqa: PLW1509 - no thread runs here
        )
        os.close(far)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._hand, text.encode())

    def until(self, *texts: str) -> str:
        """What comes until these texts have come, in this order; it ends with the last of them."""
        taken = ""
        for text in texts:
            while text not in self.seen:
                assert self._more(), f"{text!r} didn't come: {self.seen!r}"
            before, _, self.seen = self.seen.partition(text)
            taken += before + text
        return taken

    def interrupt(self, text: str) -> None:
        """^C, until `text` comes; again after a while, since readline misses one that comes just before it waits."""
        for _ in range(10):
            self.type("\x03")
            while text not in self.seen and self._more(15):
                pass
            if text in self.seen:
                break
        self.until(text, "> ")

    def rest(self) -> int:
        """Wait for the end; the exit code."""
        while self._more():
            pass
        return self.process.wait(PATIENCE)

    def _more(self, patience: float = PATIENCE) -> bool:
        """Read what has come, less what readline says to the terminal; whether there was something."""
        if not select.select([self._hand], [], [], patience)[0]:
            return False
        try:
            data = os.read(self._hand, 1 << 16).decode("utf-8", "surrogateescape")
        except OSError:  # the program has ended
            return False
        self.seen = re.sub(r"\x1b\[\?2004[hl]\r?", "", self.seen + data)
        return bool(data)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._hand)


@contextmanager
def typist(*words, **environment):
    found = Typist(words, **environment)
    try:
        yield found
    finally:
        found.close()


def talk(kind: str, *words: str, **environment):
    environment = {"BPELAB_CACHE": os.environ["BPELAB_CACHE"] + "/none", **environment}
    return typist("-m", "tests.cli.talk", kind, *words, **environment)


# -- a terminal ------------------------------------------------------------------------------------------------------


def test_a_conversation_in_a_terminal():
    with talk("echo") as person:
        person.until("/help for help", "> ")
        person.type("Hello\n")
        person.until("you said 'Hello'", "> ")
        person.type("one \\\ntwo\\\nthree\n")
        person.until("... ", "... ", r"you said 'one \ntwo\nthree'", "> ")
        person.type('"""first\nsecond\n\nfourth"""\n')
        person.until(r"you said 'first\nsecond\n\nfourth'", "> ")
        person.type(" /reset is text here\n")
        person.until("you said ' /reset is text here'", "> ")
        person.type("\n")
        person.until("> ")
        person.type("/quit\n")
        assert person.rest() == 0
        assert "you said" not in person.seen


def test_commands(tmp_path):
    file = tmp_path / "with spaces.json"
    with talk("echo") as person:
        person.until("> ")
        for typed, expected in [
            ("/help", "Ctrl-C stops an answer"),
            ("/stats", "no answer yet"),
            ("/nonsense", "there is no command /nonsense; /help lists them"),
            ("/save", "/save needs the name of a file"),
            ("/system Be kind.", "a new conversation, with that system message"),
            ("Hello", "you said 'Hello'"),
            ("/stats", "scripted on paper"),
            (f"/save {file}", "3 messages written"),
            ("/reset", "a new conversation"),
            (f"/load {file}", "3 messages; go on"),
            (f"/load {tmp_path}/none", "none: can't be read: No such file"),
            ("/save /no/such/folder/x", "can't be written: No such file"),
            ("/tokens", "tokens are shown"),
            ("/tokens", "tokens are not shown"),
            ("/raw", "/raw needs a text to continue"),
            ("/exact", "/exact needs a text to continue"),
            ("x " * 300, "larger context"),
            ("Still here", "you said 'Still here'"),
            ("/system", "with no system message"),
        ]:
            person.type(typed + "\n")
            person.until(expected, "> ")
        person.type("\x04")
        assert person.rest() == 0
    saved = json.loads(file.read_text())
    assert [message["content"] for message in saved["messages"]] == ["Be kind.", "Hello", "you said 'Hello'"]


def test_settings_and_asking_again():
    with talk("echo") as person:
        person.until("> ")
        for typed, expected in [
            ("/retry", "there is nothing to ask or continue again"),
            ("Hello", "you said 'Hello'"),
            ("/retry", "the temperature is 0"),
            ("/set", "max_new_tokens"),
            ("/set temperature 0.5", "temperature is 0.5"),
            ("/set top_k 3", "top_k is 3"),
            ("/set max_new_tokens 9", "max_new_tokens is 9"),
            ("/set top_tokens -1", "a whole number from 0 up"),
            ("/set top_tokens 1", "top_tokens is 1"),
            ("Hello", " 0.962   '"),
            ("/set top_tokens 0", "top_tokens is 0"),
            ("/set temprature 1", "there is no setting temprature: did you mean temperature?"),
            ("/set temperature hot", "/set temperature needs a number, not 'hot'"),
            ("/set top_p 7", "top_p"),
            ("/set max_new_tokens 0", "a whole number from 1 up"),
            ("/retyr", "there is no command /retyr; /retry is near"),
        ]:
            person.type(typed + "\n")
            person.until(expected, "> ")
        person.type("/sta\t\n")
        person.until("scripted on paper", "> ")
        person.type("exit\n")
        assert person.rest() == 0


@pytest.mark.parametrize("word", ["quit", "exit", "/exit"])
def test_words_that_leave(word):
    with talk("echo") as person:
        person.until("> ")
        person.type(f"{word}\n")
        assert person.rest() == 0
        assert "you said" not in person.seen


@pytest.mark.slow
def test_ctrl_c_stops_an_answer_and_not_the_chat():
    with talk("slow") as person:
        person.until("> ")
        person.type("long\n")
        person.until("word word")
        person.interrupt("(stopped)")
        person.type("quick\n")
        person.until("quick\r\n> ")
        person.type("half a message")
        person.until("half a message")
        person.interrupt("Ctrl-D or /quit leaves")
        person.type("begun \\\n")
        person.until("... ")
        person.interrupt("Ctrl-D or /quit leaves")
        person.type("quick\n")
        person.until("quick\r\n> ")
        person.type("\x04")
        assert person.rest() == 0


def test_what_is_left_out_is_said():
    with talk("echo") as person:
        person.until("> ")
        for number in range(8):
            person.type(f"message {number}\n")
            person.until("you said", "> ")
            if "oldest turn" in person.seen:
                break
        person.type("message again\n")
        person.until("oldest turn", "no longer went to the model", "> ")


def test_colours_are_for_terminals(monkeypatch):
    class Out(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_colours(Out())
    assert not wants_colours(io.StringIO())
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert not wants_colours(Out())


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_colours(environment):
    with talk("bytes", "--tokens", **environment) as person:
        banner = person.until("> ")
        person.type("x\n")
        person.until("x\r\n")
        shown = person.until("> ").replace("\r", "")
    if environment:
        assert "\x1b" not in banner
        assert shown == "n|\\xc3|\\xa9|\n|\n|b\n> "
    else:  # the two line feeds take the second colour and the first
        one, two, end = "\x1b[30;46m", "\x1b[30;43m", "\x1b[0m"
        assert banner.startswith("\x1b[2m")
        assert shown == f"{one}n{end}{two}\\xc3{end}{one}\\xa9{end}\n\n{two}b{end}\n> "


def test_escape_sequences_do_not_reach_the_terminal():
    with talk("escape", NO_COLOR="1") as person:
        person.until("> ")
        person.type("x\n")
        person.until("x\r\n")
        shown = person.until("> ")
        assert shown == r"a\x1b]0;title\x07b" + "\ufffd" + r"2J\x0d\x9b!" + "\r\n\tc" + r"\x7f" + "\r\n> "
        person.type("/tokens\nx\n")
        person.until("are shown", "x\r\n")
        shown = person.until("> ")
        assert r"\x9b|2|J|\x0d|\xc2|\x9b|!|" in shown
        assert not any((ord(char) < 32 and char not in "\t\r\n") or 127 <= ord(char) < 160 for char in shown)


def test_harmless():
    every = "".join(map(chr, range(0x110)))
    shown = escape_controls(every)
    assert not [char for char in shown if (ord(char) < 32 or 127 <= ord(char) < 160) and char not in "\n\t"]
    assert [char for char in shown if char.isalpha()]
    assert escape_controls("日本\n\t é") == "日本\n\t é"
    assert show_token("é".encode()[:1]) == "\\xc3"
    assert show_token(b"\x1b[2J") == "\\x1b[2J"


def test_history(tmp_path):
    pytest.importorskip("readline")
    cache = tmp_path / "cache"
    with talk("echo", BPELAB_CACHE=str(cache)) as person:
        person.until("> ")
        person.type("an earlier question\n")
        person.until("you said", "> ")
        person.type("/quit\n")
        assert person.rest() == 0
    file = cache / "chat_history"
    assert file.stat().st_mode & 0o777 == 0o600
    with talk("echo", BPELAB_CACHE=str(cache)) as person:
        person.until("> ")
        person.type("\x1b[A\x1b[A\n")
        person.until("you said 'an earlier question'", "> ")
        person.type("\x04")
        assert person.rest() == 0
    assert "an earlier question" in file.read_text()
    file.write_bytes(b"".join(b"line %d\n" % number for number in range(3_000)) + b"\xff\xfe\x00\x01")
    with talk("echo", BPELAB_CACHE=str(cache)) as person:  # too long a file, and what was never written
        person.until("> ")
        person.type("Hello\n")
        person.until("you said 'Hello'", "> ")
        person.type("/quit\n")
        assert person.rest() == 0
    assert file.read_bytes().count(b"\n") <= 1_001
    assert b"line 2999" in file.read_bytes()


def test_no_history_where_nothing_is_kept(tmp_path):
    with talk("echo", BPELAB_CACHE="", HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "x")) as person:
        person.until("> ")
        person.type("secret\n/quit\n")
        person.until("you said")
        assert person.rest() == 0


def test_a_real_model_in_a_terminal(llama):
    words = ("-m", "bpelab", "chat", *model(llama), "--max-new-tokens", "20")
    with typist(*words) as person:
        person.until("reference (", "> ")
        person.type("Hello\n")
        person.until("\r\n", "> ")
        person.type("/stats\n")
        person.until("first token after", "> ")
        person.type("\x04")
        assert person.rest() == 0


def test_what_is_asked_or_continued_again(llama):
    """The last of both, and nothing in a new conversation."""
    session = ChatSession(llama, max_new_tokens=5)
    asked, continued = session.ask("Hello").prompt_tokens, session.complete("Hello").prompt_tokens
    assert asked != continued
    with typist("-m", "bpelab", "chat", *model(llama), "--max-new-tokens", "5") as person:
        person.until("> ")
        for typed, prompt in (("Hello", asked), ("/raw Hello", continued), ("Hello", None), ("/raw Hello", continued)):
            for again in (typed, "/retry"):
                person.type(again + "\n")
                person.until("\r\n", "> ")
                person.type("/stats\n")
                person.until(f"prompt    {prompt} tokens" if prompt else "prompt", "> ")
        for typed, answer in (("/reset", "a new conversation"), ("/retry", "nothing to ask or continue again")):
            person.type(typed + "\n")
            person.until(answer, "> ")
        person.type("\x04")
        assert person.rest() == 0


def shown_tokens(session, answer) -> str:
    """An answer as a terminal shows it with /tokens."""
    return "|".join(map(show_token, session.tokenizer.convert_ids_to_tokens(answer.ids))).replace("\n", "\r\n")


def test_a_base_model_in_a_terminal(base):
    """It continues what is typed, and says in its first lines that it does."""
    session = ChatSession(base, max_new_tokens=20)
    spaced, plain = session.complete("Hello  "), session.complete("Hello")
    exact = session.complete("Hello  ", exact=True)
    assert spaced.ids != plain.ids
    with typist("-m", "bpelab", "chat", *model(base), "--max-new-tokens", "20", "--tokens", NO_COLOR="1") as person:
        person.until("A base model, without a chat template: it continues what you type.", "> ")
        typed_answers = [
            ("Hello", plain),
            ("/raw Hello  ", spaced),
            ("/retry", spaced),
            ("/exact Hello  ", exact),
            ("/retry", exact),
            ("Hello", plain),
            ("/retry", plain),
        ]
        for typed, answer in (*typed_answers, ("/system Be kind.", None)):
            person.type(typed + "\n")
            if answer is None:
                person.until("is a base model", "> ")
                continue
            person.until(shown_tokens(session, answer), "> ")
        person.type("\x04")
        assert person.rest() == 0


LOADING = """
import hashlib, sys, time
from bpelab.cli.chat.leaving import leaving_at_interrupt
with leaving_at_interrupt():
    try:
        print("loading", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9) if sys.argv[1] == "C" else time.sleep(600)
    except KeyboardInterrupt:
        print("cleaned up", flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize(("works_in", "last"), [("C", "^C"), ("Python", "cleaned up")])
def test_ctrl_c_while_a_model_loads(works_in, last):
    """A call of C keeps Python from noticing; without the watcher, this one would go on for minutes."""
    with typist("-c", LOADING, works_in) as person:
        person.until("loading")
        person.type("\x03")
        start = time.monotonic()
        assert person.rest() == 130
        assert time.monotonic() - start < 20  # half a second, if the machine isn't busy
        assert last in person.seen


def test_signals_are_as_before():
    """The process goes on after loading: its threads, its files and what Ctrl-C does."""
    former = signal.set_wakeup_fd(-1)
    with leaving_at_interrupt(), leaving_at_interrupt():
        inner = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(inner)
        assert inner != -1
    assert signal.set_wakeup_fd(former) == -1
    assert "bpelab-interrupt" not in [thread.name for thread in threading.enumerate()]
    with ThreadPoolExecutor(1) as pool:  # which gets no signals
        assert "bpelab-interrupt" not in pool.submit(names_while_loading).result()


def names_while_loading() -> list[str]:
    with leaving_at_interrupt():
        return [thread.name for thread in threading.enumerate()]


def test_another_template_in_a_terminal(base):
    """The model stays, the conversation doesn't; without a name, a base model continues texts again."""
    session = ChatSession(base, max_new_tokens=20)
    with pytest.warns(BaseModelWarning):
        asked = ChatSession(base, template="chatml", system="Be kind.", max_new_tokens=20)
    with typist("-m", "bpelab", "chat", *model(base), "--max-new-tokens", "20", "--tokens", NO_COLOR="1") as person:
        person.until("> ")
        for typed, expected in [
            ("/template llama3", "needs tokens that"),
            ("/template chatml", "wasn't trained on messages in this format"),
            ("/system Be kind.", "a new conversation, with that system message"),
            ("/template chatml", "a new conversation, in the format chatml"),
            ("Hello", shown_tokens(asked, asked.ask("Hello"))),
            ("/template", "a new conversation, without a format"),
            ("Hello", shown_tokens(session, session.complete("Hello"))),
        ]:
            person.type(typed + "\n")
            person.until(expected, "> ")
        person.type("\x04")
        assert person.rest() == 0


# -- pipes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(capsysbinary, monkeypatch):
    """Runs `bpelab chat`, or another command, in this process, whose input is a pipe."""

    def run(*words, stdin: bytes = b"", command=("chat",)) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([*map(str, (*command, *words))])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def test_lines_from_a_pipe(run, llama):
    session = ChatSession(llama, backend="reference", max_new_tokens=12)
    expected = [session.ask(text) for text in ("Rain", "Snow")]
    code, out, err = run(*model(llama), "--max-new-tokens", 12, stdin=b"Rain\n\nSnow\r\n")
    assert (code, err) == (0, "")
    texts = [escape_controls(answer.text) for answer in expected]
    assert out == "".join(text if text.endswith("\n") else text + "\n" for text in texts)
    code, out, err = run(*model(llama), "--max-new-tokens", 12, "--json", stdin=b"Rain\nSnow")
    answers = list(map(json.loads, out.splitlines()))
    assert [answer["text"] for answer in answers] == [answer.text for answer in expected]
    assert [tuple(answer["ids"]) for answer in answers] == [answer.ids for answer in expected]
    assert answers[1]["reused"] == expected[1].reused
    assert answers[0]["reason"] == expected[0].reason
    code, out, err = run(*model(llama), "--max-new-tokens", 12, "--prompt", "Rain")
    assert out.rstrip("\n") == escape_controls(expected[0].text).rstrip("\n")


def test_lines_that_are_wrong(run, llama):
    long = b"word " * 500
    code, out, err = run(*model(llama), "--max-new-tokens", 5, "--json", stdin=long + b"\nRain\n")
    assert code == 1
    first, second = map(json.loads, out.splitlines())
    assert "larger context" in first["error"]
    assert second["ids"]
    assert err.count("\n") == 1
    code, out, err = run(*model(llama), "--max-new-tokens", 5, stdin=b"Rain\n\xff\n")
    assert code == 1
    assert "line 2: is not UTF-8" in err
    assert out


def test_tokens_in_a_pipe(run, llama):
    out = run(*model(llama), "--max-new-tokens", 12, "--prompt", "Rain", "--tokens")[1]
    ids = ChatSession(llama, backend="reference", max_new_tokens=12).ask("Rain").ids
    tokens = ChatSession(llama, backend="reference").tokenizer.convert_ids_to_tokens(ids)
    assert out.rstrip("\n") == "|".join(map(show_token, tokens)).rstrip("\n")


def test_completion_from_the_command_line(run, llama, tmp_path):
    session = ChatSession(llama, backend="reference", max_new_tokens=9)
    expected = session.complete("Once upon")
    words = (*model(llama), "--max-new-tokens", 9)
    shown = escape_controls(expected.text)
    assert run("Once upon", *words[1:], command=("complete", words[0])) == (0, shown.rstrip("\n") + "\n", "")
    (tmp_path / "t.txt").write_text("Once upon")
    for source, stdin in ((["--file", tmp_path / "t.txt"], b""), ([], b"Once upon"), (["-"], b"Once upon")):
        found = json.loads(run(*source, *words[1:], "--json", stdin=stdin, command=("complete", words[0]))[1])
        assert tuple(found["ids"]) == expected.ids and found["reason"] == expected.reason
    assert run("x", "--temperature", -1, *words[1:], command=("complete", words[0]))[0] == 1
    exact = session.complete("Once up", exact=True)
    found = json.loads(run("Once up", "--exact", *words[1:], "--json", command=("complete", words[0]))[1])
    assert (tuple(found["ids"]), found["text"]) == (exact.ids, exact.text) != expected
    assert found["exact"]["evaluations"] == exact.exact.evaluations > 0


@pytest.mark.filterwarnings("default::bpelab.chat.base_models.BaseModelWarning")
def test_a_base_model_is_not_asked(run, base, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("bpelab.chat.session.open_with_fallback", None)  # it isn't loaded for that
        for words in (
            ["--prompt", "Hello"],
            ["--json"],
            [],
            ["--system", "Be kind."],
            ["--load", "saved.json"],
        ):
            code, out, err = run(*model(base), *words)
            assert (code, out) == (1, "")
            assert "is a base model" in err and "`bpelab complete " in err and err.count("\n") == 1
        code, out, err = run(*model(base), "--prompt", "Hello", "--template", "llama3")
        assert (code, out) == (1, "") and "doesn't have: <|begin_of_text|>, " in err and "alpaca" in err
        assert err.count("\n") == 1
    code, out, err = run(*model(base), "--prompt", "Hello", "--template", "chatml", "--max-new-tokens", 5)
    assert code == 0 and out
    assert err.startswith("bpelab: ") and "wasn't trained on messages in this format" in err and err.count("\n") == 1
    code, out, err = run("Hello", "--backend", "reference", "--max-new-tokens", 5, command=("complete", base))
    assert (code, err) == (0, "") and out


def test_top_tokens_in_a_pipe(run, llama):
    words = (*model(llama), "--max-new-tokens", 8, "--prompt", "Rain", "--top-tokens", 3)
    close_backends()  # here and below: what a cache holds was rounded differently
    expected = list(ChatSession(llama, backend="reference", max_new_tokens=8, top_tokens=3).stream("Rain"))
    close_backends()
    assert run(*words)[1] == "".join(probability_line(piece) + "\n" for piece in expected)
    close_backends()
    tokens = json.loads(run(*words, "--json")[1])["tokens"]
    for shown, piece in zip(tokens, expected, strict=True):
        for one, other in ((shown, piece), *zip(shown["top"], piece.top, strict=True)):
            assert (one["id"], one["probability"]) == (other.id, other.probability)
    assert "tokens" not in json.loads(run(*model(llama), "--max-new-tokens", 2, "--prompt", "Rain", "--json")[1])


def test_settings(run, llama, tmp_path):
    session = ChatSession(llama, backend="reference", max_new_tokens=9)
    session.ask("Rain")
    session.save(tmp_path / "c.json")
    words = (*model(llama), "--load", tmp_path / "c.json", "--prompt", "Snow", "--json")
    loaded = json.loads(run(*words)[1])
    assert loaded["ids"] == list(session.ask("Snow").ids)
    assert len(loaded["ids"]) <= 9
    warm = [json.loads(run(*words, "--temperature", 1.5, "--seed", seed)[1])["ids"] for seed in (1, 1, 2)]
    assert warm[0] == warm[1] != warm[2]
    (tmp_path / "t.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    found = json.loads(run(*model(llama), "--template", tmp_path / "t.jinja", "--json", "--prompt", "a")[1])
    assert found["prompt_tokens"] == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["/no/such/model.gguf"], "there is no such file"),
        (["--backend", "nonsense"], "there is no backend 'nonsense'|asks for the backend"),
        (["--temperature", "-1"], "temperature must be"),
        (["--template", "nonsense"], "none named 'nonsense'"),
        (["--load", "/no/such/file"], "/no/such/file: can't be read"),
        (["--tokenizer", "/no/such/folder"], "/no/such/folder"),
        (["--template", "{{ raise_exception('\x1b[2J\nsecond line') }}"], r"\\x1b\[2J second line"),
    ],
)
def test_bad_input(words, message, llama, capsys):
    words = words if words[0].endswith(".gguf") else [*model(llama), *words]
    assert main(["chat", *words, "--prompt", "x"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert re.search(message, err), err
    assert "\x1b" not in err


def test_not_a_gguf(tmp_path, capsys):
    (tmp_path / "m.gguf").write_bytes(b"GIF89a" + bytes(50))
    assert main(["chat", str(tmp_path / "m.gguf"), "--prompt", "x"]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "m.gguf" in err


def test_wrong_usage(capsys):
    for words in (["--max-new-tokens", "0"], ["--n-ctx", "x"], ["--nonsense"], ["--top-tokens", "0"], ["--model", "x"]):
        with pytest.raises(SystemExit) as left:
            main(["chat", *words])
        assert left.value.code == 2
    told = capsys.readouterr().err
    assert "is not at least 1" in told and "unrecognized arguments: --model: MODEL is given without --model" in told


@pytest.mark.slow
def test_an_interrupt_in_a_pipe_ends_the_program():
    words = [sys.executable, "-m", "tests.cli.talk", "slow", "--lines"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "preexec_fn": heeds_interrupts}
    with subprocess.Popen(words, cwd=ROOT, **pipes) as process:
        process.stdin.write(b"long\nquick\n")
        process.stdin.flush()
        assert process.stdout.read(9) == b"word word"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(PATIENCE) == 130
    assert b"quick" not in rest


def test_the_shipped_model_from_a_pipe():
    words = [sys.executable, "-m", "bpelab", "chat"]
    done = subprocess.run(
        words, input=b"What is a token?\n", capture_output=True, cwd=ROOT, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.strip()


def test_doctor(capsys):
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
