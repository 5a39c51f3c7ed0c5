"""The exercises of *Incremental training*."""

import sys
from collections import Counter
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from inspect import getgeneratorlocals
from itertools import islice, product
from typing import Any

from ...model.trace import TrainStep
from ...notebook.messages import code
from ...trainers.incremental import train_incremental
from ...trainers.naive import count_pairs, replace_pair, train_naive
from ..exercise import Exercise
from ..fixtures import CORPORA, all_pieces
from ..limits import Limits


def count_changes(word: list[int], pair: tuple[int, int], new: int) -> dict:
    """Return {pair: change of its count}, without the pairs that don't change.

    count_changes([120, 97, 98], (97, 98), 256) is
    {(120, 97): -1, (97, 98): -1, (120, 256): 1}.
    """
    changes = Counter(count_pairs([(replace_pair(word, pair, new), 1)]))
    changes.subtract(count_pairs([(word, 1)]))
    return {changed: by for changed, by in changes.items() if by}


def stale_places(steps) -> int:
    """Return how many positions, over all pairs, are out of date now.

    For {b"banana": 2, b"nab": 1} it is 0 at the first step and 4 at the second.
    """
    state = getgeneratorlocals(steps)
    ids, following = state["ids"], state["following"]
    return sum((ids[i], ids[following[i]]) != pair for pair, places in state["places"].items() for i in places)


def pop_best(heap: list, counts: dict, least: int) -> tuple | None:
    """Pop the most frequent pair off the heap and return it; None if none occurs `least` times.

    With the heap [(-5, "x"), (-4, "y")] and the counts {"x": 3, "y": 4} it is "y", and
    the heap holds (-3, "x") afterwards.
    """
    while heap:
        claimed, pair = heappop(heap)
        if counts[pair] < least:
            continue
        if counts[pair] == -claimed:
            return pair
        heappush(heap, (-counts[pair], pair))
    return None


def shortest_witness(trainer, alphabet: str = "ab", longest: int = 6) -> bytes | None:
    """Return the first word whose steps differ, or None. Words are tried by length, then
    in the order of the letters in `alphabet`.

    For the trainer that reads a neighbour from a copy it is b"aaaa".
    """
    for size in range(1, longest + 1):
        for letters in product(alphabet, repeat=size):
            words = {"".join(letters).encode(): 1}
            if list(trainer(words, size, 1)) != list(train_naive(words, size, 1)):
                return next(iter(words))
    return None


def train_by_words(
    words: dict[bytes, int], num_merges: int
) -> list[tuple[int, int, int]]:  # fmt: skip
    """Return (left, right, count) of each merge, as train_naive with its minimum of 2.

    train_by_words({b"abab": 3}, 5) is [(97, 98, 6), (256, 256, 3)].
    """
    sequences = [(list(word), occurrences) for word, occurrences in words.items()]
    counts: Counter[tuple[int, int]] = Counter()
    holders: dict[tuple[int, int], set[int]] = {}  # pair -> the indices of the words that hold it

    def add(index: int, sign: int) -> None:
        for pair, count in count_pairs([sequences[index]]).items():
            counts[pair] += sign * count
            holders.setdefault(pair, set()).add(index)

    for index in range(len(sequences)):
        add(index, 1)
    merges: list[tuple[int, int, int]] = []
    while counts and len(merges) < num_merges:
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[best] < 2:
            break
        merges.append((*best, counts[best]))
        for index in holders.pop(best):  # a word that lost the pair to another merge has nothing to replace
            add(index, -1)
            ids, occurrences = sequences[index]
            sequences[index] = replace_pair(ids, best, 255 + len(merges)), occurrences
            add(index, 1)
        del counts[best]
    return merges


