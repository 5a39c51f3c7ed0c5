"""From every kind of tokenizer to every format: the same ids, or a refusal that says why; what is left out is named."""

import io
import json
import random
from functools import lru_cache

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TemplateProcessing
from bpelab._support.textio import valid_text
from bpelab.analysis.lossless import sample_lines
from bpelab.cli.main import main
from bpelab.convert import (
    TARGETS,
    WHOLE_TEXT,
    as_llama_cpp_splits,
    check,
    convert,
    count_differing_lines,
    unsupported,
)
from bpelab.errors import BPELabError
from bpelab.formats import huggingface, minbpe
from bpelab.model_inputs import Padding, Truncation
from bpelab.notebook import book_text
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.char_types import Digits
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.tokenizer import open_tokenizer
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import SHARED, SOAK, amount, fuzz_text, shared

ENDINGS = {
    "tiktoken": "t.tiktoken", "tekken": "tekken.json", "minbpe": "t.model", "gguf": "t.gguf", "gpt2": "folder",
    "huggingface": "folder",
}  # fmt: skip


def texts(number):
    rng = random.Random(80)
    yield from ("", "<|end|>", "a  <|end|> b", book_text()[70_000:72_000], "\u2460 e\u0301 \ufb01", " 12345", "aa" * 40)
    for _ in range(number):
        yield valid_text(fuzz_text(rng)).replace("\0", "")


def trained(**options):
    chosen = {"pattern": "gpt2", "special_tokens": ["<|end|>"], "eos_token": "<|end|>", **options}
    return BPETokenizer.train(book_text()[:50_000], 600, **chosen)


def sentencepiece(tmp_path, **options):
    spm = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(book_text()[:50_000].split("\n")), model_writer=out, minloglevel=2, num_threads=1,
        **{"model_type": "bpe", "vocab_size": 900, "byte_fallback": True, **options},
    )  # fmt: skip
    (tmp_path / "source.model").write_bytes(out.getvalue())
    return BPETokenizer.from_pretrained(tmp_path / "source.model")


PLAIN = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}


