"""What kernels cut: the pieces of the pre-tokenizers in Python, whatever the steps and their behaviours."""

import random

import numpy as np
import pytest

from bpelab import BPEModel
from bpelab.compiled.chain import BLOCK, ReadsInVain, copy_kept, cut, without_dropped
from bpelab.compiled.jit import PAD
from bpelab.compiled.neighbours import pair_table, place_of, side_by_side
from bpelab.compiled.steps import Plan, plan_for
from bpelab.pretokenizers.behaviors import BEHAVIORS
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.components import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from bpelab.pretokenizers.matching import Pattern
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.pretokenizers.split import Split, SplitPattern
from bpelab.units import Units

from ..conftest import amount, fuzz_text

pytestmark = pytest.mark.slow  # numba's kernels are compiled: half a minute

BYTES = BPEModel.from_merges([])
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


def pieces(plan: Plan, text: str, first: bool) -> list[str]:
    text = plan.prepare(text, first) if plan.prepare else text
    data = text.encode()
    levels = [level for level in plan.levels if not level.needs or level.needs in text]
    buffer, found = np.frombuffer(data + bytes(PAD), np.uint8), []
    for begin, ends in cut(buffer, 0, np.array([len(data)] if data else [], np.int64), levels):
        kept, place, kept_ends = without_dropped(buffer, begin, ends)
        for end in kept_ends.tolist():
            found.append(bytes(kept[place:end]).decode())
            place = end
    return found


def texts(rng: random.Random, count: int) -> list[str]:
    fuzz = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(count)]
    return ["", " ", "--", "-a--b-", "▁a▁▁b", "inning in", *fuzz]


@pytest.mark.parametrize("step", SERVED + AT_THE_FRONT, ids=repr)
def test_one_step(step):
    plan, rng = plan_for(step, BYTES), random.Random(repr(step))
    for text in texts(rng, amount(40, 5_000)):
        for first in (True, False):
            assert pieces(plan, text, first) == step.split(text, first), text


def test_several_steps():
    rng = random.Random(1)
    for _ in range(amount(100, 10_000)):
        steps = rng.choices(SERVED[:-1], k=rng.randint(1, 4)) + [SERVED[-1]] * rng.randint(0, 1)
        if rng.random() < 0.3:
            steps[0] = rng.choice(AT_THE_FRONT[:-2])
        step = PreTokenizerSequence(steps)
        plan = plan_for(step, BYTES)
        for text in texts(rng, 5):
            assert pieces(plan, text, True) == step.split(text), (step, text)


def test_more_pieces_than_a_block_has():
    step = PreTokenizerSequence((WhitespaceSplit(), Digits(individual_digits=True), Punctuation("MergedWithNext")))
    plan = plan_for(step, BYTES)
    for text in ("1" * 3 * BLOCK, "a1 -" * BLOCK, " " * 3 * BLOCK, "x" * 3 * BLOCK, "--" * BLOCK + " a"):
        assert pieces(plan, text, True) == step.split(text)


@pytest.mark.parametrize("step", LEFT_TO_PYTHON, ids=repr)
def test_what_is_left_to_python(step):
    assert plan_for(step, BYTES) is None


def test_reading_in_vain_is_given_up():
    plan = plan_for(PreTokenizerSequence((Digits(), Split("a*b|a"))), BYTES)
    with pytest.raises(ReadsInVain):
        pieces(plan, "a" * 20_000, True)


def test_pairs_are_those_of_the_tokens():
    words = ["ab", "bé", "日本", "本a"]
    units = [*"abé日本", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens = {number: token.encode() for number, token in enumerate([*units, *words])}
    ids = {token: number for number, token in tokens.items()}
    merges = {(ids[w[0].encode()], ids[w[1].encode()]): (n, ids[w.encode()]) for n, w in enumerate(words)}
    spelled = {byte: 5 + byte for byte in range(256)}
    alphabet = {token.encode(): ids[token.encode()] for token in "abé日本"}
    model = BPEModel(tokens, merges, alphabet, False, Units(True, byte_tokens=spelled, unk_id=None))
    table = pair_table(model)
    assert all(side_by_side(ord(word[0]), ord(word[1]), table) for word in words)
    places = {place_of(ord(word[0]), ord(word[1])) for word in words[1:]}
    for left in "abé日本x":
        for right in "abé日本x":
            if left + right not in words and place_of(ord(left), ord(right)) not in places:
                assert not side_by_side(ord(left), ord(right), table)
    assert pieces(plan_for(None, model), "ab本aé日本日", True) == ["ab", "本a", "é", "日本", "日"]
    merging = {**merges, (5, 6): (9, len(tokens))}
    more = {**tokens, len(tokens): tokens[5] + tokens[6]}
    for other in (
        BPEModel(tokens, merges, alphabet, True, model.units),  # whole pieces are looked up
        BPEModel(more, merging, alphabet, False, model.units),  # bytes merge
        BPEModel(tokens, merges, alphabet, False, Units(True, unk_id=7, fuse_unk=True)),
    ):
        assert pair_table(other) is None


def test_dropped_pieces_leave_nothing():
    text = np.frombuffer(b"abcdef" + bytes(PAD), np.uint8)
    kept, ends = np.zeros(6, np.uint8), np.zeros(4, np.int64)
    assert copy_kept(text, 1, np.array([2, ~4, 5, ~6], np.int64), kept, ends) == 2
    assert bytes(kept[:2]) == b"be" and ends[:2].tolist() == [1, 2]
