"""The exercises of *New words for an old model*."""

import math
from collections.abc import Iterator

from ...trainers.naive import replace_pair, train_naive
from ..exercise import Exercise
from ..fixtures import CORPORA, Merges, is_close, learned_merges


def to_old_ids(ids, made_of):
    """Return the old tokenizer's ids for the text that the new one encodes as `ids`.

    `made_of` maps each new id to the (left, right) ids of its merge, which may be new as well.
    """
    old = []
    # A stack of ids still to be looked at: `pop` takes the next one, and a new id's parts go back on top.
    waiting = list(reversed(ids))
    while waiting:
        token = waiting.pop()
        if token in made_of:
            left, right = made_of[token]
            waiting += [right, left]
        else:
            old.append(token)
    return old


def unreached(merges):
    """Return the tokens that no text encodes to, as a set of bytes: merging their own bytes doesn't make them.

    `merges` is a list of (left, right), the first with the lowest rank. The parts of a merge are single bytes, or made
    by merges before it.
    """
    rank = {}
    for pair in merges:
        rank.setdefault(pair, len(rank))  # if a merge is listed twice, the first counts

    def merged(tokens):
        # Encoding: repeatedly merge the pair of the lowest rank, the leftmost of equal ones.
        while True:
            ranks = [rank.get(pair, math.inf) for pair in zip(tokens, tokens[1:])]
            if not ranks or min(ranks) == math.inf:
                return tokens
            at = ranks.index(min(ranks))
            tokens = [*tokens[:at], tokens[at] + tokens[at + 1], *tokens[at + 2 :]]

    made = {left + right for left, right in merges}
    return {token for token in made if merged([token[at : at + 1] for at in range(len(token))]) != [token]}


def leaves_first(merges, counts, number):
    """Return the tokens that pruning removes, in order: `number` of them, or every merged token if there are fewer.

    `merges` is a list of (left, right) in the order of learning, no token made twice; `counts` maps tokens to how often
    they occur in a corpus, and missing ones count as 0. Of the tokens that aren't part of another, the one with the
    lowest count goes first; ties go to the one learned last. Its count is added to those of its two parts.
    """
    counts = dict(counts)
    left_over = list(merges)
    gone = []
    while left_over and len(gone) < number:
        needed = {part for pair in left_over for part in pair}
        # From the last merge to the first: `min` returns the first of equals, which is then the one learned last.
        leaves = [pair for pair in reversed(left_over) if pair[0] + pair[1] not in needed]
        best = min(leaves, key=lambda pair: counts.get(pair[0] + pair[1], 0))
        token = best[0] + best[1]
        gone.append(token)
        left_over.remove(best)
        # In the text, the token is replaced by its parts: by two of the same kind if it is `aa`, made of `a` and `a`.
        for part in best:
            counts[part] = counts.get(part, 0) + counts.get(token, 0)
    return gone


def new_rows(rows, parts):
    """Return the new embedding: the old rows, and for each new token the mean of the rows of its parts.

    `rows` is a list of rows, each a list of numbers; `parts` has, for each new token, the ids that the old tokenizer
    encodes it to, in the order of the new ids. A token without parts gets the mean of all old rows.
    """
    made = []
    for ids in parts:
        chosen = [rows[token] for token in ids] or rows
        # zip(*chosen) turns rows into columns: the first numbers together, then the second ones, and so on.
        made.append([sum(column) / len(chosen) for column in zip(*chosen)])
    return rows + made


def bits_per_byte(tokens, probabilities):
    """Return the bits per byte of a text, which is not empty.

    `tokens` are its tokens (bytes), and `probabilities` are a model's probabilities of these tokens, none of them 0.
    """
    bits = -sum(math.log2(probability) for probability in probabilities)
    return bits / sum(map(len, tokens))


