"""Adding a pre-tokenizer, a normalizer and a decoder: a class in a file of its own, and its name in the registry. No
other room has to hear of it, and everything works: C, files, offsets, streams, batches."""

import ast
import random
import sys
from importlib import import_module

import pytest

from bpelab import BPETokenizer, StreamDecoder, StreamEncoder, decoders
from bpelab.decoders import DECODERS, DecoderSequence
from bpelab.normalizers import NORMALIZERS, Replace
from bpelab.pretokenizers import PRE_TOKENIZERS, PreTokenizer
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.matchers import Pattern

from .conftest import ROOT, fuzz_text, needs_extension
from .streaming.streams import check_decoding, check_encoding

SOURCE = '''
import re
from dataclasses import dataclass

from bpelab.decoders.base import Decoder
from bpelab.normalizers.base import BaseNormalizer
from bpelab.pretokenizers.base import PreTokenizer
from bpelab.pretokenizers.boundary import Boundary
from bpelab.pretokenizers.pattern_steps import PatternStep
from bpelab.texts.stages import CharStage, LiteralStage

PIECE = "[A-Z]?[^A-Z]+|[A-Z]"


@dataclass(frozen=True)
class Capitals(PreTokenizer):
    """Begin a piece at each capital letter."""

    def split(self, text, first=True):
        return re.findall(PIECE, text)

    def boundary(self, a, b):
        return Boundary.CUT if "A" <= b <= "Z" else Boundary.BROKEN

    def pattern_steps(self, first=True):
        return [PatternStep(PIECE)]


@dataclass(frozen=True)
class Dots(BaseNormalizer):
    """Write some dots in a row as one character."""

    dots: str = "..."

    def __call__(self, text):
        return text.replace(self.dots, "…")

    def stages(self):
        return [LiteralStage(self, self.dots)]

    def align(self, given):
        return given.replace((match.span() for match in re.finditer(re.escape(self.dots), given.text)), "…")


@dataclass(frozen=True)
class Undots(Decoder):
    """Write an ellipsis as dots again."""

    dots: str = "..."

    def decode_chain(self, tokens, errors="replace"):
        return [token.replace("…", self.dots) for token in tokens]

    def text_stages(self, empty_is_none):
        return [CharStage(lambda text: text.replace("…", self.dots))]
'''
BYTES = ByteLevel(add_prefix_space=False, use_regex=False)
"""After which a model sees bytes; files say so."""
CORPUS = "getName setName HTTPServer... and then... isEmpty, toString; naïveCafé 日本Tokyo...... " * 9


class Bare(PreTokenizer):
    """A pre-tokenizer that says nothing of itself but what it does."""

    def split(self, text, first=True):
        return SplitPattern(Pattern("Regex", "[A-Z]"), "MergedWithNext").split(text, first)


def with_dots(text):
    """A normalizer that is only a function."""
    return text.replace("...", "…")


