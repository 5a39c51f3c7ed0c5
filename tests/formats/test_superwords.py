"""Superwords in every format: Hugging Face's libraries encode equally, the others hold them or say what they lack."""

import json
import random
import re
import unicodedata

import pytest

from bpelab import BPETokenizer, ConversionError, Superwords
from bpelab._support.textio import valid_text
from bpelab.convert import check, convert, rejecting_formats, unsupported
from bpelab.formats.tiktoken_file import read_ranks
from bpelab.model.bpe import NOT_IN_UTF8, BPEModel
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.notebook import book_text
from bpelab.pretokenizers.split import Split
from bpelab.regex.patterns import PATTERNS, covering_pattern, without_covering
from bpelab.tokenizer import open_tokenizer

from ..conftest import amount, fuzz_text

SPECIAL = ["<|end|>", "<|user|>"]
GAPS = PATTERNS["superbpe"].regex
BY_HAND = [
    "",
    " ",
    "one of the<|end|>of the  best -- of 12345<|user|>\n\n of the  ",
    "<|user|><|end|> of the ... of the",
    book_text()[:5_000],
]


def texts():
    rng = random.Random(22)
    return BY_HAND + [
        valid_text(fuzz_text(rng)) + " of the " + valid_text(fuzz_text(rng)) for _ in range(amount(100, 5_000))
    ]


def assigned(text: str) -> str:
    """The text without code points that the module `regex`, whose Unicode is newer, may take for letters."""
    return "".join(char for char in text if unicodedata.category(char) != "Cn")


@pytest.fixture(scope="module", params=["superbpe", "boundless"])
def ours(request):
    roles = {"bos_token": "<|user|>", "eos_token": "<|end|>"}
    learned = BPETokenizer.train(book_text()[5_000:], 2_000, superwords=request.param, special_tokens=SPECIAL, **roles)
    assert b" of the" in learned.get_vocab()
    return learned


def without_bytes_that_no_text_has(tokenizer: BPETokenizer) -> BPETokenizer:
    """The tokenizer as the published files are: 243 bytes, and ids that begin with them."""
    model = tokenizer.model
    tokens = [token for token in model.tokens.values() if len(token) > 1 or token[0] not in NOT_IN_UTF8]
    number = {token: token_id for token_id, token in enumerate(tokens)}
    merges = {
        (number[model.tokens[left]], number[model.tokens[right]]): (rank, number[model.tokens[new]])
        for (left, right), (rank, new) in model.merges.items()
    }
    alphabet = {token: token_id for token, token_id in number.items() if len(token) == 1}
    table = BPEModel(dict(enumerate(tokens)), merges, alphabet, False, InitialSymbols(characters=False))
    return BPETokenizer(table, pattern=tokenizer.pattern)


def test_hugging_faces_libraries_encode_a_saved_one_equally(ours, tmp_path):
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    ours.save(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path)
    assert (auto.bos_token, auto.eos_token, auto.all_special_tokens) == ("<|user|>", "<|end|>", SPECIAL[::-1])
    for text in texts():
        ids = ours.encode(text, allowed_special="all")
        assert ids == theirs.encode(text).ids == auto(text)["input_ids"] == again.encode(text, allowed_special="all")
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False) == auto.decode(ids) == text
        assert ours.encode(text) == auto(text, split_special_tokens=True)["input_ids"]


