"""Each real tokenizer.json against Hugging Face's `tokenizers`: ids, decoding, offsets, streams, saved and reopened."""

import random
import warnings
from functools import lru_cache

import pytest

from bpelab import BPETokenizer, StreamDecoder
from bpelab.formats.published_patterns import UnpublishedPattern
from bpelab.streaming import StreamEncoder

from .. import tokenizers_1
from .catalogue import TOKENIZER_JSON, RealFile
from .download import real_file
from .texts import random_strings, shared_lines, texts

tokenizers = pytest.importorskip("tokenizers")
SAMPLE = 400
every_file = pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in TOKENIZER_JSON])


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
    everything = [*texts(), *random_strings(names), *shared_lines()]
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
    record_property("texts", len(everything) - len(shared_lines()))
    record_property("library", "tokenizers")
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


@lru_cache(1)
def sample(file: RealFile) -> tuple[list[str], list[list[int]]]:
    """Texts for the file, and the ids that Hugging Face gives them."""
    everything, expected = compared(file)
    chosen = random.Random(file.name).sample(range(len(everything)), SAMPLE)
    return [everything[i] for i in chosen], [expected[i].ids for i in chosen]


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    """A function that saves a file, and does so once while its tests follow each other."""

    @lru_cache(1)
    def save(file):
        folder = tmp_path_factory.mktemp("saved")
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            both(file)[0].save(folder)
        assert {warning.category for warning in warned} <= {UnpublishedPattern}
        return folder, bool(warned)

    return save


@pytest.fixture
def saved(file, save):
    """The folder of what bpelab saves of the file, and whether it warned that tokenizers 1.0 can't encode with it."""
    return save(file)


@every_file
def test_saved_and_reopened(file, saved):
    """What is saved opens here and at Hugging Face's, with the same ids."""
    folder, _ = saved
    again = BPETokenizer.from_pretrained(folder)
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.no_truncation()
    theirs.no_padding()
    for text, ids in zip(*sample(file)):
        assert again.encode(text, allowed_special="all", add_special_tokens=False) == ids
        assert theirs.encode(text, add_special_tokens=False).ids == ids


@every_file
def test_saved_and_read_by_transformers(file, saved, record_property):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(saved[0])
    texts, expected = sample(file)
    assert first_difference(texts, theirs(texts, add_special_tokens=False)["input_ids"], expected) is None
    record_property("reader", "transformers")
    record_property("tokenizer", file.name)


@every_file
def test_saved_and_read_by_tokenizers_1(file, saved, record_property):
    folder, warned = saved
    texts, expected = sample(file)
    try:
        original = tokenizers_1.encode(real_file(file), texts)
    except tokenizers_1.RefusedError as error:
        original = str(error)
    try:
        ids = tokenizers_1.encode(folder / "tokenizer.json", texts)
    except tokenizers_1.RefusedError as error:
        assert str(error) == original
        assert warned == ("`Split` pattern" in str(error))
        return
    assert not warned
    assert first_difference(texts, ids, expected) is None
    record_property("reader", "tokenizers 1.0")
    record_property("tokenizer", file.name)
