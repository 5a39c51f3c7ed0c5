"""GGUF files, adapted as they are, in llama.cpp: the new tokenizer's ids, the old model's logits, answers, K-quants."""

import numpy as np
import pytest

from bpelab.adapt import adapt_model
from bpelab.adapt.quantized import BY_LLAMA_CPP, dequantize, quantize
from bpelab.chat import ChatSession
from bpelab.chat.models.find import find_model
from bpelab.editing import extend
from bpelab.notebook import book_text

from ..conftest import amount
from .conftest import need
from .engines import greedy, open_engine
from .real_models import gemma, gemma_with_fewer, qwen

gguf = need("gguf")
from ..adapt.gguf_models import ARCHITECTURES, old_tokenizer, write_model  # noqa: E402


def texts(number):
    made = [book_text()[at : at + 150] for at in range(30_000, 30_000 + 150 * number, 150)]
    return [*made, "  two  spaces", "\n\n\n", "1234567", "naïve 日本  x 😀", "<new>and<eos>", "ᄀ가 नमस्ते ਪੰਜਾਬੀ"]


@pytest.mark.parametrize("kind", ["F32", "Q8_0", "Q4_0"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_ids_logits_and_answers(architecture, kind, tmp_path):
    need("llama_cpp")
    old = old_tokenizer(architecture)
    path = write_model(tmp_path / "old.gguf", architecture, kind=kind)
    new = extend(old, book_text()[30_000:60_000], 30)
    adapt_model(path, new, tmp_path / "new.gguf")
    with (
        open_engine("llama_cpp", find_model(path), context=128) as before,
        open_engine("llama_cpp", find_model(tmp_path / "new.gguf"), context=128) as after,
    ):
        for text in texts(amount(60, 600)):
            assert after.native_encode(text) == new.encode(text, allowed_special="all", add_special_tokens=False), text
        prompt = old.encode(book_text()[:200])[:40]
        one, other = before.next_logits(prompt), after.next_logits(prompt)
        assert np.abs(one - other[: len(one)]).max() < 1e-5  # the same rows, but llama.cpp may pack them otherwise
        means = greedy(after, prompt, 20)
        assert len(means) == 20
        if kind == "F32":  # a mean's logit is never the largest
            assert means == greedy(before, prompt, 20) and other[len(one) :].max() <= one.max() + 1e-3


@pytest.mark.parametrize("kind", BY_LLAMA_CPP)
def test_what_llama_cpp_quantizes_is_what_gguf_reads(kind):
    numbers = np.random.default_rng(0).standard_normal((5, 512))
    again = dequantize(quantize(numbers, kind), kind)
    bits = float(kind[1] if kind[0] == "Q" else kind[2])
    assert again.shape == numbers.shape
    assert np.sqrt(((again - numbers) ** 2).mean()) < 2.0**-bits * 1.6  # of a normal distribution's spread, 1


def test_a_k_quant_keeps_its_type(tmp_path, monkeypatch):
    need("llama_cpp")
    monkeypatch.setattr(gguf.quants.Q6_K, "quantize", lambda rows: quantize(rows.astype(np.float64), "Q6_K"))
    path = write_model(tmp_path / "old.gguf", "qwen3", kind="Q6_K", output="Q6_K", hidden=256)
    monkeypatch.undo()
    old = old_tokenizer("qwen3")
    new = extend(old, book_text()[30_000:60_000], 30)
    plan = adapt_model(path, new, tmp_path / "new.gguf")
    was, now = (
        {tensor.name: tensor for tensor in gguf.GGUFReader(each).tensors} for each in (path, tmp_path / "new.gguf")
    )
    for name in ("token_embd.weight", "output.weight"):
        assert now[name].tensor_type.name == "Q6_K"
        before, after = (np.array(each[name].data) for each in (was, now))
        assert np.array_equal(before, after[: len(before)])
        stored, made = dequantize(before, "Q6_K"), dequantize(after[len(before) :], "Q6_K")
        means = np.stack([stored[list(plan.rows.parts[new_id])].mean(axis=0) for new_id in sorted(plan.rows.parts)])
        assert np.abs(made - means).max() < 0.03 * np.abs(means).max()
    with open_engine("llama_cpp", find_model(tmp_path / "new.gguf"), context=128) as after:
        assert after.native_encode("the harbour") == new.encode("the harbour")


PROMPTS = (
    "The town has a harbour, and the harbour has",
    "1, 2, 3, 4,",
    "def add(a, b):\n    return",
    "naïve café, 日本 and 😀",
)


def answers(engine, prompts):
    """The logits after each prompt, and the likeliest tokens that follow."""
    return [(engine.next_logits(prompt), greedy(engine, prompt, 12)) for prompt in prompts]


def test_gemma_extended_and_pruned(tmp_path):
    """Google's model: ids as llama.cpp has them, old tokens' logits the same, and answers of old tokens."""
    need("llama_cpp")
    files = find_model(gemma())
    old, fewer = files.tokenizer(), gemma_with_fewer()
    new = extend(old, book_text()[:60_000], 50, progress=False)
    adapt_model(files, new, tmp_path / "new.gguf", old_tokenizer=old)
    adapt_model(files, fewer.tokenizer, tmp_path / "fewer.gguf", old_tokenizer=old)
    prompts = [[token for token in old.encode(text) if token in fewer.ids] for text in PROMPTS]
    with open_engine("llama_cpp", files) as engine:
        before = answers(engine, prompts)
    for tokenizer, ids, name in (
        (new, {token: token for token in range(len(old))}, "new.gguf"),
        (fewer.tokenizer, fewer.ids, "fewer.gguf"),
    ):
        with open_engine("llama_cpp", find_model(tmp_path / name)) as engine:
            for text in texts(amount(1_000, 3_000)):
                expected = tokenizer.encode(text, allowed_special="all", add_special_tokens=False)
                assert engine.native_encode(text) == expected, (name, text)
            after = answers(engine, [[ids[token] for token in prompt] for prompt in prompts])
        kept, same = sorted(ids), 0
        for (logits, said), (now, says) in zip(before, after):
            assert np.abs(now[[ids[token] for token in kept]] - logits[kept]).max() < 1e-4, name
            same += (ids.keys() >= {*said}) and says == [ids[token] for token in said]
        assert same >= (3 if name == "fewer.gguf" else len(PROMPTS)), (name, same)
        session = ChatSession(tmp_path / name, backend="llama_cpp", max_new_tokens=8)
        assert "".join(token.text for token in session.stream_completion("A harbour is")) == session.last.text != ""


def test_qwen_extended(tmp_path):
    """A chat model with 50 tokens more: the ids, the old logits, and a conversation in which one of them is asked."""
    need("llama_cpp")
    files = find_model(qwen())
    old = files.tokenizer()
    new = extend(old, book_text()[:60_000], 50, progress=False)
    adapt_model(files, new, tmp_path / "new.gguf", old_tokenizer=old)
    prompt = old.encode(PROMPTS[0])
    with open_engine("llama_cpp", files) as engine:
        before, said = engine.next_logits(prompt), greedy(engine, prompt, 12)
    session = ChatSession(tmp_path / "new.gguf", backend="llama_cpp", max_new_tokens=12, n_ctx=256)
    engine, known = session.backend, len(old)
    for text in texts(amount(1_000, 3_000)):
        assert engine.native_encode(text) == new.encode(text, allowed_special="all"), text
    assert np.abs(engine.next_logits(prompt)[:known] - before[:known]).max() < 1e-4
    assert greedy(engine, prompt, 12) == said
    made = new.decode([max(new.model.tokens)])
    session.ask(f"Spell the word{made}." if made[0] == " " else f"Spell the word {made}.")
    ids = session.ids
    assert session.parity.equal and session.ask("Thanks.").divergence is None and session.ids[: len(ids)] == ids
