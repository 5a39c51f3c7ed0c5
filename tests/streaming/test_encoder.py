"""StreamEncoder: whatever the cuts, the ids are those of the whole text; and little is held back."""

import asyncio
import copy
import io
import json
import pickle
import random
import tracemalloc

import pytest
from hypothesis import given, strategies as st

from bpelab import BPETokenizer, SpecialTokenError, StreamEncoder, TemplateProcessing, encode_iterable
from bpelab.decoders import ByteLevel
from bpelab.normalizers import BertNormalizer, Replace, Strip
from bpelab.normalizers.sentencepiece import SentencePieceNormalizer
from bpelab.notebook import book_text
from bpelab.pretokenizers.char_types import FixedLength
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.regex.matchers import Pattern
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding, fuzz_text, shared
from ..formats import random_zoo
from ..formats.families import families
from ..formats.test_sentencepiece import OPTIONS, lines, trained
from .streams import check_encoding, cut, options

FAMILIES = families()
HOLDS_ALL = {"superbpe"}
KIT = ["cl100k_base", "gpt2", "phi-3-mini", "qwen2.5", "zoo-added-flags", "zoo-metaspace-first", "zoo-post-bos-eos"]
BIT = st.text(st.sampled_from("ab 1'\n.é\u0301日▁<|>\ud83d\ude00\u3000"), max_size=12)
CONTENTS = ["<a>", "<a><b>", "<b>", "a", "ab", " a", "a ", "  ", "\n", "<|end|>", "é", ">"]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def opened(data: dict, folder) -> BPETokenizer:
    (folder / "tokenizer.json").write_text(json.dumps(data))
    return BPETokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def small() -> BPETokenizer:
    around = TemplateProcessing(("<s>", "$A", "</s>"))
    names = {"<s>": 600, "</s>": 601, "<|end|>": 602, "<|end|><|end|>": 603}
    trained = BPETokenizer.train(book_text()[:60_000], 600)
    return trained.with_options(special_tokens=names, post_processor=around)


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name, tmp_path):
    tokenizer, rng = opened(FAMILIES[name], tmp_path), random.Random(name)
    for text in random_zoo.texts(rng, FAMILIES[name], amount(12, 20_000)):
        check_encoding(tokenizer, rng, text, **options(rng))


@pytest.mark.parametrize("block", range(4))
def test_random_files(block, tmp_path):
    for seed in range(block, amount(40, 4_000), 4):
        data = random_zoo.draw(seed)
        tokenizer, rng = opened(data, tmp_path), random.Random(seed)
        for text in random_zoo.texts(rng, data, 15):
            check_encoding(tokenizer, rng, text, **options(rng))


@pytest.mark.parametrize("name", KIT)
def test_the_kits_cases(name):
    """A sample; the whole kit is run by tests/conformance, streams included."""
    import sys

    folder = shared("conformance")
    sys.path.insert(0, str(folder))
    try:
        from conformance import expand
    finally:
        sys.path.pop(0)
    from ..conformance.adapter import load

    tokenizer, rng = load(str(folder / "tokenizers" / name)).tokenizer, random.Random(name)
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    for case in rng.sample(cases, min(len(cases), amount(12, 10**6))):
        check_encoding(tokenizer, rng, expand(case, 20)[: amount(5_000, 200_000)], **options(rng))


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_fuzz(name):
    tokenizer, rng = BPETokenizer.from_tiktoken(encoding(name)), random.Random(name)
    for _ in range(amount(300, 20_000)):
        check_encoding(tokenizer, rng, fuzz_text(rng), **options(rng))


@given(st.lists(BIT, max_size=9), st.sampled_from([(), "all"]))
def test_any_cuts(small, parts, allowed):
    got = [i for ids in StreamEncoder(small, allowed_special=allowed).stream(parts) for i in ids]
    assert got == small.encode("".join(parts), allowed_special=allowed)


