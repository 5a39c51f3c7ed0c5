"""Split patterns are saved as they were published where no id changes, and where they can't be, saving says so."""

import json
import random
from itertools import product

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.encoders.heap import HeapEncoder
from bpelab.formats.published_patterns import (
    CLASSIC,
    DEEPSEEK,
    MISREAD,
    PUBLISHED,
    UnpublishedPattern,
    as_published,
    same_ids_with_classic,
    unpublished,
)
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.regex.equivalence import compare_patterns

from ..conftest import amount, encoding

MINBPE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
NANOCHAT = MINBPE.replace("{1,3}", "{1,2}")


def saved_pattern(tokenizer: BPETokenizer) -> str:
    (split,) = (step for step in tokenizer_json(tokenizer.spec)["pre_tokenizer"]["pretokenizers"] if "pattern" in step)
    return split["pattern"]["Regex"]


def trained(pattern: str) -> BPETokenizer:
    return BPETokenizer.train(book_text()[:30_000], 500, pattern=pattern)


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("cl100k", CLASSIC),
        ("gpt2", PATTERNS["gpt2"].oniguruma),
        (PATTERNS["gpt2"].regex, PATTERNS["gpt2"].oniguruma),
        (MINBPE, CLASSIC),
        *((name, PATTERNS[name].oniguruma) for name in ("llama3", "qwen2", "o200k", "tekken")),
    ],
)
@pytest.mark.filterwarnings("error")
def test_written_as_published(pattern, written, tmp_path):
    ours = trained(pattern)
    assert saved_pattern(ours) == written
    ours.save(tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path)
    for text in (book_text()[30_000:40_000], "a \n ", "\n  ", "1234 \r\n\t", "?!\n "):
        assert again.encode(text) == ours.encode(text)


@pytest.mark.parametrize("pattern", ["qwen3.5", "superbpe", r"[a-z]+|\d"])
@pytest.mark.filterwarnings("ignore::bpelab.trainers.counting.corpus.PatternMatchesLittle")
def test_others_stay_and_saving_says_so(pattern, tmp_path):
    shown = "'.a-z" if pattern not in PATTERNS else pattern
    with pytest.warns(UnpublishedPattern, match=f"can't encode with it: .*, and {shown}.* isn't one") as warned:
        trained(pattern).save(tmp_path)
    assert [warning.filename for warning in warned] == [__file__]
    assert saved_pattern(trained(pattern)) == (PATTERNS[pattern].oniguruma if pattern in PATTERNS else pattern)


@pytest.mark.parametrize("pattern", MISREAD)
def test_what_it_would_misread_is_said(pattern, tmp_path):
    """Nanochat's own spelling is kept: an error there is better than other ids."""
    with pytest.warns(UnpublishedPattern, match=r"gives other ids with .*: it cuts numbers after three digits"):
        trained(pattern).save(tmp_path)
    with pytest.warns(UnpublishedPattern, match="can't encode with it"):
        trained(NANOCHAT).save(tmp_path)
    assert saved_pattern(trained(NANOCHAT)) == NANOCHAT


def test_todays_cl100k_is_the_classic_one_with_a_cut_less():
    """The premise: if white space that ends a text is whole only without a line break before its end, they are one."""
    ours = PATTERNS["cl100k"].oniguruma
    cut = ours.replace(r"\s+\z", r"\s*[\r\n]+\z|[^\S\r\n]+\z")
    assert cut != ours
    assert compare_patterns(cut, CLASSIC, "oniguruma") is None
    assert compare_patterns(ours, CLASSIC, "oniguruma").text == "\n "


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_a_token_across_the_cut_keeps_the_pattern(ignore_merges):
    """The verdict on small random vocabularies is never wrong, and it is right wherever merges reach the token."""
    letters = b"\n \ta"
    texts = ["".join(chars) for size in range(1, 6) for chars in product("\n \ta", repeat=size)]
    today, classic = Split("cl100k"), Split("llama3")
    pieces = [(text, today.split(text), classic.split(text)) for text in texts]
    pieces = [triple for triple in pieces if triple[1] != triple[2]]
    rng, verdicts = random.Random(14), {True: 0, False: 0}
    for _ in range(amount(40, 1_000)):
        tokens, merges = [bytes([byte]) for byte in letters], []
        for _ in range(rng.randint(1, 5)):
            pair = rng.choice(tokens), rng.choice(tokens)
            if pair not in merges:
                merges.append(pair)
                tokens.append(pair[0] + pair[1])
        model = BPEModel.from_merges(merges, ignore_merges=ignore_merges)
        encoder = HeapEncoder(model)

        def ids(pieces, encode=encoder.encode_piece):
            return [token for piece in pieces for token in encode(piece.encode())]

        same = same_ids_with_classic(model)
        verdicts[same] += 1
        assert not same or all(ids(one) == ids(other) for _, one, other in pieces)
        if not same and not ignore_merges and any(token in {b"\n ", b"\n\t"} for token in tokens):
            assert any(ids(one) != ids(other) for _, one, other in pieces)
    assert min(verdicts.values()) > 5


def test_such_a_token_is_said(tmp_path):
    model = BPEModel.from_merges([(b"\n", b" ")])
    ours = BPETokenizer(model)
    with pytest.warns(UnpublishedPattern, match="and cl100k isn't one"):
        ours.save(tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path)
    assert again.pattern == "cl100k"
    assert again.encode("a\n ") == ours.encode("a\n ") == [97, 256]
    tokenizers = pytest.importorskip("tokenizers")
    assert tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("a\n ").ids == [97, 256]


def test_of_the_published_vocabulary_no_token_lies_across():
    encoding("cl100k_base")
    ours = BPETokenizer.from_tiktoken("cl100k_base")
    assert same_ids_with_classic(ours.model)
    assert saved_pattern(ours) == CLASSIC


def test_the_list_names_each_pattern_once():
    assert all(as_published(pattern) is pattern for pattern in PUBLISHED)
    alike = [
        (one, other)
        for at, one in enumerate(PUBLISHED)
        for other in PUBLISHED[at + 1 :]
        if compare_patterns(one, other, "oniguruma") is None
    ]
    assert alike == []


def test_a_reader_of_json_sees_which_patterns_run():
    def split(pattern, behavior="Isolated", invert=False):
        return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}

    assert unpublished(None) is None
    assert unpublished({"type": "ByteLevel"}) is None
    assert unpublished(split(CLASSIC)) is None
    assert unpublished(split(CLASSIC, "Removed", True)) is None  # as in the files of GPT-4
    assert unpublished(split(CLASSIC, "Removed")) == CLASSIC
    assert unpublished({"type": "Sequence", "pretokenizers": [*map(split, DEEPSEEK), {"type": "ByteLevel"}]}) is None
    assert unpublished({"type": "Sequence", "pretokenizers": [*map(split, DEEPSEEK[1:])]}) == DEEPSEEK[1]
    assert unpublished({"type": "Split", "pattern": {"String": "x"}, "behavior": "Removed", "invert": False}) is None


def test_an_opened_file_is_saved_with_the_published_pattern(tmp_path):
    """What an earlier version saved for cl100k, and a pattern of a file that is written another way."""
    ours = trained("cl100k")
    ours.save(tmp_path / "a")
    path = tmp_path / "a" / "tokenizer.json"
    data = json.loads(path.read_text("utf-8"))
    step = data["pre_tokenizer"]["pretokenizers"][0]
    for pattern in (
        PATTERNS["cl100k"].oniguruma.replace(r"\z", r"(?![\s\S])"),
        CLASSIC.replace(r"\s+(?!\S)", r"\s+(?=\s|\z)"),
    ):
        step["pattern"]["Regex"] = pattern
        path.write_text(json.dumps(data), "utf-8")
        assert saved_pattern(BPETokenizer.from_pretrained(path)) == CLASSIC
