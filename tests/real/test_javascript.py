"""Each real file in the library in JavaScript: the ids of the one in Python, or a refusal by name.

Node runs it on all texts; Chromium, whose Unicode is another one, on 20,000 random strings of each file.
"""

import warnings
from functools import lru_cache

import pytest

from bpelab import BPETokenizer

from ..native.chromium import page_of
from ..native.javascript import differences, library, packed
from .catalogue import RANKS, TEKKEN, TOKENIZER_JSON
from .download import real_file
from .texts import random_strings, shared_lines, texts

REFUSED = {
    "Afaan Oromo": "The normalizer Lowercase is not served here.",
    "Cute (code)": "A ByteLevel step needs tokens that are in its alphabet.",
}


RANDOM_STRINGS = 20_000
every_file = pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.name, marks=pytest.mark.xdist_group(file.name))
        for file in (*TOKENIZER_JSON, *TEKKEN, *RANKS)
    ],
)


@pytest.fixture(scope="module")
def ask():
    with library() as asks:
        yield asks


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page of Chromium that has the package which npm makes."""
    with page_of(browser, packed(tmp_path_factory.mktemp("packed")), tmp_path_factory.mktemp("served")) as opened:
        yield opened


@lru_cache(1)
def opened(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pattern of a rank file is known by its hash
        return BPETokenizer.from_pretrained(path)


@every_file
def test_ids_in_node(file, ask):
    path = real_file(file)
    if file.name in REFUSED:
        answer = ask(path=str(path), method="encode", texts=["a"])
        assert answer["kind"] == "Refused" and answer["refused"].endswith(REFUSED[file.name])
        return
    names = list(opened(path).special_tokens)
    assert not differences(ask, path, opened(path), [*texts(), *random_strings(names)])


@every_file
def test_ids_in_chromium(file, page):
    path = real_file(file)
    if file.name in REFUSED:
        pytest.skip(f"it is refused: {REFUSED[file.name]}")
    strings = random_strings(list(opened(path).special_tokens), seed=11, number=RANDOM_STRINGS)
    lists = {"texts.json": [*texts(), *shared_lines()], "strings.json": strings}
    for name, content in lists.items():
        page.put(name, content)
    assert not page.differences(page.link(path), opened(path), lists)
