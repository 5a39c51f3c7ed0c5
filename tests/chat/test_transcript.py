"""Conversations in files: there and back, and files that are none."""

import json
import os
import random
import stat
import string

import pytest
from hypothesis import given, strategies as st

from bpelab.chat import transcript
from bpelab.chat.sampling import Sampling
from bpelab.chat.transcript import Transcript, copy_messages, read, write
from bpelab.chat_templates.kept_answers import GeneratedAnswer
from bpelab.cli.chat.conversation_file import read_conversation
from bpelab.errors import ConversationError

from ..conftest import amount

TEXT = st.text(st.characters(codec=None), max_size=30)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
MESSAGE = st.builds(
    lambda role, content, more: {**more, "role": role, "content": content},
    st.sampled_from(["system", "user", "assistant", "tool", "日本"]),
    TEXT | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}), max_size=2),
    st.dictionaries(st.sampled_from(["name", "extra", "é\ud800"]), VALUE, max_size=2),
)
SAMPLING = st.builds(
    Sampling,
    temperature=st.floats(0, 9),
    top_k=st.integers(0, 999),
    top_p=st.floats(0.01, 1),
    min_p=st.floats(0, 1),
    seed=st.none() | st.integers(0, 2**40),
)

ANSWER = st.builds(GeneratedAnswer, st.lists(st.integers(0, 2**31)).map(tuple), TEXT.map(transcript.deep_copy_json))


@given(st.lists(MESSAGE, max_size=4), TEXT, st.integers(1, 10**6), SAMPLING, st.data())
def test_there_and_back(tmp_path_factory, messages, model, most, sampling, data):
    path = tmp_path_factory.getbasetemp() / "c.json"
    messages = copy_messages(messages) if messages else []
    answers = tuple(data.draw(st.none() | ANSWER) for _ in messages)
    answers = answers if any(answers) else ()
    written = Transcript(messages, transcript.deep_copy_json(model), most, sampling, answers)
    write(path, written)
    assert read(path) == written
    assert read_conversation(path) == (messages, None)  # where other programs look for them


@pytest.fixture
def good() -> dict:
    return {
        "bpelab_conversation": 1,
        "model": "m",
        "max_tokens": 5,
        "sampling": {"temperature": 0.5},
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
    }


def test_a_good_file(tmp_path, good):
    (tmp_path / "c.json").write_text(json.dumps(good))
    assert read(tmp_path / "c.json") == Transcript(good["messages"], "m", 5, Sampling(0.5))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"bpelab_conversation": 2}, "bpelab_conversation: is 2"),
        ({"bpelab_conversation": True}, "bpelab_conversation: expected an integer, found true"),
        ({"model": None}, "model: expected a string, found nothing"),
        ({"max_tokens": 0}, "max_tokens: must be at least 1"),
        ({"max_tokens": 1.5}, "max_tokens: expected an integer, found 1.5"),
        ({"sampling": []}, "sampling: expected an object"),
        ({"sampling": {"temperature": -1}}, "sampling: temperature must be"),
        ({"sampling": {"temperature": "warm"}}, "sampling: temperature must be"),
        ({"sampling": {"heat": 1}}, "sampling.heat: is not a setting"),
        ({"messages": {}}, "messages: expected a list"),
        ({"messages": [1]}, r"messages\[0\] is of type int"),
        ({"messages": [{"role": "user"}]}, r'messages\[0\] has no "content"'),
        ({"messages": [{"content": "x"}]}, r'messages\[0\] has no "role"'),
        ({"messages": [{"role": 1, "content": "x"}]}, r'messages\[0\]\["role"\]'),
        ({"messages": [{"role": "user", "content": 5}]}, r'messages\[0\]\["content"\]'),
        ({"more": 1}, "more: is not a key"),
        ({"answers": {}}, "answers: expected a list"),
        ({"answers": [None]}, "answers: has 1 entries for 2 messages"),
        ({"answers": [None, [1]]}, r"answers\[1\]: expected an object"),
        (
            {"answers": [None, {"ids": [1]}]},
            r"answers\[1\]: must be null, or have the keys ids and opening and no others",
        ),
        ({"answers": [None, {"ids": [1, True], "opening": ""}]}, r"answers\[1\]\.ids\[1\]: expected an integer"),
        ({"answers": [None, {"ids": [1], "opening": 1}]}, r"answers\[1\]\.opening: expected a string"),
    ],
)
def test_files_with_something_wrong(tmp_path, good, change, message):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**good, **change}))
    with pytest.raises(ConversationError, match=message) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path}: ")


