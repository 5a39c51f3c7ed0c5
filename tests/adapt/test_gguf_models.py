"""Models that are GGUF files, adapted: what is copied bit by bit, what is computed, the vocabulary, what is refused."""

import numpy as np
import pytest

from bpelab import BPETokenizer, ConversionError, ModelFileError
from bpelab.adapt import adapt_model, plan_adaptation
from bpelab.adapt.quantized import quantize
from bpelab.chat.models.find import find_model
from bpelab.cli.main import main
from bpelab.editing import extend, prune
from bpelab.notebook import book_text

gguf = pytest.importorskip("gguf")
from .gguf_models import ARCHITECTURES, old_tokenizer, write_model  # noqa: E402

KINDS = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1")


def read(path):
    return {each.name: each for each in gguf.GGUFReader(path).tensors}


def rows_of(tensor):
    """The bytes of each row of a tensor."""
    return np.array(tensor.data).view(np.uint8).reshape(int(tensor.shape[1]), -1)


def numbers(tensor):
    return gguf.quants.dequantize(np.array(tensor.data), tensor.tensor_type).astype(np.float64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_rows_are_copied_as_stored_and_new_ones_are_means_quantized_again(architecture, kind, tmp_path):
    old = old_tokenizer(architecture)
    path = write_model(tmp_path / "old.gguf", architecture, kind=kind, output="Q8_0" if kind == "Q4_0" else None)
    before = path.read_bytes()
    new = extend(old, book_text()[30_000:60_000], 30)
    plan = adapt_model(path, new, tmp_path / "out" / "new.gguf")
    assert path.read_bytes() == before
    assert plan.facts["rows_copied"] == old.n_vocab and plan.facts["rows_made"] == 30
    was, now = read(path), read(tmp_path / "out" / "new.gguf")
    matrices = {"token_embd.weight", "output.weight"} & was.keys()
    assert list(was) == list(now) and len(matrices) == 1 + (kind == "Q4_0")
    for name, tensor in was.items():
        assert now[name].tensor_type == tensor.tensor_type
        if name not in matrices:
            assert np.array_equal(now[name].data, tensor.data), name
            continue
        assert np.array_equal(rows_of(now[name])[: old.n_vocab], rows_of(tensor))
        stored = numbers(tensor)
        means = np.stack([stored[list(plan.rows.parts[new_id])].mean(axis=0) for new_id in sorted(plan.rows.parts)])
        expected = gguf.quants.quantize(means.astype(np.float32), tensor.tensor_type)
        assert np.array_equal(rows_of(now[name])[old.n_vocab :], np.ascontiguousarray(expected).view(np.uint8))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_vocabulary_and_the_other_keys(architecture, tmp_path):
    old = old_tokenizer(architecture)
    path = write_model(tmp_path / "old.gguf", architecture, kind="Q8_0")
    new = extend(old, book_text()[30_000:60_000], 30)
    adapt_model(path, new, tmp_path / "new.gguf", pad_to_multiple_of=64)
    opened = BPETokenizer.from_pretrained(tmp_path / "new.gguf")
    texts = [book_text()[at : at + 90] for at in range(0, 9_000, 90)] + ["naïve 日本  x<new>", "<eos>"]
    assert opened.encode_batch(texts, allowed_special="all") == new.encode_batch(texts, allowed_special="all")
    was, now = (gguf.GGUFReader(each).fields for each in (path, tmp_path / "new.gguf"))
    for name in was:
        if not name.startswith(("GGUF.", "tokenizer.ggml.")) and not name.endswith("vocab_size"):
            assert was[name].contents() == now[name].contents(), name
    count = -(-new.n_vocab // 64) * 64
    kinds = now["tokenizer.ggml.token_type"].contents()
    assert len(kinds) == len(now["tokenizer.ggml.tokens"].contents()) == count
    assert set(kinds[new.n_vocab :]) == {5}
    assert now["tokenizer.ggml.eot_token_id"].contents() == new.eos_token_id
    again = plan_adaptation(tmp_path / "new.gguf", extend(opened, book_text()[60_000:90_000], 5))
    kinds = again.settings["metadata"]["tokenizer.ggml.token_type"]
    assert kinds[new.n_vocab : count] == [5] * (count - new.n_vocab)  # unused tokens stay unused


@pytest.mark.parametrize("architecture", ["qwen2", "gemma3"])
def test_pruned_rows_are_copies_and_need_no_quantizer(architecture, tmp_path, monkeypatch):
    old = old_tokenizer(architecture)
    path = write_model(tmp_path / "old.gguf", architecture, kind="Q5_0")
    fewer, ids, _ = prune(old, corpus=book_text()[:9_000], keep=old.n_vocab - 20, progress=False)
    monkeypatch.setattr("bpelab.adapt.numbers.quantize", None)
    adapt_model(path, fewer, tmp_path / "new.gguf", ids=ids)
    was, now = rows_of(read(path)["token_embd.weight"]), rows_of(read(tmp_path / "new.gguf")["token_embd.weight"])
    assert all(np.array_equal(was[old_id], now[new_id]) for old_id, new_id in ids.items()) and len(now) == len(was) - 20
    fields = gguf.GGUFReader(tmp_path / "new.gguf").fields
    assert fields["tokenizer.ggml.eot_token_id"].contents() == ids[old.eos_token_id]


def test_what_is_refused_before_anything_is_written(tmp_path):
    old = old_tokenizer("llama")
    path, new = write_model(tmp_path / "old.gguf", "llama", kind="Q8_0"), extend(old, book_text()[:20_000], 5)
    without = old.with_options(pattern="[a-z]+|[^a-z]+")
    part = tmp_path / "m-00001-of-00002.gguf"
    for name in ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf"):
        (tmp_path / name).write_bytes(path.read_bytes())
    (tmp_path / "taken.gguf").write_text("")
    there = sorted(tmp_path.iterdir())
    for model, tokenizer, out, kind, message in (
        (path, new, "new", ModelFileError, "a GGUF file is made: give it a name that ends in .gguf"),
        (path, new, "old.gguf", ModelFileError, "exists already"),
        (path, new, "taken.gguf", ModelFileError, "exists already"),
        (path, without, "new.gguf", ConversionError, "no name for the way"),
        (part, new, "new.gguf", ModelFileError, "in several parts: join them first"),
    ):
        with pytest.raises(kind, match=message):
            adapt_model(model, tokenizer, tmp_path / out)
        assert sorted(tmp_path.iterdir()) == there
    with pytest.raises(ModelFileError, match="rows of the type IQ3_S can't be made"):
        quantize(np.zeros((1, 256)), "IQ3_S")
    with pytest.raises(ModelFileError, match=r"eos_token_id is 319, and the new tokenizer has no such token"):
        plan_adaptation(path, BPETokenizer.train("abc" * 9, 258, pattern="gpt2"))


def test_a_tensor_that_is_not_known(tmp_path):
    from bpelab.adapt.gguf_model import _matrices
    from bpelab.chat.models.tensor_headers import Tensor

    tensors = [Tensor("token_embd.weight", "F32", (320, 8), tmp_path, 0, 0)]
    for strange in ("per_layer_token_embd.weight", "output.weight"):
        odd = Tensor(strange, "F32", (320 if strange[0] == "p" else 300, 8), tmp_path, 0, 0)
        with pytest.raises(ModelFileError, match=f"the tensor {strange} has the shape"):
            _matrices("m", [*tensors, odd])
    with pytest.raises(ModelFileError, match=r"has no tensor token_embd\.weight"):
        _matrices("m", [])


def test_from_the_command_line(tmp_path, capsys):
    path = write_model(tmp_path / "old.gguf", "gemma3", kind="Q8_0")
    extend(old_tokenizer("gemma3"), book_text()[30_000:60_000], 30).save(tmp_path / "tok")
    words = ["adapt", str(path), "-t", str(tmp_path / "tok"), "--no-bits", "--out"]
    assert main([*words, str(tmp_path / "new.gguf")]) == 0
    out = capsys.readouterr().out
    assert "token_embd.weight (Q8_0); new rows are computed from rows that the gguf library dequantizes" in out
    assert "files of weights: 1" in out and f"{tmp_path / 'new.gguf'}: written" in out
    assert find_model(tmp_path / "new.gguf").tokenizer().n_vocab == old_tokenizer("gemma3").n_vocab + 30
    assert main([*words, str(tmp_path / "folder")]) == 1
    assert "give it a name that ends in .gguf" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "again.gguf"), "--gguf", str(tmp_path / "too.gguf")]) == 1
    assert "leave out --gguf" in capsys.readouterr().err
    assert not (tmp_path / "again.gguf").exists()
