"""Conversations: with a backend that says what it is told, and with real ones."""

import gc
import json
import random
import signal
import threading
import tracemalloc
from contextlib import closing
from time import perf_counter

import numpy as np
import pytest

from bpelab import BPETokenizer
from bpelab.chat import NAMED, opening
from bpelab.chat.backends import open_backend
from bpelab.chat.hardware import detect
from bpelab.chat.models import find
from bpelab.chat.sampling import Sampling
from bpelab.chat.session import ChatSession
from bpelab.chat.stop_tokens import stop_ids
from bpelab.chat_templates import apply, kept_answers
from bpelab.errors import BackendError, BPELabError, ConversationError, ModelFileError, TemplateError

from ..chat_templates.conftest import characters, tokenizer as many_specials
from ..conftest import amount
from .machines import machine
from .scripted import Scripted
from .tiny import tiny_tokenizer, write_tiny_llama


def scripted(say="Hello there.", *, context=4096, **options) -> ChatSession:
    backend = Scripted(say, context=context)
    return ChatSession(backend=backend, tokenizer=tiny_tokenizer(), **options)


def reference(folder, **options) -> ChatSession:
    return ChatSession(folder, backend="reference", **options)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A random Llama on the reference backend: what it says is nonsense, bytes that are no UTF-8 among it."""
    return write_tiny_llama(tmp_path_factory.mktemp("llama"), context=256)


def words(session: ChatSession) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in session.messages]


def test_a_conversation():
    session = scripted(lambda said, turn: tiny_tokenizer().encode(f"{said}? No."), system="Be short.")
    assert session.parity is None
    assert session.ask("Rain").text == "Rain? No."
    assert session.ask("Snow").text == "Snow? No."
    assert words(session) == [
        ("system", "Be short."),
        ("user", "Rain"),
        ("assistant", "Rain? No."),
        ("user", "Snow"),
        ("assistant", "Snow? No."),
    ]
    assert session.last.reason == "stop"
    assert session.last.text == tiny_tokenizer().decode(session.last.ids)
    assert session.parity is not None
    prompt = session.backend.prompts[-1]
    text = tiny_tokenizer().apply_chat_template(session.messages[:-1], tokenize=False, add_generation_prompt=True)
    assert tiny_tokenizer().decode(prompt) == text
    assert session.last.prompt_tokens == len(prompt)


def test_what_was_held_is_reused():
    session = scripted()
    first = session.ask("One")
    assert (first.reused, first.dropped) == (0, ())
    second = session.ask("Two")
    # The answer's own spelling is the tokenizer's here, so all of it is shared, but for the id that ended it.
    assert second.reused == first.prompt_tokens + len(first.ids)
    session.ask("Two")


BYTES = list(b"Hello there.")
"""An answer spelled byte by byte: not as the tokenizer would write it."""


def template_ids(session, template=None):
    """What the last prompt would be if the template alone made it."""
    return session.tokenizer.apply_chat_template(session.messages[:-1], template, add_generation_prompt=True)


def test_an_answer_stays_the_ids_that_the_model_generated():
    session = scripted(lambda *_: BYTES)
    first = session.ask("One")
    assert session.diverges("Two") is None
    assert session.ids == [*session.backend.prompts[-1], *BYTES]
    before, second = session.ids, session.ask("Two")
    assert (first.divergence, second.divergence) == (None, None)
    assert second.reused == first.prompt_tokens + len(first.ids)
    assert session.backend.prompts[-1][: len(before)] == before
    assert session.backend.prompts[-1] != template_ids(session)
    assert session.tokenizer.decode(session.backend.prompts[-1]) == session.tokenizer.decode(template_ids(session))


def test_or_its_text_is_encoded_again():
    session = scripted(lambda *_: BYTES, keep_ids=False)
    first = session.ask("One")
    expected = session.diverges("Two")
    second = session.ask("Two")
    assert second.divergence == expected
    assert "the same text has other tokens" in expected.reason
    assert first.prompt_tokens <= expected.place == second.reused < first.prompt_tokens + len(BYTES)
    assert session.backend.prompts[-1] == template_ids(session)
    with pytest.raises(TypeError, match="keep_ids is True or False"):
        scripted(keep_ids="template")


CHATML = (
    "{%% for m in messages %%}<|im_start|>{{ m.role }}\n{{ %s }}<|im_end|>\n{%% endfor %%}"
    "{%% if add_generation_prompt %%}<|im_start|>assistant\n{%% endif %%}"
)
FORGETFUL = CHATML % "m.content if loop.last else m.content.split('</think>')[-1]"
TRIMMING = CHATML % "m.content | trim"


@pytest.mark.parametrize(
    ("template", "says", "reason"),
    [(FORGETFUL, "<think>\nWell.</think>No.", "thinking is left out"), (TRIMMING, " No.\n", "white space is removed")],
)
def test_a_template_that_rewrites_answers_is_followed(template, says, reason):
    session = scripted(lambda said, _: list(says.encode() if said == "One" else b"Yes."), template=template)
    first = session.ask("One")
    foretold = session.diverges("Two")
    assert reason in foretold.reason
    assert foretold.place == first.prompt_tokens
    second = session.ask("Two")
    assert second.divergence == foretold
    assert session.backend.prompts[-1] == template_ids(session, template)
    before = session.ids
    assert session.ask("Three").divergence is None  # of the answers, only the first is rewritten
    assert session.backend.prompts[-1][: len(before)] == before != template_ids(session, template)[: len(before)]


def test_ids_that_are_no_text_are_not_kept():
    """A special token, which no message may contain, and an id without a token, which the tokenizer doesn't know."""
    begin = tiny_tokenizer().token_to_id("<|im_start|>")
    for ids in ([65, begin, 66], [65, 390, 66]):
        backend = Scripted(lambda said, _, ids=ids: ids)
        backend.vocab_size = 400
        session = ChatSession(backend=backend, tokenizer=tiny_tokenizer())
        session.ask("One")
        answer = session.ask("Two")
        assert backend.prompts[-1] == template_ids(session)
        assert answer.divergence.place == len(backend.prompts[0]) + 1


