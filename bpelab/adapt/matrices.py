"""Find the tensors of a model that have a row per token, by name and shape, or refuse the model.

The input matrix turns ids into vectors; the output matrix turns vectors into a logit per id. If tied, they are one
tensor. A model may also have output biases, and copies of the matrices in other layers. A tensor with the right shape
but no known name is refused, as is a known name with another shape: overlooking a matrix would silently break the
model.

Chapter: New words for an old model. Cost: the files' headers. Source: the names in transformers' models, there
`_tied_weights_keys` and the layers that are made with `vocab_size`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .._support.json_document import short_repr
from ..chat.models.tensor_headers import Tensor
from ..errors import ModelFileError
from .numbers import STORED

INPUTS = re.compile(
    r"(?:.*\.)?(?:embed_tokens|wte|word_embeddings?|shared|embed_in|tok_embeddings|token_embeddings?|tokens_embed"
    r"|(?:backbone|rwkv)\.embeddings)\.weight"
)
OUTPUTS = re.compile(
    r"(?:.*\.)?(?:lm_head|embed_out|output_projection|proj_out|generator_lm_head|lm_loss|vocab_projector"
    r"|predictions\.decoder|lm_head\.decoder)\.(?:weight|bias)|(?:output|head|decoder)\.(?:weight|bias)"
    r"|(?:.*\.)?predictions\.bias|final_logits_bias"
)
QUANTIZED = re.compile(
    r".*\.(?:qweight|qzeros|scales|g_idx|weight_scale(?:_inv|_2)?|weight_zero_point|weight_packed|SCB|absmax|quant_map"
    r"|quant_state\..*|input_scale)"
)
CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
"""Suffixes of the names of architectures that have an output matrix."""
OTHER_SIZES = {"type_vocab_size", "type_vocab_sizes", "task_type_vocab_size", "modality_type_vocab_size"}
"""config.json entries that are named as vocabulary sizes but count segment types."""
SEVERAL = re.compile(r"\w+_vocab_size\w*|vocab_size_\w+|\w*codebooks?(?:_\w+)?|vocabulary_map|vocab_offset")
"""config.json entries of models with several vocabularies."""
BY_POSITION = {
    "whisper": "in it every id from the first time stamp on is a time, so none can be added after them",
    "transfo-xl": "its matrix is in parts, by how often tokens occur",
    "canine": "it has no vocabulary: it reads the code points of characters",
}
"""Architectures in which an id's number has a meaning -> the reason."""


class Matrices(NamedTuple):
    """The tensors with a row per token, their number of rows, and where config.json has that number."""

    tensors: tuple[Tensor, ...]
    rows: int
    sizes: tuple[tuple[str, ...], ...]


def find_matrices(name: str, config: Mapping[str, Any], tensors: Sequence[Tensor]) -> Matrices:
    """Return the tensors with a row per token. Raises ModelFileError saying what can't be adapted, and why."""
    refuse_quantized(name, config, tensors)
    kind = str(config.get("model_type"))
    if kind in BY_POSITION:
        raise ModelFileError(f"{name}: a model of the kind {kind!r} can't be adapted: {BY_POSITION[kind]}")
    entries = list(walk(config))
    for path, value in entries:
        if SEVERAL.fullmatch(path[-1]) and path[-1] not in OTHER_SIZES and value not in (None, False, 0):
            raise ModelFileError(
                f"{name}: config.json has {'.'.join(path)}: a model with more vocabularies than one can't be adapted"
            )
    named = {path: value for path, value in entries if path[-1] == "vocab_size" and type(value) is int}
    inputs = [tensor for tensor in tensors if INPUTS.fullmatch(tensor.name)]
    if not inputs:
        raise ModelFileError(
            f"{name}: no tensor has a name that input matrices are known to have, such as "
            "model.embed_tokens.weight or transformer.wte.weight: this architecture "
            f"({kind}) can't be adapted"
        )
    first = next((tensor for tensor in inputs if tensor.shape and tensor.shape[0] in named.values()), None)
    if first is None:
        said = ", ".join(f"{'.'.join(path)} {value:,}" for path, value in named.items()) or "no vocab_size"
        raise ModelFileError(
            f"{name}: {inputs[0].name} has the shape {inputs[0].shape}, and config.json says {said}: rows and "
            "vocab_size have to be one number"
        )
    rows = first.shape[0]
    outputs = [tensor for tensor in tensors if OUTPUTS.fullmatch(tensor.name)]
    for tensor in [*inputs, *outputs]:
        _check_shape(name, tensor, rows, first)
    _refuse_unknown(name, entries, tensors, {tensor.name for tensor in [*inputs, *outputs]}, rows)
    matrix = any(tensor.name.endswith(".weight") for tensor in outputs)
    if config.get("tie_word_embeddings") is False and not matrix and _is_causal(config):
        raise ModelFileError(
            f"{name}: config.json says that the output matrix is not the input matrix (tie_word_embeddings is false), "
            "and no tensor has a name that output matrices are known to have, such as lm_head.weight"
        )
    sizes = tuple(path for path, value in named.items() if value == rows)
    return Matrices((*inputs, *outputs), rows, sizes)


