"""Sessions with a constraint, on the shipped model: the text matches, and its ids are those of the tokenizer."""

import json

import jsonschema
import numpy as np
import pytest
import regex

from bpelab import BPETokenizer, ConversationError
from bpelab.chat import ChatSession, Sampling
from bpelab.constraints import Constraint
from bpelab.errors import BackendError

QUESTION = "What is a token?"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 40}, "sure": {"type": "boolean"}},
    "required": ["answer", "sure"],
}


@pytest.fixture(scope="module")
def session():
    return ChatSession()


@pytest.fixture(autouse=True)
def fresh(session):
    session.reset()
    session.sampling = Sampling()


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=2.0, seed=3), Sampling(1.0, top_k=5, seed=1)])
@pytest.mark.parametrize("pattern", ["A [a-z]+( [a-z]+){2,6}\\.", "[A-Z]{3}-[0-9]{2}", "(yes|no)( [!?])?"])
def test_answers_match(session, pattern, sampling):
    session.sampling = sampling
    answer = session.ask(QUESTION, constraint=Constraint.regex(session.tokenizer, pattern))
    assert answer.reason == "stop"
    assert regex.fullmatch(pattern, answer.text)
    assert list(answer.ids) == session.tokenizer.encode(answer.text)
    assert session.messages[-1]["content"] == answer.text


def test_the_usual_mask_allows_other_ids(session):
    texts = ["Tokens are letters.", "Xylophones quack."]
    canonical, usual = (
        session.complete("A model", constraint=Constraint.choices(session.tokenizer, texts, canonical=flag))
        for flag in (True, False)
    )
    assert {canonical.text, usual.text} <= set(texts)
    assert list(canonical.ids) == session.tokenizer.encode(canonical.text)
    assert list(usual.ids) != session.tokenizer.encode(usual.text)


def test_a_schema(session):
    answer = session.ask(QUESTION, constraint=Constraint.json_schema(session.tokenizer, SCHEMA))
    jsonschema.validate(json.loads(answer.text), SCHEMA)
    assert list(answer.ids) == session.tokenizer.encode(answer.text)


def test_probabilities_are_the_models(session):
    """As without a constraint: not among what is allowed."""
    free = session.complete("A model")
    constraint = Constraint.choices(session.tokenizer, [free.text])
    [*tokens] = session.stream_completion("A model", constraint=constraint)
    session.reset()
    assert [token.id for token in tokens] == list(free.ids)
    assert [token.probability for token in tokens] == pytest.approx(
        [token.probability for token in session.stream_completion("A model")]
    )


def test_a_text_that_has_to_end_needs_no_stop_token(session, monkeypatch):
    monkeypatch.setattr(session, "stop", frozenset())
    answer = session.complete("A model", constraint=Constraint.choices(session.tokenizer, ["no"]))
    assert (answer.text, answer.reason) == ("no", "stop")


def test_another_tokenizers_constraint(session):
    other = BPETokenizer.train("low lower lowest " * 9, 262)
    with pytest.raises(ConversationError, match="the constraint is for another tokenizer: make it with the session's"):
        session.ask(QUESTION, constraint=Constraint.regex(other, "a"))
    assert session.messages == []


def test_logits_of_ids_that_are_not_allowed(session):
    """One row, as llama-cpp-python has it, and two, as transformers has them, which change places."""
    tokenizer, stop = session.tokenizer, 1_000
    process = Constraint.choices(tokenizer, ["A", "B"]).logits_processor([stop])
    scores = np.arange(1_100, dtype=np.float32)
    a, b = tokenizer.encode("AB", add_special_tokens=False)
    assert np.flatnonzero(np.isfinite(process(np.array([5, 6]), scores))).tolist() == sorted([a, b])
    assert np.flatnonzero(np.isfinite(process(np.array([5, 6, a]), scores))).tolist() == [stop]
    two = process(np.array([[5, 6, a, stop], [5, 6, a, stop]]), np.stack([scores] * 2))
    assert np.isfinite(two).all()  # both have ended
    process = Constraint.choices(tokenizer, ["A", "BA"]).logits_processor([stop])
    process(np.array([[5], [6]]), np.stack([scores] * 2))
    masked = process(np.array([[6, b], [5, a]]), np.stack([scores] * 2))
    assert [np.flatnonzero(np.isfinite(row)).tolist() for row in masked] == [[a], [stop]]


def test_logits_that_do_not_fit(session):
    choices = Constraint.choices(session.tokenizer, ["A"])
    with pytest.raises(BackendError, match=r"the model has 3 logits, too few for the id \d+"):
        choices.logits_processor([])(np.array([1]), np.zeros(3, np.float32))
    process, a = choices.logits_processor([]), session.tokenizer.encode("A")[0]
    process(np.array([1]), np.zeros(1_100, np.float32))
    with pytest.raises(BackendError, match="has to end here, but there are no stop ids: give one"):
        process(np.array([1, a]), np.zeros(1_100, np.float32))
    with pytest.raises(BackendError, match="the model has 2 logits, too few for the id 9"):
        Sampling().chooser()(np.zeros(2), [], np.array([9]))
    with pytest.raises(BackendError, match="rules out every token that the constraint allows"):
        Sampling().chooser()(np.array([0.0, -np.inf]), [], np.array([1]))
