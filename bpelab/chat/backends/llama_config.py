"""The sizes and constants of a Llama, read from its files, and why some models are refused.

Many models are Llamas except for one detail, and give wrong results if it's overlooked. So known features are listed,
and any other that the files name is refused by name. Chapter: A model answers. Sources: transformers
`configuration_llama.py`, `modeling_rope_utils.py`; llama.cpp `src/llama-arch.cpp` for a GGUF file's keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._support.json_document import short_repr
from ...errors import ModelFileError

if TYPE_CHECKING:
    from ..models.find import ModelFiles

ARCHITECTURES = ("llama", "mistral", "qwen2")
UNKNOWN = ("attention_bias", "mlp_bias", "quantization", "quantization_config", "num_local_experts")
"""Entries of config.json which say that a model computes differently."""
GGUF_KEYS = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "rope_theta": "rope.freq_base",
    "vocab_size": "vocab_size",
    "sliding_window": "attention.sliding_window",
    "num_local_experts": "expert_count",
}
"""GGUF keys of the entries of config.json."""


@dataclass(frozen=True)
class ModelShape:
    """A Llama's sizes and constants.

    `frequencies` has RoPE's angle per position for each pair of a head's numbers.
    """

    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    epsilon: float
    tied: bool
    biased: bool
    frequencies: NDArray[np.float32]


def read_model_shape(files: "ModelFiles") -> ModelShape:
    """Return the shape from config.json, or from a GGUF file's keys if there are no safetensors.

    Raises ModelFileError for a model that isn't such a Llama.
    """
    kind = files.architecture
    if kind not in ARCHITECTURES:
        raise ModelFileError(f"its architecture is {kind!r}; the reference backend supports {', '.join(ARCHITECTURES)}")
    config = files.config if files.safetensors else _like_config(files.metadata, kind)
    windowed = config.get("sliding_window") and config.get("use_sliding_window", kind != "qwen2")
    others = [key for key in UNKNOWN if config.get(key)] + ["sliding_window"] * bool(windowed)
    others += ["hidden_act"] * (config.get("hidden_act", "silu") != "silu")
    if others:
        raise ModelFileError(
            f"its {others[0]} is {short_repr(config[others[0]])}, which the reference backend doesn't support"
        )
    hidden, heads = _size(config, "hidden_size"), _size(config, "num_attention_heads")
    head_dim, kv_heads = _size(config, "head_dim", hidden // heads), _size(config, "num_key_value_heads", heads)
    if head_dim % 2 or heads % kv_heads:
        raise ModelFileError("its heads have an odd size, or can't share keys evenly")
    return ModelShape(
        hidden=hidden,
        inner=_size(config, "intermediate_size"),
        layers=_size(config, "num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        epsilon=_positive(config, "rms_norm_eps", 1e-6),
        tied=config.get("tie_word_embeddings") is True,
        biased=kind == "qwen2",
        frequencies=_frequencies(config, head_dim),
    )


def _like_config(metadata: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a GGUF file's metadata under config.json's names."""
    config = {name: metadata.get(f"{kind}.{key}") for name, key in GGUF_KEYS.items()}
    scaling = metadata.get(f"{kind}.rope.scaling.type", "none")
    return config | {"rope_scaling": None if scaling == "none" else {"rope_type": scaling}}


def _frequencies(config: Mapping[str, Any], head_dim: int) -> NDArray[np.float32]:
    """Return RoPE's frequencies, of shape (head_dim / 2,).

    Llama 3.1 lowers the low ones, for a context longer than the one it was first trained with.
    """
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(rope, Mapping):
        raise ModelFileError(f"its RoPE parameters must be an object, not {short_repr(rope)}")
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3") or rope.get("partial_rotary_factor", 1) != 1:
        raise ModelFileError(f"its RoPE is scaled or partial ({kind!r}), which the reference backend doesn't support")
    theta = _positive(rope if "rope_theta" in rope else config, "rope_theta", 10_000.0)
    plain = (1 / theta ** (np.arange(0, head_dim, 2) / head_dim)).astype(np.float32)
    if kind == "default":
        return plain
    low, high = _positive(rope, "low_freq_factor"), _positive(rope, "high_freq_factor")
    turns = _positive(rope, "original_max_position_embeddings") * plain / (2 * pi)  # within the original context
    share = np.clip((turns - low) / max(high - low, 1e-9), 0, 1)
    return np.asarray(share * plain + (1 - share) * plain / _positive(rope, "factor"), np.float32)


def _size(config: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value: Any = default if config.get(key) is None else config[key]
    if type(value) is not int or not 0 < value < 1 << 32:
        raise ModelFileError(f"its {key} must be a whole number of at least 1, not {short_repr(value)}")
    return int(value)


def _positive(config: Mapping[str, Any], key: str, default: float | None = None) -> float:
    value: Any = default if config.get(key) is None else config[key]
    if type(value) not in (int, float) or not 0 < value < 1e30:
        raise ModelFileError(f"its {key} must be a number above 0, not {short_repr(value)}")
    return float(value)
