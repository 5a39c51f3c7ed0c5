"""The library in JavaScript as one function: it opens what a figure holds, in node, without a module or a page."""

import json
import random
import re
import shutil
import subprocess

import pytest

from bpelab import BPETokenizer
from bpelab._support.install import install_command
from bpelab.notebook import book_text

from ..conftest import fuzz_text

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets.base import TOKENIZERS, front_end, resource
from bpelab.widgets.library import character_looks, library_function, library_parts
from bpelab.widgets.trained_data import trained_data
from bpelab.widgets.visible import visible

RUN = """
const { data, texts, tokens } = given;
startLibrary(parts).then(() => {
  const tokenizer = pageTokenizer(data), labels = tokens.map((bytes) => visible(bytes, library.look));
  const special = tokenizer.label(data.specials[0][1]);
  console.log(JSON.stringify({ ids: texts.map(tokenizer.encode), labels, special }));
});
"""


def run(script: str, given: object) -> object:
    """What a script prints, after the front end of figures that tokenize, in strict mode as in a page."""
    if shutil.which("node") is None:
        pytest.skip("there is no node here to run JavaScript with")
    front = "\n".join(resource(f"js/{part}") for part in TOKENIZERS)
    program = f'"use strict";\n{front}\nconst parts = {library_parts()}, given = {json.dumps(given)};\n{script}'
    done = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_encodes_and_labels_as_the_library_does():
    rng, own = random.Random(3), BPETokenizer.train(book_text()[:60_000], 1000).with_special_tokens(["<|end|>"])
    texts = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(300)]
    tokens = [text.encode()[rng.randrange(4) : rng.randrange(4, 20)] for text in texts]
    given = {"data": trained_data("", own), "texts": texts, "tokens": [[*token] for token in tokens]}
    found = run(RUN, given)
    assert found["ids"] == [own.encode_ordinary(text) for text in texts]
    assert found["labels"] == [visible(token) for token in tokens]
    assert found["special"] == [["", "<|end|>"]]


def test_looks_are_runs_over_all_code_points():
    runs = character_looks()
    assert sum(run >> 2 for run in runs) == 0x110000 and all(run >> 2 for run in runs)
    assert all(run & 3 != after & 3 for run, after in zip(runs, runs[1:]))


def test_no_module_is_left_in_the_function():
    """A classic script with `import` or `export` in it would be refused as a whole."""
    function = library_function()
    assert not re.search(r"^\s*(import|export) ", function, re.MULTILINE)
    assert "import.meta" not in function and "fetch(" not in function


def test_only_figures_that_tokenize_carry_it():
    assert library_parts() in front_end("playground") and library_parts() in front_end("model_view")
    assert library_parts() not in front_end("merge_player")
    assert len(library_parts()) < 300_000
