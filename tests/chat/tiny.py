"""Random Llamas with a tokenizer trained here, in the layout of the model that is shipped.

What they say is nonsense, and the same nonsense on every backend.
"""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from bpelab import BPETokenizer
from bpelab.chat import NAMED
from bpelab.formats.gguf_save import gguf_metadata
from bpelab.notebook import book_text

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


@lru_cache(None)
def tiny_tokenizer(vocab: int = 320) -> BPETokenizer:
    """A byte-level tokenizer of `vocab` ids with ChatML's tokens (the last three ids) and its template."""
    plain = BPETokenizer.train(book_text()[:60_000], vocab, pattern="gpt2", special_tokens=SPECIAL)
    template = {"chat_template": NAMED["chatml"].source}
    return plain.with_options(eos_token="<|im_end|>", pad_token="<|endoftext|>", metadata=template)


def write_base_llama(folder: Path, context: int) -> Path:
    """Write the model of `write_tiny_llama` without a chat template, so a base model, and return the folder."""
    write_tiny_llama(folder, context=context)
    (folder / "chat_template.jinja").unlink()
    tiny_tokenizer().with_options(metadata={}).save(folder)
    return folder


def write_tiny_llama(
    folder: Path,
    *,
    seed: int = 0,
    vocab: int = 320,
    hidden: int = 64,
    layers: int = 2,
    heads: int = 2,
    kv_heads: int = 2,
    context: int = 256,
    intermediate: int | None = None,
    head_dim: int | None = None,
    tied: bool = True,
    rope_theta: float = 10_000.0,
    dtype: str = "float16",
    safetensors: bool = True,
    gguf: bool = True,
) -> Path:
    """Write a random Llama to `folder`, which is made where it doesn't exist, and return the folder.

    Files: config.json, generation_config.json, tokenizer.json, tokenizer_config.json, chat_template.jinja,
    model.safetensors (of `dtype`) and model.gguf (F32, the same values: every weight is exactly a float16).
    The same arguments give the same bytes. `hidden` must be a multiple of 2 · `heads` unless `head_dim` is given.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    head_dim, intermediate = head_dim or hidden // heads, intermediate or 2 * hidden
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "max_position_embeddings": context,
        "rms_norm_eps": 1e-5,
        "rope_theta": rope_theta,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": tied,
        "bos_token_id": None,
        "eos_token_id": vocab - 1,
        "pad_token_id": vocab - 3,
        "torch_dtype": dtype,
    }
    weights = _weights(np.random.default_rng(seed), config)
    tokenizer = tiny_tokenizer(vocab)
    tokenizer.save(folder)
    (folder / "chat_template.jinja").write_text(tokenizer.spec.metadata["chat_template"])
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    generation = {"eos_token_id": [vocab - 1, vocab - 3], "pad_token_id": vocab - 3, "do_sample": False}
    (folder / "generation_config.json").write_text(json.dumps(generation))
    if safetensors:
        from safetensors.numpy import save_file

        arrays = {name: np.ascontiguousarray(weight, dtype) for name, weight in weights.items()}
        save_file(arrays, folder / "model.safetensors", {"format": "pt"})
    if gguf:
        write_gguf(folder / "model.gguf", config, weights, tokenizer)
    return folder


def _weights(random: np.random.Generator, config: dict) -> dict[str, np.ndarray]:
    """Weights as Hugging Face names them, large enough that the best token is seldom nearly the second best."""

    def matrix(rows: int, columns: int, scale: float) -> np.ndarray:
        values = random.standard_normal((rows, columns)) * scale / np.sqrt(columns)
        return values.astype(np.float16).astype(np.float32)

    def norm() -> np.ndarray:
        return (1 + 0.1 * random.standard_normal(hidden)).astype(np.float16).astype(np.float32)

    hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, keys = size * config["num_attention_heads"], size * config["num_key_value_heads"]
    out = {"model.embed_tokens.weight": matrix(config["vocab_size"], hidden, 2.0)}
    for number in range(config["num_hidden_layers"]):
        layer = f"model.layers.{number}."
        out[layer + "input_layernorm.weight"] = norm()
        out[layer + "self_attn.q_proj.weight"] = matrix(queries, hidden, 2.0)
        out[layer + "self_attn.k_proj.weight"] = matrix(keys, hidden, 2.0)
        out[layer + "self_attn.v_proj.weight"] = matrix(keys, hidden, 1.0)
        out[layer + "self_attn.o_proj.weight"] = matrix(hidden, queries, 1.0)
        out[layer + "post_attention_layernorm.weight"] = norm()
        out[layer + "mlp.gate_proj.weight"] = matrix(inner, hidden, 1.5)
        out[layer + "mlp.up_proj.weight"] = matrix(inner, hidden, 1.5)
        out[layer + "mlp.down_proj.weight"] = matrix(hidden, inner, 1.5)
    out["model.norm.weight"] = norm()
    if not config["tie_word_embeddings"]:
        out["lm_head.weight"] = matrix(config["vocab_size"], hidden, 2.0)
    return out


GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "model.layers.": "blk.",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(path: Path, config: dict, weights: dict[str, np.ndarray], tokenizer: BPETokenizer) -> None:
    """The same model in one GGUF file, all tensors F32, as llama.cpp's convert_hf_to_gguf.py lays it out."""
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    values, types = gguf_metadata(tokenizer.spec)
    heads, size = config["num_attention_heads"], config["head_dim"]
    shape = {
        "llama.vocab_size": config["vocab_size"],
        "llama.context_length": config["max_position_embeddings"],
        "llama.embedding_length": config["hidden_size"],
        "llama.block_count": config["num_hidden_layers"],
        "llama.feed_forward_length": config["intermediate_size"],
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": config["num_key_value_heads"],
        "llama.attention.key_length": size,
        "llama.attention.value_length": size,
        "llama.rope.dimension_count": size,
    }
    floats = {
        "llama.rope.freq_base": config["rope_theta"],
        "llama.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
    }
    values |= {**shape, **floats, "general.type": "model", "general.name": "a random Llama"}
    types |= dict.fromkeys(shape, "uint32") | dict.fromkeys(floats, "float32")
    del values["general.architecture"]  # the writer has put it there
    for key, value in values.items():
        kind = types.get(key, "bool" if isinstance(value, bool) else "string").strip("[]").upper()
        if isinstance(value, list):
            writer.add_key_value(key, value, gguf.GGUFValueType.ARRAY, gguf.GGUFValueType[kind])
        else:
            writer.add_key_value(key, value, gguf.GGUFValueType[kind])
    for name, weight in weights.items():
        short = name
        for theirs, ours in GGUF_NAMES.items():
            short = short.replace(theirs, ours)
        turned = "q_proj" in name or "k_proj" in name  # llama.cpp turns neighbours, where Hugging Face turns halves
        halves = weight.reshape(-1, 2, size // 2, weight.shape[1]).swapaxes(1, 2) if turned else weight
        writer.add_tensor(short, np.ascontiguousarray(halves.reshape(weight.shape)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
