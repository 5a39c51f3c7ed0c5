"""C splits texts into the same pieces as the pre-tokenizers in Python, whatever the steps and their behaviours.

Pieces are compared by their ids, in models with merges across any boundary that is missing.
"""

import random

import pytest

from bpelab import BPEModel, BPETokenizer, native
from bpelab._support.textio import valid_text
from bpelab.encoders import HeapEncoder
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.model.lazy_model import merge_columns
from bpelab.native.arrays import AT_KNOWN_SPACES, AT_SPACES, AT_UNSEEN_PAIRS, NO_BOUNDARIES, _boundary_rule
from bpelab.native.plan import preparation, split_steps_for
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
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.pretokenizers.split import Split
from bpelab.pretokenizers.split_behaviors import BEHAVIORS
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.matchers import Pattern

from ..conftest import amount, fuzz_text

pytestmark = [
    pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler"),
    pytest.mark.filterwarnings("ignore:training stopped"),
]

BYTES = BPEModel.from_merges([])
CHUNK = 1024
"""Ends that go to the next level at once; see scan.h."""
SERVED = [
    *map(Punctuation, BEHAVIORS),
    *(SplitPattern(Pattern("String", text), behavior) for text in " -▁" for behavior in BEHAVIORS),
    *(SplitPattern(Pattern("Regex", r"\d\d|[a-c]+"), behavior, True) for behavior in ("Isolated", "Removed")),
    SplitPattern(Pattern("String", "in"), "Isolated"),
    SplitPattern(Pattern("String", "in"), "Removed"),
    SplitPattern(Pattern("Regex", r"\s+"), "Removed"),
    Split(r"\w+", "Removed", True),
    Split("llama3"),
    Digits(),
    Digits(individual_digits=True),
    Whitespace(),
    WhitespaceSplit(),
    BertPreTokenizer(),
    CharDelimiterSplit("e"),
    ByteLevel(add_prefix_space=False, use_regex=False),
]
AT_THE_FRONT = [
    *(Metaspace(prepend_scheme=scheme, splits=splits) for scheme in ("first", "never", "always") for splits in (0, 1)),
    ByteLevel(),
    ByteLevel(use_regex=False),
]
LEFT_TO_PYTHON = [
    FixedLength(3),
    UnicodeScripts(),
    SplitPattern(Pattern("Regex", "a|b"), "Contiguous"),
    SplitPattern(Pattern("String", "ab"), "MergedWithNext"),
    SplitPattern(Pattern("String", "a"), "MergedWithNext", True),
    SplitPattern(Pattern("Regex", "(?<=a)b"), "Isolated"),
    SplitPattern(Pattern("Regex", "x*"), "Isolated"),
    PreTokenizerSequence((Digits(), ByteLevel(add_prefix_space=True))),
    PreTokenizerSequence((Digits(), Metaspace())),
    PreTokenizerSequence((ByteLevel(), Digits())),
]


def texts(rng: random.Random, count: int) -> list[str]:
    fuzz = [valid_text(fuzz_text(rng)) for _ in range(count)]
    return ["", " ", "--", "-a--b-", "▁a▁▁b", "inning in", *fuzz]


def greedy(some: list[str]) -> BPEModel:
    """A model with a merge for most neighbours in these texts, so that a missing boundary changes ids."""
    return BPETokenizer.train("\0".join(some * 2), 1_500, pattern=None).model


class Both:
    """A pre-tokenizer with a model, in C and as it is defined."""

    def __init__(self, step, model: BPEModel) -> None:
        self.step, self.heap, self.prepare = step, HeapEncoder(model), preparation(step)
        self.native = native.encoder_for(model, step)

    def check(self, text: str, first: bool = True) -> None:
        expected = [i for piece in self.step.split(text, first) for i in self.heap.encode_piece(piece.encode())]
        prepared = text if self.prepare is None else self.prepare(text, first)
        assert self.native.encode(prepared) == expected, (self.step, text)


@pytest.mark.parametrize("step", SERVED + AT_THE_FRONT, ids=repr)
def test_one_step(step):
    rng = random.Random(repr(step))
    some = texts(rng, amount(40, 5_000))
    both = Both(step, greedy(some[:300]))
    for text in some:
        for first in (True, False):
            both.check(text, first)


def test_several_steps():
    rng = random.Random(1)
    for _ in range(amount(100, 10_000)):
        steps = rng.choices(SERVED[:-1], k=rng.randint(1, 4)) + [SERVED[-1]] * rng.randint(0, 1)
        if rng.random() < 0.3:
            steps[0] = rng.choice(AT_THE_FRONT[:-2])
        some = texts(rng, 5)
        both = Both(PreTokenizerSequence(steps), greedy(some))
        for text in some:
            both.check(text)


