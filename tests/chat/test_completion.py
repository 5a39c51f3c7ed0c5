"""Completion: a model continues a text, without a template; and base models, which can't do anything else."""

import signal
from contextlib import closing

import numpy as np
import pytest

from bpelab import BPETokenizer
from bpelab.chat import GREEDY
from bpelab.chat.backends import close_backends
from bpelab.chat.base_models import BaseModelWarning
from bpelab.chat.generation import generate
from bpelab.chat.session import ChatSession
from bpelab.errors import ConversationError, TemplateError
from bpelab.postprocessors import TemplateProcessing

from .scripted import Scripted
from .tiny import tiny_tokenizer, write_base_llama, write_tiny_llama


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    yield write_tiny_llama(tmp_path_factory.mktemp("llama"), context=64)
    close_backends()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The same model without a chat template."""
    return write_base_llama(tmp_path_factory.mktemp("base"), 64)


def expected(session, ids, number=12):
    made = generate(session.backend, ids, GREEDY, max_new_tokens=number, stop=session.stop)
    return tuple(each.id for each in made)


def test_a_text_is_continued_without_a_template(llama):
    session = ChatSession(llama, max_new_tokens=12)
    session.ask("Hello")
    said, seen = session.messages, session.ids
    answer = session.complete("Once upon")
    ids = session.tokenizer.encode("Once upon")
    assert answer.ids == expected(session, ids) and answer.prompt_tokens == len(ids)
    assert answer.text == session.tokenizer.decode(answer.ids, skip_special_tokens=True, unknown="replace")
    assert session.last is answer and (session.messages, session.ids) == (said, seen)
    pieces = list(session.stream_completion("Once upon"))
    assert "".join(piece.text for piece in pieces) == answer.text
    again = ChatSession(llama, max_new_tokens=12)
    again.ask("Hello")
    assert session.ask("And?").ids == again.ask("And?").ids  # the conversation goes on as if nothing had been between


def test_a_control_token_in_the_text_stays_text(llama):
    session = ChatSession(llama, max_new_tokens=1)
    answer = session.complete("<|im_end|>")
    assert answer.prompt_tokens == len(session.tokenizer.encode("<|im_end|>")) > 1


def test_a_bos_token_is_added_if_the_tokenizer_adds_one():
    plain = tiny_tokenizer()
    first = plain.token_to_id("<|endoftext|>")
    adds = plain.with_options(post_processor=TemplateProcessing("<|endoftext|> $A"))
    backend = Scripted("x", tokenizer=adds)
    backend.own = plain.encode
    session = ChatSession(backend=backend, tokenizer=adds, max_new_tokens=2)
    assert session.complete("ab").prompt_tokens == len(plain.encode("ab")) + 1
    assert backend.ids[0] == first and session.parity.equal
    assert session.complete("").prompt_tokens == 1


def test_texts_that_can_not_be_continued(llama):
    session = ChatSession(llama)
    with pytest.raises(ConversationError, match="no ids were given"):
        session.complete("")
    with pytest.raises(ConversationError, match="don't fit into the context of 64"):
        session.complete("zq" * 200)
    with closing(session.stream_completion("a")) as pieces:
        next(pieces)
        with pytest.raises(ConversationError, match="still answering"):
            session.complete("b")
    assert session.complete("a").ids


def test_an_interrupt_ends_a_completion_and_not_the_session(llama, monkeypatch):
    session = ChatSession(llama, max_new_tokens=20)
    whole = session.complete("Once")
    feed, fed = session.backend._feed, []

    def interrupted(ids):
        fed.append(ids)
        if len(fed) == 5:
            signal.raise_signal(signal.SIGINT)
        return feed(ids)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        monkeypatch.setattr(session.backend, "_feed", interrupted)
        answer = session.complete("Once")
    finally:
        signal.signal(signal.SIGINT, previous)
    monkeypatch.undo()
    assert answer.reason == "cancelled" and answer.ids == whole.ids[: len(answer.ids)] and 0 < len(answer.ids) < 20
    assert session.complete("Once").ids == whole.ids


def test_a_base_model_completes_and_is_not_asked(base, llama, tmp_path):
    session = ChatSession(base, max_new_tokens=12)
    assert session.is_base and not session.takes_messages
    assert session.complete("Once upon").ids == ChatSession(llama, max_new_tokens=12).complete("Once upon").ids
    conversation = tmp_path / "c.json"
    asked = ChatSession(llama, max_new_tokens=2)
    asked.ask("Hello")
    asked.save(conversation)
    for call in (
        lambda: session.ask("Hello"),
        lambda: session.diverges("Hello"),
        lambda: session.reset(system="Be kind."),
        lambda: session.load(conversation),
        lambda: ChatSession(base, system="Be kind."),
    ):
        with pytest.raises(TemplateError, match="is a base model, which continues a text") as caught:
            call()
        assert str(base) in str(caught.value) and "`complete`" in str(caught.value)
    session.reset()
    assert session.messages == []
    with pytest.raises(TypeError, match="enable_thinking"):
        ChatSession(base, enable_thinking=True)


def test_another_models_template_warns(base, llama):
    tokenizer = BPETokenizer.from_pretrained(llama)
    with pytest.warns(BaseModelWarning, match="wasn't trained on messages in this format"):
        session = ChatSession(base, template="chatml", max_new_tokens=4)
    assert session.is_base and session.takes_messages
    assert session.ask("Hello").ids == ChatSession(llama, max_new_tokens=4).ask("Hello").ids
    # No warning where there is a template of the model's, or the tokenizer's.
    assert not ChatSession(llama, template="chatml").is_base
    assert not ChatSession(llama, tokenizer=tokenizer.with_options(metadata={}), template="chatml").is_base
    assert not ChatSession(base, tokenizer=tokenizer).is_base


def test_probabilities_are_those_of_the_plain_text(llama):
    session = ChatSession(llama, max_new_tokens=1)
    (piece,) = session.stream_completion("Once upon")
    logits = session.backend.next_logits(session.tokenizer.encode("Once upon")).astype(float)
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert piece.probability == pytest.approx(shares.max()) == pytest.approx(shares[piece.id])