def test_tiktoken_has_the_same_ids_with_a_pattern_that_leaves_nothing_out(ours, tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    lost = {loss.feature: loss.what for loss in convert(ours, tmp_path / "a.tiktoken", "tiktoken")}
    assert list(lost) == ["pattern", "special tokens", "roles", "text between matches"]
    said = lost["text between matches"]
    assert said == f"tiktoken drops it; with this pattern nothing is left: {covering_pattern('superbpe')}"
    ranks = read_ranks(tmp_path / "a.tiktoken")

    def opened(pattern):
        return tiktoken.Encoding("a", pat_str=pattern, mergeable_ranks=ranks, special_tokens=ours.special_tokens)

    told = opened(said.rpartition(": ")[2])
    for text in texts():
        assert told.encode(text, allowed_special="all") == ours.encode(text, allowed_special="all")
    plain = opened(GAPS)
    assert plain.decode(plain.encode("one of the 12 best")) == "12"  # what the report warns of
    for pattern in ("superbpe", said.rpartition(": ")[2]):
        again = open_tokenizer(tmp_path / "a.tiktoken", pattern=pattern)
        assert again.pattern == "superbpe" and again.encode(BY_HAND[-1]) == ours.encode(BY_HAND[-1])
    assert BPETokenizer.from_tiktoken(ours.to_tiktoken()).pattern == "superbpe"


def test_bytes_that_no_text_has_get_ids_in_tiktokens_files(ours, tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    lacking = without_bytes_that_no_text_has(ours)
    lost = {loss.feature: loss.what for loss in convert(lacking, tmp_path / "a.tiktoken", "tiktoken")}
    size = len(lacking)
    assert lost["bytes without a token"] == f"they get the ids {size} to {size + 12}"
    encoding = lacking.to_tiktoken()
    assert isinstance(encoding, tiktoken.Encoding) and encoding.n_vocab == size + 13
    for text in texts():
        assert encoding.encode_ordinary(text) == lacking.encode(text)
    assert check(lacking, tmp_path / "a.tiktoken", "tiktoken", texts()) == len(texts())
    assert "minbpe" in rejecting_formats(lacking)


def test_minbpe_keeps_the_text_between_matches(ours, tmp_path):
    """minbpe takes `regex.findall` for the pieces, so a pattern with gaps would lose text there."""
    regex = pytest.importorskip("regex")
    plain = ours.with_options(special_tokens=None, bos_token=None, eos_token=None)
    assert convert(plain, tmp_path / "a.model", "minbpe") == []
    pattern = (tmp_path / "a.model").read_text(encoding="utf-8").split("\n")[1]
    for text in map(assigned, texts()):
        pieces = regex.findall(pattern, text)
        assert pieces == [piece for piece in Split("superbpe").split(text) if piece]
    assert "".join(regex.findall(GAPS, "one of the 12 best")) == "12"
    again = BPETokenizer.from_pretrained(tmp_path / "a.model")
    assert again.pattern == "superbpe" and again.encode(BY_HAND[-1]) == plain.encode(BY_HAND[-1])


def test_what_gpt2s_readers_make_of_them_is_told(ours, tmp_path):
    lost = {loss.feature: loss for loss in unsupported(ours, "gpt2")}
    number = sum(len(token.split()) > 1 for token in ours.get_vocab())
    assert lost["superwords"].what.startswith(f"{number} of them: readers that split with GPT-2's own pattern")
    convert(ours, tmp_path / "a", "gpt2")
    as_gpt2 = open_tokenizer(tmp_path / "a", pattern="gpt2")
    assert not any(len(token.split()) > 1 for token in as_gpt2.tokenize(BY_HAND[-1]))
    assert open_tokenizer(tmp_path / "a", pattern="superbpe").encode(BY_HAND[-1]) == ours.encode(BY_HAND[-1])
    assert "superwords" not in {loss.feature for loss in unsupported(BPETokenizer.train("of the " * 9, 259), "gpt2")}


def test_llama_cpp_has_one_pattern_for_superwords(ours, tmp_path):
    """It cuts digits only: the pattern of the published 8B models."""
    with pytest.raises(ConversionError) as refused:
        convert(ours, tmp_path / "a.gguf", "gguf")
    assert str(refused.value) == (
        "llama.cpp has no name for the way this tokenizer splits text, superbpe; its one pre-tokenizer for superwords, "
        r"also called superbpe, cuts digits only, by \p{N}+ and then (?=(\d{3})+(?!\d))"
    )
    ours.save(tmp_path)
    file = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    split = file["pre_tokenizer"]["pretokenizers"][0]
    two = [split | {"pattern": {"Regex": pattern}} for pattern in (r"\p{N}+", r"(?=(\d{3})+(?!\d))")]
    file["pre_tokenizer"]["pretokenizers"][:1] = two
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    fitting = BPETokenizer.from_pretrained(tmp_path)
    assert convert(fitting, tmp_path / "a.gguf", "gguf") == []
    again = BPETokenizer.from_pretrained(tmp_path / "a.gguf")
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts():
        ids = theirs.encode(text).ids
        assert again.encode(text, allowed_special="all") == fitting.encode(text, allowed_special="all") == ids


@pytest.mark.parametrize("pattern", [*PATTERNS, r"[a-z]+|\d", "(?i:of the)", "x"])
def test_a_pattern_that_covers_all_splits_alike(pattern):
    regex = pytest.importorskip("regex")
    covering = covering_pattern(pattern)
    for text in map(assigned, texts()):
        pieces = [found[0] for found in regex.finditer(covering, text, regex.V1 if "&&" in covering else 0)]
        assert pieces == [piece for piece in Split(pattern).split(text) if piece]
    named = PATTERNS.get(pattern)
    assert without_covering(covering) == (named.regex if named else pattern)
    assert without_covering(covering[:-1]) == covering[:-1]


def test_superwords_of_ones_own_pattern_are_saved_too(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    chosen = Superwords(pattern=r"\p{N}{1,2}|[.!?]+\s*")
    learned = BPETokenizer.train(book_text()[5_000:105_000], 800, superwords=chosen)
    learned.save(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert any(re.search(rb"[a-z] [a-z]", token) for token in learned.get_vocab())
    for text in texts():
        assert learned.encode(text) == theirs.encode(text).ids
