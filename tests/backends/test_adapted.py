"""Adapted models in llama.cpp and in transformers: the new tokenizer's ids, the old model's logits and answers.

The whole road: a model, its tokenizer extended, its folder adapted, a GGUF file made of it in both ways, and asked.
"""

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from bpelab import BPETokenizer
from bpelab.adapt import adapt_model, write_gguf
from bpelab.chat.models.find import SHIPPED, find_model
from bpelab.editing import extend
from bpelab.notebook import book_text

from ..chat.tiny import tiny_tokenizer, write_tiny_llama
from ..conftest import amount, encoding
from .conftest import NO_SOURCES, llama_cpp_sources, need
from .engines import CLOSE, differences, greedy, open_engine

QUESTIONS = (
    "What is a token?", "What is a merge?", "Spell the word harbour.", "How many bytes are in the word tide?",
    "Hello!", "Who are you?", "Is a token a word?", "naïve café, 日本 and 😀",
)  # fmt: skip
NUMBER = 40


def prompts(tokenizer: BPETokenizer) -> list[list[int]]:
    messages = [[{"role": "user", "content": question}] for question in QUESTIONS]
    return [tokenizer.apply_chat_template(each, add_generation_prompt=True) for each in messages]


@pytest.fixture(scope="module")
def extended() -> BPETokenizer:
    """The shipped model's tokenizer, extended by 200 tokens."""
    return extend(BPETokenizer.from_pretrained(SHIPPED), book_text()[:60_000], 200)


@pytest.fixture(scope="module")
def adapted(extended, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapted") / "tiny"
    adapt_model(SHIPPED, extended, folder, pad_to_multiple_of=64)
    write_gguf(folder, folder.parent / "alone.gguf", dtype="F32")
    write_gguf(folder, folder.parent / "like.gguf", like=SHIPPED / "model.gguf")
    return folder


@pytest.fixture(scope="module")
def reference(adapted):
    with open_engine("reference", find_model(adapted)) as backend:
        yield backend


@pytest.mark.parametrize("file", ["alone.gguf", "like.gguf"])
def test_llama_cpp_has_the_ids_and_the_answers(adapted, extended, reference, file):
    with open_engine("llama_cpp", find_model(adapted.parent / file)) as engine:
        texts = [book_text()[at : at + 300] for at in range(60_000, 60_000 + 300 * amount(40, 400), 300)]
        texts += [*QUESTIONS, "<|im_end|>", "  two  spaces", "\n\n\n", "1234567"]
        for text in texts:
            assert engine.native_encode(text) == extended.encode(text, allowed_special="all"), text
        for number, prompt in enumerate(prompts(extended)):
            list(differences(engine, reference, number, prompt, greedy(reference, prompt, NUMBER)))


def test_transformers_opens_the_folder(adapted, extended, reference):
    transformers = need("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(adapted)
    text = book_text()[60_000:80_000]
    assert theirs(text, add_special_tokens=False)["input_ids"] == extended.encode(text)
    with open_engine("transformers", find_model(adapted)) as engine:
        for number, prompt in enumerate(prompts(extended)):
            list(differences(engine, reference, number, prompt, greedy(reference, prompt, NUMBER)))


@pytest.mark.parametrize("seed", range(amount(3, 30)))
@pytest.mark.parametrize("name", ["llama_cpp", "transformers"])
def test_prompts_of_old_tokens_are_answered_as_before(name, seed, tmp_path):
    """Where rows were only appended, in float32: logits of old tokens, up to the order of sums, and greedy answers."""
    folder = write_tiny_llama(tmp_path / "old", seed=seed, dtype="float32", tied=seed % 2 == 0)
    old = tiny_tokenizer()
    adapt_model(folder, extend(old, book_text()[:20_000], 30), tmp_path / "new")
    write_gguf(tmp_path / "new", tmp_path / "new.gguf")
    is_gguf = name == "llama_cpp"
    paths = (folder / "model.gguf", tmp_path / "new.gguf") if is_gguf else (folder, tmp_path / "new")
    with open_engine(name, find_model(paths[0])) as before, open_engine(name, find_model(paths[1])) as after:
        random = np.random.default_rng(seed)
        for number in range(4):
            prompt = random.integers(0, old.n_vocab, 20).tolist()
            one, other = before.next_logits(prompt), after.next_logits(prompt)
            assert np.abs(one - other[: len(one)]).max() < CLOSE and other[len(one) :].max() <= one.max() + CLOSE
            list(differences(after, before, number, prompt, greedy(before, prompt, NUMBER)))


# -- llama.cpp's own converter -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def convert(tmp_path_factory):
    """Run llama.cpp's converter on a folder: what it says where it fails, else ""."""
    for package in ("torch", "transformers", "gguf"):
        need(package)
    if (sources := llama_cpp_sources()) is None:
        pytest.skip(NO_SOURCES)
    home = tmp_path_factory.mktemp("llama.cpp")
    with tarfile.open(sources) as packed:
        wanted = [
            it for it in packed.getmembers() if re.search(r"/llama\.cpp/(convert_hf_|conversion/|gguf-py/)", it.name)
        ]
        packed.extractall(home, wanted, filter="data")
    program = next(home.rglob("convert_hf_to_gguf.py"))

    def run(folder: Path, out: Path) -> str:
        words = [sys.executable, program, folder, "--outfile", out, "--outtype", "f32"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    return run


def test_another_architecture_by_the_converter_and_after_its_file(convert, tmp_path):
    """A GPT-2. The converter knows the tokenizer as long as no new token is in the text that it is known by."""
    torch, transformers = need("torch"), need("transformers")
    encoding("gpt2")
    old = BPETokenizer.from_tiktoken("gpt2").with_options(bos_token="<|endoftext|>")
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=128, n_ctx=128, initializer_range=0.3)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "old")
    old.save(tmp_path / "old")
    assert convert(tmp_path / "old", tmp_path / "old.gguf") == ""
    prompt = old.encode(book_text()[:200])[:30]
    for name, text, number in (("known", "quoxilarn zanthorpe " * 50, 4), ("unknown", book_text()[:50_000], 150)):
        new, folder = extend(old, text, number), tmp_path / name
        adapt_model(tmp_path / "old", new, folder)
        write_gguf(folder, tmp_path / f"{name}-like.gguf", like=tmp_path / "old.gguf")
        problem = convert(folder, tmp_path / f"{name}-converted.gguf")
        assert ("BPE pre-tokenizer was not recognized" in problem) == (name == "unknown"), problem
        with open_engine("transformers", find_model(folder), context=128) as engine:
            expected = greedy(engine, prompt, 30)
        for file in [f"{name}-like.gguf"] + [f"{name}-converted.gguf"] * (name == "known"):
            with open_engine("llama_cpp", find_model(tmp_path / file), context=128) as engine:
                for each in (text[:500], book_text()[60_000:62_000], "naïve 日本  x"):
                    assert engine.native_encode(each) == new.encode(each), (file, each)
                assert greedy(engine, prompt, 30) == expected, file
