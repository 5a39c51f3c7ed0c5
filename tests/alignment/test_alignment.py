"""Offsets: where in the original text every token stands, as Hugging Face's tokenizers say it."""

import base64
import json
import random

import pytest
from hypothesis import given, strategies as st

from bpelab import BPETokenizer
from bpelab.alignment.pieces import align_pieces
from bpelab.normalizers import NFC, NFKC, Lowercase, NormalizerSequence, Prepend, Replace, Strip
from bpelab.normalizers.base import normalize_aligned
from bpelab.normalizers.sentencepiece import SentencePieceNormalizer
from bpelab.pretokenizers.base import PreTokenizer
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.char_types import UnicodeScripts
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.regex.matchers import Pattern
from bpelab.texts.aligned_string import AlignedString

from ..conftest import amount, fuzz_text
from ..formats import random_zoo
from ..normalizers.test_normalizers import CLUSTER_PARTS, charsmap, random_key, random_text

tokenizers = pytest.importorskip("tokenizers")
PLAIN = BPETokenizer.train("The lowest of the low tide, naïve 日本 cafés. " * 20, 285, special_tokens=["<s>"])


def unknown_spelled_in_marks(model: dict) -> bool:
    """Bytes of a prefix or suffix count as bytes of the text, and such tokens stand behind its end; not here."""
    return model["byte_fallback"] and bool(model["continuing_subword_prefix"] or model["end_of_word_suffix"])


@pytest.mark.parametrize("block", range(4))
def test_random_files(block, tmp_path):
    compared = 0
    number = amount(25, 1_500)
    for seed in range(block * number, (block + 1) * number):
        data = {**random_zoo.draw(seed), "truncation": None, "padding": None}
        if unknown_spelled_in_marks(data["model"]):
            continue
        data["model"]["dropout"] = None
        (tmp_path / "one.json").write_text(json.dumps(data))
        ours = BPETokenizer.from_pretrained(tmp_path / "one.json")
        theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
        for text in random_zoo.texts(random.Random(seed), data, 6):
            try:
                expected = theirs.encode(text, add_special_tokens=False)
            except BaseException as error:  # PanicException is no Exception
                assert type(error).__name__ == "PanicException"
                continue
            ids, offsets = ours.encode_with_offsets(text, allowed_special="all", add_special_tokens=False)
            assert ids == ours.encode(text, allowed_special="all", add_special_tokens=False)
            if ids == expected.ids:  # elsewhere ids are meant to differ; see tests/formats/test_zoo.py
                assert offsets == expected.offsets, (seed, text)
                compared += 1
    assert compared > 2 * number


def test_character_maps(tmp_path):
    """SentencePiece's, which change clusters, and make more characters of one or fewer; every character is a token."""
    rng, compared = random.Random(5), 0
    for _ in range(amount(20, 4_000)):
        entries = {random_key(rng): random_text(rng).replace("\0", "") for _ in range(40)}
        blob = base64.b64encode(charsmap(entries)).decode()
        letters = sorted({char for key, text in entries.items() for char in key + text} | set("".join(CLUSTER_PARTS)))
        data = {
            "added_tokens": [],
            "normalizer": {"type": "Precompiled", "precompiled_charsmap": blob},
            "model": {"type": "BPE", "vocab": {char: number for number, char in enumerate(letters)}, "merges": []},
        }
        (tmp_path / "one.json").write_text(json.dumps(data))
        ours = BPETokenizer.from_pretrained(tmp_path / "one.json")
        theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
        for _ in range(10):
            text = "".join(random_key(rng) for _ in range(rng.randint(1, 6)))
            try:
                expected = theirs.encode(text)
            except BaseException as error:  # PanicException is no Exception
                assert type(error).__name__ == "PanicException"
                continue
            assert ours.encode_with_offsets(text) == (expected.ids, expected.offsets), (text, entries)
            compared += 1
    assert compared > amount(20, 4_000) * 5


@given(st.text(max_size=40))
def test_tokens_of_bytes_cover_the_text(text):
    """Without normalizer: monotone, nothing left out, and the tokens of one character all have it."""
    ids, offsets = PLAIN.encode_with_offsets(text)
    assert ids == PLAIN.encode(text)
    at = 0
    for token_id, (start, end) in zip(ids, offsets):
        assert start in (at, at - 1) or text[start:at].encode("utf-16", "surrogatepass")[1] >> 2 == 0x36
        assert start < end <= len(text)
        covered = PLAIN.encode_ordinary(text[start:end])
        assert PLAIN.decode_bytes([token_id]) in PLAIN.decode_bytes(covered)
        at = end
    assert at == len(text)


def test_special_tokens_and_surrogates():
    assert PLAIN.encode_with_offsets("a<s>b", allowed_special="all")[1] == [(0, 1), (1, 4), (4, 5)]
    assert set(PLAIN.encode_with_offsets("x\ud83d\ude00\ud800!")[1]) == {(0, 1), (1, 3), (3, 4), (4, 5)}
    assert PLAIN.encode_with_offsets("") == ([], [])


