"""SentencePiece's BPE models, trained in many ways: ids and text against its own package, refusals by name."""

import io
import random
from functools import lru_cache

import pytest

from bpelab import BPETokenizer, ConversionError, TokenizerFileError
from bpelab._support.textio import valid_text
from bpelab.formats import gguf_save, huggingface, sentencepiece_load
from bpelab.notebook import book_text

from ..conftest import amount, fuzz_text, shared_text

UNKNOWN = " \u2047 "
"""How SentencePiece decodes the unknown token; here it is `<unk>`, as in Hugging Face's files."""
OPTIONS = [
    {},
    {"byte_fallback": True},
    {"byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"normalization_rule_name": "identity", "remove_extra_whitespaces": True},
    {"normalization_rule_name": "nfkc", "add_dummy_prefix": False},
    {"normalization_rule_name": "nmt_nfkc_cf", "byte_fallback": True},
    {"normalization_rule_name": "nfkc_cf", "remove_extra_whitespaces": False, "add_dummy_prefix": False},
    {"split_digits": True, "byte_fallback": True, "remove_extra_whitespaces": False, "normalization_rule_name": "nfkc"},
    {"user_defined_symbols": "<ud>,the,\u2581of,  ,12", "byte_fallback": True},
    {"user_defined_symbols": "<ud>,aa,aaa", "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"control_symbols": "<c>,<d>", "byte_fallback": True, "pad_id": 3},
    {"character_coverage": 1.0, "vocab_size": 1_800},
    {"character_coverage": 0.98, "vocab_size": 300},
    {"split_by_whitespace": False, "byte_fallback": True},
    {"split_by_unicode_script": False, "split_by_number": False, "max_sentencepiece_length": 32},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False, "byte_fallback": True},
    {"bos_id": -1, "eos_id": 1, "unk_id": 0, "unk_piece": "[UNK]", "eos_piece": "[END]"},
    {"unk_id": 5, "bos_id": 2, "eos_id": 7, "pad_id": 0},
]  # fmt: skip


@lru_cache(None)
def lines(language: str = "") -> list[str]:
    text = shared_text(language) if language else book_text()[:90_000]
    return [line for line in text.split("\n") if line.strip()]


def trained(corpus=None, **options) -> bytes:
    """A model that sentencepiece trained, as it writes it."""
    spm = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus or lines()), model_writer=out, minloglevel=2, num_threads=1,
        **{"model_type": "bpe", "vocab_size": 1_000, "character_coverage": 0.99, **options},
    )  # fmt: skip
    return out.getvalue()


def both(tmp_path, data):
    spm = pytest.importorskip("sentencepiece")
    path = tmp_path / "m.model"
    path.write_bytes(data)
    return BPETokenizer.from_pretrained(path), spm.SentencePieceProcessor(model_proto=data)


def texts(number, corpus, extra=()):
    rng = random.Random(50)
    yield from (
        "",
        " ",
        "   ",
        " a",
        "a ",
        "  a  b  ",
        "\n",
        "\t",
        "\u2581",
        "\u2581\u2581a \u2581",
        "a\u2581b",
        *extra,
    )
    for step in range(number):
        text = valid_text(fuzz_text(rng)) if step % 3 else rng.choice(corpus)
        if step % 5 == 0 and extra:
            text = text[:9] + rng.choice(extra) + text
        if "\0" not in text:  # for sentencepiece it ends a text
            yield text


def agree(ours, theirs, some_texts):
    for text in some_texts:
        ids = theirs.encode(text)
        assert ours.encode(text) == ids, text
        assert ours.decode(ids).replace("<unk>", UNKNOWN).replace("[UNK]", UNKNOWN) == theirs.decode(ids), text


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_ids_and_text(options, tmp_path):
    data = trained(**options)
    ours, theirs = both(tmp_path, data)
    assert ours.n_vocab == theirs.get_piece_size() == len(ours)
    symbols = [text for text in options.get("user_defined_symbols", "").split(",") if text]
    agree(ours, theirs, texts(amount(250, 20_000), lines(), [*symbols, "<ud>the<ud> the of  of", "aaaa", "121"]))


