"""The exercises of *Encoding: ranks, not longest match*."""

from collections.abc import Iterator
from typing import Any

from ...encoders import NaiveEncoder, NotBPELongestMatch
from ...model.bpe import BPEModel
from ...model.trace import MergeStep, trace_encode
from ...trainers.naive import replace_pair
from ..exercise import Exercise
from ..fixtures import BYTE_RANKS, learned_merges, models, models_and_pieces


def by_hand() -> list[bytes]:
    """Return the tokens of b"abcabc", as a list of bytes."""
    return [b"ab", b"ca", b"b", b"c"]  # `c a` goes first, in the middle; then `a b`; `ab c` finds no c


def all_places(model, piece):
    """Return (ids, rounds); a round merges every occurrence of the pair with the lowest rank."""
    ids, rounds = model.initial_ids(piece), 0
    while True:
        found = [(*model.merges[pair], pair) for pair in zip(ids, ids[1:]) if model.merges.get(pair)]
        if not found:
            return ids, rounds
        _, new, pair = min(found)
        ids, rounds = replace_pair(ids, pair, new), rounds + 1


def fewest(model, piece):
    """Return the smallest number of `model`'s tokens that join to `piece`; 0 for no bytes."""
    best = [0]
    for end in range(1, len(piece) + 1):
        starts = range(max(0, end - model.max_token_bytes), end)
        best.append(1 + min(best[start] for start in starts if piece[start:end] in model.ids))
    return best[-1]


def wrong_line() -> int:
    """Return the number of the first line of `suspicious_trace()` that BPE would not produce."""
    return 4  # `lo w`, rank 4, was merged there although `ne w` has rank 3; the final tokens are the same anyway


def counterexample(model):
    """Return a piece (bytes) that longest match cuts differently from BPE; `model` has at least one."""
    bpe, longest = NaiveEncoder(model), NotBPELongestMatch(model)
    letters = sorted({bytes([byte]) for token in model.tokens.values() if len(token) > 1 for byte in token})
    queue = [b""]
    for piece in queue:  # grows while it is read: shorter pieces first
        if bpe.encode_piece(piece) != longest.encode_piece(piece):
            return piece
        queue += [piece + letter for letter in letters]
    return None


MERGES = [(b"e", b"r"), (b"l", b"o"), (b"n", b"e"), (b"ne", b"w"), (b"lo", b"w"), (b"low", b"er")]


def suspicious_trace() -> list[str]:
    """Return a trace, line by line, of somebody merging `newlower` by `e r`, `l o`, `n e`, `ne w`, `lo w`, `low er`.

    >>> suspicious_trace()[:3]
    ['n e w l o w e r', 'n e w l o w er', 'n e w lo w er']
    """
    exchanged = [*MERGES[:3], MERGES[4], MERGES[3], MERGES[5]]  # honest, but for a list with two merges swapped
    return _lines(BPEModel.from_merges(exchanged), b"newlower")


def _lines(model: BPEModel, piece: bytes) -> list[str]:
    steps = [step for step in trace_encode(NaiveEncoder(model), piece) if isinstance(step, MergeStep)]
    rows = [tuple(model.initial_ids(piece)), *(step.ids for step in steps)]
    return [" ".join(model.tokens[token].decode() for token in row) for row in rows]


def _about_by_hand(got: Any) -> str | None:
    if not isinstance(got, list) or not all(isinstance(token, bytes) for token in got):
        return 'Give a list of bytes, such as [b"a", b"bc"].'
    if b"".join(got) != b"abcabc":
        return "Joined, these are not the bytes of abcabc."
    if b"ca" not in got:
        return "The first merge in the list is done wherever it occurs. Look for `c` and `a` again."
    return None if got == by_hand() else "`c a` is done. Ask about all neighbours again, and take the lowest rank."


def _about_the_line(got: Any) -> str | None:
    lines = suspicious_trace()
    if not isinstance(got, int) or isinstance(got, bool) or not 0 <= got < len(lines):
        return f"Give the number of a line, 1 to {len(lines) - 1}."
    if got == 0:
        return "Line 0 is the piece before any merge."
    if got < wrong_line():
        return f"Line {got} is right: no merge with a lower rank was there to be done."
    return None if got == wrong_line() else f"The merge that led to line {got} is right, given the line before it."


def _about_the_piece(got: Any, model: BPEModel) -> str | None:
    if not isinstance(got, bytes):
        return "Give a piece, as bytes."
    bpe, longest = NaiveEncoder(model).encode_piece(got), NotBPELongestMatch(model).encode_piece(got)
    cut = b"|".join(model.tokens[token] for token in bpe).decode("utf-8", "replace")
    return f"Both cut this piece into {cut or 'nothing'}." if bpe == longest else None


