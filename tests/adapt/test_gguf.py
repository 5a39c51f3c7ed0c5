"""Adapted models as GGUF files: the same numbers and the same tokenizer, read by three readers; what is refused."""

import json
import os

import numpy as np
import pytest

from bpelab import BPETokenizer, ConversionError, ModelFileError
from bpelab.adapt import adapt_model, write_gguf
from bpelab.chat.backends import open_backend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import SHIPPED, find_model
from bpelab.chat.models.tensor_headers import safetensors_tensors
from bpelab.cli.main import main
from bpelab.editing import extend
from bpelab.notebook import book_text

from ..chat.tiny import tiny_tokenizer, write_tiny_llama
from ..conftest import amount
from .models import tensors_of, write_model

gguf = pytest.importorskip("gguf")
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}  # fmt: skip


@pytest.fixture(scope="module")
def new():
    return extend(tiny_tokenizer(), book_text()[:20_000], 40)


def tensors(path):
    return {each.name: np.array(each.data) for each in gguf.GGUFReader(path).tensors}


@pytest.mark.parametrize("options", [{}, {"tied": False, "heads": 4, "kv_heads": 2, "layers": 3}])
@pytest.mark.parametrize("dtype", [None, "F32", "F16", "BF16"])
def test_what_is_read_again(new, options, dtype, tmp_path):
    """By the reference backend: the logits of the folder; by the gguf library: its shapes and types."""
    folder = write_tiny_llama(tmp_path / "old", gguf=False, **options)
    adapt_model(folder, new, tmp_path / "new", pad_to_multiple_of=64)
    path = tmp_path / "out" / "new.gguf"
    write_gguf(tmp_path / "new", path, dtype=dtype)
    found = find_model(path)
    assert found.tokenizer().n_vocab == 384 and found.context_length == 256
    texts = [book_text()[at : at + 99] for at in range(0, 3_000, 100)]
    assert found.tokenizer().encode_batch(texts) == new.encode_batch(texts)
    kinds = {each.name: each.tensor_type.name for each in gguf.GGUFReader(path).tensors}
    wanted = dtype or "F16"
    assert {kinds[name] for name in kinds if "norm" not in name} == {wanted}
    assert {kinds[name] for name in kinds if "norm" in name} == {"F32"} and ("output.weight" in kinds) == bool(options)
    one, other = (open_backend("reference", find_model(each)) for each in (tmp_path / "new", path))
    ids = list(range(5, 40))
    logits, again = one.next_logits(ids), other.next_logits(ids)
    if dtype != "BF16":  # which rounds
        assert np.array_equal(logits, again)
        assert list(generate_ids(one, ids)) == list(generate_ids(other, ids))
    assert np.abs(logits - again).max() < (0.2 if dtype == "BF16" else 1e-6)


def generate_ids(backend, ids):
    return (each.id for each in generate(backend, ids, max_new_tokens=20))


def test_the_shipped_file_is_written_again(tmp_path):
    write_gguf(SHIPPED, tmp_path / "m.gguf", dtype="F32")
    one, other = tensors(SHIPPED / "model.gguf"), tensors(tmp_path / "m.gguf")
    assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
    before, after = (gguf.GGUFReader(path).fields for path in (SHIPPED / "model.gguf", tmp_path / "m.gguf"))
    for name in before.keys() & after.keys():
        if not name.startswith("GGUF.") and name != "general.name":
            assert before[name].contents() == after[name].contents(), name


@pytest.mark.parametrize("seed", range(amount(3, 40)))
def test_a_file_of_the_old_model_as_a_pattern(new, seed, tmp_path):
    """What isn't a row for a token is copied from it; the rest is what is written without it."""
    tied = seed % 2 == 0
    folder = write_tiny_llama(tmp_path / "old", seed=seed, tied=tied)
    adapt_model(folder, new, tmp_path / "new")
    write_gguf(tmp_path / "new", tmp_path / "alone.gguf", dtype="F32")
    write_gguf(tmp_path / "new", tmp_path / "like.gguf", like=folder / "model.gguf")
    one, other = tensors(tmp_path / "alone.gguf"), tensors(tmp_path / "like.gguf")
    assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
    fields = gguf.GGUFReader(tmp_path / "like.gguf").fields
    assert fields["llama.vocab_size"].contents() == new.n_vocab
    assert fields["general.name"].contents() == "a random Llama"
    assert BPETokenizer.from_pretrained(tmp_path / "like.gguf").get_vocab() == new.get_vocab()


def test_factors_of_rope(new, tmp_path):
    folder = write_tiny_llama(tmp_path / "old", gguf=False)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"rope_scaling": LLAMA3}))
    write_gguf(folder, tmp_path / "m.gguf", dtype="F32")
    assert "rope_freqs.weight" in tensors(tmp_path / "m.gguf")
    ids = list(range(3, 120))
    one, other = (
        open_backend("reference", find_model(each)).next_logits(ids) for each in (folder, tmp_path / "m.gguf")
    )
    assert np.allclose(one, other, atol=1e-3) and one.argmax() == other.argmax()


