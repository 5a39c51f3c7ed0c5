"""Rows: which are copied, what the others are made of, and numbers rounded as they have to be."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bpelab import BPETokenizer
from bpelab.adapt import map_rows
from bpelab.adapt.numbers import STORED, from_float64, to_float64
from bpelab.adapt.row_map import MADE, PADDING, row_count, token_keys
from bpelab.adapt.row_rules import ROW_RULES, OldRows
from bpelab.editing import add_superwords, extend, prune
from bpelab.model import BPEModel
from bpelab.notebook import book_text

from ..chat_templates.conftest import characters
from ..conftest import amount, random_merges

TEXT = book_text()[:30_000]


@pytest.fixture(scope="module")
def old():
    plain = BPETokenizer.train(TEXT, 400, pattern="gpt2", special_tokens=["<|end|>", "<|pad|>"])
    return plain.with_options(eos_token="<|end|>", pad_token="<|pad|>")


# -- numbers -----------------------------------------------------------------------------------------------------------


def nearest_bfloat16(value: float) -> int:
    """The bits of the bfloat16 that is nearest to a finite float64, ties to even: by looking at both neighbours."""
    low, high = 0, 0x7F80
    wanted = abs(Fraction(value))
    while high - low > 1:  # the largest that isn't above
        middle = (low + high) // 2
        low, high = (middle, high) if exact(middle) <= wanted else (low, middle)
    below, above = wanted - exact(low), exact(high) - wanted
    bits = low if below < above or (below == above and low % 2 == 0) else high
    return bits | (0x8000 if np.signbit(value) else 0)


def exact(bits: int) -> Fraction:
    """A bfloat16's value; infinity as the number that would come next."""
    return Fraction(2) ** 128 if bits == 0x7F80 else Fraction(float(to_float64(np.array([bits], np.uint16), "BF16")[0]))


