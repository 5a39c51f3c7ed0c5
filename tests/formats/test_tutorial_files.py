"""Files that the classes of tutorials write, written here as they do: opened with their ids, or refused by entry."""

import base64
import json
import random

import pytest

from bpelab import BPETokenizer, TokenizerFileError
from bpelab.notebook import book_text
from bpelab.tokenizer import open_tokenizer
from bpelab.unicode.byte_alphabet import to_alphabet

from ..conftest import amount, fuzz_text

SPECIAL = ["<|end|>"]


@pytest.fixture(scope="module", params=["gpt2", None])
def learned(request):
    return BPETokenizer.train(book_text()[:30_000], 400, pattern=request.param, special_tokens=SPECIAL)


def regex_of(tokenizer: BPETokenizer) -> str:
    return (
        "" if tokenizer.pattern is None else r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    )


def typed(token: bytes) -> dict[str, object]:
    return {"type": "bytes", "value": list(token)}


def in_base64(token: bytes) -> str:
    return base64.b64encode(token).decode()


def write(tokenizer, path, **changes):
    merges = list(tokenizer.model.merges)
    data = {"merges": merges, "special_tokens": tokenizer.special_tokens}
    if tokenizer.pattern is not None:
        data["pattern"] = regex_of(tokenizer)
    path.write_text(json.dumps(data | changes), encoding="utf-8")
    return path


def check(tokenizer, path, **options):
    again = open_tokenizer(path, **options)
    assert again.special_tokens == tokenizer.special_tokens
    assert again.model.tokens == tokenizer.model.tokens
    rng = random.Random(1)
    for _ in range(amount(50, 2_000)):
        text = fuzz_text(rng) + "<|end|>"
        assert again.encode(text) == tokenizer.encode(text)
        assert again.encode(text, allowed_special="all") == tokenizer.encode(text, allowed_special="all")


def test_merges_as_pairs_or_by_name(learned, tmp_path):
    check(learned, write(learned, tmp_path / "list.json"))
    named = {f"{left},{right}": new for (left, right), (_, new) in learned.model.merges.items()}
    check(learned, write(learned, tmp_path / "named.json", merges=named))
    as_tuples = {str(pair): new for pair, (_, new) in learned.model.merges.items()}
    check(learned, write(learned, tmp_path / "tuples.json", merges=as_tuples))
    resolve_ids = [[pair, new] for pair, (_, new) in learned.model.merges.items()]
    check(learned, write(learned, tmp_path / "with_ids.json", merges=resolve_ids))


@pytest.mark.parametrize("shape", [list, typed, in_base64, lambda token: f"data:{in_base64(token)}"])
def test_with_the_bytes_of_tokens(learned, shape, tmp_path):
    vocab = {str(token_id): shape(token) for token_id, token in learned.model.tokens.items()}
    check(learned, write(learned, tmp_path / "t.json", vocab=vocab))
    vocab["300"] = shape(b"other")
    with pytest.raises(TokenizerFileError, match=r"merges\[44\]: makes .* but vocab says that 300 is b'other'"):
        open_tokenizer(write(learned, tmp_path / "t.json", vocab=vocab))


@pytest.mark.parametrize("version", ["minbpe v1", "bpe v1"])
@pytest.mark.parametrize("name", ["t.model", "t.bpe", "t"])
def test_minbpe_and_what_was_made_after_it(learned, version, name, tmp_path):
    for none in ("", "{}"):
        lines = [version, regex_of(learned) or none, "1", f"<|end|> {learned.special_tokens['<|end|>']}"]
        lines += [f"{left} {right}" for left, right in learned.model.merges]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        check(learned, tmp_path / name)


def test_a_token_that_is_made_twice_is_refused(tmp_path):
    """Its later ids would be others than those of the class that wrote the file."""
    merges = [(97, 98), (256, 99), (98, 99), (97, 258)]
    (tmp_path / "t.model").write_text("minbpe v1\n\n0\n" + "".join(f"{a} {b}\n" for a, b in merges), encoding="utf-8")
    with pytest.raises(TokenizerFileError, match="line 7: makes b'abc' a second time"):
        open_tokenizer(tmp_path / "t.model")
    (tmp_path / "t.json").write_text(json.dumps({"merges": merges}), encoding="utf-8")
    with pytest.raises(TokenizerFileError, match="two of them make the same token"):
        open_tokenizer(tmp_path / "t.json")


def test_like_a_tokenizer_json(learned, tmp_path):
    """Hugging Face's sections, but the special tokens at the top, and no word about the pattern."""
    tokens = {token_id: to_alphabet(token) for token_id, token in learned.model.tokens.items()}
    merges = [[tokens[left], tokens[right]] for left, right in learned.model.merges]
    model = {"vocab": {token: token_id for token_id, token in tokens.items()}, "merges": merges}
    data = {"model": model, "special_tokens": learned.special_tokens}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(TokenizerFileError, match="give pattern=, such as 'gpt2'"):
        open_tokenizer(path)
    if learned.pattern is None:
        return
    check(learned, path, pattern="gpt2")
    path.write_text(json.dumps(data | {"pattern": regex_of(learned)}), encoding="utf-8")
    check(learned, path)
    with pytest.raises(TokenizerFileError, match="pattern= is for files that don't"):
        open_tokenizer(path, pattern="gpt2")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"merges": [[97, 98, 99]]}, r"merges\[0\]: expected two ids, found a list of 3"),
        ({"merges": [[97, 300]]}, r"merges\[0\]: joins 300, which is neither"),
        ({"merges": [[97, 98], [97, 98]]}, r"merges\[1\]: repeats an earlier merge"),
        ({"merges": {"97": 256}}, r"merges\['97'\]: expected two ids"),
        ({"merges": {"97,98": "x"}}, r"merges\['97,98'\]"),
        ({"merges": 5}, "merges: expected"),
        ({"merges": [], "vocab": {"x": [1]}}, r"vocab\['x'\]: expected an id"),
        ({"merges": [], "vocab": {"300": [1, 999]}}, r"vocab\['300'\]: expected the numbers of bytes"),
        ({"merges": [], "vocab": {"300": "%"}}, r"vocab\['300'\]: expected the numbers of bytes, or Base64"),
        ({"merges": [], "vocab": {"300": [97, 98]}}, r"vocab\[300\]: b'ab' is neither a byte nor made"),
        ({"merges": [], "vocab": [1]}, "vocab: expected"),
        ({"merges": [], "special_tokens": {"<e>": -1}}, "special_tokens"),
        ({"merges": [], "pattern": 5}, "pattern: expected a regular expression"),
        ({"merges": [], "pattern": "("}, "pattern: .*group is not closed"),
        ({"merges": [], "more": 1}, "more: is not a key of such a file"),
        ({"merges": [[97, 97], *[[n, n] for n in range(256, 300)]]}, "bytes together"),
        ({"model": {}, "special_tokens": {}, "decoder": {}}, "its special tokens are added_tokens"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(data, problem, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(TokenizerFileError, match=problem):
        open_tokenizer(path)
