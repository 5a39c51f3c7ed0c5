"""Mistral's tekken.json: read as mistral-common reads it, and written; there and back through a tokenizer.json."""

import base64
import json

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TokenizerFileError
from bpelab.cli.main import main
from bpelab.convert import check, convert, unsupported
from bpelab.formats.tekken import EARLY_SPECIAL_TOKENS, save
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

TEXTS = [
    book_text()[:4_000], "l'été 12345 </s>[INST]", "HTTPServer it's\n\n  日本語 👍🏽 e\u0301", "", " " * 9 + "\n",
    "\u0000é",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokens():
    """The tokens of a rank table, in the order of their ranks."""
    model = BPETokenizer.train(book_text()[:60_000], 900, pattern="tekken").model
    return [token for _, token in sorted(model.tokens.items())]


def document(tokens, *, room=40, cut=100, **changes):
    """The contents of a file as Mistral publishes it: more tokens than are used, and more room than special tokens."""
    config = {
        "pattern": PATTERNS["tekken"].regex, "num_vocab_tokens": len(tokens),
        "default_vocab_size": room + len(tokens) - cut, "default_num_special_tokens": room, "version": "v3",
    }  # fmt: skip
    vocab = []
    for rank, token in enumerate(tokens):
        text = token.decode("utf-8", "replace")
        vocab.append(
            {
                "rank": rank,
                "token_bytes": base64.b64encode(token).decode(),
                "token_str": None if "\ufffd" in text else text,
            }
        )
    return {"config": config | changes.pop("config", {}), "vocab": vocab, **changes}


def written(folder, data, name="tekken.json"):
    (folder / name).write_text(json.dumps(data, indent=2), "utf-8")
    return folder / name


def named(*names):
    return [{"rank": rank, "token_str": name, "is_control": name != "[IMG]"} for rank, name in enumerate(names)]


class Tekkenizer:
    """A transcription of what mistral-common's class of that name does, as the format's definition."""

    def __init__(self, path):
        tiktoken = pytest.importorskip("tiktoken")
        data = json.loads(path.read_text("utf-8"))
        self.special = data["config"]["default_num_special_tokens"]
        size = data["config"]["default_vocab_size"] - self.special
        ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in data["vocab"][:size]}
        self.model = tiktoken.Encoding(
            name="tekken", pat_str=data["config"]["pattern"], mergeable_ranks=ranks, special_tokens={}
        )

    def encode(self, text):
        return [rank + self.special for rank in self.model.encode(text)]


def test_ids_are_those_of_mistral_common(tokens, tmp_path):
    path = written(tmp_path, document(tokens))
    ours, theirs = BPETokenizer.from_pretrained(path), Tekkenizer(path)
    assert len(ours) == ours.n_vocab == len(tokens) - 100 + 40
    assert ours.pattern == "tekken"
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text)
        assert ours.decode(ours.encode(text)) == text


def test_mistral_common_itself(tokens, tmp_path):
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    data = document(tokens, special_tokens=named("<unk>", "<s>", "</s>", "[IMG]"), config={"version": "v11"})
    path = written(tmp_path, data)
    ours, theirs = BPETokenizer.from_pretrained(path), tekken.Tekkenizer.from_file(path)
    save(ours.spec, tmp_path / "tekken_again.json")
    again = tekken.Tekkenizer.from_file(tmp_path / "tekken_again.json")
    for text in TEXTS:
        expected = theirs.encode(text, bos=True, eos=True)
        assert [ours.bos_token_id, *ours.encode(text), ours.eos_token_id] == expected
        assert again.encode(text, bos=True, eos=True) == expected
    assert [ours.convert_ids_to_tokens(n) for n in range(40)] == [theirs.id_to_piece(n).encode() for n in range(40)]


def test_special_tokens_have_the_first_ids(tokens, tmp_path):
    early = BPETokenizer.from_pretrained(written(tmp_path, document(tokens)))
    assert list(early.special_tokens) == [*EARLY_SPECIAL_TOKENS, *(f"<SPECIAL_{n}>" for n in range(20, 40))]
    assert list(early.special_tokens.values()) == list(range(40))
    roles = (early.unk_token_id, early.bos_token_id, early.eos_token_id, early.pad_token_id)
    assert roles == (0, 1, 2, 11)
    assert early.encode("</s>", allowed_special="all") == [2] != early.encode("</s>")
    data = document(tokens, special_tokens=named("<unk>", "<s>", "[THINK]"), config={"version": "v13"})
    later = BPETokenizer.from_pretrained(written(tmp_path, data))
    assert list(later.special_tokens)[:4] == ["<unk>", "<s>", "[THINK]", "<SPECIAL_3>"]
    assert (later.eos_token, later.pad_token) == (None, None)


@pytest.mark.parametrize("first", ["config", "vocab", "special_tokens"])
def test_it_is_known_by_its_content(first, tokens, tmp_path):
    data = document(tokens, special_tokens=named("<unk>", "<s>"))
    data = {first: data[first], **data}
    expected = BPETokenizer.from_pretrained(written(tmp_path, data)).encode(TEXTS[0])
    assert BPETokenizer.from_pretrained(tmp_path).encode(TEXTS[0]) == expected
    for name in ("tekken_240911.json", "tokenizer.bin", "tekken"):
        assert BPETokenizer.from_pretrained(written(tmp_path, data, name)).encode(TEXTS[0]) == expected
    with pytest.raises(TokenizerFileError, match="already says how text is split"):
        BPETokenizer.from_pretrained(tmp_path / "tekken.json", pattern="gpt2")


