"""StreamDecoder: whatever the ids and the cuts, the text is that of `decode`; and it never stalls."""

import asyncio
import json
import random

import pytest
from hypothesis import given, strategies as st

from bpelab import BPEModel, BPETokenizer, StreamDecoder, UnknownTokenError
from bpelab.decoders import BPEDecoder, ByteFallback, Decoder, DecoderSequence, Fuse, Metaspace, Replace, Strip
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.notebook import book_text
from bpelab.regex.matchers import Pattern

from ..conftest import amount, encoding
from ..decoders.test_decoders import PIECES, random_pair
from ..formats import random_zoo
from ..formats.families import families
from .streams import check_decoding

FAMILIES = families()
REST_OF_CHARACTERS = (b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\x90\x80\x80", b"\xa0\x80")
BYTES = [0x61, 0x80, 0xBF, 0xC0, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xED, 0xA0, 0xF0, 0x9F, 0x98, 0xF4, 0x90, 0xF5, 0xFF]


@pytest.fixture(scope="module")
def small() -> BPETokenizer:
    return BPETokenizer.train(book_text()[:60_000], 600, special_tokens=["<|end|>"])


def of_pieces(decoder: Decoder | None) -> BPETokenizer:
    """A tokenizer whose tokens are the pieces on which decoders are tried."""
    tokens = {number: piece.encode() for number, piece in enumerate(filter(None, PIECES))}
    model = BPEModel(tokens, {}, {}, initial_symbols=InitialSymbols(characters=True))
    return BPETokenizer(model, pattern=None, decoder=decoder)


@given(st.lists(st.one_of(st.sampled_from(BYTES), st.integers(0, 599)), max_size=12))
def test_any_ids(small, ids):
    check_decoding(small, random.Random(len(ids)), ids)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_random_ids(name):
    """Most of them make no text; bytes that make no character are often among them."""
    tokenizer, rng = BPETokenizer.from_tiktoken(encoding(name)), random.Random(name)
    single = [tokenizer.token_to_id(bytes([byte])) for byte in BYTES]
    for _ in range(amount(300, 20_000)):
        ids = [rng.choice(single) if rng.random() < 0.6 else rng.randrange(50_000) for _ in range(rng.randint(0, 20))]
        check_decoding(tokenizer, rng, ids)


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(FAMILIES[name]))
    tokenizer, rng = BPETokenizer.from_pretrained(tmp_path), random.Random(name)
    for _ in range(amount(30, 20_000)):
        check_decoding(tokenizer, rng, random_zoo.random_ids(rng, FAMILIES[name]), rng.random() < 0.5)
    ids = tokenizer.encode(book_text()[:1_000])
    check_decoding(tokenizer, rng, ids)


def test_random_decoders():
    """One of each class, and sequences of up to five, on tokens that each of them does something to."""
    rng = random.Random(8)
    for _ in range(amount(300, 20_000)):
        decoders = [random_pair(rng)[0] for _ in range(rng.choice((1, 1, 2, 3, 5)))]
        if rng.random() < 0.4:
            decoders.append(Strip(rng.choice(" a▁"), rng.randint(0, 2), rng.randint(0, 3)))
        tokenizer = of_pieces(None if rng.random() < 0.03 else DecoderSequence(tuple(decoders)))
        spelled = [n for n, token in tokenizer.model.tokens.items() if token.startswith(b"<0x")]
        for _ in range(12):
            pools = (range(len(tokenizer)), spelled)
            check_decoding(tokenizer, rng, [rng.choice(rng.choice(pools)) for _ in range(rng.randint(0, 9))])


