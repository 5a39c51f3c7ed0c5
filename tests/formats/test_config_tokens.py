"""Added tokens that only tokenizer_config.json lists: the folder has transformers' ids, and the file alone its own."""

import json

import pytest

from bpelab import BPETokenizer, TokenizerFileError

FLAGS = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}


def entry(name: str, **flags) -> dict:
    return {"content": name, **FLAGS, **flags}


@pytest.fixture
def folder(tmp_path):
    """A saved tokenizer whose names have moved from tokenizer.json to the other file, as InternLM 2's."""
    text = "low lower lowest <sys> newer " * 40
    BPETokenizer.train(text, 264, special_tokens=["<end>", "<sys>"], eos_token="<end>").save(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    data["model"]["vocab"] |= {token["content"]: token["id"] for token in data["added_tokens"]}
    data["added_tokens"] = []
    (tmp_path / "tokenizer.json").write_text(json.dumps(data), "utf-8")
    return tmp_path


def list_tokens(folder, listed) -> None:
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    config["added_tokens_decoder"] = listed
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")


LISTED = {
    "263": entry("<sys>"),
    "262": entry("<end>"),
    "299": {"__type": "AddedToken", **entry("<new>", special=False)},
    "400": entry("<newer>", lstrip=True),
}


def test_the_ids_of_transformers(folder):
    transformers = pytest.importorskip("transformers")
    list_tokens(folder, LISTED)
    ours = BPETokenizer.from_pretrained(folder)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    added = {token.content: token.id for token in ours.added_tokens}
    assert added == {"<end>": 262, "<sys>": 263, "<new>": 264, "<newer>": 265}
    assert {token.content: number for number, token in theirs.added_tokens_decoder.items()} == added
    assert (ours.eos_token, "<new>" in ours.special_tokens) == ("<end>", False)
    for text in ("low<end>lower", "<sys><new> <newer>lowest", "a <ne"):
        assert ours.encode(text, allowed_special="all") == theirs(text)["input_ids"]


def test_a_folder_that_was_opened_is_opened_again_and_saved(folder, tmp_path):
    without = BPETokenizer.from_pretrained(folder)
    list_tokens(folder, LISTED)
    ours = [BPETokenizer.from_pretrained(folder) for _ in range(2)]
    assert ours[0] == ours[1] != without
    ours[0].save(tmp_path / "again")
    assert BPETokenizer.from_pretrained(tmp_path / "again").encode("a<new>") == ours[0].encode("a<new>")


def test_what_both_files_list_is_as_in_the_first(folder):
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    data["added_tokens"] = [{"id": 262, **entry("<end>", rstrip=True)}]
    (folder / "tokenizer.json").write_text(json.dumps(data), "utf-8")
    list_tokens(folder, {"262": entry("<end>"), "5": entry("")})
    (token,) = BPETokenizer.from_pretrained(folder).added_tokens
    assert (token.id, token.rstrip) == (262, True)


@pytest.mark.parametrize(
    "listed, problem",
    [
        ([], "added_tokens_decoder: expected"),
        ({"x": entry("<a>")}, "added_tokens_decoder: expected objects by their ids, found 'x'"),
        ({"9": "<a>"}, "added_tokens_decoder: expected objects by their ids, found '9'"),
        ({"9": {"content": 5}}, r"added_tokens_decoder\.9\.content: expected"),
        ({"9": {"content": "<a>", "lstrip": 1}}, r"added_tokens_decoder\.9\.lstrip: expected"),
        ({"9": {"content": "<a>", "colour": True}}, r"added_tokens_decoder\.9\.colour: an added token has no such key"),
    ],
)
def test_wrong_entries_are_named(listed, problem, folder):
    list_tokens(folder, listed)
    with pytest.raises(TokenizerFileError, match=f"tokenizer_config.json: {problem}"):
        BPETokenizer.from_pretrained(folder)
