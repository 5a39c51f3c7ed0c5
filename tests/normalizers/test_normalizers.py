"""Every normalizer against Hugging Face's class of the same name: every code point, and random texts and parameters."""

import base64
import pickle
import random
import struct
from collections.abc import Iterator
from dataclasses import MISSING, fields

import pytest

from bpelab import normalizers as ours
from bpelab._support.textio import valid_text
from bpelab.normalizers import base
from bpelab.regex.matchers import Pattern
from bpelab.unicode import hf_normalizer_tables
from bpelab.unicode.graphemes import clusters
from bpelab.unicode.tables import category

from ..conftest import SOAK, amount, fuzz_text

theirs = pytest.importorskip("tokenizers").normalizers
Pair = tuple[ours.Normalizer, object]

EVERY = [chr(code_point) for code_point in range(0x110000) if not 0xD800 <= code_point < 0xE000]
FIXED: dict[str, Pair] = {
    **{name: (getattr(ours, name)(), getattr(theirs, name)()) for name in (*ours.FORMS, "Lowercase", "Nmt")},
    **{name: (getattr(ours, name)(), getattr(theirs, name)()) for name in ("Strip", "StripAccents", "ByteLevel")},
    "Bert, clean": (ours.BertNormalizer(True, False, False, False), theirs.BertNormalizer(True, False, False, False)),
    "Bert, Chinese": (ours.BertNormalizer(False, True, False, False), theirs.BertNormalizer(False, True, False, False)),
    "Bert, accents": (ours.BertNormalizer(False, False, True, False), theirs.BertNormalizer(False, False, True, False)),
    "Bert": (ours.BertNormalizer(), theirs.BertNormalizer()),
}
TRIED = EVERY if SOAK else EVERY[::61] + [c for c in EVERY if category(c) not in ("Lo", "Co", "Cn")]
# Around a character: nothing, letters, marks of high and low class on both sides, white space.
CONTEXTS = ("{}", "a{}b", "e\u0323{}\u0301\u0327", "\u1100{}\u11a8", " {} ", "\u0345{}\u0334", "{0}{0}")


def check(pair: Pair, text: str) -> None:
    text = valid_text(text)
    assert pair[0](text) == pair[1].normalize_str(text), (pair[0], text)


# -- every code point --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIXED)
def test_every_code_point(name: str) -> None:
    for context in CONTEXTS[: amount(4, len(CONTEXTS))]:
        for start in range(0, len(TRIED), 256):
            check(FIXED[name], "|".join(context.format(char) for char in TRIED[start : start + 256]))


@pytest.mark.slow
def test_normal_forms_of_what_marks_and_decomposes() -> None:
    """All the characters on which Unicode versions differ, next to one another."""
    rng = random.Random(5)
    special = [c for c in EVERY if ours.NFKD()(c) != c or theirs.StripAccents().normalize_str(c) != c]
    late = [c for c in EVERY if hf_normalizer_tables.assigned_after_unicode_9().match(c) and c < "\U00020000"]
    for _ in range(amount(1_000, 500_000)):
        pool = [rng.choice((special, special, late, EVERY)) for _ in range(rng.randint(1, 7))]
        text = "".join(map(rng.choice, pool))
        for name in (*ours.FORMS, "StripAccents", "Bert"):
            check(FIXED[name], text)


# -- random components and texts ---------------------------------------------------------------------------------------


def random_pattern(rng: random.Random, inside: bool) -> tuple[Pattern, object]:
    """A pattern, of both libraries; `inside` a sequence one that doesn't match nothing (see the test of prefixes)."""
    from tokenizers import Regex

    if rng.random() < 0.6:
        text = rng.choice((" ", "a", "  ", "\n", "▁", ".", "é", "e", "'", "the", valid_text(fuzz_text(rng))[:3]))
        text = text if inside else rng.choice((text, text, ""))
        return Pattern("String", text), text
    text = rng.choice((r"\s+", r"[a-z]", r"\p{L}+", r"\d", "(l)(e)", " {2,}", r"[^\x00-\x7f]", "a|e"))
    text = text if inside else rng.choice((text, text, r"\A", "x*"))
    return Pattern("Regex", text), Regex(text)


def random_text(rng: random.Random) -> str:
    return rng.choice(("", " ", "▁", "  ", "é", "$1", "\\1", "\0", "ab", valid_text(fuzz_text(rng))[:5]))