def test_more_pieces_than_a_block_has():
    step = PreTokenizerSequence((WhitespaceSplit(), Digits(individual_digits=True), Punctuation("MergedWithNext")))
    both = Both(step, BPEModel.from_merges([(b"1", b"1"), (b"-", b"-"), (b"a", b"1"), (b"x", b"x")]))
    for size in (CHUNK - 1, CHUNK, 2 * CHUNK + 1, 20 * CHUNK):
        for text in ("1" * 3 * size, "a1 -" * size, " " * 3 * size, "x" * 3 * size, "--" * size + " a", "a  " * size):
            both.check(text)


def test_slices_of_a_long_text():
    """Megabytes, so that the first pattern sees the text in slices: the text after a slice changes no piece of it."""
    step = PreTokenizerSequence((SplitPattern(Pattern("Regex", r"\s+"), "Removed"), Digits(), Split(r"a+b|é+|.")))
    both = Both(step, BPEModel.from_merges([(b"a", b"a"), (b"aa", b"aa"), (b"a", b"b"), (b" ", b" ")]))
    text = "".join(random.Random(3).choices(["aaa", "ab", " ", "é", "12", "  \n"], k=400_000)) + " "
    for size in (4_095, 4_096, 4_097, 4_200, 5_000, 50_000):
        both.check(text[:size])
    assert both.native.encode(text * 8) == both.native.encode(text) * 8


def test_texts_of_one_piece_and_none():
    both = Both(WhitespaceSplit(), BYTES)
    for text in ("", " ", "a", " a ", "a" * 9_000, " " * 9_000, " " * 5_000 + "a" + " " * 5_000):
        both.check(text)


@pytest.mark.parametrize("step", LEFT_TO_PYTHON, ids=repr)
def test_what_is_left_to_python(step):
    assert split_steps_for(step, BYTES) is None and native.encoder_for(BYTES, step) is None


def test_more_steps_than_there_are_levels():
    steps = [Split(f"[{letter}]+") for letter in "abcdefghijklmnop"]
    both = Both(PreTokenizerSequence(steps[:15]), greedy(["abcdefghijklmnop" * 3]))
    both.check("aabbccddeeffgghhiijjkkllmmnnoopp" * 9)
    assert native.encoder_for(BYTES, PreTokenizerSequence(steps)) is None


def test_too_much_lookahead_is_given_up():
    for steps in ((Digits(), Split("a*b|a")), (Split("a*b|a"), Digits())):
        in_c = native.encoder_for(BYTES, PreTokenizerSequence(steps))
        assert in_c.encode("a" * 20_000) is None and in_c.encode("aab" * 200) is not None


def rule_of(model):
    return _boundary_rule(model, model.initial_symbols, merge_columns(model.merges))


def test_boundaries_from_the_tokens_alone():
    words = ["ab", "bé", "日本", "本a"]
    initial_symbols = [*"abé日本", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens = {number: token.encode() for number, token in enumerate([*initial_symbols, *words])}
    ids = {token: number for number, token in tokens.items()}
    merges = {(ids[w[0].encode()], ids[w[1].encode()]): (n, ids[w.encode()]) for n, w in enumerate(words)}
    spelled = {byte: 5 + byte for byte in range(256)}
    alphabet = {token.encode(): ids[token.encode()] for token in "abé日本"}
    model = BPEModel(tokens, merges, alphabet, False, InitialSymbols(True, byte_tokens=spelled, unk_id=None))
    assert rule_of(model) == AT_UNSEEN_PAIRS
    in_c, heap, rng = native.encoder_for(model, None), HeapEncoder(model), random.Random(4)
    for _ in range(amount(300, 20_000)):
        text = "".join(rng.choices("abé日本xü\0", k=rng.choice((1, 5, 40, 300))))
        assert in_c.encode(text) == heap.encode_piece(text.encode()), text
    merging = {**merges, (5, 6): (9, len(tokens))}
    more = {**tokens, len(tokens): tokens[5] + tokens[6]}
    for other in (
        BPEModel(tokens, merges, alphabet, True, model.initial_symbols),  # whole pieces are looked up
        BPEModel(more, merging, alphabet, False, model.initial_symbols),  # bytes merge
        BPEModel(tokens, merges, alphabet, False, InitialSymbols(True, unk_id=7, fuse_unk=True)),
    ):
        assert rule_of(other) == NO_BOUNDARIES
    space = {**alphabet, "▁".encode(): len(tokens)}
    spaced = {**tokens, len(tokens): "▁".encode()}
    unknown = BPEModel(spaced, merges, space, False, InitialSymbols(True, unk_id=7, fuse_unk=True))
    vanishing = BPEModel(spaced, merges, space, False, InitialSymbols(True))
    assert (
        rule_of(unknown),
        rule_of(vanishing),
    ) == (
        AT_SPACES,
        AT_KNOWN_SPACES,
    )
