"""Pieces of a text in parts, and the encoder's own steps: what is given out at once, and in which order."""

import random

import pytest

from bpelab import BPEModel, BPETokenizer, SpecialTokenError, StreamEncoder, TemplateProcessing, encode_iterable
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.normalizers import NFKD, Lowercase, NormalizerSequence, Prepend, Replace, Strip
from bpelab.pretokenizers.char_types import Digits, FixedLength, WhitespaceSplit
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.regex.matchers import Pattern
from bpelab.streaming.pre_tokenizing import StreamSplitter
from bpelab.texts.text_buffer import add
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, needs_extension
from .streams import check_encoding


def of_characters(characters: str, *more: str, **options) -> BPETokenizer:
    """A tokenizer whose ids are the places of characters, or of what follows them."""
    tokens = dict(enumerate(token.encode() for token in [*characters, *more]))
    alphabet = {char.encode(): number for number, char in enumerate(characters)}
    return BPETokenizer(
        BPEModel(tokens, {}, alphabet, initial_symbols=InitialSymbols(characters=True)), pattern=None, **options
    )


def seen(tokenizer, parts, **options) -> list[tuple]:
    """For each part its ids and what is held; in the end the ids then."""
    encoder = StreamEncoder(tokenizer, **options)
    return [*((encoder.push(part), encoder.pending) for part in parts), encoder.finish()]


def test_cuts_of_fixed_lengths():
    for steps in (FixedLength(3), PreTokenizerSequence((FixedLength(3), Digits()))):
        cutter = StreamSplitter(of_characters("ab", pre_tokenizer=steps).pipeline)
        assert [
            cutter.last_boundary(None, "ab"),
            cutter.last_boundary(None, "abc"),
            cutter.last_boundary(None, "abcd"),
        ] == [None, 3, 3]
        assert [cutter.last_boundary(add(None, "ab"), text) for text in ("", "c", "cde", "cdef")] == [None, 1, 1, 4]
        assert cutter.last_boundary(add(None, "a"), "bcdef") == 5
    assert StreamSplitter(of_characters("ab", pre_tokenizer=Digits()).pipeline).last_boundary(None, "aaa1") == 3


def test_cuts_that_a_vocabulary_implies():
    """No token has b before a space, and one has a."""
    cutter = StreamSplitter(of_characters("ab▁", "a▁").pipeline)
    assert [cutter.last_boundary(None, text) for text in ("b▁a", "a▁a", "bb", "▁▁")] == [1, None, None, None]
    assert cutter.last_boundary(add(None, "b"), "▁") == 0
    spaces = of_characters("ab▁", "a▁", pre_tokenizer=Metaspace("▁", "first", False))
    assert [StreamSplitter(spaces.pipeline).last_boundary(None, text) for text in ("b▁a", "b a", "a a", "bb")] == [
        1,
        1,
        None,
        None,
    ]
    nothing = StreamSplitter(of_characters("ab").pipeline)
    assert nothing.last_boundary(None, "b▁a b") is None


def test_ids_of_the_rest():
    """Nothing is put in front of it."""
    words = of_characters("ab▁", pre_tokenizer=Metaspace())
    assert (words.encode("a b"), StreamSplitter(words.pipeline).more_ids("a b")) == ([2, 0, 2, 1], [0, 2, 1])
    row = PreTokenizerSequence((Digits(), Metaspace("▁", "first")))
    assert StreamSplitter(of_characters("ab▁1", pre_tokenizer=row).pipeline).more_ids("a1") == [0, 3]
    for implied in (of_characters("ab▁", "a▁"), of_characters("ab")):
        assert StreamSplitter(implied.pipeline).more_ids("ab") == [0, 1]


def test_c_encodes_what_follows_a_cut(monkeypatch):
    """As it does the beginning: no piece is looked up by Python."""
    needs_extension()
    tokenizer, text = BPETokenizer.train("low lower lowest " * 9, 262), "lowest lower\n" * 50
    monkeypatch.setattr(tokenizer.pipeline, "encode_pieces", None)
    assert [ids for part in StreamEncoder(tokenizer).stream(text.splitlines(True)) for ids in part] == tokenizer.encode(
        text
    )