@pytest.fixture
def added(tmp_path, monkeypatch):
    """The module of the new components, which are registered."""
    (tmp_path / "added_components.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("added_components")
    monkeypatch.setitem(PRE_TOKENIZERS, "Capitals", module.Capitals)
    monkeypatch.setitem(NORMALIZERS, "Dots", module.Dots)
    monkeypatch.setitem(DECODERS, "Undots", module.Undots)
    yield module
    del sys.modules["added_components"]


@pytest.fixture(scope="module")
def trained():
    return BPETokenizer.train(CORPUS, 310, special_tokens=["<s>"])


@pytest.fixture
def tokenizer(trained, added):
    steps = PreTokenizerSequence((added.Capitals(), BYTES))
    return trained.with_options(pre_tokenizer=steps, normalizer=added.Dots())


@pytest.fixture(scope="module")
def twin(trained):
    """The same of the library's own components."""
    capitals = SplitPattern(Pattern("Regex", "[A-Z]"), "MergedWithNext")
    steps = PreTokenizerSequence((capitals, BYTES))
    return trained.with_options(pre_tokenizer=steps, normalizer=Replace(Pattern("String", "..."), "…"))


def texts():
    rng = random.Random(7)
    words = [*"ABab .…é日", "getName", "...", "<s>", "\n"]
    for _ in range(60):
        yield "".join(rng.choices(words, k=rng.randint(0, 30))) + (fuzz_text(rng) if rng.random() < 0.3 else "")


def test_ids_offsets_and_batches(tokenizer, twin):
    assert tokenizer.pipeline.pieces("getHTTPName...") == ["get", "H", "T", "T", "P", "Name…"]
    some = list(texts())
    for text in some:
        assert tokenizer.encode(text, allowed_special="all") == twin.encode(text, allowed_special="all")
        assert tokenizer.encode_with_offsets(text) == twin.encode_with_offsets(text)
    expected = [twin.encode(text) for text in some]
    assert tokenizer.encode_batch(some) == tokenizer.encode_batch(some, threads=3) == expected


def test_c_runs_its_pattern(tokenizer):
    needs_extension()
    assert tokenizer.pipeline.native is not None
    slow = tokenizer.with_options(encoder="naive")
    assert slow.pipeline.native is None
    for text in texts():
        assert tokenizer.encode(text) == slow.encode(text)


def test_files(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "saved")
    again = BPETokenizer.from_pretrained(tmp_path / "saved")
    assert again.spec.pre_tokenizer == tokenizer.spec.pre_tokenizer
    assert again.spec.normalizer == tokenizer.spec.normalizer
    for text in texts():
        assert again.encode(text, allowed_special="all") == tokenizer.encode(text, allowed_special="all")


def test_streams(tokenizer, twin):
    rng = random.Random(8)
    for text in texts():
        check_encoding(tokenizer, rng, text, allowed_special="all")
    ours, theirs = StreamEncoder(tokenizer), StreamEncoder(twin)
    for char in CORPUS:
        assert (ours.push(char), ours.pending) == (theirs.push(char), theirs.pending)
        assert len(ours.pending) < 30  # the longest stretch without a capital has 29 characters
    assert ours.finish() == theirs.finish()


def test_decoding(tokenizer, twin, added, tmp_path):
    """After a decoder that joins tokens; from a file, too, and a stream holds back no more than half a character."""
    ours = tokenizer.with_options(decoder=DecoderSequence((decoders.ByteLevel(), added.Undots())))
    dots = decoders.Replace(Pattern("String", "…"), "...")
    theirs = twin.with_options(decoder=DecoderSequence((decoders.ByteLevel(), dots)))
    ours.save(tmp_path / "saved")
    assert BPETokenizer.from_pretrained(tmp_path / "saved").spec.decoder == ours.spec.decoder
    rng = random.Random(10)
    for text in texts():
        ids = ours.encode(text)
        assert ours.decode(ids) == theirs.decode(ids) == theirs.decode(twin.encode(text))
        check_decoding(ours, rng, ids)
    decoder = StreamDecoder(ours)
    assert decoder.push(ours.encode("Name...")) == "Name..." and decoder.pending == b""


def test_what_says_nothing_of_itself(trained, twin):
    """It is right too: Python encodes, and a stream gives nothing out before the end."""
    bare = trained.with_options(pre_tokenizer=Bare(), normalizer=with_dots)
    assert bare.pipeline.native is None
    rng = random.Random(9)
    for text in texts():
        assert bare.encode(text) == twin.encode(text)
        spans = bare.encode_with_offsets(text)[1]
        assert len(spans) == len(bare.encode(text)) and all(0 <= a <= b <= len(text) for a, b in spans)
        check_encoding(bare, rng, text)
    encoder = StreamEncoder(bare)
    assert encoder.push(CORPUS) == [] and encoder.pending == CORPUS
    assert encoder.finish() == twin.encode(CORPUS)


@pytest.mark.parametrize("room", ["alignment", "boundaries", "native", "streaming", "texts"])
def test_no_other_room_asks_for_a_component_by_name(room):
    components = {kind.__name__ for kinds in (DECODERS, NORMALIZERS, PRE_TOKENIZERS) for kind in kinds.values()}
    files = sorted((ROOT / "bpelab" / room).glob("*.py"))
    assert len(files) > 2 and "Metaspace" in components
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and "postprocessors" not in node.module:
                assert not {alias.name for alias in node.names} & components, path
