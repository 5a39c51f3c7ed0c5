"""Small random models as GGUF files, in the architectures that people use, as llama.cpp reads them."""

from functools import lru_cache
from pathlib import Path

import gguf
import numpy as np

from bpelab import BPETokenizer
from bpelab.editing import extend
from bpelab.formats.gguf_save import gguf_metadata
from bpelab.formats.sentencepiece_load import SPACE, build_decoder, build_model, special_tokens
from bpelab.formats.sentencepiece_proto import Piece
from bpelab.normalizers import Replace
from bpelab.notebook import book_text
from bpelab.regex.matchers import Pattern

from ..chat.tiny import tiny_tokenizer

ARCHITECTURES = ("llama", "qwen2", "qwen3", "gemma3")  # a Mistral's file says llama
HEADS, KEYS, SIZE, INNER, CONTEXT = 2, 1, 32, 256, 256


@lru_cache(None)
def scored_tokenizer() -> BPETokenizer:
    """A tokenizer with scores, as Gemma's: characters, byte fallback, a symbol, spaces that aren't added."""
    names = [("<pad>", "CONTROL"), ("<eos>", "CONTROL"), ("<bos>", "CONTROL"), ("<unk>", "UNKNOWN")]
    names += [("<new>", "USER_DEFINED")] + [(f"<0x{byte:02X}>", "BYTE") for byte in range(256)]
    characters = sorted({SPACE, "\n", *book_text()[:60_000]} - {" "})
    pieces = [Piece(name, 0.0, kind) for name, kind in names]
    pieces = tuple(pieces + [Piece(text, -1_000.0 - at) for at, text in enumerate(characters)])
    plain = BPETokenizer(
        build_model(pieces, True),
        pattern=None,
        special_tokens=special_tokens(pieces),
        normalizer=Replace(Pattern("String", " "), SPACE),
        decoder=build_decoder(0),
        unk_token="<unk>",
        bos_token="<bos>",
        eos_token="<eos>",
        pad_token="<pad>",
    )
    return extend(plain, book_text()[:30_000], 40)


def old_tokenizer(architecture: str) -> BPETokenizer:
    return scored_tokenizer() if architecture == "gemma3" else tiny_tokenizer()


def write_model(
    path: Path, architecture: str, *, kind: str = "F32", output: str | None = None, hidden: int = 64, seed: int = 0
) -> Path:
    """Write a model of two layers: its matrix of tokens in a type, the output matrix in another, or none."""
    random = np.random.default_rng(seed)
    tokenizer = old_tokenizer(architecture)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("a random model")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(hidden)
    writer.add_block_count(2)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEYS)
    writer.add_key_length(SIZE)
    writer.add_value_length(SIZE)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    if architecture == "gemma3":
        writer.add_sliding_window(512)
    elif architecture == "llama":
        writer.add_vocab_size(tokenizer.n_vocab)
    values, types = gguf_metadata(tokenizer.spec)
    values["tokenizer.ggml.eot_token_id"], types["tokenizer.ggml.eot_token_id"] = tokenizer.eos_token_id, "uint32"
    for key, value in values.items():
        if key.startswith("tokenizer."):
            sort = types.get(key, "bool" if isinstance(value, bool) else "string").strip("[]").upper()
            whole = gguf.GGUFValueType.ARRAY if isinstance(value, list) else gguf.GGUFValueType[sort]
            writer.add_key_value(key, value, whole, gguf.GGUFValueType[sort] if isinstance(value, list) else None)
    for name, array in _tensors(random, architecture, tokenizer.n_vocab, hidden, output is not None).items():
        wanted = {"token_embd.weight": kind, "output.weight": output}.get(name, "F32")
        quantization = gguf.GGMLQuantizationType[wanted or "F32"]
        writer.add_tensor(name, gguf.quants.quantize(array, quantization), raw_dtype=quantization)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _tensors(random, architecture: str, rows: int, hidden: int, head: bool) -> dict[str, np.ndarray]:
    def matrix(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (random.standard_normal(shape) * scale / np.sqrt(shape[-1])).astype(np.float32)

    def norm(size: int = hidden) -> np.ndarray:
        return (1 + 0.1 * random.standard_normal(size)).astype(np.float32)

    found = {"token_embd.weight": matrix(rows, hidden, scale=2.0), "output_norm.weight": norm()}
    if head:
        found["output.weight"] = matrix(rows, hidden, scale=2.0)
    for layer in ("blk.0.", "blk.1."):
        shapes = {"q": (HEADS * SIZE, hidden), "k": (KEYS * SIZE, hidden), "v": (KEYS * SIZE, hidden)}
        for name, shape in shapes.items():
            found[f"{layer}attn_{name}.weight"] = matrix(*shape)
            if architecture == "qwen2":
                found[f"{layer}attn_{name}.bias"] = matrix(shape[0])
            if architecture in ("qwen3", "gemma3") and name != "v":
                found[f"{layer}attn_{name}_norm.weight"] = norm(SIZE)
        found[f"{layer}attn_output.weight"] = matrix(hidden, HEADS * SIZE)
        for name, shape in {"gate": (INNER, hidden), "up": (INNER, hidden), "down": (hidden, INNER)}.items():
            found[f"{layer}ffn_{name}.weight"] = matrix(*shape)
        norms = ("attn_norm", "ffn_norm") + ("post_attention_norm", "post_ffw_norm") * (architecture == "gemma3")
        found |= {f"{layer}{name}.weight": norm() for name in norms}
    return found
