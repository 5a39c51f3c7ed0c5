"""The vocabularies that llama.cpp tests itself with, each beside texts and their ids (`.inp`, `.out`), from the source
package of llama-cpp-python. Every one that is byte-pair encoding opens and has its ids, or is refused for a reason.

BPELAB_LLAMA_CPP_MODELS names a folder that has them, `models` in llama.cpp's sources; without it pip fetches them.
"""

import os
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest

from bpelab import BPETokenizer, TokenizerFileError

from .conftest import need

need("llama_cpp")
BETWEEN = "\n__ggml_vocab_test__\n"
REFUSED = {
    "bert-bge": "is WordPiece",
    "nomic-bert-moe": "is Unigram",
    # written before files named their pattern: llama.cpp guesses one, and warns
    "aquila": "pre: is missing",
    "gpt-neox": "pre: is missing",
}
SEEN = {"gpt-2", "llama-bpe", "llama-spm", "phi-3", "deepseek-coder", "deepseek-llm", "gemma-4", "qwen2", "falcon"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    if named := os.environ.get("BPELAB_LLAMA_CPP_MODELS"):
        return Path(named)
    folder = tmp_path_factory.mktemp("llama.cpp")
    wanted = f"llama-cpp-python=={metadata.version('llama-cpp-python')}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", wanted]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"the source package of {wanted} can't be fetched: {done.stderr.strip()[-200:]}")
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        wanted_files = [member for member in archive.getmembers() if "/models/ggml-vocab-" in member.name]
        archive.extractall(folder, wanted_files, filter="data")
    return next(folder.glob("*/vendor/llama.cpp/models"))


def test_each_vocabulary(models):
    seen, wrong = set(), []
    for path in sorted(models.glob("ggml-vocab-*.gguf")):
        name = path.stem.removeprefix("ggml-vocab-")
        if name in REFUSED:
            with pytest.raises(TokenizerFileError, match=REFUSED[name]):
                BPETokenizer.from_pretrained(path)
            continue
        ours = BPETokenizer.from_pretrained(path)
        texts = Path(f"{path}.inp")
        if not texts.exists():
            continue
        lines = Path(f"{path}.out").read_text().splitlines()
        pairs = list(zip(texts.read_bytes().decode().split(BETWEEN), lines))
        assert len(pairs) > 40
        for text, line in pairs:
            if ours.encode(text, add_special_tokens=False) != list(map(int, line.split())):
                wrong.append((name, text))
        seen.add(name)
    assert not wrong
    assert seen >= SEEN
