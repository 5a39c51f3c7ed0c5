"""Importing this loads the extension in the folder BPELAB_CORE, built with sanitizers, instead of the installed one.

Whole tests run on it with `pytest -p tests.native.sanitized`.
"""

import importlib.util
import os
import sys
from pathlib import Path

if "BPELAB_CORE" in os.environ:
    library = next(Path(os.environ["BPELAB_CORE"]).glob("_core*.so"))
    spec = importlib.util.spec_from_file_location("bpelab.native._core", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[spec.name] = module
