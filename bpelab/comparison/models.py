"""Compare two models: whether their ids can differ at all, and texts that would show it.

Two lists of merges are equivalent if `recover_merges` returns the same merges for both, in the same order; so a file
with merges and a file with ranks can be equivalent. A different order shows if two merges compete for a token: in `x y
z`, `x y` against `y z`. So the merges that moved (those outside a longest increasing sequence of ranks) are tried with
those they overlap.

Cost: recovering merges, a second for 100,000 tokens. Chapter: Training.
Source: Fredman 1975, "On computing the length of longest increasing subsequences".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

from .._support.textio import from_utf8
from ..model.rank_merges import RankMerges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..model.bpe import BPEModel
    from ..model.rank_merges import Pair

Written = tuple[bytes, bytes]
"""A merge as the bytes of its two tokens."""
MOST_SHOWN = 300
"""The most differing merges and tokens that texts are built from."""
STARTS, ENDS = (
    (b"", b"\xc3", b"\xe3", b"\xe3\x81", b"\xf0\x9f", b"\xf0\x9f\x98"),
    (b"", b"\x80", b"\x80\x80", b"\x98\x80\x80"),
)
"""Bytes that complete a token that begins or ends within a character."""


@dataclass(frozen=True)
class ModelDifference:
    """A difference between two models.

    Attributes:
        part: "vocabulary", "merges", "ignore_merges" or "initial symbols".
        sentence: the difference in words.
        proved_equal: True if ids are nevertheless equal for every text.
        texts: texts whose ids may differ.
    """

    part: str
    sentence: str
    proved_equal: bool
    texts: tuple[str, ...]


def compare_models(first: BPEModel, second: BPEModel) -> ModelDifference | None:
    """Return the difference between two models, or None if their tables are the same."""
    if first == second:
        return None
    if first.tokens != second.tokens:
        ids = sorted(i for i in {*first.tokens, *second.tokens} if first.tokens.get(i) != second.tokens.get(i))
        one, two = first.tokens.get(ids[0]), second.tokens.get(ids[0])
        sentence = f"{len(ids):,} ids have different tokens; the first is {ids[0]}: {_shown(one)} and {_shown(two)}"
        tokens = [model.tokens[i] for i in ids[:MOST_SHOWN] for model in (first, second) if i in model.tokens]
        return ModelDifference("vocabulary", sentence, False, tuple(as_texts(tokens)))
    if (first.initial_symbols, first.alphabet) != (second.initial_symbols, second.alphabet):
        return ModelDifference("initial symbols", "pieces are cut into different symbols before merging", False, ())
    same, moved, sentence = _compare_merges(first, second)
    unmade = [first.tokens[i] for i in first.recovered_merges.unreachable] if same else []
    if first.ignore_merges == second.ignore_merges:
        return ModelDifference("merges", sentence, same, tuple(as_texts(moved)))
    sentence = "a piece that is a token is taken whole (ignore_merges) by one and merged by the other" + (
        "" if same else f"; {sentence}"
    )
    return ModelDifference("ignore_merges", sentence, same and not unmade, tuple(as_texts([*moved, *unmade])))


def _compare_merges(first: BPEModel, second: BPEModel) -> tuple[bool, list[bytes], str]:
    """Return (whether merging is proved equal, texts that may show a difference, the difference in words)."""
    if _ranked(first) == _ranked(second):
        return True, [], "one has a list of merges and the other ranks, with the same merges in the same order"
    merges, others = _in_order(first), _in_order(second)
    only = [[pair for pair in a if pair not in b] for a, b in ((merges, others), (others, merges))]
    moved = _moved([pair for pair in merges if pair in others], others)
    texts = [left + right for pair in (*only[0], *only[1]) for left, right in [pair]][:MOST_SHOWN]
    for ranks, other_ranks in ((merges, others), (others, merges)):
        texts += _contested([*only[0], *only[1], *moved][:MOST_SHOWN], ranks, other_ranks)
    said = [f"{len(pairs):,} merges are only in the {name}" for pairs, name in zip(only, ("first", "second")) if pairs]
    said += [f"{len(moved):,} merges have another place in the order"] if moved else []
    example = next(iter([*moved, *only[0], *only[1]]), None)
    example_text = "" if example is None else f": {_shown(example[0])} + {_shown(example[1])}, say"
    return False, texts, (" and ".join(said) or "merges are ranked differently") + example_text


def _ranked(model: BPEModel) -> list[tuple[int, Pair, int]]:
    """Return the tokens that merging makes, in rank order, with their pairs and how many ranks come before theirs."""
    found = model.recovered_merges
    places = {rank: place for place, rank in enumerate(dict.fromkeys(found.rank_of.values()))}
    return [(token, pair, places[found.rank_of[token]]) for token, pair in found.splits.items()]


def _in_order(model: BPEModel) -> dict[Written, int]:
    """Return a model's merges with their positions in rank order."""
    tokens = model.tokens
    pairs: Iterable[Pair]
    if isinstance(model.merges, RankMerges):
        pairs = model.recovered_merges.splits.values()
    else:
        pairs = sorted(model.merges, key=model.merges.__getitem__)
    return {(tokens[left], tokens[right]): rank for rank, (left, right) in enumerate(pairs)}


def _moved(common: Sequence[Written], ranks: Mapping[Written, int]) -> list[Written]:
    """Return the merges in `common` that are outside a longest subsequence with increasing ranks."""
    tops: list[int] = []
    at: list[int] = []
    for pair in common:
        length = bisect_left(tops, ranks[pair])
        tops[length : length + 1] = [ranks[pair]]
        at.append(length)
    moved, wanted = [], len(tops) - 1
    limit = len(ranks)
    for pair, length in zip(reversed(common), reversed(at)):
        if length == wanted and ranks[pair] < limit:
            wanted, limit = wanted - 1, ranks[pair]
        else:
            moved.append(pair)
    return moved[::-1]


def _contested(
    changed: Sequence[Written], ranks: Mapping[Written, int], other: Mapping[Written, int]
) -> Iterator[bytes]:
    """Yield texts in which two merges compete for a token and the two models prefer different ones."""
    by_left, by_right = defaultdict(list), defaultdict(list)
    for left, right in ranks:
        by_left[left].append(right)
        by_right[right].append(left)
    late = len(ranks) + len(other)
    for left, right in changed:
        rank, other_rank = ranks.get((left, right), late), other.get((left, right), late)
        rivals = [((right, more), left + right + more) for more in by_left[right]]
        rivals += [((more, left), more + left + right) for more in by_right[left]]
        for rival, both in rivals:
            if (ranks[rival] < rank) != (other.get(rival, late) < other_rank):
                yield both


def as_texts(tokens: Iterable[bytes]) -> Iterator[str]:
    """Yield each of `tokens` as a text; a partial character at either end is completed."""
    for token in tokens:
        for start in STARTS:
            text = next((text for end in ENDS if (text := from_utf8(start + token + end)) is not None), None)
            if text is not None:
                yield text
                break


def _shown(token: bytes | None) -> str:
    return "no token" if token is None else repr(token.decode()) if from_utf8(token) is not None else repr(token)