def test_undoing_says_where_ids_change():
    session = scripted(lambda *_: BYTES)
    session.ask("One")
    kept = session.ids
    session.ask("Two")
    assert session.undo_last_turn() == "Two"
    assert session.ids[: len(kept)] == kept
    answer = session.ask("Three")
    assert answer.divergence.reason == "the last turn was undone"
    assert len(kept) < answer.divergence.place == answer.reused
    assert session.ids[: len(kept)] == kept
    assert session.ask("Four").divergence is None


def test_what_stays_in_a_full_context_keeps_its_ids():
    session = scripted(lambda *_: BYTES, context=120, max_new_tokens=20, system="Be kind.")
    told = []
    for turn in range(12):
        answer = session.ask(f"This is message number {turn}")
        prompt = session.backend.prompts[-1]
        assert answer.prompt_tokens == len(prompt) <= 100
        inside = sum(prompt[place : place + len(BYTES)] == BYTES for place in range(len(prompt)))
        assert inside == turn - len(answer.dropped) // 2
        told += [] if answer.divergence is None else [answer.divergence.reason]
    assert "the context is full: 2 messages were dropped" in told


def test_streaming_equals_whole():
    rng = random.Random(5)
    texts = ["日本 and 😀😀", "é", "plain", "", "👩‍👩‍👧 family\n\n", "a\x00b"]
    for _ in range(amount(200, 5_000)):
        text = "".join(rng.choices(texts, k=3))
        data = text.encode()
        ids = rng.choice([tiny_tokenizer().encode(text), list(data), list(data[: rng.randint(0, len(data))])])
        ids += rng.choice([[], [0xE2], [0xFF, 0xF0, 0x9F], [rng.randrange(320 - 3) for _ in range(4)]])
        session = scripted(lambda *_, ids=ids: ids)
        pieces = list(session.stream("x"))
        assert [piece.id for piece in pieces] == ids == list(session.last.ids)
        assert "".join(piece.text for piece in pieces) == session.last.text == tiny_tokenizer().decode(ids)
        assert b"".join(piece.token for piece in pieces) == bytes(tiny_tokenizer().decode_bytes(ids))
        for piece in pieces[:-1]:
            assert "\ufffd" not in piece.text or "\ufffd" in session.last.text
        assert session.messages[-1] == {"role": "assistant", "content": session.last.text}


