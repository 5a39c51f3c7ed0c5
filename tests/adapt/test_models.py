"""Adapted models, run: the logits of old tokens are what they were, answers too, and predictions are no worse."""

import json

import numpy as np
import pytest

from bpelab import BPETokenizer
from bpelab.adapt import adapt_model, plan_adaptation
from bpelab.adapt.measuring import BITS_BYTES, measure
from bpelab.chat import ChatSession, bits_per_byte, text_bits
from bpelab.chat.backends import open_backend
from bpelab.chat.backends.reference import ReferenceBackend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import SHIPPED, find_model
from bpelab.chat.text_bits import passages
from bpelab.editing import extend, prune
from bpelab.errors import ConversationError
from bpelab.notebook import book_text

from ..chat.tiny import tiny_tokenizer, write_tiny_llama
from ..conftest import amount

QUESTIONS = (
    "What is a token?", "What is a merge?", "Spell the word harbour.", "How many bytes are in the word tide?",
    "Count to five.", "Hello!", "Who are you?", "Is a token a word?", "naïve 日本 😀",
)  # fmt: skip


def opened(folder):
    return open_backend("reference", find_model(folder))


@pytest.fixture(scope="module")
def more() -> BPETokenizer:
    """The shipped model's tokenizer, with 150 tokens more."""
    return extend(BPETokenizer.from_pretrained(SHIPPED), book_text()[:20_000], 150)


@pytest.fixture(scope="module")
def adapted(more, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapted") / "tiny"
    adapt_model(SHIPPED, more, folder)
    return folder


@pytest.mark.parametrize("options", [{}, {"tied": False}, {"heads": 4, "kv_heads": 2, "tied": False}])
@pytest.mark.parametrize("seed", range(amount(3, 60)))
def test_logits_of_old_tokens_are_identical(seed, options, tmp_path):
    """Where rows were only appended: bit by bit; the most likely token and the greedy answer are the same.

    NumPy's library of products adds up in an order that may depend on the number of columns. So bits are compared with
    as many columns as the old model has, and all columns up to rounding.
    """
    folder = write_tiny_llama(tmp_path / "old", seed=seed, dtype="float32", gguf=False, **options)
    old = tiny_tokenizer()
    new = extend(old, book_text()[seed * 1_000 :][:20_000], 40).with_special_tokens(["<|tool|>"])
    adapt_model(folder, new, tmp_path / "new")
    before, after = opened(folder), opened(tmp_path / "new")
    random = np.random.default_rng(seed)
    alone, narrow = (ReferenceBackend(find_model(path), 256) for path in (folder, tmp_path / "new"))
    order = "F" if options.get("tied", True) else "C"
    narrow.weights = narrow.weights._replace(head=np.array(narrow.weights.head[:, : old.n_vocab], order=order))
    for _ in range(10):
        ids = random.integers(0, old.n_vocab, int(random.integers(1, 60))).tolist()
        one, other = before.next_logits(ids), after.next_logits(ids)
        assert len(other) == new.n_vocab and np.allclose(one, other[: len(one)], rtol=1e-5, atol=1e-5)
        assert other[len(one) :].max() <= one.max()
        answers = [[each.id for each in generate(engine, ids, max_new_tokens=20)] for engine in (before, after)]
        assert answers[0] == answers[1]
        assert np.array_equal(alone.next_logits(ids), narrow.next_logits(ids))


def test_a_new_token_s_logit_is_the_mean_of_its_parts(tmp_path):
    folder = write_tiny_llama(tmp_path / "old", dtype="float32", gguf=False, tied=False)
    new = extend(tiny_tokenizer(), book_text()[:20_000], 40)
    plan = adapt_model(folder, new, tmp_path / "new")
    logits = opened(tmp_path / "new").next_logits([5, 6, 7])
    for token_id, parts in plan.rows.parts.items():
        assert np.isclose(logits[token_id], logits[list(parts)].mean(), atol=1e-4)


@pytest.mark.parametrize("pad", [None, 64])
def test_the_shipped_model_answers_as_before(more, pad, tmp_path):
    adapt_model(SHIPPED, more, tmp_path / "new", pad_to_multiple_of=pad)
    old = BPETokenizer.from_pretrained(SHIPPED)
    before, after = opened(SHIPPED), opened(tmp_path / "new")
    stop = frozenset(find_model(SHIPPED).stop_ids)
    for question in QUESTIONS[: amount(4, 9)]:
        prompt = old.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True)
        logits = after.next_logits(prompt)[: old.n_vocab]
        assert np.allclose(before.next_logits(prompt), logits, rtol=1e-5, atol=1e-5)
        one, other = (
            [each.id for each in generate(engine, prompt, max_new_tokens=60, stop=stop)] for engine in (before, after)
        )
        assert one == other, question


