"""The exercises of *Superwords*."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ...model.bpe import BPEModel
from ...notebook.messages import code
from ...tokenizer import BPETokenizer
from ...trainers.naive import count_pairs, replace_pair
from ...trainers.superwords import Superwords
from ..exercise import Exercise
from ..fixtures import CORPORA

TEXTS = (
    "one of the best, some of the rest, all of the cats",
    "in the end, at the end of the day; the day of the end. ",
    "a rat in a hat, a cat in a hat, in a box, in a box of a cat. ",
)


BY_HAND = [(b" ", b"t"), (b"o", b"f"), (b"of", b" t"), (b"d", b" "), (b"d ", b"of")]
"""`d of` is one token where the text ends, and no more once ` t` comes next."""


def by_hand():
    """Return the three tokens that stage two learns, as a list of bytes."""
    # Side by side three times: "in" and " a", ids 256 and 257, and " a" and the space after it, ids 257 and 32. The
    # smaller left id goes first. Then "in a" and a space, three times as well: one token absorbs the other's space.
    # What is left occurs twice: h a, a t, b o and o x. The smallest left id is that of `a`, and `at` is no superword.
    return [b"in a", b"in a ", b"at"]


def two_stages_of(words, wholes, first, second):
    """Return the tokens learned, in order: at most `first` from `words`, then at most `second` from `wholes`.

    `words` and `wholes` map pieces (bytes) to how often they occur. Ids 0 to 255 are the bytes.
    """
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []

    def learn(pieces, number):
        # One stage is a loop of BPE; the second differs only in what it starts from.
        for _ in range(number):
            counts = count_pairs(pieces)
            best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
            if best is None or counts[best] < 2:
                return
            merges.append(best)
            tokens.append(tokens[best[0]] + tokens[best[1]])
            pieces = [(replace_pair(ids, best, len(tokens) - 1), count) for ids, count in pieces]

    learn([(list(piece), count) for piece, count in words.items()], first)
    # Encode the whole texts with what the first stage has learned, merge after merge.
    sequences = [(list(piece), count) for piece, count in wholes.items()]
    for number, pair in enumerate(list(merges), 256):
        sequences = [(replace_pair(ids, pair, number), count) for ids, count in sequences]
    learn(sequences, second)
    return tokens[256:]


def give_back(tokenizer, prompt, rest):
    """Return how many ids at the end of `prompt` differ from those of `prompt + rest`."""
    ids, whole = tokenizer.encode(prompt), tokenizer.encode(prompt + rest)
    same = 0
    while same < min(len(ids), len(whole)) and ids[same] == whole[same]:
        same += 1
    return len(ids) - same


def superword_pairs(merges, first):
    """Return the superword pairs as a set of pairs of tokens (bytes).

    `merges` is a list of (left, right); no token is made twice. With the merges
    a b, c d, ab cd, abcd ab and first = 2 it is {(b"ab", b"cd"), (b"cd", b"ab")}.
    """
    ends = {}  # superword -> its first and its last word token
    pairs = set()
    for left, right in merges[first:]:
        left_ends, right_ends = ends.get(left, (left, left)), ends.get(right, (right, right))
        # Pairs inside the two parts were added when these were made: only the place where they meet is new.
        pairs.add((left_ends[1], right_ends[0]))
        ends[left + right] = left_ends[0], right_ends[1]
    return pairs


def competition(words, superwords, size):
    """Return (words taken, superwords taken), for two lists of counts, each sorted from high to low."""
    taken = [0, 0]
    while sum(taken) < size:
        word = words[taken[0]] if taken[0] < len(words) else -1
        superword = superwords[taken[1]] if taken[1] < len(superwords) else -1
        if word == superword == -1:  # both lists are used up
            break
        taken[superword > word] += 1  # False is 0, and True is 1
    return tuple(taken)


def _about_by_hand(got: Any) -> str | None:
    """Say how far an answer is right, without revealing the rest."""
    answer, expected = [bytes(token) for token in got], by_hand()
    if answer == expected:
        return None
    if answer[:1] != expected[:1]:
        return (
            "The first merge is another. Two pairs occur three times, and the ids of their left tokens are 256 and 257."
        )
    if answer[:2] != expected[:2]:
        return "The first merge is right. Replace it in all three texts, and count again: what occurs three times now?"
    return "Two merges are right. The next pair occurs twice, as others do: the smallest left id goes first."


def _stages() -> Iterator[tuple[dict[bytes, int], dict[bytes, int], int, int]]:
    for words in CORPORA[:9]:
        wholes = {b" ".join(words): 2, b"".join(words): 1}
        for first, second in ((0, 2), (1, 2), (3, 4)):
            yield words, wholes, first, second
    for text in TEXTS:
        pieces: dict[bytes, int] = {}
        for word in text.split(" "):
            pieces[b" " + word.encode()] = pieces.get(b" " + word.encode(), 0) + 1
        yield pieces, {b" " + text.encode(): 2}, 6, 6


def _are_stages(words: dict[bytes, int], wholes: dict[bytes, int], first: int, second: int) -> bool:
    return first >= 0 and second >= 0 and all(count > 0 for counts in (words, wholes) for count in counts.values())


@lru_cache(1)
def _tokenizers() -> tuple[BPETokenizer, ...]:
    corpus = [text * 3 for text in TEXTS]
    kinds = None, Superwords(transition=268), Superwords(transition=275)
    trained = (BPETokenizer.train(corpus, 285, superwords=kind, progress=False) for kind in kinds)
    return BPETokenizer(BPEModel.from_merges(BY_HAND), pattern="superbpe"), *trained


def _prompts() -> Iterator[tuple[BPETokenizer, str, str]]:
    for tokenizer in _tokenizers():
        yield tokenizer, "", "a"
        for prompt, rest in (
            ("d of", " t"),
            ("d ", "of t"),
            ("the", " end"),
            ("in", " a hat"),
            ("of", " the"),
            ("at the end", " of the day"),
            ("end of", " the day"),
            ("in a", " box of a cat"),
            ("a ha", "t"),
            ("the da", "y of the end"),
            ("one of the best", ""),
            ("x", "yz"),
        ):
            yield tokenizer, prompt, rest


def _merge_lists() -> Iterator[tuple[list[tuple[bytes, bytes]], int]]:
    yield [], 0
    yield [(b"a", b"b")], 0
    yield [(b"a", b"b")], 1
    yield [(b"a", b"b"), (b"c", b"d"), (b"ab", b"cd"), (b"abcd", b"ab")], 2
    yield [(b"a", b"b"), (b"ab", b"ab"), (b"abab", b"abab")], 1
    yield [(b"o", b"f"), (b" ", b"of"), (b"t", b"he"), (b" of", b"the"), (b"a", b" ofthe"), (b"a ofthe", b"x")], 3
    for tokenizer in _tokenizers()[2:]:
        model = tokenizer.model
        merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]
        for first in (12, len(merges) // 2, len(merges)):
            yield merges, first


def _is_merge_list(merges: list[tuple[bytes, bytes]], first: int) -> bool:
    tokens = [left + right for left, right in merges]
    tokens_before = [{bytes([byte]) for byte in range(256)} | set(tokens[:at]) for at in range(len(tokens))]
    parts = (part in before for pair, before in zip(merges, tokens_before) for part in pair)
    return 0 <= first <= len(merges) and len(set(tokens)) == len(tokens) and all(parts)


def _counts() -> Iterator[tuple[list[int], list[int], int]]:
    yield from (([], [], 3), ([2], [], 1), ([], [2], 1), ([3], [3], 1), ([2], [3], 1), ([3], [2], 2), ([2], [2], 0))
    yield from (([9, 5, 5, 2], [7, 5, 1], size) for size in range(9))
    yield [50, 40, 30, 20, 10] * 1, [45, 44, 43, 5], 6
    yield [0, 0], [0], 2
    yield [9] * 20, [*range(29, 9, -1)], 25


def _are_counts(words: list[int], superwords: list[int], size: int) -> bool:
    sorted_ones = all(list(counts) == sorted(counts, reverse=True) for counts in (words, superwords))
    return size >= 0 and sorted_ones and min([*words, *superwords], default=0) >= 0


def _format_prompt(name: str, tokenizer: BPETokenizer, prompt: str, rest: str) -> str:
    tokens = " ".join(code(token) for number, token in sorted(tokenizer.model.tokens.items()) if number > 255)
    return f"{name}(tokenizer, {code(prompt)}, {code(rest)}), with a tokenizer that has learned {tokens}"


EXERCISES = [
    Exercise(
        "superwords.1",
        "By hand",
        by_hand,
        lambda: [()],
        (
            "Write the three texts down with a bar at each place where two tokens meet: `in|␣a|␣|b|o|x` is the first.",
            "Two pairs occur three times. The rule for ties says which goes first, and merging it changes the other.",
            "Nothing occurs three times after two merges. Of the pairs that occur twice, look at their left ids.",
        ),
        level="easy",
        next_step="Go on by hand: which pair is fourth? Where two texts agree for long, it is soon a whole line.",
        problem=_about_by_hand,
    ),
    Exercise(
        "superwords.2",
        "Two stages",
        two_stages_of,
        _stages,
        (
            "Write one function for a stage: count, take the best pair, append, replace. Call it twice.",
            "Keep the merges as pairs of ids. The number of a merge in that list, plus 256, is the id of its token.",
            "Before the second stage, replace every merge of the first in `wholes`, in the order of learning.",
        ),
        level="medium",
        next_step=(
            "`train_superbpe` has two lines more than yours, for the limits. Which tokens do they keep out of the book?"
        ),
        is_valid=_are_stages,
    ),
    Exercise(
        "superwords.3",
        "How much to give back",
        give_back,
        _prompts,
        (
            "Encode the prompt, and encode prompt + rest.",
            "Count the equal ids from the start, and stop at the first that differs.",
            "An id that is equal further on doesn't help: the text before it is cut differently.",
        ),
        level="easy",
        next_step=(
            'For how many characters must a program look back at most? "Streaming" has to know, and looks for a place '
            "between two tokens that are no superword pair."
        ),
        format_call=_format_prompt,
    ),
    Exercise(
        "superwords.4",
        "Superword pairs",
        superword_pairs,
        _merge_lists,
        (
            "A merge of two word tokens makes one superword pair: these two.",
            "For a superword only its first and its last word token matter: nothing else can touch what comes next.",
            "Keep for every superword its two ends. A merge makes a pair of the last word of its left part and the "
            "first word of its right part.",
        ),
        level="hard",
        next_step="Which share of the neighbours in a text is a superword pair? It says how long the runs are.",
        is_valid=_is_merge_list,
    ),
    Exercise(
        "superwords.5",
        "The competition",
        competition,
        _counts,
        (
            "Keep two positions, one in each list, and move the one that is at the larger count.",
            "What if one list has ended? Treat its next count as smaller than any.",
            "Equal counts: the word is taken.",
        ),
        level="medium",
        next_step="Feed it counts of your own text: what share of a larger vocabulary would be superwords?",
        equal=lambda expected, got: list(expected) == list(got),
        is_valid=_are_counts,
    ),
]
