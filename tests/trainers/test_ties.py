"""Ties as minbpe and CS336 break them, compared with trainers that count everything anew and take Python's `max`."""

import random
from collections import Counter

import pytest

from bpelab import BPETokenizer
from bpelab.notebook import book_text
from bpelab.trainers import train_naive
from bpelab.trainers.naive import count_pairs, replace_pair
from bpelab.trainers.ties import train_with_ties

from ..conftest import amount


def by_max(words, num_merges, least, ties):
    """The rule of each library in its own words: minbpe's `max` keeps the first, CS336 asks for the greatest pair."""
    sequences = [(list(word), number) for word, number in words.items()]
    tokens, merges = [bytes([byte]) for byte in range(256)], []
    while len(merges) < num_merges and (counts := count_pairs(sequences)):
        if ties == "minbpe":
            pair = max(counts, key=counts.get)
        else:
            pair = max(counts, key=lambda pair: (counts[pair], tokens[pair[0]], tokens[pair[1]]))
        if counts[pair] < least:
            break
        merges.append((tokens[pair[0]], tokens[pair[1]]))
        sequences = [(replace_pair(ids, pair, len(tokens)), number) for ids, number in sequences]
        tokens.append(b"".join(merges[-1]))
    return merges


def learned(words, num_merges, least, ties):
    tokens, merges = [bytes([byte]) for byte in range(256)], []
    for step in train_with_ties(words, num_merges, least, ties=ties):
        merges.append((tokens[step.left], tokens[step.right]))
        tokens.append(step.token)
    return merges


@pytest.mark.parametrize("ties", ["minbpe", "cs336"])
def test_against_max(ties):
    rng = random.Random(90)
    for _ in range(amount(150, 5_000)):
        letters = rng.choice((b"ab", b"abc", b"abcdefgh"))
        words = Counter(bytes(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(rng.randint(1, 30)))
        assert learned(words, 40, 1, ties) == by_max(words, 40, 1, ties), words
    words = Counter(word.encode() for word in book_text()[:8_000].split())
    assert learned(words, 200, 2, ties) == by_max(words, 200, 2, ties)


def test_the_order_of_the_other_trainers():
    words = Counter(word.encode() for word in book_text()[:8_000].split())
    ours = list(train_with_ties(words, 200, ties="ids"))
    assert ours == list(train_naive(words, 200))
    counted = [step.counts for step in train_with_ties(words, 9, keep_counts=True, ties="ids")]
    assert counted == [step.counts for step in train_naive(words, 9, keep_counts=True)]


def test_the_example_of_the_handout():
    """Its corpus, and the six merges that it names."""
    text = "low low low low low lower lower widest widest widest newest newest newest newest newest newest"
    ours = BPETokenizer.train(text, 262, pattern=r"\S+", ties="cs336")
    pairs = ["s t", "e st", "o w", "l ow", "w est", "n e"]
    tokens = ours.model.tokens
    assert [b" ".join((tokens[a], tokens[b])).decode() for a, b in ours.model.merges] == pairs


def test_names():
    with pytest.raises(ValueError, match=r"ties is one of ids, minbpe, cs336, not 'cs33': did you mean cs336\?"):
        BPETokenizer.train("low", 260, ties="cs33")
    with pytest.raises(ValueError, match="ties is one of"):
        BPETokenizer.train("low", 260, ties=3)
    with pytest.raises(ValueError, match="has a trainer of its own; leave out trainer='native'"):
        BPETokenizer.train("low", 260, ties="minbpe", trainer="native")
