"""Special tokens on their own: what is refused, which names are meant, and where they stand in a text."""

import pickle
import random

import pytest

from bpelab.errors import SpecialTokenError
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount


@pytest.fixture
def mixed() -> SpecialTokens:
    """Two special tokens, one that is not, and two that are found in normalized text."""
    return SpecialTokens(
        [
            AddedToken("<s>", 0),
            AddedToken("<|end|>", 1),
            AddedToken("word", 2, special=False),
            AddedToken("Late", 3, special=False, normalized=True),
            AddedToken("LATE", 4, special=True, normalized=True),
        ]
    )


def test_what_a_tokenizer_asks_for(mixed):
    assert mixed.ids == {"<s>": 0, "<|end|>": 1, "LATE": 4}
    assert mixed.names == {0: "<s>", 1: "<|end|>", 4: "LATE"}
    assert mixed.contents == {0: "<s>", 1: "<|end|>", 2: "word", 3: "Late", 4: "LATE"}
    assert mixed.longest == 7
    assert SpecialTokens({}).longest == 0
    assert SpecialTokens({"<a>": 5}).tokens == (AddedToken("<a>", 5),)
    assert SpecialTokens(iter([AddedToken("<a>", 5)])).ids == {"<a>": 5}


def test_what_is_refused():
    for tokens, message in [
        ({"": 0}, r"^a special token is a string of at least one character, not ''$"),
        ({b"a": 0}, r"at least one character, not b'a'"),
        ({"<a>": -1}, r"^the special token '<a>' has the id -1: ids are integers from 0 up$"),
        ({"<a>": True}, "the id True: ids are integers"),
        ({"<a>": 1.0}, "the id 1.0: ids are integers"),
        ({"<a>": 3, "<b>": 3}, r"^the special tokens '<a>' and '<b>' have the same id, 3$"),
        ([AddedToken("<a>", 1), AddedToken("<a>", 2)], r"^the special token '<a>' is there twice$"),
    ]:
        with pytest.raises(SpecialTokenError, match=message):
            SpecialTokens(tokens)


def test_two_names_of_one_id():
    """Where a file says so; the first is the one that is decoded, and both are found."""
    tokens = [AddedToken("<a>", 3), AddedToken("<b>", 3), AddedToken("<c>", 4)]
    aliases = SpecialTokens(tokens, aliases=True)
    assert aliases.ids == {"<a>": 3, "<b>": 3, "<c>": 4}
    assert aliases.names == {3: "<a>", 4: "<c>"}
    assert list(aliases.split("<b><a>", aliases.special_names)) == [("<b>", 3), ("<a>", 3)]
    again = pickle.loads(pickle.dumps(aliases))
    assert (again.tokens, again.ids, again.names) == (aliases.tokens, aliases.ids, aliases.names)
    with pytest.raises(SpecialTokenError, match="twice"):
        SpecialTokens([*tokens, AddedToken("<a>", 3)], aliases=True)


def test_names_that_are_meant(mixed):
    assert mixed.select("all", "allowed_special") == {"<s>", "<|end|>", "LATE"}
    assert mixed.select(["<s>", "<s>"], "allowed_special") == {"<s>"}
    assert mixed.select((), "allowed_special") == frozenset()
    with pytest.raises(
        SpecialTokenError, match=r'^allowed_special is "all" or a collection of names, not the string .<s>.$'
    ):
        mixed.select("<s>", "allowed_special")
    for name in ("word", "<none>"):  # an added token that is not special is not one to allow
        with pytest.raises(SpecialTokenError, match=f"^which names '{name}', which is not a special token of this"):
            mixed.select(["<s>", name], "which")
    with pytest.raises(SpecialTokenError, match="names '<x>'"):  # the first in order, whatever a set's order is
        mixed.select({"<z>", "<y>", "<x>"}, "which")


