"""The search for added tokens: against a search by brute force and against tokenizers, flags, and very many tokens."""

import copy
import pickle
import random
import time

import pytest
from hypothesis import given, strategies as st

from bpelab import BPETokenizer
from bpelab._support.textio import valid_text
from bpelab.vocab.added_token_matcher import AddedTokenMatcher
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, fuzz_text


def matcher(*strings, **flags):
    return AddedTokenMatcher((string, AddedToken(string, number, **flags)) for number, string in enumerate(strings))


def test_a_token_is_a_tuple_with_names():
    token = AddedToken("<a>", 7, lstrip=True)
    assert token == ("<a>", 7, True, False, True, False, False) and hash(token) == hash(tuple(token))
    assert repr(token) == (
        "AddedToken(content='<a>', id=7, special=True, single_word=False, lstrip=True, rstrip=False, normalized=False)"
    )
    assert token._replace(id=8) == AddedToken("<a>", 8, lstrip=True) != token
    for again in (copy.copy(token), copy.deepcopy(token), pickle.loads(pickle.dumps(token))):
        assert again == token and type(again) is AddedToken
    with pytest.raises(AttributeError):
        token.id = 9


def everything(token):
    return True


def by_brute_force(strings, text):
    """At each place the longest that fits; the search goes on behind it."""
    found, at = [], 0
    while at < len(text):
        fitting = [string for string in strings if text.startswith(string, at)]
        if fitting:
            longest = max(fitting, key=len)
            found.append((at, at + len(longest), longest))
            at += len(longest)
        else:
            at += 1
    return found


@given(st.sets(st.text("ab<é", min_size=1, max_size=5), max_size=12), st.text("ab<é|", max_size=30))
def test_leftmost_and_longest(strings, text):
    found = [(start, stop, token.content) for start, stop, token in matcher(*strings).find(text, everything)]
    assert found == by_brute_force(strings, text)


def test_many_tokens_by_brute_force():
    """Enough beginnings that the search changes its way: by three, by two and by one character."""
    rng = random.Random(110)
    for kinds, number in (("abc", 60), ("abcdefghijklmnop", 900), ("".join(map(chr, range(0x4E00, 0x5100))), 2_000)):
        for _ in range(amount(4, 100)):
            strings = {"".join(rng.choices(kinds, k=rng.randint(1, 5))) for _ in range(number)}
            search = matcher(*sorted(strings))
            for _ in range(5):
                text = "".join(rng.choices(kinds, k=60))
                found = [(start, stop, token.content) for start, stop, token in search.find(text, everything)]
                assert found == by_brute_force(strings, text)


FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


@pytest.mark.parametrize("seed", range(5))
def test_flags_against_tokenizers(seed, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(seed)
    for _ in range(amount(30, 1_500)):
        theirs = tokenizers.Tokenizer(tokenizers.models.BPE({chr(32 + n): n for n in range(95)}, [], unk_token="?"))
        if rng.random() < 0.3:
            theirs.normalizer = tokenizers.normalizers.Lowercase()
        contents = {"".join(rng.choices("ab<> _é", k=rng.randint(1, 4))).strip() for _ in range(rng.randint(1, 6))}
        for content in sorted(content for content in contents if len(content) > 1):  # others are the model's too
            flags = {flag: rng.random() < 0.4 for flag in FLAGS}
            theirs.add_tokens([tokenizers.AddedToken(content, **flags)])
        theirs.save(str(tmp_path / "t.json"))
        ours = BPETokenizer.from_pretrained(tmp_path / "t.json")
        for _ in range(25):
            text = "".join(
                rng.choices(["a", "b", "<", ">", " ", "_", "é", "A", "\t", "\u3000", "1"], k=rng.randint(0, 14))
            )
            assert ours.encode(text, allowed_special="all") == theirs.encode(text).ids, (text, theirs.to_str())


def test_a_token_that_is_not_wanted_hides_what_is_ordinary_in_it():
    tokens = SpecialTokens(
        [
            AddedToken("<|end|>", 1),
            AddedToken("end", 2, special=False),
            AddedToken("<|", 3),
            AddedToken("x", 4, special=False),
        ]
    )
    assert list(tokens.split("a<|end|>x", frozenset())) == [("a<|end|>", None), ("x", 4)]
    assert list(tokens.split("a<|end|>x", tokens.special_names)) == [("a", None), ("<|end|>", 1), ("x", 4)]
    assert list(tokens.split("end", frozenset())) == [("end", 2)]


def test_text_that_is_not_allowed_never_becomes_special():
    rng = random.Random(111)
    names = ["<|a|>", "<|a|><|b|>", "|><|", "a"]
    tokens = SpecialTokens([AddedToken(name, number) for number, name in enumerate(names)])
    for _ in range(amount(300, 20_000)):
        text = valid_text(fuzz_text(rng)) + "".join(rng.choices(["<|", "a", "|>", "b"], k=9))
        allowed = frozenset(rng.sample(names, rng.randint(0, 3)))
        parts = list(tokens.split(text, allowed))
        assert "".join(part for part, _ in parts) == text
        assert {names[token_id] for _, token_id in parts if token_id is not None} <= allowed


def seconds(work):
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_time_grows_with_the_tokens_and_with_the_text():
    """Ten times as much may take ten times as long; 25 leaves room for noise, and a square would give 100."""
    rng = random.Random(112)
    names = [f"<|tool_{number}_{rng.random()}|>" for number in range(30_000)]
    building = [seconds(lambda n=n: matcher(*names[:n])) for n in (3_000, 30_000)]
    assert building[1] / building[0] < 25
    search = matcher(*names)
    text = "".join(rng.choice(["low ", "<|tool_", "<", names[rng.randrange(30_000)]]) for _ in range(6_000))
    searching = [seconds(lambda t=t: list(search.find(t, everything))) for t in (text[: len(text) // 10], text)]
    assert searching[1] / searching[0] < 25
    few = matcher(*names[:300])
    assert seconds(lambda: list(search.find(text, everything))) / seconds(lambda: list(few.find(text, everything))) < 25


@pytest.mark.parametrize("strings", [["a" * n for n in range(1, 400)], ["a" * n + "b" for n in range(1, 400)]])
def test_tokens_that_begin_alike(strings):
    """Many tokens could begin at every place; the time still grows with the text."""
    search = matcher(*strings)
    text = "a" * 6_000
    times = [seconds(lambda n=n: list(search.find(text[:n], everything))) for n in (600, 6_000)]
    assert times[1] / times[0] < 40