def test_what_comes_of_each_part():
    letters = of_characters("ab1 ", pre_tokenizer=Digits(), special_tokens={"<a>": 9, "<b>": 8})
    around = letters.with_options(post_processor=TemplateProcessing(("<a>", "$A", "<b>")))
    assert seen(letters, ["ab", "1", "", "a<a"]) == [([], "ab"), ([0, 1], "1"), ([], "1"), ([2], "a<a"), [0, 0]]
    assert seen(around, ["", "a1"]) == [([9], ""), ([0], "1"), [2, 8]]
    assert seen(around, []) == [[9, 8]]
    assert seen(around, ["a"], add_special_tokens=False) == [([], "a"), [0]]
    assert seen(letters, ["a<a", ">1", "<b>b"], allowed_special="all") == [
        ([], "a<a"), ([0, 9], "1"), ([2, 8], "b"), [1]
    ]  # fmt: skip
    assert seen(letters, ["a<a><b>"], allowed_special=["<b>"]) == [([0, 0, 8], ""), []]


def test_disallowed_tokens_are_named_with_their_place():
    letters = of_characters("ab1 ", pre_tokenizer=Digits(), special_tokens={"<a>": 9, "<b>": 8})
    encoder = StreamEncoder(letters, allowed_special=["<a>"], disallowed_special="all")
    assert encoder.push("ab<a>1<") == [0, 1, 9]
    with pytest.raises(SpecialTokenError, match=r"^the text holds the special token '<b>' at character 8\. Pass "):
        encoder.push("1<b>")
    assert encoder.pending == "1<"
    with pytest.raises(SpecialTokenError, match=r"^the text holds the special token '<b>' at character 6\. Pass "):
        encoder.push("b>")
    assert (encoder.push("b"), encoder.finish()) == ([], [2, 1])
    with pytest.raises(SpecialTokenError, match="at character 0"):
        encoder.push("<b>")
    for option in ("allowed_special", "disallowed_special"):
        with pytest.raises(SpecialTokenError, match=rf"\b{option}\b"):
            StreamEncoder(letters, **{option: "<a>"})


def test_streams_of_anything_else_are_refused():
    letters = of_characters("ab1 ", pre_tokenizer=Digits())
    for chunks, name in (("text", "str"), (b"text", "bytes"), (5, "int")):
        with pytest.raises(
            TypeError, match=rf"^a stream is an iterable of texts, not {name}; for one text, use encode$"
        ):
            next(StreamEncoder(letters).stream(chunks))
    with pytest.raises(TypeError, match=r"^a StreamEncoder is pushed text \(str\), not int$"):
        StreamEncoder(letters).push(5)
    assert list(StreamEncoder(letters).stream(["a", "1", "", "a"])) == [[0], [2], [0]]
    assert list(StreamEncoder(letters).stream([])) == []
    assert list(encode_iterable(letters, ["a1", "a"])) == [0, 2, 0]


class Reader:
    """Says how much is asked for."""

    def __init__(self, *parts: str) -> None:
        self.parts, self.asked = [*parts, "", "never"], []

    def read(self, size: int) -> str:
        self.asked.append(size)
        return self.parts.pop(0)


def test_files_are_read_in_blocks_to_their_end():
    reader = Reader("a1", "a")
    assert list(encode_iterable(of_characters("ab1 ", pre_tokenizer=Digits()), reader)) == [0, 2, 0]
    assert reader.asked == [1 << 16] * 3
    assert reader.parts == ["never"]


def test_surrogates():
    letters = of_characters("a😀\ufffd1X", pre_tokenizer=Digits())
    assert seen(letters, ["a\ud83d", "\ude00", "1"]) == [([], "a\ud83d"), ([], "a😀"), ([0, 1], "1"), [3]]
    assert seen(letters, ["\ud83d", "\ud83d", "\ude00a"]) == [
        ([], "\ud83d"), ([], "\ufffd\ud83d"), ([], "\ufffd😀a"), [2, 1, 0]
    ]  # fmt: skip
    assert seen(letters, ["\ud83d"]) == [([], "\ud83d"), [2]]
    assert seen(letters, ["1\ud83d"]) == [([], "1\ud83d"), [3, 2]]
    assert seen(letters, ["\ude00a", "\udbff", "\ud800"]) == [
        ([], "\ufffda"), ([], "\ufffda\udbff"), ([], "\ufffda\ufffd\ud800"), [2, 0, 2, 2]
    ]  # fmt: skip


def test_what_is_held_in_its_order():
    """Pieces, text that may be a token once it is normalized, the normalizer's, a token's beginning, half a pair."""
    special = SpecialTokens([AddedToken("<a>", 9, True), AddedToken("xyz", 8, False, normalized=True)])
    tokenizer = of_characters("ab1xyz ", pre_tokenizer=Digits(), special_tokens=special, normalizer=Strip())
    assert seen(tokenizer, [" a", "b", "xy", "  ", "<a", "\ud83d"], allowed_special="all") == [
        ([], "a"), ([], "ab"), ([], "abxy"), ([], "abxy  "), ([], "abxy  <a"), ([], "abxy  <a\ud83d"),
        [0, 1, 3, 4, 6, 6, 0],
    ]  # fmt: skip
    assert seen(tokenizer, ["axy", "zb", " <a", "> b", " "], allowed_special="all") == [
        ([], "axy"), ([0, 8], "b"), ([], "b <a"), ([1, 9], "b"), ([], "b "), [1]
    ]  # fmt: skip


