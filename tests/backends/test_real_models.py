"""Models that others trained, in the engines: Gemma 3 270M, a base model, and Qwen2.5-Coder-1.5B-Instruct, for chats.

Only llama.cpp opens their GGUF files. transformers and MLX get the folder that transformers makes of Gemma's, its
weights dequantized to 1.1 GB of float32; OpenVINO would first have to convert that, and Qwen's would be 6.2 GB, so both
are left to smaller models. Gemma's ids: tests/real/test_gguf.py.
"""

import threading

import numpy as np
import pytest

from bpelab.chat import ChatSession, bits_per_byte
from bpelab.chat.backends import BACKENDS, open_backend
from bpelab.chat.base_models import BaseModelWarning
from bpelab.chat.models.find import find_model
from bpelab.errors import ModelFileError, TemplateError
from bpelab.notebook import book_text
from bpelab.unicode.tables import unicode_table

from ..real.test_gguf import some_texts
from .conftest import need
from .engines import greedy, open_engine
from .real_models import gemma, in_float32, qwen

CONTEXT = 1024
STARTS = (
    "The capital of France is",
    "Once upon a time",
    "def add(a, b):\n    return",
    "1, 2, 3, 4,",
    "naïve café, 日本 and 😀",
)
NUMBER = 12
EXACT, QUANTIZED = 0.1, 2.0
"""How far logits of the same weights may be apart: between engines that compute in float32, and from llama.cpp with
quantized weights, whose activations it rounds to 8 bits. Measured: 0.045 and 1.34, where logits range over some 50."""
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


@pytest.fixture(scope="module")
def dequantized(tmp_path_factory):
    """Gemma in a folder, as transformers reads its GGUF file."""
    torch, transformers, _ = need("torch"), need("transformers"), need("accelerate")
    file, folder = gemma(), tmp_path_factory.mktemp("gemma")
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    model.save_pretrained(folder)
    return find_model(folder)


# -- engines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in BACKENDS if name != "llama_cpp"])
def test_only_llama_cpp_opens_the_file(name):
    with pytest.raises(ModelFileError, match="Backends for it: llama_cpp"):
        open_backend(name, find_model(gemma()))


@pytest.fixture(scope="module")
def ways(base):
    """What llama.cpp says after each text, and its logits before each token of that."""
    found = []
    for text in STARTS:
        prompt = base.tokenizer.encode(text)
        row = [*prompt, *greedy(base.backend, prompt, NUMBER)]
        found.append((row, {at: base.backend.next_logits(row[:at]) for at in range(len(prompt), len(row))}))
    return found


@pytest.fixture(scope="module", params=["transformers", "mlx"])
def other(request, dequantized):
    with open_engine(request.param, dequantized, context=CONTEXT) as engine:
        yield engine


@pytest.fixture(scope="module")
def exact(base, tmp_path_factory):
    """llama.cpp with Gemma's weights in float32, from which it rounds nothing."""
    path = in_float32(base.files.gguf, tmp_path_factory.mktemp("float32") / "gemma.gguf")
    with open_engine("llama_cpp", find_model(path), context=CONTEXT) as engine:
        yield engine


def test_the_same_logits_and_mostly_the_same_tokens(other, exact, ways):
    """Without rounding llama.cpp's logits are the other engine's; with it they're near, and few choices differ."""
    differ = 0
    for row, rows in ways:
        for at, theirs in rows.items():
            ours = other.next_logits(row[:at])
            assert np.abs(ours - exact.next_logits(row[:at])).max() < EXACT
            assert np.abs(ours - theirs).max() < QUANTIZED
            differ += int(ours.argmax()) != row[at]
    assert differ <= len(STARTS), differ


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
