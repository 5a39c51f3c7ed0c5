"""The exercises of *How to use this book*."""

from collections.abc import Callable, Iterator
from typing import Any

from ...notebook.messages import code
from ..exercise import Exercise
from ..fixtures import trained_tokenizer

CORPUS = "the harbour, the Harbour, the harbourmaster; thé 日本 日本"
SPOILT = "the harbour \ufffd \ufffd \ufffd"
"""A corpus in which some program once replaced what it could not decode. Its tokenizer has U+FFFD as a whole token."""
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


def how_many(tokenizer, text):
    """Return the number of tokens of `text`.

    how_many(tokenizer, "the harbour") is 2 for the tokenizer above.
    """
    return len(tokenizer.encode(text))


def longest_token(tokenizer, text):
    """Return the token of `text` with the most bytes; ties go to the first.

    `text` is not empty.
    """
    return max(tokenizer.tokenize(text), key=len)  # of equals, max takes the first


def broken_alone(tokenizer, text):
    """Return the ids of `text`, in order, whose own bytes are not valid UTF-8.

    For the tokenizer above and "ñ" there are two, for "e" none.
    """
    broken = []
    for token_id in tokenizer.encode(text):
        try:
            tokenizer.decode_bytes([token_id]).decode()  # unlike `decode`, this doesn't replace what is broken
        except UnicodeDecodeError:
            broken.append(token_id)
    return broken


def _inputs(texts: tuple[str, ...]) -> Callable[[], Iterator[tuple[str, int, str]]]:
    def inputs() -> Iterator[tuple[str, int, str]]:
        for text in texts:
            for size in (257, 265, 272):
                yield CORPUS, size, text

    return inputs


def _texts_with_replacements() -> Iterator[tuple[str, int, str]]:
    yield from _inputs(TEXTS)()
    for size in (257, 258, 260):
        for text in ("\ufffd", "the \ufffd", "é\ufffd", "a\ufffd\ufffd 日"):
            yield SPOILT, size, text


def _call(answer: Any, corpus: str, size: int, text: str) -> Any:
    return answer(trained_tokenizer(corpus, size), text)


def _show(name: str, corpus: str, size: int, text: str) -> str:
    return f"{name}(BPETokenizer.train({code(corpus)}, {size}, progress=False), {code(text)})"


def _allowed(corpus: str, size: int, text: str) -> bool:
    return corpus in (CORPUS, SPOILT) and size > 256


EXERCISES = [
    Exercise(
        "start.1",
        "Yours",
        how_many,
        _inputs(TEXTS),
        ("tokenizer.encode(text) returns the ids, one for each token.", "len says how many."),
        level="easy",
        next_step="Try a text in another language: how many tokens does it take for each character?",
        call=_call,
        format_call=_show,
        is_valid=_allowed,
    ),
    Exercise(
        "start.2",
        "Longest",
        longest_token,
        _inputs(TEXTS[1:]),
        (
            "tokenizer.tokenize(text) returns the tokens as bytes.",
            "max has an argument `key`, and takes the first of equals.",
        ),
        level="easy",
        next_step="Which token is the longest of all? `tokenizer.model.tokens` maps ids to bytes.",
        call=_call,
        format_call=_show,
        is_valid=_allowed,
    ),
    Exercise(
        "start.3",
        "Where the ids end",
        broken_alone,
        _texts_with_replacements,
        (
            "Go through tokenizer.encode(text). tokenizer.decode_bytes([token_id]) returns the bytes of one id alone.",
            "bytes.decode() raises UnicodeDecodeError for bytes that are not valid UTF-8. Keep those ids.",
            "A replacement character in a decoded text proves nothing: it may have been in the text all along.",
        ),
        level="medium",
        next_step='"Streaming" needs this when a model\'s answer arrives id by id.',
        call=_call,
        format_call=_show,
        is_valid=_allowed,
    ),
]
