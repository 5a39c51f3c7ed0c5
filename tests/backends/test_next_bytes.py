"""Texts that end anywhere, in every engine: the shipped model's next bytes and its completions are the reference's."""

import pytest

from bpelab.chat import ChatSession
from bpelab.chat.backends import BACKENDS
from bpelab.chat.models.find import find_model

from .engines import open_engine

QUESTION = "What is a token?"
PROMPTS = ("A toke", "A token ", "A token is a piece of te", "Ein Tön".encode()[:-1])


def after_each(backend):
    session = ChatSession(find_model(None), backend=backend, max_new_tokens=8)
    return [
        (session.next_bytes(prompt, QUESTION), session.complete(prompt, exact=True, message=QUESTION).text)
        for prompt in PROMPTS
    ]


@pytest.fixture(scope="module")
def expected():
    return after_each("reference")


@pytest.mark.parametrize("name", [name for name in BACKENDS if name != "reference"])
def test_they_are_those_of_the_reference(name, expected):
    with open_engine(name, find_model(None)) as backend:
        for (own, text), (after, said) in zip(after_each(backend), expected):
            assert own.probabilities == pytest.approx(after.probabilities, abs=2e-3)
            assert own.end == pytest.approx(after.end, abs=2e-3)
            assert own.missing == after.missing == 0 and text == said
