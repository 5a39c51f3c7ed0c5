"""Models to adapt, of a few random numbers, in every form that files have; written by the safetensors library."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import serialize_file

from bpelab import BPETokenizer
from bpelab.adapt.numbers import STORED
from bpelab.chat.models.tensor_headers import safetensors_tensors

LIBRARY_NAMES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
WIDTH = 6


def random_bits(random: np.random.Generator, kind: str, *shape: int) -> np.ndarray:
    """Numbers of a stored type that any bits may be, NaNs and infinities included, but for the first rows."""
    size = np.dtype(STORED[kind]).itemsize
    return np.frombuffer(random.bytes(int(np.prod(shape)) * size), STORED[kind]).reshape(shape)


def numbers(random: np.random.Generator, kind: str, *shape: int) -> np.ndarray:
    """Ordinary numbers of a stored type."""
    values = random.standard_normal(shape).astype(np.float32)
    return (values.view(np.uint32) >> 16).astype("<u2") if kind == "BF16" else values.astype(STORED[kind])


def save(path: Path, tensors: Mapping[str, tuple[str, np.ndarray]]) -> None:
    """Write tensors, name -> (stored type, numbers), with the library."""
    flat = {
        name: {"dtype": LIBRARY_NAMES[kind], "shape": array.shape, "data": array.tobytes()}
        for name, (kind, array) in tensors.items()
    }
    serialize_file(flat, str(path), {"format": "pt", "made by": "tests"})


def load(folder: Path) -> dict[str, np.ndarray]:
    """Read all tensors of a folder as they are stored."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        for tensor in safetensors_tensors(path):
            data = path.read_bytes()[tensor.offset : tensor.offset + tensor.size]
            found[tensor.name] = np.frombuffer(data, STORED[tensor.type]).reshape(tensor.shape)
    return found


def tensors_of(
    tokenizer: BPETokenizer,
    *,
    kind: str = "F32",
    tied: bool = False,
    rows: int | None = None,
    seed: int = 0,
    bias: bool = False,
) -> dict[str, tuple[str, np.ndarray]]:
    """The tensors of a model: matrices of the stored type `kind`, and some others of several types."""
    random, count = np.random.default_rng(seed), rows or tokenizer.n_vocab
    found = {
        "model.embed_tokens.weight": (kind, numbers(random, kind, count, WIDTH)),
        "model.layers.0.mlp.up_proj.weight": ("F16", numbers(random, "F16", 5, WIDTH)),
        "model.layers.0.norm.weight": ("F32", numbers(random, "F32", WIDTH)),
        "model.norm.weight": ("BF16", numbers(random, "BF16", WIDTH)),
    }
    if not tied:
        found["lm_head.weight"] = (kind, numbers(random, kind, count, WIDTH))
    if bias:
        found["lm_head.bias"] = (kind, numbers(random, kind, count))
    return found


def write_model(
    folder: Path,
    tokenizer: BPETokenizer,
    tensors: Mapping[str, tuple[str, np.ndarray]],
    *,
    shards: int = 1,
    generation: Mapping | None = None,
    **config,
) -> Path:
    """Write a folder as transformers would: configurations, tokenizer, one file of weights or several with an index."""
    folder.mkdir(parents=True)
    tokenizer.save(folder)
    rows = next((len(array) for name, (_, array) in tensors.items() if "embed" in name or "wte" in name), 0)
    shape = {"hidden_size": WIDTH, "num_attention_heads": 1, "num_hidden_layers": 1, "intermediate_size": 5}
    content = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": rows, **shape}
    content |= {"tie_word_embeddings": "lm_head.weight" not in tensors, **config}
    (folder / "config.json").write_text(json.dumps(content))
    if generation is not None:
        (folder / "generation_config.json").write_text(json.dumps(generation))
    if shards == 1:
        save(folder / "model.safetensors", tensors)
        return folder
    names = list(tensors)
    files = [f"model-{number:05}-of-{shards:05}.safetensors" for number in range(1, shards + 1)]
    where = {name: files[at * shards // len(names)] for at, name in enumerate(names)}
    for file in files:
        save(folder / file, {name: tensors[name] for name in names if where[name] == file})
    total = sum(array.nbytes for _, array in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder
