"""What bpelab saves, read by both lines of Hugging Face's tokenizers: the one that is installed, and 1.0.

1.0 encodes and decodes and has no components to compare; its Unicode tables are its own. It runs published split
patterns alone, and a file with another one opens and can't encode: then saving must have warned.
"""

import random
import warnings
from pathlib import Path

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.formats.published_patterns import MISREAD, UnpublishedPattern
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS
from bpelab.unicode.tables import category

from .. import tokenizers_1
from ..conftest import amount, encoding, fuzz_text
from ..formats.test_published_patterns import MINBPE, NANOCHAT

tokenizers = pytest.importorskip("tokenizers")
RUNS = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "tekken", "kimi-k2", MINBPE, None]
OTHERS = ["qwen3.5", "superbpe", NANOCHAT, r"\w+|\W"]


def texts() -> list[str]:
    rng = random.Random(100)
    fuzz = [
        fuzz_text(rng).encode("utf-16", "surrogatepass").decode("utf-16", "replace") for _ in range(amount(600, 20_000))
    ]
    by_hand = [
        "",
        " ",
        "\n ",
        "a \n \n",
        "?!\n  ",
        "1234567",
        "It's I'LL 'ſ",
        "<|end|>a <|end|>",
        "中文 123",
        "x\u200dy²",
    ]
    return [*by_hand, *book_text()[100_000:130_000].splitlines(keepends=True), *fuzz]


def test_every_pattern_is_in_one_of_the_lists():
    assert {name for name in [*RUNS, *OTHERS] if name in PATTERNS} == PATTERNS.keys()


@pytest.mark.parametrize("pattern", RUNS)
@pytest.mark.filterwarnings("error")
def test_both_lines_have_the_same_ids(pattern, tmp_path):
    ours = BPETokenizer.train(book_text()[:80_000], 900, pattern=pattern, special_tokens=["<|end|>"])
    ours.save(tmp_path)
    assert_same_ids(ours, tmp_path / "tokenizer.json", texts())


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
@pytest.mark.filterwarnings("error")
def test_published_vocabularies(name, tmp_path):
    encoding(name)
    ours = BPETokenizer.from_tiktoken(name)
    ours.save(tmp_path)
    assert_same_ids(ours, tmp_path / "tokenizer.json", texts())


def assert_same_ids(ours: BPETokenizer, path: Path, texts: list[str]) -> None:
    expected = [ours.encode(text, allowed_special="all") for text in texts]
    older = tokenizers.Tokenizer.from_file(str(path)).encode_batch(texts, add_special_tokens=False)
    for text, ids, row, newer in zip(texts, expected, older, tokenizers_1.encode(path, texts), strict=True):
        assert row.ids == ids, text
        assert newer == ids, (text, [category(char) for char in text])


@pytest.mark.filterwarnings("ignore::bpelab.trainers.counting.corpus.PatternMatchesLittle")
@pytest.mark.parametrize("pattern", OTHERS)
def test_where_it_cannot_encode_saving_has_warned(pattern, tmp_path):
    ours = BPETokenizer.train(book_text()[:80_000], 900, pattern=pattern)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ours.save(tmp_path)
    assert [warning.category for warning in warned] == [UnpublishedPattern]
    with pytest.raises(tokenizers_1.RefusedError, match="`Split` pattern"):
        tokenizers_1.encode(tmp_path / "tokenizer.json", ["a"])


@pytest.mark.parametrize("pattern", MISREAD)
def test_what_it_misreads(pattern, tmp_path):
    """Where this fails, a later version reads these patterns as they are: then they belong to those it runs."""
    ours = BPETokenizer(BPEModel.from_merges([(b"1", b"2"), (b"12", b"3"), (b"123", b"4")]), pattern=pattern)
    with pytest.warns(UnpublishedPattern, match="gives other ids"):
        ours.save(tmp_path)
    assert tokenizers_1.encode(tmp_path / "tokenizer.json", ["1234"]) == [[257, 52]] != [ours.encode("1234")]
