"""SentencePiece's normalizer, as SentencePiece itself runs it: character map, spaces, dummy prefix.

From left to right, at each offset: a user-defined symbol stays as it is; otherwise the longest matching entry of the
character map is replaced by its text; otherwise one character stays. If the model says so, spaces after a space are
dropped, and so are all spaces at the end, including the dummy prefix and spaces that were `▁` in the text.

Chapter: File formats. Cost: linear. Source: SentencePiece `normalizer.cc`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from .._support.lazy_property import cached_property
from .._support.textio import utf8
from ..regex.matchers import Pattern
from ..texts.aligned_string import AlignedString, by_grapheme_clusters
from ..texts.stages import Stage
from ..vocab.added_token_matcher import AddedTokenMatcher
from ..vocab.added_tokens import AddedToken
from .base import BoundedNormalizer, Normalizer, check_length
from .charsmap import CharsMap, read_charsmap
from .ends import Prepend
from .precompiled import Precompiled
from .replace import Replace
from .sequence import NormalizerSequence

SPACE = "▁"


@dataclass(frozen=True)
class SentencePieceNormalizer(BoundedNormalizer):
    """Normalize as a SentencePiece model does. The fields are those of its file; the map is in base64.

    >>> SentencePieceNormalizer("", symbols=("  ",))("a   b▁ ")
    '▁a▁▁b'

    Raises ValueError if the map is malformed, and TextTooLongError if the result is too long.
    """

    precompiled_charsmap: str = field(repr=False)
    symbols: tuple[str, ...] = ()
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True

    def __post_init__(self) -> None:
        _ = self._map

    @cached_property
    def _map(self) -> CharsMap | None:
        return read_charsmap(self.precompiled_charsmap) if self.precompiled_charsmap else None

    @cached_property
    def _symbols(self) -> AddedTokenMatcher:
        """Return the matcher of user-defined symbols, for UTF-8 bytes decoded as Latin-1."""
        texts = (symbol.encode().decode("latin-1") for symbol in self.symbols)
        return AddedTokenMatcher((text, AddedToken(text, 0)) for text in texts)

    def in_parts(self) -> NormalizerSequence:
        """Return the nearest sequence of Hugging Face's normalizers.

        It isn't equal: their map works on grapheme clusters, and symbols aren't exempt.
        """
        space = SPACE if self.escape_whitespaces else " "
        steps: list[Normalizer] = []
        if self.precompiled_charsmap:
            steps.append(Precompiled(self.precompiled_charsmap))
        if self.remove_extra_whitespaces:
            steps += [Replace(Pattern("Regex", r"\A +| +\z"), ""), Replace(Pattern("Regex", " {2,}"), " ")]
        if self.add_dummy_prefix:
            steps.append(Prepend(space))
        if self.escape_whitespaces:
            steps.append(Replace(Pattern("String", " "), SPACE))
        if self.remove_extra_whitespaces:  # also a `▁` that was in the text
            steps.append(Replace(Pattern("Regex", rf"{space}+\z"), ""))
        return NormalizerSequence(tuple(steps))

    def apply_bounded(self, text: str, limit: int) -> str:
        if not text:
            return text
        space = SPACE if self.escape_whitespaces else " "
        out = [space] if self.add_dummy_prefix else []
        after_space, length = self.remove_extra_whitespaces, 0
        for part, plain in self._parts(utf8(text)):
            if self.remove_extra_whitespaces:
                rest = re.sub(" {2,}", " ", part) if plain else part
                rest = rest.lstrip(" ") if after_space else rest
                after_space = rest.endswith(" ") if rest else after_space
            else:
                rest = part
            out.append(rest.replace(" ", space))
            length += len(rest)
            check_length(self, length, limit)
        joined = "".join(out)
        return joined.rstrip(space) if self.remove_extra_whitespaces else joined

    def _parts(self, data: bytes) -> Iterator[tuple[str, bool]]:
        """Yield (text, True) for a run of unchanged characters, (text, False) for a symbol or a replacement."""
        find = self._map.longest if self._map is not None else lambda data, start: None
        search, latin = self._symbols.first, data.decode("latin-1")
        at = plain = 0
        symbol = search(latin, 0)
        while at < len(data):
            if symbol is not None and symbol[0] < at:
                symbol = search(latin, at)
            if symbol is not None and symbol[0] == at:
                end, become = symbol[1], data[at : symbol[1]].decode()
            elif data[at] & 0xC0 != 0x80 and (found := find(data, at)) is not None:  # none begins inside a character
                end, become = found
            else:
                at += 1
                continue
            yield data[plain:at].decode("utf-8", "replace"), True
            yield become, False
            at = plain = end
        yield data[plain:].decode("utf-8", "replace"), True

    def stages(self) -> list[Stage]:
        from .sentencepiece_stage import SentencePieceStage

        return [SentencePieceStage(self)]

    def align(self, string: AlignedString) -> AlignedString:
        """Align the steps in order: the map, the dropped spaces, the dummy prefix."""
        mapped = replace(self, add_dummy_prefix=False, remove_extra_whitespaces=False)
        aligned = by_grapheme_clusters(mapped, string)
        space = SPACE if self.escape_whitespaces else " "
        if self.remove_extra_whitespaces:
            extra = re.finditer(f"^{space}+|(?<={space}){space}+", aligned.text)
            aligned = aligned.replace((match.span() for match in extra), "")
            aligned = replace(aligned[: len(aligned.text.rstrip(space))], base=string.base)
        return aligned.prepend(space) if self.add_dummy_prefix else aligned