def _sequences() -> Iterator[tuple[list[int], dict[int, tuple[int, int]]]]:
    yield [], {}
    yield [97, 98], {}
    yield [256], {256: (97, 98)}
    yield [300, 97, 300], {300: (97, 98)}
    yield [302, 301], {300: (97, 98), 301: (300, 99), 302: (301, 301)}
    yield [5, 1025, 1024, 1023], {1024: (5, 6), 1025: (1024, 7)}
    yield [9], {9: (8, 8), 8: (7, 7), 7: (1, 2)}
    for words in CORPORA[7:]:
        steps = list(train_naive(words, 9, 1))
        made_of = {256 + step.rank: (step.left, step.right) for step in steps[4:]}
        for word in words:
            ids = list(word)
            for step in steps:
                ids = replace_pair(ids, (step.left, step.right), 256 + step.rank)
            yield ids, made_of
    yield [2_000], {1_000 + n: (999 + n, 1) for n in range(1, 1_001)} | {1_000: (1, 2)}


def _are_sequences(ids: list[int], made_of: dict[int, tuple[int, int]]) -> bool:
    return min([*ids, *made_of], default=0) >= 0 and all(max(pair) < token for token, pair in made_of.items())


def _merge_lists() -> Iterator[tuple[Merges]]:
    yield ([],)
    yield ([(b"a", b"b")],)
    yield ([(b"r", b"e"), (b"w", b"r"), (b"wr", b"e")],)
    yield ([(b"r", b"e"), (b"w", b"r"), (b"wr", b"e"), (b"w", b"re")],)
    yield ([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"abc", b"d")],)
    yield ([(b"a", b"a"), (b"aa", b"a"), (b"a", b"aa"), (b"aaa", b"aa")],)
    yield ([(b"a", b"b"), (b"c", b"d"), (b"a", b"b"), (b"ab", b"cd")],)
    for first, second in zip(CORPORA[7:], CORPORA[8:]):
        yield (learned_merges(first, 6) + learned_merges(second, 6),)
        yield (learned_merges(second, 6) + learned_merges(first, 6),)
    yield (
        learned_merges({b"red": 3, b"bread": 2, b" ready": 2}, 6)
        + learned_merges({b" wren": 3, b" wrote": 2, b" wreck": 2}, 9),
    )


def _is_merge_list(merges: Merges) -> bool:
    tokens = {bytes([byte]) for byte in range(256)}
    for left, right in merges:
        if not {left, right} <= tokens:
            return False
        tokens.add(left + right)
    return True


def _prunings() -> Iterator[tuple[Merges, dict[bytes, int], int]]:
    low = [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"low", b"er")]
    yield [], {}, 3
    for number in range(5):
        yield low, {b"lower": 2, b"low": 5, b"er": 1}, number
    yield low, {}, 2
    yield low, {b"lower": 9}, 9
    yield [(b"a", b"b"), (b"c", b"d")], {b"ab": 1, b"cd": 1}, 1
    yield [(b"a", b"b"), (b"c", b"d")], {b"ab": 1, b"cd": 2}, 1
    yield [(b"a", b"a"), (b"b", b"c"), (b"aa", b"aa")], {b"aaaa": 2, b"bc": 3}, 2
    yield [(b"a", b"b"), (b"x", b"y"), (b"ab", b"c")], {b"abc": 2, b"xy": 1}, 2
    for words in CORPORA[7:]:
        merges = learned_merges(words, 8)
        if len({left + right for left, right in merges}) == len(merges):
            counts = {left + right: 7 * len(right) % 5 for left, right in merges}
            yield merges, counts, 3
            yield merges, counts, len(merges)


def _are_prunings(merges: Merges, counts: dict[bytes, int], number: int) -> bool:
    tokens = [left + right for left, right in merges]
    return (
        _is_merge_list(merges)
        and len(set(tokens)) == len(tokens)
        and number >= 0
        and min(counts.values(), default=0) >= 0
    )


