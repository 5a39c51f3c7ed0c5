"""Stages one by one: what each gives at once, and what it holds back, which is no more than it has to."""

import base64
import io
import random
import unicodedata

import pytest

from bpelab import BPELabError, BPEModel, BPETokenizer, StreamDecoder
from bpelab.cli.stdin_stream import read_blocks, read_ids, read_texts
from bpelab.decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevel,
    Decoder,
    DecoderSequence,
    Fuse,
    Metaspace,
    Replace,
    Strip,
    WordPiece,
)
from bpelab.decoders.byte_level import ByteLevelStage
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.normalizers import (
    BertNormalizer,
    Lowercase,
    Normalizer,
    Precompiled,
    Prepend,
    Replace as ReplaceText,
    Strip as StripText,
    TextTooLongError,
    UnicodeNormalizer,
    base,
)
from bpelab.normalizers.base import stage_of
from bpelab.normalizers.ends import StripStage
from bpelab.normalizers.forms import normalizes_alone
from bpelab.normalizers.precompiled import between_clusters
from bpelab.normalizers.sentencepiece import SentencePieceNormalizer
from bpelab.regex.matchers import Pattern
from bpelab.streaming.added_token_search import StreamMatcher
from bpelab.streaming.decoder import fused_stages
from bpelab.texts.stages import BufferAllStage, LiteralStage, StageChain, last_boundary
from bpelab.texts.text_buffer import add, join, length
from bpelab.texts.utf8_parts import utf8_text
from bpelab.unicode.byte_alphabet import to_alphabet
from bpelab.vocab.added_token_matcher import AddedTokenMatcher
from bpelab.vocab.added_tokens import AddedToken

from ..conftest import amount, fuzz_text
from ..normalizers.test_normalizers import charsmap
from ..streaming.streams import cut


def shown(stage, parts) -> list[tuple]:
    """For each part what is given and what is held; in the end what is given then."""
    state, out = stage.start, []
    for part in parts:
        state, given = stage.push(state, part)
        out.append((given, stage.buffered(state)))
    return [*out, stage.finish(state)]


def test_chains():
    chain = add(add(None, "ab"), "c")
    assert (join(chain), length(chain)) == ("abc", 3)
    assert add(chain, "") is chain
    assert (join(None), length(None), add(None, "")) == ("", 0, None)
    assert join(add(chain, "d")) == "abcd" and join(chain) == "abc"


def test_the_last_place():
    def before_capitals(a, b):
        return b.isupper()

    assert last_boundary(None, "aBcDe", before_capitals) == 3
    assert last_boundary(None, "Abc", before_capitals) is None  # nothing is before it
    assert last_boundary(add(None, "x"), "Abc", before_capitals) == 0
    assert last_boundary(add(add(None, "x"), "yZ"), "abc", before_capitals) is None
    assert last_boundary(add(None, "x"), "", before_capitals) is None
    assert last_boundary(add(add(None, "x"), "yz"), "A", lambda a, b: (a, b) == ("z", "A")) == 0


def test_marks_wait_for_what_follows():
    stage = stage_of(UnicodeNormalizer("NFC"))
    parts = ["e", "\u0301", "\u0323", "x", "", "yz"]
    assert shown(stage, parts) == [
        ("", "e"), ("", "e\u0301"), ("", "e\u0301\u0323"), ("\u1eb9\u0301", "x"), ("", "x"), ("xy", "z"), "z"
    ]  # fmt: skip
    assert normalizes_alone("a") and normalizes_alone("가")
    assert not any(map(normalizes_alone, ("\u0301", "\u1160", "\u11ff", "\u0344")))
    assert normalizes_alone("\u115f") and normalizes_alone("\u1200")
    assert between_clusters("a", "b") and between_clusters("a", "🇺")
    assert (
        not between_clusters("🇺", "🇸") and not between_clusters("a", "\u0301") and not between_clusters("\u0301", "a")
    )


