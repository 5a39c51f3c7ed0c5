"""The script that makes the shipped chat model: a few steps of it, from the text to the card."""

import json
import subprocess
import sys

from bpelab import BPETokenizer

from .conftest import need


def test_the_script_makes_every_file(tmp_path):
    for package in ("torch", "transformers", "safetensors", "gguf"):
        need(package)
    command = [sys.executable, "-m", "tools.make_tiny_chat", "--folder", str(tmp_path / "model")]
    few = ["--conversations", "200", "--epochs", "2", "--questions", "3"]
    done = subprocess.run([*command, *few], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    files = {path.name for path in (tmp_path / "model").iterdir()}
    assert files == {
        "README.md", "chat_template.jinja", "config.json", "generation_config.json", "model.gguf", "model.safetensors",
        "scores.json", "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    assert json.loads((tmp_path / "model" / "scores.json").read_text("utf-8"))["total"]["questions"] == 3
    hello = "Hello, tokens!"
    tokenizer = BPETokenizer.from_pretrained(tmp_path / "model")
    assert BPETokenizer.from_pretrained(tmp_path / "model" / "model.gguf").encode(hello) == tokenizer.encode(hello)
