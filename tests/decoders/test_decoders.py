"""Every decoder against Hugging Face's class of the same name, on random tokens and parameters."""

import pickle
import random
from dataclasses import MISSING, fields

import pytest

from bpelab import decoders as ours
from bpelab._support.textio import valid_text
from bpelab.decoders import decode_tokens
from bpelab.normalizers import TextTooLongError, base
from bpelab.regex.matchers import Pattern
from bpelab.unicode.byte_alphabet import to_alphabet

from ..conftest import amount, fuzz_text

theirs = pytest.importorskip("tokenizers").decoders
Pair = tuple[ours.Decoder, object]

PIECES = (
    "", " ", "  ", "a", "the", "Ġthe", "Ċ", "▁", "▁▁a▁", "▁the", "</w>", "low</w>", "</w>a</w>", "##", "##ing",
    "####", "a##", "<pad>", "<pad>a", "|", "a|b", "||", " .", " ?!", " ' ", "do not", " do not", " n't", " 's", " 've",
    "'re", " 'm", ",", "!", "<0x61>", "<0xE4>", "<0xB8>", "<0xad>", "<0xC3>", "<0xA9>", "<0xFF>", "<0x0A>", "<0x0a>",
    "<0x+A>", "<0x-1>", "<0xZZ>", "<0X41>", "<0x 1>", "<0x1_>", "<0xé>", "<0x１>", "<0x614>", "a<0x61>", "<0x61>\n",
    "\ufffd", "\0", "Ã", "©", "ä¸Ń", "日", "é", "e\u0301", "\U0001f600", "ð", "Ł", "ĺ", "\xad", "\u0144",
)  # fmt: skip


def random_tokens(rng: random.Random) -> list[str]:
    tokens: list[str] = []
    for _ in range(rng.choice((0, 1, 2, 3, 5, 9, 20))):
        kind = rng.random()
        if kind < 0.55:
            tokens.append(rng.choice(PIECES))
        elif kind < 0.65:
            tokens.append(f"<0x{rng.randrange(256):02X}>")
        elif kind < 0.75:
            tokens += [f"<0x{byte:02X}>" for byte in rng.choice(PIECES).encode()]
        elif kind < 0.85:
            data = valid_text(fuzz_text(rng)).encode()
            cut = rng.randint(0, len(data))
            tokens += [to_alphabet(data[:cut]), to_alphabet(data[cut : cut + rng.randint(0, 9)])]
        elif kind < 0.92 and tokens:
            tokens.append(tokens[-1])
        else:
            tokens.append(valid_text(fuzz_text(rng)))
    return tokens


def random_text(rng: random.Random) -> str:
    return rng.choice(("", " ", "a", "▁", "##", "</w>", "é", "日本", rng.choice(PIECES)))


def random_pair(rng: random.Random, depth: int = 0) -> Pair:
    name = rng.choice(sorted(ours.DECODERS))
    if name == "BPEDecoder":
        suffix = random_text(rng)
        return ours.BPEDecoder(suffix), theirs.BPEDecoder(suffix)
    if name == "WordPiece":
        prefix, cleanup = random_text(rng), rng.random() < 0.5
        return ours.WordPiece(prefix, cleanup), theirs.WordPiece(prefix, cleanup)
    if name == "CTC":
        pad, delimiter, cleanup = random_text(rng), random_text(rng), rng.random() < 0.5
        return ours.CTC(pad, delimiter, cleanup), theirs.CTC(pad, delimiter, cleanup)
    if name == "Metaspace":
        char, scheme, split = rng.choice("▁ aé日"), rng.choice(("first", "never", "always")), rng.random() < 0.5
        return ours.Metaspace(char, scheme, split), theirs.Metaspace(char, scheme, split)
    if name == "Strip":
        # Hugging Face panics where it has more to strip than there is, so `stop` is tried alone in a test of its own.
        char, start = rng.choice(" aé▁"), rng.randint(0, 3)
        return ours.Strip(char, start, 0), theirs.Strip(char, start, 0)
    if name == "Replace":
        from tokenizers import Regex

        content = random_text(rng)
        if rng.random() < 0.6:
            text = random_text(rng)
            return ours.Replace(Pattern("String", text), content), theirs.Replace(text, content)
        regex = rng.choice((r"\s+", "[a-z]", r"\A", "x*", "[^a]", "a|e", "(l)(e)"))
        return ours.Replace(Pattern("Regex", regex), content), theirs.Replace(Regex(regex), content)
    if name == "Sequence":
        pairs = [random_pair(rng, depth + 1) for _ in range(rng.randint(0, 4 - min(depth, 3)))]
        return ours.DecoderSequence([a for a, _ in pairs]), theirs.Sequence([b for _, b in pairs])
    return ours.DECODERS[name](), getattr(theirs, name)()


