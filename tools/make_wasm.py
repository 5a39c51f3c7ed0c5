"""Compile wasm.c to WebAssembly: `make wasm`, in an environment that has the compiler.

python -m tools.make_wasm

The compiler is Zig's clang, from PyPI, in the version that constraints.txt names: it brings its own linker and C library,
and on every machine it writes the same bytes. The result is committed, so that nobody else needs it. Beside it,
bpelab.wasm.json has the hash of the sources that made it; a test compares it with the sources as they are.
"""

import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

NATIVE = Path(__file__).resolve().parent.parent / "bpelab" / "native"
WASM = NATIVE / "javascript" / "bpelab.wasm"
RECORD = WASM.with_suffix(".wasm.json")
FLAGS = (
    "--target=wasm32-wasi",  # its C library, of which only memory and sorting are used: nothing is imported
    "-mexec-model=reactor",  # functions that are called, and no main()
    "-mcpu=generic+bulk_memory",
    "-std=c11",
    "-Os",  # as fast as -O2, and a quarter smaller
    "-DNDEBUG",
    "-Wall",
    "-Wextra",
    "-Wno-unused-function",
    "-Werror",
    "-s",
    "-Wl,--gc-sections",
    "-Wl,-z,stack-size=262144",
)


def sources() -> list[Path]:
    """Return wasm.c and the headers that it includes, directly or not, in the order in which they are met."""
    found = [NATIVE / "wasm.c"]
    for path in found:
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            if NATIVE / name not in found:
                found.append(NATIVE / name)
    return found


def digest() -> str:
    """Return the SHA-256 of the sources and the flags, without comments and white space, which change no code."""
    text = "\n".join(re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL) for path in sources())
    lines = (" ".join(line.split()) for line in text.splitlines())
    return hashlib.sha256("\n".join([*FLAGS, *filter(None, lines)]).encode()).hexdigest()


def compile_to(path: Path) -> None:
    """Compile the sources to `path`. Raises CalledProcessError, after the compiler has said why."""
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "wasm.c", "-o", str(path)]
    subprocess.run(command, cwd=NATIVE, check=True)
    path.chmod(0o644)


def record() -> str:
    """Return the JSON text that belongs beside the compiled file."""
    made = {"sources": digest(), "compiler": f"ziglang {version('ziglang')}"}
    return json.dumps(made | {"sha256": hashlib.sha256(WASM.read_bytes()).hexdigest()}, indent=1) + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else WASM
    compile_to(target)
    if target == WASM:
        RECORD.write_text(record(), encoding="utf-8", newline="\n")
