"""MLX: models in Hugging Face's format, or converted for MLX, on Apple's GPUs, and on CPUs elsewhere.

The models are mlx-lm's. On a CPU, weights become float32, so that MLX rounds nothing that other backends don't round;
on a GPU they stay as they are. MLX is lazy: each step evaluates the logits together with all keys and values.
Chapter: Chat on your hardware. Source: mlx-lm `utils.py` and `models/cache.py`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import BackendError, ModelFileError
from .errors import check_memory, import_extra, translating_load_errors, translating_run_errors
from .external import ExternalBackend, cache_bytes, float32_bytes, native_tokenizer

if TYPE_CHECKING:
    from ..models.find import ModelFiles
    from .base import Logits


def supports(files: "ModelFiles") -> str | None:
    """Return why MLX can't run a model, or None if no reason is known."""
    if not files.safetensors:
        return "MLX runs models whose weights are safetensors, and this model has none"
    if files.config.get("model_file"):
        return f"its config.json asks to run code, {files.config['model_file']}; bpelab never runs a model's code"
    return None


def open(
    files: "ModelFiles", *, context: int, gpu_layers: int | None, device: str | None, threads: int | None
) -> "MlxBackend":
    """Load a model.

    Args:
        gpu_layers: 0 for the CPU; otherwise `device` decides for all layers.
        device: "cpu" or "gpu"; None for the GPU if MLX has one.
        threads: has no effect: MLX chooses.

    Raises MissingDependencyError; ModelFileError for a model that mlx-lm refuses; BackendError if memory is short.
    """
    problem = supports(files)
    if problem:
        raise ModelFileError(f"{files.name}: {problem}")
    return MlxBackend(files, context, "cpu" if gpu_layers == 0 else device)


class MlxBackend(ExternalBackend):
    """A model run by MLX."""

    name = "mlx"
    _cache: Any

    def __init__(self, files: "ModelFiles", context: int, device: str | None) -> None:
        self._mx = mx = import_extra("mlx.core", "mlx")
        if device not in (None, "cpu", "gpu"):
            raise BackendError(f'MLX has no device {device!r}, only "cpu" and "gpu"')
        self._device = mx.default_device() if device is None else getattr(mx, device)
        on_cpu = self._device == mx.cpu
        if on_cpu:
            check_memory(files, float32_bytes(files), cache_bytes(files, context))
        utils, self._caches = import_extra("mlx_lm.utils", "mlx"), import_extra("mlx_lm.models.cache", "mlx")
        with translating_load_errors("MLX", files), mx.stream(self._device):
            self._model, _ = utils.load_model(files.folder, lazy=on_cpu, model_config=_rope(files.config))
            if on_cpu:
                self._model.set_dtype(mx.float32)
                mx.eval(self._model.parameters())
            self._clear()
            self._tokenizer = native_tokenizer(files)
            super().__init__(device="CPU" if on_cpu else mx.device_info()["device_name"], context=context)

    def native_encode(self, text: str) -> list[int] | None:
        return None if self._tokenizer is None else list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _cache_size(self) -> int:
        return sum(getattr(part, "nbytes", 0) for layer in self._cache for part in layer.state)

    def _free(self) -> None:
        self._model = self._cache = None
        self._mx.clear_cache()

    def _clear(self) -> None:
        self._cache = self._caches.make_prompt_cache(self._model)

    def _truncate(self, count: int) -> bool:
        surplus = self._count - count
        return bool(self._caches.trim_prompt_cache(self._cache, surplus) == surplus)

    def _forward(self, ids: list[int], count: int) -> "Logits":
        import numpy as np

        mx = self._mx
        with translating_run_errors("MLX"), mx.stream(self._device):
            rows = self._model(mx.array([ids]), cache=self._cache)[0, -count:].astype(mx.float32)
            mx.eval(rows, [layer.state for layer in self._cache])
            self._count += len(ids)
            return np.array(rows)


def _rope(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return rope_theta and rope_scaling for mlx-lm from rope_parameters, which transformers 5 writes instead.

    Without them mlx-lm uses a default, and the model talks nonsense without any warning.
    """
    rope = config.get("rope_parameters")
    if not isinstance(rope, Mapping) or "rope_theta" in config or "rope_theta" not in rope:
        return {}
    theta = {"rope_theta": rope["rope_theta"]}
    if rope.get("rope_type", "default") == "default":
        return theta
    return theta | {"rope_scaling": {key: value for key, value in rope.items() if key != "rope_theta"}}
