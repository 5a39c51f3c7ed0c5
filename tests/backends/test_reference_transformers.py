"""The reference backend against transformers' own Llama, Mistral and Qwen2, on random models of many shapes."""

import json
import random

import numpy as np
import pytest

from bpelab.chat.backends import reference
from bpelab.chat.generation import generate
from bpelab.chat.models.find import find_model

from ..chat.tiny import write_tiny_llama
from ..conftest import amount
from .conftest import need

torch = need("torch")
transformers = need("transformers")

LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 10_000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}  # fmt: skip


def random_config(rng):
    kv_heads = rng.choice((1, 2, 3))
    heads, head_dim = kv_heads * rng.choice((1, 2, 4)), rng.choice((4, 6, 16))
    kind = rng.choice((transformers.LlamaConfig, transformers.LlamaConfig, transformers.Qwen2Config,
                       transformers.MistralConfig))  # fmt: skip
    hidden = heads * (head_dim if kind is transformers.Qwen2Config else rng.choice((4, 8, 10)))
    rope = rng.choice(({"rope_type": "default", "rope_theta": rng.choice((500.0, 1e4, 1e6))}, LLAMA3))
    return kind(
        hidden_size=hidden,
        vocab_size=rng.choice((97, 256)),
        intermediate_size=rng.choice((17, 64, 100)),
        num_hidden_layers=rng.randint(1, 4),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim,
        max_position_embeddings=200,
        rms_norm_eps=rng.choice((1e-5, 1e-6)),
        rope_parameters=rope,
        tie_word_embeddings=rng.random() < 0.5,
        initializer_range=rng.choice((0.05, 0.2)),
        **({"sliding_window": None} if kind is transformers.MistralConfig else {}),
    )


def theirs_of(model, rows):
    with torch.no_grad():
        return model(torch.tensor([rows])).logits[0].numpy()


def near(ours, theirs):
    return np.abs(ours - theirs).max() < 1e-3 * np.abs(theirs).max()


def opened(folder, context=200):
    return reference.open(find_model(folder), context=context, gpu_layers=None, device=None, threads=None)


@pytest.mark.parametrize("seed", range(amount(25, 400)))
def test_logits_of_random_models(seed, tmp_path):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    config = random_config(rng)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    for name, parameter in model.named_parameters():  # so that norms and biases are not ones and zeros
        if name.endswith(("norm.weight", "bias")):
            torch.nn.init.normal_(parameter, float("norm" in name), 0.2)
    model.save_pretrained(tmp_path)
    ids = [rng.randrange(config.vocab_size) for _ in range(rng.randint(2, 150))]
    expected, backend = theirs_of(model, ids), opened(tmp_path)
    cut = rng.randint(1, len(ids))
    assert near(backend.next_logits(ids[:cut]), expected[cut - 1])
    for end in range(cut, len(ids) + 1, 7):
        assert near(backend.next_logits(ids[:end]), expected[end - 1])
    model.to(torch.bfloat16).save_pretrained(tmp_path)
    half = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32).eval()
    assert near(opened(tmp_path).next_logits(ids), theirs_of(half, ids)[-1])


@pytest.mark.parametrize("seed", range(amount(4, 40)))
@pytest.mark.parametrize("options", [{}, {"heads": 4, "kv_heads": 1, "tied": False, "layers": 3}])
def test_greedy_answers(seed, options, tmp_path):
    folder = write_tiny_llama(tmp_path, seed=seed, **options)
    config = json.loads((folder / "config.json").read_text())
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = [random.Random(seed).randrange(config["vocab_size"]) for _ in range(12)]
    rows = torch.tensor([ids])
    options = {"do_sample": False, "max_new_tokens": 48, "eos_token_id": None, "pad_token_id": 0}
    expected = model.generate(rows, attention_mask=torch.ones_like(rows), **options)[0].tolist()[len(ids) :]
    for path in (folder, folder / "model.gguf"):
        ours = [token.id for token in generate(opened(path), ids, max_new_tokens=48)]
        if ours != expected:  # only where the two best are as good as equal
            first = next(i for i, (one, other) in enumerate(zip(ours, expected)) if one != other)
            best = np.sort(theirs_of(model, ids + expected[:first])[-1])
            assert best[-1] - best[-2] < 1e-3
