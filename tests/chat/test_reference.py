"""The reference backend against a slow twin, its cache against none, and the models that it refuses."""

import json
import math
import random
import re
import threading
import time
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bpelab._support.install import install_command
from bpelab.chat import backends
from bpelab.chat.backends import base, close_backends, open_backend, reference
from bpelab.chat.models.find import find_model
from bpelab.errors import BackendError, ConversationError, ModelFileError

from ..conftest import amount
from .tiny import tiny_tokenizer, write_gguf, write_tiny_llama


@pytest.fixture(autouse=True)
def closed():
    yield
    close_backends()


@lru_cache(None)
def folder_of(base_temp, **options):
    return write_tiny_llama(base_temp / f"llama-{len(list(base_temp.glob('llama-*')))}", **options)


@pytest.fixture
def llama(tmp_path_factory):
    """A function: the folder of a tiny Llama with these options, made once."""
    return lambda **options: folder_of(tmp_path_factory.getbasetemp(), **options)


# -- the slow twin -----------------------------------------------------------------------------------------------------


def twin(folder, ids):
    """Logits behind each id, by loops over positions and heads with sums in float64, without any cache."""
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    weights = {name: array.astype(np.float64) for name, array in load_file(folder / "model.safetensors").items()}
    heads, shared = config["num_attention_heads"], config["num_attention_heads"] // config["num_key_value_heads"]
    size = config["head_dim"]

    def norm(vector, name):
        return vector / math.sqrt(sum(vector**2) / len(vector) + config["rms_norm_eps"]) * weights[f"{name}.weight"]

    def turned(vector, position):
        out = []
        for i in range(size // 2):
            angle = position / config["rope_theta"] ** (2 * i / size)
            point = complex(vector[i], vector[i + size // 2]) * complex(math.cos(angle), math.sin(angle))
            out.append(point)
        return np.array([point.real for point in out] + [point.imag for point in out])

    states = [weights["model.embed_tokens.weight"][token] for token in ids]
    for number in range(config["num_hidden_layers"]):
        layer = f"model.layers.{number}."

        def by(what, vector, layer=layer):
            return weights[f"{layer}{what}_proj.weight"] @ vector

        inputs = [norm(state, layer + "input_layernorm") for state in states]
        for position in reversed(range(len(ids))):
            said = []
            for head in range(heads):
                mine, theirs = slice(head * size, (head + 1) * size), slice(head // shared * size, None)
                query = turned(by("self_attn.q", inputs[position])[mine], position)
                scores = [
                    query @ turned(by("self_attn.k", inputs[p])[theirs][:size], p) / math.sqrt(size)
                    for p in range(position + 1)
                ]
                weigh = [math.exp(score - max(scores)) for score in scores]
                values = [by("self_attn.v", inputs[p])[theirs][:size] for p in range(position + 1)]
                said.append(sum(w * value for w, value in zip(weigh, values)) / sum(weigh))
            state = states[position] + by("self_attn.o", np.concatenate(said))
            inner = norm(state, layer + "post_attention_layernorm")
            gate = by("mlp.gate", inner)
            states[position] = state + by("mlp.down", gate / (1 + np.exp(-gate)) * by("mlp.up", inner))
    head = weights["model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"]
    return [head @ norm(state, "model.norm") for state in states]


CONFIGURATIONS = [
    {},
    {"heads": 4, "kv_heads": 2, "tied": False, "seed": 1},
    {"heads": 4, "kv_heads": 1, "hidden": 40, "head_dim": 6, "layers": 3, "rope_theta": 500.0, "seed": 2},
    {"heads": 3, "kv_heads": 3, "hidden": 36, "intermediate": 31, "layers": 1, "dtype": "float32", "seed": 3},
]


def near(one, other, most=1e-4):
    return float(np.abs(one - other).max()) <= most * float(np.abs(other).max())


@pytest.mark.parametrize("options", CONFIGURATIONS)
def test_logits_are_the_slow_twins(llama, options):
    folder = llama(**options)
    rng = random.Random(1)
    ids = [rng.randrange(320) for _ in range(14)]
    expected = twin(folder, ids)
    for path in (folder, folder / "model.gguf"):
        backend = open_backend("reference", find_model(path))
        for end in range(1, len(ids) + 1):  # token by token
            logits = backend.next_logits(ids[:end])
            assert (logits.dtype, logits.shape) == (np.float32, (320,))
            assert near(logits, expected[end - 1])
        backend.next_logits([0])  # and all at once
        assert near(backend.next_logits(ids), expected[-1])
        assert backend.reused == 0


def test_both_forms_hold_the_same_model(llama):
    for options in CONFIGURATIONS:
        folder = llama(**options)
        one, other = (open_backend("reference", find_model(path)) for path in (folder, folder / "model.gguf"))
        ids = list(range(50))
        assert np.array_equal(one.next_logits(ids), other.next_logits(ids))


def test_what_is_said_of_a_backend(llama):
    backend = open_backend("reference", find_model(llama(heads=4, kv_heads=2, tied=False, seed=1)))
    assert (backend.name, backend.device, backend.context, backend.vocab_size) == ("reference", "CPU", 256, 320)
    assert backend.kv_bytes == 2 * 2 * 2 * 16 * 4  # layers, keys and values, heads, numbers, bytes
    assert backend.native_encode("a") is None


# -- the cache ---------------------------------------------------------------------------------------------------------


@settings(max_examples=amount(40, 2_000))
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=6), st.integers(1, 7))
def test_a_shared_prefix_changes_nothing(tmp_path_factory, rows, chunk):
    """Whatever was asked before, whatever is shared, in chunks of any size: the logits are those of a fresh model."""
    files = find_model(folder_of(tmp_path_factory.getbasetemp(), **CONFIGURATIONS[1]))
    used = reference.open(files, context=64, gpu_layers=None, device=None, threads=None)
    before, held = base.CHUNK, []
    base.CHUNK = chunk
    try:
        for row in rows:
            logits = used.next_logits(row)
            shared = next((i for i, (old, new) in enumerate(zip(held, row)) if old != new), min(len(held), len(row)))
            assert used.reused == min(shared, len(row) - 1)
            fresh = reference.open(files, context=64, gpu_layers=None, device=None, threads=None)
            assert near(logits, fresh.next_logits(row), 1e-5)
            held = row
    finally:
        base.CHUNK = before


def test_the_whole_context_and_no_more(llama):
    backend = open_backend("reference", find_model(llama()), n_ctx=20)
    assert near(backend.next_logits([1] * 20), twin(llama(), [1] * 20)[-1])
    with pytest.raises(ConversationError, match="21 ids don't fit into the context of 20"):
        backend.next_logits([1] * 21)
    assert near(backend.next_logits([1, 2]), twin(llama(), [1, 2])[-1])


@pytest.mark.parametrize("ids", [[], [320], [-1], [1, 2, 10**12]])
def test_ids_that_are_none(llama, ids):
    backend = open_backend("reference", find_model(llama()))
    with pytest.raises(ConversationError, match=r"no ids|320 tokens"):
        backend.next_logits(ids)


def test_cancelled_between_chunks(llama):
    backend = open_backend("reference", find_model(llama(context=2_048)))
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) > 2

    ids = list(range(256)) * 4
    with pytest.raises(base.Cancelled):
        backend.next_logits(ids, cancelled)
    assert len(asked) == 3
    expected = reference.open(find_model(llama(context=2_048)), context=2_048, gpu_layers=0, device="cpu", threads=1)
    assert near(backend.next_logits(ids), expected.next_logits(ids))
    assert backend.reused == 0


def test_an_error_in_the_middle_leaves_a_usable_model(llama, monkeypatch):
    backend = open_backend("reference", find_model(llama()))
    first = backend.next_logits([1, 2, 3])
    monkeypatch.setattr(reference, "feed_forward", lambda *_: (_ for _ in ()).throw(MemoryError("no memory")))
    with pytest.raises(BackendError, match="memory"):
        backend.next_logits([1, 2, 3, 4])
    monkeypatch.undo()
    assert np.array_equal(backend.next_logits([1, 2, 3]), first)


# -- opened and kept ---------------------------------------------------------------------------------------------------


def test_the_two_used_last_are_kept(llama):
    one, two, three = (find_model(llama(**options)) for options in CONFIGURATIONS[:3])
    first, second = open_backend("reference", one), open_backend("reference", two)
    assert open_backend("reference", one) is first
    third = open_backend("reference", three)  # the second was used longest ago
    assert open_backend("reference", one) is first
    with pytest.raises(BackendError, match="open it again"):
        second.next_logits([1])
    assert open_backend("reference", two) is not second
    with pytest.raises(BackendError, match="open it again"):
        third.next_logits([1])
    close_backends()
    with pytest.raises(BackendError, match="open it again"):
        first.next_logits([1])


def test_other_options_and_other_files_are_other_models(llama, tmp_path):
    files = find_model(llama())
    first = open_backend("reference", files, n_ctx=30)
    assert open_backend("reference", files, n_ctx=31) is not first
    assert open_backend("reference", files, n_ctx=30) is first
    with first:
        pass
    assert open_backend("reference", files, n_ctx=30) is not first  # the user closed it
    write_tiny_llama(tmp_path, seed=1)
    old = open_backend("reference", find_model(tmp_path))
    write_tiny_llama(tmp_path, seed=2, hidden=32)
    assert open_backend("reference", find_model(tmp_path)) is not old


def test_threads_open_a_model_once(llama, monkeypatch):
    files, opened, loaded = find_model(llama()), [], []
    load = reference.open

    def slowly(*given, **options):
        loaded.append(1)
        time.sleep(0.05)
        return load(*given, **options)

    monkeypatch.setattr(reference, "open", slowly)
    ready = threading.Barrier(8)

    def work():
        ready.wait()
        opened.append(open_backend("reference", files))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(opened), len(set(map(id, opened))), len(loaded)) == (8, 1, 1)


