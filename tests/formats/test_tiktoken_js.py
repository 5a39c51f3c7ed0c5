"""The JSON files of tiktoken's packages for JavaScript, which Anthropic's claude.json is one of."""

import base64
import json

import pytest

from bpelab import BPETokenizer, TokenizerFileError
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

TEXTS = [book_text()[:4_000], "it's 12345<EOT>", "日本語 \n\n  x", ""]


def document(first=2, **changes):
    """The contents of a file as the packages have it: special tokens first, as Claude's, and two lines of ranks."""
    model = BPETokenizer.train(book_text()[:40_000], 600, pattern="gpt2").model
    tokens = [base64.b64encode(token).decode() for _, token in sorted(model.tokens.items())]
    lines = [f"! {first} {' '.join(tokens[:300])}", f"! {first + 300} {' '.join(tokens[300:])}"]
    return {
        "explicit_n_vocab": 64_739,
        "pat_str": PATTERNS["gpt2"].oniguruma,
        "special_tokens": {"<EOT>": 0, "<META>": 1},
        "bpe_ranks": "\n".join(lines),
    } | changes


def written(folder, data):
    (folder / "claude.json").write_text(json.dumps(data), "utf-8")
    return folder / "claude.json"


def test_ids_are_those_of_tiktoken(tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    data = document()
    ours = BPETokenizer.from_pretrained(written(tmp_path, data))
    ranks = {}
    for line in data["bpe_ranks"].split("\n"):  # as `wasm/src/lib.rs` of dqbd/tiktoken reads them
        _, offset, *tokens = line.split(" ")
        ranks.update((base64.b64decode(token), int(offset) + index) for index, token in enumerate(tokens))
    theirs = tiktoken.Encoding("x", pat_str=data["pat_str"], mergeable_ranks=ranks, special_tokens={"<EOT>": 0})
    assert (ours.pattern, len(ours)) == ("gpt2", 602)
    assert ours.special_tokens == {"<EOT>": 0, "<META>": 1}
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode_ordinary(text)
        assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    assert ours.with_options(normalizer="NFKC").encode("ﬁ") == theirs.encode_ordinary("fi")


def test_it_opens_with_keys_in_any_order(tmp_path):
    data = document()
    expected = BPETokenizer.from_pretrained(written(tmp_path, data)).encode(TEXTS[0])
    data = dict(reversed(data.items()))
    assert BPETokenizer.from_pretrained(written(tmp_path, data)).encode(TEXTS[0]) == expected
    with pytest.raises(TokenizerFileError, match="already says how text is split"):
        BPETokenizer.from_pretrained(tmp_path / "claude.json", pattern="gpt2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pat_str": None}, "pat_str: expected a string, found nothing"),
        ({"pat_str": "("}, "not closed"),
        ({"special_tokens": []}, "special_tokens: expected an object, found a list of 0"),
        ({"special_tokens": {"<EOT>": "0"}}, r"special_tokens\['<EOT>'\]: expected an integer"),
        ({"special_tokens": {"<EOT>": 5}}, "'<EOT>' has the id 5"),
        ({"bpe_ranks": 5}, "bpe_ranks: expected a string, found 5"),
        ({"bpe_ranks": ""}, "no token"),
        ({"bpe_ranks": "! 5"}, "line 1: expected `!`, a rank and tokens in Base64"),
        ({"bpe_ranks": "! -5 YQ=="}, "line 1: expected `!`"),
        ({"bpe_ranks": "! 99999999999 YQ=="}, "line 1: expected `!`"),
        ({"bpe_ranks": "! 5000000000 YQ=="}, "a rank from 0 to"),
        ({"bpe_ranks": "! 5 YQ== ?"}, "line 1: '[?]' is not Base64"),
        ({"bpe_ranks": "! 5 YQ==\n! 6 YQ=="}, "line 2: b'a' has the ranks 5 and 6"),
        ({"bpe_ranks": "! 5 YQ==  Yg=="}, "a token has at least one byte"),
        ({"bpe_ranks": "! 5 YQ==\n! 5 Yg=="}, "have the same rank, 5"),
        ({"bpe_ranks": "! 5 YQ== Yg=="}, "no token for 254 single bytes"),
    ],
)
def test_files_that_are_wrong(changes, message, tmp_path):
    with pytest.raises(TokenizerFileError, match=message):
        BPETokenizer.from_pretrained(written(tmp_path, document(**changes)))
