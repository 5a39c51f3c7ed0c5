"""The vocabularies that llama.cpp tests itself with, each beside texts and their ids (`.inp`, `.out`), from the source
package of llama-cpp-python. Every one that is byte-pair encoding opens and has its ids, or is refused for a reason.
"""

import tarfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from bpelab import BPETokenizer, TokenizerFileError

from .conftest import NO_SOURCES, llama_cpp_sources, need

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
    if (package := llama_cpp_sources()) is None:
        pytest.skip(NO_SOURCES)
    folder = tmp_path_factory.mktemp("llama.cpp")
    with tarfile.open(package) as archive:
        wanted = [member for member in archive.getmembers() if "/models/ggml-vocab-" in member.name]
        archive.extractall(folder, wanted, filter="data")
    return next(folder.glob("*/vendor/llama.cpp/models"))


def test_each_vocabulary(models):
    seen, wrong = set(), []
    for path in sorted(models.glob("ggml-vocab-*.gguf")):
        name = path.stem.removeprefix("ggml-vocab-")
        if name in REFUSED:
            with pytest.raises(TokenizerFileError, match=REFUSED[name]):
                BPETokenizer.from_pretrained(path)
            continue
        overlapping = pytest.warns(UserWarning, match="overlap in a text") if name == "falcon" else nullcontext()
        with overlapping:
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
