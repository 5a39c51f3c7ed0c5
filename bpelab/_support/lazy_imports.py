"""Lazy imports: a package loads its names on first use, so importing the package costs next to nothing."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_attributes(
    modules: Mapping[str, str], namespace: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a lazy `__getattr__` and `__dir__` (PEP 562) for a package.

    `modules` maps names to submodules; `namespace` is the package's globals.

    >>> get, names = lazy_attributes({"nothing": "no_such_module"}, {"__name__": "bpelab"})
    >>> names(), get("other")
    Traceback (most recent call last):
      ...
    AttributeError: module 'bpelab' has no attribute 'other'
    """
    package = namespace["__name__"]

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = namespace[name] = getattr(import_module(f".{modules[name]}", package), name)
        return value

    return get, lambda: sorted([*namespace, *modules])