def test_nothing_stalls(small):
    """Never more than three bytes are held, and only those that may become a character."""
    rng, decoder = random.Random(3), StreamDecoder(small)
    for _ in range(amount(4_000, 400_000)):
        decoder.push(rng.choice(BYTES))
        held = decoder.pending
        assert len(held) <= 3
        assert not held or any(
            _completes(held + more) for more in (b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\x90\x80\x80", b"\xa0\x80")
        )


def _completes(data: bytes) -> bool:
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def test_spelled_bytes_come_as_soon_as_they_are_spoilt():
    tokenizer = of_pieces(ByteFallback())
    number = {token.decode(): n for n, token in tokenizer.model.tokens.items()}
    decoder = StreamDecoder(tokenizer)
    shown = [
        decoder.push(number[token])
        for token in ("<0xE4>", "<0xB8>", "<0xad>", "<0x61>", "<0xFF>", "<0x61>", "a", "<0xC3>")
    ]
    assert shown == ["", "", "", "", "\ufffd" * 5, "\ufffd", "a", ""]
    assert decoder.pending == b"\xc3"
    assert decoder.finish() == "\ufffd"
    assert [decoder.push(number[token]) for token in ("<0xC3>", "<0xA9>", "a")] == ["", "", "éa"]


@pytest.mark.parametrize(
    "decoders",
    [
        (),
        (BPEDecoder("e"), BPEDecoder("▁")),
        (BPEDecoder("e"), Replace(Pattern("String", "th"), "a")),
        (BPEDecoder("e"), Metaspace(), BPEDecoder("h")),
        (BPEDecoder("e"), Metaspace(), Fuse()),
    ],
)
def test_what_one_decoder_keeps_goes_through_those_behind_it(decoders):
    tokenizer = of_pieces(DecoderSequence(decoders) if decoders else None)
    number = {token.decode(): n for n, token in tokenizer.model.tokens.items()}
    for tokens in (["▁the"], ["▁the", "▁the"], ["▁the", "a", "▁the"], []):
        check_decoding(tokenizer, random.Random(len(tokens)), [number[token] for token in tokens])


def test_space_at_the_beginning_only():
    """The first space is stripped once, not in every token."""
    tokenizer = of_pieces(DecoderSequence((Fuse(), Strip("▁", 1, 0))))
    number = {token.decode(): n for n, token in tokenizer.model.tokens.items()}
    decoder = StreamDecoder(tokenizer)
    for _ in range(2):
        assert [decoder.push(number["▁the"]) for _ in range(2)] == ["the", "▁the"]
        assert decoder.finish() == ""


class Backwards(Decoder):
    """A decoder that nobody knows."""

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        return tokens[::-1]


@pytest.mark.parametrize(
    "decoder", [Backwards(), DecoderSequence((Backwards(), Fuse())), DecoderSequence((Fuse(), Backwards()))]
)
def test_unknown_decoders_hold_all(decoder):
    tokenizer, rng = of_pieces(decoder), random.Random(1)
    for _ in range(20):
        check_decoding(tokenizer, rng, rng.choices(range(len(tokenizer)), k=9))
    stream = StreamDecoder(tokenizer)
    assert stream.push([1, 2, 3]) == ""
    assert stream.pending == b"".join(tokenizer.model.tokens[n] for n in (1, 2, 3))


def test_options(small):
    end = small.special_tokens["<|end|>"]
    assert "".join(StreamDecoder(small, skip_special_tokens=True).stream([97, end, 98])) == "ab"
    assert "".join(StreamDecoder(small).stream([97, end])) == "a<|end|>"
    assert "".join(StreamDecoder(small, unknown="replace").stream([97, 9999, -1])) == "a\ufffd\ufffd"
    assert "".join(StreamDecoder(small, unknown="skip").stream([97, 9999, 98])) == "ab"
    with pytest.raises(ValueError, match="unknown is"):
        StreamDecoder(small, unknown="ignore")


@pytest.mark.parametrize("decoder", [None, ByteFallback()])
def test_a_failed_push_changes_nothing(small, decoder):
    tokenizer = small if decoder is None else of_pieces(decoder)
    first = 0xC3 if decoder is None else next(n for n, t in tokenizer.model.tokens.items() if t == b"<0xC3>")
    stream = StreamDecoder(tokenizer)
    stream.push(first)
    for bad, kind, message in [
        (-1, UnknownTokenError, "no token with the id -1"),
        ([first, 99_999], UnknownTokenError, "no token with the id 99999"),
        ([first, "a"], TypeError, "'a' at position 1 is a str"),
        (True, TypeError, "bool"),
        (1.0, TypeError, "float"),
        ("12", TypeError, "not str"),
        (None, TypeError, "NoneType"),
    ]:
        with pytest.raises(kind, match=message):
            stream.push(bad)
        assert stream.pending == b"\xc3"
    assert stream.finish() == "\ufffd"
    assert (stream.pending, stream.finish()) == (b"", "")


def test_awaited(small):
    async def ids():
        for token_id in small.encode("the harbour, 日本"):
            await asyncio.sleep(0)
            yield token_id

    async def run():
        return [text async for text in StreamDecoder(small).astream(ids())]

    shown = asyncio.run(run())
    assert "".join(shown) == "the harbour, 日本"
    assert len(shown) > 3


def test_arrays_are_welcome(small):
    numpy = pytest.importorskip("numpy")
    ids = numpy.array(small.encode("the harbour"))
    assert StreamDecoder(small).push(ids) == "the harbour"
    assert "".join(StreamDecoder(small).stream(ids)) == "the harbour"
