"""What can't be loaded or run: a sentence that says what to do, and the process goes on, also where an engine of C++
would have ended it."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bpelab._support.cache_dir import cache_dir
from bpelab._support.install import install_command
from bpelab.chat.backends import BACKENDS, close_backends, open_backend
from bpelab.chat.models.find import find_model
from bpelab.errors import BackendError, MissingDependencyError, ModelFileError

from ..chat.tiny import write_tiny_llama
from ..conftest import ROOT
from .conftest import need
from .engines import ENGINES, PACKAGES, greedy, open_engine

HUGGING_FACE = ("mlx", "openvino", "transformers")


@pytest.fixture
def files(tmp_path):
    return find_model(write_tiny_llama(tmp_path / "llama"))


def changed(files, **settings):
    """The model with other settings in config.json, which its weights don't fit."""
    path = files.folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return find_model(files.folder)


def refusal(name, files, **options):
    with pytest.raises((ModelFileError, BackendError)) as caught:
        open_engine(name, files, **options)
    return caught.value


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:10], lambda data: data[:3_000], lambda data: data[:-1_000], lambda data: b"PK" + data[2:]],
    ids=["header", "vocabulary", "weights", "magic"],
)
def test_a_damaged_gguf(files, damage, capfd):
    """As llama.cpp itself sees it: `find_model` would have refused it before."""
    path = files.folder / "damaged.gguf"
    path.write_bytes(damage(files.gguf.read_bytes()))
    error = refusal("llama_cpp", replace(files, gguf=path))
    assert isinstance(error, ModelFileError) and "download it again" in str(error)
    assert capfd.readouterr() == ("", "")
    with open_engine("llama_cpp", files, context=64) as backend:
        assert len(greedy(backend, [1], 3)) == 3


def test_an_architecture_that_llama_cpp_does_not_know(files):
    path = files.folder / "other.gguf"
    path.write_bytes(files.gguf.read_bytes().replace(b"llama", b"lmaal"))
    assert "unknown model architecture: 'lmaal'" in str(refusal("llama_cpp", replace(files, gguf=path)))


@pytest.mark.parametrize("name", HUGGING_FACE)
def test_an_architecture_that_it_does_not_know(files, name):
    error = refusal(name, changed(files, model_type="unheard_of", architectures=["UnheardOf"]))
    assert isinstance(error, ModelFileError)
    assert "unheard_of" in str(error) and "another backend" in str(error)
    assert not list(Path(cache_dir(), "openvino").glob(".*"))  # nothing half converted


@pytest.mark.parametrize("name", HUGGING_FACE)
def test_weights_that_are_missing(files, name):
    """transformers would put random numbers there, with a warning, and so would what is built on it."""
    error = refusal(name, changed(files, num_hidden_layers=3))
    assert isinstance(error, ModelFileError) and "download it again" in str(error)
    assert "missing" in str(error).lower()


@pytest.mark.parametrize("name", HUGGING_FACE)
def test_a_form_that_it_can_not_run(files, name):
    alone = find_model(files.gguf)
    with pytest.raises(ModelFileError, match=r"safetensors.*llama_cpp"):
        open_backend(name, alone)
    with pytest.raises(ModelFileError, match="safetensors"):
        open_engine(name, alone)


def test_no_code_of_the_model_runs(files):
    """mlx-lm would run a file that config.json names."""
    (files.folder / "evil.py").write_text(f"open({str(files.folder / 'ran')!r}, 'w')")
    bad = changed(files, model_file="evil.py", auto_map={"AutoModelForCausalLM": "evil.Model"})
    assert "bpelab never runs a model's code" in str(refusal("mlx", bad))
    open_engine("transformers", bad).close()
    assert not (files.folder / "ran").exists()


@pytest.mark.parametrize("name", BACKENDS)
def test_a_device_that_is_not_here(files, name):
    error = refusal(name, files, gpu_layers=None, device="abacus")
    assert isinstance(error, BackendError) and "cpu" in str(error).lower()


def test_a_gpu_that_llama_cpp_was_not_built_for(files):
    if need("llama_cpp").llama_supports_gpu_offload():
        pytest.skip("it was built for one")
    for options in ({"gpu_layers": 7}, {"device": "gpu", "gpu_layers": None}):
        assert "bpelab doctor" in str(refusal("llama_cpp", files, **options))


@pytest.mark.parametrize("name", ENGINES)
def test_a_package_that_is_missing(files, name, monkeypatch):
    extra = "llama" if name == "llama_cpp" else name
    for package in PACKAGES[name]:
        need(package)
    package = PACKAGES[name][0]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, package, None)  # what Python itself notes of a module that isn't there
        with pytest.raises(MissingDependencyError) as caught:
            open_backend(name, files)
        assert package in str(caught.value) and install_command(extra) in str(caught.value)
    if name != "openvino":  # whose conversion is no part of this
        assert len(greedy(open_backend(name, files), [1], 3)) == 3
        close_backends()


def test_a_converter_that_is_missing(files, tmp_path, monkeypatch):
    """Another `optimum` stands first where the converting process looks."""
    need("openvino")
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "optimum.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "first"))
    with pytest.raises(
        MissingDependencyError, match="optimum.* is not installed: " + re.escape(install_command("openvino"))
    ):
        open_engine("openvino", files)
    assert not list(Path(cache_dir(), "openvino").glob(".*"))


@pytest.mark.parametrize("name", BACKENDS)
def test_a_context_for_which_there_is_no_memory(files, name):
    """llama.cpp would take it and be ended by the system."""
    error = refusal(name, files, context=1_000_000_000)
    assert isinstance(error, BackendError)
    assert "smaller context" in str(error)
    assert "GB" in str(error)


MEMORY = """
import resource, sys
from bpelab.chat.models.find import find_model
from tests.backends.engines import open_engine
name, small, large = sys.argv[1:]
small, large = find_model(small), find_model(large)
open_engine(name, small, context=64).close()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for limit in (60 << 20, 250 << 20):
    resource.setrlimit(resource.RLIMIT_AS, (taken + limit, -1))
    try:
        open_engine(name, large)
    except Exception as error:
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        print(type(error).__name__, error)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
backend = open_engine(name, large, context=64)
print(len(backend.next_logits([1, 2])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process has a limit of memory, and says what it took, on Linux")
@pytest.mark.parametrize("name", ["llama_cpp", "mlx", "transformers", "reference"])
def test_a_process_that_may_not_take_enough(files, name, tmp_path):
    """For real: 34 MB of weights in float16, and 60 or 250 MB that may be taken. llama.cpp and MLX end a process that
    reaches its limit while they compute, so they aren't begun."""
    for package in PACKAGES[name]:
        need(package)
    large = write_tiny_llama(tmp_path / "large", hidden=512, layers=4, intermediate=2048, heads=8, kv_heads=8)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, name, files.folder, large],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 3 and lines[-1] == "320"
    for line in lines[:2]:
        assert line.startswith("BackendError") and "memory" in line and "smaller context" in line