@pytest.mark.parametrize("options", [{}, {"byte_fallback": True, "normalization_rule_name": "identity"}], ids=str)
def test_many_languages(options, tmp_path):
    corpus = lines("udhr_multilingual.txt")
    ours, theirs = both(tmp_path, trained(corpus, vocab_size=4_000, character_coverage=0.9995, **options))
    agree(ours, theirs, texts(amount(200, 20_000), corpus))
    text = "\n".join(corpus[: amount(150, 3_000)])
    assert ours.encode(text) == theirs.encode(text)


def test_a_long_text_without_spaces(tmp_path):
    ours, theirs = both(tmp_path, trained(byte_fallback=True))
    for text in ("a" * 20_000, "ab" * 9_000, "\u65e5\u672c" * 5_000, " " * 20_000 + "x", "x" + " \u2581" * 9_000):
        assert ours.encode(text) == theirs.encode(text)


def test_what_symbols_protect(tmp_path):
    """A user-defined symbol is neither normalized nor merged, and two spaces that are one stay two."""
    symbols = "\ufb01,  ,\u2460\u2461,e\u0301"
    ours, theirs = both(tmp_path, trained(user_defined_symbols=symbols, normalization_rule_name="nmt_nfkc"))
    some = [
        "\ufb01n of\ufb01ce",
        "a  b   c    d  ",
        "\u2460 \u2461 \u2460\u2461",
        "e\u0301 cafe\u0301",
        "  x",
        "\ufb01",
    ]
    agree(ours, theirs, [*some, "".join(some), "\ufdfa\ufdfa", "\u00a8x \u00a8", "\x01", " \x01 ", "\u200b"])
    assert len(ours.encode("\u2460\u2461")) == 2


def test_roles_and_special_tokens(tmp_path):
    ours, theirs = both(tmp_path, trained(control_symbols="<c>", pad_id=3, byte_fallback=True))
    assert (ours.unk_token_id, ours.bos_token_id, ours.eos_token_id, ours.pad_token_id) == (0, 1, 2, 3)
    assert ours.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<pad>": 3, "<c>": 4}
    for text in ("<c>", "a<s>b", "<unk>", "<0x41>", "</s>"):  # text never speaks as a control piece
        assert ours.encode(text) == theirs.encode(text)
    assert ours.encode("<c>", allowed_special="all") == [4]
    without, _ = both(tmp_path, trained(bos_id=-1, eos_id=-1))
    assert (without.bos_token, without.eos_token, without.unk_token) == (None, None, "<unk>")


@pytest.mark.parametrize("name", ["tokenizer.model.v3", "tokenizer.model.v7m1", "spiece.bin", "vocabulary"])
def test_any_name_will_do(name, tmp_path):
    """Mistral's end with the version, `mistral_instruct_tokenizer_241114.model.v7m1`."""
    data = trained(byte_fallback=True)
    ours, _ = both(tmp_path, data)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / name).write_bytes(data)
    again = BPETokenizer.from_pretrained(tmp_path / "other" / name)
    assert again.spec == ours.spec
    if name.startswith("tokenizer.model"):
        assert BPETokenizer.from_pretrained(tmp_path / "other").spec == ours.spec


def test_a_text_of_one_line_is_no_model(tmp_path):
    for content in (b"\n", b"\n\n\n", b"\n.\n\x05<unk>\n", b"\nA text\nof lines\n"):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(TokenizerFileError, match=r"is not JSON|is empty"):
            BPETokenizer.from_pretrained(tmp_path / "a")


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def piece(text, score=0.0, kind=1):
    import struct

    data = text if isinstance(text, bytes) else text.encode()
    body = b"\x0a" + varint(len(data)) + data + b"\x15" + struct.pack("<f", score) + b"\x18" + varint(kind)
    return b"\x0a" + varint(len(body)) + body