@pytest.mark.parametrize("seed", range(4))
def test_random_decoders_and_tokens(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(amount(400, 50_000)):
        mine, other = random_pair(rng)
        for _ in range(8):
            tokens = random_tokens(rng)
            assert decode_tokens(mine, tokens) == other.decode(tokens), (mine, tokens)


def test_strip_at_both_ends() -> None:
    """Where Hugging Face panics, everything is stripped."""
    rng, panics = random.Random(4), 0
    for _ in range(amount(500, 200_000)):
        start, stop = rng.randint(0, 3), rng.randint(0, 3)
        token = "".join(rng.choice("  a▁") for _ in range(rng.randint(0, 7)))
        mine = ours.Strip(" ", start, stop).decode_chain([token])
        try:
            expected = theirs.Strip(" ", start, stop).decode([token])
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            panics += 1
            expected = ""
        assert mine == [expected], (token, start, stop)
    assert panics > 10


def test_without_a_decoder_tokens_are_joined_by_spaces() -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import BPE

    tokenizer = Tokenizer(BPE({"a": 0, "b": 1, "": 2}, []))
    assert decode_tokens(None, ["a", "", "b"]) == tokenizer.decode([0, 2, 1], skip_special_tokens=False) == "a  b"
    assert decode_tokens(None, []) == tokenizer.decode([]) == ""


# -- bytes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", [ours.ByteLevel(), ours.ByteFallback()], ids=lambda d: type(d).__name__)
def test_no_byte_is_lost(decoder: ours.Decoder) -> None:
    rng = random.Random(6)
    for _ in range(amount(2_000, 200_000)):
        parts = [rng.randbytes(rng.randint(0, 4)) if rng.random() < 0.7 else "日é".encode() for _ in range(5)]
        if isinstance(decoder, ours.ByteLevel):
            tokens = [to_alphabet(part) for part in parts]
        else:
            tokens = [f"<0x{byte:02X}>" for part in parts for byte in part]
        text = decode_tokens(decoder, tokens, "surrogateescape")
        assert text.encode("utf-8", "surrogateescape") == b"".join(parts)


def test_bytes_pass_through_every_step() -> None:
    llama = ours.DecoderSequence(
        [ours.Replace(Pattern("String", "▁"), " "), ours.ByteFallback(), ours.Fuse(), ours.Strip(" ", 1, 0)]
    )
    tokens = ["▁a", "<0xE4>", "<0xB8>", "b", "<0xFF>"]
    assert decode_tokens(llama, tokens) == "a\ufffd\ufffdb\ufffd"
    assert decode_tokens(llama, tokens, "surrogateescape").encode("utf-8", "surrogateescape") == b"a\xe4\xb8b\xff"
    twice = ours.DecoderSequence([ours.ByteFallback(), ours.ByteLevel()])
    assert decode_tokens(twice, ["<0xFF>", "Ġ"], "surrogateescape") == "\udcff "


def test_lone_surrogates_in_tokens_do_no_harm() -> None:
    for errors in ("replace", "surrogateescape"):
        for name in ("ByteLevel", "ByteFallback", "Fuse"):
            lone = chr(0xD800)
            expected = "\ufffd" if name == "ByteLevel" else lone
            assert decode_tokens(ours.DECODERS[name](), ["a", lone], errors) == "a" + expected


def test_errors_are_replace_or_surrogateescape() -> None:
    with pytest.raises(ValueError, match="'strict'"):
        decode_tokens(ours.Fuse(), ["a"], "strict")


# -- what no oracle says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decoder",
    [
        ours.DecoderSequence([ours.BPEDecoder("")] * 32),
        ours.DecoderSequence([ours.CTC("<pad>", "", True)] * 32),
        ours.DecoderSequence([ours.Replace(Pattern("String", "a"), "a" * 10)] * 10),
        ours.DecoderSequence([ours.Replace(Pattern("Regex", "a"), "aa")] * 32),
    ],
    ids=["BPEDecoder", "CTC", "Replace", "Replace a Regex"],
)
def test_results_that_no_memory_holds_are_refused(decoder: ours.Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_CHARACTERS", 1 << 16)
    with pytest.raises(TextTooLongError, match=r"would make a text of [\d,]+ characters"):
        decode_tokens(decoder, ["aaa", "a", "a"])


def test_wrong_values_are_refused() -> None:
    for make, message in (
        (lambda: ours.Strip("ab", 1, 1), "one character"),
        (lambda: ours.Strip("", 1, 1), "one character"),
        (lambda: ours.Strip("a", -1, 1), "0 or more"),
        (lambda: ours.Metaspace("ab"), "one character"),
        (lambda: ours.Metaspace("a", "sometimes"), "'first', 'never', 'always'"),
        (lambda: ours.Metaspace.from_json({"replacement": "_", "add_prefix_space": False}), "add_prefix_space"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    decoder: ours.Decoder = ours.Fuse()
    with pytest.raises(ValueError, match="50"):
        for _ in range(60):
            decoder = ours.DecoderSequence([decoder])


def test_the_metaspace_of_an_older_file() -> None:
    old = {"type": "Metaspace", "replacement": "_", "str_rep": "_", "add_prefix_space": True, "prepend_scheme": "first"}
    assert ours.Metaspace.from_json(old) == ours.Metaspace("_", "first")


@pytest.mark.parametrize("name", sorted(ours.DECODERS))
def test_components_are_values(name: str) -> None:
    values = {"pattern": Pattern("String", "a"), "decoders": (ours.Fuse(), ours.CTC()), "start": 1, "stop": 1}
    kind = ours.DECODERS[name]
    needed = {f.name: values.get(f.name, "b") for f in fields(kind) if f.default is MISSING}
    one, other = kind(**needed), kind(**needed)
    copy = pickle.loads(pickle.dumps(one))
    assert one == other == copy and hash(one) == hash(other) and one.decode_chain(["ab"]) == copy.decode_chain(["ab"])
