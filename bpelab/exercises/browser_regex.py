"""What exercises need of the package `regex`, on Python's own `re`: for a browser's Python, which has no such package.

A pattern is written out for `re` as `Split` does, with the library's Unicode table in place of `\\p{L}` and the like.
Chapter: Regex pre-tokenization.
"""

import re
import sys
from collections.abc import Iterator
from types import ModuleType

from ..regex.translate import portable


def compile(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled. Raises PatternError for one that is malformed or that `re` can't express.

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


def lend() -> None:
    """Let `import regex` find this module in a browser. The library itself goes on without the package."""
    from ..regex import backtracking

    if sys.platform == "emscripten" and backtracking.regex_package is None and "regex" not in sys.modules:
        module = ModuleType("regex", __doc__)
        module.__dict__.update(compile=compile, finditer=finditer, findall=findall)
        sys.modules["regex"] = module
