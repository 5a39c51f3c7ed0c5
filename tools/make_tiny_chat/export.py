"""The model's files: safetensors in float16, GGUF in float32, both with the same values, and what goes with them.

Every weight is rounded to a float16 before it is written, so that all backends compute with the same numbers.

Chapter: A model answers. Source: llama.cpp's `convert_hf_to_gguf.py` for names and the order of rows.
"""

import json
from pathlib import Path
from typing import Any

from bpelab.formats.gguf_save import gguf_metadata
from bpelab.tokenizer import BPETokenizer

NAME = "bpelab tiny chat"
WHOLE = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
PARTS = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def export(model: Any, tokenizer: BPETokenizer, folder: Path) -> None:
    """Write a transformers Llama with tied embeddings, and its tokenizer, to a folder in both forms."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = rounded(model)
    config = settings(model, tokenizer)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save(folder)
    template = str(tokenizer.spec.metadata["chat_template"])
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    ends = {key: config[key] for key in ("eos_token_id", "pad_token_id")}
    for name, content in (("config.json", config), ("generation_config.json", {"do_sample": False, **ends})):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    write_gguf(folder / "model.gguf", weights, config, tokenizer)


def rounded(model: Any) -> dict[str, Any]:
    """Return name -> weights, as NumPy float16; embeddings tied to the output occur once."""
    import numpy as np

    found = {}
    for name, weight in sorted(model.state_dict().items()):
        if name == "lm_head.weight":
            continue
        found[name] = weight.detach().cpu().float().numpy().astype(np.float16)
        if not np.isfinite(found[name]).all():
            raise ValueError(f"{name} has a weight that is too large for float16")
    return found


def settings(model: Any, tokenizer: BPETokenizer) -> dict[str, Any]:
    """Return the content of config.json."""
    shape = model.config
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.num_hidden_layers,
        "num_attention_heads": shape.num_attention_heads,
        "num_key_value_heads": shape.num_key_value_heads,
        "head_dim": shape.hidden_size // shape.num_attention_heads,
        "hidden_act": "silu",
        "max_position_embeddings": shape.max_position_embeddings,
        "rms_norm_eps": shape.rms_norm_eps,
        "rope_theta": 10000.0,
        "rope_scaling": None,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "torch_dtype": "float16",
    }


def write_gguf(path: Path, weights: dict[str, Any], config: dict[str, Any], tokenizer: BPETokenizer) -> None:
    """Write the weights in float32, and the tokenizer as `bpelab.formats.gguf_save` does."""
    import gguf
    import numpy as np

    heads, size = config["num_attention_heads"], config["head_dim"]
    values, types = gguf_metadata(tokenizer.spec)
    values |= {
        "general.type": "model",
        "general.name": NAME,
        "general.license": "mit",
        "general.file_type": 0,  # all tensors in float32
        "llama.context_length": config["max_position_embeddings"],
        "llama.embedding_length": config["hidden_size"],
        "llama.block_count": config["num_hidden_layers"],
        "llama.feed_forward_length": config["intermediate_size"],
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": config["num_key_value_heads"],
        "llama.attention.key_length": size,
        "llama.attention.value_length": size,
        "llama.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "llama.rope.dimension_count": size,
        "llama.rope.freq_base": config["rope_theta"],
    }
    del values["general.architecture"]  # the writer's own first key
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in values.items():
        kind = types.get(key, "float32" if isinstance(value, float) else "uint32")
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        elif isinstance(value, list):
            writer.add_array(key, value)
        else:
            writer.add_key_value(key, value, gguf.GGUFValueType[kind.upper()])
    for name, weight in weights.items():
        array, new = weight.astype(np.float32), WHOLE.get(name, "")
        if not new:
            _, _, layer, part = name.removesuffix(".weight").split(".", 3)
            new = f"blk.{layer}.{PARTS[part]}.weight"
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                array = interleaved(array, heads if "q_proj" in part else config["num_key_value_heads"])
        writer.add_tensor(new, np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def interleaved(array: Any, heads: int) -> Any:
    """Return a projection's rows in llama.cpp's order, which rotates neighbours where transformers rotates halves."""
    rows, columns = array.shape
    return array.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
