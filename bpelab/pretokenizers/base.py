"""What all pre-tokenizers share."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .split import Split


class PreTokenizer:
    """Cuts a text into pieces. No merge of a BPE model ever crosses a cut."""

    def split(self, text: str, first: bool = True) -> list[str]:
        """The pieces of `text`, in order, without empty ones.

        `first` says whether `text` is the beginning of the whole input.
        """
        raise NotImplementedError

    @property
    def byte_level(self) -> bool:
        """Whether the model is to see bytes: whether a ByteLevel is this pre-tokenizer or one of its steps."""
        return False

    @property
    def alphabet(self) -> bool:
        """Whether the pieces are written in GPT-2's byte alphabet already; if not they are ordinary text."""
        return False

    @property
    def sole_split(self) -> Split | None:
        """The isolating Split that cuts every text as this pre-tokenizer does; None where there is none."""
        return None

    @property
    def asks_for_first(self) -> bool:
        """Whether the beginning of the input is cut in another way than the beginning of a later text."""
        return False

    @property
    def asks_for_origins(self) -> bool:
        """Whether one of several steps has to know which pieces come from the first character of the input."""
        return False

    def split_with_origins(self, text: str, from_first: int) -> list[str]:
        """As `split`, for a text whose first `from_first` characters come from the first one of the input."""
        return self.split(text, from_first > 0)


def check_character(value: object, what: str) -> None:
    """Raises ValueError for what is not one character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError(f"{what} is one character, not {str(value)[:40]!r}")