def random_pair(rng: random.Random, depth: int = 0) -> Pair:
    name = rng.choice(sorted(ours.NORMALIZERS))
    if name == "Precompiled":
        entries = {random_key(rng): random_text(rng).replace("\0", "") for _ in range(rng.randint(1, 30))}
        blob = charsmap({key: value for key, value in entries.items() if key})
        return ours.Precompiled(base64.b64encode(blob).decode()), theirs.Precompiled(blob)
    if name == "Replace":
        (pattern, other), content = random_pattern(rng, depth > 0), random_text(rng)
        return ours.Replace(pattern, content), theirs.Replace(other, content)
    if name == "Prepend":
        text = random_text(rng) or "▁" * (depth > 0)
        return ours.Prepend(text), theirs.Prepend(text)
    if name == "Strip":
        flags = [rng.random() < 0.5 for _ in range(2)]
        return ours.Strip(*flags), theirs.Strip(*flags)
    if name == "BertNormalizer":
        flags = [rng.random() < 0.5, rng.random() < 0.5, rng.choice((None, False, True)), rng.random() < 0.5]
        return ours.BertNormalizer(*flags), theirs.BertNormalizer(*flags)
    if name == "Sequence":
        pairs = [random_pair(rng, depth + 1) for _ in range(rng.randint(0, 3 - min(depth, 2)))]
        return ours.NormalizerSequence([a for a, _ in pairs]), theirs.Sequence([b for _, b in pairs])
    return ours.NORMALIZERS[name](), getattr(theirs, name)()


