"""Arguments that can't be meant as they are: each is an error that names what was wrong, and what to do."""

import sys

import pytest

from bpelab import BPETokenizer, ConversionError, MissingDependencyError, StreamDecoder, StreamEncoder, encode_iterable
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
    with pytest.raises(ValueError, match=r"^limit is a number of tokens, 0 or more, not -5$"):
        T.count_tokens("low", limit=-5)
    assert T.count_tokens("low", limit=0) == 1 and T.count_tokens("", limit=0) == 0


CHAT = T.with_special_tokens(["<|im_start|>", "<|im_end|>"])
FLAGS = [
    ("add_special_tokens", lambda value: T.encode("low", add_special_tokens=value)),
    ("add_special_tokens", lambda value: T.encode_batch(["low"], add_special_tokens=value)),
    ("add_special_tokens", lambda value: T.encode_with_offsets("low", add_special_tokens=value)),
    ("add_special_tokens", lambda value: T.count_tokens("low", add_special_tokens=value)),
    ("add_special_tokens", lambda value: T.truncate("low", 2, add_special_tokens=value)),
    ("add_special_tokens", lambda value: StreamEncoder(T, add_special_tokens=value)),
    ("add_special_tokens", lambda value: T("low", add_special_tokens=value)),
    ("return_offsets", lambda value: T("low", return_offsets=value)),
    ("return_special_tokens_mask", lambda value: T("low", return_special_tokens_mask=value)),
    ("skip_special_tokens", lambda value: T.decode([97], skip_special_tokens=value)),
    ("skip_special_tokens", lambda value: T.decode_bytes([97], skip_special_tokens=value)),
    ("skip_special_tokens", lambda value: T.decode_batch([[97]], skip_special_tokens=value)),
    ("skip_special_tokens", lambda value: T.batch_decode([[97]], value)),
    ("skip_special_tokens", lambda value: StreamDecoder(T, skip_special_tokens=value)),
    ("skip_padding", lambda value: T.decode_batch([[97]], skip_padding=value)),
    ("tokenize", lambda value: CHAT.apply_chat_template([], "chatml", tokenize=value)),
    ("add_generation_prompt", lambda value: CHAT.apply_chat_template([], "chatml", add_generation_prompt=value)),
]


@pytest.mark.parametrize(("name", "call"), FLAGS)
def test_a_flag_is_true_or_false(name, call):
    for wrong in ("no", "False", None, 2):
        with pytest.raises(TypeError, match=f"^{name} is True or False, not {wrong!r}$"):
            call(wrong)


@pytest.mark.parametrize(("name", "call"), FLAGS[:-2])
def test_flags_of_numpy_are_flags(name, call):
    numpy = pytest.importorskip("numpy")
    for right in (True, False):
        call(right)
        call(numpy.bool_(right))


@pytest.mark.parametrize("errors", ["bogus", "", None, 5])
def test_how_errors_are_treated_is_checked_before_there_is_one(errors):
    for call in (T.decode, CHAT.decode, lambda ids, errors: T.decode_batch([ids], errors=errors)):
        with pytest.raises(ValueError, match=f'^errors is "strict", .*, not {errors!r}$'):
            call([97], errors=errors)


def test_error_handlers_of_python_are_welcome():
    assert T.decode([97, 255], errors="ignore") == "a" and T.decode([255], errors="surrogateescape") == "\udcff"


@pytest.mark.parametrize("call", [StreamDecoder, StreamEncoder, lambda name: encode_iterable(name, ["low"])])
def test_the_name_of_a_tokenizer_is_no_tokenizer(call):
    with pytest.raises(TypeError, match=r"^tokenizer is a BPETokenizer, not 'gpt2': BPETokenizer\.from_tiktoken"):
        call("gpt2")


def test_the_name_of_a_tokenizer_is_no_model():
    with pytest.raises(TypeError, match=r"^BPETokenizer takes a BPEModel, not 'cl100k_base': .*from_tiktoken\(name\)"):
        BPETokenizer("cl100k_base")


@pytest.mark.parametrize("encoder", ["auto", "heap"])
def test_arrays_without_numpy(encoder, monkeypatch):
    for name in ("numpy", "bpelab._support.numpy_import"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    t = T.with_options(encoder=encoder)
    for call in (t.encode_array, lambda text: t.encode_batch_array([text])):
        with pytest.raises(MissingDependencyError, match=r"^this needs numpy, which is not installed: pip install"):
            call("low")