@pytest.mark.parametrize("make", [many_specials, characters])
def test_streaming_with_decoders(make):
    """Decoders that hold tokens back, strip, and join: what is shown, joined, is the whole."""
    tokenizer, rng = make(), random.Random(6)
    special = set(tokenizer.special_tokens.values())
    for _ in range(amount(60, 2_000)):
        ids = [rng.randrange(tokenizer.n_vocab) for _ in range(rng.randint(0, 12))]
        ids = [number for number in ids if number not in special]
        session = ChatSession(
            backend=Scripted(lambda *_, ids=ids: ids, tokenizer=tokenizer), tokenizer=tokenizer, template="chatml"
        )
        pieces = list(session.stream("x"))
        assert "".join(piece.text for piece in pieces) == session.last.text
        assert session.last.text == tokenizer.decode(session.last.ids, skip_special_tokens=True)


def test_streaming_with_the_most_likely_tokens(llama):
    plain, session = reference(llama, max_new_tokens=6), reference(llama, max_new_tokens=6, top_tokens=4)
    pieces = list(session.stream("Hello"))
    assert session.last.ids == plain.ask("Hello").ids
    for place, piece in enumerate(pieces):
        logits = session.backend.next_logits([*session.ids[: len(session.ids) - len(pieces) + place]])
        assert [each.id for each in piece.top] == np.argsort(-logits, kind="stable")[:4].tolist()
        assert (piece.top[0].id, piece.top[0].token, piece.top[0].probability) == (
            piece.id, piece.token, piece.probability
        )  # fmt: skip
    assert all(piece.top == () for piece in plain.stream("Hello"))
    with pytest.raises(ValueError, match="top_tokens is a whole number from 0 up"):
        reference(llama, top_tokens=-1)


def test_special_tokens_are_kept_and_not_shown():
    begin = tiny_tokenizer().token_to_id("<|im_start|>")
    session = scripted(lambda *_: [65, begin, 66])
    pieces = list(session.stream("x"))
    assert [(piece.id, piece.text) for piece in pieces] == [(65, "A"), (begin, ""), (66, "B")]
    assert pieces[1].token == b"<|im_start|>"
    assert session.last.text == "AB"
    assert session.last.ids == (65, begin, 66)


def test_ids_without_a_token_are_shown_as_such():
    backend = Scripted("x")
    backend.vocab_size = 400
    backend.say = lambda *_: [65, 390, 66]
    session = ChatSession(backend=backend, tokenizer=tiny_tokenizer())
    assert [(piece.token, piece.text) for piece in session.stream("x")] == [(b"A", "A"), (b"", "\ufffd"), (b"B", "B")]


# -- where an answer ends --------------------------------------------------------------------------------------------


def test_stop_ids():
    t = tiny_tokenizer()
    end, text = t.token_to_id("<|im_end|>"), t.token_to_id("<|endoftext|>")
    assert stop_ids(t) == {end}
    assert stop_ids(t, of_model=[text]) == {end, text}
    many = many_specials()
    names = {
        "llama3": {"<|eot_id|>"},
        "chatml": {"<|im_end|>"},
        "gemma": {"<end_of_turn>"},
        "phi": {"<|end|>"},
        "mistral": set(),
        "alpaca": set(),
    }
    for name, expected in names.items():
        found = {many.id_to_token(number).decode() for number in stop_ids(many, name)}
        assert found == expected | {"</s>"}, name
        assert found >= set(NAMED[name].stop)
        source = {"chat_template": NAMED[name].source}
        plain = many.with_options(metadata=source, eos_token=None)
        found = {plain.id_to_token(number).decode() for number in stop_ids(plain)}
        assert found == (expected or ({"</s>"} if name == "mistral" else set())), name
    header = "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}"  # as GLM-4 has it
    assert many.token_to_id("<|user|>") in stop_ids(many, header)
    assert stop_ids(many, "{{ raise_exception('no') }}") == {many.eos_token_id}


def test_an_answer_ends_at_ids_not_at_strings():
    written = "It ends with <|im_end|>, as text"
    session = scripted(written)
    answer = session.ask("x")
    assert answer.text == written
    assert answer.reason == "stop"
    assert not set(answer.ids) & session.stop
    session.ask("y")  # and what it wrote is text in the next prompt
    assert [session.backend.prompts[-1].count(number) for number in session.stop] == [3]
    assert scripted("word " * 50, max_new_tokens=7).ask("x").reason == "length"
    full = scripted("word " * 500, context=64)
    assert full.ask("x").reason == "context"
    assert full.ask("y").reason == "context"