@pytest.mark.parametrize("seed", range(8))
def test_random_components_and_texts(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(amount(60, 10_000)):
        pair = random_pair(rng)
        for _ in range(8):
            check(pair, fuzz_text(rng))
        check(pair, "")


def test_prefixes_that_hugging_face_loses_count_of() -> None:
    """The one difference: what is put in front of a text by an empty match, or an empty prefix itself, has no place in
    Hugging Face's alignments, and the next normalizer doubles the first character or panics."""
    text, wrong = "ab ", theirs.Sequence([theirs.Prepend(""), theirs.Strip()])
    assert wrong.normalize_str(text) == "aab"
    assert ours.NormalizerSequence([ours.Prepend(""), ours.Strip()])(text) == "ab"
    broken = theirs.Sequence([theirs.Replace("", "-"), theirs.Lowercase()])
    with pytest.raises(BaseException, match="index out of bounds"):
        broken.normalize_str("aB")
    assert ours.NormalizerSequence([ours.Replace(Pattern("String", ""), "-"), ours.Lowercase()])("aB") == "-a-b-"


# -- SentencePiece's character maps ------------------------------------------------------------------------------------


def charsmap(entries: dict[str | bytes, str]) -> bytes:
    """A character map as SentencePiece writes it: a double array that says where the texts begin, and the texts."""
    trie: dict = {}
    texts = b""
    for key, text in entries.items():
        node = trie
        for byte in key if isinstance(key, bytes) else key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(texts)
        texts += text.encode() + b"\0"
    units, taken, bases = {0: 0}, {0}, set()

    def place(node: dict, at: int) -> None:
        places = (at ^ offset for offset in range(1, 1 << 21))
        base = next(to for to in places if to not in bases and not any((to ^ label) in taken for label in node))
        offset = at ^ base
        bases.add(base)
        units[at] |= offset << 10 | (0x100 if 0 in node else 0)
        units.update({base ^ label: 1 << 31 | child if label == 0 else label for label, child in node.items()})
        taken.update(base ^ label for label in node)
        for label, child in node.items():
            if label:
                place(child, base ^ label)

    place(trie, 0)
    array = [units.get(at, 0) for at in range((max(units) | 255) + 1)]
    return struct.pack(f"<I{len(array)}I", 4 * len(array), *array) + texts


CLUSTER_PARTS = (
    "a", "e", "\u0301", "\u0300", "\u200d", "\r", "\n", "\u0e33", "\u0600", "\u1100", "\uac00", "\uac01", "\u1161",
    "\u11a8", "🇫", "😀", "❤", "\ufe0f", "क", "\u094d", "\u093f", "ത", "\u0d4d", "\u200c", "\xad", "\u2028", "©", "½",
    "ﬁ", "①", "\u0345", "\u1ac0", "\U0001f3fb", "é", "\u0903", "\u0e01", "\u0d4e", "\u0bbe", "\x01",
)  # fmt: skip


def random_key(rng: random.Random) -> str:
    return "".join(rng.choice(CLUSTER_PARTS) for _ in range(rng.choice((1, 1, 1, 2, 2, 3))))


def precompiled(blob: bytes) -> Pair:
    return ours.Precompiled(base64.b64encode(blob).decode()), theirs.Precompiled(blob)


@pytest.mark.slow
def test_clusters_are_those_of_hugging_face() -> None:
    """A map in which the first byte decides makes one X of a short cluster, and one of each character of a long one."""
    pair = precompiled(charsmap({bytes([byte]): "X" for byte in (*range(1, 0x80), *range(0xC2, 0xF5))}))
    contexts = ("a{}", "{}\u0301", "\u0600{}", "क{}क\u0301", "क\u094d{}\u0301", "क{}\u094dक\u0301", "क\u094d{}क\u0301")
    for context in (*contexts, "©{}\u200d©\u0301", "©\u200d{}\u0301", "\uac00{}", "{0}{0}", "🇫{}🇫\u0301"):
        for start in range(0, len(TRIED), 256):
            check(pair, "".join(context.format(char) + "\n" for char in TRIED[start : start + 256]))
    rng = random.Random(11)
    for _ in range(amount(1_500, 1_000_000)):
        check(pair, "".join(rng.choice((*CLUSTER_PARTS, rng.choice(EVERY))) for _ in range(rng.randint(1, 9))))
        text = fuzz_text(rng)
        check(pair, text)
        assert "".join(clusters(text)) == text


@pytest.mark.parametrize("run", ["\u094d", "\u0301", "\u200d", "\u1100", "\u0600", "🇫", "\u200d©", "\u094dक", "\r"])
def test_clusters_take_linear_time(run: str) -> None:
    for start in ("क", "©", "\u1100", "a"):
        assert "".join(clusters(start + run * 100_000)) == start + run * 100_000


def test_random_charsmaps() -> None:
    rng = random.Random(12)
    for _ in range(amount(60, 20_000)):
        pair = precompiled(charsmap({random_key(rng): random_text(rng).replace("\0", "") for _ in range(40)}))
        for _ in range(20):
            check(pair, "".join(random_key(rng) for _ in range(rng.randint(0, 5))))


def test_an_accent_is_lost_with_a_short_cluster() -> None:
    normalizer = precompiled(charsmap({"½": "1/2", "ab": "c"}))[0]
    assert normalizer("½\u0301|½\u0301\u0301\u0301|abab") == "1/2|1/2\u0301\u0301\u0301|abab"


def hostile_blobs() -> Iterator[bytes]:
    rng = random.Random(13)
    good = charsmap({random_key(rng): "xyz" for _ in range(30)})
    yield from (b"", b"\0", b"\0\0\0\0", b"\1\0\0\0abc", b"\xff\xff\xff\xff", good[:-1] + b"\xff", good[:500])
    yield struct.pack("<I", 1024) + struct.pack("<256I", *[1 << 10 | 0x100 | 97] * 256) + b"abc"  # cycles
    for _ in range(amount(300, 20_000)):
        blob = bytearray(good)
        for _ in range(rng.randint(1, 40)):
            blob[rng.randrange(4, len(blob))] = rng.randrange(256)
        yield bytes(blob)
        yield struct.pack("<I", 1024) + rng.randbytes(1024) + b"abc"


def test_hostile_charsmaps_are_refused_or_work() -> None:
    rng, refused = random.Random(14), 0
    for blob in hostile_blobs():
        try:
            normalizer = ours.Precompiled(base64.b64encode(blob).decode())
        except ValueError as error:
            refused += "precompiled_charsmap" in str(error)
            continue
        normalizer("".join(random_key(rng) for _ in range(5)))
    assert refused > 100
    with pytest.raises(ValueError, match="base64"):
        ours.Precompiled("é!")
    assert ours.Precompiled(base64.b64encode(charsmap({"a": "b"})).decode())("a\ud800") == "b\ud800"


# -- what no oracle says -----------------------------------------------------------------------------------------------


GROWING: list[ours.Normalizer] = [
    ours.NormalizerSequence([ours.Replace(Pattern("String", "a"), "a" * 10)] * 10),
    ours.NormalizerSequence([ours.Replace(Pattern("Regex", "x*"), "a" * 10)] * 10),
    ours.NormalizerSequence([ours.Prepend("é" * 9), *[ours.ByteLevel()] * 40]),
    ours.NormalizerSequence([ours.Precompiled(base64.b64encode(charsmap({"a": "a" * 100_000})).decode())] * 3),
    ours.NormalizerSequence([ours.NormalizerSequence([ours.Replace(Pattern("String", "a"), "a" * 10)] * 10)]),
]


@pytest.mark.parametrize("normalizer", GROWING, ids=lambda n: type(n.normalizers[-1]).__name__)
def test_results_that_no_memory_holds_are_refused(normalizer: ours.Normalizer, monkeypatch: pytest.MonkeyPatch) -> None:
    if not SOAK:
        monkeypatch.setattr(base, "MAX_CHARACTERS", 1 << 16)
    with pytest.raises(ours.TextTooLongError, match=r"would make a text of [\d,]+ characters"):
        normalizer("aaa")


def test_a_long_text_may_grow_by_a_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_CHARACTERS", 100)
    double = ours.Replace(Pattern("String", "é"), "éé")
    assert len(ours.NormalizerSequence([double] * 4)("é" * 100)) == base.MAX_FACTOR * 100 == 1600
    with pytest.raises(ours.TextTooLongError, match="3,200 characters or more, and 1,600"):
        ours.NormalizerSequence([double] * 5)("é" * 100)


def test_the_allowed_length_is_reached_at_once() -> None:
    assert len(ours.Replace(Pattern("String", "a"), "b" * base.MAX_CHARACTERS)("a")) == base.MAX_CHARACTERS
    with pytest.raises(ours.TextTooLongError):
        ours.Replace(Pattern("Regex", "a"), "b" * base.MAX_CHARACTERS)("aa")


def test_sequences_are_not_nested_too_deeply() -> None:
    normalizer: ours.Normalizer = ours.NFC()
    with pytest.raises(ValueError, match="50"):
        for _ in range(60):
            normalizer = ours.NormalizerSequence([normalizer])
    assert normalizer("e\u0301") == "é"


@pytest.mark.parametrize("name", sorted(ours.NORMALIZERS))
def test_components_are_values(name: str) -> None:
    """Pairs of equal components are equal, have one hash, and survive pickling; fields are JSON keys."""
    values = {
        "pattern": Pattern("String", "a"),
        "normalizers": (ours.NFC(), ours.Strip()),
        "precompiled_charsmap": base64.b64encode(charsmap({"½": "1/2"})).decode(),
    }
    kind = ours.NORMALIZERS[name]
    needed = {f.name: values.get(f.name, "b") for f in fields(kind) if f.default is MISSING}
    one, other = kind(**needed), kind(**needed)
    copy = pickle.loads(pickle.dumps(one))
    assert one == other == copy and hash(one) == hash(other) and one("½ a") == copy("½ a")


def test_forms_by_name() -> None:
    assert ours.UnicodeNormalizer("NFC") == ours.NFC() == ours.find_normalizer("NFC")
    assert ours.UnicodeNormalizer("NFC") != ours.UnicodeNormalizer("NFD") and ours.NFKD().form == "NFKD"
    assert ours.find_normalizer(None) is None and ours.find_normalizer(ours.Nmt()) == ours.Nmt()
    assert pickle.loads(pickle.dumps(ours.UnicodeNormalizer("NFKC"))) == ours.NFKC()
    for wrong in ("NFX", ""):
        with pytest.raises(ValueError, match="NFC, NFD, NFKC, NFKD"):
            ours.UnicodeNormalizer(wrong)
        with pytest.raises(ValueError, match="NFC, NFD, NFKC, NFKD"):
            ours.find_normalizer(wrong)


def test_lone_surrogates_do_no_harm() -> None:
    for name, (normalizer, _) in FIXED.items():
        expected = "aï¿½" if name == "ByteLevel" else "a\ud800"
        assert normalizer("a\ud800") == expected, name


def test_blocks_change_nothing():
    """Long texts are normalized block by block: the same as at once."""
    rng = random.Random(11)
    for _ in range(amount(20, 1_000)):
        text = "".join(fuzz_text(rng) for _ in range(rng.choice((1, 60, 200)))).encode("utf-8", "replace").decode()
        text = text.replace(" ", "\u0301") if rng.random() < 0.5 else text
        assert ours.Lowercase()(text) == text.translate(hf_normalizer_tables.lower_case())
        for form in ours.FORMS:
            normalizer = ours.UnicodeNormalizer(form)
            assert normalizer(text) == normalizer._block(text), form
