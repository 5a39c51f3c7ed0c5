"""Exact completions: a prompt cut anywhere goes on as the whole text does, and a cover is drawn by its share."""

import signal
from collections import Counter
from contextlib import closing

import pytest

from bpelab import BPETokenizer, ConversationError, ModelError
from bpelab.chat import ChatSession, Sampling
from bpelab.chat.backends.base import Backend
from bpelab.chat.exact_completion import choose_cover
from bpelab.chat.generation import generate
from bpelab.prefix import ByteModel

QUESTION = "What is a token?"


@pytest.fixture(scope="module")
def session():
    return ChatSession()


def exactly(session, prompt, **options):
    return session.complete(prompt, exact=True, message=QUESTION, **options)


def test_a_prompt_cut_anywhere_goes_on_as_the_answer_does(session):
    """Encoding what is left of it, which is usual, loses the answer at most cuts."""
    answer = ChatSession().ask(QUESTION).text
    cuts = range(0, len(answer), 4)
    assert all(exactly(session, answer[:cut]).text == answer[cut:] for cut in cuts)
    usual = [session.complete(answer[:cut], message=QUESTION).text == answer[cut:] for cut in cuts]
    assert sum(usual) < len(cuts) / 2


def test_the_usual_way_encodes_the_prompt_after_the_question(session):
    found = session.complete("A toke", message=QUESTION)
    ids = [*session.byte_model(QUESTION).before, *session.tokenizer.encode("A toke")]
    made = generate(session.backend, ids, max_new_tokens=session.max_new_tokens, stop=session.stop)
    assert found.ids == tuple(token.id for token in made)
    assert found.prompt_tokens == len(ids) and found.exact is None


def test_the_first_token_may_begin_inside_the_prompt(session):
    pieces = list(session.stream_completion("A toke", exact=True, message=QUESTION))
    assert (pieces[0].token, pieces[0].text) == (b" token", "n")
    answer = session.last
    assert answer.reason == "stop" and answer.text.startswith("n is a piece of text")
    assert "".join(piece.text for piece in pieces) == answer.text
    assert tuple(piece.id for piece in pieces) == answer.ids
    assert session.tokenizer.decode([*answer.exact.ids, *answer.ids]) == "A toke" + answer.text
    assert answer.prompt_tokens == len(session.byte_model(QUESTION).before) + len(answer.exact.ids)
    assert session.messages == []


def test_what_was_chosen_and_what_it_cost(session):
    shares = session.byte_model(QUESTION).covers("A toke")
    exact = exactly(session, "A toke").exact
    assert (exact.share, exact.evaluations, exact.missing) == (max(shares.shares.values()), shares.evaluations, 0)
    assert exact.evaluations > 1
    session.top_tokens = 2
    first, *_ = session.stream_completion("A toke", exact=True, message=QUESTION)
    session.top_tokens = 0
    logits = session.backend.next_logits([*session.byte_model(QUESTION).before, *exact.ids])
    assert first.id == logits.argmax() == first.top[0].id
    assert first.probability == pytest.approx(first.top[0].probability)


def test_where_the_prompt_ends_with_a_token_all_of_the_answer_is_beyond(session):
    pieces = list(session.stream_completion("A token is", exact=True, message=QUESTION))
    assert pieces[0].text == pieces[0].token.decode() == " a"
    assert session.last.exact.ids == tuple(session.tokenizer.encode("A token is"))


def test_the_limit_and_the_sampling_are_the_sessions():
    session = ChatSession(max_new_tokens=2, temperature=1.0, seed=5)
    found = exactly(session, "A ")
    assert (found.ids, found.exact) == (exactly(session, "A ").ids, exactly(session, "A ").exact)
    assert found.reason == "length" and len(found.ids) == 2
    session.max_new_tokens = 1
    assert exactly(session, "A ").ids == found.ids[:1]


def test_a_cover_is_drawn_by_its_share():
    shares = {(1,): 0.5, (2, 3): 0.3, (2,): 0.2, (4,): 0.0}
    drawn = Counter(choose_cover(shares, Sampling(temperature=1.0, seed=seed)) for seed in range(2_000))
    for cover, share in shares.items():
        assert abs(drawn[cover] / 2_000 - share) < 4 * (share * (1 - share) / 2_000) ** 0.5 + 1e-12
    assert choose_cover(shares, Sampling()) == (1,)


