"""Convert a model to OpenVINO's format with optimum-intel when it's first needed, and keep the result.

The conversion runs in a separate process: it needs PyTorch and two copies of the model, whose memory is freed when it
ends. If memory runs out, that process is killed and not this one. Chapter: Chat on your hardware. Source: optimum-intel
`modeling_decoder.py`.
"""

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ..._support.cache_dir import cache_dir
from .errors import load_error, missing_error, one_line

if TYPE_CHECKING:
    from ..models.find import ModelFiles

INVENTED = "newly initialized"
"""What transformers prints about missing tensors before it fills them with random numbers."""
KILLED = -9
"""The exit code of a process that Linux or macOS kills when memory has run out."""
CONVERT = """
import sys
from optimum.intel import OVModelForCausalLM
source, target = sys.argv[1:]
options = {"export": True, "compile": False, "load_in_8bit": False, "local_files_only": True}
OVModelForCausalLM.from_pretrained(source, **options).save_pretrained(target)
"""


def converted_folder(files: "ModelFiles") -> Path:
    """Return the folder of a model in OpenVINO's format, converting the model first if necessary.

    A conversion needs optimum-intel.

    The folder is in `openvino` in bpelab's cache, which can be deleted at any time, under a hash of the paths, sizes
    and times of the model's files; without a cache, it's in a temporary folder of this process. It's complete or not
    there at all. Cost: once, the time and disk space for PyTorch to load the model and save it again.
    """
    digest = hashlib.sha256()
    for path in (*files.safetensors, files.folder / "config.json"):
        found = path.resolve().stat()
        digest.update(f"{path.resolve()} {found.st_size} {found.st_mtime_ns}\n".encode())
    kept = cache_dir()
    if kept is None:
        kept = tempfile.mkdtemp(prefix="bpelab-")
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
    target = Path(kept) / "openvino" / digest.hexdigest()[:32]
    if target.is_dir():
        return target
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".", dir=target.parent))
    try:
        print(f"{files.name}: converting it once to OpenVINO's format, in {target} ...", file=sys.stderr)
        _convert(files, part)
        with contextlib.suppress(OSError):  # another process may have finished first
            part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def _convert(files: "ModelFiles", target: Path) -> None:
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TRANSFORMERS_VERBOSITY": "warning"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", CONVERT, files.folder.resolve(), target],
        env={**os.environ, **quiet},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == KILLED:
        raise load_error("OpenVINO", files, "the system killed the conversion: out of memory")
    if done.returncode:
        # The last error, from the line that starts with its name.
        message = one_line(re.split(r"^(?=[\w.]*(?:Error|Exception)\b)", done.stderr, flags=re.MULTILINE)[-1])
        message = message or f"the conversion failed with code {done.returncode}"
        if message.startswith("ModuleNotFoundError"):
            raise missing_error("optimum-intel", message.split("'")[1], "openvino")
        raise load_error("OpenVINO", files, message)
    if INVENTED in done.stderr:
        raise load_error("OpenVINO", files, "the files lack tensors, which transformers would fill with random numbers")
