"""The base class of backends that wrap an external engine: opening a model also runs and measures it once.

Chapter: Chat on your hardware.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ..models.tensor_headers import safetensors_tensors
from .base import Backend, shared_length
from .errors import import_extra
from .interrupts import Flag, interruptible

if TYPE_CHECKING:
    from ..models.find import ModelFiles
    from .base import Logits

SHORT = 8
"""So many ids are computed in the caller's thread: they take no time in which anybody interrupts."""


class ExternalBackend(Backend):
    """A backend that feeds one id on opening, to find the number of logits and the cache bytes per id.

    This is also the model's first use: whatever an engine defers until then happens on opening, errors included.
    """

    def __init__(self, *, device: str, context: int) -> None:
        super().__init__(device=device, context=context, vocab_size=0, kv_bytes=0)
        self._count, self._cancelled = 0, Flag()
        self._thread = ThreadPoolExecutor(1, f"bpelab {self.name}")  # ends when this object is freed
        self.vocab_size = len(self._feed([0]))
        self.kv_bytes = self._cache_size()
        self._keep(0)

    def _logits(self, ids: Sequence[int], count: int, cancelled: Callable[[], bool]) -> "Logits":
        flag = Flag()
        compute = partial(super()._logits, ids, count, flag)
        if len(ids) - shared_length(self._cached_ids, ids) <= SHORT:
            return compute()
        return interruptible(self._thread, compute, flag, cancelled)

    def _keep(self, count: int) -> int:
        if not count or (count < self._count and not self._truncate(count)):
            self._clear()
            count = 0
        self._count = count
        return count

    def _feed(self, ids: list[int]) -> "Logits":
        logits: Logits = self._forward(ids, 1)[0]
        return logits

    def _feed_each(self, ids: list[int]) -> "Logits":
        return self._forward(ids, len(ids))

    @abstractmethod
    def _forward(self, ids: list[int], count: int) -> "Logits":
        """Add `ids` to the cache. Return the logits after the last `count` of them, which is 1 or all."""

    @abstractmethod
    def _clear(self) -> None:
        """Empty the cache."""

    @abstractmethod
    def _truncate(self, count: int) -> bool:
        """Drop all but the first `count` ids. If this model can't, drop nothing or everything, and return False."""

    @abstractmethod
    def _cache_size(self) -> int:
        """Return the bytes of the keys and values of all ids in the cache."""

    @abstractmethod
    def _free(self) -> None:
        """Free the model's memory."""


def float32_bytes(files: "ModelFiles") -> int:
    """Return the bytes of a model's safetensors weights once 16-bit numbers are expanded to 32 bits.

    Cost: reading the headers.
    """
    tensors = (tensor for path in files.safetensors for tensor in safetensors_tensors(path))
    return sum(tensor.size * (2 if tensor.type in ("F16", "BF16") else 1) for tensor in tensors)


def cache_bytes(files: "ModelFiles", context: int) -> int:
    """Return the bytes of a full context's keys and values in float32; 0 if config.json doesn't say."""
    config = files.config.get("text_config") or files.config
    layers, heads = config.get("num_hidden_layers", 0), config.get("num_attention_heads", 1)
    size = config.get("head_dim") or config.get("hidden_size", 0) // heads
    return int(layers * 2 * (config.get("num_key_value_heads") or heads) * size * 4 * context)


def native_tokenizer(files: "ModelFiles") -> Any:
    """Load the tokenizer from a model's files with transformers; None if that fails.

    No code from the model runs.
    """
    transformers = import_extra("transformers", "transformers")
    with suppress(Exception), quiet(transformers):  # any error is harmless: the model gets bpelab's ids
        return transformers.AutoTokenizer.from_pretrained(files.folder, local_files_only=True, trust_remote_code=False)
    return None


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Suppress transformers' progress bars and messages on stderr, and restore both afterwards."""
    settings = transformers.utils.logging
    shown, level = settings.is_progress_bar_enabled(), settings.get_verbosity()
    settings.disable_progress_bar()
    settings.set_verbosity_error()
    try:
        yield
    finally:
        settings.set_verbosity(level)
        if shown:
            settings.enable_progress_bar()