def test_threads_share_a_model(llama):
    """Each gets the answers to its own rows, whatever the others ask meanwhile."""
    backend, wrong = open_backend("reference", find_model(llama())), []
    rows = [[number] * 9 for number in range(4)]
    expected = [backend.next_logits(row) for row in rows]

    def work(number):
        for _ in range(30):
            for end in (5, 9):
                logits = backend.next_logits(rows[number][:end])
                if end == 9 and not near(logits, expected[number]):
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_context_that_is_asked_for(llama):
    files = find_model(llama())
    assert open_backend("reference", files).context == 256
    assert open_backend("reference", find_model(llama(context=100_000))).context == 4_096
    assert open_backend("reference", find_model(llama(context=100_000)), n_ctx=5_000).context == 5_000
    with pytest.raises(BackendError, match="made for 256 ids"):
        open_backend("reference", files, n_ctx=257)
    for wrong in ({"n_ctx": 0}, {"n_ctx": 2.0}, {"n_ctx": True}, {"threads": 0}, {"n_gpu_layers": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} is a whole number"):
            open_backend("reference", files, **wrong)
    with pytest.raises(BackendError, match="no backend 'refrence'; choose one of mlx"):
        open_backend("refrence", files)
    with pytest.raises(BackendError, match="runs only on the CPU"):
        open_backend("reference", files, device="cuda")


def test_too_little_memory(llama, monkeypatch):
    monkeypatch.setattr("bpelab.chat.backends.errors.free_memory", lambda: 1_000)
    with pytest.raises(BackendError, match="Use a smaller model"):
        open_backend("reference", find_model(llama()))


def test_files_that_vanish(tmp_path):
    files = find_model(write_tiny_llama(tmp_path))
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ModelFileError, match="can no longer be read"):
        open_backend("reference", files)