def test_flags(small):
    """Tokens that take white space, or look beside themselves, in any mixture."""
    rng = random.Random(4)
    for _ in range(amount(60, 4_000)):
        contents = rng.sample(
            ["<a>", "<a><b>", "<b>", "a", "ab", " a", "a ", "  ", "\n", "<|end|>", "é", ">"], rng.randint(1, 6)
        )
        tokens = [
            AddedToken(content, 700 + n, rng.random() < 0.5, **{flag: rng.random() < 0.3 for flag in FLAGS})
            for n, content in enumerate(contents)
        ]
        special = SpecialTokens(tokens)
        tokenizer = small.with_options(special_tokens=special, post_processor=None, decoder=ByteLevel())
        for _ in range(20):
            text = "".join(
                rng.choices([*contents, "<", "a", " ", "\n", "\t", "x", "<|en", "e\u0301", "."], k=rng.randint(1, 12))
            )
            check_encoding(tokenizer, rng, text, **options(rng))


NORMALIZERS = [
    "NFC", "NFKD", Strip(), BertNormalizer(), BertNormalizer(strip_accents=True, lowercase=False),
    Replace(Pattern("String", "aba"), "b"), Replace(Pattern("String", ""), "-"),
    Replace(Pattern("Regex", r"\s{2,}|^a"), "_"), Replace(Pattern("Regex", r"\A +| +\z|(?<=a)b+"), "_"),
    SentencePieceNormalizer(""),
    SentencePieceNormalizer("", ("  ", "ab", " a"), remove_extra_whitespaces=False),
    SentencePieceNormalizer("", ("▁ ",), add_dummy_prefix=False, escape_whitespaces=False),
]  # fmt: skip


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=str)
def test_normalizers(small, normalizer):
    rng, tokenizer = random.Random(str(normalizer)), small.with_options(normalizer=normalizer)
    characters = "aabbc  \t\n▁\xa0\u0301\u0316\u0345éÅ각각\u1100\u1161日ﬁ\x01\U0001f1e6🙂\u200d\U00011380ß"
    for _ in range(amount(150, 20_000)):
        text = "".join(rng.choices(characters, k=rng.randint(1, 20))) if rng.random() < 0.8 else fuzz_text(rng)
        check_encoding(tokenizer, rng, text, **options(rng))


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_sentencepiece_models(number, tmp_path):
    """Their own normalizer, with character maps of many entries and symbols with spaces in them."""
    (tmp_path / "m.model").write_bytes(trained(lines()[:400], **{**OPTIONS[number], "vocab_size": 500}))
    tokenizer, rng = BPETokenizer.from_pretrained(tmp_path / "m.model"), random.Random(number)
    parts = ["  ", "the", "▁of", "aa", "12", "A\u030a", "ｶ\uff9e", *" \t\u3000ﬁÅ①\u0301\u200bİ"]
    for _ in range(amount(40, 4_000)):
        text = "".join(rng.choices(parts, k=rng.randint(1, 9))) if rng.random() < 0.5 else fuzz_text(rng)
        check_encoding(tokenizer, rng, text, **options(rng))
    encoder = StreamEncoder(tokenizer)
    held = []
    for part in cut(rng, book_text()[:3_000], 9):
        encoder.push(part)
        held.append(len(encoder.pending))
    assert max(held) < 60


def test_fixed_lengths(small):
    rng = random.Random(9)
    for pre_tokenizer in (
        FixedLength(3),
        PreTokenizerSequence((FixedLength(4), Metaspace())),
        PreTokenizerSequence((Metaspace(), FixedLength(2))),
    ):
        tokenizer = small.with_options(pre_tokenizer=pre_tokenizer)
        for _ in range(amount(100, 20_000)):
            check_encoding(tokenizer, rng, fuzz_text(rng), **options(rng))


@pytest.mark.parametrize("name", FAMILIES)
def test_little_is_held(name, tmp_path):
    """A word and its neighbours, but for the patterns of which nothing can be proved."""
    encoder, most = StreamEncoder(opened(FAMILIES[name], tmp_path)), 0
    for part in cut(random.Random(1), book_text()[:5_000], 9):
        encoder.push(part)
        most = max(most, len(encoder.pending))
    assert most < 60 if name not in HOLDS_ALL else most == 5_000