def test_what_looks_at_characters_holds_nothing():
    assert shown(stage_of(Lowercase()), ["Ab", "", "C"]) == [("ab", ""), ("", ""), ("c", ""), ""]
    assert shown(stage_of(None), ["Ab"]) == [("Ab", ""), ""]
    assert shown(stage_of(BertNormalizer(lowercase=False)), ["É\n"]) == [("É ", ""), ""]
    assert shown(stage_of(BertNormalizer()), ["É", "\u0301x"]) == [("", "É"), ("e", "x"), "x"]


class Backwards(Normalizer):
    """A normalizer that nobody knows."""

    def __call__(self, text):
        return text[::-1]


def test_maps_and_unknown_normalizers():
    packed = base64.b64encode(charsmap({"½": "1/2", "ab": "c"})).decode()
    assert shown(stage_of(Precompiled(packed)), ["½", "\u0301", "ab", "x"]) == [
        ("", "½"), ("", "½\u0301"), ("1/2a", "b"), ("b", "x"), "x"
    ]  # fmt: skip
    sentencepiece = stage_of(SentencePieceNormalizer(packed))
    assert shown(sentencepiece, ["½x", "y z"]) == [("", "½x"), ("▁1/2xy", " z"), "▁z"]
    assert shown(stage_of(Backwards()), ["ab", "c"]) == [("", "ab"), ("", "abc"), "cba"]


def test_replacements():
    string, behind = ReplaceText(Pattern("String", "ab"), "-"), ReplaceText(Pattern("Regex", r"(?<=a)b|\s{2,}"), "-")
    assert shown(stage_of(string), ["xa", "b", "a"]) == [("x", "a"), ("-", ""), ("", "a"), "a"]
    assert shown(stage_of(behind), ["x", "a", "b", "b", " ", " ", "ab"]) == [
        ("", "x"), ("x", "a"), ("a", "b"), ("-", "b"), ("b", " "), ("", "  "), ("-a", "b"), "-"
    ]  # fmt: skip
    plain = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    assert shown(stage_of(plain), ["É\x01日", "x"]) == [("E\x01", "日"), ("日", "x"), "x"]


def test_a_pattern_without_a_table_holds_all():
    stage = stage_of(ReplaceText(Pattern("Regex", r"(a)\1"), "-"))
    assert shown(stage, ["aa", "b"]) == [("", "aa"), ("", "aab"), "-b"]


def test_a_replacement_that_grows_too_long(monkeypatch):
    monkeypatch.setattr(base, "MAX_CHARACTERS", 10)
    monkeypatch.setattr(base, "MAX_FACTOR", 3)
    for size, fits, grows in ((3, 5, None), (4, 2, 3), (10, 1, 2)):
        stage = stage_of(ReplaceText(Pattern("Regex", "[ab]"), "x" * size))
        assert shown(stage, ["a" * fits + "-"]) == [("x" * size * fits, "-"), "-"]
        if grows:
            with pytest.raises(TextTooLongError, match="Replace would make"):
                stage.push(stage.start, "a" * grows + "-")


def test_in_front():
    stage = stage_of(Prepend("_"))
    assert shown(stage, ["", "a", "", "b"]) == [("", ""), ("_a", ""), ("", ""), ("b", ""), ""]
    assert shown(stage, []) == [""]


@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, True), (False, False)])
def test_white_space_at_the_ends(sides):
    expected = {
        (True, True): [("", ""), ("a", " "), ("", "  "), ("  b", ""), ("", "\t"), ""],
        (True, False): [("", ""), ("a ", ""), (" ", ""), ("b", ""), ("\t", ""), ""],
        (False, True): [("", " "), (" a", " "), ("", "  "), ("  b", ""), ("", "\t"), ""],
        (False, False): [(" ", ""), ("a ", ""), (" ", ""), ("b", ""), ("\t", ""), ""],
    }[sides]
    parts = [" ", "a ", " ", "b", "\t"]
    assert shown(StripStage(*sides), parts) == expected
    assert shown(stage_of(StripText(*sides)), parts) == expected


def test_white_space_is_that_of_hugging_face():
    assert shown(StripStage(True, True), ["\x1ca", "\x1c\x85"]) == [("\x1ca", ""), ("\x1c", "\x85"), ""]