def test_a_pruned_model_has_the_logits_of_what_is_left(tmp_path):
    """Ids are others; a token that is there has the logit that it had, up to the order of sums."""
    old = BPETokenizer.from_pretrained(SHIPPED)
    needed = {part for pair in old.model.merges for part in map(old.model.tokens.get, pair)}
    leaves = [token for token in old.model.tokens.values() if len(token) > 1 and token not in needed]
    new, ids, _ = prune(old, remove=leaves)
    adapt_model(SHIPPED, new, tmp_path / "new")
    before, after = opened(SHIPPED), opened(tmp_path / "new")
    row = [old_id for old_id in old.encode("a merge of bytes") if old_id in ids]
    one, other = before.next_logits(row), after.next_logits([ids[old_id] for old_id in row])
    assert np.allclose(one[list(ids)], other[list(ids.values())], atol=1e-4)
    session = ChatSession(tmp_path / "new")
    assert session.ask("Who are you?").reason == "stop" and find_model(tmp_path / "new").stop_ids == (
        ids[old.eos_token_id],
    )


def test_what_is_left_of_a_model_that_was_extended_and_pruned_again(more, adapted, tmp_path):
    """The weights of the shipped model, byte for byte."""
    back = prune(more, remove=range(1_024, len(more)))
    adapt_model(adapted, back.tokenizer, tmp_path / "back", ids=back.ids)
    assert (tmp_path / "back" / "model.safetensors").read_bytes() == (SHIPPED / "model.safetensors").read_bytes()
    assert json.loads((tmp_path / "back" / "config.json").read_text()) == json.loads(
        (SHIPPED / "config.json").read_text()
    )


# -- bits per byte -----------------------------------------------------------------------------------------------------


def test_bits_per_byte_by_hand():
    tokenizer, engine = BPETokenizer.from_pretrained(SHIPPED), opened(SHIPPED)
    text = "A token is a piece of text."
    row, bits = [tokenizer.eos_token_id], 0.0
    for token in tokenizer.encode(text):
        chances = np.exp(engine.next_logits(row).astype(np.longdouble))
        bits -= float(np.log2(chances[token] / chances.sum()))
        row.append(token)
    assert np.isclose(bits_per_byte(SHIPPED, text), bits / len(text), rtol=1e-6)
    assert np.isclose(bits_per_byte(engine, text, tokenizer=tokenizer), bits / len(text), rtol=1e-6)


def test_bits_per_byte_do_not_depend_on_how_many_tokens_are_evaluated_at_once(monkeypatch):
    text = book_text()[:2_000]
    at_once = bits_per_byte(None, text)
    monkeypatch.setattr(text_bits, "AT_ONCE", 1)
    assert np.isclose(at_once, bits_per_byte(None, text), rtol=1e-6)


def test_bits_per_byte_of_long_texts_and_of_what_can_not_be_measured():
    text = "A token is a piece of text. " * 12
    parts = list(passages(text, 255))
    assert len(parts) > 1 and "".join(parts) == text
    total = sum(bits_per_byte(None, part) * len(part) for part in parts)
    assert np.isclose(bits_per_byte(None, text), total / len(text))
    plain = BPETokenizer.train("abab", 257)
    for arguments, options, message in (
        (("",), {}, "the text is empty"),
        (("a",), {"start": []}, "start is empty"),
        (("a",), {"tokenizer": plain}, "pass the ids to start with as start"),
        (("a",), {"start": [1] * 510}, "no room for text after 510"),
    ):
        with pytest.raises(ConversationError, match=message):
            bits_per_byte(None, *arguments, **options)
    with pytest.raises(TypeError, match="no option 'context'"):
        bits_per_byte(None, "a", context=5)
    with pytest.raises(TypeError, match="pass one as tokenizer"):
        bits_per_byte(opened(SHIPPED), "a")


@pytest.mark.parametrize("text", ["naïve 日本 😀 " * 30, "a" * 700, " " * 300, "\u3000" * 100 + "x"])
@pytest.mark.parametrize("size", [4, 7, 100])
def test_passages_are_the_text(text, size):
    parts = list(passages(text, size))
    assert "".join(parts) == text and all(0 < len(part.encode()) <= size for part in parts)


def test_measured_before_and_after(more, adapted):
    text = book_text()[40_000:40_500]
    found = measure(plan_adaptation(SHIPPED, more), adapted, text)
    assert found.tokens_after < found.tokens_before and found.bytes == len(text.encode()) < BITS_BYTES
    assert found.bits_before == bits_per_byte(SHIPPED, text) and found.bits_after == bits_per_byte(adapted, text)
    assert f"{found.bits_after:.3f}, on {found.bytes:,} bytes" in str(found)
    quick = measure(plan_adaptation(SHIPPED, more), adapted, text, bits=False)
    assert quick.bits_after is None and "not measured: it wasn't asked for" in str(quick)
    missing = measure(plan_adaptation(SHIPPED, more), adapted, text, backend="mlx")
    assert missing.bits_after is None and "mlx" in missing.problem
    with pytest.raises(ValueError, match="empty text"):
        measure(plan_adaptation(SHIPPED, more), adapted, "")