def _long_pieces() -> Iterator[tuple[BPEModel, bytes]]:
    yield from models_and_pieces()
    for size in (20, 40, 80):
        yield models()[5], b"a" * size


def _have_counterexamples() -> Iterator[tuple[BPEModel]]:
    yield (models()[4],)
    for words, count in (({b"banana": 2, b"bandana": 1}, 3), ({b"abab": 3, b"bcb": 2, b"cab": 1}, 5)):
        yield (BPEModel.from_merges(learned_merges(words, count)),)
    yield (models()[6],)


def encode_piece(vocab, piece):
    """Return the ids of one piece (bytes), as a list; `vocab` is a dict of token (bytes) -> id.

    Of all neighbours whose joined bytes are a token, those with the lowest id merge, the leftmost
    first, until no two can merge. `vocab` has every single byte.
    """
    tokens = [bytes([byte]) for byte in piece]
    while True:
        joined = [
            (vocab[left + right], index)
            for index, (left, right) in enumerate(zip(tokens, tokens[1:]))
            if left + right in vocab
        ]
        if not joined:
            return [vocab[token] for token in tokens]
        _, index = min(joined)
        tokens[index : index + 2] = [tokens[index] + tokens[index + 1]]


def _vocabularies_and_pieces() -> Iterator[tuple[dict[bytes, int], bytes]]:
    for model, piece in models_and_pieces():
        yield dict(model.ids), piece


EXERCISES = [
    Exercise(
        "encoding.1",
        "By hand",
        by_hand,
        lambda: [()],
        (
            "Write the six letters down. The first merge in the list goes first, wherever it occurs.",
            "After `c a` the sequence is a, b, ca, b, c. Which neighbours merge now?",
        ),
        level="easy",
        next_step="Reverse the list of merges and try again: their order is part of a tokenizer.",
        problem=_about_by_hand,
    ),
    Exercise(
        "encoding.2",
        "Spot the wrong line",
        wrong_line,
        lambda: [()],
        (
            "For each line, check which neighbours in the line before it merge, and at which rank.",
            "Somewhere two merges were possible, and the later one in the list was done.",
        ),
        level="easy",
        next_step="The first line that differs is what a report about wrong ids should contain.",
        problem=_about_the_line,
        stub_cell=(
            "from bpelab.exercises.chapters.encoding import suspicious_trace\n\n"
            "for number, line in enumerate(suspicious_trace()):\n    print(number, line)\n\n"
            "wrong_line = ...  # your answer"
        ),
    ),
    Exercise(
        "encoding.3",
        "All places at once",
        all_places,
        models_and_pieces,
        (
            "In each round, collect the pairs of neighbours that are in model.merges, and take the lowest rank.",
            "replace_pair(ids, pair, new) merges all its places. A search that finds nothing to merge is not a round.",
        ),
        level="medium",
        next_step="Compare the rounds with the number of merges on a long word, and on `b'ab' * 100`.",
    ),
    Exercise(
        "encoding.4",
        "A counterexample to longest match",
        counterexample,
        _have_counterexamples,
        (
            "Longest match takes a long token whose last bytes BPE needed for an earlier merge.",
            "Short pieces are enough: try all pieces over the letters that occur in the merges, the short ones first.",
            "Or think: for which two tokens does the end of the first merge with the beginning of the second, at a "
            "lower rank than they were made at?",
        ),
        level="medium",
        next_step="Which share of the book's pieces does longest match cut differently? The page has counted.",
        problem=_about_the_piece,
        is_valid=lambda model: False,
    ),
    Exercise(
        "encoding.5",
        "Fewest tokens",
        fewest,
        _long_pieces,
        (
            "best[k] is the fewest for the first k bytes, and best[0] is 0.",
            "The last token of the first k bytes begins at some j: then it takes best[j] + 1. Try every j for which "
            "piece[j:k] is a token.",
            "Fill a list from k = 1 to len(piece). A function that calls itself for every j does the same work again "
            "and again.",
        ),
        level="medium",
        next_step='For how many of the book\'s pieces does BPE use more? "Claims, tested" counts them.',
    ),
    Exercise(
        "encoding.6",
        "Your tokenizer: encode a piece",
        encode_piece,
        _vocabularies_and_pieces,
        (
            "Begin with a list of single bytes. The id of `left + right` in vocab is the rank of their merge.",
            "Find the smallest (id, index) of all neighbours, put the joined token in place of the two, look again.",
        ),
        level="medium",
        next_step='Your function looks at every pair again after each merge. "A heap" asks what that costs.',
        is_valid=lambda vocab, piece: BYTE_RANKS.items() <= vocab.items(),
    ),
]