def test_there_and_back_through_a_tokenizer_json(tokens, tmp_path):
    image = {"image_patch_size": 16, "max_image_size": 1024}
    data = document(tokens, special_tokens=named("<unk>", "<s>", "</s>", "[IMG]"), image=image)
    ours = BPETokenizer.from_pretrained(written(tmp_path, data | {"config": data["config"] | {"version": "v7"}}))
    ours.save(tmp_path / "hf")
    hugging = BPETokenizer.from_pretrained(tmp_path / "hf")
    assert unsupported(ours, "tekken") == [] == convert(hugging, tmp_path / "back.json", "tekken")
    back = BPETokenizer.from_pretrained(tmp_path / "back.json")
    save(ours.spec, tmp_path / "direct.json")
    direct = json.loads((tmp_path / "direct.json").read_text("utf-8"))
    assert (direct["image"], direct["config"]["version"]) == (image, "v7")
    assert [entry["is_control"] for entry in direct["special_tokens"]] == [n != 3 for n in range(40)]
    assert direct["vocab"] == data["vocab"][:-100]
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    reference = Tekkenizer(tmp_path / "direct.json")
    for text in TEXTS:
        ids = ours.encode(text, allowed_special="all")
        assert hugging.encode(text, allowed_special="all") == back.encode(text, allowed_special="all") == ids
        assert theirs.encode(text).ids == ids
        assert ours.encode(text) == back.encode(text) == reference.encode(text)
    assert back.special_tokens == ours.special_tokens
    assert check(ours, tmp_path / "back.json", "tekken", TEXTS) == len(TEXTS)


def test_on_the_command_line(tokens, tmp_path, capsys):
    path = written(tmp_path, document(tokens))
    assert main(["info", str(path)]) == 0
    assert "pattern                tekken" in capsys.readouterr().out
    assert main(["convert", str(path), str(tmp_path / "hf"), "--to", "huggingface"]) == 0
    assert main(["convert", str(tmp_path / "hf"), str(tmp_path / "again.json"), "--to", "tekken"]) == 0
    assert "ids equal on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["config"].pop("pattern"), r"config\.pattern: expected a string, found nothing"),
        (lambda d: d["config"].update(pattern="("), "not closed"),
        (lambda d: d["config"].update(default_vocab_size=True), r"config\.default_vocab_size: expected an integer"),
        (lambda d: d["config"].update(default_vocab_size=-1), "expected a size, found -1"),
        (lambda d: d["config"].update(default_vocab_size=99_999), "is 99,999, of which 40 are special tokens; vocab"),
        (lambda d: d["config"].update(default_vocab_size=200), "is 200, of which 40"),
        (lambda d: d.update(config=[]), "config: expected an object, found a list of 0"),
        (lambda d: d.pop("vocab"), "vocab: expected a list, found nothing"),
        (lambda d: d["vocab"].__setitem__(300, 5), r"vocab\[300\]: expected an object"),
        (lambda d: d["vocab"][300].update(rank=301), r"vocab\[300\]\.rank: expected 300"),
        (lambda d: d["vocab"][300].update(token_bytes="?"), r"vocab\[300\]\.token_bytes: is not Base64"),
        (lambda d: d["vocab"][300].update(token_bytes=5), r"vocab\[300\]\.token_bytes: expected a string, found 5"),
        (lambda d: d["vocab"][7].update(token_bytes="YQ=="), "expected the byte 7"),
        (lambda d: d["vocab"][300].update(token_bytes="YQ=="), "b'a' is already token 97"),
        (lambda d: d["config"].update(version="v11"), "special_tokens: is missing; only files up to version .*v7"),
        (lambda d: d.update(special_tokens={}), "special_tokens: expected a list, found an object"),
        (lambda d: d.update(special_tokens=named("a")[::-1] + named("b")), r"special_tokens\[1\]\.rank: expected 1"),
        (lambda d: d.update(special_tokens=named(*"ab", "a")), "'a' occurs twice"),
        (lambda d: d.update(special_tokens=named(*map(str, range(41)))), "there are 41, but config has room for 40"),
    ],
)
def test_files_that_are_wrong(change, message, tokens, tmp_path):
    data = document(tokens)
    change(data)
    with pytest.raises(TokenizerFileError, match=message):
        BPETokenizer.from_pretrained(written(tmp_path, data))


def test_what_it_cannot_hold(tmp_path):
    train = BPETokenizer.train
    behind = train(book_text()[:9_000], 400, special_tokens=["<|end|>"])
    with pytest.raises(ConversionError, match=r"special tokens from 0 on, .*'<\|end\|>' is 399 here"):
        save(behind.spec, tmp_path / "x.json")
    shuffled = {bytes([byte]): byte ^ 1 for byte in range(256)}
    with pytest.raises(ConversionError, match=r"the 256 bytes right after .* b'\\x01' is 0$"):
        save(BPETokenizer(BPEModel.from_ranks(shuffled)).spec, tmp_path / "x.json")
    with pytest.raises(ConversionError, match="no normalizer"):
        convert(train(book_text()[:9_000], 400, normalizer="NFC"), tmp_path / "x.json", "tekken")
    assert not (tmp_path / "x.json").exists()
