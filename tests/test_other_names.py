"""Names that users of tiktoken, Hugging Face and minbpe type: they do the same here, or an error says what to call."""

import copy
import json
import pickle
import re

import numpy as np
import pytest

from bpelab import BPETokenizer
from bpelab._support.migration_hints import BATCH, TOKENIZER
from bpelab.errors import SpecialTokenError, UnknownTokenError
from bpelab.model_inputs.batch_encoding import Batch

from .conftest import encoding

TEXTS = ["low lower lowest", "a", "lower é 日本", ""]
T = BPETokenizer.train("low lower lowest " * 9, 264, special_tokens=["<pad>", "<|eot|>"], pad_token="<pad>")
# What minbpe's three tokenizers have beside encode, decode, train and save: base.py, regex.py and gpt4.py.
MINBPE = {"merges", "pattern", "special_tokens", "vocab", "load", "register_special_tokens", "inverse_special_tokens"}
MINBPE |= {"compiled_pattern", "encode_ordinary", "byte_shuffle", "inverse_byte_shuffle", "save_vocab"}
# Of transformers 4, which is still what most code was written for.
OLDER = {"batch_encode_plus", "encode_plus", "build_inputs_with_special_tokens", "prepare_for_model", "cls_token"}
OLDER |= {"create_token_type_ids_from_sequences", "truncate_sequences", "additional_special_tokens", "sep_token"}
OLDER |= {"as_target_tokenizer", "sanitize_special_tokens", "prepare_seq2seq_batch", "mask_token", "mask_token_id"}
OLDER |= {"additional_special_tokens_ids", "special_tokens_map_extended", "cls_token_id", "sep_token_id"}


def public(*things) -> set[str]:
    return {name for thing in things for name in dir(thing) if not name.startswith("_")}


def theirs() -> set[str]:
    tiktoken, tokenizers = pytest.importorskip("tiktoken"), pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    fast = tokenizers.Tokenizer(tokenizers.models.BPE())
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    return public(fast, encoding, transformers.PreTrainedTokenizerFast(tokenizer_object=fast)) | MINBPE | OLDER


def test_what_is_explained_is_theirs_and_not_here():
    """A hint is for a name that another library has, or that is a function of a room here."""
    ours = {"from_gguf", "extend", "prune", "chat", "dropout", "metadata"}
    assert not TOKENIZER.keys() - theirs() - ours
    assert not TOKENIZER.keys() & public(T)


def test_what_is_explained_of_a_batch_is_theirs_and_not_here():
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    batch = T(TEXTS, return_offsets=True, return_special_tokens_mask=True)
    assert not BATCH.keys() - public(transformers.BatchEncoding(), tokenizers.Encoding)
    assert not BATCH.keys() & public(batch)


@pytest.mark.parametrize("thing", [T, T.spec], ids=["tokenizer", "specification"])
def test_an_attribute_that_is_set_is_an_error_that_says_what_to_call(thing):
    for name in ("pad_token", "normalizer", "metadata"):
        with pytest.raises(AttributeError, match=rf"can't be changed.*tokenizer\.with_options\({name}=\.\.\.\)"):
            setattr(thing, name, None)
    for name in ("encode", "pipeline", "made_up"):
        with pytest.raises(AttributeError, match=r"can't be changed.*tokenizer\.with_options\(\.\.\.\)"):
            setattr(thing, name, None)
    assert not hasattr(T, "made_up")


def test_an_attribute_that_is_deleted_is_an_error():
    with pytest.raises(AttributeError, match="can't be changed"):
        del T.pipeline
    assert T.encode("low")


def test_dicts_that_it_returns_cant_be_changed():
    for changed, advice in (
        (T.special_tokens, "with_special_tokens"),
        (T.spec.metadata, "with_options"),
        (T.spec.metadata, ""),
    ):
        before = dict(changed)
        for change in (
            lambda it: it.__setitem__("x", 5),
            lambda it: it.__delitem__("<pad>"),
            lambda it: it.update(x=5),
            lambda it: it.setdefault("x", 5),
            lambda it: it.pop("<pad>"),
            lambda it: it.popitem(),
            lambda it: it.clear(),
            lambda it: it.__ior__({"x": 5}),
        ):
            with pytest.raises(TypeError, match=f"can't be changed.*{advice}"):
                change(changed)
        assert changed == before and repr(changed) == repr(before) and json.loads(json.dumps(changed)) == before
        assert type(pickle.loads(pickle.dumps(changed))) is dict


