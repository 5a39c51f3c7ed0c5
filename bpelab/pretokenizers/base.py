"""What all pre-tokenizers share."""


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


def check_character(value: object, what: str) -> None:
    """Raises ValueError for what is not one character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError(f"{what} is one character, not {str(value)[:40]!r}")