def test_what_is_refused(new, tmp_path):
    folder = write_tiny_llama(tmp_path / "old")
    adapt_model(folder, new, tmp_path / "new")
    odd = write_model(tmp_path / "odd", tiny_tokenizer(), tensors_of(tiny_tokenizer()), model_type="gemma")
    vocabulary = tmp_path / "vocabulary.gguf"
    from bpelab.formats.gguf_save import save

    save(new.spec, vocabulary)
    tokenizer = tiny_tokenizer().with_options(pattern="[a-z]+|[^a-z]+")
    adapt_model(folder, tokenizer, tmp_path / "pattern")
    for call, kind, message in (
        (lambda out: write_gguf(odd, out), ModelFileError, "its architecture is 'gemma'"),
        (lambda out: write_gguf(folder / "model.gguf", out), ModelFileError, "has no safetensors"),
        (lambda out: write_gguf(tmp_path / "new", out, dtype="Q8_0"), ValueError, "dtype is one of"),
        (lambda out: write_gguf(tmp_path / "new", out, like=vocabulary), ModelFileError, "has no tensor token_embd"),
        (lambda out: write_gguf(tmp_path / "new", out, like=tmp_path / "none"), ModelFileError, "can't be read"),
        (lambda out: write_gguf(tmp_path / "pattern", out), ConversionError, "no name for the way"),
        (lambda out: write_gguf(tmp_path / "new", out / "in"), ModelFileError, "can't be written"),
    ):
        out = tmp_path / "out.gguf"
        if "written" in message:
            out.write_text("a file")
        with pytest.raises(kind, match=message):
            call(out)
        assert "written" in message or not out.exists()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_from_the_command_line(new, tmp_path, capsys):
    folder = write_tiny_llama(tmp_path / "old")
    new.save(tmp_path / "tok")
    words = ["adapt", str(folder), "-t", str(tmp_path / "tok"), "--gguf", str(tmp_path / "m.gguf"), "--no-bits"]
    assert main([*words, "--out", str(tmp_path / "new"), "--gguf-like", str(folder / "model.gguf")]) == 0
    assert f"{tmp_path / 'm.gguf'}: written" in capsys.readouterr().out
    assert find_model(tmp_path / "m.gguf").tokenizer().get_vocab() == new.get_vocab()
    assert main(["adapt", str(folder), "-t", str(tmp_path / "tok"), "--dry-run", "--gguf-like", "x"]) == 1
    assert "--gguf-like is for --gguf" in capsys.readouterr().err


def test_a_gguf_file_that_can_not_be_written_is_refused_before_the_folder_is(new, tmp_path, capsys):
    write_model(tmp_path / "odd", tiny_tokenizer(), tensors_of(tiny_tokenizer()), model_type="gemma")
    new.save(tmp_path / "tok")
    words = ["adapt", str(tmp_path / "odd"), "-t", str(tmp_path / "tok"), "--out", str(tmp_path / "new"), "--no-bits"]
    assert main([*words, "--gguf", str(tmp_path / "m.gguf")]) == 1
    assert "its architecture is 'gemma'" in capsys.readouterr().err and not (tmp_path / "new").exists()
    assert main([*words, "--gguf", str(tmp_path / "m.gguf"), "--gguf-like", str(tmp_path / "none.gguf")]) == 1
    assert not (tmp_path / "new").exists()


def test_a_quantized_file_as_a_pattern(new, tmp_path):
    """Its tensors are copied, and the matrix with a row per token is quantized as it is there."""
    from .gguf_models import write_model as write_gguf_model

    like = write_gguf_model(tmp_path / "like.gguf", "llama", kind="Q8_0")
    folder = write_tiny_llama(tmp_path / "old", gguf=False)
    adapt_model(folder, new, tmp_path / "new")
    write_gguf(tmp_path / "new", tmp_path / "out.gguf", like=like)
    made, was = ({each.name: each for each in gguf.GGUFReader(path).tensors} for path in (tmp_path / "out.gguf", like))
    rows = find_model(tmp_path / "new").safetensors[0]
    stored = next(each for each in safetensors_tensors(rows) if "embed" in each.name)
    numbers = np.frombuffer(rows.read_bytes()[stored.offset : stored.offset + stored.size], "<f2").reshape(stored.shape)
    expected = gguf.quants.quantize(numbers.astype(np.float32), gguf.GGMLQuantizationType.Q8_0)
    assert np.array_equal(np.array(made["token_embd.weight"].data), expected)
    assert all(np.array_equal(made[name].data, was[name].data) for name in was if name != "token_embd.weight")