def model(*pieces, trainer=b"\x18\x02", normalizer=b""):
    """A model file: pieces, the trainer's settings (BPE), the normalizer's."""
    settings = b"\x12" + varint(len(trainer)) + trainer + b"\x1a" + varint(len(normalizer)) + normalizer
    return b"".join(pieces) + settings


UNK, A = piece("<unk>", kind=2), piece("a")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (model(UNK, A, trainer=b""), "trainer_spec.model_type: is UNIGRAM; only BPE"),
        (model(UNK, A, trainer=b"\x18\x03"), "is WORD; only BPE"),
        (model(UNK, A, trainer=b"\x18\x04"), "is CHAR; only BPE"),
        (model(UNK, A, trainer=b"\x18\x02\xc0\x01\x01"), "treat_whitespace_as_suffix: is not supported"),
        (model(UNK, A, normalizer=b"\x32\x03a\tb"), "normalization_rule_tsv: rules that are not compiled"),
        (model(UNK, A, normalizer=b"\x12\x02ab"), "precompiled_charsmap"),
        (model(UNK, A, piece("b", kind=5)), r"pieces\[2\]: 'b' is marked as unused"),
        (model(UNK, A, A), r"pieces\[2\]: 'a' is already piece 1"),
        (model(UNK, A, piece("")), r"pieces\[2\]: is empty"),
        (model(UNK, A, piece("b", float("nan"))), r"pieces\[2\]: has a score that is not a number"),
        (model(UNK, A, piece("<0xZZ>", kind=6), trainer=b"\x18\x02\x98\x02\x01"), "marked as a byte"),
        (model(UNK, A, piece("<0x-1>", kind=6), trainer=b"\x18\x02\x98\x02\x01"), "marked as a byte"),
        (model(UNK, A, piece("<0x1 >", kind=6), trainer=b"\x18\x02\x98\x02\x01"), "marked as a byte"),
        (model(UNK, A, piece("ab")), "'ab' contains 'b', which is not a piece"),
        (model(UNK, A, piece("abc"), piece("bc")), "contains '[bc]', which is not a piece"),
        (b"", "has no pieces|is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "pointer of Git LFS|minbpe"),
    ],
)
def test_what_is_refused(data, message, tmp_path):
    (tmp_path / "m.model").write_bytes(data)
    with pytest.raises(TokenizerFileError, match=message) as caught:
        BPETokenizer.from_pretrained(tmp_path / "m.model")
    assert "m.model" in str(caught.value)


@pytest.mark.parametrize("kind", ["unigram", "word", "char"])
def test_other_models_that_sentencepiece_trains(kind, tmp_path):
    (tmp_path / "m.model").write_bytes(trained(model_type=kind, vocab_size=300, hard_vocab_limit=False))
    with pytest.raises(TokenizerFileError, match=f"is {kind.upper()}; only BPE"):
        sentencepiece_load.load(tmp_path / "m.model")


def test_spaces_behind_words(tmp_path):
    (tmp_path / "m.model").write_bytes(trained(treat_whitespace_as_suffix=True))
    with pytest.raises(TokenizerFileError, match="treat_whitespace_as_suffix"):
        sentencepiece_load.load(tmp_path / "m.model")


