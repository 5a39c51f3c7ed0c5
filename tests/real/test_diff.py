"""What `diff` says of real files and what transformers made of them."""

import json

import pytest

from bpelab import BPETokenizer
from bpelab.regex.patterns import PATTERNS

from .catalogue import TEKKEN
from .download import real_file
from .texts import texts


@pytest.fixture(params=[pytest.param(file, id=file.name) for file in TEKKEN])
def tekken(request, tmp_path):
    """Mistral's file as we open it, and the path of the tokenizer.json that transformers makes of it."""
    mistral = pytest.importorskip("transformers.integrations.mistral.tokenizer")
    path = real_file(request.param)
    mistral.MistralConverter(str(path)).converted().save(str(tmp_path / "tokenizer.json"))
    return BPETokenizer.from_pretrained(path), tmp_path / "tokenizer.json"


def test_the_tokenizer_json_that_transformers_makes_of_a_tekken(tekken):
    """Proved: another notation of the pattern, a list of merges and not ranks, a post-processor that adds nothing."""
    ours, made = tekken
    found = ours.diff(BPETokenizer.from_pretrained(made), corpus=texts())
    assert (found.text, found.differing_lines) == (None, 0)
    assert {part.part for part in found.parts if part.matters is not False} <= {"special roles"}


def test_the_pattern_that_transformers_wrote_before_version_5(tekken):
    """Its converter put the pattern of Llama 3 into the file, whatever the tekken.json had."""
    tokenizers = pytest.importorskip("tokenizers")
    ours, made = tekken
    data = json.loads(made.read_text("utf-8"))
    data["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = PATTERNS["llama3"].oniguruma
    made.write_text(json.dumps(data))
    found = ours.diff(BPETokenizer.from_pretrained(made), corpus=texts())
    assert found.cause.startswith("pattern: Split('tekken') and Split('llama3')")
    theirs = tokenizers.Tokenizer.from_file(str(made))
    assert theirs.encode(found.text, add_special_tokens=False).ids == list(found.other_ids) != list(found.ids)
    assert ours.encode(found.text) == list(found.ids) and 0 < found.differing_lines < found.lines / 20