# -- what fits -------------------------------------------------------------------------------------------------------


def test_the_oldest_turns_are_left_out_visibly():
    session = scripted("Hello there.", context=120, max_new_tokens=20, system="Be kind.")
    gone = []
    for turn in range(12):
        answer = session.ask(f"This is message number {turn}")
        assert answer.prompt_tokens <= 100
        assert list(answer.dropped) == session.messages[1 : 1 + len(answer.dropped)]
        for message in answer.dropped:
            message["role"] = "forged"
        gone.append(len(answer.dropped))
        text = tiny_tokenizer().decode(session.backend.prompts[-1])
        assert text.startswith("<|im_start|>system\nBe kind.<|im_end|>")
        for number in range(turn + 1):
            assert (f"number {number}<" in text) == (2 * number >= gone[-1])
    assert gone[0] == 0
    assert gone == sorted(gone)
    assert gone[-1] > 10
    assert [message["role"] for message in session.messages] == ["system", *["user", "assistant"] * 12]


def test_a_message_that_is_too_long():
    session = scripted(context=100, system="Be kind.")
    session.ask("One")
    before = session.messages
    with pytest.raises(ConversationError, match="larger context"):
        session.ask("long " * 200)
    assert session.messages == before
    assert session.ask("Two").text == "Hello there."
    # A message that leaves room for a short answer only is taken, with nothing else around it.
    answer = session.ask("a " * 30)
    assert answer.text == "Hello there."
    assert len(answer.dropped) == 4
    assert answer.prompt_tokens < 100


def test_a_prompt_is_as_the_template_has_it():
    tokenizer = many_specials()
    template = "llama3"
    backend = Scripted("x", tokenizer=tokenizer)
    end = tokenizer.token_to_id("<|eot_id|>")
    backend._feed = lambda ids: np.eye(1, tokenizer.n_vocab, end, np.float32)[0]
    for name in tokenizer.special_tokens:
        session = ChatSession(backend=backend, tokenizer=tokenizer, template=template, system=f"{name} in the system")
        session.ask(f"{name}{name} said {name}")
        control = [number for number in backend._cached_ids if number in tokenizer.special_tokens.values()]
        ordinary = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
        expected = tokenizer.apply_chat_template(ordinary, template, add_generation_prompt=True)
        assert control == [number for number in expected if number in tokenizer.special_tokens.values()], name
        assert backend._cached_ids.count(tokenizer.token_to_id("<|begin_of_text|>")) == 1


# -- ends that nobody planned ----------------------------------------------------------------------------------------


def test_cancel_from_another_thread():
    session = scripted("word " * 1000, max_new_tokens=1000)
    reached, go_on = threading.Event(), threading.Event()

    def before(held: int) -> None:
        if held > 60:
            reached.set()
            assert go_on.wait(300)

    session.backend.before = before
    answers = []
    thread = threading.Thread(target=lambda: answers.append(session.ask("x")))
    thread.start()
    assert reached.wait(300)
    with pytest.raises(ConversationError, match="is still answering"):
        session.ask("y")
    with pytest.raises(ConversationError, match="is still answering"):
        session.reset()
    session.cancel()
    go_on.set()
    thread.join(300)
    assert answers[0].reason == "cancelled"
    assert session.messages[-1] == {"role": "assistant", "content": answers[0].text}
    assert answers[0].text
    session.cancel()  # nothing to cancel
    session.backend.before = lambda held: None
    session.backend.say = lambda *_: [65]
    assert session.ask("again").text == "A"


def test_an_interrupt_ends_the_answer_and_not_the_session():
    session = scripted("word " * 100, max_new_tokens=40)

    def before(held: int) -> None:
        if held == 50:
            raise KeyboardInterrupt

    session.backend.before = before
    pieces = list(session.stream("x"))
    assert session.last.reason == "cancelled"
    assert session.last.text == "".join(piece.text for piece in pieces) == session.messages[-1]["content"]
    assert 0 < len(pieces) < 40
    session.backend.before = lambda held: None
    assert session.ask("x").reason == "length"
    session.reset()
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        session.backend.before = lambda held: signal.raise_signal(signal.SIGINT)
        assert session.ask("x").reason == "cancelled"
    finally:
        signal.signal(signal.SIGINT, previous)
    assert session.messages == []  # nothing was said
    session.backend.before = lambda held: None
    assert session.ask("x").reason == "length"


