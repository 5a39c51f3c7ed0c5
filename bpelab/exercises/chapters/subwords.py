"""The exercises of *Characters, words, subwords*."""

import copy
import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ...baselines import BASELINES, Baseline
from ...notebook.messages import code
from ..checker import Exercise

CORPUS = "the baker saw the fishing boat, the boat saw the baker; baking and fishing and the boat, the baker and a boat"
SIZES = {"characters": 15, "words": 6, "schoolbook": 40, "wordpiece": 45, "unigram": 35}


def unknown_share(tokenizer, text):
    """Return the share of the tokens of `text` that are unknown; 0.0 if it has no tokens.

    unknown_share(words, "the kayak") is 0.5.
    """
    # The worst for `words`: seven paragraphs of `unseen`, most of them titles, are unknown from end to end. Of those
    # with twenty tokens or more it is the one in Arabic, with 84% unknown.
    count = len(tokenizer.encode(text))
    return tokenizer.unknown_count(text) / count if count else 0.0


def longest_pieces(word, pieces):
    """Return (the pieces found, what is left of the word): always the longest that fits.

    longest_pieces("unhappy", {"un", "hap", "unha"}) is (["unha"], "ppy").
    """
    found = []
    while fitting := [piece for piece in pieces if piece and word.startswith(piece)]:
        found.append(max(fitting, key=len))
        word = word[len(found[-1]) :]
    return found, word


def likeliest_by_trying(word, scores):
    """Return the highest sum of scores over all cuts of `word`; None if it can't be cut.

    A cut consists of pieces that have a score. `word` is not empty.

    likeliest_by_trying("ab", {"a": -1.0, "b": -1.0, "ab": -3.0}) is -2.0.
    """
    if not word:
        return 0.0
    sums = []
    for size in range(1, len(word) + 1):
        if word[:size] in scores:
            rest = likeliest_by_trying(word[size:], scores)
            if rest is not None:
                sums.append(scores[word[:size]] + rest)
    return max(sums, default=None)


def best_by_gain(words):
    """Return the pair with the largest gain; of equal ones, the pair that sorts first.

    best_by_gain([(["t", "h"], 50), (["t", "o"], 20), (["x", "y"], 2)]) is ("t", "h").
    """
    single, pairs = Counter(), Counter()
    for symbols, occurrences in words:
        for symbol in symbols:
            single[symbol] += occurrences
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += occurrences
    total = sum(single.values())

    def gain(pair):
        return pairs[pair] * math.log(pairs[pair] * total / (single[pair[0]] * single[pair[1]]))

    return max(sorted(pairs), key=gain)


def forged(tokenizer, names):
    """Return those of `names` that encode to one token, which `tokens` shows under that very name.

    forged(words, ["<unk>", "baker"]) is ["baker"].
    """
    return [name for name in names if tokenizer.tokens(name) == [name]]


@lru_cache(None)
def _train(kind: str) -> Baseline:
    return BASELINES[kind].train(CORPUS, SIZES[kind])


def _call(answer: Any, kind: str, given: Any) -> Any:
    return answer(copy.deepcopy(_train(kind)), given)


def _show(name: str, kind: str, given: Any) -> str:
    return f"{name}(BASELINES[{kind!r}].train({code(CORPUS)}, {SIZES[kind]}), {code(given)})"


def _close(expected: Any, got: Any) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(expected, got, abs_tol=1e-9)
    return bool(expected == got)  # an int may be too large for a float


def _texts() -> Iterator[tuple[str, str]]:
    for text in (
        "",
        " ",
        "the",
        "the kayak",
        "kayak",
        "z",
        "the boat",
        "the baker and the kayak",
        "日本",
        "fishing, fishing",
    ):
        for kind in BASELINES:
            yield kind, text


def _words() -> Iterator[tuple[str, list[str]]]:
    lists: tuple[list[str], ...] = ([], ["a"], ["a", "ab"], ["a", "b", "abc"], ["a", "aab", "b", "aa"])
    for word in ("", "a", "b", "ab", "ba", "aab", "aabab", "abcab"):
        for pieces in lists:
            yield word, pieces
    for word in ("happy", "unhappy", "happyun", "unhappyhap"):
        yield word, ["un", "hap", "unha", "p", "py", "happy"]


def _call_with_set(answer: Any, word: str, pieces: list[str]) -> Any:
    return answer(word, set(pieces))  # the inputs have lists, which can be made smaller


def _show_set(name: str, word: str, pieces: list[str]) -> str:
    return f"{name}({code(word)}, {code(set(pieces))})"


