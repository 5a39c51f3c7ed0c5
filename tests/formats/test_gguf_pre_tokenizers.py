"""The names of llama.cpp's pre-tokenizers: what they stand for, and that the patterns can be used."""

import json
import random

import pytest

from bpelab.formats import gguf_pre_tokenizers
from bpelab.formats.gguf_pre_tokenizers import GGUF_PRE, HANDLERS, names_for, with_all_spaces
from bpelab.regex.patterns import PATTERNS

from ..conftest import amount, fuzz_text, shared


def isolated(patterns, text):
    """The pieces that tokenizers makes with these patterns, one after the other."""
    tokenizers = pytest.importorskip("tokenizers")
    splits = [tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated") for pattern in patterns]
    return [piece for piece, _ in tokenizers.pre_tokenizers.Sequence(splits).pre_tokenize_str(text)]


def test_the_names_and_patterns_of_llama_cpp():
    facts = json.loads(shared("facts/gguf_pre_tokenizers.json").read_text("utf-8"))["pre"]
    assert len(GGUF_PRE) == 91 and set(GGUF_PRE) == set(facts)
    for name, fact in facts.items():
        pre = GGUF_PRE[name]
        assert (pre.name, pre.llama_cpp_regex, pre.byte_level) == (name, tuple(fact["regex"]), fact["byte_level"])
        if "original_regex" in fact:
            assert pre.original[-len(fact["original_regex"]) :] == tuple(fact["original_regex"])


def test_what_else_a_name_says():
    assert {name for name, pre in GGUF_PRE.items() if not pre.byte_level} == {
        "gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace",
    }  # fmt: skip
    llama, gpt2, qwen2 = GGUF_PRE["llama-bpe"], GGUF_PRE["gpt-2"], GGUF_PRE["qwen2"]
    assert (llama.ignore_merges, llama.add_bos, llama.clean_spaces) == (True, True, True)
    assert (gpt2.ignore_merges, gpt2.add_bos, gpt2.clean_spaces) == (False, False, True)
    assert (qwen2.ignore_merges, qwen2.add_bos, qwen2.clean_spaces) == (False, False, False)
    assert [name for name, pre in GGUF_PRE.items() if pre.add_sep] == ["jina-v1-en", "jina-v2-code", "roberta-bpe"]


def test_the_mapping_is_lazy_and_cannot_be_changed():
    assert gguf_pre_tokenizers.GGUF_PRE is gguf_pre_tokenizers.gguf_pre()
    with pytest.raises(TypeError):
        GGUF_PRE["x"] = None
    with pytest.raises(AttributeError, match="no attribute 'GGUF_POST'"):
        gguf_pre_tokenizers.GGUF_POST  # noqa: B018


def test_names_for_patterns():
    best = {"gpt2": "gpt-2", "llama3": "llama-bpe", "qwen2": "qwen2", "o200k": "gpt-4o"}
    for pattern, name in best.items():
        assert names_for([PATTERNS[pattern].oniguruma])[0] == name
    assert "dbrx" in names_for([PATTERNS["llama3"].regex])
    assert names_for([r"\p{N}", PATTERNS["gpt2"].oniguruma])[:2] == ["starcoder", "command-r"]
    assert names_for([]) == names_for(["[a-z]"]) == names_for([PATTERNS["gpt2"].oniguruma] * 2) == []
    for name, pre in GGUF_PRE.items():
        for patterns in (pre.regex, pre.llama_cpp_regex, pre.original or pre.regex):
            found = names_for(patterns)
            assert name in found
            assert {GGUF_PRE[other].regex for other in found} == {pre.regex}


def test_every_pattern_can_be_used():
    rng = random.Random(3)
    texts = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(amount(20, 2_000))]
    for patterns in {pre.regex for pre in GGUF_PRE.values()} | {pre.original for pre in GGUF_PRE.values()} - {None}:
        assert not any("AFMoE" in pattern for pattern in patterns)
        for text in texts:
            assert "".join(isolated(patterns, text)) == text


def test_a_last_alternative_for_white_space_changes_no_piece():
    rng = random.Random(4)
    texts = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(amount(40, 2_000))]
    changed = {pre.regex for pre in GGUF_PRE.values() if with_all_spaces(pre.regex) != pre.regex}
    assert len(changed) >= 5
    for patterns in changed:
        for text in [" a", "a\n b", "\n.", " \n\n1", *texts]:
            assert isolated(with_all_spaces(patterns), text) == isolated(patterns, text)


@pytest.mark.parametrize(
    ("name", "text", "pieces"),
    [  # as llama.cpp's unicode_regex_split of version 0.3.36 of its Python package cuts them
        ("afmoe", "a12345", ["a", "12", "345"]),
        ("afmoe", "x  1234", ["x", " ", " ", "1", "234"]),
        ("tiny_aya", "1234567 89", ["1", "234", "567", " ", "89"]),
        ("kimi-k2", "helloWorld\u6f22\u5b57ABCd's", ["helloWorld", "\u6f22\u5b57", "ABCd's"]),
        ("kimi-k2", "\u3007\u6f22", ["\u3007", "\u6f22"]),
        ("superbpe", "x 1234567", ["x ", "1", "234", "567"]),
        ("minicpm5", "12345 it's", ["123", "45", " it", "'s"]),
        ("whitespace", "a  b", ["a", "  ", "b"]),
        ("gemma4", "a b\n\nc", ["a b", "\n\n", "c"]),
    ],
)
def test_what_llama_cpp_does(name, text, pieces):
    assert isolated(GGUF_PRE[name].regex, text) == pieces
    assert all(pattern in HANDLERS or pattern in GGUF_PRE[name].regex for pattern in GGUF_PRE[name].llama_cpp_regex)
