"""The exercises of chapter 0, How to use this book."""

from collections.abc import Callable, Iterator
from typing import Any

from .engine import Exercise
from .material import tokenizer_of
from .show import code

CORPUS = "the harbour, the Harbour, the harbourmaster; thé 日本 日本"
TEXTS = (
    "",
    "a",
    "é",
    "the",
    "the harbour",
    "日本",
    "本th",
    "日本 the thé",
    "harbourmaster",
    "The Harbour",
    "x, 😀, the the",
)


def how_many(tokenizer, text):  # type: ignore[no-untyped-def]
    """The number of tokens of `text`.

    how_many(tokenizer, "the harbour") is 2 for the tokenizer above.
    """
    return len(tokenizer.encode(text))


def longest_token(tokenizer, text):  # type: ignore[no-untyped-def]
    """The longest token in `text`, as bytes; of equally long ones, the first."""
    return max(tokenizer.tokenize(text), key=len)  # of equals, max takes the first


def broken_alone(tokenizer, text):  # type: ignore[no-untyped-def]
    """The ids of `text`, in order, whose own bytes are not valid UTF-8.

    For the tokenizer above and "ñ" there are two, for "e" none.
    """
    return [token_id for token_id in tokenizer.encode(text) if "\ufffd" in tokenizer.decode([token_id])]


def _inputs(texts: tuple[str, ...]) -> Callable[[], Iterator[tuple[str, int, str]]]:
    def inputs() -> Iterator[tuple[str, int, str]]:
        for text in texts:
            for size in (257, 265, 272):
                yield CORPUS, size, text

    return inputs


def _call(answer: Any, corpus: str, size: int, text: str) -> Any:
    return answer(tokenizer_of(corpus, size), text)


def _show(name: str, corpus: str, size: int, text: str) -> str:
    return f"{name}(BPETokenizer.train({code(corpus)}, {size}, progress=False), {code(text)})"


def _allowed(corpus: str, size: int, text: str) -> bool:
    return corpus == CORPUS and size > 256


EXERCISES = [
    Exercise(
        "0.1",
        "Yours",
        how_many,
        _inputs(TEXTS),
        ("tokenizer.encode(text) gives the ids, one for each token.", "len says how many."),
        call=_call,
        shown=_show,
        allowed=_allowed,
    ),
    Exercise(
        "0.2",
        "Longest",
        longest_token,
        _inputs(TEXTS[1:]),
        (
            "tokenizer.tokenize(text) gives the tokens as bytes.",
            "max has an argument `key`, and takes the first of equals.",
        ),
        call=_call,
        shown=_show,
        allowed=_allowed,
    ),
    Exercise(
        "0.3",
        "Where the ids end",
        broken_alone,
        _inputs(TEXTS),
        (
            "Go through tokenizer.encode(text) and decode each id alone: tokenizer.decode([token_id]).",
            'Keep the ids for which "\\ufffd" is in what comes back.',
        ),
        call=_call,
        shown=_show,
        allowed=_allowed,
    ),
]