def test_after_a_part_of_a_character_the_whole_character_is_shown(session):
    pieces = list(session.stream_completion("Yes, é".encode()[:-1], exact=True, message=QUESTION))
    answer = session.last
    assert "".join(piece.text for piece in pieces) == answer.text
    spelled = session.tokenizer.decode_bytes([*answer.exact.ids, *answer.ids])
    assert spelled.startswith("é".encode()[:1], 5) and answer.text == spelled[5:].decode(errors="replace")


def test_nothing_and_a_text_of_its_own(session):
    alone = session.complete("", exact=True)
    assert alone.exact.ids == () and alone.exact.evaluations == 0 and alone.prompt_tokens == 1
    start = [session.tokenizer.eos_token_id]
    made = generate(session.backend, start, max_new_tokens=session.max_new_tokens, stop=session.stop)
    assert alone.ids == tuple(token.id for token in made)


@pytest.fixture
def stopping(session, monkeypatch):
    """Let `act` happen at the third call of the model."""

    def install(act):
        calls, feed = [], session.backend._feed

        def counted(ids):
            calls.append(ids)
            if len(calls) == 3:
                act()
            return feed(ids)

        monkeypatch.setattr(session.backend, "_feed", counted)
        return calls

    session.backend.next_logits([0])  # so that nothing of the prompt is cached
    return install


def test_a_cancel_and_an_interrupt_while_covers_are_weighed(session, stopping, monkeypatch):
    calls = stopping(session.cancel)
    answer = exactly(session, "A toke")
    assert len(calls) == 3 and (answer.reason, answer.ids, answer.text) == ("cancelled", (), "")
    monkeypatch.undo()
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        stopping(lambda: signal.raise_signal(signal.SIGINT))
        assert exactly(session, "A toke").reason == "cancelled"
    finally:
        signal.signal(signal.SIGINT, previous)
    monkeypatch.undo()
    assert exactly(session, "A toke").reason == "stop"


def test_while_an_answer_streams_all_are_refused(session):
    with closing(session.stream_completion("A toke", exact=True, message=QUESTION)) as pieces:
        next(pieces)
        for ask in (session.complete, session.next_bytes, session.probability):
            with pytest.raises(ConversationError, match="still answering"):
                ask("A")
        with pytest.raises(ConversationError, match="still answering"):
            session.byte_model()
    assert session.last.reason == "cancelled" and session.last.text == "n"


def test_while_bytes_are_weighed_nothing_else_is_asked(session, monkeypatch):
    def refused(ids, cancelled=None):
        with pytest.raises(ConversationError, match="still answering"):
            session.ask("A")
        return Backend.next_logits(session.backend, ids)

    monkeypatch.setattr(session.backend, "next_logits", refused)
    assert session.next_bytes("Some").evaluations > 0
    monkeypatch.undo()
    assert session.ask("A").text


def test_next_bytes_and_probability_are_the_byte_models(session):
    byte_model = session.byte_model(QUESTION)
    first = session.next_bytes("A toke", QUESTION)
    assert first.probabilities == byte_model.next_bytes("A toke").probabilities
    assert first.end == byte_model.next_bytes("A toke").end
    assert session.next_bytes("A toke", QUESTION).evaluations == 0  # cached
    assert session.next_bytes("A toke", QUESTION, max_evaluations=1).missing > 0
    expected = byte_model.probability("A toke")
    assert session.probability("A toke", QUESTION).log_covers == pytest.approx(expected.log_covers, abs=1e-6)
    assert session.byte_model(QUESTION) is not session.byte_model()


def test_bytes_and_other_tokenizers_are_refused(session):
    with pytest.raises(TypeError, match="text is a str, or with exact=True bytes, not bytes"):
        session.complete(b"A")
    with pytest.raises(ValueError, match="no text begins with these bytes"):
        exactly(session, b"\xff")
    with pytest.raises(TypeError, match="exact is True or False"):
        session.complete("A", exact="yes")
    normalizing = ChatSession(tokenizer=session.tokenizer.with_options(normalizer="NFKC"))
    with pytest.raises(ModelError, match="without a normalizer"):
        exactly(normalizing, "A")


def test_where_only_one_cover_fits_nothing_is_drawn():
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    found = ByteModel(lambda ids: [0.0] * 262, tokenizer).covers("slow")
    assert list(found.shares) == [tuple(tokenizer.encode("slow"))]