def hugging(tmp_path, model, pre_tokenizer, trainer):
    """A tokenizer that Hugging Face's library trained, through its file."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(**model))
    theirs.pre_tokenizer = pre_tokenizer(tokenizers.pre_tokenizers)
    options = {"vocab_size": 500, "show_progress": False, "special_tokens": ["<|end|>", "[UNK]"], **trainer}
    theirs.train_from_iterator([book_text()[:50_000]], tokenizers.trainers.BpeTrainer(**options))
    theirs.save(str(tmp_path / "source.json"))
    return BPETokenizer.from_pretrained(tmp_path / "source.json")


def orphans(ignore_merges):
    ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"xyz": 257}
    return BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=ignore_merges), pattern="llama3")


def with_added(*tokens):
    ours = trained()
    return ours.with_options(special_tokens=SpecialTokens([*ours.added_tokens, *tokens]))


@lru_cache(None)
def bpe_merges():
    return trained()


SOURCES = {
    "gpt2": lambda _: bpe_merges(),
    "cl100k": lambda _: trained(pattern="cl100k"),
    "llama3": lambda _: trained(pattern="llama3"),
    "qwen2 with NFC": lambda _: trained(pattern="qwen2", normalizer="NFC"),
    "o200k": lambda _: trained(pattern="o200k"),
    "a pattern of one's own": lambda _: trained(pattern=r"[a-z]+|\d(?=x)|\s"),
    "no pattern": lambda _: trained(pattern=None),
    "digits first": lambda _: trained().with_options(
        pre_tokenizer=PreTokenizerSequence((Digits(True), ByteLevel(add_prefix_space=False)))
    ),
    "a space in front": lambda _: trained().with_options(pre_tokenizer=ByteLevel(add_prefix_space=True)),
    "eos behind": lambda _: trained(post_processor=TemplateProcessing(("$A", "<|end|>"))),
    "sections": lambda _: trained(truncation=Truncation(5), padding=Padding(), dropout=0.1),
    "an added token": lambda _: with_added(AddedToken(" the harbour", 600, special=False)),
    "a flag": lambda _: with_added(AddedToken("<m>", 600, lstrip=True)),
    "a special token with a space": lambda _: with_added(AddedToken("<a b>", 600)),
    "holes": lambda _: trained(special_tokens={"<|end|>": 7, "<|pad|>": 1_000}),
    "special tokens first": lambda _: trained(special_tokens={"<|pad|>": 0, "<|end|>": 1}),
    "whole pieces": lambda _: orphans(True),
    "an orphan": lambda _: orphans(False),
    "sentencepiece": lambda path: sentencepiece(path, **PLAIN),
    "sentencepiece, spaces removed": lambda path: sentencepiece(path, normalization_rule_name="identity"),
    "sentencepiece, nmt_nfkc": sentencepiece,
    "sentencepiece, symbols": lambda path: sentencepiece(path, user_defined_symbols="<ud>,12", **PLAIN),
    "characters": lambda path: hugging(path, {"unk_token": "[UNK]"}, lambda p: p.Whitespace(), {}),
    "a prefix": lambda path: hugging(
        path,
        {"unk_token": "[UNK]", "continuing_subword_prefix": "##"},
        lambda p: p.Whitespace(),
        {"continuing_subword_prefix": "##"},
    ),
    "a suffix": lambda path: hugging(
        path,
        {"unk_token": "[UNK]", "end_of_word_suffix": "</w>"},
        lambda p: p.Whitespace(),
        {"end_of_word_suffix": "</w>"},
    ),
    "few bytes": lambda path: hugging(path, {}, lambda p: p.ByteLevel(add_prefix_space=False), {}),
}
HELD = {  # what converts with nothing lost, or nothing that changes ids
    "huggingface": set(SOURCES) - {"sentencepiece, nmt_nfkc", "sentencepiece, symbols"},
    "tiktoken": {
        "gpt2", "cl100k", "llama3", "o200k", "a pattern of one's own", "no pattern", "eos behind", "sections",
        "a special token with a space", "holes", "special tokens first", "whole pieces",
    },
    "tekken": {"special tokens first", "whole pieces"},
    "minbpe": {"gpt2", "cl100k", "llama3", "o200k", "a pattern of one's own", "no pattern", "eos behind", "sections"},
    "gpt2": {
        "gpt2", "cl100k", "llama3", "o200k", "a pattern of one's own", "no pattern", "eos behind", "sections",
        "a special token with a space", "holes", "special tokens first", "few bytes",
    },
    "gguf": {
        "gpt2", "llama3", "o200k", "eos behind", "sections", "an added token", "a special token with a space", "holes",
        "special tokens first", "whole pieces", "an orphan", "sentencepiece",
    },
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
def test_the_same_ids_or_a_reason(source, target, tmp_path):
    ours, out = SOURCES[source](tmp_path), tmp_path / ENDINGS[target]
    try:
        lost = convert(ours, out, target)
    except ConversionError as error:
        assert source not in HELD[target], error
        assert len(str(error)) > 30 and not out.exists()
        return
    assert source in HELD[target]
    assert not any(loss.changes_ids for loss in lost)
    assert check(ours, out, target, texts(amount(60, 3_000))) > 60
    again = open_tokenizer(out, pattern=None if "pattern" in TARGETS[target].holds else ours.pattern or WHOLE_TEXT)
    assert again.model.ids.keys() >= ours.model.ids.keys()
    if target == "huggingface":
        assert again.encode("low") == ours.encode("low")  # with what is put around it


@pytest.mark.parametrize("target", TARGETS)
def test_lossy(target, tmp_path):
    """What is lossy is written or refused, and what is written opens."""
    lossy = [source for source in SOURCES if source not in HELD[target]]
    for number, source in enumerate(lossy):
        make = SOURCES[source]
        ours, out = make(tmp_path), tmp_path / str(number) / ENDINGS[target]
        out.parent.mkdir()
        try:
            lost = convert(ours, out, target, lossy=True)
        except ConversionError as error:
            assert "lossy" not in str(error)
            continue
        assert any(loss.changes_ids for loss in lost), source
        pattern = None if "pattern" in TARGETS[target].holds else ours.pattern or WHOLE_TEXT
        assert open_tokenizer(out, pattern=pattern).encode("low")


def test_other_libraries_load_what_is_written(tmp_path, monkeypatch):
    tokenizers = pytest.importorskip("tokenizers")
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # where it would keep a copy of what it reads
    ours = trained(pattern="llama3")
    convert(ours, tmp_path / "hf", "huggingface")
    convert(ours, tmp_path / "t.tiktoken", "tiktoken")
    hugging_face = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    ranks = load_tiktoken_bpe(str(tmp_path / "t.tiktoken"))
    from bpelab.regex.patterns import PATTERNS

    encoding = tiktoken.Encoding(
        "x", pat_str=PATTERNS["llama3"].regex, mergeable_ranks=ranks, special_tokens=ours.special_tokens
    )
    for text in texts(amount(200, 10_000)):
        ids = ours.encode(text, allowed_special="all")
        assert hugging_face.encode(text).ids == ids
        assert encoding.encode(text, allowed_special="all") == ids


def test_what_is_lost_is_named():
    ours = trained(
        normalizer="NFC", truncation=Truncation(5), padding=Padding(), dropout=0.5, metadata={"chat_template": "x"},
        post_processor=TemplateProcessing(("$A", "<|end|>")),
    )  # fmt: skip
    ours = ours.with_options(
        special_tokens=SpecialTokens(
            [*ours.added_tokens, AddedToken("<m>", 600, lstrip=True), AddedToken("xy", 601, special=False)]
        )
    )
    everything = [
        "pattern", "normalizer", "special tokens", "added tokens", "flags", "post-processor", "roles", "truncation",
        "padding", "dropout", "chat template",
    ]  # fmt: skip
    named = {target: {loss.feature: loss for loss in unsupported(ours, target)} for target in TARGETS}
    assert list(named["tiktoken"]) == everything
    assert list(named["huggingface"]) == []
    assert list(named["gguf"]) == ["normalizer", "flags", "truncation", "padding", "dropout"]
    assert set(everything) - set(named["minbpe"]) == {"pattern", "special tokens"}
    assert set(everything) - set(named["gpt2"]) == {"special tokens", "roles"}
    serious = {name for name, loss in named["tiktoken"].items() if loss.changes_ids}
    assert serious == {"normalizer", "added tokens", "flags"}
    assert "<m>" in named["tiktoken"]["flags"].what and "xy" in named["tiktoken"]["added tokens"].what
    with pytest.raises(ValueError, match="there is no format 'word'"):
        unsupported(ours, "word")


def test_patterns_that_llama_cpp_approximates():
    (loss,) = [
        loss for loss in unsupported(trained(pattern="o200k"), "gguf") if loss.feature not in ("roles", "pattern")
    ]
    assert (loss.feature, loss.changes_ids) == ("llama.cpp's splitter", False)
    assert "gpt-4o" in loss.what
    assert unsupported(trained(pattern="gpt2"), "gguf") == unsupported(trained(pattern="llama3"), "gguf") == []


def test_lines_that_llama_cpp_splits_differently_are_counted(tmp_path, capsys):
    """It knows upper and lower case in ASCII only, so lines in Greek, say, have other ids there."""
    assert as_llama_cpp_splits(trained(pattern="gpt2")) is None
    ours = trained(pattern="o200k")
    other = as_llama_cpp_splits(ours)
    assert ours.spec.pre_tokenizer.split("γδΑΒ") == ["γδ", "ΑΒ"]
    assert other.spec.pre_tokenizer.split("γδΑΒ") == ["γδΑΒ"]
    number, lines = count_differing_lines(ours, sample_lines(), other)
    assert lines == len(sample_lines())
    assert number == sum(ours.encode(line) != other.encode(line) for line in sample_lines())
    ours.save(tmp_path / "hf")
    assert main(["convert", str(tmp_path / "hf"), str(tmp_path / "x.gguf"), "--to", "gguf"]) == 0
    out = capsys.readouterr().out
    assert f"split as llama.cpp does, ids differ on {number} of {lines} lines in many scripts" in out


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_that_was_changed_is_found_out(target, tmp_path):
    first = {"special_tokens": {"<|end|>": 0}} if target == "tekken" else {}
    ours, out = trained(**first), tmp_path / ENDINGS[target]
    convert(ours, out, target)
    assert check(ours, out, target, ["the harbour"]) == 1
    if target == "gguf":
        other = BPETokenizer.train(book_text()[150_000:200_000], 600, pattern="gpt2", special_tokens=["<|end|>"])
        convert(other, out, target)
    elif target == "tiktoken":
        lines = out.read_bytes().split(b"\n")
        numbers = [line.split()[1] for line in lines if line]
        swapped = [line.split()[0] + b" " + number for line, number in zip(lines, [*numbers[1:], numbers[0]])]
        out.write_bytes(b"\n".join(swapped))
    elif target == "tekken":
        data = json.loads(out.read_text())
        tokens = [entry["token_bytes"] for entry in data["vocab"]]
        for entry, token in zip(data["vocab"][256:], [*tokens[257:], tokens[256]]):
            entry["token_bytes"] = token
        out.write_text(json.dumps(data))
    elif target == "minbpe":
        lines = out.read_text().split("\n")
        at = next(n for n, line in enumerate(lines) if n > 4 and line)
        out.write_text("\n".join([*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]]))
    elif target == "gpt2":
        lines = (out / "merges.txt").read_text().split("\n")
        (out / "merges.txt").write_text("\n".join([lines[0], *reversed(lines[1:40]), *lines[40:]]))
    else:
        data = json.loads((out / "tokenizer.json").read_text())
        data["model"]["merges"][:40] = reversed(data["model"]["merges"][:40])
        (out / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(ConversionError, match=r"text 2 has other ids from token \d+ on: \["):
        check(ours, out, target, ["", book_text()[:20_000]])


def test_a_direct_save_is_as_strict(tmp_path):
    """Formats refuse by themselves what the conversion would, where the file would mean something else."""
    symbols = sentencepiece(tmp_path, user_defined_symbols="<ud>,12", **PLAIN)
    with pytest.raises(ConversionError, match="<ud>"):
        huggingface.save(symbols.spec, tmp_path / "x")
    with pytest.raises(ConversionError, match="SentencePieceNormalizer"):
        huggingface.save(sentencepiece(tmp_path).spec, tmp_path / "x")
    with pytest.raises(ConversionError, match="pattern"):
        minbpe.save(SOURCES["digits first"](tmp_path).spec, tmp_path / "x.model")
    with pytest.raises(ConversionError, match="bytes"):
        minbpe.save(SOURCES["characters"](tmp_path).spec, tmp_path / "x.model")


KIT = SHARED / "conformance" / "tokenizers"
LARGE = {"cl100k_base", "gpt2", "phi-3-mini", "qwen2.5", "r50k_base"}
NAMES = sorted(path.name for path in KIT.iterdir()) if KIT.is_dir() else []
NAMES = [name for name in NAMES if SOAK or name not in LARGE - {"gpt2", "phi-3-mini"}]
KIT_HELD = {
    "cl100k_base": {"huggingface", "tiktoken", "gpt2"},
    "r50k_base": {"huggingface", "tiktoken", "gpt2", "gguf"},
    "gpt2": {"huggingface", "tiktoken", "gpt2", "gguf"},
    "qwen2.5": {"huggingface"},
    "phi-3-mini": {"huggingface"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_tokenizers_of_the_kit(name, tmp_path):
    folder = shared(f"conformance/tokenizers/{name}")
    if (folder / "encoding.json").exists():
        data = json.loads((folder / "encoding.json").read_text(encoding="utf-8"))
        ours = BPETokenizer.from_pretrained(next(folder.glob("*.tiktoken")), pattern=data["pat_str"])
        ours = ours.with_special_tokens(data["special_tokens"])
    else:
        ours = BPETokenizer.from_pretrained(folder)
    held = set()
    for target in TARGETS:
        out = tmp_path / target / ENDINGS[target]
        out.parent.mkdir()
        try:
            convert(ours, out, target)
        except ConversionError as error:
            assert len(str(error)) > 30 and not out.exists()
            continue
        held.add(target)
        check(ours, out, target, texts(amount(30 if name in LARGE else 60, 3_000)))
    assert held == KIT_HELD.get(name, held)
    assert "huggingface" in held


def test_what_is_no_tokenizer(tmp_path):
    for what, message in [
        (tmp_path, "has no tokenizer.json, no vocab.json"),
        (tmp_path / "no.json", "can't be read"),
        (tmp_path / "no.gguf", "can't be read"),
        (tmp_path / "no.model", "can't be read"),
        ("no_such_name", "neither a tokenizer's file or folder nor"),
        ("no/such", "no/such: there is no such file or folder"),
        (tmp_path / "none" / "at_all", "there is no such file or folder"),
    ]:
        with pytest.raises(BPELabError, match=message):
            open_tokenizer(what)
    for content in (b"the harbour", b"[1, 2]", b"\xff\xfe"):
        (tmp_path / "prose.txt").write_bytes(content)
        with pytest.raises(BPELabError, match="is not JSON, and isn't named like another tokenizer file"):
            open_tokenizer(tmp_path / "prose.txt")
    convert(trained(), tmp_path / "there", "huggingface")
    content = (tmp_path / "there" / "tokenizer.json").read_bytes()
    for prefix in (b"", b"\xef\xbb\xbf", b" " * 40):  # JSON under any name
        (tmp_path / "other.name").write_bytes(prefix + content)
        assert open_tokenizer(tmp_path / "other.name").encode("low") == trained().encode("low")
    for start in (b"\x80\x04\x95abc", b"PK\x03\x04abc"):
        (tmp_path / "p.model").write_bytes(start)
        with pytest.raises(BPELabError, match=r"is a pickle|archive"):
            open_tokenizer(tmp_path / "p.model")
    convert(trained(), tmp_path / "t.tiktoken", "tiktoken")
    with pytest.raises(BPELabError, match="has no pattern"):
        open_tokenizer(tmp_path / "t.tiktoken")
    convert(trained(), tmp_path / "t.gguf", "gguf")
    with pytest.raises(BPELabError, match="already says how text is split"):
        open_tokenizer(tmp_path / "t.gguf", pattern="gpt2")
