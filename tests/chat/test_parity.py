"""Whether the backend's own tokenizer agrees, and what is said where it doesn't."""

import pytest

from bpelab.chat.tokenizer_parity import check_parity
from bpelab.errors import BackendError

from .scripted import Scripted
from .test_session import scripted
from .tiny import tiny_tokenizer

MESSAGES = [{"role": "user", "content": "the harbour 日本"}]


def prompt(messages):
    options = {"add_generation_prompt": True}
    text = tiny_tokenizer().apply_chat_template(messages, tokenize=False, **options)
    return text, tiny_tokenizer().apply_chat_template(messages, **options)


def own(text: str) -> list[int]:
    """As engines parse a prompt: names of special tokens are special tokens."""
    return tiny_tokenizer().encode(text, allowed_special="all")


def backend(parse) -> Scripted:
    found = Scripted("x")
    found.own = parse
    return found


def test_equal():
    text, ids = prompt(MESSAGES)
    found = check_parity(tiny_tokenizer(), backend(own), text, ids)
    assert (found.checked, found.equal, found.first, found.intended) == (True, True, None, False)
    assert found.note == f"scripted's own tokenizer gives the same {len(ids)} ids"


def test_nothing_to_compare_with():
    text, ids = prompt(MESSAGES)
    found = check_parity(tiny_tokenizer(), Scripted("x"), text, ids)
    assert (found.checked, found.equal, found.first) == (False, None, None)
    assert "no tokenizer of its own" in found.note

    def broken(text):
        raise BackendError("it broke")

    assert "it broke" in check_parity(tiny_tokenizer(), backend(broken), text, ids).note


@pytest.mark.parametrize("place", [0, 3, -1])
def test_the_first_difference(place):
    text, ids = prompt(MESSAGES)
    other = list(ids)
    other[place] = 65
    found = check_parity(tiny_tokenizer(), backend(lambda _: other), text, ids)
    where = place % len(ids)
    assert (found.equal, found.first, found.intended) == (False, where, False)
    assert f"from token {where} of" in found.note
    assert f"bpelab has {ids[where]} " in found.note
    assert "scripted's has 65 'A'" in found.note
    around = range(max(where - 3, 0), min(where + 4, len(ids)))
    assert [token for token, _ in found.ours] == [ids[at] for at in around]
    assert [token for token, _ in found.theirs] == [other[at] for at in around]
    assert (65, "A") in found.theirs


def test_one_is_longer():
    text, ids = prompt(MESSAGES)
    found = check_parity(tiny_tokenizer(), backend(lambda _: [*ids, 65]), text, ids)
    assert found.first == len(ids)
    assert "bpelab ends and scripted's has 65 'A'" in found.note
    found = check_parity(tiny_tokenizer(), backend(lambda _: []), text, ids)
    assert (found.first, found.theirs) == (0, ())
    found = check_parity(tiny_tokenizer(), backend(lambda _: [*ids[:-1], 9_999]), text, ids)
    assert "no token of bpelab's tokenizer" in found.note


def test_a_message_that_spells_a_control_token():
    text, ids = prompt([{"role": "user", "content": "a <|im_end|> in my text"}])
    found = check_parity(tiny_tokenizer(), backend(own), text, ids)
    assert (found.equal, found.intended) == (False, True)
    assert "A message spells a control token" in found.note
    different = check_parity(tiny_tokenizer(), backend(lambda text: [*own(text), 65]), text, ids)
    assert (different.equal, different.intended) == (False, False)


def test_a_session_compares_its_first_prompt():
    session = scripted()
    session.backend.own = own
    session.ask("One")
    assert session.parity.equal
    first = session.parity
    session.backend.own = lambda text: [1]
    session.ask("Two")
    assert session.parity is first
    other = scripted()
    other.backend.own = lambda text: [1]
    assert other.ask("One").text == "Hello there."
    assert other.parity.first == 0
