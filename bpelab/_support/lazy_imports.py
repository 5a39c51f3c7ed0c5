"""Names of a package that are loaded when they are first used, so that importing the package costs next to nothing."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazily(homes: Mapping[str, str], space: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` (PEP 562) for a package whose globals are `space`; `homes` is name -> submodule.

    >>> get, names = lazily({"nothing": "no_such_module"}, {"__name__": "bpelab"})
    >>> names(), get("other")
    Traceback (most recent call last):
      ...
    AttributeError: module 'bpelab' has no attribute 'other'
    """
    package = space["__name__"]

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = space[name] = getattr(import_module(f".{homes[name]}", package), name)
        return value

    return get, lambda: sorted([*space, *homes])
