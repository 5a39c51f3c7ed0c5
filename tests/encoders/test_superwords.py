"""Two stages have the ids of one, in Python and in C, for any vocabulary that they serve."""

import random
import sys
from array import array

import pytest

from bpelab import BPEModel, BPETokenizer, native
from bpelab.encoders.heap import HeapEncoder
from bpelab.encoders.superwords import SuperwordEncoder
from bpelab.model.bpe import NOT_IN_UTF8
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.native import tables
from bpelab.native.plan import split_steps_for
from bpelab.notebook import book_text
from bpelab.pretokenizers.split import Split
from bpelab.trainers.superwords import Superwords

from ..conftest import amount
from ..superword_vocabularies import models, random_text

needs_extension = pytest.mark.skipif(native.extension() is None, reason="the extension in C was not built")


def test_two_stages_in_python():
    rng, served = random.Random(1), 0
    for model in models(rng, amount(300, 20_000)):
        if not SuperwordEncoder.supports(model):
            continue
        served += 1
        two, one = SuperwordEncoder(model), HeapEncoder(model)
        assert BPETokenizer(model, pattern="superbpe").pipeline.superwords is not None
        assert BPETokenizer(model, pattern="cl100k").pipeline.superwords is None
        for piece in [random_text(rng).encode("utf-8", "surrogatepass") for _ in range(6)]:
            assert two.encode_piece(piece) == one.encode_piece(piece), (piece, model)
    assert served > 50


def test_bytes_without_a_token():
    """The 13 bytes that UTF-8 never has are missing in some files: what has them is dropped, before any merge."""
    whole = BPEModel.from_merges([(b"a", b" "), (b" ", b"b"), (b"a ", b"b")])
    kept = {token: at for at, token in whole.tokens.items() if token[0] not in NOT_IN_UTF8}
    merges = dict(whole.merges)
    tokens = {at: token for token, at in kept.items()}
    alphabet = {token: at for token, at in kept.items() if len(token) == 1}
    model = BPEModel(tokens, merges, alphabet, initial_symbols=InitialSymbols(characters=False))
    assert model.covers_utf8 and not model.is_byte_level
    assert SuperwordEncoder.supports(model)
    for piece in (b"", b"\xff", b"a\xc0 b", b"\xf5 b", b"a b a \xfe\xffb"):
        assert SuperwordEncoder(model).encode_piece(piece) == HeapEncoder(model).encode_piece(piece)
    if native.extension() is not None:
        tokenizer = BPETokenizer(model, pattern="superbpe")
        assert tokenizer.encode("a b é a b") == tokenizer.with_options(encoder="heap").encode("a b é a b")


def test_what_two_stages_do_not_serve():
    merges = [(b"a", b" "), (b"a ", b"b")]
    assert SuperwordEncoder.supports(BPEModel.from_merges(merges))
    assert not SuperwordEncoder.supports(BPEModel.from_merges(merges, ignore_merges=True))
    assert not SuperwordEncoder.supports(BPEModel.from_merges([(b"a", b"b")]))  # no superword
    twice = [*merges, (b" ", b"b"), (b"a", b" b")]
    assert not SuperwordEncoder.supports(BPEModel.from_merges(twice))  # a token of two pairs
    model = BPEModel.from_merges(merges)
    late = BPEModel.from_vocab(dict(model.tokens), merges[::-1])
    assert not SuperwordEncoder.supports(late)  # a part that ranks after the whole
    parts = {300: b"ef", 301: b"def"}  # the part is made after the first superword, the whole before it
    hand_made = BPEModel.from_vocab({**model.tokens, **parts}, [(b"d", b"ef"), *merges, (b"e", b"f")])
    for model in (late, hand_made):
        tokenizer = BPETokenizer(model, pattern="superbpe")
        assert tokenizer.encode("a b def ef a b") == tokenizer.with_options(encoder="heap").encode("a b def ef a b")
    assert not SuperwordEncoder.supports(BPEModel.from_ranks(model.ids))


@needs_extension
def test_two_stages_in_c():
    rng, served = random.Random(2), 0
    for model in models(rng, amount(300, 20_000)):
        pattern = rng.choice(["superbpe", r"\n", "[0-9]+| of"])
        encoder = native.encoder_for(model, Split(pattern))
        if encoder.words is None:
            continue
        served += 1
        heap = BPETokenizer(model, pattern=pattern, encoder="heap")
        again = type(encoder).from_tables(encoder.tables(), split_steps_for(Split(pattern), model), encoder.words)
        texts = [random_text(rng) for _ in range(6)]
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        expected = [heap.encode(text) for text in texts]
        assert [encoder.encode(text) for text in texts] == expected, model
        assert [again.encode(text) for text in texts] == expected
        assert encoder.lists(*encoder.encode_texts(texts)) == expected
        assert array("I", bytes(encoder.encode_array(texts[0]))).tolist() == expected[0]
    assert served > 50


@pytest.fixture(scope="module")
def trained() -> BPETokenizer:
    return BPETokenizer.train(book_text()[:200_000], 2_000, superwords=Superwords(transition=0.6))


