"""A dict that can't be changed, and says what to do instead.

`types.MappingProxyType` is no dict: json doesn't write it, and it shows another text.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn


class ReadOnlyDict(dict[str, "Any"]):
    """A dict whose items stay what they are. Copies of it are dicts, and so are pickled ones.

    Args:
        items: what it holds.
        advice: what the TypeError says that is raised where an item is set or deleted.

    >>> ids = ReadOnlyDict({"<|end|>": 300}, "use with_special_tokens")
    >>> ids, ids | {"<pad>": 301}
    ({'<|end|>': 300}, {'<|end|>': 300, '<pad>': 301})
    >>> ids["<pad>"] = 301
    Traceback (most recent call last):
      ...
    TypeError: use with_special_tokens
    """

    def __init__(self, items: "Mapping[str, Any]", advice: str) -> None:
        super().__init__(items)
        self._advice = advice

    def _refuse(self, *_: object, **__: object) -> "NoReturn":
        raise TypeError(self._advice)

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)