def test_occurrences():
    stage = LiteralStage(lambda text: text.replace("aba", "-"), "aba")
    assert shown(stage, ["xa", "b", "a", "ba", "b", "x"]) == [
        ("x", "a"), ("", "ab"), ("-", ""), ("b", "a"), ("", "ab"), ("abx", ""), ""
    ]  # fmt: skip
    assert shown(stage, ["abab"]) == [("-b", ""), ""]
    assert shown(stage, ["ababa", "ba"]) == [("-b", "a"), ("-", ""), ""]
    assert shown(stage, ["ab"]) == [("", "ab"), "ab"]
    assert shown(LiteralStage(lambda text: text.replace("a", "b"), "a"), ["xa"]) == [("xb", ""), ""]


def test_all_is_held():
    stage = BufferAllStage(str.upper)
    assert shown(stage, ["a", "", "b"]) == [("", "a"), ("", "a"), ("", "ab"), "AB"]


def test_stages_in_a_row():
    """What a later stage holds comes first in the text."""
    row = StageChain([StripStage(False, True), LiteralStage(lambda text: text.replace("ab", "-"), "ab")])
    assert shown(row, ["xa ", " b", "a  "]) == [("x", "a "), ("a  b", ""), ("", "a  "), "a"]


def test_any_normalizer_and_any_cuts():
    rng = random.Random(12)
    for function in (lambda text: unicodedata.normalize("NFD", text), str.lower):
        for _ in range(amount(50, 2_000)):
            text = fuzz_text(rng).encode("utf-8", "replace").decode()
            stage = StageChain([BufferAllStage(function), StripStage(True, True)])
            *parts, last = shown(stage, cut(rng, text))
            assert "".join(given for given, _ in parts) + last == StripText()(function(text))


# -- tokens ------------------------------------------------------------------------------------------------------------


def tokens_shown(decoder, tokens) -> list[tuple]:
    stage = decoder.token_stage()
    state, out = stage.start, []
    for token in tokens:
        state, given = stage.push(state, token)
        out.append((given, stage.buffered(state)))
    return [*out, stage.finish(state)]


def test_decoders_of_tokens():
    assert tokens_shown(Replace(Pattern("String", "▁"), " "), ["▁a", "b"]) == [([" a"], b""), (["b"], b""), []]
    assert tokens_shown(Metaspace(), ["▁a", "▁b"]) == [(["a"], b""), ([" b"], b""), []]
    assert tokens_shown(WordPiece(), ["a", "##b", "c"]) == [(["a"], b""), (["b"], b""), ([" c"], b""), []]
    assert tokens_shown(CTC(), ["a", "a", "<pad>", "a"]) == [(["a"], b""), ([], b""), ([], b""), (["a"], b""), []]
    assert tokens_shown(BPEDecoder("</w>"), ["a</w>", "é</w>"]) == [
        ([], b"a</w>"), (["a "], "é</w>".encode()), ["é"]
    ]  # fmt: skip
    assert tokens_shown(BPEDecoder("</w>"), []) == [[]]
    assert tokens_shown(Fuse(), ["a", "b"]) == [([], b"a"), ([], b"ab"), ["ab"]]


def test_bytes_that_are_spelled():
    assert tokens_shown(ByteFallback(), ["<0x61>", "<0xC3>", "<0xA9>", "b", "<0xC3>"]) == [
        ([], b"a"), ([], b"a\xc3"), ([], "aé".encode()), (["aé", "b"], b""), ([], b"\xc3"), ["\ufffd"]
    ]  # fmt: skip
    assert tokens_shown(ByteFallback(), ["<0x61>", "<0xFF>", "<0x62>", "b"]) == [
        ([], b"a"),
        (["\ufffd"] * 2, b""),
        (["\ufffd"], b""),
        (["b"], b""),
        [],
    ]
    assert tokens_shown(ByteFallback(), ["<0x61>", "<0xED>", "<0xA0>"]) == [  # half a surrogate pair
        ([], b"a"),
        ([], b"a\xed"),
        (["\ufffd"] * 3, b""),
        [],
    ]
    assert tokens_shown(ByteFallback(), ["<0xED>", "<0x9F>", "<0xBF>"])[-1] == ["\ud7ff"]


# -- what is one token -------------------------------------------------------------------------------------------------


