"""Adapted folders: each row what it has to be, in every form of a model; other files; what is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, ModelFileError
from bpelab.adapt import adapt_model, plan_adaptation
from bpelab.adapt.numbers import STORED, from_float64, to_float64
from bpelab.adapt.row_map import MADE, PADDING
from bpelab.chat.models.find import SHIPPED
from bpelab.editing import extend, prune
from bpelab.editing.pruning import Pruned
from bpelab.model.rank_merges import RankMerges
from bpelab.notebook import book_text
from bpelab.publishing import changed_files

from ..chat_templates.conftest import characters
from ..conftest import amount
from .models import WIDTH, load, numbers, random_bits, save, tensors_of, write_model

TEXT = book_text()[:30_000]


@pytest.fixture(scope="module")
def old() -> BPETokenizer:
    plain = BPETokenizer.train(TEXT, 300, pattern="gpt2", special_tokens=["<|end|>", "<|pad|>"])
    return plain.with_options(eos_token="<|end|>", pad_token="<|pad|>")


@pytest.fixture(scope="module")
def new(old) -> BPETokenizer:
    return extend(old, TEXT, 30)


@pytest.fixture(scope="module")
def smaller(old) -> Pruned:
    """Without the first of the tokens that no merge needs: special tokens and others get other ids."""
    needed = {part for pair in old.model.merges for part in map(old.model.tokens.get, pair)}
    leaves = [token for token in old.model.tokens.values() if len(token) > 1 and token not in needed]
    return prune(old, remove=leaves[:7])


def expected(stored: np.ndarray, kind: str, plan) -> np.ndarray:
    """The rows that the rule `mean` makes, one at a time in plain Python."""
    flat = stored.reshape(len(stored), -1)
    table = to_float64(flat, kind).tolist()
    known = plan.rows.rows_with_token.tolist()
    average = np.divide(np.sum([table[row] for row in known], axis=0), len(known)).tolist()
    out = []
    for row, source in enumerate(plan.rows.source.tolist()):
        if source >= 0:
            out.append(flat[source])
            continue
        parts = plan.rows.parts[row] if source == MADE else ()
        assert source in (MADE, PADDING)
        values = [sum(column) / len(parts) for column in zip(*(table[part] for part in parts))] or average
        out.append(from_float64(np.array(values), kind))
    return np.array(out, stored.dtype).reshape(-1, *stored.shape[1:])


# -- every form of a model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STORED)
@pytest.mark.parametrize(
    "form", [{}, {"tied": True}, {"rows": 320}, {"bias": True, "shards": 3}, {"rows": 384, "shards": 5}]
)
@pytest.mark.parametrize("change", ["more", "fewer", "same", "special"])
def test_rows(old, new, smaller, kind, form, change, tmp_path):
    form = dict(form)
    shards = form.pop("shards", 1)
    tensors = tensors_of(old, kind=kind, **form)
    folder = write_model(tmp_path / "old", old, tensors, shards=shards)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    tokenizer = {
        "more": new, "fewer": smaller[0], "same": old, "special": old.with_special_tokens(["<|tool|>", "<|code|>"]),
    }[change]  # fmt: skip
    plan = adapt_model(folder, tokenizer, tmp_path / "new")
    made = load(tmp_path / "new")
    assert made.keys() == tensors.keys()
    for name, (stored_as, array) in tensors.items():
        rows = name in ("model.embed_tokens.weight", "lm_head.weight", "lm_head.bias")
        wanted = expected(array, stored_as, plan) if rows else array
        assert made[name].dtype == array.dtype and made[name].tobytes() == wanted.tobytes(), name
    count = len(plan.rows.source)
    assert json.loads((tmp_path / "new" / "config.json").read_text())["vocab_size"] == count
    if "rows" not in form:
        assert count == tokenizer.n_vocab
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert changed_files(tmp_path / "new") == []
    assert BPETokenizer.from_pretrained(tmp_path / "new").get_vocab() == tokenizer.get_vocab()
    if shards > 1:
        index = json.loads((tmp_path / "new" / "model.safetensors.index.json").read_text())
        assert index["metadata"]["total_size"] == sum(array.nbytes for array in made.values())
        assert index["weight_map"] == json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    if change == "same" and shards == 1:
        assert (tmp_path / "new" / "model.safetensors").stat().st_size == (folder / "model.safetensors").stat().st_size


@pytest.mark.parametrize("kind", STORED)
def test_copied_rows_are_copied_bit_by_bit_whatever_the_bits(old, kind, tmp_path):
    """Signalling NaNs, infinities, numbers that are nearly nothing."""
    random = np.random.default_rng(3)
    tensors = {"model.embed_tokens.weight": (kind, random_bits(random, kind, old.n_vocab, WIDTH))}
    folder = write_model(tmp_path / "old", old, tensors)
    adapt_model(folder, old.with_special_tokens(["<|tool|>"]), tmp_path / "new")
    made = load(tmp_path / "new")["model.embed_tokens.weight"]
    assert made[: old.n_vocab].tobytes() == tensors["model.embed_tokens.weight"][1].tobytes()


@pytest.mark.parametrize(
    ("names", "bias"),
    [
        (("transformer.wte.weight",), None),
        (("gpt_neox.embed_in.weight", "embed_out.weight"), None),
        (("model.language_model.embed_tokens.weight", "lm_head.weight"), None),
        (("transformer.word_embeddings.weight",), None),
        (("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"), None),
        (("bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"), "cls.predictions.bias"),
        (("model.shared.weight",), "final_logits_bias"),
        (("backbone.embeddings.weight", "lm_head.weight"), None),
        (("transformer.wte.weight", "lm_head.weight"), "lm_head.bias"),
        (("model.embed_tokens.weight", "model.layers.3.embed_tokens.weight", "lm_head.weight"), None),
    ],
)
def test_the_names_of_many_architectures(old, new, names, bias, tmp_path):
    random = np.random.default_rng(4)
    tensors = {name: ("F32", numbers(random, "F32", old.n_vocab, WIDTH)) for name in names}
    tensors["other.weight"] = ("F32", numbers(random, "F32", 5, WIDTH))
    if bias:
        shape = (1, old.n_vocab) if bias == "final_logits_bias" else (old.n_vocab,)
        tensors[bias] = ("F32", numbers(random, "F32", *shape))
    config = {"model_type": "some", "tie_word_embeddings": True, "vocab_size": old.n_vocab}
    folder = write_model(tmp_path / "old", old, tensors, **config)
    plan = adapt_model(folder, new, tmp_path / "new")
    made = load(tmp_path / "new")
    assert {tensor.name for tensor in plan.matrices.tensors} == {*names, *([bias] if bias else [])}
    for name in names:
        assert np.array_equal(made[name], expected(tensors[name][1], "F32", plan))
    if bias:
        wanted = expected(tensors[bias][1].reshape(-1, 1), "F32", plan)
        assert np.array_equal(made[bias].ravel(), wanted.ravel())
        assert made[bias].shape == ((1, new.n_vocab) if bias == "final_logits_bias" else (new.n_vocab,))


def test_a_configuration_with_parts(old, new, tmp_path):
    tensors = tensors_of(old)
    text = {"vocab_size": old.n_vocab, "eos_token_id": old.eos_token_id}
    config = {"vocab_size": old.n_vocab, "text_config": text, "vision_config": {"hidden_size": 3}, "image_token_id": 5}
    folder = write_model(tmp_path / "old", old, tensors, **config)
    adapt_model(folder, new, tmp_path / "new")
    made = json.loads((tmp_path / "new" / "config.json").read_text())
    assert made["vocab_size"] == made["text_config"]["vocab_size"] == new.n_vocab
    assert made["vision_config"] == {"hidden_size": 3} and made["image_token_id"] == 5


def test_padding_on_request(old, new, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    plan = adapt_model(folder, new, tmp_path / "new", pad_to_multiple_of=64)
    assert plan.facts["rows_after"] == 384 and plan.facts["rows_of_padding_made"] == 384 - new.n_vocab
    made = load(tmp_path / "new")["lm_head.weight"]
    assert np.array_equal(made, expected(load(folder)["lm_head.weight"], "F32", plan))


def test_rules_and_seeds(old, new, tmp_path):
    folder = write_model(
        tmp_path / "old", old, tensors_of(old) | {"lm_head.weight": tensors_of(old)["model.embed_tokens.weight"]}
    )
    found = {}
    for name, options in {
        "mean": {}, "average": {"rows": "average"}, "one": {"rows": "normal", "seed": 1},
        "again": {"rows": "normal", "seed": 1}, "two": {"rows": "normal", "seed": 2},
    }.items():  # fmt: skip
        adapt_model(folder, new, tmp_path / name, **options)
        matrices = load(tmp_path / name)
        found[name] = matrices["model.embed_tokens.weight"]
        assert np.array_equal(found[name], matrices["lm_head.weight"]), "equal matrices stay equal"
    assert np.array_equal(found["one"], found["again"]) and not np.array_equal(found["one"], found["two"])
    assert len({found[name].tobytes() for name in ("mean", "average", "one")}) == 3


# -- ids in the configurations -----------------------------------------------------------------------------------------


def test_ids_move_with_their_tokens(old, smaller, tmp_path):
    tokenizer, ids, _ = smaller
    end, pad = old.eos_token_id, old.pad_token_id
    config = {"eos_token_id": end, "pad_token_id": pad, "bos_token_id": None, "image_token_index": 65, "other_id": 3}
    generation = {"eos_token_id": [end, pad], "pad_token_id": pad, "bad_words_ids": [[66, 67], [68]], "top_k": 50,
                  "suppress_tokens": [end], "max_new_tokens": 9, "forced_bos_token_id": -1}  # fmt: skip
    folder = write_model(tmp_path / "old", old, tensors_of(old), generation=generation, **config)
    plan = adapt_model(folder, tokenizer, tmp_path / "new")
    assert ids[end] != end and not plan.rows.keeps_ids
    made = json.loads((tmp_path / "new" / "config.json").read_text())
    assert (made["eos_token_id"], made["pad_token_id"], made["bos_token_id"]) == (ids[end], ids[pad], None)
    assert (made["image_token_index"], made["other_id"]) == (ids[65], 3)
    made = json.loads((tmp_path / "new" / "generation_config.json").read_text())
    assert made == {"eos_token_id": [ids[end], ids[pad]], "pad_token_id": ids[pad], "bad_words_ids": [[66, 67], [68]],
                    "top_k": 50, "suppress_tokens": [ids[end]], "max_new_tokens": 9,
                    "forced_bos_token_id": -1}  # fmt: skip


def test_a_role_whose_token_is_gone_is_the_new_one(old, tmp_path):
    """And any other id that is gone is an error, before anything is written."""
    other = BPETokenizer(old.model, pattern="gpt2", special_tokens={"<|stop|>": 298}, eos_token="<|stop|>")
    folder = write_model(tmp_path / "one", old, tensors_of(old), eos_token_id=old.eos_token_id)
    adapt_model(folder, other, tmp_path / "new")
    assert json.loads((tmp_path / "new" / "config.json").read_text())["eos_token_id"] == 298
    for name, entry in (("two", {"pad_token_id": old.pad_token_id}), ("three", {"image_token_id": old.eos_token_id})):
        folder = write_model(tmp_path / name, old, tensors_of(old), **entry)
        with pytest.raises(
            ModelFileError, match=rf"config.json: {next(iter(entry))} is \d+, and the new tokenizer has no"
        ):
            adapt_model(folder, other, tmp_path / "never")
    folder = write_model(tmp_path / "four", old, tensors_of(old), generation={"forced_decoder_ids": [[1, 5]]})
    with pytest.raises(ModelFileError, match="forced_decoder_ids holds ids among other numbers"):
        adapt_model(folder, other, tmp_path / "never")
    assert not (tmp_path / "never").exists()


# -- what else is there ------------------------------------------------------------------------------------------------


def test_other_files(old, new, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    (folder / "README.md").write_text("# A model")
    (folder / "modeling_own.py").write_text("raise SystemExit")
    (folder / "ADAPTED.md").write_text("an earlier card")
    (folder / "SHA256SUMS").write_text("old")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x02")
    (folder / "merges.txt").write_text("a b")
    (folder / "onnx").mkdir()
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    (tmp_path / "secret").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret")
    (folder / "inner.txt").symlink_to(folder / "README.md")
    plan = adapt_model(folder, new, tmp_path / "new")
    there = {path.name for path in (tmp_path / "new").iterdir()}
    assert there == {
        "README.md", "modeling_own.py", "ADAPTED.md", "SHA256SUMS", "inner.txt", "config.json", "model.safetensors",
        "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    assert plan.left_out.keys() == {"pytorch_model.bin", "merges.txt", "onnx/", "link.txt"}
    card = (tmp_path / "new" / "ADAPTED.md").read_text()
    assert "an earlier card" in card and "`link.txt`: a link that leads elsewhere" in card and "30 are made" in card
    assert not (tmp_path / "new" / "inner.txt").is_symlink()


def test_the_chat_template_comes_along(tmp_path):
    tokenizer = BPETokenizer.from_pretrained(SHIPPED).with_special_tokens(["<|tool|>"])
    adapt_model(SHIPPED, tokenizer, tmp_path / "new")
    template = (SHIPPED / "chat_template.jinja").read_text()
    assert (tmp_path / "new" / "chat_template.jinja").read_text() == template
    assert BPETokenizer.from_pretrained(tmp_path / "new").spec.metadata["chat_template"] == template


def test_the_cache_of_the_hub(old, new, tmp_path):
    """There the files of a model are links to where the Hub's library keeps them."""
    made = write_model(tmp_path / "made", old, tensors_of(old))
    (made / "README.md").write_text("card")
    snapshot, blobs = tmp_path / "models--a--b" / "snapshots" / "123", tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(made.iterdir())):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(Path("../../blobs", str(number)))
    plan = adapt_model(snapshot, new, tmp_path / "new")
    assert not plan.left_out and (tmp_path / "new" / "README.md").read_text() == "card"
    assert not any(path.is_symlink() for path in (tmp_path / "new").iterdir())