def test_the_names_fit_on_a_page():
    """At most 56, and the docstring of the class has each of them in a group, and no other."""
    groups = BPETokenizer.__doc__.partition("Methods and attributes, by purpose:")[2].partition("Args:")[0]
    assert set(re.findall(r"`(\w+)`", groups)) == public(T)
    assert len(public(T)) <= 56


@pytest.mark.parametrize("name", TOKENIZER)
def test_the_error_says_what_to_call(name):
    for asked in (T, BPETokenizer):
        assert not hasattr(asked, name)
        with pytest.raises(AttributeError, match=f"^BPETokenizer has no attribute {name!r}: ") as caught:
            getattr(asked, name)
        assert caught.value.name == name


def test_what_the_errors_name_exists():
    owners = {"tokenizer": T, "BPETokenizer": BPETokenizer}
    owners["batch"] = T("low", return_offsets=True, return_token_type_ids=True)
    for advice in (*TOKENIZER.values(), *BATCH.values()):
        for owner, attribute in re.findall(r"\b(tokenizer|BPETokenizer|batch)\.(\w+)", advice):
            assert hasattr(owners[owner], attribute), advice


def test_unknown_names_are_errors_as_ever():
    for asked in (T, BPETokenizer, T("low")):
        for name in ("encoed", "_ipython_canary_method_should_not_exist_", "__array__", "_repr_html_"):
            assert not hasattr(asked, name)
            with pytest.raises(AttributeError, match=f"no attribute {name!r}$"):
                getattr(asked, name)