@needs_extension
def test_a_trained_vocabulary(trained):
    text = book_text() * 3
    assert trained.pipeline.native.words is not None
    ids = trained.with_options(encoder="heap").encode(text)
    assert trained.encode(text) == ids and trained.encode_array(text).tolist() == ids
    batch = [text[at : at + 5_000] for at in range(0, len(text), 5_000)]
    alone = [trained.encode(part) for part in batch]
    for threads in (1, 3):
        assert trained.encode_batch(batch, threads=threads) == alone
    one_line = " ".join(text.split())
    assert trained.encode(one_line) == trained.with_options(encoder="heap").encode(one_line)
    ids, offsets = trained.encode_with_offsets(text[:20_000])[:2]
    assert ids == trained.encode(text[:20_000]) and offsets[0] == (0, 1)


@needs_extension
def test_tables_hold_both_stages(trained, tmp_path):
    encoder, split = trained.pipeline.native, Split("superbpe")
    levels, text = split_steps_for(split, trained.model), book_text()[:50_000]
    path = str(tmp_path / "a.native")
    tables.store(path, encoder)
    again = tables.fetch(path, type(encoder), levels)
    assert again.words is not None and again.encode(text) == encoder.encode(text)
    data = (tmp_path / "a.native").read_bytes()
    rng = random.Random(3)
    for _ in range(amount(60, 2_000)):  # a changed byte: found, or in the trailer's padding
        damaged = bytearray(data)
        damaged[rng.choice([rng.randrange(len(data)), len(data) - rng.randint(1, 16)])] ^= 1 << rng.randrange(8)
        (tmp_path / "b.native").write_bytes(damaged)
        found = tables.fetch(str(tmp_path / "b.native"), type(encoder), levels)
        assert found is None or found.encode(text) == encoder.encode(text)
    for size in (len(data) - 1, len(data) - 16, len(data) // 2, 20, 1):
        (tmp_path / "b.native").write_bytes(data[:size])
        found = tables.fetch(str(tmp_path / "b.native"), type(encoder), levels)
        assert found is None or found.encode(text) == encoder.encode(text)


@needs_extension
def test_words_of_another_vocabulary_are_refused(trained):
    core, split = native.extension(), Split("superbpe")
    other = BPETokenizer.train(book_text()[50_000:90_000], 900, superwords="superbpe").pipeline.native
    encoder = trained.pipeline.native
    block, levels = encoder.tables(), split_steps_for(split, trained.model)
    held = encoder.words
    references = sys.getrefcount(held)
    for words in (other, other.words, encoder):
        with pytest.raises(ValueError, match="first stage"):
            core.from_tables(block, levels, words)
    with pytest.raises(ValueError, match="first stage"):
        core.from_tables(block, (), encoder.words)  # no pattern
    with pytest.raises(ValueError, match="must be an Encoder"):
        core.from_tables(block, levels, 3)
    assert sys.getrefcount(held) == references


@pytest.fixture(scope="module")
def one_line() -> str:
    return " ".join(book_text().split())


@pytest.mark.parametrize("encoder", ["auto", "heap"])
def test_truncation_and_chunks(trained, one_line, encoder):
    tokenizer = trained.with_options(encoder=encoder)
    for limit in (1, 5, 50, 200):
        cut = len(tokenizer.truncate(one_line, limit))
        longest = max(end for end in range(cut + 100) if len(trained.encode(one_line[:end])) <= limit)
        assert cut == longest
    text = one_line[:20_000]
    parts = tokenizer.split_by_tokens(text, 300)
    assert "".join(parts) == text and max(tokenizer.count_tokens(part) for part in parts) <= 300


def test_truncation_where_a_pattern_leaves_gaps():
    """A gap that ends in a space is one piece in its text, and two by itself."""
    rng = random.Random(5)
    for pattern in ("superbpe", r" +(?!\S)|\d", r"x(?=y)"):
        tokenizer = BPETokenizer(BPETokenizer.train(book_text()[:20_000], 400).model, pattern=pattern)
        for _ in range(amount(40, 1_000)):
            text = "".join(rng.choices(["a ", "1", " the", "x", "y", "  ", ".."], k=30))
            limit = rng.randint(1, 20)
            fits = [end for end in range(len(text) + 1) if len(tokenizer.encode(text[:end])) <= limit]
            assert len(tokenizer.truncate(text, limit)) == fits[-1], (text, limit, pattern)


def test_files_and_dropout(trained, one_line, tmp_path):
    heap = trained.with_options(encoder="heap")
    (tmp_path / "a.txt").write_text(one_line)
    (tmp_path / "b.txt").write_text(book_text())
    shards = trained.encode_files(
        [tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "out", shard_tokens=50_000, progress=False
    )
    assert [shards.document(at).tolist() for at in range(2)] == [heap.encode(one_line), heap.encode(book_text())]
    text = one_line[:3_000]
    assert trained.encode_with_dropout(text, 0.0) == trained.encode(text)
    assert trained.decode(trained.encode_with_dropout(text, 0.3)) == text
