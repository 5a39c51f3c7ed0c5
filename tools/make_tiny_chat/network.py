"""The model's shape: a Llama of 1.1 million weights, embeddings and output being one matrix.

Chapter: A model answers. Source: Touvron et al. 2023, as `transformers` has it.
"""

from typing import Any

from bpelab.tokenizer import BPETokenizer

CONTEXT = 512


def network(tokenizer: BPETokenizer, seed: int, **other: int) -> Any:
    """Return a Llama with random weights; `other` replaces sizes of config.json."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    shape: dict[str, Any] = {
        "vocab_size": tokenizer.n_vocab,
        "hidden_size": 128,
        "intermediate_size": 336,
        "num_hidden_layers": 5,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0},
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": None,  # torch would keep its row at zero
        "initializer_range": 0.03,
        **other,
    }
    build: Any = LlamaForCausalLM
    return build(LlamaConfig(**shape)).float()
