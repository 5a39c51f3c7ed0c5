"""What a comparison of two tokenizers says: the parts that differ, the shortest text by which it shows, how often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartDifference:
    """A part in which two tokenizers differ.

    Attributes:
        part: its name, such as "pattern" or "merges".
        sentence: the difference, in words.
        matters: True if something shows it, False if it is proved that nothing can, None if a search found nothing.
        text: the shortest text found whose ids this part changes; None for what is no matter of a text's ids.
    """

    part: str
    sentence: str
    matters: bool | None
    text: str | None = None

    def __str__(self) -> str:
        shows = {True: "", False: " (no text shows it: proved)", None: " (nothing was found by which it shows)"}
        return f"{self.part}: {self.sentence}{shows[self.matters]}"


@dataclass(frozen=True)
class TokenizerDifference:
    """What is different in two tokenizers: they are `equal`, or `text` is the shortest text found that differs.

    Attributes:
        parts: the parts that differ, in the order in which a text meets them.
        text: a text with other ids, special tokens in it allowed, as short as was found; None if none was.
        ids, other_ids: its ids, as each tokenizer encodes it; an error's name where that fails.
        cause: the part that makes the difference on `text`, in a sentence.
        texts_tried: how many texts the search has compared; 0 where nothing had to be searched.
        differing_lines, lines: of the corpus, if one was given, how many texts have other ids, and how many there are.
    """

    parts: tuple[PartDifference, ...]
    text: str | None = None
    ids: tuple[int, ...] | str = ()
    other_ids: tuple[int, ...] | str = ()
    cause: str | None = None
    texts_tried: int = 0
    differing_lines: int | None = None
    lines: int | None = None

    @property
    def equal(self) -> bool:
        """Whether nothing was found by which the two can be told apart. What that rests on is in `basis`."""
        return self.text is None and not self.differing_lines and not any(part.matters for part in self.parts)

    @property
    def basis(self) -> str:
        """What the verdict rests on: "the same parts", "proof", "search" or, where they differ, "example"."""
        if not self.equal:
            return "example"
        if not self.parts:
            return "the same parts"
        return "proof" if all(part.matters is False for part in self.parts) else "search"

    def __str__(self) -> str:
        lines = [self._verdict()]
        if self.text is not None:
            ids = f"{_shown(self.ids)} and {_shown(self.other_ids)}"
            lines.append(f"the shortest text found: {_quoted(self.text)} has the ids {ids}")
            lines.append(f"the cause: {self.cause}")
        if self.lines is not None:
            share = f" ({self.differing_lines / self.lines:.2%})" if self.lines and self.differing_lines else ""
            lines.append(f"in the corpus: {self.differing_lines or 0:,} of {self.lines:,} lines have other ids{share}")
        return "\n".join([*lines, *(f"  {part}" for part in self.parts)])

    def _verdict(self) -> str:
        if self.basis == "example":
            return "different"
        if self.basis == "search":
            return f"equal as far as a search shows: {self.texts_tried:,} texts have the same ids; no proof"
        return (
            "equal: made of the same parts"
            if self.basis == "the same parts"
            else "equal: what differs changes no id, proved"
        )


def _shown(ids: tuple[int, ...] | str) -> str:
    if isinstance(ids, str):
        return ids
    return f"[{', '.join(map(str, ids[:12]))}{', …' if len(ids) > 12 else ''}]"


def _quoted(text: str) -> str:
    """Return a text in quotes, with the code points of a short one that a reader may not be able to tell."""
    shown = repr(text if len(text) <= 200 else text[:200] + "…")
    return shown if text.isascii() or len(text) > 6 else f"{shown} ({' '.join(f'U+{ord(char):04X}' for char in text)})"
