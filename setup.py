"""The one thing that pyproject.toml can't say: the encoder in C, which is built where there is a compiler.

BPELAB_NO_EXTENSION=1 leaves it out, for a wheel that runs anywhere, in a browser too; with 0 it has to be built.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

NATIVE = Path("bpelab", "native")
MICROSOFT = os.name == "nt" and "GCC" not in os.environ.get("CC", "")

core = Extension(
    "bpelab.native._core",
    [str(NATIVE / "module.c")],
    depends=sorted(map(str, NATIVE.glob("*.h"))),
    extra_compile_args=["/std:c11", "/O2"] if MICROSOFT else ["-std=c11", "-O2", "-fvisibility=hidden"],
    # Without a compiler, or Python's headers, all is done in Python.
    optional=os.environ.get("BPELAB_NO_EXTENSION") != "0",
)

setup(ext_modules=[] if os.environ.get("BPELAB_NO_EXTENSION") == "1" else [core])
