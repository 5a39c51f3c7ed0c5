"""llama.cpp: GGUF files, of any quantization, on CPUs, CUDA, ROCm, Vulkan and Metal.

Its C functions are called directly, through the bindings of llama-cpp-python: load, `llama_decode`, logits,
`llama_memory_seq_rm` to drop what follows a shared prefix, and an abort callback, which is C's own strlen: a callback
in Python would wait for other threads of Python, at every step of a decode. Keys and values are float32 for a model
whose weights are all float32, so that llama.cpp rounds nothing that other backends don't, and float16 otherwise.
Chapter: Chat on your hardware. Source: llama.cpp `include/llama.h`.
"""

import ctypes
import os
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ...errors import BackendError, ModelFileError
from ..hardware import host
from .base import CHUNK, Cancelled
from .errors import LESS, check_memory, import_extra, load_error
from .external import ExternalBackend
from .interrupts import Flag, flag_reader
from .llama_log import captured_log, first_error

if TYPE_CHECKING:
    from ..models.find import ModelFiles
    from .base import Logits

ALL_LAYERS = 2**31 - 1
ABORTED = 2
"""What `llama_decode` returns when the abort callback was true; it's asked many times in a decode, on a CPU."""


def supports(files: "ModelFiles") -> str | None:
    """Return why llama.cpp can't run a model, or None if no reason is known."""
    return None if files.gguf else "llama.cpp runs GGUF files, and this model has none"


def open(
    files: "ModelFiles", *, context: int, gpu_layers: int | None, device: str | None, threads: int | None
) -> "LlamaCppBackend":
    """Load a GGUF file.

    Args:
        gpu_layers: how many layers go to the GPU; None for all, if this llama.cpp can use one.
        device: "cpu"; or "gpu", which raises an error if none can be used.
        threads: None for one for each physical core (`host.threads`).

    Raises MissingDependencyError; ModelFileError for a file that llama.cpp refuses, with its reason; BackendError if
    memory is short.
    """
    problem = supports(files)
    if problem:
        raise ModelFileError(f"{files.name}: {problem}")
    if device not in (None, "cpu", "gpu"):
        raise BackendError(f'llama.cpp has no device {device!r}, only "cpu" and "gpu"')
    offloads = import_extra("llama_cpp", "llama").llama_supports_gpu_offload()
    if (gpu_layers or device == "gpu") and not offloads:
        raise BackendError(
            "this llama.cpp can't use a GPU: it was built for the CPU, or found no driver. `bpelab doctor` says how to "
            "build it for the GPU of this machine"
        )
    on_cpu = device == "cpu" or gpu_layers == 0 or not offloads
    return LlamaCppBackend(files, context, 0 if on_cpu else gpu_layers or ALL_LAYERS, threads)


class LlamaCppBackend(ExternalBackend):
    """A model run by llama.cpp."""

    name = "llama_cpp"

    def __init__(self, files: "ModelFiles", context: int, gpu_layers: int, threads: int | None) -> None:
        self._engine = engine = import_extra("llama_cpp", "llama")
        with captured_log(engine) as log, ExitStack() as stack:
            engine.llama_backend_init()
            parameters = engine.llama_model_default_params()
            parameters.n_gpu_layers = gpu_layers
            model = engine.llama_model_load_from_file(os.fsencode(str(files.gguf)), parameters)
            if not model:
                raise load_error("llama.cpp", files, first_error(log))
            stack.callback(engine.llama_model_free, model)
            if engine.llama_model_has_encoder(model) or not engine.llama_model_has_decoder(model):
                raise load_error("llama.cpp", files, "it is not a decoder-only model")
            weights = engine.llama_model_size(model)
            exact = weights >= 4 * engine.llama_model_n_params(model)
            kv_bytes = _values_of_an_id(engine, model) * (4 if exact else 2)
            if not gpu_layers:
                check_memory(files, weights, kv_bytes * context)
            options = engine.llama_context_default_params()
            options.n_ctx, options.n_batch, options.n_ubatch = context, min(CHUNK, context), min(CHUNK, context)
            options.n_threads = options.n_threads_batch = threads or host.threads()
            options.type_k = options.type_v = engine.GGML_TYPE_F32 if exact else engine.GGML_TYPE_F16
            options.flash_attn_type = engine.LLAMA_FLASH_ATTN_TYPE_DISABLED
            options.no_perf = True
            self._run = engine.llama_init_from_model(model, options)
            if not self._run:
                raise BackendError(
                    f"{files.name}: llama.cpp can't start: {first_error(log)}. {LESS}, or fewer GPU layers"
                )
            stack.callback(engine.llama_free, self._run)
            self._stack = stack.pop_all()
        self._memory = engine.llama_get_memory(self._run)
        self._is_set = engine.ggml_abort_callback(flag_reader())
        self._vocabulary = engine.llama_model_get_vocab(model)
        self._kv_bytes = kv_bytes
        gpu = re.search(r"using device \S+ \(([^)]+)\)", "".join(text for _, text in log))
        try:
            super().__init__(device="CPU" if not gpu_layers else gpu[1] if gpu else "GPU", context=context)
        except BaseException:
            self._free()
            raise

    def native_encode(self, text: str) -> list[int]:
        data = text.encode("utf-8", "surrogateescape")
        room = (self._engine.llama_token * (len(data) + 16))()  # a token has at least a byte, but for a leading space
        with self._in_use():
            count = self._engine.llama_tokenize(self._vocabulary, data, len(data), room, len(room), False, True)
        return list(room[:count])

    def _free(self) -> None:
        with captured_log(self._engine):
            self._stack.close()

    def _cache_size(self) -> int:
        return self._kv_bytes * self._count

    def _clear(self) -> None:
        self._engine.llama_memory_clear(self._memory, False)

    def _truncate(self, count: int) -> bool:
        return bool(self._engine.llama_memory_seq_rm(self._memory, 0, count, -1))

    def _forward(self, ids: list[int], count: int) -> "Logits":
        import numpy as np

        engine, number = self._engine, len(ids)
        tokens = (engine.llama_token * number)(*ids)  # the batch doesn't keep it alive
        batch = engine.llama_batch_get_one(tokens, number)
        if count > 1:  # by default, only the last id has logits
            batch.logits = (ctypes.c_int8 * number)(*[1] * number)
        assert isinstance(self._cancelled, Flag)
        with captured_log(engine) as log:
            engine.llama_set_abort_callback(self._run, self._is_set, self._cancelled.address)
            code = engine.llama_decode(self._run, batch)
        if code == ABORTED:
            raise Cancelled
        if code:
            raise BackendError(f"llama.cpp failed with code {code}: {first_error(log)}. {LESS}")
        self._count += number
        shape = (count, engine.llama_vocab_n_tokens(self._vocabulary))
        return np.ctypeslib.as_array(engine.llama_get_logits(self._run), shape=shape).astype(np.float32)


def _values_of_an_id(engine: Any, model: int) -> int:
    """Return how many numbers one id's keys and values hold."""

    def noted(key: str) -> str:
        room = ctypes.create_string_buffer(64)
        return room.value.decode() if engine.llama_model_meta_val_str(model, key.encode(), room, 64) >= 0 else ""

    layers, heads, kv_heads, width = (
        getattr(engine, f"llama_model_{what}")(model) for what in ("n_layer", "n_head", "n_head_kv", "n_embd")
    )
    attention = f"{noted('general.architecture')}.attention"
    sizes = (noted(f"{attention}.{which}_length") or width // max(1, heads) for which in ("key", "value"))
    return int(layers * kv_heads * sum(map(int, sizes)))
