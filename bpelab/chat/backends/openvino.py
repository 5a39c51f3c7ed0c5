"""OpenVINO: Intel's GPUs, NPUs and CPUs (and other makers' CPUs).

When a model is first opened, optimum-intel converts it to OpenVINO's format in a separate process, which takes seconds
to minutes. The result is kept; from then on only OpenVINO's runtime is loaded, not PyTorch. The model holds its keys
and values itself, as states that can be read, cut and written back. On a CPU everything is float32; other devices use
the type they prefer. Chapter: Chat on your hardware. Source: optimum-intel `modeling_decoder.py`.
"""

from typing import TYPE_CHECKING, Any

from ...errors import BackendError, ModelFileError
from .errors import check_memory, import_extra, translating_load_errors, translating_run_errors
from .external import ExternalBackend, cache_bytes, float32_bytes
from .openvino_convert import converted_folder

if TYPE_CHECKING:
    from ..models.find import ModelFiles
    from .base import Logits

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}


def supports(files: "ModelFiles") -> str | None:
    """Return why OpenVINO can't run a model, or None if no reason is known."""
    if files.safetensors:
        return None
    return "OpenVINO converts models whose weights are safetensors, and this model has none"


def open(
    files: "ModelFiles", *, context: int, gpu_layers: int | None, device: str | None, threads: int | None
) -> "OpenvinoBackend":
    """Load a model, converting it first if necessary, with a message on stderr.

    Args:
        gpu_layers: 0 for the CPU; otherwise `device` decides for all layers.
        device: as OpenVINO names it: "CPU", "GPU", "GPU.1", "NPU"; None for the GPU if there is one.
        threads: CPU threads; None lets OpenVINO choose.

    Raises MissingDependencyError; ModelFileError for a model that can't be converted; BackendError for a device that
    isn't there, or if memory is short.
    """
    problem = supports(files)
    if problem:
        raise ModelFileError(f"{files.name}: {problem}")
    return OpenvinoBackend(files, context, "CPU" if gpu_layers == 0 else device, threads)


class OpenvinoBackend(ExternalBackend):
    """A model run by OpenVINO."""

    name = "openvino"
    _request: Any

    def __init__(self, files: "ModelFiles", context: int, device: str | None, threads: int | None) -> None:
        self._library = library = import_extra("openvino", "openvino")
        core = library.Core()
        found = core.available_devices
        device = device.upper() if device else next((name for name in found if name.startswith("GPU")), "CPU")
        if device not in found:
            raise BackendError(f"OpenVINO has no device {device!r} here; it has {', '.join(found)}")
        if device == "CPU":
            check_memory(files, float32_bytes(files), cache_bytes(files, context))
        options: dict[str, str | int] = dict(EXACT) if device == "CPU" else {}
        if threads and device == "CPU":
            options["INFERENCE_NUM_THREADS"] = threads
        with translating_load_errors("OpenVINO", files):
            model = core.read_model(converted_folder(files) / "openvino_model.xml")
            self._inputs = {each.any_name for each in model.inputs}
            self._axes = {each.info.variable_id: _axis_of_ids(each.info.data_shape) for each in model.get_variables()}
            self._request = core.compile_model(model, device, options).create_infer_request()
            self._tokenizer = _own_tokenizer(files)
            called = "CPU" if device == "CPU" else core.get_property(device, "FULL_DEVICE_NAME")
            super().__init__(device=called, context=context)

    def native_encode(self, text: str) -> list[int] | None:
        return None if self._tokenizer is None else list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _cache_size(self) -> int:
        return sum(each.state.byte_size for each in self._request.query_state())

    def _free(self) -> None:
        self._request = None

    def _clear(self) -> None:
        self._request.reset_state()

    def _truncate(self, count: int) -> bool:
        import numpy as np

        if None in self._axes.values():
            return False
        with translating_run_errors("OpenVINO"):
            for each in self._request.query_state():
                part = each.state.data.take(range(count), axis=self._axes[each.name])
                each.state = self._library.Tensor(np.ascontiguousarray(part))
        return True

    def _forward(self, ids: list[int], count: int) -> "Logits":
        import numpy as np

        end = self._count + len(ids)
        inputs = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, end), np.int64),
            "position_ids": np.arange(self._count, end, dtype=np.int64)[None],
            "beam_idx": np.zeros(1, np.int32),
        }
        with translating_run_errors("OpenVINO"):
            out = self._request.infer({name: value for name, value in inputs.items() if name in self._inputs})
            self._count = end
            logits: Logits = out["logits"][0, -count:].astype(np.float32)
            return logits


def _axis_of_ids(shape: Any) -> int | None:
    """Return the axis of a state that has one entry per id; None for states of other kinds."""
    free = [axis for axis, length in enumerate(shape) if axis and length.is_dynamic]
    return free[0] if len(free) == 1 else None


def _own_tokenizer(files: "ModelFiles") -> Any:
    """Load the model's tokenizer.json with Hugging Face's tokenizers; None if it has none."""
    path = files.folder / "tokenizer.json"
    return import_extra("tokenizers", "openvino").Tokenizer.from_file(str(path)) if path.is_file() else None
