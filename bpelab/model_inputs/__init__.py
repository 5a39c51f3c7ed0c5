"""Model inputs: batches of ids with masks, truncated and padded, under the names of transformers.

It may import `core` and everything below. `Truncation` and `Padding` are in `core`, beside the specification that holds
them. Begin with `assemble.py`, which `BPETokenizer.__call__` calls.
"""

from .._support.lazy_imports import lazy_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.length_settings import Padding as Padding, Truncation as Truncation

_HOMES = dict.fromkeys(["Padding", "Truncation"], ".core.length_settings")

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
