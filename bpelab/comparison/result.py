"""The result of comparing two tokenizers: the parts that differ, the shortest text that shows it, and how often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartDifference:
    """A part in which two tokenizers differ.

    Attributes:
        part: its name, such as "pattern" or "merges".
        sentence: the difference, in words.
        matters: True if an example shows it, False if it is proved that none can, None if a search found none.
        text: the shortest text found whose ids this part changes; None if it doesn't concern a text's ids.
    """

    part: str
    sentence: str
    matters: bool | None
    text: str | None = None

    def __str__(self) -> str:
        shows = {True: "", False: " (proved to change no id)", None: " (no text found that shows it)"}
        return f"{self.part}: {self.sentence}{shows[self.matters]}"


@dataclass(frozen=True)
class TokenizerDifference:
    """The difference between two tokenizers: they are `equal`, or `text` is the shortest text found that they encode
    differently.

    Attributes:
        parts: the parts that differ, in pipeline order.
        text: the shortest text found with different ids, with special tokens allowed; None if none was found.
        ids, other_ids: its ids under each tokenizer; an error's name if encoding fails.
        cause: the part that makes the difference on `text`, in a sentence.
        texts_tried: the number of texts that the search compared; 0 if no search was needed.
        differing_lines, lines: the number of texts in the corpus, if given, with different ids, and in all.
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
        """True if no difference was found that matters. `basis` says what that is based on."""
        return self.text is None and not self.differing_lines and not any(part.matters for part in self.parts)

    @property
    def basis(self) -> str:
        """The basis of the verdict: "the same parts", "proof", "search" or, if they differ, "example"."""
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
            differing = f"{self.differing_lines or 0:,} of {self.lines:,} lines"
            lines.append(f"in the corpus: {differing} have different ids{share}")
        return "\n".join([*lines, *(f"  {part}" for part in self.parts)])

    def _verdict(self) -> str:
        if self.basis == "example":
            return "different"
        if self.basis == "search":
            return f"no difference found: {self.texts_tried:,} texts have the same ids, which is no proof"
        return (
            "equal: the same parts"
            if self.basis == "the same parts"
            else "equal: the differences are proved to change no id"
        )


def _shown(ids: tuple[int, ...] | str) -> str:
    if isinstance(ids, str):
        return ids
    return f"[{', '.join(map(str, ids[:12]))}{', …' if len(ids) > 12 else ''}]"


def _quoted(text: str) -> str:
    """Return a text in quotes; a short text with hard-to-tell characters gets its code points too."""
    shown = repr(text if len(text) <= 200 else text[:200] + "…")
    return shown if text.isascii() or len(text) > 6 else f"{shown} ({' '.join(f'U+{ord(char):04X}' for char in text)})"
