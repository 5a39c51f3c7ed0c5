"""transformers: Hugging Face's own models, in PyTorch, on CUDA, ROCm, Apple's MPS, Intel's XPU and CPUs.

On a CPU all is float32; elsewhere the type that the model's config.json names. The keys and values are a DynamicCache,
which is cut where a prompt differs from the one before. Chapter: Chat on your hardware. Source: transformers
`cache_utils.py`.
"""

from typing import TYPE_CHECKING, Any

from ...errors import BackendError, ModelFileError
from .engine import Engine, cache_bytes, float32_bytes, own_tokenizer, quiet
from .trouble import check_memory, loading, package, refused, running

if TYPE_CHECKING:
    from ..models import ModelFiles
    from .base import Logits


def supports(files: "ModelFiles") -> str | None:
    """Why transformers can't run a model, None if nothing is known against it."""
    if files.safetensors:
        return None
    return "transformers runs models whose weights are safetensors, and there are none of this one"


def open(
    files: "ModelFiles", *, context: int, gpu_layers: int | None, device: str | None, threads: int | None
) -> "TransformersBackend":
    """Load a model.

    Args:
        gpu_layers: 0 for the CPU; else all are where `device` says.
        device: as PyTorch names it: "cuda", "cuda:1" (AMD's too), "mps", "xpu", "cpu"; "gpu" for any that
            is none; None for the first there is.
        threads: for the CPU, of the whole process; None leaves them as they are.

    Raises MissingDependencyError; ModelFileError for a model that transformers refuses; BackendError for a device that
    isn't there, or where memory is short.
    """
    problem = supports(files)
    if problem:
        raise ModelFileError(f"{files.name}: {problem}")
    return TransformersBackend(files, context, "cpu" if gpu_layers == 0 else device, threads)


class TransformersBackend(Engine):
    """A model in PyTorch."""

    name = "transformers"
    _cache: Any

    def __init__(self, files: "ModelFiles", context: int, device: str | None, threads: int | None) -> None:
        self._torch = torch = package("torch", "transformers")
        self._library = transformers = package("transformers", "transformers")
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
        with loading("transformers", files), quiet(transformers):
            self._model, found = transformers.AutoModelForCausalLM.from_pretrained(
                files.folder,
                dtype=torch.float32 if device == "cpu" else "auto",
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
            if found["missing_keys"]:  # which transformers makes up
                raise refused("transformers", files, f"{min(found['missing_keys'])} is missing in the files")
            self._model.eval().to(device)
            self._clear()
            self._tokenizer = own_tokenizer(files)
            super().__init__(device=_name_of(torch, device), context=context)
            if not self.kv_bytes:  # it would forget what came before, and nothing would say so
                raise refused("transformers", files, "it holds no keys and values, which this backend relies on")

    def own_ids(self, text: str) -> list[int] | None:
        return None if self._tokenizer is None else list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _bytes_held(self) -> int:
        parts = (getattr(layer, name, None) for layer in self._cache.layers for name in ("keys", "values"))
        return sum(part.nbytes for part in parts if part is not None)

    def _free(self) -> None:
        self._model = self._cache = None
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()

    def _clear(self) -> None:
        self._cache = self._library.DynamicCache(config=self._model.config)

    def _cut(self, count: int) -> bool:
        # Layers of other kinds (sliding windows, recurrent states) have lost what a cut would need.
        plain = all(type(layer) is self._library.cache_utils.DynamicLayer for layer in self._cache.layers)
        if plain:
            self._cache.crop(count)
        return plain

    def _feed(self, ids: list[int]) -> "Logits":
        torch = self._torch
        with running("transformers"), torch.inference_mode():
            row = torch.tensor([ids], device=self._device)
            out = self._model(input_ids=row, past_key_values=self._cache, use_cache=True, logits_to_keep=1)
            self._count += len(ids)
            logits: Logits = out.logits[0, -1].float().cpu().numpy()
            return logits


def _devices(torch: Any) -> list[str]:
    """The devices of PyTorch that are here, the best first."""
    others = {"cuda": torch.cuda, "mps": torch.backends.mps, "xpu": getattr(torch, "xpu", None)}
    return [*(name for name, module in others.items() if module and module.is_available()), "cpu"]


def _name_of(torch: Any, device: str) -> str:
    if device.startswith(("cuda", "xpu")):
        return str(getattr(torch, device.split(":", 1)[0]).get_device_name(device))
    return "CPU" if device == "cpu" else "Apple GPU"
