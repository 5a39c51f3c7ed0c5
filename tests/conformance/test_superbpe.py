"""The published SuperBPE vocabularies: the ids of Hugging Face's tokenizers, of whole texts and of streams."""

import hashlib
import json
import random
import re
import subprocess
import sys
from array import array

import pytest
import tokenizers

from bpelab import BPETokenizer, StreamEncoder
from bpelab._support.textio import valid_text

from ..conftest import amount, fuzz_text, shared, shared_text

TEXTS = [
    "english_16MB.txt.xz",
    "languages_12MB.txt.xz",
    "cjk_5MB.txt.xz",
    "tinyshakespeare.txt",
    "udhr_multilingual.txt",
]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder of tokenizer.json files that the vocabularies' script writes."""
    folder = tmp_path_factory.mktemp("superbpe")
    subprocess.run([sys.executable, shared("superbpe/make.py"), folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module", params=["t180K", "t80K"])
def both(request, published):
    path = published / request.param / "tokenizer.json"
    return BPETokenizer.from_pretrained(path), tokenizers.Tokenizer.from_file(str(path)), request.param


@pytest.mark.parametrize("language", ["english", "languages", "cjk"])
def test_expected_ids(both, language):
    """The ids that are stored beside the vocabularies, of texts that are told by their length."""
    ours, _, name = both
    assert ours.pattern == "superbpe"
    recorded = json.loads(shared("superbpe/expected.json").read_text())[name][language]
    text = shared_text(next(text for text in TEXTS if text.startswith(language)))[: recorded["characters"]]
    ids = ours.encode(text)
    assert len(ids) == recorded["tokens"]
    assert hashlib.sha256(array("I", ids).tobytes()).hexdigest() == recorded["sha256_of_ids_as_uint32_le"]


@pytest.mark.parametrize("name", TEXTS)
def test_texts(both, name):
    ours, theirs, _ = both
    text = shared_text(name, amount(200_000, 100_000_000))
    for start in range(0, len(text), 1 << 20):
        part = text[start : start + (1 << 20)]
        assert ours.encode(part) == theirs.encode(part).ids


def test_fuzz_and_streams(both):
    ours, theirs, name = both
    rng = random.Random(name)
    for _ in range(amount(1_000, 20_000)):
        text = valid_text(fuzz_text(rng))
        ids = ours.encode(text)
        assert ids == theirs.encode(text).ids and ours.decode(ids) == text
        cuts = sorted(rng.choices(range(len(text) + 1), k=3))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
        assert [token for some in StreamEncoder(ours).stream(parts) for token in some] == ids


def test_a_stream_without_line_breaks(both):
    """Words are given out as soon as no superword can go over their ends: a few are held back."""
    ours = both[0]
    text = " ".join(re.sub("[0-9]+", "", shared_text("english_16MB.txt.xz", 100_000)).split())[:30_000]
    rng, encoder, most, ids, at = random.Random(4), StreamEncoder(ours), 0, [], 0
    while at < len(text):
        size = rng.choice([1, 1, 2, 7, 50])
        ids += encoder.push(text[at : at + size])
        at += size
        most = max(most, len(encoder.pending))
    assert ids + encoder.finish() == ours.encode(text)
    assert most < 400
