"""Import NumPy, or raise an error that says how to install it."""

from ..errors import MissingDependencyError
from .install import install_command

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingDependencyError(f"this needs numpy, which is not installed: {install_command('files')}") from error

__all__ = ["NDArray", "np"]