E_ACUTE = "e\u0301"


@pytest.mark.parametrize(
    "normalizer, text, become, places",
    [
        (NFC(), f"a{E_ACUTE}b", "aéb", [(0, 1), (1, 2), (3, 4)]),  # the accent itself belongs to nothing
        (NFKC(), "ﬁx", "fix", [(0, 1), (0, 1), (1, 2)]),
        (Lowercase(), "İA", "i\u0307a", [(0, 1), (0, 1), (1, 2)]),
        (Strip(), " a b ", "a b", [(1, 2), (2, 3), (3, 4)]),
        (Prepend("▁"), "ab", "▁ab", [(0, 1), (0, 1), (1, 2)]),
        (Replace(Pattern("String", "  "), "--"), "a  b", "a--b", [(0, 1), (2, 3), (2, 3), (3, 4)]),
        (NormalizerSequence((Strip(), Prepend("▁"))), " ab", "▁ab", [(1, 2), (1, 2), (2, 3)]),
        (SentencePieceNormalizer(""), " a  b ", "▁a▁b", [(1, 2), (1, 2), (2, 3), (4, 5)]),
        (str.title, "ab cd", "Ab Cd", [(0, 4)] * 4 + [(4, 5)]),  # depends on what is beside
        (str.upper, "aßb", "ASSB", [(0, 1), (1, 2), (1, 2), (2, 3)]),  # does not
        (lambda text: text[::-1], "abca", "acba", [(0, 1), (1, 3), (1, 3), (3, 4)]),
        (lambda text: "", "ab", "", []),
        (lambda text: text + "!", "ab", "ab!", [(0, 1), (1, 2), (1, 2)]),
    ],
)
def test_normalizers(normalizer, text, become, places):
    found = normalize_aligned(normalizer, AlignedString.of(text))
    assert found.text == become
    assert list(zip(found.starts, found.ends)) == places


@given(st.text(st.sampled_from(f"ab  ▁éﬁ½İ日{E_ACUTE}"), max_size=15), st.booleans(), st.booleans())
def test_sentencepiece_alignment_has_every_character(text, dummy, remove):
    normalizer = SentencePieceNormalizer("", add_dummy_prefix=dummy, remove_extra_whitespaces=remove)
    found = normalize_aligned(normalizer, AlignedString.of(text))
    assert found.text == normalizer(text)
    for char, start, end in zip(found.text, found.starts, found.ends):
        assert char == "▁" or char in text[start:end]


class Shouting(PreTokenizer):
    """A pre-tokenizer of somebody's own, which changes the text in a way that nobody knows."""

    def split(self, text, first=True):
        return [word.upper() for word in text.split(" ")]


@pytest.mark.parametrize(
    "step, text, places",
    [
        (Metaspace(), "a b", {"▁a": [(0, 1), (0, 1)], "▁b": [(1, 2), (2, 3)]}),
        (ByteLevel(), "a b", {" a": [(0, 1), (0, 1)], " b": [(1, 2), (2, 3)]}),
        (
            PreTokenizerSequence((UnicodeScripts(), ByteLevel(use_regex=False))),
            " ab",
            {" ab": [(1, 2), (1, 2), (2, 3)]},
        ),
        (Shouting(), "a B", {"A": [(0, 3)], "B": [(2, 3)]}),
    ],
)
def test_pre_tokenizers(step, text, places):
    pieces = align_pieces(step, AlignedString.of(text), step.split(text))
    assert {piece.text: list(zip(piece.starts, piece.ends)) for piece in pieces} == places


def test_long_texts_take_linear_time():
    """Quadratic offsets would not end (each of these takes less than a second)."""
    llama = PLAIN.with_options(
        normalizer=NormalizerSequence((Prepend("▁"), Replace(Pattern("String", " "), "▁"))), pre_tokenizer=None
    )
    size = amount(8_000, 200_000)
    for ours in (PLAIN, llama, PLAIN.with_options(normalizer=NFC())):
        for text in ("é" * size, "a b " * (size // 4), E_ACUTE * (size // 2), " " * size):
            ids, offsets = ours.encode_with_offsets(text)
            assert len(ids) == len(offsets) and offsets[-1][1] in (len(text), len(text) - 1)


def test_fuzz_with_trimming(tmp_path):
    """Spaces at the edges of tokens are left out where the file's post-processor says so."""
    from bpelab.postprocessors import ByteLevel as Trim

    for prefix in (False, True):
        ours = PLAIN.with_options(post_processor=Trim(prefix), pre_tokenizer=ByteLevel(prefix))
        ours.save(tmp_path)
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        rng = random.Random(1)
        for _ in range(amount(150, 10_000)):
            text = "".join(
                char for char in fuzz_text(rng) + rng.choice(("", " ", "  x")) if not "\ud800" <= char <= "\udfff"
            )
            expected = theirs.encode(text)
            assert ours.encode_with_offsets(text, allowed_special="all") == (expected.ids, expected.offsets)