@pytest.mark.parametrize("key", ["bpelab_conversation", "model", "max_tokens", "sampling", "messages"])
def test_what_is_missing(tmp_path, good, key):
    del good[key]
    (tmp_path / "c.json").write_text(json.dumps(good))
    with pytest.raises(ConversationError, match=f"{key}: is missing"):
        read(tmp_path / "c.json")


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (b"[]", "not a JSON object"),
        (b"{", "is not JSON"),
        (b"\xff", "not UTF-8"),
        (b"\x80\x04K\x01.", "is not"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a": ' * 200_000, "nested too deeply"),
        (b'{"max_tokens": 1' + b"0" * 10_000 + b"}", "thousands of digits"),
        (b'{"max_tokens": 1, "max_tokens": 2}', "'max_tokens' twice"),
        (b'{"max_tokens": NaN}', "no JSON number"),
    ],
)
def test_hostile_files(tmp_path, content, message):
    (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(ConversationError, match=message):
        read(tmp_path / "c.json")


def test_more_hostile_files(tmp_path, good):
    path = tmp_path / "c.json"
    nested: object = "x"
    for _ in range(300):
        nested = [nested]
    good["messages"][0]["deep"] = nested
    path.write_text(json.dumps(good))
    with pytest.raises(ConversationError, match="nests lists or dicts more than 100 deep"):
        read(path)
    good["messages"][0] = {"role": "user", "content": "\ud800"}
    path.write_text(json.dumps(good))
    with pytest.raises(ConversationError, match="half of a surrogate pair"):
        read(path)
    with path.open("wb") as file:
        file.truncate(transcript.LARGEST + 1)
    with pytest.raises(ConversationError, match="too large"):
        read(path)
    for other in (tmp_path, tmp_path / "none", "a\0b", "/dev/zero"):
        with pytest.raises(ConversationError, match=r"regular file|can't be read"):
            read(other)


def test_broken_files(tmp_path, good):
    """Cut off, and with bytes changed: an error that names the file, or a conversation, never anything else."""
    rng, path = random.Random(9), tmp_path / "c.json"
    data = json.dumps(good).encode()
    for _ in range(amount(300, 10_000)):
        broken = bytearray(data[: rng.randint(0, len(data))]) if rng.random() < 0.3 else bytearray(data)
        for _ in range(rng.randint(0, 3)):
            if broken:
                broken[rng.randrange(len(broken))] = rng.choice(string.printable.encode() + bytes([0, 255]))
        path.write_bytes(broken)
        try:
            read(path)
        except ConversationError as error:
            assert str(error).startswith(f"{path}: ")


def test_writing_is_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    write(path, Transcript([{"role": "user", "content": "x"}]))
    before = path.read_bytes()
    assert json.loads(before)["messages"] == [{"role": "user", "content": "x"}]

    def fails(source, target):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        with pytest.raises(ConversationError, match=r"c\.json: can't be written: No space left"):
            write(path, Transcript([]))
    for content, message in ((float("nan"), "can't be written"), ("x" * (1 << 24), "are allowed")):
        with pytest.raises(ConversationError, match=message):
            write(path, Transcript([{"role": "user", "content": "x", "more": content}]))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.json"]
    assert stat.S_ISREG(path.stat().st_mode)
    for bad in (tmp_path, tmp_path / "no" / "folder", tmp_path / ("n" * 300), "a\0b"):
        with pytest.raises(ConversationError, match="can't be written"):
            write(bad, Transcript([]))


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write("~/c.json", Transcript([], "m"))
    assert (tmp_path / "c.json").exists()
    assert read("~/c.json").model == "m"
