"""The script that trains adapted models further: a few steps of it, from the text to the record."""

import json
import os
import subprocess
import sys

from ..conftest import ROOT
from .conftest import need


def test_the_script_writes_a_record(tmp_path):
    for package in ("torch", "transformers", "safetensors"):
        need(package)
    out = tmp_path / "record.json"
    few = ["--bytes", "9000", "--epochs", "1", "--every", "300", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1"}
    command = [sys.executable, str(ROOT / "book" / "new_words_record.py"), *few]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2_000:]
    record = json.loads(out.read_text("utf-8"))
    stored = json.loads((ROOT / "book" / "new_words_record.json").read_text("utf-8"))
    assert record.keys() == stored.keys()
    assert record["variants"].keys() == stored["variants"].keys()
    for name, run in record["variants"].items():
        assert run.keys() == stored["variants"][name].keys()
        assert run["curve"][-1]["bits"] < run["curve"][0]["bits"]
        assert run["after"]["answers"].keys() == stored["variants"][name]["after"]["answers"].keys()
