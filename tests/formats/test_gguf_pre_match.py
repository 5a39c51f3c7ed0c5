"""Which of llama.cpp's named pre-tokenizers equals a given one: by spelling, by proof, by search, or none."""

import json
import random

import pytest

from bpelab import BPETokenizer, ConversionError, Split
from bpelab.cli.main import main
from bpelab.convert import convert
from bpelab.formats.gguf_pre_match import _candidates, find_gguf_pre, names_by_spelling
from bpelab.formats.gguf_pre_tokenizers import gguf_pre, with_all_spaces
from bpelab.notebook import book_text
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.char_types import Digits
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.regex.patterns import PATTERNS

from ..conftest import amount, fuzz_text

BYTE_LEVEL = [name for name, pre in gguf_pre().items() if pre.byte_level]
GPT2 = r"'(?:[sdmt]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\p{N}\s\p{L}]+|\s+(?!\S)|\s+"
"""GPT-2's pattern in a spelling that nobody published."""


def sequence(*patterns):
    return PreTokenizerSequence(
        (*(Split(pattern, dialect="oniguruma") for pattern in patterns), ByteLevel(False, use_regex=False))
    )


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_a_name_is_that_of_its_own_patterns(name):
    pre = gguf_pre()[name]
    for patterns in (pre.regex, pre.original or pre.regex):
        match = find_gguf_pre(sequence(*with_all_spaces(patterns)))
        assert name in match.names and match.basis == "spelling"
        assert {gguf_pre()[other].regex for other in match.names} == {pre.regex}


@pytest.mark.parametrize("name", PATTERNS)
def test_named_patterns(name):
    """Those without a name by spelling have none at all: `bpelab convert` relies on it."""
    match = find_gguf_pre(Split(name))
    assert (match.names == ()) == (name in ("cl100k", "superbpe")) == (names_by_spelling(Split(name)) == ())
    assert match.names or match.difference.pieces != match.difference.other_pieces


def test_another_spelling_is_proved():
    match = find_gguf_pre(Split(GPT2))
    assert (match.names[0], match.basis) == ("gpt-2", "proof")
    assert str(match).startswith("gpt-2 (proved to cut every text alike; also called a.x-4.0, ")


def test_sequences_are_proved_step_by_step():
    first, second, third = gguf_pre()["deepseek-v3"].regex
    respelled = second.replace(second[1], f"{second[1]}{second[1]}", 1)
    match = find_gguf_pre(sequence(first.replace(r"\p{N}", r"[\p{N}]"), respelled, third))
    assert (match.names[0], match.basis) == ("deepseek-v3", "proof")


def test_what_isnt_patterns_is_searched():
    match = find_gguf_pre(PreTokenizerSequence((Digits(individual_digits=True), ByteLevel(False))))
    assert (match.names[0], match.basis) == ("starcoder", "search")
    assert "which is no proof" in str(match)


@pytest.mark.parametrize(
    ("pattern", "nearest", "text"),
    [
        (PATTERNS["llama3"].regex.replace("{1,3}", "{1,2}"), "llama-bpe", "111"),
        (PATTERNS["gpt2"].oniguruma.replace("'s|", ""), "gpt-2", "'s"),
    ],
)
def test_one_that_nobody_has(pattern, nearest, text):
    match = find_gguf_pre(Split(pattern))
    assert (match.names, match.basis, match.nearest, match.difference.text) == ((), "", nearest, text)
    assert match.difference.pieces == tuple(Split(pattern).split(text))
    theirs = sequence(*with_all_spaces(gguf_pre()[nearest].regex))
    assert match.difference.other_pieces == tuple(theirs.split(text))


@pytest.mark.slow
def test_random_texts_refute_no_proof():
    """Each of llama.cpp's single patterns, respelled, gets its names back, and none that cuts a text otherwise."""
    rng = random.Random(6)
    texts = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(amount(60, 3_000))]
    for _, theirs in _candidates():
        if len(theirs.steps) > 1:
            continue
        respelled = Split(f"(?:{theirs.steps[0].pattern})", dialect="oniguruma")
        match = find_gguf_pre(respelled)
        assert match.basis in ("proof", "search")
        for name in match.names if match.basis == "proof" else ():
            meant = [other for names, other in _candidates() if name in names]  # llama.cpp's own and the model's
            assert any(all(other.split(text) == theirs.split(text) for text in texts) for other in meant), name


def test_no_pre_tokenizer_has_no_name():
    assert find_gguf_pre(None).names == ()


def test_a_respelled_pattern_is_written_and_reopened(tmp_path):
    ours = BPETokenizer.train(book_text()[:40_000], 500, pattern=GPT2)
    assert convert(ours, tmp_path / "m.gguf", "gguf") == []
    again = BPETokenizer.from_pretrained(tmp_path / "m.gguf")
    assert again.encode(book_text()[:20_000]) == ours.encode(book_text()[:20_000])


def test_the_refusal_names_the_nearest(tmp_path):
    ours = BPETokenizer.train("low lower " * 9, 260, pattern=PATTERNS["llama3"].regex.replace("{1,3}", "{1,2}"))
    with pytest.raises(ConversionError, match=r"none; the nearest is llama-bpe, but '111' is cut into \['11', '1'\]"):
        convert(ours, tmp_path / "m.gguf", "gguf")


def test_on_the_command_line(tmp_path, capsys):
    folder = tmp_path / "mine"
    BPETokenizer.train(book_text()[:40_000], 500, pattern=GPT2).save(folder)
    assert main(["diff", str(folder), "--llama-cpp"]) == 0
    assert capsys.readouterr().out.startswith("llama.cpp's pre-tokenizer: gpt-2 (the same patterns; also called ")
    assert main(["diff", str(folder), "--llama-cpp", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["names"][0], found["basis"], found["difference"]) == ("gpt-2", "spelling", None)
    assert main(["convert", str(folder), str(tmp_path / "m.gguf"), "--to", "gguf"]) == 0
    assert "  llama.cpp's pre-tokenizer: gpt-2 (the same patterns)\n" in capsys.readouterr().out
    assert main(["info", str(tmp_path / "m.gguf")]) == 0
    assert "llama cpp pre          gpt-2 (the same patterns)\n" in capsys.readouterr().out
    assert main(["diff", "cl100k_base", "--llama-cpp", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["names"], found["nearest"]) == ([], "llama-bpe") and found["difference"]["text"]
    assert main(["diff", str(folder)]) == 1
    assert "diff compares two tokenizers, A and B, or A with llama.cpp's pre-tokenizers" in capsys.readouterr().err
    assert main(["diff", str(folder), str(folder), "--llama-cpp"]) == 1
    assert "leave out B and --corpus" in capsys.readouterr().err
