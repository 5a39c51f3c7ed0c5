"""The interface of all pre-tokenizers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .split import Split


class PreTokenizer:
    """A pre-tokenizer cuts a text into pieces; no merge of a BPE model ever crosses a cut."""

    def split(self, text: str, first: bool = True) -> list[str]:
        """Return the pieces of `text`, in order, without empty ones.

        `first` says whether `text` is the beginning of the whole input.
        """
        raise NotImplementedError

    @property
    def steps(self) -> tuple[PreTokenizer, ...]:
        """The pre-tokenizers that are applied one after the other: those of a Sequence, else this one."""
        return (self,)

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
    def as_single_split(self) -> Split | None:
        """The one isolating Split that cuts every text exactly as this pre-tokenizer does, or None."""
        return None

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


def check_character(value: object, what: str) -> None:
    """Raise ValueError unless `value` is a single character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError(f"{what} is one character, not {str(value)[:40]!r}")
