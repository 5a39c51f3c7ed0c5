"""Pre-tokenizers against Hugging Face's classes of the same name: every code point, random texts, random sequences."""

import json
import pickle
import random

import pytest

from bpelab._support.textio import valid_text
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.char_types import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from bpelab.pretokenizers.metaspace import PREPEND_SCHEMES, Metaspace
from bpelab.pretokenizers.registry import PRE_TOKENIZERS
from bpelab.pretokenizers.sequence import MAX_DEPTH, MAX_METASPACES, MAX_STEPS, PreTokenizerSequence
from bpelab.pretokenizers.split_behaviors import BEHAVIORS
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.matchers import Pattern
from bpelab.unicode.byte_alphabet import to_alphabet
from bpelab.unicode.hf_pretokenizer_tables import script

from ..conftest import SOAK, amount, fuzz_text

tokenizers = pytest.importorskip("tokenizers")
theirs = tokenizers.pre_tokenizers

BEHAVIOR_NAMES = dict(zip(BEHAVIORS, ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")))
EXTRA = [
    "a b",
    "  ",
    " ",
    "▁",
    "▁▁",
    "_",
    "a-b",
    "--",
    "12ab",
    "é1",
    "½²",
    "ひ カ漢ー",
    "aα",
    "\u11de",
    "𑷠",
    "",
    "\u061c",
]


PATTERNS = [
    Pattern(kind, text)
    for kind, texts in (
        ("String", ("a", "ab", " ", "▁")),
        ("Regex", ("a(?=b)", "a+", "[ab ]", "b*", "^a", r"\s+|é", "Ã|1")),
    )
    for text in texts
]


def theirs_of(ours):
    """Hugging Face's object for one of ours."""
    if isinstance(ours, PreTokenizerSequence):
        return theirs.Sequence([theirs_of(part) for part in ours.pretokenizers])
    if isinstance(ours, SplitPattern):
        pattern = tokenizers.Regex(ours.pattern.text) if ours.pattern.kind == "Regex" else ours.pattern.text
        return theirs.Split(pattern, BEHAVIOR_NAMES[ours.behavior], ours.invert)
    kind = getattr(theirs, type(ours).__name__)
    if isinstance(ours, Punctuation):
        return kind(BEHAVIOR_NAMES[ours.behavior])
    if isinstance(ours, Metaspace):
        return kind(replacement=ours.replacement, prepend_scheme=ours.prepend_scheme, split=ours.splits)
    return kind(**vars(ours))


def random_component(rng):
    return rng.choice(
        (
            BertPreTokenizer,
            lambda: ByteLevel(rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.5),
            lambda: CharDelimiterSplit(rng.choice("a- ▁é1_Ã")),
            lambda: Digits(rng.random() < 0.5),
            lambda: FixedLength(rng.choice((1, 2, 3, 5, 100))),
            lambda: Metaspace(rng.choice("▁_ aé"), rng.choice(PREPEND_SCHEMES), rng.random() < 0.5),
            lambda: Punctuation(rng.choice(BEHAVIORS)),
            UnicodeScripts,
            Whitespace,
            WhitespaceSplit,
        )
    )()


def random_step(rng):
    """A component, or a Split, which has tests of its own."""
    if rng.random() < 0.2:
        return SplitPattern(rng.choice(PATTERNS), rng.choice(BEHAVIORS), rng.random() < 0.4)
    return random_component(rng)


def random_sequence(rng, depth=0):
    """At most one ByteLevel, and sequences within sequences."""
    while True:
        count = rng.choice((0, 1, 2, 2, 3, 3, 4, 6))
        parts = [
            random_sequence(rng, depth + 1) if rng.random() < 0.1 and depth < 3 else random_step(rng)
            for _ in range(count)
        ]
        try:
            return PreTokenizerSequence(parts)
        except ValueError:
            continue


def random_text(rng):
    text = valid_text(fuzz_text(rng))
    for _ in range(rng.choice((0, 0, 1, 3))):
        place = rng.randint(0, len(text))
        text = text[:place] + rng.choice(EXTRA) + text[place:]
    return text


def pieces_of(ours, text):
    """Our pieces, in the byte alphabet where theirs are."""
    found = ours.split(text)
    to_write = ours.byte_level and not ours.emits_byte_alphabet
    return [to_alphabet(piece.encode()) for piece in found] if to_write else found


def check(ours, text):
    expected = [piece for piece, _ in theirs_of(ours).pre_tokenize_str(text)]
    assert pieces_of(ours, text) == expected, (ours, text)


def every_character():
    return [chr(number) for number in range(0x110000) if not 0xD800 <= number < 0xE000]


@pytest.mark.parametrize("first_seed", range(4))
def test_fuzz_each(first_seed):
    rng = random.Random(first_seed)
    for _ in range(amount(1_500, 100_000)):
        check(random_component(rng), random_text(rng))


@pytest.mark.parametrize("first_seed", range(4))
def test_fuzz_sequences(first_seed):
    rng = random.Random(100 + first_seed)
    for _ in range(amount(1_000, 100_000)):
        check(random_sequence(rng), random_text(rng))


@pytest.mark.parametrize("first_seed", range(4))
def test_fuzz_metaspace_first_after_other_steps(first_seed):
    """Which pieces come from the beginning of the input, after steps that drop text, add text or write the alphabet."""
    rng = random.Random(200 + first_seed)
    checked = 0
    while checked < amount(500, 50_000):
        parts = [random_step(rng) for _ in range(rng.randint(1, 4))]
        try:
            ours = PreTokenizerSequence([*parts, Metaspace("▁", "first", False)])
        except ValueError:
            continue
        text = random_text(rng)
        check(ours, text[rng.randint(0, len(text)) :][:12])
        check(ours, "".join(rng.choices(("a", "b", "é", " ", "ab", "-", "▁"), k=rng.randint(0, 8))))
        checked += 1


TABLES = [BertPreTokenizer(), Digits(), Punctuation("Removed"), UnicodeScripts(), Whitespace(), WhitespaceSplit()]


@pytest.mark.slow
@pytest.mark.parametrize("ours", TABLES, ids=lambda ours: type(ours).__name__)
def test_every_code_point(ours):
    """Alone and between letters of two scripts. The short run leaves out most of the planes in which nothing is."""
    other = theirs_of(ours)
    characters = every_character()
    if SOAK:
        texts = [text for char in characters for text in (char, f"a{char}a", f"α{char}a")]
    else:
        kept = [char for char in characters if char < "\U00040000" or "\U000e0000" <= char < "\U000e1000"]
        kept += characters[::97]
        texts = ["".join(f"a{char}α" for char in kept[at : at + 250]) for at in range(0, len(kept), 250)]
    for text in texts:
        assert ours.split(text) == [piece for piece, _ in other.pre_tokenize_str(text)], text[:20]


def test_scripts_tell_every_pair_apart():
    """One character of each script beside each other: the names behind the cuts are one to one."""
    known = {}
    for char in every_character():
        known.setdefault(script(char), char)
    assert len(known) > 130
    for one in known.values():
        for two in known.values():
            check(UnicodeScripts(), one + two)


def test_falcon():
    """Steps after ByteLevel see the byte alphabet, in which ² is the byte 0xB2."""
    steps = [Punctuation("Contiguous"), ByteLevel(add_prefix_space=False), Digits(True)]
    falcon = PreTokenizerSequence(steps)
    assert falcon.byte_level and falcon.emits_byte_alphabet
    for text in ("n²=49, it's 2³!", "日本語 123", "²²"):
        check(falcon, text)
    last = PreTokenizerSequence([PreTokenizerSequence(steps[:2]), PreTokenizerSequence([])])
    assert last.byte_level and not last.emits_byte_alphabet and last.split("é") == ["é"]


def test_first_is_said_by_the_caller():
    ours = PreTokenizerSequence([WhitespaceSplit(), Metaspace(prepend_scheme="first")])
    assert ours.split("a b") == ["▁a", "b"] and ours.split("a b", first=False) == ["a", "b"]
    alone = PreTokenizerSequence([Metaspace(prepend_scheme="first")])
    assert alone.split("a b") == ["▁a", "▁b"] and alone.split("a b", first=False) == ["a", "▁b"]


class TestMetaspaceFiles:
    @staticmethod
    def read(data):
        """What Hugging Face makes of the JSON; None where it refuses."""
        file = json.loads(tokenizers.Tokenizer(tokenizers.models.BPE()).to_str())
        file["pre_tokenizer"] = {"type": "Metaspace", **data}
        try:
            found = json.loads(tokenizers.Tokenizer.from_str(json.dumps(file)).to_str())["pre_tokenizer"]
        except Exception:
            return None
        del found["type"]
        return found

    def test_all_combinations(self):
        rng = random.Random(5)
        choices = {
            "replacement": ["▁", "_", "ab", "", 5, None],
            "add_prefix_space": [True, False, None, 1, "x"],
            "prepend_scheme": ["first", "always", "never", "Always", None],
            "str_rep": ["▁", "zz", "", 3, None],
            "split": [True, False, None, 0],
        }
        accepted = 0
        for _ in range(amount(1_500, 20_000)):
            data = {key: rng.choice(values[:2] * 3 + values) for key, values in choices.items() if rng.random() < 0.7}
            try:
                ours = Metaspace.from_json(data).to_json()
            except ValueError:
                ours = None
            assert ours == self.read(data), data
            accepted += ours is not None
        assert accepted > 100


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FixedLength(0), "from 1 up"),
        (lambda: FixedLength(-1), "from 1 up"),
        (lambda: FixedLength("5"), "from 1 up"),
        (lambda: CharDelimiterSplit("ab"), "one character"),
        (lambda: CharDelimiterSplit(""), "one character"),
        (lambda: Metaspace("ab"), "one character"),
        (lambda: Metaspace("a", "last"), "prepend_scheme"),
        (lambda: Punctuation("isolated"), "behaviour"),
        (lambda: PreTokenizerSequence([ByteLevel(), PreTokenizerSequence([ByteLevel()])]), "at most 1 ByteLevel"),
        (lambda: PreTokenizerSequence([Metaspace()] * (MAX_METASPACES + 1)), "Metaspaces"),
        (lambda: PreTokenizerSequence([Digits()] * (MAX_STEPS + 1)), "steps"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sequences_within_sequences_end():
    nested = PreTokenizerSequence([Digits()])
    with pytest.raises(ValueError, match="within"):
        for _ in range(MAX_DEPTH + 1):
            nested = PreTokenizerSequence([nested])
    assert nested.split("a1") == ["a", "1"]


def test_values():
    """Equal by value, hashable, and the same after pickling; the registry knows every class by its type."""
    for seed in range(100):
        ours, again = (random_sequence(random.Random(seed)) for _ in range(2))
        assert ours == again and hash(ours) == hash(again)
        loaded = pickle.loads(pickle.dumps(ours))
        assert loaded == ours and loaded.split("a b ひ2") == ours.split("a b ひ2")
    assert set(PRE_TOKENIZERS) == {name for name in dir(theirs) if name[0].isupper()} - {"PreTokenizer"}
    assert PreTokenizerSequence([]).split("ab") == ["ab"] and PreTokenizerSequence([]).split("") == []