def test_hugging_face_reads_the_folder(old, new, tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    adapt_model(folder, new, tmp_path / "new")
    config = transformers.AutoConfig.from_pretrained(tmp_path / "new")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    assert config.vocab_size == new.n_vocab == len(theirs)
    texts = [TEXT[at : at + 200] for at in range(0, 20_000, 500)]
    assert theirs(texts, add_special_tokens=False)["input_ids"] == new.encode_batch(texts)


def test_a_model_with_tokens_of_characters(tmp_path):
    """SentencePiece's kind, extended, with a character that was none: rows, and ids as transformers reads them."""
    old = characters()
    new = extend(old, TEXT + " naïve" * 9, 60)
    folder = write_model(tmp_path / "old", old, tensors_of(old, kind="BF16"))
    plan = adapt_model(folder, new, tmp_path / "new")
    assert plan.facts["rows_copied"] == len(old) and plan.facts["rows_made"] == 60 and plan.rows.keeps_ids
    for name, (kind, array) in tensors_of(old, kind="BF16").items():
        rows = name in ("model.embed_tokens.weight", "lm_head.weight")
        assert load(tmp_path / "new")[name].tobytes() == (expected(array, kind, plan) if rows else array).tobytes()
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    text = TEXT[:3_000] + " naïve 日本 😀"
    assert theirs(text, add_special_tokens=False)["input_ids"] == new.encode(text, add_special_tokens=False)


def test_numpy_s_library_reads_the_weights(old, new, tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import load_file

    tensors = {name: each for name, each in tensors_of(old).items() if each[0] != "BF16"}
    folder = write_model(tmp_path / "old", old, tensors)
    adapt_model(folder, new, tmp_path / "new")
    theirs, ours = load_file(tmp_path / "new" / "model.safetensors"), load(tmp_path / "new")
    assert theirs.keys() == ours.keys() and all(np.array_equal(theirs[name], ours[name]) for name in ours)
    with safe_open(tmp_path / "new" / "model.safetensors", "np") as file:
        assert file.metadata() == {"format": "pt", "made by": "tests"}


def test_the_plan_says_what_will_be(old, new, smaller, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old, rows=320), shards=2)
    for tokenizer in (new, smaller[0]):
        plan = plan_adaptation(folder, tokenizer)
        out = tmp_path / f"new{len(tokenizer)}"
        adapt_model(plan, None, out)
        made = load(out)
        assert plan.facts["parameters_after"] == sum(array.size for array in made.values())
        assert plan.facts["bytes_after"] == sum(array.nbytes for array in made.values())
        assert plan.facts["parameters_before"] == sum(array.size for array in load(folder).values())
        facts = plan.facts
        assert facts["rows_after"] == facts["rows_copied"] + facts["rows_made"] + facts["rows_of_padding_made"]
        for number in (facts["parameters_after"], facts["bytes_after"], facts["rows_made"], len(tokenizer)):
            assert f"{number:,}" in str(plan)
    assert "2 files" not in str(plan) and "files of weights: 2" in str(plan)


def test_random_models(old, new, smaller, tmp_path):
    """Types, shards, padding and direction drawn at random."""
    random = np.random.default_rng(8)
    for number in range(amount(10, 300)):
        kind = str(random.choice(list(STORED)))
        rows = old.n_vocab + int(random.choice([0, 0, 1, 20, 84]))
        form = {"tied": bool(random.integers(2)), "bias": bool(random.integers(2)), "rows": rows, "seed": number}
        tensors = tensors_of(old, kind=kind, **form)
        shards = int(random.integers(1, len(tensors) + 1))
        folder = write_model(tmp_path / f"old{number}", old, tensors, shards=shards)
        tokenizer = [new, smaller[0], old][int(random.integers(3))]
        multiple = [None, 1, 7, 64][int(random.integers(4))]
        plan = adapt_model(folder, tokenizer, tmp_path / f"new{number}", pad_to_multiple_of=multiple)
        made = load(tmp_path / f"new{number}")
        for name, (stored_as, array) in tensors.items():
            rows = name in {tensor.name for tensor in plan.matrices.tensors}
            assert made[name].tobytes() == (expected(array, stored_as, plan) if rows else array).tobytes()


# -- what is refused ---------------------------------------------------------------------------------------------------


def matrix(old, rows=None, kind="F32"):
    return (kind, numbers(np.random.default_rng(0), kind, rows or old.n_vocab, WIDTH))


def odd_models(old):
    """Name -> (tensors, entries of config.json, what the error says)."""
    plain = tensors_of(old)
    small = ("F32", numbers(np.random.default_rng(0), "F32", 9, 2))
    embedding = {"model.embed_tokens.weight": matrix(old)}
    return {
        "gptq": (plain, {"quantization_config": {"quant_method": "gptq", "bits": 4}}, r"quantization \(gptq\)"),
        "mlx": (plain, {"quantization": {"group_size": 64, "bits": 4}}, "quantized models can't be adapted"),
        "nested": (plain, {"text_config": {"quantization_config": {"quant_method": "awq"}}}, r"quantization \(awq\)"),
        "awq": (plain | {"model.layers.0.q_proj.qweight": small}, {}, "it has the tensor model.layers.0.q_proj"),
        "fp8": (plain | {"model.layers.0.q_proj.weight_scale_inv": small}, {}, "quantized models can't be adapted"),
        "bnb": (plain | {"model.layers.0.q_proj.weight.absmax": small}, {}, "quantized models can't be adapted"),
        "no embedding": ({"model.something.weight": matrix(old)}, {"vocab_size": 300}, "no tensor has a name that"),
        "another size": (plain, {"vocab_size": 299}, r"has the shape \(300, 6\), and config.json says vocab_size 299"),
        "no size": (plain, {"vocab_size": None}, "config.json says no vocab_size"),
        "wrong output": (embedding | {"lm_head.weight": matrix(old, 299)}, {}, r"lm_head.weight has the shape \(299, "),
        "wrong bias": (plain | {"lm_head.bias": ("F32", numbers(np.random.default_rng(0), "F32", 301))}, {},
                       r"lm_head.bias has the shape \(301,\), and \(300,\) was expected"),
        "one row": ({"model.embed_tokens.weight": ("F32", numbers(np.random.default_rng(0), "F32", 300))},
                    {"vocab_size": 300}, r"has the shape \(300,\), and \(300, some width\)"),
        "no output": (embedding, {"tie_word_embeddings": False}, "the output matrix is not the input matrix"),
        "two": (plain | {"audio.embed_tokens.weight": matrix(old, 77)}, {}, "several vocabularies, or a file is"),
        "per layer": (plain, {"text_config": {"vocab_size_per_layer_input": 300}}, "vocab_size_per_layer_input: a mod"),
        "decoder": (plain, {"decoder_vocab_size": 400}, "config.json has decoder_vocab_size: a model with more vocab"),
        "codebooks": (plain, {"audio_config": {"num_codebooks": 4}}, "config.json has audio_config.num_codebooks"),
        "whisper": (plain, {"model_type": "whisper"}, "every id from the first time stamp on is a time"),
        "unknown head": (plain | {"medusa_head.0.1.weight": matrix(old)}, {}, r"medusa_head.0.1.weight has the shape"),
        "unknown turned": (plain | {"tower.out": ("F32", matrix(old)[1].T.copy())}, {}, r"tower.out has the shape"),
    }  # fmt: skip


@pytest.mark.parametrize("name", odd_models(BPETokenizer.train("abab" * 50, 257)))
def test_refused_by_name(old, new, name, tmp_path):
    tensors, config, message = odd_models(old)[name]
    folder = write_model(tmp_path / "old", old, tensors, **config)
    with pytest.raises(ModelFileError, match=message) as found:
        adapt_model(folder, new, tmp_path / "new")
    assert str(folder) in str(found.value) and not (tmp_path / "new").exists()


def test_a_size_of_the_model_s_own_is_no_row_for_a_token(old, new, tmp_path):
    """A tiny model may have as many numbers in a layer as tokens."""
    wide = {
        "model.layers.0.mlp.down_proj.weight": ("F32", numbers(np.random.default_rng(0), "F32", WIDTH, old.n_vocab))
    }
    folder = write_model(tmp_path / "old", old, tensors_of(old) | wide, intermediate_size=old.n_vocab)
    adapt_model(folder, new, tmp_path / "new")
    assert load(tmp_path / "new")["model.layers.0.mlp.down_proj.weight"].shape == (WIDTH, old.n_vocab)


def test_models_in_other_forms(old, new, tmp_path):
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"\x80\x02")
    with pytest.raises(ModelFileError, match=r"pytorch_model.bin.*save_pretrained\(NEW\)"):
        plan_adaptation(tmp_path / "pickled", new)
    with pytest.raises(ModelFileError, match="there is no such file or folder"):
        plan_adaptation(tmp_path / "none", new)
    folder = write_model(tmp_path / "other", old, tensors_of(old, rows=120))
    with pytest.raises(ModelFileError, match="180 ids of the old tokenizer are beyond the 120 rows"):
        plan_adaptation(folder, new)


