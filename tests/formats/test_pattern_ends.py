"""The end of the text in a pattern: written so that JavaScript reads it, read back as `\\z`, with equal ids."""

import json
import random
import shutil
import subprocess

import pytest

from bpelab import BPETokenizer
from bpelab.editing.append_merges import append_merges
from bpelab.formats.json_components import portable_end
from bpelab.notebook import book_text
from bpelab.trainers.learned_merge import LearnedMerge

from ..conftest import amount, fuzz_text


def keeping_its_pattern(tokenizer: BPETokenizer) -> BPETokenizer:
    """The tokenizer with a token more, which lies across a cut of the published pattern: today's cl100k is written."""
    across = [LearnedMerge(b"\n", b" ", 1)]
    return BPETokenizer(append_merges(tokenizer.model, across, tokenizer.n_vocab), pattern=tokenizer.pattern)


@pytest.mark.parametrize("pattern", ["cl100k", r"\S+\z|\s*\S+|\s+", r"[\\z]+|\p{L}+|\P{L}"])
def test_saved_and_read(pattern, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    ours = keeping_its_pattern(BPETokenizer.train(book_text()[:30_000], 500, pattern=pattern))
    ours.save(tmp_path)
    written = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    assert r"\\z" not in written.replace(r"\\\\z", "")
    again, theirs = BPETokenizer.from_pretrained(tmp_path), tokenizers.Tokenizer.from_file(f"{tmp_path}/tokenizer.json")
    assert again.pattern == ours.pattern
    rng = random.Random(70)
    for said in (*(fuzz_text(rng) for _ in range(amount(200, 5_000))), "a \n \n", " ", "a \n \nx", "\\z z"):
        text = said.encode("utf-8", "replace").decode()
        assert again.encode(text) == ours.encode(text) == theirs.encode(text).ids, text


def test_files_from_before(tmp_path):
    """What an earlier version wrote is read as it was meant."""
    ours = keeping_its_pattern(BPETokenizer.train(book_text()[:30_000], 500))
    ours.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    split = data["pre_tokenizer"]["pretokenizers"][0]["pattern"]
    split["Regex"] = split["Regex"].replace(r"(?![\s\S])", r"\z")
    path.write_text(json.dumps(data), encoding="utf-8")
    assert BPETokenizer.from_pretrained(tmp_path).pattern == "cl100k"


def test_javascript_reads_it(tmp_path):
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node to ask")
    ours = keeping_its_pattern(BPETokenizer.train("low lower", 256))
    ours.save(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    pattern = data["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    # transformers.js spells out groups of flags, which JavaScript got late
    pattern = pattern.replace("(?i:[sdmt]|ll|ve|re)", "(?:[sdmtSDMT]|ll|ve|re)")
    for text in ("a \n \n", "a \n \nx", "low  lower, 12345"):
        program = f"console.log(JSON.stringify({json.dumps(text)}.match(new RegExp({json.dumps(pattern)}, 'gu'))))"
        asked = subprocess.run([node, "-e", program], capture_output=True, text=True, timeout=60, check=True)
        assert json.loads(asked.stdout) == ours.pieces(text)


def test_what_is_no_end_stays():
    assert portable_end(r"\\z|[\z]|\Z") == r"\\z|[\z]|\Z"