def _train(words: Any, num_merges: int, min_frequency: int, best: Any, merge: Any) -> Iterator[TrainStep]:
    """Train with the textbook's loop, with `best(counts)` to choose a pair and `merge(ids, pair, new)` to merge it."""
    sequences = [(list(word), occurrences) for word, occurrences in words.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    for rank in range(num_merges):
        counts = count_pairs(sequences)
        if not counts or max(counts.values()) < min_frequency:
            return
        left, right = best(counts)
        tokens.append(tokens[left] + tokens[right])
        yield TrainStep(rank, left, right, counts[left, right], tokens[-1])
        sequences = [(merge(ids, (left, right), 256 + rank), n) for ids, n in sequences]


def larger_pair_first(words: Any, num_merges: int, min_frequency: int = 2) -> Iterator[TrainStep]:
    """Train with a mistake: of equally frequent pairs, take the larger one."""

    def best(counts: Any) -> Any:
        return max(counts, key=lambda pair: (counts[pair], pair))

    yield from _train(words, num_merges, min_frequency, best, replace_pair)


def one_place_only(words: Any, num_merges: int, min_frequency: int = 2) -> Iterator[TrainStep]:
    """Train with a mistake: merge only the first place of the pair in each word."""

    def best(counts: Any) -> Any:
        return min(counts, key=lambda pair: (-counts[pair], pair))

    def merge_first(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
        position = next((i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) == pair), None)
        return ids if position is None else [*ids[:position], new, *ids[position + 2 :]]

    yield from _train(words, num_merges, min_frequency, best, merge_first)


def only_four_merges(words: Any, num_merges: int, min_frequency: int = 2) -> Iterator[TrainStep]:
    """Train with a mistake: stop after four merges."""
    yield from islice(train_naive(words, num_merges, min_frequency), 4)


def _words_and_pairs() -> Iterator[tuple[list[int], tuple[int, int], int]]:
    for piece in all_pieces(b"ab", 5):
        for pair in ((97, 98), (97, 97)):
            yield list(piece), pair, 256
    yield list(b"xabyabab"), (97, 98), 256
    yield [256, 97, 256, 97, 97], (256, 97), 300


def _paused() -> Iterator[tuple[dict[bytes, int], int]]:
    for words in ({b"banana": 2, b"nab": 1}, *CORPORA):
        for num_steps in (1, 2, 3, 5):
            if len(list(train_incremental(words, num_steps, 1))) == num_steps:
                yield words, num_steps


def _pause(answer: Any, words: dict[bytes, int], num_steps: int) -> Any:
    steps = train_incremental(words, num_steps, 1)
    for _ in range(num_steps):
        next(steps)
    return answer(steps)


def _can_pause(words: dict[bytes, int], num_steps: int) -> bool:
    if not (num_steps and all(words) and min(words.values(), default=0) > 0):
        return False
    return len(list(train_incremental(words, num_steps, 1))) == num_steps


def _show_paused(name: str, words: dict[bytes, int], num_steps: int) -> str:
    lines = [
        f"steps = train_incremental({code(words)}, {num_steps}, 1)",
        *["next(steps)"] * num_steps,
        f"{name}(steps)",
    ]
    return "; ".join(lines)


Pair = tuple[int, int]


def _heaps() -> Iterator[tuple[list[tuple[int, Pair]], dict[Pair, int], int]]:
    pairs: tuple[Pair, ...] = ((97, 98), (98, 99), (99, 100))
    for size in range(4):
        for claims in product((2, 4), repeat=size):
            for falls in product((0, 1, 3), repeat=size):
                counts = {pair: max(0, claim - fall) for pair, claim, fall in zip(pairs, claims, falls)}
                heap = [(-claim, pair) for pair, claim in zip(pairs, claims)]
                heapify(heap)
                yield heap, counts, 2


def _trainers() -> Iterator[tuple[Any, str, int]]:
    for trainer in (larger_pair_first, one_place_only, only_four_merges, train_incremental):
        for alphabet, longest in (("ab", 4), ("ab", 6), ("ba", 5), ("abc", 4)):
            yield trainer, alphabet, longest


def _corpora() -> Iterator[tuple[dict[bytes, int], int]]:
    for words in CORPORA:
        for num_merges in (0, 1, 2, 5, 30):
            yield words, num_merges
    for piece in all_pieces(b"ab", 6):
        if len(piece) > 3:
            yield {piece: 2}, 6
            yield {piece: 2, b"abb": 3, b"aab": 1}, 6
    yield _many_words(), 20


def _many_words() -> dict[bytes, int]:
    """Return three words that win the first 20 merges, and 256 that share no pair with them."""
    winners = {bytes(range(start, start + 10)): 10_000 for start in (128, 138, 148)}
    return winners | {bytes(letters): 1 for letters in product(b"ab", repeat=8)}


def _are_many(words: dict[bytes, int]) -> bool:
    return len(words) > 200


MOST_CALLS = 25_000
"""How many calls an answer may make on the many words: an index needs some 6,000, and counting again over 90,000."""


def _train_counting_calls(answer: Any, words: dict[bytes, int], num_merges: int) -> Any:
    """Return the answer's merges; for many words also which of them it counts for each merge, judged by its calls."""
    if not _are_many(words):
        return answer(words, num_merges)
    calls, before = 0, sys.getprofile()

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        merges = answer(words, num_merges)
    finally:
        sys.setprofile(before)
    if merges is None or merges is Ellipsis:
        return merges
    counted = "those that hold the pair" if calls <= MOST_CALLS else "all of them, as train_naive does"
    return {"words counted for each merge": counted, "merges": merges}


def _show_few_words(name: str, words: dict[bytes, int], num_merges: int) -> str:
    first = code(dict(islice(words.items(), 2)))
    shown = f"{first[:-1]}, ... {len(words) - 2} more}}" if _are_many(words) else code(words)
    return f"{name}({shown}, {num_merges})"


EXERCISES = [
    Exercise(
        "incremental.1",
        "The difference",
        count_changes,
        _words_and_pairs,
        (
            "Count the pairs of the word before and after: count_pairs([(word, 1)]).",
            "Subtract. A pair may be in one of the two counts only, and a change of 0 is left out.",
        ),
        level="medium",
        next_step="Added up over all words, these changes are what the incremental trainer does after each merge.",
    ),
    Exercise(
        "incremental.2",
        "Out of date",
        stale_places,
        _paused,
        (
            "getgeneratorlocals(steps) returns the trainer's variables, among them `places`, `ids` and `following`.",
            "A pair occurs at position i if (ids[i], ids[following[i]]) is the pair. Count where it isn't.",
        ),
        level="easy",
        next_step="Would it help to remove them at once? Finding one in its list takes a search.",
        call=_pause,
        is_valid=_can_pause,
        format_call=_show_paused,
    ),
    Exercise(
        "incremental.3",
        "The lazy heap alone",
        pop_best,
        _heaps,
        (
            "Take the first entry off with heappop, and compare its count with counts[pair].",
            "If they agree and the pair is frequent enough, it's the answer. If it's too rare, drop it and go on.",
            "If the entry says too much, push (-counts[pair], pair) with heappush, and go on.",
        ),
        level="medium",
        next_step="Why can an entry claim too much, and never too little?",
        observe=lambda result, heap, *others: {"returned": result, "heap afterwards": sorted(heap)},
        is_valid=lambda heap, counts, least: False,  # they are small already, and no entry may claim too little
    ),
    Exercise(
        "incremental.4",
        "The shortest witness",
        shortest_witness,
        _trainers,
        (
            "itertools.product(alphabet, repeat=size) yields the words of one length in order.",
            "For each word compare list(trainer({word: 1}, size, 1)) with what train_naive yields.",
        ),
        level="medium",
        next_step="Put a mistake of your own into a copy of the trainer. How short is its witness?",
        is_valid=lambda *arguments: False,
    ),
    Exercise(
        "incremental.5",
        "An index of words",
        train_by_words,
        _corpora,
        (
            "Number the words. Keep the counts of all pairs, and for each pair the numbers of the words that hold it.",
            "For each of these words: subtract all its pairs' counts, replace, add all its pairs' counts again.",
            "This makes new pairs: note the word's number for them too. The best pair is that of `train_naive`.",
        ),
        level="hard",
        next_step="Time it beside `train_incremental` as the corpus grows.",
        call=_train_counting_calls,
        format_call=_show_few_words,
        is_valid=lambda words, num_merges: (
            not _are_many(words) and all(word and occurrences > 0 for word, occurrences in words.items())
        ),
        limits=Limits(lines=1_000_000),  # enough to count all words again, and be told so
    ),
]
