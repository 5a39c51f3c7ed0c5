"""The script of Gemma's record: its loss in parts against transformers' own, new rows trained alone, bits per byte."""

import math
from copy import deepcopy

import numpy as np
import pytest

from bpelab.adapt import adapt_model
from bpelab.editing import extend
from bpelab.notebook import book_text

from ..conftest import ROOT, load_script
from .conftest import need


@pytest.fixture(scope="module")
def script():
    for package in ("torch", "transformers", "gguf", "llama_cpp"):
        need(package)
    return load_script(ROOT / "book" / "gemma_record.py")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A random Gemma in torch, its tokenizer, that with 30 tokens more, and the adapted GGUF file of another one."""
    from ..adapt.gguf_models import scored_tokenizer, write_model

    torch, transformers = need("torch"), need("transformers")
    torch.manual_seed(0)
    old = scored_tokenizer()
    config = transformers.Gemma3TextConfig(
        vocab_size=old.n_vocab, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=32, tie_word_embeddings=True, bos_token_id=2, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    model = transformers.Gemma3ForCausalLM(config).eval()
    new = extend(old, book_text()[30_000:60_000], 30)
    home = tmp_path_factory.mktemp("gemma")
    adapt_model(write_model(home / "old.gguf", "gemma3", kind="Q8_0"), new, home / "new.gguf")
    return model, old, new, home / "new.gguf"


def test_the_loss_in_parts_and_its_gradients(script, small, monkeypatch):
    torch = need("torch")
    model, old, _, _ = small
    monkeypatch.setattr(script, "AT_ONCE", 7)
    ids, labels = next(script.batches(old, book_text()[:9_000]))
    direct, parts = deepcopy(model), deepcopy(model)
    logits = direct(input_ids=ids).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    loss.backward()
    assert script.backward(parts, None, ids, labels) == pytest.approx(loss.item(), rel=1e-5)
    for (name, one), other in zip(direct.named_parameters(), parts.parameters()):
        assert torch.allclose(one.grad, other.grad, atol=1e-5), name


def test_new_rows_are_trained_alone_and_then_everything(script, small):
    model, old, new, path = small
    started = script.with_rows(model, path)
    table = started.get_input_embeddings().weight
    assert table.shape[0] == new.n_vocab and table is started.lm_head.weight
    before = {name: weight.detach().clone().numpy() for name, weight in started.named_parameters()}
    first = np.array(before["model.embed_tokens.weight"])
    endless = script.batches(new, book_text()[30_000:60_000])
    done = script.train(started, endless, 0.5, old.n_vocab)
    assert done["steps"] and done["tokens"] > 100 * done["steps"]
    for name, weight in started.named_parameters():
        same = np.array_equal(before[name], weight.detach().numpy())
        assert same == (name != "model.embed_tokens.weight"), name
    after = table.detach().numpy()
    assert np.array_equal(first[: old.n_vocab], after[: old.n_vocab])
    assert not np.array_equal(first[old.n_vocab :], after[old.n_vocab :])
    script.train(started, endless, 0.5, None)
    assert not np.array_equal(table.detach().numpy()[: old.n_vocab], first[: old.n_vocab])


def test_bits_are_those_of_the_probabilities(script, small):
    torch = need("torch")
    model, old, _, _ = small
    text = book_text()[:300]
    ids = [old.bos_token_id, *old.encode(text, add_special_tokens=False)]
    with torch.inference_mode():
        logs = torch.log_softmax(model(input_ids=torch.tensor([ids[:-1]])).logits[0], dim=-1)
    bits = -sum(float(row[token]) for row, token in zip(logs, ids[1:])) / math.log(2)
    assert script.bits(model, old, text, script.PASSAGE) == pytest.approx(bits / len(text.encode()), rel=1e-5)


def test_texts_are_cut_and_sorted(script, tmp_path):
    (tmp_path / "many.txt").write_text("hello\nਸਤ ਸ੍ਰੀ ਅਕਾਲ\nγεια σου\nਸਤ ਸ੍ਰੀ ਅਕਾਲ\n123\n", encoding="utf-8")
    found = script.by_language(tmp_path / "many.txt")
    assert found["Punjabi"] == "ਸਤ ਸ੍ਰੀ ਅਕਾਲ\n" and found["Greek"] == "γεια σου\n" and not found["Thai"]
    known, unseen = script.cut("a line\n" * 100)
    assert known + unseen == "a line\n" * 100 and len(unseen) == 70
    assert script.part_of("ab\ncd\nef", 7) == "ab\ncd\n" and "def " in script.python_files()
