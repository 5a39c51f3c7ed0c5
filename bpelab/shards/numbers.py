"""NumPy, for the modules here: where it is not installed, an error that says how to install it."""

from ..errors import MissingDependencyError

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingDependencyError('shards need numpy, which is not installed: pip install "bpelab[files]"') from error

__all__ = ["NDArray", "np"]