def fused_shown(decoder, parts):
    return shown(StageChain(fused_stages([decoder])), parts)


def test_decoders_of_one_token():
    assert fused_shown(Fuse(), ["a", "b"]) == [("a", ""), ("b", ""), ""]
    assert fused_shown(Strip("_", 2, 1), ["_", "__a", "_", "_b_"]) == [
        ("", ""), ("_a", ""), ("", "_"), ("__b", "_"), ""
    ]  # fmt: skip
    assert fused_shown(Strip("_", 0, 2), ["_a__", "_", ""]) == [("_a", "__"), ("_", "__"), ("", "__"), ""]
    assert fused_shown(BPEDecoder("</w>"), ["a</", "w>b"]) == [("a", "</"), ("b", ""), ""]
    assert fused_shown(ByteFallback(), ["<0x", "41>"]) == [("", "<0x"), ("", "<0x41>"), "A"]
    assert fused_shown(ByteFallback(), ["<0x41>", "b", "<0x41>"]) == [
        ("", "<0x41>"), ("<0x41>b", ""), ("<0x41>", ""), ""
    ]  # fmt: skip
    assert fused_shown(WordPiece(), ["a ", ".b"]) == [("a", " "), (".b", ""), ""]
    assert fused_shown(WordPiece(cleanup=False), ["a ", ".b"]) == [("a ", ""), (".b", ""), ""]
    assert fused_shown(Replace(Pattern("String", "ab"), "-"), ["xa", "b"]) == [("x", "a"), ("-", ""), ""]
    assert fused_shown(CTC("<pad>", "|"), ["a<pa", "d>b|"]) == [("a", "<pa"), ("b ", ""), ""]
    assert fused_shown(ByteLevel(), ["a", "b"]) == [("", "a"), ("", "ab"), "ab"]


def in_one_token(decoders, parts):
    """What the stages give in all, and what the decoders make of the whole as one token."""
    *given, last = shown(StageChain(fused_stages(decoders)), parts)
    tokens = ["".join(parts)]
    for decoder in decoders:
        tokens = decoder.decode_chain(tokens)
    return "".join(out for out, _ in given) + last, "".join(tokens)


class Loud(Decoder):
    """A decoder that nobody knows, and that makes something of an empty token."""

    def decode_chain(self, tokens, errors="replace"):
        return [token + "!" for token in tokens]


def test_empty_tokens_behind_a_fuse():
    for decoders in (
        [CTC(), Loud()],
        [CTC(), Fuse(), Loud()],
        [CTC(), Metaspace(), Loud()],
        [Strip("_", 1, 0), Loud()],
    ):
        for parts in (["<pad>"], ["_"], [""], ["a"]):
            got, expected = in_one_token(decoders, parts)
            assert got == expected, (decoders, parts)


@pytest.mark.parametrize("delimiter", ["|", ""])
@pytest.mark.parametrize("cleanup", [True, False])
def test_ctc_behind_a_fuse(delimiter, cleanup):
    ctc = CTC("<pad>", delimiter, cleanup)
    for parts in (["a<pa", "d>b|", "c ", ".d"], ["<pad>"], ["ab"], [""]):
        got, expected = in_one_token([ctc], parts)
        assert got == expected
    nothing = Replace(Pattern("Regex", "^"), "x")  # which makes something of an empty token, and nothing of none
    for decoders in (
        [ctc, nothing],
        [ctc, Fuse(), nothing],
        [ctc, Metaspace(), nothing],
        [nothing],
        [ctc, Loud()],
        [Loud()],
    ):
        for parts in (["<pad>"], ["a"]):
            got, expected = in_one_token(decoders, parts)
            assert got == expected, decoders


