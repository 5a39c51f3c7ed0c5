"""Shards as they are read: by token, by document, and with doubt."""

import json
import os
import random

import numpy as np
import pytest

from bpelab import CorpusError, ShardsError
from bpelab.shards import Shards, fingerprint, open_shards

from .corpora import SEPARATOR, write


@pytest.fixture
def made(tmp_path, tokenizer, texts):
    path = write(tmp_path / "a.jsonl", ["", *texts, "", ""])
    return tokenizer.encode_files(path, tmp_path / "out", shard_tokens=700)


def test_tokens_and_documents(made, tokenizer, texts):
    whole = np.concatenate(list(made))
    rng = random.Random(2)
    for _ in range(200):
        start, stop = sorted(rng.choices(range(len(made) + 1), k=2))
        assert np.array_equal(made.tokens(start, stop), whole[start:stop])
    lengths = [len(tokenizer.encode(text)) for text in ["", *texts, "", ""]]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    assert [made.find_document(place) for place in range(0, len(made), 37)] == owners[::37].tolist()
    assert made.begins(0, made.documents).tolist() == np.cumsum([0, *lengths[:-1]]).tolist()
    assert isinstance(made.tokens(10, 20), np.memmap)
    assert repr(made).startswith(f"<Shards: {len(made):,} tokens, {made.documents:,} documents, ")
    assert isinstance(open_shards(made.folder), Shards)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.document(-1),
        lambda s: s.document(s.documents),
        lambda s: s.tokens(-1, 2),
        lambda s: s.tokens(2, 1),
        lambda s: s.tokens(0, len(s) + 1),
        lambda s: s.find_document(len(s)),
    ],
)
def test_what_is_not_there(made, ask):
    with pytest.raises(IndexError, match="counted from 0"):
        ask(made)


def test_a_flipped_bit_is_found(made):
    for name in ("shard-00002.npy", "shard-00001.documents.npy"):
        path = made.folder / name
        data = bytearray(path.read_bytes())
        data[-3] ^= 4
        path.write_bytes(data)
    with pytest.raises(ShardsError, match=r"another SHA-256\): shard-00002.npy, shard-00001.documents.npy; bring"):
        open_shards(made.folder).verify()


def test_against_other_inputs(tmp_path, tokenizer, texts):
    """The first document that differs is named, whatever is different."""
    one, two = write(tmp_path / "1.txt", texts[:20]), write(tmp_path / "2.jsonl", texts[20:])
    options = {"separator": SEPARATOR, "end_of_document": True, "shard_tokens": 300}
    made = tokenizer.encode_files([one, two], tmp_path / "out", **options)
    made.verify(tokenizer, [one, two])
    other = tmp_path / "other.jsonl"
    for documents, number, where in (
        ([*texts[20:23], texts[23] + "x", *texts[24:]], 23, f"document 3 of {other}"),
        ([*texts[20:23], "", *texts[24:]], 23, f"document 3 of {other}"),
        (["x", *texts[20:]], 20, f"document 0 of {other}"),
        ([*texts[20:], "more"], len(texts), f"document {len(texts) - 20} of {other}"),
        (texts[20:-1], len(texts) - 1, "after the end of the inputs"),
    ):
        write(other, documents)
        with pytest.raises(ShardsError) as caught:
            made.verify(tokenizer, [one, other])
        assert f"document {number:,} is not what the inputs encode to ({where}; both" in str(caught.value)
    with pytest.raises(ShardsError, match="was written from 2 files, and 1 are given"):
        made.verify(tokenizer, one)
    with pytest.raises(ShardsError, match="was written with another tokenizer: its fingerprint begins with"):
        made.verify(tokenizer.with_options(pattern="gpt2"))
    with pytest.raises(ValueError, match="needs the tokenizer"):
        made.verify(against=one)
    two.unlink()
    with pytest.raises(CorpusError, match=r"2.jsonl: can't be read: No such file"):
        made.verify(tokenizer)


def test_fingerprints(tmp_path, tokenizer):
    """Of what changes ids, and of nothing else; and the same once it is saved and opened."""
    from bpelab import BPETokenizer
    from bpelab.normalizers import NFC

    same = [tokenizer.with_options(encoder="heap"), tokenizer.with_options(decoder=None, eos_token=None)]
    tokenizer.save(tmp_path / "tok")
    same.append(BPETokenizer.from_pretrained(tmp_path / "tok"))
    assert {fingerprint(t) for t in same} == {fingerprint(tokenizer)}
    others = [
        tokenizer.with_options(pattern="gpt2"),
        tokenizer.with_options(pattern=None),
        tokenizer.with_options(normalizer=NFC()),
        tokenizer.with_special_tokens(["<|more|>"]),
        BPETokenizer.train("low lower lowest " * 9, 262),
        BPETokenizer.train("low lower lowest " * 9, 263),
    ]
    assert len({fingerprint(t) for t in [tokenizer, *others]}) == len(others) + 1


def test_files_of_another_size(made):
    path = made.folder / "shard-00000.npy"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ShardsError, match=r"shard-00000.npy: has 1,526 bytes, and the index says 1,528; bring"):
        open_shards(made.folder)


def change(index, place, value):
    *path, last = place
    for key in path:
        index = index[key]
    index[last] = value


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (["bpelab_shards"], 2, "bpelab_shards: expected 1, found 2"),
        (["complete"], 1, "complete: expected true or false, found 1"),
        (["shards", 0, "file"], "../../secret", "shards[0]: '../../secret' is not the name of a file in this folder"),
        (["shards", 0, "tokens"], -1, "shards[0].tokens: is not a number from 0 up"),
        (["shards", 0, "tokens"], "7", "shards[0].tokens: expected an integer, found '7'"),
        (["shards", 0, "extra"], 1, "shards[0]: 'extra' is not an entry of it, or is missing"),
        (["shards"], {}, "shards: expected a list, found an object"),
        (["settings", "dtype"], "float32", "settings: the dtype is uint16 or uint32"),
        (["settings", "allowed_special"], [1], "settings.allowed_special: expected a string, found 1"),
        (["position"], None, "position: expected an object, found nothing"),
    ],
)
def test_an_index_is_not_believed(made, place, value, said):
    index = json.loads((made.folder / "index.json").read_text())
    change(index, place, value)
    (made.folder / "index.json").write_text(json.dumps(index))
    with pytest.raises(ShardsError) as caught:
        open_shards(made.folder)
    assert said in str(caught.value)
    assert str(made.folder / "index.json") in str(caught.value)


def test_keys_of_the_settings_stay(made):
    """Folders that were written before the arguments had these names open."""
    settings = json.loads((made.folder / "index.json").read_text())["settings"]
    assert (settings["shard_form"], settings["input_form"]) == ("npy", None)
    assert not {"shard_format", "input_format"} & settings.keys()
    assert (made.index.settings.shard_format, made.index.settings.input_format) == ("npy", None)


def test_no_index(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ShardsError, match=r"holds no index.json, so it is not a folder of shards"):
            open_shards(folder)


def test_an_array_of_something_else(made):
    """Of the right size, and not what the index says."""
    path = made.folder / "shard-00000.npy"
    size = os.path.getsize(path)
    np.save(path, np.zeros((size - 128) // 4, np.float32))
    with pytest.raises(ShardsError, match=r"is not what the index says: 700 numbers of type <u2"):
        open_shards(made.folder).document(1)
