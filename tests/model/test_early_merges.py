"""One pair a token: a list of these merges every text as the table does, also if tokens rank before their parts."""

import random
from collections.abc import Iterator
from itertools import product

import pytest

from bpelab import BPEModel, ConversionError
from bpelab.encoders.naive import NaiveEncoder
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.model.merge_recovery import merge_pairs
from bpelab.model.rank_merges import RankMerges

from ..conftest import amount, random_ranks
from ..encoders.test_encoders import defined
from ..native.model_files import last_merged


def texts(letters: str, longest: int) -> Iterator[bytes]:
    """Every text of so many letters."""
    return ("".join(text).encode() for size in range(1, longest + 1) for text in product(letters, repeat=size))


def listed(model: BPEModel) -> BPEModel:
    """The model with the merges that a file would list."""
    pairs, tokens = merge_pairs(model), model.tokens
    merges = {(a, b): (rank, model.ids[tokens[a] + tokens[b]]) for rank, (a, b) in enumerate(pairs)}
    return BPEModel(tokens, merges, model.alphabet, False, model.initial_symbols)


def scored(scores: dict[str, int]) -> BPEModel:
    """A table of characters, as SentencePiece's: the lower number merges first, and several may share one."""
    tokens = {token_id: text.encode() for token_id, text in enumerate(scores)}
    ids = {token: token_id for token_id, token in tokens.items()}
    alphabet = {token: token_id for token, token_id in ids.items() if len(token) == 1}
    merges = RankMerges(tokens, ids, dict(enumerate(scores.values())))
    return BPEModel(tokens, merges, alphabet, False, InitialSymbols(characters=True))


def test_one_pair_for_each_token_is_enough():
    rng, early = random.Random(39), 0
    for _ in range(amount(25, 500)):
        model = BPEModel.from_ranks(random_ranks(rng, b"abc", 12), ignore_merges=False)
        found = model.recovered_merges
        for token_id, token in model.tokens.items():
            if len(token) > 1:
                assert found.splits.get(token_id) == last_merged(model, token_id), token
                assert (token_id in found.unreachable) == (token_id not in found.splits)
        early += found.early
        assert list(found.splits) == sorted(found.splits)
        ours = listed(model)
        for text in texts("abc", amount(6, 8)):
            assert defined(ours, text) == defined(model, text), (text, model)
    assert early > 10


def test_equal_scores_and_early_merges():
    rng, refused, early = random.Random(40), 0, 0
    count = amount(150, 3_000)
    for _ in range(count):
        words = {"".join(rng.choices("ab", k=rng.randint(2, 5))) for _ in range(rng.randint(2, 7))}
        model = scored(dict.fromkeys("ab", 0) | {word: rng.randint(0, 6) for word in sorted(words)})
        try:
            ours = listed(model)
        except ConversionError as error:
            assert "have the same score" in str(error)
            refused += 1
            continue
        early += model.recovered_merges.early > 0
        for text in texts("ab", amount(8, 10)):
            assert defined(ours, text) == defined(model, text), (text, model)
    assert 0 < refused < count / 2 and early > 10


def test_a_part_of_an_earlier_token_shares_its_score():
    """Of "ab" and "xc" no order is proved: between two of them "abx" may take the x."""
    scores = dict.fromkeys("abxc", 0) | {"abx": 1, "ab": 2, "xc": 2}
    with pytest.raises(ConversionError, match="'ab' and 'xc' have the same score"):
        merge_pairs(scored(scores))
    ours = scored(scores | {"xc": 3})
    assert ours.recovered_merges.early == 1
    assert all(defined(listed(ours), text) == defined(ours, text) for text in texts("abxc", 5))


@pytest.mark.parametrize("go_on", [b"", b"##"])
def test_an_early_token_takes_the_part_of_another(go_on):
    """Of bc and d, bcd is made at once. So abcd, of abc and d, never is."""
    letters = [b"a", *(go_on + letter for letter in (b"b", b"c", b"d"))]
    ids = {token: at for at, token in enumerate([*letters, go_on + b"bcd", go_on + b"bc", b"abc", b"abcd"])}
    merges = {(5, 3): (0, 4), (1, 2): (1, 5), (0, 5): (2, 6), (6, 3): (3, 7)}
    symbols = InitialSymbols(characters=True, prefix=go_on)
    tokens = {token_id: token for token, token_id in ids.items()}
    model = BPEModel(tokens, merges, {token: ids[token] for token in letters}, False, symbols)
    assert NaiveEncoder(model).encode_piece(b"abcd") == [0, 4]
    assert model.recovered_merges == ({4: (5, 3), 5: (1, 2), 6: (0, 5)}, {4: 0, 5: 1, 6: 2}, (7,), 1)


def test_tokens_with_a_prefix():
    """Merges in any order, of tokens that say that they go on with a word."""
    rng, early = random.Random(41), 0
    for _ in range(amount(150, 3_000)):
        tokens = ["a", "b", "##a", "##b"]
        for _ in range(rng.randint(1, 6)):
            after = [token for token in tokens if token.startswith("##")]
            tokens.append(rng.choice(tokens) + rng.choice(after)[2:])
        ids = {token.encode(): token_id for token_id, token in enumerate(dict.fromkeys(tokens))}
        pairs = [(left, right) for left in ids for right in ids if right[:2] == b"##" and left + right[2:] in ids]
        rng.shuffle(pairs)
        merges = {(ids[a], ids[b]): (rank, ids[a + b[2:]]) for rank, (a, b) in enumerate(pairs)}
        alphabet = {token.encode(): ids[token.encode()] for token in tokens[:4]}
        symbols = InitialSymbols(characters=True, prefix=b"##")
        model = BPEModel({token_id: token for token, token_id in ids.items()}, merges, alphabet, False, symbols)
        found = model.recovered_merges
        fewer = {pair: (found.rank_of[new], new) for new, pair in found.splits.items()}
        ours = BPEModel(model.tokens, fewer, alphabet, False, symbols)
        early += found.early
        for text in texts("ab", 7):
            assert NaiveEncoder(ours).encode_piece(text) == NaiveEncoder(model).encode_piece(text), (text, model)
    assert early > 10