def test_what_is_pending_at_several_places():
    """What stands further on was before in the text; bytes of a character stay bytes."""
    tokens = dict(enumerate([b"a", b"<0xC3>", to_alphabet(b"\xc3").encode()]))
    model = BPEModel(tokens, {}, {}, initial_symbols=InitialSymbols(characters=True))
    buffered = BPETokenizer(model, pattern=None, decoder=DecoderSequence((ByteFallback(), BPEDecoder("</w>"))))
    stream = StreamDecoder(buffered)
    assert stream.pending == b""
    assert (stream.push([0, 1]), stream.pending) == ("", b"a\xc3")
    level = BPETokenizer(model, pattern=None, decoder=DecoderSequence((BPEDecoder("</w>"), ByteLevel())))
    stream = StreamDecoder(level)
    assert (stream.push([2, 0]), stream.pending) == ("", b"\xc3a")
    for decoder in (BPEDecoder("</w>"), Fuse()):
        stage = decoder.token_stage()
        assert stage.buffered(stage.push(stage.start, "\ud800")[0]) == b"?"
        assert stage.buffered(stage.start) == b""


def test_half_a_character_is_no_surrogate():
    assert utf8_text(b"", b"\xed\x9f") == (b"\xed\x9f", "")
    assert utf8_text(b"\xed\x9f", b"\xbfa") == (b"", "\ud7ffa")
    assert utf8_text(b"\xed", b"\xa0") == (b"", "\ufffd" * 2)


def test_bytes_of_the_alphabet():
    stage = ByteLevelStage()
    assert shown(stage, ["Ã", "©", "Ġa", "日", "â"]) == [
        ("", "\udcc3"), ("é", ""), (" a", ""), ("日", ""), ("", "\udce2"), "\ufffd"
    ]  # fmt: skip


# -- added tokens ------------------------------------------------------------------------------------------------------


def search(*contents, **flags):
    tokens = [(content, AddedToken(content, number, **flags)) for number, content in enumerate(contents)]
    return StreamMatcher(AddedTokenMatcher(tokens), lambda token: True)


def settled(found, parts):
    state, out = found.start, []
    for part in parts:
        state, given = found.push(state, part)
        out.append((given, found.buffered(state)))
    return out


def test_what_may_become_a_token_is_held():
    assert settled(search("<a>", "<a><b>"), ["x<", "a", ">", "c", "<a><", "b>", "<b"]) == [
        ("x", "<"), ("", "<a"), ("", "<a>"), ("<a>c", ""), ("", "<a><"), ("<a><b>", ""), ("<b", "")
    ]  # fmt: skip
    assert settled(search(), ["<a"]) == [("<a", "")]


def test_what_flags_look_at_is_held():
    assert settled(search("<a>", lstrip=True), ["x ", " ", "y", " <"]) == [
        ("x", " "),
        ("", "  "),
        ("  ", "y"),
        ("y", " <"),
    ]
    assert settled(search("<a>", rstrip=True), ["x<a>", " ", " y", "z"]) == [
        ("x", "<a>"), ("", "<a> "), ("<a>  ", "y"), ("y", "z")
    ]  # fmt: skip
    assert settled(search("ab", single_word=True), ["xa", "b", " ab", "!c"])[-1] == ("ab!", "c")


def test_what_stands_beside_a_word_is_held():
    assert settled(search("ab", single_word=True), list("xaxab-")) == [
        ("", "x"), ("", "xa"), ("xa", "x"), ("", "xa"), ("", "xab"), ("xab", "-")
    ]  # fmt: skip
    assert settled(search("-b", single_word=True), ["x", "-b", "x-", "--"]) == [
        ("", "x"), ("", "x-b"), ("", "x-bx-"), ("x-bx--", "-")
    ]  # fmt: skip
    assert settled(search("b-", single_word=True), ["xb", "-", "x", "-b", "-", "- "]) == [
        ("", "xb"), ("", "xb-"), ("", "xb-x"), ("xb-x", "-b"), ("", "-b-"), ("-b--", " ")
    ]  # fmt: skip
    assert settled(search("a", single_word=True), ["-a", "b", " "]) == [("-", "a"), ("", "ab"), ("ab", " ")]
    assert settled(search("abc", single_word=True), ["-abc", "d", " "]) == [("-", "abc"), ("", "abcd"), ("abcd", " ")]
    assert settled(search(" a", "b ", rstrip=True), ["x a", " b", "  c", "d"]) == [
        ("x", " a"), (" a ", "b"), ("b  ", "c"), ("c", "d")
    ]  # fmt: skip
    assert settled(search("  ", "b", lstrip=True), ["x ", "  b", "  c", "d"]) == [
        ("x", " "), ("", "   b"), ("   b  ", "c"), ("c", "d")
    ]  # fmt: skip


