"""The library in JavaScript in a page and in a worker of Chromium, whose Unicode is another one than Python's."""

import random
import warnings

import pytest

from bpelab import BPETokenizer
from bpelab.data import FOLDER
from bpelab.notebook import book_text

from ..conftest import SHARED, boundary_characters, fuzz_text, shared, shared_text
from .chromium import page_of
from .javascript import conformance_texts, packed, rank_file, valid

WORKER = """import { Tokenizer } from "./bpelab.js";
onmessage = async ({ data: { name, texts } }) => {
  const bytes = new Uint8Array(await (await fetch(`/files/${name}`)).arrayBuffer());
  const tokenizer = await Tokenizer.fromFile(bytes, name);
  postMessage(texts.map((text) => [...tokenizer.encode(text)]));
};"""
IN_WORKER = """({ name, texts }) => new Promise((done, fail) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = (event) => fail(new Error(event.message));
  worker.postMessage({ name, texts });
})"""
DECODED = """async ({ name, lists }) => {
  const { Tokenizer } = await import("/bpelab.js");
  const tokenizer = await Tokenizer.fromFile(new Uint8Array(await (await fetch(`/files/${name}`)).arrayBuffer()), name);
  return lists.map((ids) => tokenizer.decode(ids));
}"""
TOKENIZERS = ["gpt2", "qwen2.5", "phi-3-mini", "zoo-gpt2", "zoo-llama3", "zoo-metaspace-first", "zoo-post-bos-eos"]
TOKENIZERS += ["zoo-spm-prepend"]
"""Of the conformance kit; its other one, zoo-added-flags, has an added token that matches whole words."""
RANDOM_STRINGS = 20_000
TEXTS = ["english_16MB.txt.xz", "languages_12MB.txt.xz", "cjk_5MB.txt.xz"]
TEXTS += ["tinyshakespeare.txt", "udhr_multilingual.txt"]


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page that has the package which npm makes, and two tokenizers."""
    folder = tmp_path_factory.mktemp("served")
    with page_of(browser, packed(tmp_path_factory.mktemp("packed")), folder) as opened:
        (folder / "worker.js").write_text(WORKER, encoding="utf-8")
        tokenizer = BPETokenizer.train(book_text()[:60_000], 1_000, pattern="o200k", normalizer="NFC")
        tokenizer.save(folder / "trained")
        (folder / "trained" / "tokenizer.json").rename(opened.folder / "trained.json")
        (opened.folder / "tiny.json").write_bytes((FOLDER / "tiny_chat" / "tokenizer.json").read_bytes())
        yield opened


def random_strings(number: int) -> list[str]:
    rng = random.Random(10)
    return [valid(fuzz_text(rng)) for _ in range(number)]


@pytest.mark.parametrize("name", ["tiny.json", "trained.json"])
def test_ids_in_chromium(name, page):
    tokenizer = BPETokenizer.from_pretrained(page.folder / name)
    texts = page.put("strings.json", random_strings(2_000))
    around = page.put("around.json", [f"a{char}\u0301b" for char in boundary_characters()])
    assert not page.differences(name, tokenizer, {"strings.json": texts, "around.json": around})
    ids = tokenizer.encode_batch(texts[:500], add_special_tokens=False)
    assert page.opened.evaluate(DECODED, {"name": name, "lists": ids}) == list(map(tokenizer.decode, ids))
    assert page.opened.evaluate(IN_WORKER, {"name": name, "texts": texts[:100]}) == ids[:100]


def test_a_difference_is_seen(page):
    """Another tokenizer's ids differ, and the texts are named."""
    texts = page.put("few.json", ["", "a", "Hello, world"])
    tokenizer = BPETokenizer.from_pretrained(page.folder / "tiny.json")
    assert page.differences("trained.json", tokenizer, {"few.json": texts}) == texts[-1:]


@pytest.fixture(scope="module")
def everything(page):
    """The conformance texts, all of the reference texts, whole, and random strings: files of the page."""
    lists = {"conformance.json": conformance_texts(), "random.json": random_strings(RANDOM_STRINGS)}
    lists |= {f"{name.partition('.')[0]}.json": [shared_text(name)] for name in TEXTS}
    return {name: page.put(name, texts) for name, texts in lists.items()}


def test_the_conformance_texts(page):
    texts = page.put("cases.json", conformance_texts())
    path = shared("conformance/tokenizers/gpt2/tokenizer.json")
    assert not page.differences(page.link(path), BPETokenizer.from_pretrained(path), {"cases.json": texts})


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
def test_all_texts(name, page, everything):
    path = SHARED / "conformance" / "tokenizers" / name / "tokenizer.json"
    assert not page.differences(page.link(path), BPETokenizer.from_pretrained(path), everything)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_all_texts_with_published_rank_files(name, page, everything, tmp_path):
    path = rank_file(name, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pattern of a rank file is known by its hash
        tokenizer = BPETokenizer.from_pretrained(path)
    assert not page.differences(page.link(path), tokenizer, everything)
