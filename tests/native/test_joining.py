"""Joining the bytes of tokens, in C and in Python, against `decoding.join_tokens`."""

import random
from operator import index

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer, UnknownTokenError, native
from bpelab.core.detokenize import join_tokens
from bpelab.core.token_bytes import CHUNK, IDS_A_TOKEN, LONG_ENOUGH, TokenDecoder
from bpelab.model.lazy_model import ModelColumns

from ..conftest import amount, needs_extension

INLINE_BYTES = 15
"""Bytes of the longest token that is stored in its row; see decode.h."""
INVALID_IDS = (299, 300, 301, 2**31, 2**32, 2**63, 2**64, 2**70, -1, -(2**63))
SIZES = (0, 1, 7, 8, 9, INLINE_BYTES, INLINE_BYTES + 1, 17, 23, 24, 31, 32, 33, 200)


def random_tokens(rng: random.Random) -> dict[int, bytes]:
    """Ids with holes between them; any bytes, so that characters are spread over tokens and many are no UTF-8."""
    text = "aé日😀 the\n".encode()
    tokens = {}
    for token_id in rng.sample(range(300), rng.randint(1, 200)):
        size = rng.choice(SIZES)
        tokens[token_id] = rng.choice([rng.randbytes(size), (text * 20)[rng.randrange(9) :][:size]])
    return tokens


def decoder_of(tokens, special, in_c):
    """In C from the first list on, or never."""
    if in_c and native.extension() is None:
        pytest.skip("the extension was not built: no C compiler")
    decoder = TokenDecoder(lambda: tokens, special)
    decoder._before_native = 0 if in_c else 1 << 60
    return decoder


def slow(ids, tokens, special, unknown, skip):
    ids = [index(i) for i in ids]
    kept = [i for i in ids if i not in special] if skip else ids
    try:
        return b"".join(join_tokens(kept, tokens, unknown))
    except UnknownTokenError as error:
        return str(error)


def fast(decoder, ids, unknown, skip):
    try:
        return bytes(decoder.join(ids, unknown, skip))
    except UnknownTokenError as error:
        return str(error)


@pytest.mark.parametrize("in_c", [True, False])
def test_as_token_by_token(in_c):
    rng = random.Random(1)
    for _ in range(amount(150, 5_000)):
        tokens = random_tokens(rng)
        special = rng.sample(sorted(tokens), rng.randint(0, min(3, len(tokens))))
        decoder = decoder_of(tokens, special, in_c)
        for _ in range(12):
            ids = rng.choices(list(tokens), k=rng.choice([0, 1, 5, LONG_ENOUGH - 1, LONG_ENOUGH, 300]))
            if ids and rng.random() < 0.3:
                ids[rng.randrange(len(ids))] = rng.choice(INVALID_IDS)
            unknown, skip = rng.choice(["error", "replace", "skip"]), rng.random() < 0.5
            expected = slow(ids, tokens, special, unknown, skip)
            assert fast(decoder, ids, unknown, skip) == expected
            assert fast(decoder, tuple(ids), unknown, skip) == expected
            if all(-(2**63) <= i < 2**63 for i in ids):
                assert fast(decoder, np.array(ids, np.int64), unknown, skip) == expected
                assert fast(decoder, [np.int64(i) if rng.random() < 0.1 else i for i in ids], unknown, skip) == expected


@pytest.mark.parametrize("in_c", [True, False])
def test_every_kind_of_array(in_c):
    rng = random.Random(2)
    tokens = {i: rng.randbytes(rng.choice(SIZES)) for i in range(128)}
    decoder = decoder_of(tokens, (), in_c)
    ids = rng.choices(range(128), k=3 * LONG_ENOUGH)
    expected = b"".join(map(tokens.__getitem__, ids))
    for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">u2", ">i4", ">u8", "<u4"):
        plain = np.array(ids, kind)
        wide = np.repeat(plain, 3)
        frozen = plain.copy()
        frozen.flags.writeable = False
        for one in (plain, wide[::3], plain[::-1][::-1], frozen, np.ma.array(plain)):
            assert fast(decoder, one, "error", False) == expected, kind
    huge = np.array([1] * 200 + [2**64 - 1], np.uint64)
    assert "the id 18446744073709551615 (position 200" in fast(decoder, huge, "error", False)
    for wrong in (np.ones(200), np.ones(200, bool), np.ones((20, 10), int), np.ones((200, 1), int), np.array(1)):
        with pytest.raises(TypeError):
            decoder.join(wrong)


