"""A dict that can't be changed, and says what to do instead.

`types.MappingProxyType` isn't a dict: json doesn't write it, and its repr is different.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn


class ReadOnlyDict(dict[str, "Any"]):
    """A read-only dict. Copying or pickling it gives a plain dict.

    Args:
        items: the content.
        advice: the message of the TypeError raised when an item is set or deleted.

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