def test_pending(small):
    encoder = StreamEncoder(small, allowed_special="all")
    shown = []
    for part in ("The ha", "rbour <|e", "nd|", "> \ud83d", "\ude00"):
        encoder.push(part)
        shown.append(encoder.pending)
    assert shown == [" ha", " <|e", " <|end|", " \ud83d", " 😀"]
    encoder.finish()
    assert encoder.pending == ""


def test_around_the_text_once(small):
    encoder = StreamEncoder(small)
    assert encoder.push("") == [600]
    assert encoder.push("a b") == small.encode_ordinary("a")
    assert encoder.finish() == [*small.encode_ordinary(" b"), 601]
    assert encoder.finish() == [600, 601]  # as new
    assert [
        i for ids in StreamEncoder(small, add_special_tokens=False).stream(["a", "b"]) for i in ids
    ] == small.encode_ordinary("ab")


def test_a_failed_push_changes_nothing(small):
    encoder = StreamEncoder(small, disallowed_special="all", add_special_tokens=False)
    ids = encoder.push("a b<|en")
    held = encoder.pending
    for bad, kind, message in [
        ("d|> c", SpecialTokenError, "'<|end|>' at character 3"),
        (b"d", TypeError, "text .str., not bytes"),
        (None, TypeError, "not NoneType"),
    ]:
        with pytest.raises(kind, match=message):
            encoder.push(bad)
        assert encoder.pending == held
    ids += encoder.push("d| c") + encoder.finish()
    assert ids == small.encode_ordinary("a b<|end| c")
    for options_ in ({"allowed_special": "<|end|>"}, {"disallowed_special": ["<nothing>"]}):
        with pytest.raises(SpecialTokenError):
            StreamEncoder(small, **options_)


def test_awaited(small):
    async def chunks():
        for part in ("low", "est ", "of the l", "ow"):
            await asyncio.sleep(0)
            yield part

    async def run():
        return [i async for ids in StreamEncoder(small).astream(chunks()) for i in ids]

    assert asyncio.run(run()) == small.encode("lowest of the low")


def test_iterables_and_files(small, tmp_path):
    text = book_text()[:150_000]
    path = tmp_path / "book.txt"
    path.write_bytes(text.encode())
    with path.open(encoding="utf-8", newline="") as file:
        assert list(encode_iterable(small, file)) == small.encode(text)
    assert list(
        encode_iterable(small, io.StringIO("a\nb", newline=""), add_special_tokens=False)
    ) == small.encode_ordinary("a\nb")
    assert list(encode_iterable(small, iter(["a", "b"]))) == small.encode("ab")
    with pytest.raises(TypeError, match="for one text, use encode"):
        encode_iterable(small, "a text")
    with path.open("rb") as file, pytest.raises(TypeError, match="not bytes"):
        list(encode_iterable(small, file))


def test_memory_is_bounded(small):
    text = book_text()

    def numbers(times: int) -> int:
        tracemalloc.start()
        count = sum(
            1
            for _ in encode_iterable(
                small, (text[i : i + 4096] for _ in range(times) for i in range(0, len(text), 4096))
            )
        )
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count > 100_000 * times / 2
        return most

    numbers(1)  # fills the cache
    assert numbers(amount(3, 60)) < 2_000_000


@pytest.mark.parametrize("unit", ["a", " ", "7", "\n", "日"])
def test_long_runs_in_small_parts(small, unit):
    """What is held is not looked at again: this would take minutes."""
    text = unit * amount(30_000, 2_000_000)
    encoder = StreamEncoder(small)
    ids = [i for char in text for i in encoder.push(char)]
    assert encoder.pending in ("", text)
    assert ids + encoder.finish() == small.encode(text)


def test_a_copy_goes_on_where_the_encoder_was():
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262, special_tokens=["<|end|>"])
    text = "the lowest, <|end|> naïve lower"
    for place in range(len(text)):
        encoder = StreamEncoder(tokenizer, allowed_special=["<|end|>"])
        begun = encoder.push(text[:place])
        for other in (copy.copy(encoder), copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder)), encoder):
            ids = begun + other.push(text[place:]) + other.finish()
            assert ids == tokenizer.encode(text, allowed_special="all")