def test_only_the_first_piece_gets_a_space():
    """The first of the text, not of what follows a token; and what all comes from its first character."""
    spaces = of_characters("ab▁", pre_tokenizer=Metaspace("▁", "first"), special_tokens={"<a>": 9})
    assert seen(spaces, ["a", " b", "<a>", "b"], allowed_special="all") == [
        ([], "a"), ([2, 0], " b"), ([2, 1, 9], ""), ([], "b"), [1]
    ]  # fmt: skip
    assert seen(spaces, ["<a>", "b"], allowed_special="all") == [([9], ""), ([], "b"), [1]]
    row = PreTokenizerSequence((Digits(True), Metaspace("▁", "first")))
    doubled = spaces.with_options(pre_tokenizer=row, normalizer=Replace(Pattern("String", "a"), "1a1"))
    grown = of_characters("ab1▁", pre_tokenizer=row, normalizer=Prepend("b1"))
    plain = spaces.with_options(pre_tokenizer=row)
    stripped = plain.with_options(normalizer=Strip())
    texts = ((doubled, "ab ab"), (doubled, "a"), (grown, "ab ab"), (grown, "b"), (plain, "11"), (stripped, " a"))
    for tokenizer, text in texts:
        for size in (1, 2, 9):
            parts = [text[start : start + size] for start in range(0, len(text), size)]
            *given, last = seen(tokenizer, parts)
            assert [i for ids, _ in given for i in ids] + last == tokenizer.encode(text)


ROWS = [
    (Digits(True), Metaspace("▁", "first")),
    (Metaspace("▁", "first"), Digits(True)),
    (WhitespaceSplit(), Digits(True), Metaspace("▁", "first")),
    (Metaspace("▁", "first"),),
]
GROWING = [
    None,
    NFKD(),
    Lowercase(),
    Strip(),
    Prepend("1"),
    Prepend("b1 "),
    NormalizerSequence((Prepend("1"), Replace(Pattern("String", "1a"), "a12"))),
    *(Replace(Pattern(kind, string), content)
      for kind, string in (("String", "a"), ("String", "ab"), ("Regex", "a+|b"), ("Regex", "ab?"))
      for content in ("111", "1 1", "", "a1")),
]  # fmt: skip


def test_what_comes_of_the_first_character():
    """Pre-tokenizers that ask for it, behind normalizers that make many of one or one of many."""
    rng = random.Random(41)
    special = SpecialTokens([AddedToken("<A>", 9, True), AddedToken("B1", 8, False, normalized=True)])
    for _ in range(amount(400, 20_000)):
        row, normalizer = PreTokenizerSequence(rng.choice(ROWS)), rng.choice(GROWING)
        tokenizer = of_characters("ab1▁e ", pre_tokenizer=row, normalizer=normalizer, special_tokens=special)
        for _ in range(6):
            text = "".join(
                rng.choices(["a", "b", "1", " ", "é", "\u0301", "<A>", "B1", "b1", "½"], k=rng.randint(1, 6))
            )
            check_encoding(tokenizer, rng, text, allowed_special="all")


def test_tokens_of_normalized_text():
    special = SpecialTokens([AddedToken("B1", 8, False, normalized=True)])
    letters = of_characters("ab1 ", pre_tokenizer=Digits(), special_tokens=special, normalizer=Lowercase())
    assert seen(letters, ["ab", "1b", "B", "1"]) == [([], "ab"), ([0, 8], "b"), ([], "bb"), ([1, 8], ""), []]


def test_the_first_piece_is_given_as_soon_as_it_is_sure():
    row = PreTokenizerSequence((Digits(True), Metaspace("▁", "first")))
    spaces = of_characters("ab1▁", pre_tokenizer=row, normalizer=Replace(Pattern("String", "a"), "1b1"))
    assert seen(spaces, ["a", "b", "b1"]) == [([], "1b1"), ([3, 2, 3, 1, 3, 2], "b"), ([1, 1], "1"), [2]]
    assert seen(spaces, ["ab"]) == [([3, 2, 3, 1, 3, 2], "b"), [1]]
