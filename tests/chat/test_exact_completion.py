"""Exact completions: a prompt cut anywhere goes on as the whole text does, and a cover is drawn by its share."""

from collections import Counter

import pytest

from bpelab import BPETokenizer
from bpelab.chat import ChatSession, ExactCompletion, Sampling
from bpelab.chat.exact_completion import choose_cover
from bpelab.chat.generation import generate
from bpelab.core.unstable_tokens import encode_bytes
from bpelab.prefix import ByteModel

QUESTION = "What is a token?"


@pytest.fixture(scope="module")
def session():
    return ChatSession()


def goes_on(session, before, prompt):
    """The bytes that follow a prompt if it is encoded as if it ended there."""
    ids = [*before, *encode_bytes(session.tokenizer.pipeline, prompt)]
    made = generate(session.backend, ids, max_new_tokens=session.max_new_tokens, stop=session.stop)
    return session.tokenizer.decode_bytes([token.id for token in made])


def test_a_prompt_cut_anywhere_goes_on_as_the_answer_does(session):
    """Encoding what is left of it, which is usual, loses the answer at most cuts."""
    answer = ChatSession().ask(QUESTION).text.encode()
    cuts = range(0, len(answer), 4)
    assert all(session.complete_exactly(answer[:cut], QUESTION).data == answer[cut:] for cut in cuts)
    before = session.byte_model(QUESTION).before
    usual = [goes_on(session, before, answer[:cut]) == answer[cut:] for cut in cuts]
    assert sum(usual) < len(cuts) / 2


def test_the_ids_spell_the_prompt_and_what_follows(session):
    found = session.complete_exactly("A toke", QUESTION)
    assert found.reason == "stop" and found.text.startswith("n is a piece of text")
    assert session.tokenizer.decode(found.ids) == "A toke" + found.text
    assert session.messages == [] and session.last is None


def test_the_limit_and_the_sampling_are_the_sessions():
    session = ChatSession(max_new_tokens=2, temperature=1.0, seed=5)
    assert session.complete_exactly("A ", QUESTION) == session.complete_exactly("A ", QUESTION)
    found = session.complete_exactly("A ", QUESTION)
    assert found.reason == "length" and len(found.ids) == 2 + len(session.tokenizer.encode("A t"))


def test_a_cover_is_drawn_by_its_share():
    shares = {(1,): 0.5, (2, 3): 0.3, (2,): 0.2, (4,): 0.0}
    drawn = Counter(choose_cover(shares, Sampling(temperature=1.0, seed=seed)) for seed in range(2_000))
    for cover, share in shares.items():
        assert abs(drawn[cover] / 2_000 - share) < 4 * (share * (1 - share) / 2_000) ** 0.5 + 1e-12
    assert choose_cover(shares, Sampling()) == (1,)


def test_bytes_inside_a_character(session):
    found = session.complete_exactly("é".encode()[:1], QUESTION)
    assert ("é".encode()[:1] + found.data).decode()  # the character is completed
    assert ExactCompletion(b"\xa9!", (), "stop").text == "\ufffd!"


def test_where_only_one_cover_fits_nothing_is_drawn():
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    assert list(ByteModel(lambda ids: [0.0] * 262, tokenizer).covers("slow")) == [tuple(tokenizer.encode("slow"))]