@pytest.mark.timeout(600, method="thread")  # the test needs the timer that limits other tests
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
@pytest.mark.slow
def test_interrupts_at_any_moment(llama):
    """Ctrl-C at random times: what was said stays, whole, and the session goes on."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    files = reference(llama)  # opened once: an interrupt while a file is opened is another matter
    session = ChatSession(
        backend=files.backend, tokenizer=files.tokenizer, max_new_tokens=30, sampling=Sampling(0.9, seed=3)
    )
    rng, cut = random.Random(8), 0
    plain = session.ask("x")
    began = perf_counter()
    session.reset()
    session.ask("x")
    whole = perf_counter() - began
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(amount(100, 3_000)):
            session.reset()
            shown = []
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1.2 * whole))
                if rng.random() < 0.5:
                    assert session.ask("x") is session.last
                else:
                    for piece in session.stream("x"):
                        shown.append(piece)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:  # it came in this loop, or when the answer was over
                pass
            said = session.messages
            assert [message["role"] for message in said] in ([], ["user", "assistant"])
            if said:
                cut += session.last.reason == "cancelled"
                assert said[-1]["content"] == session.last.text
                assert plain.ids[: len(session.last.ids)] == session.last.ids
                assert session.last.text.startswith("".join(piece.text for piece in shown))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert cut
    session.reset()
    assert session.ask("x").ids == plain.ids


def test_closing_the_stream_keeps_what_was_said():
    session = scripted("one two three four")
    with closing(session.stream("x")) as pieces:
        first = next(pieces)
    assert session.last.reason == "cancelled"
    assert session.messages[-1]["content"] == first.text
    for piece in session.stream("y"):
        last = piece
        break
    assert session.messages[-1]["content"] == last.text
    kept = session.stream("z")
    next(kept)
    with pytest.raises(ConversationError, match=r"close\(\)"):
        session.ask("w")
    kept.close()
    assert session.ask("w").text == "one two three four"
    never_begun = session.stream("v")
    assert session.ask("w").reason == "stop"
    never_begun.close()


def test_a_backend_that_fails():
    session = scripted()
    session.ask("One")
    before = session.messages

    def before_failing(held: int) -> None:
        raise BackendError("out of memory")

    session.backend.before = before_failing
    with pytest.raises(BackendError):
        session.ask("Two")
    assert session.messages == before
    session.backend.before = lambda held: None
    assert session.ask("Two").text == "Hello there."


def test_a_template_that_refuses(tmp_path):
    saved = {"bpelab_conversation": 1, "model": "", "max_tokens": 9, "sampling": {}}
    saved["messages"] = [{"role": "system", "content": "x"}]
    gemma = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    gemma += "<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    with pytest.raises(TemplateError, match="no system role"):
        scripted(template=gemma, system="Be kind.")
    session = scripted(template=gemma)
    session.ask("x")
    before = session.messages
    with pytest.raises(TemplateError, match="no system role"):
        session.reset(system="Be kind.")
    assert session.messages == before
    (tmp_path / "c.json").write_text(json.dumps(saved))
    with pytest.raises(TemplateError, match="no system role"):
        session.load(tmp_path / "c.json")
    assert session.messages == before
    with pytest.raises(TemplateError, match="needs special tokens"):
        scripted(template="llama3")


# -- what is nobody else's -------------------------------------------------------------------------------------------


def test_messages_are_copies():
    session = scripted(system="Be kind.")
    mine = [{"role": "user", "content": [{"type": "text", "text": "a"}], "extra": {"b": [1]}}]
    own_template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    own_template += "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    session = scripted(template=own_template)
    session.ask(mine)
    mine[0]["extra"]["b"].append(2)
    session.messages[0]["extra"]["b"].append(3)
    session.messages.append({"role": "user", "content": "forged"})
    with pytest.raises(AttributeError):
        session.messages = []
    session.messages[-1]["content"] = "forged"
    assert session.messages[0]["extra"] == {"b": [1]}
    assert len(session.messages) == 2
    assert session.messages[-1]["content"] == "Hello there."
    assert session.ask("a\ud800b").text == "Hello there."
    assert session.messages[-2]["content"] == "a\ufffdb"


@pytest.mark.parametrize(
    "said, match",
    [
        ([], "empty"),
        ([{"role": "user"}], "content"),
        ([{"content": "x"}], "role"),
        (5, "list of dicts"),
        (None, "list of dicts"),
        ([{"role": "user", "content": "x", "y": object()}], r"messages\[0\]\['y'\]"),
    ],
)
def test_messages_that_are_none(said, match):
    session = scripted()
    with pytest.raises(ConversationError, match=match):
        session.ask(said)
    assert session.messages == []
    assert session.ask("x").text == "Hello there."


def test_taking_back():
    session = scripted(system="Be kind.")
    assert session.undo_last_turn() is None
    session.ask("x")
    before = words(session)
    session.ask("y")
    assert session.undo_last_turn() == "y"
    assert words(session) == before
    assert session.undo_last_turn() == "x"
    assert words(session) == [("system", "Be kind.")]
    session.ask("z")
    assert words(session)[1] == ("user", "z")


def test_reset():
    session = scripted(system="Be kind.")
    session.ask("x")
    session.reset()
    assert words(session) == [("system", "Be kind.")]
    session.reset(system="Be short.")
    assert words(session) == [("system", "Be short.")]
    session.reset(system=None)
    assert session.messages == []
    session.reset()
    assert session.messages == []


@pytest.mark.parametrize("number", [0, -1, 1.5, "9", None, True])
def test_max_new_tokens(number):
    with pytest.raises(ValueError, match="max_new_tokens"):
        scripted(max_new_tokens=number)


def test_save_and_load(tmp_path):
    session = scripted(system="Be kind.", max_new_tokens=30, sampling=Sampling(0.5, seed=4))
    session.ask("x")
    session.save(tmp_path / "c.json")
    other = scripted()
    other.load(tmp_path / "c.json")
    assert other.messages == session.messages
    assert (other.max_new_tokens, other.sampling) == (30, Sampling(0.5, seed=4))
    assert other.ask("y").prompt_tokens == session.ask("y").prompt_tokens
    before = other.messages
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(ConversationError, match=r"c\.json"):
        other.load(tmp_path / "c.json")
    assert other.messages == before


def test_saved_ids_are_kept_if_they_are_the_texts(tmp_path):
    """A file may come from anyone: ids that say something else, or a control token, don't reach the model."""
    path, special = tmp_path / "c.json", tiny_tokenizer().token_to_id("<|im_end|>")
    session = scripted(lambda *_: BYTES)
    session.ask("One")
    session.save(path)
    saved = json.loads(path.read_text())
    own = saved["answers"][1]
    assert own == {"ids": BYTES, "opening": "<|im_end|>\n<|im_start|>assistant\n"}
    changes = [
        ({}, {}, True),
        ({"content": "Hello."}, {}, False),
        ({}, {"ids": [*BYTES, 65]}, False),
        ({"content": "<|im_end|>"}, {"ids": [special]}, False),
        ({}, {"ids": [10**9]}, False),
        ({"content": "\ufffd"}, {"ids": [-1]}, False),
        ({}, {"opening": "user\n"}, False),
    ]
    for message, answer, kept in changes:
        said, other = saved["messages"][1] | message, own | answer
        path.write_text(json.dumps(saved | {"messages": [saved["messages"][0], said], "answers": [None, other]}))
        again = scripted(lambda *_: BYTES)
        again.load(path)
        assert again.ask("Two").divergence is None
        assert (again.backend.prompts[-1] != template_ids(again)) == kept, (message, answer)
        assert again.parity.checked is False


