"""The interface of all pre-tokenizers: what they do, and what the rest of the library needs to know about them.

A subclass has to define how it splits. Everything else has a default that is right for any pre-tokenizer: streams never
cut its texts, and C leaves it to Python. A pre-tokenizer that can do better says so by overriding these methods.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .boundary import Boundary
    from .pattern_steps import PatternStep
    from .split import Split

    Preparation = Callable[[str, bool], str]
    """A change made to a text before it is split; the flag says if the text is the beginning of the input."""

ALL, MATCHES, GAPS = 0, 1, 2
"""Which pieces of a pattern step C keeps; see native/split_steps.h."""


class PreTokenizer:
    """A pre-tokenizer cuts a text into pieces; no merge of a BPE model ever crosses a cut."""

    def split(self, text: str, first: bool = True) -> list[str]:
        """Return the pieces of `text`, in order, without empty ones.

        `first` says whether `text` is the beginning of the whole input.
        """
        raise NotImplementedError

    # -- what it prepends, and how it changes the text ---------------------------------------------------------------

    @property
    def steps(self) -> tuple[PreTokenizer, ...]:
        """The pre-tokenizers that are applied in order: a Sequence's steps, or just this one."""
        return (self,)

    def first_steps(self, number: int) -> PreTokenizer:
        """Return a pre-tokenizer for the first `number` steps, at least one."""
        return self

    @property
    def prepends(self) -> bool:
        """True if something is prepended to every text, not only at the beginning of the input."""
        return False

    def without_prefix(self) -> PreTokenizer:
        """Return the pre-tokenizer for text from the middle of the input, which prepends nothing."""
        return self

    @property
    def byte_level(self) -> bool:
        """True if the model sees bytes: this pre-tokenizer, or one of its steps, is a ByteLevel."""
        return False

    @property
    def emits_byte_alphabet(self) -> bool:
        """True if the pieces are already written in GPT-2's byte alphabet; otherwise they are ordinary text."""
        return False

    @property
    def keeps_byte_alphabet(self) -> bool:
        """True if pieces written in GPT-2's byte alphabet stay in it."""
        return True

    def for_next_step(self, pieces: list[str]) -> list[str]:
        """Return this step's pieces, or characters of its text, as a Sequence's next step sees them."""
        return pieces

    @property
    def cuts_nothing(self) -> bool:
        """True if every text is returned unchanged, in one piece."""
        return False

    @property
    def as_single_split(self) -> Split | None:
        """A single isolating Split that cuts every text exactly as this pre-tokenizer does, or None."""
        return None

    # -- the beginning of the input ----------------------------------------------------------------------------------

    @property
    def depends_on_position(self) -> bool:
        """True if the beginning of the input is cut differently from the beginning of a later text."""
        return False

    @property
    def asks_for_origins(self) -> bool:
        """True if a step after the first must know which pieces come from the input's first character."""
        return False

    def split_with_origins(self, text: str, chars_from_first: int) -> list[str]:
        """Split `text`; its first `chars_from_first` characters come from the input's first character."""
        return self.split(text, chars_from_first > 0)

    # -- streams: where a text may be cut ----------------------------------------------------------------------------

    def boundary(self, a: str, b: str) -> Boundary:
        """Return what happens between the characters `a` and `b`, in any context.

        By default nothing is known, and a stream holds all text back until it ends.
        """
        from .boundary import Boundary

        return Boundary.UNSAFE

    @property
    def piece_length(self) -> int:
        """The length in characters of every piece but the last; 0 if it depends on the text."""
        return 0

    # -- offsets: which characters a piece stands for ----------------------------------------------------------------

    def piece_starts(self, text: str, pieces: Sequence[str]) -> list[int]:
        """Return the start offset in `text` of each of its `pieces`, for a pre-tokenizer that drops text.

        By default, each piece is searched for after the previous one, which is right if the same characters are always
        dropped. Raises ValueError if a piece isn't found.
        """
        starts, end = [], 0
        for piece in pieces:
            starts.append(text.index(piece, end))
            end = starts[-1] + len(piece)
        return starts

    # -- C -----------------------------------------------------------------------------------------------------------

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        """Return the patterns with which C cuts a text, in order; None, the default, if only Python can cut it.

        They apply to the text after `preparation`. `first` says whether this is the first step of a Sequence.
        """
        return None

    def preparation(self) -> Preparation | None:
        """Return the change that Python makes to a text before C cuts it, or None."""
        return None


def check_character(value: object, what: str) -> None:
    """Raise ValueError unless `value` is a single character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError(f"{what} is one character, not {str(value)[:40]!r}")
