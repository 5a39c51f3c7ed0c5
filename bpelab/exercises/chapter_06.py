"""The exercises of chapter 6, Matching GPT-2 and GPT-4."""

import base64
from collections.abc import Iterator
from typing import Any

from ..byte_alphabet import from_alphabet, to_alphabet
from ..encoders import NaiveEncoder
from ..errors import BPELabError
from ..model import BPEModel
from .engine import Exercise
from .material import SINGLE, merges, models, tokenizer_of
from .show import code, merges_of

Merges = list[tuple[bytes, bytes]]


def parse_line(line):  # type: ignore[no-untyped-def]
    """Return (token, rank), bytes and int, for a line of a .tiktoken file such as b"IHQ= 256"."""
    token, rank = line.split()
    return base64.b64decode(token), int(rank)


def unused_ids(tokenizer):  # type: ignore[no-untyped-def]
    """Return the ids below tokenizer.n_vocab that have no token, ascending, as a list."""
    return [token_id for token_id in range(tokenizer.n_vocab) if tokenizer.id_to_token(token_id) is None]


def broken_tokens(written):  # type: ignore[no-untyped-def]
    """Return those of `written` that are not whole UTF-8, in the same order.

    `written` are tokens in GPT-2's alphabet, such as "Ġthe".
    """
    broken = []
    for token in written:
        try:
            from_alphabet(token).decode()
        except UnicodeDecodeError:
            broken.append(token)
    return broken


def made_of(ranks, token):  # type: ignore[no-untyped-def]
    """Return the pair of tokens (bytes, bytes) that merging the bytes of `token` ends at.

    Only tokens that rank before `token` may be made on the way. `ranks` is token -> rank.
    Return None if it does not end at two tokens.
    """
    before = {other: rank for other, rank in ranks.items() if rank < ranks[token] or len(other) == 1}
    model = BPEModel.from_ranks(before, take_whole=False)
    parts = [model.tokens[part] for part in NaiveEncoder(model).encode_piece(token)]
    return tuple(parts) if len(parts) == 2 else None


def table_is_enough(merges):  # type: ignore[no-untyped-def]
    """Return True if each of `merges`, in order, is the pair that its token's bytes come to.

    `merges` is a list of (bytes, bytes), no two of which make the same token. The ranks are 0 to
    255 for the bytes, and go on from there in the order of the list.
    """
    ranks = {bytes([byte]): byte for byte in range(256)}
    for left, right in merges:
        ranks[left + right] = len(ranks)
    # made_of is the answer to exercise 6.4
    return all(made_of(ranks, left + right) == (left, right) for left, right in merges)  # type: ignore[no-untyped-call]


def _lines() -> Iterator[tuple[bytes]]:
    for rank, token in ((0, b"!"), (10, b"\n"), (32, b" "), (200, b"\xc8"), (256, b" t"), (100255, b" a longer token")):
        yield (base64.b64encode(token) + b" " + str(rank).encode(),)


def _tokenizers() -> Iterator[tuple[str, int, dict[str, int]]]:
    for special in ({}, {"<|end|>": 256}, {"<|end|>": 260}, {"<|end|>": 258, "<|pad|>": 262}):
        for text, size in (("", 256 + len(special)), ("abab", 257 + len(special)), ("abcabc", 258 + len(special))):
            if text:
                yield text, size, special


def _show_training(name: str, text: str, size: int, special: dict[str, int]) -> str:
    return f"{name}(BPETokenizer.train({code(text)}, {size}, special_tokens={code(special)}, progress=False))"


def _written() -> Iterator[tuple[list[str]]]:
    whole = ["the", " the", "é", "日", "\n", "😀", "a"]
    parts = [b"\xc3", b"\xa9", b" \xe6", b"\x97\xa5", b"\xf0\x9f", b"a\xcc", b"\xff", b"\xed\xa0\x80"]
    tokens = [to_alphabet(token.encode()) for token in whole] + [to_alphabet(part) for part in parts]
    yield ([],)
    for token in tokens:
        yield ([token],)
    yield (tokens,)
    yield (tokens[::-2],)


def tables() -> Iterator[tuple[dict[bytes, int], bytes]]:
    """Rank tables, each with every token that it has beside the bytes."""
    lists = [merges_of(model) or [] for model in models()[1:]]
    lists += [[(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")], [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]]
    yield dict(SINGLE), b"a"
    yield SINGLE | {b"abc": 256}, b"abc"
    for pairs in lists:
        ranks = SINGLE | {left + right: 256 + place for place, (left, right) in enumerate(pairs)}
        for token in ranks:
            if len(token) > 1:
                yield ranks, token


def _lists() -> Iterator[tuple[Merges]]:
    yield ([],)
    for model in models()[1:]:
        yield (merges_of(model) or [],)
    made_up = [
        [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")],
        [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")],
        [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"abc", b"bc")],
        [(b"a", b"a"), (b"a", b"aa")],
        [(b"l", b"o"), (b"o", b"w"), (b"l", b"ow")],
    ]
    for pairs in made_up:
        yield (pairs,)
    yield (merges({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3, b"wider": 4}, 20),)


def _is_list(pairs: Merges) -> bool:
    try:
        made = BPEModel.from_merges(pairs)
    except BPELabError:
        return False
    return len(made.tokens) == 256 + len(pairs)


def is_table(ranks: Any, token: bytes) -> bool:
    """Whether shrinking has left a rank table and one of its tokens."""
    return token in ranks and all(ranks.get(bytes([byte])) == byte for byte in range(256))


RECOVER_HINTS = (
    "The merges before that of `token` make tokens of a lower rank. So drop all others from the table.",
    "BPEModel.from_ranks(those, take_whole=False) is the model of it. Keep the 256 bytes in.",
    "Encode the bytes of `token` with it. What is left over are its parts; if there aren't two, the answer is None.",
)
EXERCISES = [
    Exercise(
        "6.1",
        "One line",
        parse_line,
        _lines,
        ("A space stands between the two: line.split().", "base64.b64decode gives the bytes, int the rank."),
        allowed=lambda line: False,
    ),
    Exercise(
        "6.2",
        "Which ids are holes?",
        unused_ids,
        _tokenizers,
        ("n_vocab is the highest id plus one.", "tokenizer.id_to_token(i) is None where there is no token."),
        call=lambda answer, *recipe: answer(tokenizer_of(*recipe)),
        shown=_show_training,
        allowed=lambda *recipe: False,
    ),
    Exercise(
        "6.3",
        "Tokens that are no text",
        broken_tokens,
        _written,
        (
            "Turn each one back into bytes first, with from_alphabet.",
            "bytes.decode() raises UnicodeDecodeError for what is not whole UTF-8.",
        ),
        allowed=all,
    ),
    Exercise("6.4", "What is it made of?", made_of, tables, RECOVER_HINTS, allowed=is_table),
    Exercise(
        "6.5",
        "Can a table hold it?",
        table_is_enough,
        _lists,
        (
            "Build the table: the 256 bytes, then the token of each merge, in order.",
            "Exercise 6.4 gives the pair that a token comes to. Compare it with the pair in the list.",
        ),
        allowed=_is_list,
    ),
]
