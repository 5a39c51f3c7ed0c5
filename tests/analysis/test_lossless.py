"""Lossless is what follows from the parts: never claimed where some text changes, and not denied without a reason."""

import json
import random

import pytest

from bpelab import BPETokenizer
from bpelab._support.textio import valid_text
from bpelab.analysis.describe import describe
from bpelab.analysis.lossless import count_changed_lines, losses, sample_lines
from bpelab.cli.main import main
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.normalizers import NormalizerSequence
from bpelab.notebook import book_text
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import fuzz_text


def trained(**options):
    return BPETokenizer.train(book_text()[:20_000], 400, **options)


def from_json(folder, **sections):
    """A tokenizer.json with some of its sections changed."""
    data = tokenizer_json(trained().spec) | sections
    (folder / "tokenizer.json").write_text(json.dumps(data))
    return BPETokenizer.from_pretrained(folder)


def with_added(**flags):
    ours = trained()
    return ours.with_options(special_tokens=SpecialTokens([*ours.added_tokens, AddedToken("<x>", 400, **flags)]))


def isolated(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
LOSSLESS = {
    "a pattern": lambda _: trained(),
    "no pattern": lambda _: trained(pattern=None),
    "gaps": lambda _: trained(pattern="[a-z]+"),
    "an empty normalizer": lambda path: from_json(path, normalizer={"type": "Sequence", "normalizers": []}),
    "three splits": lambda path: from_json(
        path, pre_tokenizer={"type": "Sequence", "pretokenizers": [isolated("[0-9]"), isolated("[a-z]+"), BYTES]}
    ),
    "an added token": lambda _: with_added(special=False),
    "flags of a special token": lambda _: with_added(lstrip=True),
}
LOSSY = {
    "NFC": (lambda _: trained(normalizer="NFC"), "its normalizer changes text", "e\u0301"),
    "a space in front": (
        lambda path: from_json(path, pre_tokenizer=BYTES | {"add_prefix_space": True}), "its pre-tokenizer may", "low",
    ),
    "removed": (
        lambda path: from_json(
            path, pre_tokenizer={"type": "Sequence", "pretokenizers": [isolated("x") | {"behavior": "Removed"}, BYTES]}
        ),
        "its pre-tokenizer may", "axa",
    ),
    "no decoder": (lambda path: from_json(path, decoder=None), "its decoder doesn't just join bytes", "a b"),
    "spaces that a token takes": (lambda _: with_added(special=False, lstrip=True), "an added token decodes", "a <x>"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOSSLESS)
def test_where_it_says_so_every_text_comes_back(kind, tmp_path):
    ours, rng = LOSSLESS[kind](tmp_path), random.Random(kind)
    assert losses(ours) == []
    assert count_changed_lines(ours) == 0
    for text in ["a <x> b", *(valid_text(fuzz_text(rng)) for _ in range(150))]:
        assert ours.decode(ours.encode(text, add_special_tokens=False)) == text


@pytest.mark.parametrize("kind", LOSSY)
def test_what_changes_text_is_named_and_does(kind, tmp_path):
    make, reason, text = LOSSY[kind]
    ours = make(tmp_path)
    assert [loss for loss in losses(ours) if loss.startswith(reason)]
    assert ours.decode(ours.encode(text, add_special_tokens=False)) != text


def test_characters_without_a_token(tmp_path):
    model = {"type": "BPE", "vocab": {"l": 0, "o": 1}, "merges": []}
    ours = from_json(tmp_path, model=model, pre_tokenizer=None, decoder={"type": "Fuse"})
    assert "not all that a text may hold has a token" in losses(ours)
    assert count_changed_lines(ours) == len(sample_lines())


def test_an_empty_normalizer_is_none(tmp_path):
    empty = NormalizerSequence((NormalizerSequence(()),))
    assert trained(normalizer=empty).spec.normalizer is None
    ours = from_json(tmp_path, normalizer={"type": "Sequence", "normalizers": []})
    assert ours.to_tiktoken().encode("the harbour") == ours.encode("the harbour")


def test_described(tmp_path, capsys):
    assert (describe(trained())["lossless"], describe(trained())["losses"]) == (True, [])
    ours = trained(normalizer="NFKC")
    first, counted = describe(ours)["losses"]
    changed = count_changed_lines(ours)
    assert 0 < changed < len(sample_lines()) / 2
    assert "NFKC" in first and counted.startswith(f"{changed} of {len(sample_lines())} lines in many scripts")
    ours.save(tmp_path / "nfc")
    assert main(["info", str(tmp_path / "nfc")]) == 0
    assert f"lossless               no: {describe(BPETokenizer.from_pretrained(tmp_path / 'nfc'))['losses'][0]}; " in (
        capsys.readouterr().out
    )