def test_normalized_text_is_searched_for_its_own_tokens(mixed):
    text = "<s>a WORD late word"
    assert list(mixed.split(text, mixed.special_names)) == [("<s>", 0), ("a WORD late ", None), ("word", 2)]
    assert list(mixed.split(text, mixed.special_names, str.lower)) == [
        ("<s>", 0),
        ("a word ", None),
        ("late", 4),
        (" ", None),
        ("word", 2),
    ]
    assert list(mixed.split(text, frozenset(), str.upper)) == [("<S>A WORD LATE ", None), ("word", 2)]
    only_late = SpecialTokens([AddedToken("Late", 3, special=False, normalized=True)])
    assert list(only_late.split("x late", frozenset(), str.lower)) == [("x ", None), ("late", 3)]
    assert list(only_late.split("x late Late", frozenset())) == [("x late ", None), ("Late", 3)]
    assert list(mixed.split("", mixed.special_names)) == list(mixed.split("", frozenset(), str.lower)) == []


def test_of_equal_normalized_tokens_the_special_one_counts(mixed):
    assert [token_id for _, token_id in mixed.split("late", mixed.special_names, str.lower)] == [4]
    assert [token_id for _, token_id in mixed.split("late", frozenset(), str.lower)] == [None]
    two = SpecialTokens([AddedToken("A", 1, normalized=True), AddedToken("a", 2, normalized=True)])
    assert [token_id for _, token_id in two.split("a", two.special_names, str.lower)] == [1]


def test_without_anything_to_find():
    """Where all tokens are special and none is allowed, the text is one stretch, and an empty text is none."""
    special = SpecialTokens({"<s>": 0})
    assert list(special.raw_spans("a<s>", frozenset())) == [(0, 4, None)]
    assert list(special.raw_spans("a<s>", frozenset(["<s>"]))) == [(0, 1, None), (1, 4, 0)]
    assert list(special.normalized_spans("a<s>", frozenset(["<s>"]), None)) == [(0, 4, None)]
    assert list(special.raw_spans("", frozenset())) == list(special.normalized_spans("", frozenset(), None)) == []
    late = SpecialTokens([AddedToken("<s>", 0, normalized=True)])
    assert list(late.normalized_spans("a<s>", frozenset(), None)) == [(0, 4, None)]
    assert list(late.normalized_spans("a<s>", frozenset(["<s>"]), None)) == [(0, 1, None), (1, 4, 0)]
    assert special.normalized_matcher(None) is None
    assert late.normalized_matcher(str.upper).first("a<S>", 0)[:2] == (1, 4)


def test_disallowed_tokens_are_named_with_their_place(mixed):
    mixed.check("a<s>", frozenset())
    mixed.check("a<s>", frozenset(["<|end|>"]))
    with pytest.raises(
        SpecialTokenError,
        match=r"^the text holds the special token '<\|end\|>' at character 4\. Pass allowed_special to encode it as "
        r"one, or disallowed_special=\(\) to encode it as plain text\.$",
    ):
        mixed.check("a<s><|end|>", frozenset(["<|end|>"]))


def test_tokens_over_a_cut():
    """Every one that could begin before the cut and end behind it, also one that another hides."""
    rng = random.Random(113)
    for _ in range(amount(300, 20_000)):
        names = {"".join(rng.choices("ab<", k=rng.randint(1, 4))) for _ in range(rng.randint(0, 4))}
        special = SpecialTokens({name: number for number, name in enumerate(sorted(names))})
        text = "".join(rng.choices("ab<", k=rng.randint(0, 12)))
        for cut in range(len(text) + 1):
            over = any(
                text.startswith(name, start) and start < cut < start + len(name)
                for name in names
                for start in range(len(text))
            )
            assert special.may_cross(text, cut) == over, (names, text, cut)
    one = SpecialTokens({"<|end|>": 0})
    assert [cut for cut in range(12) if one.may_cross("ab<|end|>cd", cut)] == list(range(3, 9))
    assert not SpecialTokens({}).may_cross("ab", 1)