def refuse_quantized(name: str, config: Mapping[str, Any], tensors: Sequence[Tensor]) -> None:
    """Raise ModelFileError for a quantized model, whose numbers are stored with separate scales."""
    method = None
    for path, value in walk(config):
        if "quantization_config" in path or path[0] == "quantization":
            method = value if path[-1] in ("quant_method", "mode") else method or "of some kind"
    scales = next((tensor.name for tensor in tensors if QUANTIZED.fullmatch(tensor.name)), None)
    odd = next((each for each in tensors if INPUTS.fullmatch(each.name) and each.type not in STORED), None)
    if method is None and scales is None and odd is None:
        return
    found = f"config.json says quantization ({str(method)[:40]})" if method else f"it has the tensor {scales}"
    if method is None and scales is None and odd is not None:
        found = f"{odd.name} is {odd.type}, and rows can be made of {', '.join(STORED)}"
    raise ModelFileError(
        f"{name}: quantized models can't be adapted: {found}. Adapt the model that it was made from, and quantize that"
    )


def walk(config: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (keys, value) for each entry of nested objects, the objects included."""
    objects: list[tuple[tuple[str, ...], Any]] = [((), config)]  # nested however deeply
    while objects:
        path, entry = objects.pop()
        for key, value in entry.items():
            yield (*path, str(key)), value
            if isinstance(value, Mapping):
                objects.append(((*path, str(key)), value))


def _check_shape(name: str, tensor: Tensor, rows: int, first: Tensor) -> None:
    bias = tensor.name.endswith("bias")
    wanted = [(rows,), (1, rows)] if bias else [(rows, tensor.shape[-1] if len(tensor.shape) == 2 else 0)]
    if tensor.shape not in wanted or not tensor.size:
        expected = f"({rows}{',' if bias else ', some width'})"
        raise ModelFileError(
            f"{name}: the tensor {tensor.name} has the shape {tensor.shape}, and {expected} was expected, since "
            f"{first.name} has {rows:,} rows: the model has several vocabularies, or a file is damaged"
        )
    if tensor.type not in STORED:
        raise ModelFileError(
            f"{name}: the tensor {tensor.name} is {tensor.type}, and rows can be made of {', '.join(STORED)}"
        )


def _refuse_unknown(
    name: str, entries: Sequence[tuple[tuple[str, ...], Any]], tensors: Sequence[Tensor], known: set[str], rows: int
) -> None:
    """Raise ModelFileError for an unknown tensor with as many rows as there are tokens, unless that may be chance."""
    sizes = {path[-1]: value for path, value in entries if type(value) is int and path[-1] != "vocab_size"}
    head = sizes.get("head_dim") or sizes.get("hidden_size", 0) // max(1, sizes.get("num_attention_heads", 1))
    heads = {value * head for key, value in sizes.items() if key.endswith("_heads")}
    doubled = {2 * sizes.get("intermediate_size", 0), 3 * sizes.get("hidden_size", 0)}
    if rows in {*sizes.values(), *heads, *doubled}:
        return  # another size of the model
    strange = next((each for each in tensors if rows in each.shape and each.name not in known), None)
    if strange is not None:
        raise ModelFileError(
            f"{name}: the tensor {strange.name} has the shape {strange.shape}, in which {rows:,} is the number of "
            "tokens, and what it is for is not known here: the model can't be adapted"
        )


def _is_causal(config: Mapping[str, Any]) -> bool:
    names = config.get("architectures")
    if not isinstance(names, list):
        return False
    if not all(isinstance(each, str) for each in names):
        raise ModelFileError(f"config.json: architectures is {short_repr(names)}, and names were expected")
    return any(each.endswith(CAUSAL) for each in names)