@pytest.mark.parametrize("in_c", [True, False])
@pytest.mark.parametrize("bad", [True, False, 1.0, 0.0, "5", b"5", None, [1], np.float64(1), np.True_, 1 + 0j])
def test_what_is_no_id_in_a_long_list(in_c, bad):
    decoder = decoder_of({i: b"%d" % i for i in range(128)}, (), in_c)
    for place in (0, 57, 299):
        ids = [*range(100)] * 3
        ids[place] = bad
        with pytest.raises(TypeError, match=f"at position {place} "):
            decoder.join(ids)


def test_tokens_as_arrays():
    """As a model has them that was read from the cache: added tokens above and below its ids, and silent ones."""
    if native.extension() is None:
        pytest.skip("the extension was not built: no C compiler")
    rng = random.Random(6)
    for _ in range(amount(60, 2_000)):
        tokens = random_tokens(rng)
        columns = ModelColumns.of_tokens(tokens.keys(), tokens.values(), None)
        added = {rng.randrange(600): rng.randbytes(rng.choice(SIZES)) for _ in range(rng.randrange(5))}
        everything = {**added, **tokens}
        special = rng.sample(sorted(everything), rng.randint(0, min(4, len(everything))))
        decoder = TokenDecoder(everything.copy, special, columns, added)
        for _ in range(12):
            given = rng.choices(list(everything), k=rng.choice([0, 1, 5, 300]))
            if given and rng.random() < 0.3:
                given[rng.randrange(len(given))] = rng.choice(INVALID_IDS)
            unknown, skip = rng.choice(["error", "replace", "skip"]), rng.random() < 0.5
            assert fast(decoder, given, unknown, skip) == slow(given, everything, special, unknown, skip)


def test_long_lists_in_python():
    rng = random.Random(3)
    tokens = {i: rng.randbytes(i % 40) for i in range(1_000)}
    ids = rng.choices(range(1_000), k=2 * CHUNK + 1)
    assert TokenDecoder(lambda: tokens, ()).join(ids) == b"".join(join_tokens(ids, tokens))


def test_ids_far_apart_are_left_to_python():
    """A row for each id below the highest one would fill the memory."""
    tokens = {0: b"a", 1: b"bc", 2**28 - 1: b"d", 2**60: b"e"}
    decoder = decoder_of(tokens, [1], in_c=True)
    assert native.decoder_for(tokens) is None and native.decoder_for({0: b"a", 60_000: b"b"}) is not None
    ids = [0, 1, 2**28 - 1, 2**60] * LONG_ENOUGH
    assert decoder.join(ids) == b"abcde" * LONG_ENOUGH
    assert decoder.join(np.array(ids), skip=True) == b"ade" * LONG_ENOUGH


@pytest.mark.parametrize("encoder", ["auto", "native"])
def test_through_a_tokenizer(encoder):
    if encoder == "native":
        needs_extension()
    model = BPEModel.from_merges([(b"\xe2", b"\x82"), (b"a", b"b"), (b"ab", b"ab")])
    tokenizer = BPETokenizer(model, special_tokens={"<|é|>": 300, "<pad>": 301}, pad_token="<pad>", encoder=encoder)
    rng = random.Random(4)
    for _ in range(amount(100, 3_000)):
        ids = rng.choices([97, 98, 0xE2, 0x82, 0xAC, 0xFF, 256, 257, 258, 300], k=rng.choice([3, 99, 100, 400]))
        data = b"".join(join_tokens(ids, tokenizer.decode_pipeline.token_bytes))
        for given in (ids, np.array(ids, np.uint16)):
            assert tokenizer.decode_bytes(given) == data and type(tokenizer.decode_bytes(given)) is bytes
            for errors in ("replace", "ignore", "surrogateescape", "backslashreplace"):
                assert tokenizer.decode(given, errors=errors) == data.decode("utf-8", errors)
            if b"\xff" in data:
                with pytest.raises(UnicodeDecodeError) as caught:
                    tokenizer.decode(given, errors="strict")
                assert caught.value.object == data
            kept = tokenizer.decode([i for i in ids if i != 300])
            assert tokenizer.decode(given, skip_special_tokens=True) == kept
            rows = [[301, *ids, 301, 301], ids, [301], []]
            assert tokenizer.decode_batch(rows) == [data.decode("utf-8", "replace")] * 2 + [""] * 2
        with pytest.raises(ValueError, match="unknown is"):
            tokenizer.decode(ids, unknown="ignore")


def test_in_c_only_where_it_pays():
    decoder = TokenDecoder(lambda: dict.fromkeys(range(200), b"a"), ())
    for _ in range(IDS_A_TOKEN * 200 // 400):
        assert "_native" not in vars(decoder)
        assert decoder.join([0] * 400) == b"a" * 400
        assert decoder.join([0]) == b"a"
    assert decoder.join([0] * 400) == b"a" * 400 and "_native" in vars(decoder)
