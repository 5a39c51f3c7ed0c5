"""The record of *Chat on your hardware* about machines that nobody had: doctor says the same of them now."""

import importlib
import json

from ..conftest import ROOT

RECORD = json.loads((ROOT / "book" / "elsewhere_record.json").read_text("utf-8"))


def test_doctor_says_what_is_recorded(monkeypatch):
    monkeypatch.chdir(ROOT)  # the commands name the clone as it is seen from there
    monkeypatch.delenv("BPELAB_BACKEND", raising=False)
    monkeypatch.syspath_prepend(ROOT / "book")
    assert importlib.import_module("elsewhere_record").make_record() == RECORD


def test_each_machine_gets_the_engine_of_its_make():
    chosen = {name: [text.partition(":")[0] for text in each["choices"].values()] for name, each in RECORD.items()}
    assert chosen == {
        "CPU": ["llama_cpp", "openvino"],
        "NVIDIA": ["llama_cpp", "transformers"],
        "Apple": ["llama_cpp", "mlx"],
        "Intel": ["llama_cpp", "openvino"],
    }
    for each in RECORD.values():
        assert all(command in each["doctor"] for command in each["commands"].values())
