"""Arguments that can't be meant as they are: each is an error that names what was wrong, and what to do."""

import pytest

from bpelab import BPETokenizer
from bpelab.editing import extend

T = BPETokenizer.train("low lower lowest " * 9, 264, special_tokens=["<pad>"], pad_token="<pad>")


class DatasetDict(dict):
    """As in the package datasets: a split's name -> its rows."""


class DataFrame:
    """As in pandas: who iterates over it gets the names of its columns."""

    columns = ("text", "label")

    def __iter__(self):
        return iter(self.columns)


class Dataset:
    """As in the package datasets: who iterates over it gets dicts."""

    column_names = ("text",)

    def __iter__(self):
        return iter([{"text": "low"}])


@pytest.mark.parametrize(
    "keyed", [DatasetDict(train=["low"]), DataFrame(), Dataset(), {"a": 1}], ids=lambda each: type(each).__name__
)
@pytest.mark.parametrize(
    "call",
    [
        lambda texts: BPETokenizer.train(texts, 257),
        lambda texts: BPETokenizer.train(texts, 257, superwords="superbpe"),
        lambda texts: extend(T, texts, 1),
        lambda texts: T.encode_files(texts, "never-written"),
        T.encode_batch,
        T.encode_batch_array,
        T,
        lambda texts: T(["low"], texts),
    ],
)
def test_a_container_of_texts_is_not_taken_for_its_keys(call, keyed):
    with pytest.raises(TypeError, match=rf'is a {type(keyed).__name__}, .* as in data\["text"\]'):
        call(keyed)


def test_the_values_of_a_dict_are_texts():
    assert T.encode_batch({"a": "low"}.values()) == [T.encode("low")]
    assert T.encode_batch({"low": 1}.keys()) == [T.encode("low")]
