"""The exercises of chapter 16, Claims, tested."""

from collections.abc import Iterator
from typing import Any

from ..encoders import NaiveEncoder
from ..errors import BPELabError
from ..model import BPEModel
from .engine import Exercise
from .material import merges, models, models_and_pieces, tokenizer_of
from .show import code, merges_of

Merges = list[tuple[bytes, bytes]]


def fewest(model, piece):  # type: ignore[no-untyped-def]
    """The smallest number of tokens of `model` that `piece` (bytes) can be cut
    into; 0 for no bytes."""
    best = [0]  # best[n]: for the first n bytes
    for end in range(1, len(piece) + 1):
        starts = range(max(0, end - model.max_token_bytes), end)
        best.append(1 + min(best[start] for start in starts if piece[start:end] in model.ids))
    return best[-1]


def counterexample(tokenizer):  # type: ignore[no-untyped-def]
    """Return (text, n): decoding the first n ids of `text` gives a text that has
    another number of tokens."""
    for text in ("日", "é", "😀", "日é😀", "a  b"):
        ids = tokenizer.encode(text)
        for n in range(1, len(ids)):
            if tokenizer.count_tokens(tokenizer.decode(ids[:n])) != n:
                return text, n
    raise ValueError("none of these characters is cut in two")


def heal(tokenizer, prompt):  # type: ignore[no-untyped-def]
    """Return (ids that stay, sorted ids allowed next): those whose token begins
    with the bytes of the id left out.

    All of tokenizer.model.tokens are candidates. For an empty prompt return ([], []).
    """
    ids, tokens = tokenizer.encode(prompt), tokenizer.model.tokens
    if not ids:
        return [], []
    start = tokens[ids[-1]]
    return ids[:-1], sorted(token_id for token_id, token in tokens.items() if token.startswith(start))


def never_reached(merges):  # type: ignore[no-untyped-def]
    """The tokens (bytes) of BPEModel.from_merges(merges) that no piece is ever
    encoded to, in the order of ids."""
    model = BPEModel.from_merges(merges)
    # Inside a piece nothing merges across the ends of a token, so its bytes alone come to the same.
    encode = NaiveEncoder(model).encode_piece
    return [token for token_id, token in sorted(model.tokens.items()) if encode(token) != [token_id]]


def _pieces() -> Iterator[tuple[BPEModel, bytes]]:
    yield from models_and_pieces()
    for size in (20, 60, 200):
        yield models()[5], b"a" * size


_RECIPES = (
    ("abab", 257),
    ("low lower lowest", 262),
    ("日日 日日 日日", 262),
    ("日日 日日 �� �� éé éé", 270),
    ("ab ab ab 😀😀 日本 日本", 275),
)


def _tokenizers() -> Iterator[tuple[str, int]]:
    yield from _RECIPES


def _prompts() -> Iterator[tuple[str, int, str]]:
    yield "abab", 257, ""
    for text, size in _RECIPES:
        for prompt in ("a", "ab", "low", "lowe", "a low", "a ", "日", "日本", "x\n", "é"):
            yield text, size, prompt


def _no_counterexample(got: Any, text: str, size: int) -> str | None:
    sample, n = got
    if not isinstance(sample, str) or type(n) is not int:
        return "The answer is a pair: a text (str) and a number of ids (int)."
    tokenizer = tokenizer_of(text, size)
    ids = tokenizer.encode(sample)
    if not 0 < n <= len(ids):
        return f"The text has {len(ids):,} ids, so n is from 1 to {len(ids):,}."
    again = tokenizer.count_tokens(tokenizer.decode(ids[:n]))
    return f"The first {n:,} of its ids decode to a text of {n:,} tokens, as the claim says." if again == n else None


def _shown(name: str, text: str, size: int, *more: Any) -> str:
    arguments = ", ".join([f"BPETokenizer.train({code(text)}, {size}, progress=False)", *map(code, more)])
    return f"{name}({arguments})"


def _lists() -> Iterator[tuple[Merges]]:
    yield ([],)
    made_up: list[Merges] = [
        [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")],
        [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")],
        [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"abc", b"bc")],
        [(b"a", b"a"), (b"a", b"aa")],
        [(b"a", b"a"), (b"a", b"aa"), (b"aa", b"a"), (b"aaa", b"b")],
        [(b"l", b"o"), (b"o", b"w"), (b"l", b"ow"), (b"low", b"e")],
        [(b"l", b"o"), (b"o", b"w"), (b"l", b"ow"), (b"lo", b"w"), (b"low", b"e")],
    ]
    for model in models()[1:]:
        yield (merges_of(model) or [],)
    for pairs in made_up:
        yield (pairs,)
    yield (merges({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3, b"wider": 4}, 20),)


def _is_list(pairs: Merges) -> bool:
    try:
        BPEModel.from_merges(pairs)
    except BPELabError:
        return False
    return True


EXERCISES = [
    Exercise(
        "16.1",
        "The fewest tokens",
        fewest,
        _pieces,
        (
            "For the first n bytes: one token more than for the bytes before the last token.",
            "Fill a list from the left: best[end] is 1 + the smallest best[start] with piece[start:end] a token.",
        ),
    ),
    Exercise(
        "16.2",
        "A counterexample",
        counterexample,
        _tokenizers,
        (
            "Cut a character in two. What do its first bytes decode to, and how many tokens is that?",
            "Which characters have several tokens depends on the tokenizer: try some, at every n.",
        ),
        call=lambda answer, *recipe: answer(tokenizer_of(*recipe)),
        problem=_no_counterexample,
        allowed=lambda *recipe: False,
        shown=_shown,
    ),
    Exercise(
        "16.3",
        "Token healing",
        heal,
        _prompts,
        (
            "The bytes of the id that is left out are tokenizer.model.tokens[id]. Compare bytes, not text.",
            "The id that was left out is allowed itself: bytes.startswith says so.",
        ),
        call=lambda answer, text, size, prompt: answer(tokenizer_of(text, size), prompt),
        allowed=lambda *recipe: False,
        shown=_shown,
    ),
    Exercise(
        "16.4",
        "Never reached",
        never_reached,
        _lists,
        (
            "Which piece would a token be made from, if any? Nothing merges across its ends.",
            "Encode the bytes of each token with ENCODERS['naive'](model).encode_piece.",
        ),
        allowed=_is_list,
    ),
]