def test_arguments(old, new, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    with pytest.raises(ValueError, match="rows is one of 'mean', 'average', 'normal', not 'men'"):
        plan_adaptation(folder, new, rows="men")
    with pytest.raises(TypeError, match="pad_to"):
        adapt_model(folder, new, tmp_path / "new", pad_to=5)
    plan = plan_adaptation(folder, new)
    with pytest.raises(TypeError, match="a plan has its tokenizer"):
        adapt_model(plan, new, tmp_path / "new")
    with pytest.raises(TypeError, match="needs the new tokenizer"):
        adapt_model(folder, None, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_tokenizer_that_its_file_can_not_hold(old, tmp_path):
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"ba"}
    ids = {token: token_id for token_id, token in tokens.items()}
    alphabet = {token: token_id for token, token_id in ids.items() if len(token) == 1}
    tied = BPEModel(tokens, RankMerges(tokens, ids, dict.fromkeys(tokens, 0)), alphabet)
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    with pytest.raises(ConversionError, match="'ab' and 'ba' have the same score"):
        plan_adaptation(folder, BPETokenizer(tied, pattern="gpt2"))


def test_where_it_may_not_go(old, new, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(folder)
    for out, message in (
        (folder, "in the model's own folder"),
        (folder / "in", "in the model's own folder"),
        (tmp_path / "link" / "in", "in the model's own folder"),
        (tmp_path / "file", "exists already"),
        (tmp_path / "full", "exists already"),
        (tmp_path / "file" / "in", "can't be written"),
    ):
        with pytest.raises(ModelFileError, match=re.escape(str(out)) + f".*{message}"):
            adapt_model(folder, new, out)
    (tmp_path / "empty").mkdir()
    adapt_model(folder, new, tmp_path / "empty")
    assert changed_files(tmp_path / "empty") == []
    assert {path.name for path in tmp_path.iterdir()} == {"old", "file", "full", "link", "empty"}


# -- files that are damaged, or made to harm ---------------------------------------------------------------------------


def damaged(folder: Path, old: BPETokenizer) -> dict[str, tuple]:
    """What is done to a model in three parts -> what the error says."""
    index = folder / "model.safetensors.index.json"
    first = folder / "model-00001-of-00003.safetensors"

    def edit(change) -> None:
        data = json.loads(index.read_text())
        change(data["weight_map"])
        index.write_text(json.dumps(data))

    def shape() -> None:
        save(first, {"model.embed_tokens.weight": matrix(old, 17), "model.layers.0.mlp.up_proj.weight": matrix(old, 5)})

    return {
        "a shard missing": ((folder / "model-00002-of-00003.safetensors").unlink, "model-00002-of-00003"),
        "cut off": (lambda: first.write_bytes(first.read_bytes()[:-10]), "truncated"),
        "cut off early": (lambda: first.write_bytes(first.read_bytes()[:20]), "truncated or damaged"),
        "empty": (lambda: first.write_bytes(b""), "has no header"),
        "a huge header": (lambda: first.write_bytes(b"\xff" * 7 + b"\x7f" + b"{}"), "says that its header has"),
        "an index that leads away": (
            lambda: edit(lambda m: m.update({"lm_head.weight": "../../etc/passwd"})), "which is missing"),
        "an index that is wrong": (
            lambda: edit(lambda m: m.update({"lm_head.weight": "model-00001-of-00003.safetensors"})), "says that"),
        "a tensor too many in the index": (
            lambda: edit(lambda m: m.update({"x": "model-00001-of-00003.safetensors"})), "nowhere"),
        "a wrong shape": (shape, "17"),
        "no configuration": ((folder / "config.json").unlink, "config.json"),
        "a configuration that is none": (lambda: (folder / "config.json").write_text("[1]"), "is not a JSON object"),
        "a configuration without bottom": (
            lambda: (folder / "config.json").write_text('{"a":' * 900 + "1" + "}" * 900), "no vocab_size|too deeply"),
        "a configuration of odd values": (
            lambda: (folder / "config.json").write_text('{"vocab_size": "many", "text_config": [1]}'), "text_config"),
        "no tokenizer": ((folder / "tokenizer.json").unlink, "tokenizer"),
    }  # fmt: skip


@pytest.mark.parametrize("name", damaged(Path("x"), BPETokenizer.train("abab" * 50, 257)))
def test_damaged(old, new, name, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old, bias=True), shards=3)
    harm, message = damaged(folder, old)[name]
    harm()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ModelFileError, match=message):
        adapt_model(folder, new, tmp_path / "new")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_the_same_tensor_in_two_parts(old, new, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old), shards=2)
    parts = sorted(folder.glob("*.safetensors"))
    save(parts[1], {"model.embed_tokens.weight": matrix(old)})
    with pytest.raises(ModelFileError, match=r"is in .*00001.* and in .*00002"):
        adapt_model(folder, new, tmp_path / "new")