def test_equal_scores_and_pieces_of_one_kind(tmp_path):
    """The leftmost of equal scores merges first, and a piece of score 0 may rank before its parts."""
    spm = pytest.importorskip("sentencepiece")
    rng = random.Random(51)
    for _ in range(amount(40, 2_000)):
        words = {"".join(rng.choices("abc\u2581", k=rng.randint(2, 4))) for _ in range(rng.randint(1, 12))}
        pieces = [piece(w, float(-rng.randint(0, 5)), rng.choice((1, 1, 1, 4))) for w in sorted(words)]
        pieces += [piece(char, float(-rng.randint(0, 9))) for char in "abc\u2581"]
        data = model(UNK, *pieces)
        ours, theirs = both(tmp_path, data)
        assert isinstance(theirs, spm.SentencePieceProcessor)
        for _ in range(15):
            text = "".join(rng.choices("abcd ", k=rng.randint(0, 12)))
            assert ours.encode(text) == theirs.encode(text), (text, sorted(words))


def test_what_is_not_saved_onwards_is_refused_with_the_true_reason(tmp_path):
    """Pieces of one score that overlap, and symbols that never merge with their neighbours, as in Mistral's v3."""
    spaces = b"\x20\x00"  # none is removed, which Hugging Face's components do
    letters = [piece(char, -5.0) for char in "ab\u2581"]
    tied = [piece("ab", -1.0), piece("ba", -1.0)]
    (tmp_path / "tied").write_bytes(model(UNK, *tied, *letters, normalizer=spaces))
    (tmp_path / "v3").write_bytes(model(UNK, piece("[REF]", kind=4), *letters, normalizer=spaces))
    refused = [
        ("tied", huggingface.save, r"'ab' and 'ba' have the same score, so the one further left is merged first"),
        ("v3", huggingface.save, r"such as '\[REF\]': added tokens, .* are found before ▁ is put in front of a text"),
        ("v3", gguf_save.save, r"llama\.cpp puts a space before the text that follows a symbol such as '\[REF\]'"),
    ]
    for name, save, reason in refused:
        ours = BPETokenizer.from_pretrained(tmp_path / name)
        with pytest.raises(ConversionError, match=reason):
            save(ours.spec, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("lengths", [range(2, 17), [*range(2, 15), 16], [2, 4], [2, 3, 7], [2]], ids=str)
def test_runs_of_spaces_with_one_score_are_saved(lengths, tmp_path):
    """As Mistral's v1, whose runs of 2 to 14 and 16 spaces have one score: in a list, the longest comes first."""
    runs = [piece("\u2581" * length, -9.0) for length in lengths]
    data = model(
        UNK, *runs, piece("\u2581a", -1.0), *(piece(char, -5.0) for char in "ab\u2581"), normalizer=b"\x20\x00"
    )
    ours, theirs = both(tmp_path, data)
    texts = [before + " " * n + after for n in range(60) for before in ("", "b", "a") for after in ("", "a", "b  b")]
    ours.save(tmp_path / "folder")
    saved = BPETokenizer.from_pretrained(tmp_path / "folder")
    hugging = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "folder" / "tokenizer.json"))
    for text in texts:
        ids = theirs.encode(text)
        assert ours.encode(text) == saved.encode(text) == hugging.encode(text).ids == ids, (lengths, text)


def test_symbols_are_saved_where_nothing_is_put_before_the_text(tmp_path):
    spaces = b"\x20\x00\x18\x00"  # no dummy prefix, no space removed
    letters = [piece(char, -5.0) for char in "abf[]\u2581"]
    data = model(
        UNK,
        piece("[f]", kind=4),
        piece("[f]a", kind=4),
        piece("]a", -1.0),
        piece("ab", -2.0),
        *letters,
        normalizer=spaces,
    )
    ours, theirs = both(tmp_path, data)
    ours.save(tmp_path / "folder")
    saved = BPETokenizer.from_pretrained(tmp_path / "folder")
    hugging = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "folder" / "tokenizer.json"))
    rng = random.Random(52)
    for text in ["[f]", "[f]ab", " [f] [f]a", *("".join(rng.choices(["[f]", *"ab[f] "], k=9)) for _ in range(300))]:
        ids = theirs.encode(text)
        assert ours.encode(text) == saved.encode(text) == hugging.encode(text).ids == ids, text
