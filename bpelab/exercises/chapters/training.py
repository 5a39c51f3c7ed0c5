"""The exercises of *Training*."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...model.trace import TrainStep
from ...notebook.messages import code
from ...trainers.naive import count_pairs, replace_pair, train_naive
from ...unicode.byte_alphabet import to_alphabet
from ..exercise import Exercise
from ..fixtures import CORPORA, all_pieces

Words = dict[bytes, int]


def room_for_merges(vocab_size: int, special_tokens: list[str]) -> int:
    """Return how many merges fit into `vocab_size`; -1 when not even the other tokens fit.

    room_for_merges(1000, ["<|end|>"]) is 743.
    """
    return max(vocab_size - 256 - len(special_tokens), -1)


def corpus_sizes(words: dict[bytes, int], steps: list) -> list[int]:
    """Return the number of tokens in the corpus before any merge, then after each step.

    corpus_sizes({b"abab": 2}, list(train_naive({b"abab": 2}, 2))) is [8, 4, 2].
    """
    sequences = [(list(word), occurrences) for word, occurrences in words.items()]
    sizes = [sum(len(ids) * occurrences for ids, occurrences in sequences)]
    for step in steps:
        pair, new = (step.left, step.right), 256 + step.rank
        sequences = [(replace_pair(ids, pair, new), occurrences) for ids, occurrences in sequences]
        sizes.append(sum(len(ids) * occurrences for ids, occurrences in sequences))
    return sizes


def count_without_overlaps(sequences: list[tuple[list[int], int]]) -> dict[tuple[int, int], int]:
    """Return {pair: how often it would be replaced}, over all sequences.

    count_without_overlaps([([97] * 5, 1)]) is {(97, 97): 2}.
    """
    counts: dict[tuple[int, int], int] = {}
    for ids, occurrences in sequences:
        free: dict[tuple[int, int], int] = {}  # pair -> the first place that no earlier merge has taken
        for position, pair in enumerate(zip(ids, ids[1:])):
            if position >= free.get(pair, 0):
                counts[pair] = counts.get(pair, 0) + occurrences
                free[pair] = position + 2
    return counts


def train_first_seen(words: dict[bytes, int], num_merges: int) -> list[bytes]:
    """Return the tokens learned, in order; ends early when no pair occurs twice.

    train_first_seen({b"zy": 4, b"ab": 4}, 2) is [b"zy", b"ab"].
    """
    sequences = [(list(word), occurrences) for word, occurrences in words.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    for rank in range(num_merges):
        counts = count_pairs(sequences)
        if not counts or max(counts.values()) < 2:
            break
        pair = max(counts, key=counts.__getitem__)  # the first of equals, and a dict keeps the order of arrival
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        sequences = [(replace_pair(ids, pair, 256 + rank), occurrences) for ids, occurrences in sequences]
    return tokens[256:]


def train_in_alphabet_order(words: dict[bytes, int], num_merges: int) -> list[tuple[bytes, bytes]]:
    """Return the merges as pairs of byte strings; ends early when no pair occurs twice.

    train_in_alphabet_order({b" a": 4, b"bc": 4}, 2) is [(b"b", b"c"), (b" ", b"a")].
    """
    sequences = [(list(word), occurrences) for word, occurrences in words.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    order = [ord(to_alphabet(token)) for token in tokens]
    merges = []
    for rank in range(num_merges):
        counts = count_pairs(sequences)
        if not counts or max(counts.values()) < 2:
            break
        left, right = min(counts, key=lambda pair: (-counts[pair], order[pair[0]], order[pair[1]]))
        merges.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
        order.append(1000 + rank)  # after every character of the alphabet
        sequences = [(replace_pair(ids, (left, right), 256 + rank), occurrences) for ids, occurrences in sequences]
    return merges


def _sizes() -> Iterator[tuple[int, list[str]]]:
    for special in ([], ["<|end|>"], ["<|end|>", "<|pad|>", "<|user|>"]):
        for size in (0, 255, 256, 257, 258, 259, 260, 300, 1000, 50_257):
            yield size, special


def _replays() -> Iterator[tuple[Words, list[TrainStep]]]:
    for words in CORPORA:
        for num_merges in (0, 1, 2, 5, 20):
            yield words, list(train_naive(words, num_merges, 1))


def _is_replay(words: Words, steps: list[TrainStep]) -> bool:
    return _are_words(words) and steps == list(train_naive(words, len(steps), 1))


def _show_replay(name: str, words: Words, steps: list[TrainStep]) -> str:
    return f"{name}({code(words)}, list(train_naive({code(words)}, {len(steps)}, 1)))"


def _sequences() -> Iterator[tuple[list[tuple[list[int], int]]]]:
    for piece in all_pieces(b"ab", 6):
        yield ([(list(piece), 1)],)
    for words in CORPORA:
        yield ([(list(word), occurrences) for word, occurrences in words.items()],)


def _corpora() -> Iterator[tuple[Words, int]]:
    for words in CORPORA:
        for num_merges in (0, 1, 2, 4, 30):
            yield words, num_merges
    tied = dict.fromkeys((b"\xe9a", b"ab", b" b", b"\nb", b"ba", b" a", b"ab c", b"\xc3\xa9\xc3\xa0"), 2)
    for num_merges in range(1, 12):
        yield tied, num_merges


def _are_words(words: Words, *others: Any) -> bool:
    return all(word and occurrences > 0 for word, occurrences in words.items())


def train(words, vocab_size):
    """Return the vocabulary that training learns: a dict of token (bytes) -> id.

    `words` is a dict of piece (bytes) -> how often it occurs. Ids 0 to 255 are the bytes, and each
    merge makes the next id. Of pairs that occur equally often, the one with the smaller left id
    merges, then the one with the smaller right id. Ends early when no pair occurs twice.

    train({b"abab": 2}, 258) has 258 tokens; the last two are b"ab": 256 and b"abab": 257.
    """
    vocab = {bytes([byte]): byte for byte in range(256)}
    sequences = [([bytes([byte]) for byte in word], occurrences) for word, occurrences in words.items()]
    while len(vocab) < vocab_size:
        counts = Counter()
        for tokens, occurrences in sequences:
            for pair in zip(tokens, tokens[1:]):
                counts[pair] += occurrences
        if not counts or max(counts.values()) < 2:
            break
        left, right = min(counts, key=lambda pair: (-counts[pair], vocab[pair[0]], vocab[pair[1]]))
        vocab[left + right] = len(vocab)
        for tokens, _ in sequences:
            for index in range(len(tokens) - 1):  # the list gets shorter on the way, so look before each step
                if tokens[index : index + 2] == [left, right]:
                    tokens[index : index + 2] = [left + right]
    return vocab


def _words_and_sizes() -> Iterator[tuple[dict[bytes, int], int]]:
    yield {}, 300
    for words in CORPORA:
        for size in (256, 257, 258, 262):
            yield words, size


EXERCISES = [
    Exercise(
        "training.1",
        "Room for merges",
        room_for_merges,
        _sizes,
        (
            "There are 256 bytes, whatever the text is.",
            "What the bytes and the special tokens leave is for merges; below 0 means -1.",
        ),
        level="easy",
        next_step="Many models round the vocabulary up to a multiple of 64, for the shape of their matrices.",
    ),
    Exercise(
        "training.2",
        "The corpus shrinks",
        corpus_sizes,
        _replays,
        (
            "Make the sequences as the page does: [(list(word), n) for word, n in words.items()].",
            "The size of the corpus is the sum of len(ids) * n. The new token of a step is 256 + step.rank.",
        ),
        level="medium",
        next_step="Divide each size by the first one: how many merges halve the corpus?",
        is_valid=_is_replay,
        format_call=_show_replay,
    ),
    Exercise(
        "training.3",
        "What would merge",
        count_without_overlaps,
        _sequences,
        (
            "Two places of one pair can only overlap in a run, where both of its tokens are the same.",
            "Go from left to right. Having counted a pair at a place, don't count the same pair at the next one.",
        ),
        level="medium",
        next_step="Train with these counts instead of `count_pairs`, on a text full of `=====`: runs are merged later.",
        is_valid=lambda sequences: all(occurrences > 0 for _, occurrences in sequences),
    ),
    Exercise(
        "training.4",
        "First seen",
        train_first_seen,
        _corpora,
        (
            "count_pairs returns a dict, and a dict keeps the order in which its keys came.",
            "Of equals, max(counts, key=counts.get) returns the first. Stop when its count is below 2.",
        ),
        level="medium",
        next_step="Put the same words into another order: these tokens change, and those of the library's rule don't.",
        is_valid=_are_words,
    ),
    Exercise(
        "training.5",
        "Hugging Face's order",
        train_in_alphabet_order,
        _corpora,
        (
            "Keep a list `order`: for each id what decides ties. A byte has ord(to_alphabet(bytes([byte]))).",
            "A learned token's number must be larger than any byte's, which end at 323, and grow with its rank.",
            "min(counts, key=lambda pair: (-counts[pair], order[pair[0]], order[pair[1]])) is the pair.",
        ),
        level="hard",
        next_step="If you have `tokenizers`, train it on the same words and compare the two lists.",
        is_valid=_are_words,
    ),
    Exercise(
        "training.6",
        "Your tokenizer: train",
        train,
        _words_and_sizes,
        (
            "Keep each word as a list of tokens, single bytes at first, beside how often it occurs.",
            "In a loop: count the pairs, take the most frequent, give the joined token the id len(vocab), merge it.",
            "min(counts, key=lambda pair: (-counts[pair], vocab[pair[0]], vocab[pair[1]])) finds the pair.",
        ),
        level="hard",
        next_step=(
            'Your file can train. Time it on the book\'s text; "Incremental training" shows where that time goes.'
        ),
        observe=lambda vocab, *arguments: [*vocab.items()][256:] if len(vocab) > 256 else len(vocab),
        is_valid=lambda words, size: size >= 256,
    ),
]