def test_copies_and_pickles_are_as_before():
    for again in (copy.copy(T), copy.deepcopy(T), pickle.loads(pickle.dumps(T))):
        assert again.encode(TEXTS[2]) == T.encode(TEXTS[2]) and again.pad_token == "<pad>"
    batch = T(TEXTS)
    for again in (copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert type(again) is Batch and again == batch and again.input_ids == batch.input_ids


def test_an_error_inside_a_property_is_shown():
    class Broken(BPETokenizer):
        @property
        def merges_of_mine(self):
            return self.nothing_like_it

    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = Broken(T.model).merges_of_mine


def test_one_token_gives_one_id_and_back():
    assert T.convert_tokens_to_ids("<|eot|>") == T.special_tokens["<|eot|>"]
    assert T.convert_tokens_to_ids(b"low") == T.convert_tokens_to_ids("low") == T.token_to_id(b"low")
    assert T.convert_tokens_to_ids(["<|eot|>", b"l"]) == [T.special_tokens["<|eot|>"], 108]
    assert T.convert_ids_to_tokens(72) == T.convert_ids_to_tokens(np.int64(72)) == b"H"
    assert T.convert_ids_to_tokens([72]) == T.convert_ids_to_tokens(np.array([72])) == [b"H"]
    with pytest.raises(UnknownTokenError, match="no token 'nothing'"):
        T.convert_tokens_to_ids("nothing")
    with pytest.raises(UnknownTokenError, match="no token with the id 9999"):
        T.convert_ids_to_tokens(9999)
    for wrong in (True, 1.5, None, "a"):
        with pytest.raises(TypeError):
            T.convert_ids_to_tokens(wrong)


@pytest.fixture(scope="module")
def in_transformers(tmp_path_factory):
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("saved")
    written = T.save_pretrained(folder)
    assert sorted(written) == sorted(map(str, folder.iterdir()))
    return transformers.AutoTokenizer.from_pretrained(folder)


def test_sizes_are_those_of_transformers(in_transformers):
    assert T.vocab_size == in_transformers.vocab_size == T.n_vocab - 2
    assert len(T) == len(in_transformers)
    assert T.convert_tokens_to_ids("<|eot|>") == in_transformers.convert_tokens_to_ids("<|eot|>")
    assert T.convert_ids_to_tokens(72).decode() == in_transformers.convert_ids_to_tokens(72)


@pytest.mark.parametrize("skip", [False, True])
def test_batch_decode_is_that_of_transformers(in_transformers, skip):
    ids = [[*T.encode(text), T.pad_token_id, T.pad_token_id] for text in TEXTS]
    assert T.batch_decode(ids, skip_special_tokens=skip) == in_transformers.batch_decode(ids, skip_special_tokens=skip)
    assert T.batch_decode(ids, skip) == in_transformers.batch_decode(ids, skip)


@pytest.mark.parametrize("tensors", [None, "np"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "options",
    [{}, {"pad_to_multiple_of": 8}, {"padding": "max_length", "max_length": 20}, {"padding": "longest"}],
    ids=str,
)
def test_pad_is_that_of_transformers(in_transformers, options, side, tensors):
    rows = [{**T(text, return_special_tokens_mask=True), "score": n / 2} for n, text in enumerate(TEXTS)]
    columns = {name: [row[name] for row in rows] for name in ("input_ids", "score")}
    for given in (rows, columns, T(TEXTS)):
        expected = in_transformers.pad(given, padding_side=side, return_tensors=tensors, **options)
        found = T.pad(given, padding_side=side, return_tensors=tensors, **options)
        assert found.keys() == expected.keys()
        for name, column in expected.items():
            assert np.array_equal(found[name], column), name
            assert tensors is None or found[name].dtype == column.dtype, name


def test_pad_of_one_row_and_of_arrays(in_transformers):
    one = {"padding": "max_length", "max_length": 9}
    assert T.pad(T("low"), **one) == dict(in_transformers.pad(T("low"), **one))
    arrays = [T(text, return_tensors="np") for text in ("low lower", "low é")]
    rows = [{name: array[0] for name, array in row.items()} for row in arrays]
    assert T.pad(rows) == T(["low lower", "low é"], padding=True)
    assert T.pad(T(TEXTS), padding=False) == T(TEXTS)


def test_a_data_collator_of_transformers_pads():
    transformers = pytest.importorskip("transformers")
    rows = [{**T(text), "label": n} for n, text in enumerate(TEXTS)]
    batch = transformers.DataCollatorWithPadding(T, return_tensors="np")(rows)
    assert batch["labels"].tolist() == [0, 1, 2, 3]
    assert batch["input_ids"].tolist() == T(TEXTS, padding=True).input_ids


def test_what_cant_be_padded():
    with pytest.raises(SpecialTokenError, match="no pad_token"):
        T.with_options(pad_token=None).pad([T("low")])
    with pytest.raises(ValueError, match='needs "input_ids", and there are labels'):
        T.pad({"labels": [1]})
    with pytest.raises(ValueError, match="batch is empty"):
        T.pad([])
    for wrong in ("low", [[1, 2]], 5, ["low"]):
        with pytest.raises(TypeError, match="pad takes what the tokenizer's call gave"):
            T.pad(wrong)
    rows = [{"input_ids": [1], "labels": [1]}, {"input_ids": [1, 2], "labels": [1, 2]}]
    with pytest.raises(ValueError, match="the rows of 'labels' have different lengths"):
        T.pad(rows, return_tensors="np")


def test_batches_are_those_of_tiktoken_and_tokenizers(tmp_path):
    pytest.importorskip("tiktoken")
    tokenizers = pytest.importorskip("tokenizers")
    theirs = encoding("cl100k_base")
    texts = [*TEXTS, "<|endoftext|>"]
    assert BPETokenizer.from_tiktoken("cl100k_base").encode_batch(texts) == theirs.encode_ordinary_batch(texts)
    T.save(tmp_path)
    fast = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert T.encode_batch(TEXTS) == [found.ids for found in fast.encode_batch_fast(TEXTS)]


def test_what_a_call_gives_has_attributes():
    found = T("low", return_offsets=True)
    assert found.input_ids == found["input_ids"] and found.offset_mapping == found["offset_mapping"]
    assert isinstance(found, dict) and repr(found) == repr(dict(found)) and found == dict(found)
    with pytest.raises(AttributeError, match=r"has no attribute 'word_ids': use tokenizer\.encode_with_offsets"):
        _ = found.word_ids
