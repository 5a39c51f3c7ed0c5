"""The interface of all pre-tokenizers: what one does, and what the rest of the library asks of it.

A subclass has to say how it splits. Everything else has an answer that is right for any pre-tokenizer: its texts are
never cut by a stream, and C leaves it to Python. One that can do better says so here, and nowhere else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .boundary import Boundary
    from .pattern_steps import PatternStep
    from .split import Split

    Preparation = Callable[[str, bool], str]
    """What is done to a text before it is split, given whether it is the beginning of the input."""

ALL, MATCHES, GAPS = 0, 1, 2
"""Which pieces a pattern that C runs keeps; see native/split_steps.h."""


class PreTokenizer:
    """A pre-tokenizer cuts a text into pieces; no merge of a BPE model ever crosses a cut."""

    def split(self, text: str, first: bool = True) -> list[str]:
        """Return the pieces of `text`, in order, without empty ones.

        `first` says whether `text` is the beginning of the whole input.
        """
        raise NotImplementedError

    # -- what it puts in front, and what it makes of the text --------------------------------------------------------

    @property
    def steps(self) -> tuple[PreTokenizer, ...]:
        """The pre-tokenizers that are applied one after the other: those of a Sequence, else this one."""
        return (self,)

    def first_steps(self, number: int) -> PreTokenizer:
        """Return a pre-tokenizer that does the first `number` of the steps, at least one."""
        return self

    @property
    def prepends(self) -> bool:
        """Whether something is put in front of every text, and not only of the beginning of the input."""
        return False

    def without_prefix(self) -> PreTokenizer:
        """Return the pre-tokenizer for a text from the middle of the input, in front of which nothing is put."""
        return self

    @property
    def byte_level(self) -> bool:
        """Whether the model sees bytes: this pre-tokenizer, or one of its steps, is a ByteLevel."""
        return False

    @property
    def alphabet(self) -> bool:
        """Whether the pieces are already written in GPT-2's byte alphabet; otherwise they are ordinary text."""
        return False

    @property
    def keeps_byte_alphabet(self) -> bool:
        """Whether pieces that are written in GPT-2's byte alphabet stay so."""
        return True

    def for_next_step(self, pieces: list[str]) -> list[str]:
        """Return this step's pieces, or characters of its text, as the next step of a Sequence sees them."""
        return pieces

    @property
    def cuts_nothing(self) -> bool:
        """Whether every text comes back as it is, in one piece."""
        return False

    @property
    def as_single_split(self) -> Split | None:
        """The one isolating Split that cuts every text exactly as this pre-tokenizer does, or None."""
        return None

    # -- the beginning of the input ----------------------------------------------------------------------------------

    @property
    def asks_for_first(self) -> bool:
        """Whether the beginning of the input is cut differently from the beginning of a later text."""
        return False

    @property
    def asks_for_origins(self) -> bool:
        """Whether a step after the first must know which pieces come from the first character of the input."""
        return False

    def split_with_origins(self, text: str, chars_from_first: int) -> list[str]:
        """Split `text`, whose first `chars_from_first` characters come from the first character of the input."""
        return self.split(text, chars_from_first > 0)

    # -- streams: where a text may be cut ----------------------------------------------------------------------------

    def boundary(self, a: str, b: str) -> Boundary:
        """Return what happens between the characters `a` and `b`, whatever is around them.

        By default nothing is known, and a stream holds all text back until it ends.
        """
        from .boundary import Boundary

        return Boundary.UNSAFE

    @property
    def piece_length(self) -> int:
        """The number of characters of every piece but the last; 0 where the text decides."""
        return 0

    # -- offsets: which characters a piece stands for ----------------------------------------------------------------

    def piece_starts(self, text: str, pieces: Sequence[str]) -> list[int]:
        """Return the offset in `text` at which each of its `pieces` begins, where some of the text is dropped.

        By default each piece is searched for after the one before, which is right where every occurrence of some
        characters is dropped. Raises ValueError if a piece isn't there.
        """
        starts, end = [], 0
        for piece in pieces:
            starts.append(text.index(piece, end))
            end = starts[-1] + len(piece)
        return starts

    # -- C -----------------------------------------------------------------------------------------------------------

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        """Return the patterns by which C cuts a text, one after another; None, by default, if only Python can cut it.

        They apply to the text after `preparation`. `first` says whether this is the first step of a Sequence.
        """
        return None

    def preparation(self) -> Preparation | None:
        """Return what Python does to a text before C cuts it; None for nothing."""
        return None


def check_character(value: object, what: str) -> None:
    """Raise ValueError unless `value` is a single character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError(f"{what} is one character, not {str(value)[:40]!r}")
