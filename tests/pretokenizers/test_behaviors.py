"""The five behaviours, both ways round, against Hugging Face's."""

import random

import pytest

from bpelab.pretokenizers.split import Split
from bpelab.pretokenizers.split_behaviors import BEHAVIORS, pieces
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.matchers import Pattern

from ..conftest import amount

THEIR_NAMES = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
PATTERNS = ["a", "[ab]", "a+", "aa|b", "c", "[abc]+", " ", "a*", "", "(?=b)", "$", "^", r"\b", "b??", "(a)\\1", r"\Gb"]


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_hugging_face_splits_the_same(behavior, invert):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(51)
    for pattern in PATTERNS:
        for kind, wrap in (("Regex", tokenizers.Regex), ("String", str)):
            theirs = tokenizers.pre_tokenizers.Split(wrap(pattern), THEIR_NAMES[behavior], invert)
            ours = SplitPattern(Pattern(kind, pattern), behavior, invert)
            for _ in range(amount(60, 2_000)):
                text = "".join(rng.choice("aabc \né") for _ in range(rng.randint(0, 9)))
                expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
                assert ours.split(text) == expected, (kind, pattern, text)
                assert pieces(text, ours.pattern.spans(text), behavior, invert) == expected


def test_the_users_split_has_them_too():
    assert Split("-", "Removed").split("a-b") == ["a", "b"]
    assert Split("-", "Removed", invert=True).split("a-b") == ["-"]
    assert list(Split("gpt2", "MergedWithNext").iter_split("a b")) == Split("gpt2", "MergedWithNext").split("a b")
    assert Split("", dialect="oniguruma").split("ab") == ["a", "b"]  # an empty match cuts in Hugging Face's files
    assert Split("").split("ab") == ["ab"]  # and is no match to tiktoken


def test_unknown_behaviours_are_refused():
    for make in (
        lambda: pieces("a", [], "removed"),
        lambda: Split("a", "Merged"),
        lambda: SplitPattern(Pattern("String", "a"), ""),
    ):
        with pytest.raises(ValueError, match="no split behaviour"):
            make()
