"""Each real tokenizer.json against Hugging Face's `tokenizers`: ids, decoding, offsets, streams, saved and reopened."""

import random
from functools import lru_cache

import pytest

from bpelab import BPETokenizer, StreamDecoder
from bpelab.streaming import StreamEncoder

from .catalogue import TOKENIZER_JSON, RealFile
from .download import real_file
from .texts import random_strings, texts

tokenizers = pytest.importorskip("tokenizers")
SAMPLE = 400
every_file = pytest.mark.parametrize(
    "file",  # all tests of a file run in one worker, which opens it once
    [pytest.param(file, id=file.name, marks=pytest.mark.xdist_group(file.name)) for file in TOKENIZER_JSON],
)


@lru_cache(2)
def both(file: RealFile) -> tuple[BPETokenizer, "tokenizers.Tokenizer"]:
    """Our tokenizer and Hugging Face's, of the same file. Theirs neither truncates nor pads, as `encode` of ours."""
    path = real_file(file)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    return BPETokenizer.from_pretrained(path), theirs


@lru_cache(2)
def compared(file: RealFile) -> tuple[list[str], list["tokenizers.Encoding"]]:
    """All texts for the file, and what Hugging Face makes of them."""
    _, theirs = both(file)
    names = [token.content for token in theirs.get_added_tokens_decoder().values()]
    everything = [*texts(), *random_strings(names)]
    return everything, theirs.encode_batch(everything, add_special_tokens=False)


def first_difference(texts, ours, theirs) -> str | None:
    """The first text whose results differ, with both; None where all are equal."""
    for text, mine, other in zip(texts, ours, theirs, strict=True):
        if mine != other:
            at = next((i for i, (a, b) in enumerate(zip(mine, other)) if a != b), min(len(mine), len(other)))
            return f"{text[:200]!r}, from {at}: {mine[at : at + 8]!r} instead of {other[at : at + 8]!r}"
    return None


@every_file
def test_ids(file, record_property):
    ours, theirs = both(file)
    everything, expected = compared(file)
    ids = [ours.encode(text, allowed_special="all", add_special_tokens=False) for text in everything]
    assert first_difference(everything, ids, [encoding.ids for encoding in expected]) is None
    as_text = [ours.encode(text, add_special_tokens=False) for text in everything]
    assert first_difference(everything, ours.encode_batch(everything, add_special_tokens=False), as_text) is None
    sample = everything[:SAMPLE]
    around = [ours.encode(text, allowed_special="all") for text in sample]
    assert first_difference(sample, around, [theirs.encode(text).ids for text in sample]) is None
    record_property("texts", len(everything))
    record_property("tokenizer", file.name)


@every_file
@pytest.mark.parametrize("skip", [False, True])
def test_decoding(file, skip):
    ours, theirs = both(file)
    rows = [encoding.ids for encoding in compared(file)[1]]
    expected = theirs.decode_batch(rows, skip_special_tokens=skip)
    decoded = ours.decode_batch(rows, skip_special_tokens=skip)
    assert first_difference(rows, decoded, expected) is None


@every_file
def test_offsets(file):
    ours, _ = both(file)
    everything, expected = compared(file)
    sample = random.Random(file.name).sample(range(len(everything)), SAMPLE)
    for i in sample:
        ids, offsets = ours.encode_with_offsets(everything[i], allowed_special="all", add_special_tokens=False)
        assert ids == expected[i].ids
        assert offsets == expected[i].offsets, everything[i]


@every_file
def test_streams(file):
    ours, _ = both(file)
    everything, expected = compared(file)
    rng = random.Random(file.name)
    for i in rng.sample(range(len(everything)), SAMPLE // 2):
        text = everything[i]
        encoder = StreamEncoder(ours, allowed_special="all", add_special_tokens=False)
        cuts = sorted(rng.choices(range(len(text) + 1), k=min(len(text), 6)))
        ids = [n for start, end in zip([0, *cuts], [*cuts, len(text)]) for n in encoder.push(text[start:end])]
        assert ids + encoder.finish() == expected[i].ids, text
        decoder = StreamDecoder(ours)
        assert "".join(decoder.push([n]) for n in expected[i].ids) + decoder.finish() == ours.decode(expected[i].ids)


@every_file
def test_saved_and_reopened(file, tmp_path):
    """What is saved opens here and at Hugging Face's, with the same ids."""
    ours, _ = both(file)
    everything, expected = compared(file)
    ours.save(tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    theirs.no_truncation()
    theirs.no_padding()
    for i in random.Random(file.name).sample(range(len(everything)), SAMPLE):
        assert again.encode(everything[i], allowed_special="all", add_special_tokens=False) == expected[i].ids
        assert theirs.encode(everything[i], add_special_tokens=False).ids == expected[i].ids