def test_a_tokenizer_that_does_not_fit():
    backend = Scripted("x")
    backend.vocab_size = 300
    with pytest.raises(ModelFileError, match=r"ids up to 316, but the model has only 300 tokens"):
        ChatSession(backend=backend, tokenizer=tiny_tokenizer())


def test_200_turns_without_growth():
    """Held ids stay within the context, and memory grows by the history alone."""
    session = scripted("Hello there.", context=200, max_new_tokens=20)
    turns = amount(40, 200)
    for _ in range(turns // 2):
        session.ask("And now?")
    gc.collect()
    tracemalloc.start()
    try:
        session.backend.prompts.clear()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(turns // 2):
            session.ask("And now?")
            session.backend.prompts.clear()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(session.backend._cached_ids) <= 200
    assert len(session.messages) == 2 * (2 * (turns // 2))
    assert grown < turns * 3_000, f"{grown / (turns // 2):,.0f} bytes a turn"


# -- real models -----------------------------------------------------------------------------------------------------


def test_a_real_model(llama):
    session = reference(llama, max_new_tokens=25)
    assert session.backend.name == "reference"
    pieces = list(session.stream("Hello"))
    answer = session.last
    assert "".join(piece.text for piece in pieces) == answer.text
    assert all(0 < piece.probability <= 1 for piece in pieces)
    assert answer.first_token_seconds > 0
    again = reference(llama, max_new_tokens=25)
    assert again.ask("Hello").ids == answer.ids
    assert session.parity.checked is False
    # The backend is kept and shared; two conversations side by side each get what they would get alone.
    assert again.backend is session.backend
    one, two = reference(llama, max_new_tokens=9), reference(llama, max_new_tokens=9)
    apart = [reference(llama, max_new_tokens=9).ask(text).ids for text in ("Rain", "Snow")]
    first, second = one.stream("Rain"), two.stream("Snow")
    mixed = list(zip(first, second))
    first.close(), second.close()
    ids = [tuple(piece.id for piece in side) for side in zip(*mixed)]
    assert ids == [apart[0][: len(ids[0])], apart[1][: len(ids[1])]]


def test_conversations_in_threads(llama):
    """They share a loaded model; each gets what it would get alone."""
    texts = ["Rain", "Snow and hail", "x y z"]
    alone = {text: reference(llama, max_new_tokens=30).ask(text).ids for text in texts}
    found: list[tuple[str, tuple[int, ...]]] = []

    def talk(text: str) -> None:
        for _ in range(amount(4, 100)):
            found.append((text, reference(llama, max_new_tokens=30).ask(text).ids))

    threads = [threading.Thread(target=talk, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == 3 * amount(4, 100)
    assert all(ids == alone[text] for text, ids in found)


def test_the_backend_is_chosen(llama, monkeypatch):
    class Machine:
        def choose(self, files):
            assert files.folder == llama
            return detect.Choice("reference", "it is the only one")

    monkeypatch.delenv("BPELAB_BACKEND", raising=False)
    monkeypatch.setattr(detect, "detect", Machine)
    session = ChatSession(llama)
    assert session.backend.name == "reference"
    assert session.choice.why == "it is the only one"
    assert ChatSession(llama, backend="reference").choice.why == "it was asked for"
    monkeypatch.setattr(find, "SHIPPED", llama)
    monkeypatch.setattr(detect, "detect", None)  # nobody looks at the machine for the shipped model
    assert ChatSession().backend.name == "reference"


class _WithGPU:
    """A machine whose reference backend has a GPU, which no real one has."""

    backends = (detect.BackendStatus("reference", "1", ("cuda: a GPU", "cpu"), None, ""),)


def test_the_processor_where_the_gpu_fails(llama, monkeypatch):
    """One line and the processor; a device that was asked for is not replaced, nor is anything tried twice."""
    asked = []

    def opened(name, files, **options):
        asked.append(options["device"])
        if options["device"] != "cpu":
            raise BackendError("tiny: llama.cpp has not enough memory for it: out of memory.\nClose what else runs")
        return open_backend(name, files, **options)

    monkeypatch.setattr(opening, "open_backend", opened)
    monkeypatch.setattr(detect, "detect", _WithGPU)
    with pytest.warns(
        opening.GPUFallback, match=r"on the processor because the GPU failed: .*memory\. Close"
    ) as warned:
        session = ChatSession(llama, backend="reference", max_new_tokens=2)
    assert len(warned) == 1 and "\n" not in str(warned[0].message)
    assert session.ask("Hello").ids
    assert asked[:2] == [None, "cpu"] and set(asked[1:]) == {"cpu"}
    for options in ({"device": "gpu"}, {"n_gpu_layers": 3}):
        with pytest.raises(BackendError, match="not enough memory"):
            ChatSession(llama, backend="reference", **options)
    monkeypatch.setattr(detect, "detect", machine)
    with pytest.raises(BackendError, match="not enough memory"):  # there is no GPU that could have failed
        ChatSession(llama, backend="reference")


def test_a_device(llama):
    assert ChatSession(llama, backend="reference", device="cpu").backend.device == "CPU"
    with pytest.raises(BackendError, match="runs only on the CPU, not on 'cuda'"):
        ChatSession(llama, backend="reference", device="cuda")


def test_a_cancelled_answer_leaves_a_real_backend_usable(llama):
    session = reference(llama, max_new_tokens=25)
    whole = session.ask("Hello").ids
    session.reset()
    stream = session.stream("Hello")
    some = [next(stream).id for _ in range(5)]
    stream.close()
    assert tuple(some) == whole[:5]
    session.reset()
    assert session.ask("Hello").ids == whole


def one_answer(tokenizer, messages, model, **options):
    """What a session with this tokenizer answers to a conversation."""
    return ChatSession(model, tokenizer=tokenizer, backend="reference", **options).ask(messages).text


def test_one_answer_with_this_tokenizer(llama):
    tokenizer = BPETokenizer.from_pretrained(llama)
    messages = [{"role": "user", "content": "Hello"}]
    expected = reference(llama, max_new_tokens=12).ask("Hello").text
    assert one_answer(tokenizer, messages, llama, max_new_tokens=12) == expected
    assert one_answer(tokenizer, messages, llama, max_new_tokens=12, template="chatml") == expected
    assert messages == [{"role": "user", "content": "Hello"}]
    bare = tokenizer.with_options(metadata={})
    assert one_answer(bare, messages, llama, max_new_tokens=12) == expected  # the template is the model's
    history = [*messages, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "And?"}]
    assert isinstance(one_answer(tokenizer, history, llama, max_new_tokens=5), str)
    larger = tiny_tokenizer(400)
    with pytest.raises(ModelFileError, match="wasn't trained with this tokenizer"):
        one_answer(larger, messages, llama)


def test_bad_models(tmp_path, llama):
    (tmp_path / "x.gguf").write_bytes(b"GGUX" + bytes(100))
    for model in (tmp_path / "none", tmp_path / "x.gguf", tmp_path):
        with pytest.raises(BPELabError, match=str(tmp_path)):
            ChatSession(model)
    with pytest.raises(BPELabError, match="nonsense"):
        ChatSession(llama, backend="nonsense")


def test_the_shipped_model():
    """Its own domain, its template, its stop token, and what the contract asks of it."""
    session = ChatSession()
    answer = session.ask("What is a token?")
    assert (answer.reason, session.backend.name) == ("stop", "reference")
    assert answer.text.strip()
    assert answer.tokens_per_second is None or answer.tokens_per_second > 0
    second = session.ask("What is a byte?")
    assert second.reused >= answer.prompt_tokens - 1
    special = list(session.tokenizer.special_tokens)
    session.reset()
    session.ask(" ".join(special))
    held = session.backend._cached_ids
    plain = ChatSession()
    plain.ask("x")
    assert sum(map(held.count, session.tokenizer.special_tokens.values())) == sum(
        map(plain.backend._cached_ids.count, session.tokenizer.special_tokens.values())
    )


def test_a_turn_that_fits_is_rendered_and_encoded_once(monkeypatch):
    session = scripted(system="Be short.")
    renders, encoded = [], []
    render, encode = apply.render, kept_answers.encode
    monkeypatch.setattr(
        apply, "render", lambda *args, **options: renders.append(render(*args, **options)) or renders[-1]
    )
    monkeypatch.setattr(
        kept_answers,
        "encode",
        lambda t, text, *rest, **options: encoded.append(text) or encode(t, text, *rest, **options),
    )
    for question in ("One", "Two", "Three"):
        renders.clear(), encoded.clear()
        session.ask(question)
        assert len(renders) == 1
        assert "".join(reversed(encoded)) == renders[0]
        ids = tiny_tokenizer().apply_chat_template(session.messages[:-1], add_generation_prompt=True)
        assert session.backend.prompts[-1] == ids
