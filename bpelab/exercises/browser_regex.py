"""A minimal stand-in for the package `regex`, built on Python's `re`, for exercises in a browser.

As in `Split`, patterns are translated for `re`, with the library's Unicode table in place of `\\p{L}` and the like.
Chapter: Regex pre-tokenization.
"""

import re
import sys
from collections.abc import Iterator
from types import ModuleType

from ..regex.translate import portable


def compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. Raises PatternError if it is malformed or `re` can't express it.

    >>> compile(r"\\p{L}+").findall("héllo 日本")
    ['héllo', '日本']
    """
    return re.compile(portable(pattern)[0])


def finditer(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Iterate over the matches of a pattern."""
    return compile(pattern).finditer(text)


def findall(pattern: str, text: str) -> list[str]:
    """Return the matches of a pattern as strings, whatever groups it has."""
    return [match.group() for match in finditer(pattern, text)]


def install_stand_in() -> None:
    """Make `import regex` find this module in a browser. The library itself still runs without the package."""
    from ..regex import backtracking

    if sys.platform == "emscripten" and backtracking.regex_package is None and "regex" not in sys.modules:
        module = ModuleType("regex", __doc__)
        module.__dict__.update(compile=compile, finditer=finditer, findall=findall)
        sys.modules["regex"] = module
