"""Models that others trained, in llama.cpp: Gemma 3 270M, a base model, and Qwen2.5-Coder-1.5B-Instruct, for chats.

Other engines: test_real_engines.py. The next byte: test_real_next_bytes.py. Gemma's ids: tests/real/test_gguf.py; its
tokenizer extended and pruned: test_adapted_gguf.py.
"""

import threading

import numpy as np
import pytest

from bpelab.chat import ChatSession, bits_per_byte
from bpelab.chat.base_models import BaseModelWarning
from bpelab.errors import TemplateError
from bpelab.notebook import book_text
from bpelab.unicode.tables import unicode_table

from ..real.test_gguf import some_texts
from .conftest import need
from .real_models import gemma, qwen

CONTEXT = 1024
MODELS = {"gemma": gemma, "qwen": qwen}


@pytest.fixture(scope="module", params=MODELS)
def session(request):
    """A session with llama.cpp; every test of it ends with an empty conversation."""
    need("llama_cpp")
    return ChatSession(MODELS[request.param](), backend="llama_cpp", n_ctx=CONTEXT)


@pytest.fixture(scope="module")
def chat():
    need("llama_cpp")
    return ChatSession(qwen(), backend="llama_cpp", n_ctx=CONTEXT)


@pytest.fixture(scope="module")
def base():
    need("llama_cpp")
    return ChatSession(gemma(), backend="llama_cpp", n_ctx=CONTEXT)


# -- tokens, bits, bytes -----------------------------------------------------------------------------------------------


def test_ids_are_those_of_llama_cpp(chat):
    """And of one kind of text alone they aren't: its Unicode is older, so new letters are no letters there."""
    tokenizer, engine = chat.tokenizer, chat.backend
    some = some_texts([*tokenizer.special_tokens][:5])
    assert len(some) >= 4_000
    for text in some:
        assert engine.native_encode(text) == tokenizer.encode(text, allowed_special="all"), text
    kinds = unicode_table()[1]["gc"]
    ranges = [span for kind, spans in kinds.items() if kind[0] in "LN" and len(kind) == 2 for span in spans]
    letters = [chr(code) for first, last in ranges for code in range(first, last + 1)]
    newer = [each for each in letters if engine.native_encode(f"{each}'s") != tokenizer.encode(f"{each}'s")]
    assert len(newer) == 4_382 and min(newer) == "\u1c89"  # those that Unicode 16.0 added, of 136,000
    assert engine.native_encode("\U00013bdf's") == [*engine.native_encode("\U00013bdf'"), *engine.native_encode("s")]


def test_bits_per_byte_against_llama_cpps_own_rows(session):
    """Its Python class evaluates the text in one batch, in which numbers are rounded differently."""
    text = book_text()[100_000:100_500]  # one passage
    ids = [*session.tokenizer.encode("", add_special_tokens=True)] or [session.tokenizer.eos_token_id]
    ids += session.tokenizer.encode(text, add_special_tokens=False)
    llama = need("llama_cpp").Llama(str(session.files.gguf), n_ctx=CONTEXT, logits_all=True, verbose=False)
    llama.eval(ids)
    bits = 0.0
    for row, token in zip(llama.scores[: len(ids) - 1], ids[1:]):
        bits += (np.log(np.exp(row - row.max(), dtype=np.float64).sum()) + row.max() - row[token]) / np.log(2)
    llama.close()
    ours = bits_per_byte(session.backend, text, tokenizer=session.tokenizer, start=ids[:1])
    assert abs(ours - bits / len(text.encode())) < 0.02


def test_a_stream_holds_back_half_a_character(session):
    """Hieroglyphs are four bytes, and no token of either vocabulary is one."""
    session.max_new_tokens = 40
    streamed = list(session.stream_completion("".join(map(chr, range(0x13000, 0x13010)))))
    assert [token.id for token in streamed] == [*session.last.ids]
    assert "".join(token.text for token in streamed) == session.last.text == session.tokenizer.decode(session.last.ids)
    assert sum(not token.text for token in streamed) > 10  # the bytes that wait
    assert not any("\ufffd" in token.text for token in streamed[:-1])


def test_cancel(session):
    session.max_new_tokens = 200
    for number, _ in enumerate(session.stream_completion("Once upon a time")):
        if number == 5:
            threading.Thread(target=session.cancel).start()
    assert session.last.reason == "cancelled" and 5 < len(session.last.ids) < 200
    session.max_new_tokens = 4
    assert len(session.complete("Once upon a time").ids) == 4


# -- a base model and a chat model -------------------------------------------------------------------------------------


def test_a_base_model_completes(base):
    base.max_new_tokens = 8
    assert base.is_base and base.complete("1, 2, 3, 4,").text.startswith(" 5, 6, 7")
    with pytest.raises(TemplateError, match="base model"):
        base.ask("Hello")
    with pytest.warns(BaseModelWarning):
        ChatSession(base.files, backend="llama_cpp", n_ctx=CONTEXT, template="gemma")


def test_a_chat_model_keeps_its_ids(chat):
    """Qwen writes `]+$` and a line break in tokens that its tokenizer wouldn't choose; the next prompt has them."""
    chat.reset()
    chat.max_new_tokens = 80
    first = chat.ask("Write a regex for an email.")
    before = chat.ids
    assert chat.tokenizer.encode(first.text) != [*first.ids]
    second = chat.ask("Thanks.")
    assert second.divergence is None and chat.ids[: len(before)] == before
    assert second.reused >= len(before) - 1
    assert chat.parity is not None and chat.parity.equal