def _tables() -> Iterator[tuple[list[list[float]], list[list[int]]]]:
    yield [[1.0, 2.0]], []
    yield [[0.0, 0.0], [2.0, 4.0], [4.0, 0.0]], [[1, 2]]
    yield [[0.0, 0.0], [2.0, 4.0], [4.0, 0.0]], [[1], [2, 2], [1, 1, 2, 2]]
    yield [[0.0, 0.0], [2.0, 4.0], [4.0, 0.0]], [[]]
    yield [[0.5], [-1.5], [2.0]], [[0, 1, 2], [2, 0], []]
    yield [[1.0, 2.0, 3.0, 4.0], [0.0, -2.0, 0.5, 8.0]], [[0, 1], [1, 0], [1, 1, 0]]


def _are_tables(rows: list[list[float]], parts: list[list[int]]) -> bool:
    ids = [token for tokens in parts for token in tokens]
    return len({len(row) for row in rows}) == 1 and min(ids, default=0) >= 0 and max(ids, default=0) < len(rows)


def _predictions() -> Iterator[tuple[list[bytes], list[float]]]:
    yield [b"a"], [0.5]
    yield [b"a"], [1.0]
    yield [b"ab"], [0.25]
    yield [b"a", b"b"], [0.5, 0.5]
    yield [b" low", b"er"], [0.125, 0.5]
    yield ["é".encode(), b"t", "é".encode()], [0.001, 0.9, 0.7]
    yield [b" the", b" end", b"."], [0.3, 0.02, 0.95]


def _are_predictions(tokens: list[bytes], probabilities: list[float]) -> bool:
    whole = len(tokens) == len(probabilities) > 0 and all(tokens)
    return whole and all(0 < probability <= 1 for probability in probabilities)


EXERCISES = [
    Exercise(
        "new_words.1",
        "Back to the old ids",
        to_old_ids,
        _sequences,
        (
            "An id that isn't in `made_of` is old, and stays.",
            "A new id becomes its two parts. Look at these again: they may be new.",
            "A recursive function is short, but a token that is made in a thousand steps is too deep for it. A stack "
            "of ids still to be looked at has no such limit.",
        ),
        level="easy",
        next_step="Try it on the page's tokenizers and a text of your own. Why does it hold for every text?",
        is_valid=_are_sequences,
    ),
    Exercise(
        "new_words.2",
        "Never reached",
        unreached,
        _merge_lists,
        (
            "Encode the bytes of each token with all merges, and see whether one token is left, the token itself.",
            "Encoding means: of all neighbours that have a merge, join those of the lowest rank, and begin again.",
            "Two merges may make the same token. It is reached if either of them makes it.",
        ),
        level="medium",
        next_step="Which share of GPT-2's tokens is reached if its merges come after those of the page?",
        is_valid=_is_merge_list,
    ),
    Exercise(
        "new_words.3",
        "Leaves first",
        leaves_first,
        _prunings,
        (
            "A leaf is a token that is not part of any remaining merge. Find the leaves again after each step.",
            "Sort the leaves by (count, minus the number of the merge): the smallest goes.",
            "Take a token's merge out of the list, and add its count to both parts, twice where these are the same.",
        ),
        level="hard",
        next_step="`prune` keeps its leaves in a heap. What has to be pushed when a token goes?",
        is_valid=_are_prunings,
    ),
    Exercise(
        "new_words.4",
        "New rows",
        new_rows,
        _tables,
        (
            "The mean of rows is taken number by number: first numbers with first numbers.",
            "`zip(*rows)` has the columns of some rows.",
            "A part that occurs twice counts twice. No parts: take all old rows in their place.",
        ),
        level="easy",
        next_step=(
            "Multiply the new row with any vector: its logit is the mean of those of its parts, never above the "
            "largest."
        ),
        equal=is_close,
        is_valid=_are_tables,
    ),
    Exercise(
        "new_words.5",
        "Bits per byte",
        bits_per_byte,
        _predictions,
        (
            "A token of probability 1/2 costs one bit, one of 1/4 two: minus the logarithm to the base of 2.",
            "Add up the bits of all tokens.",
            "Divide by the bytes of all tokens together, and not by their number.",
        ),
        level="easy",
        next_step="A model that knows nothing gives each of 256 bytes the same probability. How many bits?",
        equal=is_close,
        is_valid=_are_predictions,
    ),
]