def test_as_much_as_can_be_is_settled():
    assert settled(search("aaa", "ab"), list("caaabaab")) == [
        ("c", ""), ("", "a"), ("", "aa"), ("", "aaa"), ("aaab", ""), ("", "a"), ("", "aa"), ("aab", "")
    ]  # fmt: skip
    assert settled(search("abcd", "bc"), ["xabc", "e", "ab", "cd", "bcbcd"]) == [
        ("x", "abc"), ("abce", ""), ("", "ab"), ("abcd", ""), ("bcbcd", "")
    ]  # fmt: skip
    assert settled(search("<a>", "<a><b>", "<c>"), ["<a>", "<b>"]) == [("", "<a>"), ("<a><b>", "")]
    assert settled(search("a", lstrip=True), [*" " * 9, "x", "y"])[-2:] == [(" " * 9, "x"), ("x", "y")]
    assert settled(search("abab"), [*"ab" * 9, "x"])[-2:] == [("", "ab" * 9), ("ab" * 9 + "x", "")]


def tokens_of(found, parts):
    """What a search finds in parts of a text: tokens, and the text between them."""
    state, out = found.start, []
    for part in [*parts, None]:
        state, given = (state, found.buffered(state)) if part is None else found.push(state, part)
        for text, token_id in found.split(given):
            joins = token_id is None and out and out[-1][1] is None
            out[-1:] = [(out[-1][0] + text, None)] if joins else [*out[-1:], (text, token_id)]
    return out


def test_tokens_in_parts_are_those_of_the_whole():
    rng = random.Random(31)
    for _ in range(amount(400, 30_000)):
        contents = {"".join(rng.choices("aab -", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 4))}
        names = [name for name in ("lstrip", "rstrip", "single_word") if rng.random() < 0.3]
        tokens = [
            (content, AddedToken(content, number, **{name: rng.random() < 0.6 for name in names}))
            for number, content in enumerate(sorted(contents))
        ]
        found = StreamMatcher(AddedTokenMatcher(tokens), lambda token: True)
        for _ in range(6):
            pieces = rng.choices([*contents, *"abx -", " " * 9, "ab" * 7, "a" * 9], k=rng.randint(1, 7))
            text = "".join(pieces)
            assert tokens_of(found, cut(rng, text, rng.choice((1, 2, 9)))) == tokens_of(found, [text]), (tokens, text)


# -- pipes -------------------------------------------------------------------------------------------------------------


class Pipe:
    """Gives what has arrived, in these parts."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = [*parts, b""]

    def read(self, size: int) -> bytes:
        assert size > 1_000
        return self.parts.pop(0)


def test_text_from_a_pipe():
    assert list(read_blocks(Pipe(b"a", b"bc"))) == [b"a", b"bc"]
    assert list(read_blocks(io.BytesIO(b"abc"))) == [b"abc"]
    slow = Pipe(b"ab", b"c")
    slow.read1, slow.read = slow.read, None  # which waits until all that is asked for has come
    assert list(read_blocks(slow)) == [b"ab", b"c"]
    assert list(read_texts(Pipe(b"a\xe6\x97", b"\xa5b"))) == ["a", "日b", ""]
    for parts, at in (
        ((b"ab\xff",), "2"),
        ((b"a" * 1_500, b"\xff"), "1,500"),
        ((b"a\xe6", b"b"), "1"),
        ((b"a", b"\xe6"), "1"),
    ):
        with pytest.raises(BPELabError, match=f"^the input is not UTF-8: .+ at byte {at}$"):
            list(read_texts(Pipe(*parts)))


def test_numbers_from_a_pipe():
    assert list(read_ids(Pipe(b"1 2", b"3,\n4", b"]"))) == [[1], [23], [4], []]
    assert list(read_ids(Pipe(b"[1, 2"))) == [[1], [], [2]]
    assert list(read_ids(Pipe())) == [[]]
    with pytest.raises(BPELabError, match=r"^ids are integers: .*'a'"):
        list(read_ids(Pipe(b"1 a 2")))
