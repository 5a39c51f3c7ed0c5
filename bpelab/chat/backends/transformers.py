"""transformers: Hugging Face's own models, in PyTorch, on CUDA, ROCm, Apple's MPS, Intel's XPU and CPUs.

On a CPU everything is float32; elsewhere it's the type that the model's config.json names. The keys and values are a
DynamicCache, cropped where a prompt differs from the last. Chapter: Chat on your hardware. Source: transformers
`cache_utils.py`.
"""

from typing import TYPE_CHECKING, Any

from ...errors import BackendError, ModelFileError
from .errors import check_memory, import_extra, load_error, translating_load_errors, translating_run_errors
from .external import ExternalBackend, cache_bytes, float32_bytes, native_tokenizer, quiet

if TYPE_CHECKING:
    from ..models.find import ModelFiles
    from .base import Logits


def supports(files: "ModelFiles") -> str | None:
    """Return why transformers can't run a model, or None if no reason is known."""
    if files.safetensors:
        return None
    return "transformers runs models whose weights are safetensors, and this model has none"


def open(
    files: "ModelFiles", *, context: int, gpu_layers: int | None, device: str | None, threads: int | None
) -> "TransformersBackend":
    """Load a model.

    Args:
        gpu_layers: 0 for the CPU; otherwise `device` decides for all layers.
        device: as PyTorch names it: "cuda", "cuda:1" (AMD's too), "mps", "xpu", "cpu"; "gpu" for the first
            that isn't the CPU; None for the first available.
        threads: CPU threads of the whole process; None leaves the setting unchanged.

    Raises MissingDependencyError; ModelFileError for a model that transformers refuses; BackendError for a device that
    isn't there, or if memory is short.
    """
    problem = supports(files)
    if problem:
        raise ModelFileError(f"{files.name}: {problem}")
    return TransformersBackend(files, context, "cpu" if gpu_layers == 0 else device, threads)


class TransformersBackend(ExternalBackend):
    """A model run by transformers, in PyTorch."""

    name = "transformers"
    _cache: Any

    def __init__(self, files: "ModelFiles", context: int, device: str | None, threads: int | None) -> None:
        self._torch = torch = import_extra("torch", "transformers")
        self._library = transformers = import_extra("transformers", "transformers")
        devices = _devices(torch)
        if device == "gpu" and devices[0] != "cpu":
            device = devices[0]
        self._device = device = device or devices[0]
        if device.split(":", 1)[0] not in devices:
            raise BackendError(f"PyTorch has no device {device!r} here; it has {', '.join(devices)}")
        if device == "cpu":
            check_memory(files, float32_bytes(files), cache_bytes(files, context))
            if threads:
                torch.set_num_threads(threads)
        with translating_load_errors("transformers", files), quiet(transformers):
            self._model, found = transformers.AutoModelForCausalLM.from_pretrained(
                files.folder,
                dtype=torch.float32 if device == "cpu" else "auto",
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
            if found["missing_keys"]:  # transformers fills them with random numbers
                raise load_error("transformers", files, f"{min(found['missing_keys'])} is missing from the files")
            self._model.eval().to(device)
            self._clear()
            self._tokenizer = native_tokenizer(files)
            super().__init__(device=_name_of(torch, device), context=context)
            if not self.kv_bytes:  # it would silently forget earlier ids
                raise load_error("transformers", files, "its cache has no keys and values, which this backend needs")

    def native_encode(self, text: str) -> list[int] | None:
        return None if self._tokenizer is None else list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _cache_size(self) -> int:
        parts = (getattr(layer, name, None) for layer in self._cache.layers for name in ("keys", "values"))
        return sum(part.nbytes for part in parts if part is not None)

    def _free(self) -> None:
        self._model = self._cache = None
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()

    def _clear(self) -> None:
        self._cache = self._library.DynamicCache(config=self._model.config)

    def _truncate(self, count: int) -> bool:
        # Layers of other kinds (sliding windows, recurrent states) have dropped what cropping would need.
        plain = all(type(layer) is self._library.cache_utils.DynamicLayer for layer in self._cache.layers)
        if plain:
            self._cache.crop(count)
        return plain

    def _forward(self, ids: list[int], count: int) -> "Logits":
        torch = self._torch
        with translating_run_errors("transformers"), torch.inference_mode():
            row = torch.tensor([ids], device=self._device)
            out = self._model(input_ids=row, past_key_values=self._cache, use_cache=True, logits_to_keep=count)
            self._count += len(ids)
            logits: Logits = out.logits[0, -count:].float().cpu().numpy()
            return logits


def _devices(torch: Any) -> list[str]:
    """Return PyTorch's devices on this machine, the best first."""
    others = {"cuda": torch.cuda, "mps": torch.backends.mps, "xpu": getattr(torch, "xpu", None)}
    return [*(name for name, module in others.items() if module and module.is_available()), "cpu"]


def _name_of(torch: Any, device: str) -> str:
    if device.startswith(("cuda", "xpu")):
        return str(getattr(torch, device.split(":", 1)[0]).get_device_name(device))
    return "CPU" if device == "cpu" else "Apple GPU"
