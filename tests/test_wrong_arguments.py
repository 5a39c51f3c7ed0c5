"""Arguments that can't be meant as they are: each is an error that names what was wrong, and what to do."""

import pytest

from bpelab import BPETokenizer, ConversionError
from bpelab.cli.main import main
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


def train(**options):
    return BPETokenizer.train("abab", 257, **options)


@pytest.mark.parametrize(
    ("call", "name", "message"),
    [
        (train, "min_freq", "train .* did you mean min_frequency?"),
        (train, "show_progress", "train .* did you mean progress?"),
        (train, "num_workers", "train .* all processors are used"),
        (train, "input_form", "train .* mean input_format?"),
        (train, "eos_tokn", "train .* did you mean eos_token?"),
        (train, "zzz", "train .* its arguments are corpus, vocab"),
        (T.with_options, "pad_tokn", "with_options .* did you mean pad_token?"),
        (T.with_options, "min_frequency", "with_options .* its arguments are model, pattern"),
        (lambda **options: T.encode("low", **options), "return_tensors", r"encode .* tokenizer\(text, return_tensors="),
        (lambda **options: T.encode("low", **options), "alowed_special", "encode .* did you mean allowed_special?"),
        (lambda **options: T.encode_batch(["low"], **options), "num_threads", "encode_batch .* did you mean threads?"),
        (
            lambda **options: T.count_tokens("low", **options),
            "max_length",
            "count_tokens .* tokenizer.text, max_length=",
        ),
        (lambda **options: T.decode([97], **options), "skip_special", "decode .* did you mean skip_special_tokens?"),
        (lambda **options: T("low", **options), "return_offsets_mapping", "__call__ .* did you mean return_offsets?"),
    ],
)
def test_a_keyword_that_is_none_is_explained(call, name, message):
    method, advice = message.split(" .* ")
    with pytest.raises(TypeError, match=rf"^BPETokenizer\.{method} has no argument '{name}': .*{advice}"):
        call(**{name: 1})


def test_a_class_of_your_own_has_its_name_in_the_error():
    class Mine(BPETokenizer):
        pass

    with pytest.raises(TypeError, match=r"^Mine\.train has no argument 'min_freq'"):
        Mine.train("abab", 257, min_freq=1)
    with pytest.raises(TypeError, match=r"^Mine\.encode has no argument 'padding'"):
        Mine(T.model).encode("low", padding=True)


def test_the_name_of_a_file_is_no_folder_to_save_to(tmp_path, capsys):
    for save in (T.save, T.save_pretrained):
        with pytest.raises(ConversionError, match=r"out\.json is a file's name: out would get a tokenizer\.json"):
            save(tmp_path / "out.json")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low lower lowest " * 9, encoding="utf-8")
    assert main(["train", str(corpus), "--vocab-size", "260", "--out", str(tmp_path / "out.json")]) == 1
    assert "out.json is a file's name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [corpus]
    (tmp_path / "old.json").mkdir()
    T.save(tmp_path / "old.json")
    assert BPETokenizer.from_pretrained(tmp_path / "old.json" / "tokenizer.json") is not None


def test_a_limit_is_not_negative():
    with pytest.raises(ValueError, match="^limit is a number of tokens, 0 or more, not -5$"):
        T.count_tokens("low", limit=-5)
    assert T.count_tokens("low", limit=0) == 1 and T.count_tokens("", limit=0) == 0
