"""What backends around other people's engines share: a first use that says what a model is, and closing it safely.

Chapter: Chat on your hardware.
"""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..tensor_files import safetensors_tensors
from .base import Backend
from .trouble import package

if TYPE_CHECKING:
    from ..models import ModelFiles


class Engine(Backend):
    """A backend that finds out by feeding one id how many logits there are, and what an id takes.

    It also is the first use: what an engine puts off until then happens while a model is opened, errors included.
    """

    def __init__(self, *, device: str, context: int) -> None:
        super().__init__(device=device, context=context, vocab_size=0, kv_bytes=0)
        self._count = 0
        self.vocab_size = len(self._feed([0]))
        self.kv_bytes = self._bytes_held()
        self._keep(0)

    def _keep(self, count: int) -> int:
        if not count or (count < self._count and not self._cut(count)):
            self._clear()
            count = 0
        self._count = count
        return count

    @abstractmethod
    def _clear(self) -> None:
        """Forget all ids."""

    @abstractmethod
    def _cut(self, count: int) -> bool:
        """Forget all but the first `count` ids; False, and nothing or all is forgotten, if this model can't."""

    @abstractmethod
    def _bytes_held(self) -> int:
        """The bytes of the keys and values of all ids that are held."""

    @abstractmethod
    def _free(self) -> None:
        """Give back what the model takes."""


def float32_bytes(files: "ModelFiles") -> int:
    """What the weights of safetensors files take when those of 16 bits are held in 32. Cost: reads the headers."""
    tensors = (tensor for path in files.safetensors for tensor in safetensors_tensors(path))
    return sum(tensor.size * (2 if tensor.type in ("F16", "BF16") else 1) for tensor in tensors)


def cache_bytes(files: "ModelFiles", context: int) -> int:
    """What keys and values of a full context take at 32 bits by a model's config.json; 0 where it doesn't say."""
    config = files.config.get("text_config") or files.config
    layers, heads = config.get("num_hidden_layers", 0), config.get("num_attention_heads", 1)
    size = config.get("head_dim") or config.get("hidden_size", 0) // heads
    return int(layers * 2 * (config.get("num_key_value_heads") or heads) * size * 4 * context)


def own_tokenizer(files: "ModelFiles") -> Any:
    """The tokenizer that transformers makes of a model's files, None if it makes none. No code of the model's runs."""
    transformers = package("transformers", "transformers")
    with suppress(Exception), quiet(transformers):  # whatever it dislikes: the ids that the model gets are bpelab's
        return transformers.AutoTokenizer.from_pretrained(files.folder, local_files_only=True, trust_remote_code=False)
    return None


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Neither bars nor remarks of transformers on stderr; afterwards both are as before."""
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