def _scored() -> Iterator[tuple[str, dict[str, float]]]:
    tables: tuple[dict[str, float], ...] = (
        {"a": -1.0},
        {"a": 0.0, "b": -1.0},
        {"a": -1.0, "b": -1.0, "ab": -3.0},
        {"a": -1.0, "b": -1.0, "ab": -1.5, "aba": -4.0},
        {"a": -2.0, "ab": -1.0, "bc": -0.5, "c": -4.0},
        {},
    )
    for word in ("a", "b", "ab", "ba", "aba", "abc", "abab", "abcabc", "ababababab"):
        for table in tables:
            yield word, table


def _counted() -> Iterator[tuple[list[tuple[list[str], int]]]]:
    yield ([(["a", "b"], 1)],)
    for first, second in ("ab", "cd"), ("cd", "ab"):
        yield ([(list(first), 2), (list(second), 2)],)
    yield ([(["t", "h"], 50), (["t", "o"], 20), (["x", "y"], 2)],)
    yield ([(["t", "h", "e"], 9), (["t", "o"], 3), (["h", "e", "n"], 2), (["q", "u"], 4)],)
    yield ([(["e", "t"], 30), (["e", "s"], 30), (["s", "t"], 4), (["o", "n"], 11), (["n", "e"], 9)],)
    yield ([(["e", "n"], 40), (["e", "e", "n", "e"], 30), (["n", "e"], 35), (["th", "at"], 7), (["th", "e"], 5)],)
    yield ([(list("lower"), 2), (list("newst"), 6), (list("widest"), 3), (list("low"), 5)],)
    yield ([(list("banana"), 2), (list("bandana"), 1), (list("cab"), 3), (list("dab"), 3)],)


def _has_one_best(words: list[tuple[list[str], int]]) -> bool:
    """Whether every way to compute the gain finds the same pair: ties only from equal counts, and no overlaps."""
    if any(occurrences < 1 or "" in symbols for symbols, occurrences in words):
        return False
    if any(a == b == c for symbols, _ in words for a, b, c in zip(symbols, symbols[1:], symbols[2:])):
        return False
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for symbols, occurrences in words:
        for symbol in symbols:
            single[symbol] += occurrences
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += occurrences
    counts = {(n, single[left], single[right]) for (left, right), n in pairs.items()}
    gains = sorted(n * math.log(n * sum(single.values()) / (left * right)) for n, left, right in counts)
    return len(gains) == 1 or (bool(gains) and not math.isclose(gains[-1], gains[-2], rel_tol=1e-9, abs_tol=1e-9))


def _names() -> Iterator[tuple[str, list[str]]]:
    special = ["<unk>", "[UNK]", "</w>", "##ing"]
    for kind in BASELINES:
        yield kind, []
        for name in (*special, "baker", "the", "b", "kayak"):
            yield kind, [name]
        yield kind, ["baker", *special, "the", "a"]


EXERCISES = [
    Exercise(
        "subwords.1",
        "Heard and not known",
        unknown_share,
        _texts,
        (
            "tokenizer.unknown_count(text) is the one number, len(tokenizer.encode(text)) the other.",
            "Don't divide by 0.",
        ),
        equal=_close,
        call=_call,
        format_call=_show,
        is_valid=lambda kind, text: kind in BASELINES,
    ),
    Exercise(
        "subwords.2",
        "Longest match",
        longest_pieces,
        _words,
        (
            "Of the pieces that the word starts with, take the longest, and go on with what is left of the word.",
            "Stop when no piece fits. The word that is left then may be empty.",
        ),
        call=_call_with_set,
        format_call=_show_set,
        is_valid=lambda word, pieces: all(pieces),
    ),
    Exercise(
        "subwords.3",
        "Every cut",
        likeliest_by_trying,
        _scored,
        (
            "A cut is a first piece and a cut of what is left. So the function can call itself.",
            "The empty word has one cut, with the sum 0.0. For what can't be cut it returns None, which is left out.",
            "A score may be 0.0: ask `is None`, or `in scores`.",
        ),
        equal=_close,
        is_valid=lambda word, scores: word and "" not in scores,
    ),
    Exercise(
        "subwords.4",
        "Mend the score",
        best_by_gain,
        _counted,
        (
            "Count single symbols and pairs first, each word as often as it occurs. N is the sum of the single counts.",
            "The gain of a pair is its count times math.log(count * N / (count of the first * count of the second)).",
            "max over the sorted pairs takes the first of equals.",
        ),
        is_valid=_has_one_best,
    ),
    Exercise(
        "subwords.5",
        "Forgery",
        forged,
        _names,
        (
            "tokenizer.tokens(name) shows the tokens of a text.",
            "A name is forged if that list has one item, the name itself.",
        ),
        call=_call,
        format_call=_show,
        is_valid=lambda kind, names: kind in BASELINES,
    ),
]
