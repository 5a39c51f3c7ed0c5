"""Replace every match of a pattern by a text.

Chapter: Regex pre-tokenization. Cost: running the pattern. Source: Hugging Face tokenizers,
`normalizers/replace.rs`.
"""

from dataclasses import dataclass
from io import StringIO

from .._support.lazy_property import cached_property
from ..regex.matchers import Pattern
from ..texts.aligned_string import AlignedString
from ..texts.stages import Stage
from .base import BoundedNormalizer, check_length, longest_result


def replace_all(component: object, pattern: Pattern, text: str, content: str, limit: int) -> str:
    """Return `text` with every match of `pattern` replaced by `content`.

    An empty text has no match, not even for an empty pattern. Raises TextTooLongError, with the component's name, if
    the result has more than `limit` characters.

    >>> replace_all(None, Pattern("Regex", "a|(?=c)"), "abcd", "-", 9)
    '-b-cd'
    """
    if not text:
        return text
    if pattern.kind == "String" and pattern.text:
        check_length(component, len(text) + text.count(pattern.text) * (len(content) - len(pattern.text)), limit)
        return text.replace(pattern.text, content)
    out, length, last = StringIO(newline=""), 0, 0
    for start, end in pattern.spans(text):
        length += start - last + len(content)
        check_length(component, length, limit)
        out.write(text[last:start])
        out.write(content)
        last = end
    check_length(component, length + len(text) - last, limit)
    out.write(text[last:])
    return out.getvalue()


@dataclass(frozen=True)
class Replace(BoundedNormalizer):
    """Replace every match of `pattern` by `content`, which is taken literally: `$1` is not a group.

    >>> Replace(Pattern("Regex", " +"), "▁")("a  b")
    'a▁b'

    Raises TextTooLongError if the result is too long.
    """

    pattern: Pattern
    content: str

    def __call__(self, text: str) -> str:
        return text.replace(self.pattern.text, self.content) if self._never_longer else super().__call__(text)

    @cached_property
    def _never_longer(self) -> bool:
        """Return whether it replaces a string by one of at most the same length, as most do: a space by `▁`."""
        return self.pattern.kind == "String" and len(self.content) <= len(self.pattern.text) > 0

    def apply_bounded(self, text: str, limit: int) -> str:
        return replace_all(self, self.pattern, text, self.content, limit)

    def stages(self) -> list[Stage]:
        from .replace_stage import replacing

        return [replacing(self, self, longest_result)]

    def align(self, string: AlignedString) -> AlignedString:
        return string.replace(self.pattern.spans(string.text), self.content)