def test_changed_at_random(old, new, tmp_path):
    """Any byte of a header changed: an error of the family, or a model that is whole; never a crash."""
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    path, random = folder / "model.safetensors", np.random.default_rng(5)
    good, refused = path.read_bytes(), 0
    length = 8 + int.from_bytes(good[:8], "little")
    for number in range(amount(60, 3_000)):
        data = bytearray(good)
        for _ in range(int(random.integers(1, 4))):
            data[int(random.integers(length))] = int(random.integers(256))
        path.write_bytes(data)
        out = tmp_path / f"new{number}"
        try:
            adapt_model(folder, new, out)
        except ModelFileError:
            refused += 1
            assert not out.exists()
    assert refused > amount(60, 3_000) // 2


def test_what_became_shorter_meanwhile(old, new, tmp_path):
    folder = write_model(tmp_path / "old", old, tensors_of(old))
    plan = plan_adaptation(folder, new)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:2_000])
    with pytest.raises(ModelFileError, match="became shorter while it was read"):
        adapt_model(plan, None, tmp_path / "new")
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("step", ["_write_weights", "_write_others", "_verify", "card"])
def test_nothing_is_left_by_a_failure(old, new, tmp_path, monkeypatch, step, error):
    from bpelab.adapt import folder as module

    folder = write_model(tmp_path / "old", old, tensors_of(old))

    def fail(*arguments):
        raise error

    monkeypatch.setattr(module, step, fail)
    wanted = ModelFileError if isinstance(error, OSError) else type(error)
    with pytest.raises(wanted):
        adapt_model(folder, new, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_disk_without_room_is_said_before(old, new, tmp_path, monkeypatch):
    from bpelab.adapt import folder as module

    folder = write_model(tmp_path / "old", old, tensors_of(old))
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: type("", (), {"free": 100}))
    with pytest.raises(ModelFileError, match=r"No space left on device: .* bytes are needed, 100 are free"):
        adapt_model(folder, new, tmp_path / "new")