@given(st.floats(allow_nan=False, allow_infinity=False) | st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_rounding_to_bfloat16(value):
    assert from_float64(np.array([value]), "BF16")[0] == nearest_bfloat16(value)


@given(st.integers(0, 0xFFFF), st.integers(-2, 2), st.integers(0, 54))
def test_rounding_next_to_a_tie(bits, steps, shift):
    """Half way between two bfloat16, and as little beside it as a float64 can say."""
    if bits & 0x7F80 == 0x7F80:
        return
    low, high = (float(to_float64(np.array([each], np.uint16), "BF16")[0]) for each in (bits, bits ^ 1))
    value = (low + high) / 2 * (1 + steps * 2.0 ** -(52 - shift % 30))
    assert from_float64(np.array([value]), "BF16")[0] == nearest_bfloat16(value)


@pytest.mark.parametrize("kind", STORED)
def test_every_stored_number_is_read_and_written_as_it_is(kind):
    bits = np.arange(1 << 16, dtype=np.uint16)
    if kind in ("F32", "F64"):
        bits = np.frombuffer(np.random.default_rng(0).bytes(1 << 18), STORED[kind])
    stored = bits.view(STORED[kind])
    read = to_float64(stored, kind)
    same = from_float64(read, kind)
    numbers = ~np.isnan(read)
    assert (same[numbers].tobytes(), np.isnan(to_float64(same, kind)).tolist()) == (
        stored[numbers].tobytes(),
        np.isnan(read).tolist(),
    )


# -- the map -----------------------------------------------------------------------------------------------------------


def check(rows, old, new, old_rows):
    """What must hold of every map, token by token."""
    before, after = token_keys(old), token_keys(new)
    assert len(rows.source) >= new.n_vocab
    for row, source in enumerate(rows.source.tolist()):
        if row not in after:
            assert source in (PADDING, row) and row not in rows.parts
            assert source == PADDING or row not in before
        elif source == MADE:
            assert after[row] not in before.values()
            assert b"".join(old.id_to_token(part) for part in rows.parts[row]) == new.id_to_token(row)
        else:
            assert before[source] == after[row] and rows.ids[source] == row
    assert set(rows.removed) == {i for i, key in before.items() if key not in after.values()}
    assert rows.rows_with_token.tolist() == sorted(before)


@pytest.mark.parametrize("seed", range(amount(30, 500)))
def test_random_tokenizers(seed):
    """Hand-made merges on both sides, some shared; ids in any order; special tokens that come, go and move."""
    rng = random.Random(seed)
    merges = random_merges(rng, b"abcd", 40)

    def made(count: int, special: list[str]) -> BPETokenizer:
        chosen = merges[:count]
        tokens = [bytes([byte]) for byte in range(256)] + list(dict.fromkeys(left + right for left, right in chosen))
        ids = rng.sample(range(len(tokens) + 20), len(tokens) + len(special))
        vocab = dict(zip(ids, tokens))
        pattern = rng.choice(("gpt2", "llama3", None))
        names = dict(zip(special, ids[len(tokens) :]))
        return BPETokenizer(BPEModel.from_vocab(vocab, chosen), pattern=pattern, special_tokens=names)

    one, other = made(rng.randint(0, 40), ["<a>", "<b>"]), made(rng.randint(0, 40), ["<b>", "<c>"])
    old_rows = one.n_vocab + rng.choice((0, 0, 7))
    check(map_rows(one, other, old_rows), one, other, old_rows)
    same = map_rows(one, one, old_rows)
    assert same.source[: one.n_vocab].tolist() == list(range(one.n_vocab)) and not same.parts and same.keeps_ids


def test_an_extended_tokenizer_keeps_every_row_and_makes_the_new_ones_of_parts(old):
    new = extend(old, TEXT, 50)
    rows = map_rows(old, new, old.n_vocab)
    check(rows, old, new, old.n_vocab)
    assert rows.keeps_ids and rows.source[: old.n_vocab].tolist() == list(range(old.n_vocab))
    assert (rows.source[old.n_vocab :] == MADE).all() and len(rows.parts) == 50
    for token_id, parts in rows.parts.items():
        token = new.id_to_token(token_id)
        assert list(parts) == old.encode_piece(token)


def test_a_pruned_tokenizer_moves_rows(old):
    gone = {token for token in old.get_vocab() if len(token) > 5 and token[:1] == b" "}
    needed = {part for pair in old.model.merges for part in map(old.model.tokens.get, pair)}
    new, ids, _ = prune(old, remove=gone - needed)
    assert len(new) < len(old)
    rows = map_rows(old, new, old.n_vocab)
    check(rows, old, new, old.n_vocab)
    assert rows.ids == ids and not rows.keeps_ids and not rows.parts
    given = map_rows(old, new, old.n_vocab, ids=ids)
    assert given.source.tolist() == rows.source.tolist() and given.ids == rows.ids


def test_superwords_are_cut_as_text_is(old):
    more = add_superwords(old, TEXT, old.n_vocab + 20)
    rows = map_rows(old, more, old.n_vocab)
    check(rows, old, more, old.n_vocab)
    crossing = [token_id for token_id in rows.parts if b" " in more.id_to_token(token_id)[1:]]
    assert crossing
    for token_id in crossing:
        assert list(rows.parts[token_id]) == old.encode(more.id_to_token(token_id).decode())


def test_a_special_token_is_not_the_text_that_spells_it():
    plain = BPETokenizer(BPEModel.from_merges([(b"<", b"s"), (b"<s", b">")]), pattern=None)
    special = BPETokenizer(BPEModel.from_merges([(b"<", b"s")]), pattern=None, special_tokens={"<s>": 257})
    rows = map_rows(plain, special, 258)
    assert rows.source[257] == MADE and rows.parts[257] == (257,) and rows.removed == (257,)


def test_tokens_of_characters():
    """SentencePiece's kind: byte tokens are no characters, and nothing is put in front of a part."""
    old = characters()
    spaced = [token for token in old.model.tokens.values() if token.startswith("▁".encode())]
    vocab = dict(old.model.tokens) | {old.n_vocab: spaced[5] + spaced[7], old.n_vocab + 1: "é日".encode()}
    model = BPEModel(vocab, old.model.merges, old.model.alphabet, initial_symbols=old.model.initial_symbols)
    new = BPETokenizer(model, **{k: v for k, v in old.spec.arguments().items() if k != "pattern"}, pattern=None)
    rows = map_rows(old, new, old.n_vocab)
    check_copies = rows.source[: old.n_vocab].tolist()
    assert [source for source in check_copies if source >= 0] == sorted(token_keys(old))
    assert [old.model.tokens[part] for part in rows.parts[old.n_vocab]] == [spaced[5], spaced[7]]
    spelled = [old.model.tokens[part] for part in rows.parts[old.n_vocab + 1]]
    assert spelled[-3:] == [b"<0xE6>", b"<0x97>", b"<0xA5>"]


def test_between_tokens_of_characters_and_of_bytes(old):
    """A transplant: the same text is the same token, however spaces are written in the file."""
    other = characters()
    rows = map_rows(other, old, other.n_vocab)
    found = {old.id_to_token(row): source for row, source in enumerate(rows.source.tolist()) if source >= 0}
    assert found[b" the"] == other.model.ids["▁the".encode()] and found[b"a"] == other.model.ids[b"a"]
    assert found[b"\xe6"] == other.model.ids[b"<0xE6>"]
    back = map_rows(old, other, old.n_vocab)
    assert back.source[other.model.ids["▁the".encode()]] == old.token_to_id(b" the")
    made = other.model.ids[b"<0x41>"]
    assert back.source[made] == MADE and back.parts[made] == (old.token_to_id(b"A"),)


def test_ids_beyond_the_rows_have_no_row(old):
    """As in models whose tokenizer knows a token that only another model of the family has a row for."""
    rows = map_rows(old, old, old.n_vocab - 1)
    last = old.n_vocab - 1
    assert rows.source[last] == MADE and rows.ids[last] == last and last not in rows.rows_with_token
    assert rows.parts[last] == tuple(old.encode("<|pad|>"))


def test_arguments_that_are_wrong(old):
    for ids, message in (
        ({1: 9_999}, "the new tokenizer has no id 9999"),
        ({9_999: 1}, "the old tokenizer has no id 9999"),
        ({1: 1, 2: 1}, "maps both 1 and 2 to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            map_rows(old, old, old.n_vocab, ids=ids)
    with pytest.raises(ValueError, match="from 1 up"):
        row_count(5, 5, 5, 0)
    with pytest.raises(TypeError, match="an integer"):
        row_count(5, 5, 5, 2.5)


def test_a_token_that_the_old_tokenizer_can_not_write_gets_the_average(old):
    """Characters without byte tokens and without an unknown token: what is missing is dropped."""
    vocab = {token_id: token for token_id, token in characters().model.tokens.items() if token in (b"a", b"b", b"c")}
    initial_symbols = type(characters().model.initial_symbols)(characters=True)
    few = BPETokenizer(
        BPEModel(
            vocab, {}, initial_symbols.alphabet({t: i for i, t in vocab.items()}), initial_symbols=initial_symbols
        ),
        pattern=None,
    )
    more = BPETokenizer(
        BPEModel(
            {**vocab, 2_000: b"z"},
            {},
            initial_symbols.alphabet({**{t: i for i, t in vocab.items()}, b"z": 2_000}),
            initial_symbols=initial_symbols,
        ),
        pattern=None,
    )
    rows = map_rows(few, more, few.n_vocab)
    assert rows.parts == {2_000: ()}


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STORED)
def test_rules_against_plain_python(kind):
    random_ = np.random.default_rng(1)
    values = random_.standard_normal((9, 4)).astype(np.float32)
    stored = (values.view(np.uint32) >> 16).astype("<u2") if kind == "BF16" else values.astype(STORED[kind])
    known = np.array([0, 1, 2, 4, 5, 6, 7], np.int64)
    parts = [(1, 2), (5,), (), (7, 7, 0)]
    table = to_float64(stored, kind).tolist()
    average = [sum(table[row][column] for row in known) / len(known) for column in range(4)]
    means = [
        [sum(table[row][column] for row in ids) / len(ids) for column in range(4)] if ids else average for ids in parts
    ]
    made = {
        name: rule(OldRows(stored.__getitem__, kind, known), parts, np.random.default_rng(5))
        for name, rule in ROW_RULES.items()
    }
    assert np.allclose(made["mean"], means, rtol=1e-15, atol=0)
    assert np.allclose(made["average"], [average] * 4, rtol=1e-14, atol=1e-16)
    apart = made["normal"] - average
    assert 0 < np.abs(apart).max() < 1e-3 and len({tuple(row) for row in made["normal"].tolist()}) == 4


def test_normal_has_the_covariance_of_the_rows():
    random_ = np.random.default_rng(2)
    rows = random_.standard_normal((400, 3)) @ np.array([[1, 0.5, 0], [0, 2, 0.3], [0, 0, 0.1]])
    old = OldRows(rows.__getitem__, "F64", np.arange(400))
    drawn = (ROW_RULES["normal"](old, [()] * 40_000, np.random.default_rng(3)) - old.average) / np.sqrt(1e-9)
    wanted = np.cov(rows.T, bias=True)
    assert np.allclose(np.cov(drawn.T), wanted, atol=0.05 * np.abs(wanted).max())