# -- other files of Llamas ---------------------------------------------------------------------------------------------


def changed(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in (config | changes).items() if value is not ...}))
    return find_model(folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "gpt2"}, "'gpt2'"),
        ({"model_type": ...}, "llama|unknown"),
        ({"attention_bias": True}, "attention_bias"),
        ({"sliding_window": 8, "model_type": "mistral"}, "sliding_window"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "linear"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 2.0}}, "yarn"),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 2.0}}, "low_freq_factor"),
        ({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}, "partial"),
        ({"rope_scaling": [1]}, "RoPE parameters must be an object, not a list"),
        ({"quantization": {"bits": 4}}, "quantization is an object"),
        ({"num_local_experts": 8}, "num_local_experts is 8"),
        ({"rope_theta": -1.0}, "rope_theta must be a number above 0, not -1.0"),
        ({"rms_norm_eps": "small"}, "rms_norm_eps must be a number above 0, not 'small'"),
        ({"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 5}, "heads have an odd size"),
        ({"num_hidden_layers": 3}, r"tiny: its tensor model\.layers\.2\.\S+ is missing"),
        ({"hidden_size": 32}, "has the shape"),
        ({"intermediate_size": 127}, "has the shape"),
        ({"head_dim": 16}, "has the shape"),
        ({"tie_word_embeddings": False}, "lm_head.weight is missing"),
        ({"hidden_size": ...}, "hidden_size must be .*, not nothing"),
    ],
)
def test_models_that_are_refused(tmp_path, changes, said):
    folder = write_tiny_llama(tmp_path / "tiny", gguf=False)
    with pytest.raises(ModelFileError, match=said):
        open_backend("reference", changed(folder, **changes))


def test_the_refusal_names_who_can(tmp_path):
    write_tiny_llama(tmp_path)
    with pytest.raises(ModelFileError, match=r"'gpt2'.*Backends for it: .*llama_cpp"):
        open_backend("reference", changed(tmp_path, model_type="gpt2"))


def test_tensors_that_are_not_known(tmp_path):
    from safetensors.numpy import load_file, save_file

    write_tiny_llama(tmp_path, gguf=False)
    arrays = load_file(tmp_path / "model.safetensors")
    strange = {"model.layers.0.self_attn.q_norm.weight": np.ones(32, np.float32)}
    save_file(arrays | strange, tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match=r"doesn't know its tensor .*q_norm\.weight"):
        open_backend("reference", find_model(tmp_path))
    old = {"model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(16, np.float32)}  # in checkpoints of 2023
    save_file(arrays | old, tmp_path / "model.safetensors")
    open_backend("reference", find_model(tmp_path))
    numbers = {"model.norm.weight": arrays["model.norm.weight"].astype(np.float64)}
    save_file(arrays | numbers, tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match="is F64; the reference backend supports F32"):
        open_backend("reference", find_model(tmp_path))


def test_bfloat16(tmp_path):
    """The upper halves of float32, written by hand: NumPy has no such type."""
    folder = write_tiny_llama(tmp_path, gguf=False, dtype="float32")
    data = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    numbers = np.frombuffer(data[8 + length :], np.uint32)
    halves = (numbers >> 16).astype(np.uint16)
    for name, entry in header.items():
        if name != "__metadata__":
            header[name] = entry | {"dtype": "BF16", "data_offsets": [end // 2 for end in entry["data_offsets"]]}
    written = json.dumps(header).encode()
    short = len(written).to_bytes(8, "little") + written + halves.tobytes()
    logits = {}
    for kind, content in {
        "bfloat16": short,
        "float32": data[: 8 + length] + ((numbers >> 16) << 16).astype(np.uint32).tobytes(),
    }.items():
        (folder / "model.safetensors").write_bytes(content)
        logits[kind] = open_backend("reference", find_model(folder)).next_logits([1, 2, 3])
    assert np.array_equal(logits["bfloat16"], logits["float32"])


def test_a_gguf_that_is_quantized(tmp_path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    sizes = {"embedding_length": 32, "feed_forward_length": 32, "block_count": 1, "attention.head_count": 2}
    for key, value in sizes.items():
        writer.add_uint32(f"llama.{key}", value)
    raw = gguf.quants.quantize(np.ones((64, 32), np.float32), gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("token_embd.weight", raw, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelFileError, match=r"is Q8_0; the reference backend supports .*Backends for it: llama_cpp"):
        open_backend("reference", find_model(tmp_path / "m.gguf"))


LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64, "rope_theta": 10_000.0,
}  # fmt: skip


def test_rope_of_llama_3_1(tmp_path):
    """In config.json by its parameters, in GGUF by factors as llama.cpp's converter computes them."""
    from safetensors.numpy import load_file

    folder = write_tiny_llama(tmp_path, gguf=False)
    arrays = load_file(folder / "model.safetensors")
    weights = {name: array.astype(np.float32) for name, array in arrays.items()}
    factors = []
    for i in range(0, 32, 2):  # convert_hf_to_gguf.py, LlamaModel.generate_extra_tensors
        wavelength = 2 * math.pi * 10_000.0 ** (i / 32)
        if wavelength < 64 / 4:
            factors.append(1.0)
        elif wavelength > 64 / 1:
            factors.append(8.0)
        else:
            smooth = (64 / wavelength - 1) / (4 - 1)
            factors.append(1 / ((1 - smooth) / 8 + smooth))
    assert {1.0, 8.0} < set(factors)
    weights["rope_freqs.weight"] = np.array(factors, np.float32)
    config = json.loads((folder / "config.json").read_text())
    write_gguf(folder / "model.gguf", config, weights, tiny_tokenizer())
    ids = list(range(100))
    plain = open_backend("reference", find_model(folder)).next_logits(ids)
    scaled = open_backend("reference", changed(folder, rope_parameters=LLAMA3)).next_logits(ids)
    other = open_backend("reference", find_model(folder / "model.gguf")).next_logits(ids)
    assert near(scaled, other)
    assert not near(scaled, plain, 1e-2)


def test_broken_weights_say_so(tmp_path):
    from safetensors.numpy import load_file, save_file

    from bpelab.chat.generation import generate

    folder = write_tiny_llama(tmp_path, gguf=False)
    arrays = load_file(folder / "model.safetensors")
    arrays["model.norm.weight"][:] = np.nan
    save_file(arrays, folder / "model.safetensors")
    with pytest.raises(BackendError, match="weights are damaged"):
        next(generate(open_backend("reference", find_model(folder)), [1], max_new_tokens=1))


def test_numpy_that_is_not_installed(llama, monkeypatch):
    from bpelab.errors import MissingDependencyError

    def missing(name, package=None):
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(backends, "import_module", missing)
    with pytest.raises(MissingDependencyError, match=re.escape(f"numpy is not installed: {install_command('chat')}")):
        open_backend("reference", find_model(llama()))
