"""Every adapter gives tiktoken's ids, in each of its ways, and text again."""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from bpelab.bench import tokenizers_1
from bpelab.bench.checking import encode_batch, first_difference, flatten, shorten
from bpelab.bench.library import CALLS, Unsupported
from bpelab.bench.peers import PEERS
from bpelab.bench.texts import split_documents
from bpelab.bench.vocabularies import PUBLISHED, Unavailable, prepare
from bpelab.errors import BPELabError
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

from ..conftest import amount, encoding
from ..formats.families import families

ENCODINGS = ["trained", "cl100k_base", "superwords", "o200k_base", "gpt2"]
TRAINERS = ["rustbpe", "gigabpe"]
"""What trains, and loads no vocabulary."""
TEXT = book_text()[40_000 : 40_000 + amount(20_000, 200_000)].rstrip()


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("vocabularies"), {}

    def vocabulary(name):
        if name not in made:
            if name in PUBLISHED:
                encoding(name)
            made[name] = prepare(name, folder)
        return made[name]

    return vocabulary


def loaded_rows(name, vocabulary, *arguments):
    return encode_batch(PEERS[name].open(vocabulary), *arguments)


def rows_alone(*arguments):
    """`loaded_rows` in a process of its own, as in a benchmark."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(loaded_rows, *arguments).result()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:open_binary is deprecated")  # bpe_openai, when it is imported
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("which", ENCODINGS[: amount(3, 5)])
def test_ids(request, vocabularies, which, name):
    peer = PEERS[name]
    if name == "tokie" and which == "superwords":
        request.applymarker(
            pytest.mark.xfail(reason="tokie 0.1.4 splits by another pattern than the file's", strict=True)
        )
    if name == "iree" and which in PUBLISHED:
        request.applymarker(
            pytest.mark.xfail(reason="iree-tokenizer 0.3.0 merges ' Tuesdays' differently", strict=True)
        )
    if why := peer.why_unavailable():
        pytest.skip(why)
    vocabulary = vocabularies(which)
    try:
        loaded = peer.open(vocabulary)
    except Unsupported as error:
        assert name in TRAINERS or which not in ("cl100k_base", "o200k_base"), error
        return
    right = PEERS["tiktoken"].open(vocabulary)
    text = shorten(TEXT, loaded)
    ids = right["list"](text)
    assert loaded["list"](text) == ids
    if peer.supports("array"):
        array = loaded["array"](text)
        assert array.dtype == np.uint32
        assert array.tolist() == ids
    rows = [right["list"](document) for document in split_documents(text, 700)]
    for output in ("batch list", "batch array"):
        for threads in (1, 2) if peer.supports(output) else ():
            asked = output, split_documents(text, 700), threads
            # Threads of rs-bpe go on with the vocabulary that they were first used for.
            found = rows_alone(name, vocabulary, *asked) if name == "rs-bpe" else encode_batch(loaded, *asked)
            assert [list(row) for row in found] == rows
    if peer.supports("decode list"):
        assert loaded["decode list"](ids) == text
    if peer.supports("decode array"):
        assert loaded["decode array"](np.array(ids, np.uint32)) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, peer in PEERS.items() if peer.supports("train")])
def test_training(name, tmp_path):
    if why := PEERS[name].why_unavailable():
        pytest.skip(why)
    path = tmp_path / "text.txt"
    path.write_text(book_text()[:60_000], "utf-8")
    tokens = PEERS[name].trainers["train"](str(path), 400)
    assert len(tokens) == 400
    assert {b" the", b"ing", b"a"} <= tokens
    assert len(tokens & PEERS["bpelab"].trainers["train"](str(path), 400)) > 390


def test_every_library_says_what_it_does():
    """Its code can be read where it isn't installed; it encodes or trains; it says what it can't open."""
    for name, library in PEERS.items():
        assert name == library.name
        for code in (library.imports, library.fresh or "", *library.load.values()):
            compile(code, name, "exec")
        for what, code in library.calls.items():
            assert what in CALLS
            compile(code, name, "eval")
        assert ("list" in library.calls) == bool(library.load) == (name not in TRAINERS), name
        assert ("decode list" in library.calls) == ("decode array" in library.calls), name
        assert {"any", "file"} & set(library.load) or library.refusal, name
        assert library.load or library.trainers
        assert {"import", "load", *library.calls, *library.trainers} == set(library.described())
        assert library.why_unavailable() or library.version()


def test_nothing_is_fetched(tmp_path, monkeypatch):
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path / "tables"))
    with pytest.raises(Unavailable, match=r"cl100k_base is left out: its file is not in tiktoken's cache"):
        prepare("cl100k_base", tmp_path / "files")
    with pytest.raises(BPELabError, match="no encoding 'klingon'"):
        prepare("klingon", tmp_path / "files")


def test_differences_are_placed():
    right = flatten([[1, 2], [3]])
    assert first_difference(flatten([[1, 2, 3]]), right) is None
    assert first_difference(flatten([[1, 9, 3]]), right) == 1
    assert first_difference(flatten([[1, 2, 3, 4]]), right) == 3
    assert first_difference(flatten([]), right) == 0


@pytest.mark.parametrize("family", ["llama-2", "phi-3"])
def test_files_that_tiktoken_cannot_hold(family, tmp_path):
    """Of SentencePiece's kind: the file is taken as it is, tokenizers' ids are right, and no text begins with <s>."""
    pytest.importorskip("tokenizers")
    home = tmp_path / family
    home.mkdir()
    (home / "tokenizer.json").write_text(json.dumps(families()[family]), "utf-8")
    vocabulary = prepare(str(home / "tokenizer.json"), tmp_path / "vocabularies")
    assert (vocabulary.name, vocabulary.ranks, vocabulary.baseline) == (family, "", "tokenizers")
    for copy in ("tokenizer.json", "plain.json"):
        assert Path(vocabulary.folder, copy).read_bytes() == (home / "tokenizer.json").read_bytes()
    right = PEERS["tokenizers"].open(vocabulary)
    for name in ("bpelab", "bpelab (Python)"):
        if PEERS[name].why_unavailable() is None:
            own = PEERS[name].open(vocabulary)
            for output in set(own.functions) & {"list", "array"}:
                assert list(own[output](TEXT[:5000])) == right["list"](TEXT[:5000])
    for name in ("tiktoken", "naive Python", "quicktok", "splintr", "toktok"):
        if PEERS[name].why_unavailable() is None:
            with pytest.raises(Unsupported):
                PEERS[name].open(vocabulary)


def test_plain_files_have_published_spellings(vocabularies):
    """Ids and the pattern of tokens are those of the other file, special tokens behind a gap apart."""
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer

    folder = vocabularies("trained").folder
    plain, own = (Tokenizer.from_file(f"{folder}/{name}.json") for name in ("plain", "tokenizer"))
    assert (
        PATTERNS["llama3"].regex in json.loads(plain.to_str())["pre_tokenizer"]["pretokenizers"][0]["pattern"].values()
    )
    assert plain.encode(TEXT).ids == own.encode(TEXT).ids


def test_two_versions_of_one_library_in_one_process(monkeypatch, tmp_path):
    """A package of the same name is imported from a folder, and the one that is installed stays what it was."""
    tokenizers = pytest.importorskip("tokenizers")
    package = tmp_path / "tokenizers"
    package.mkdir()
    (package / "__init__.py").write_text("from .parts import Tokenizer\n", "utf-8")
    (package / "parts.py").write_text("class Tokenizer:\n    mine = True\n", "utf-8")
    monkeypatch.delenv(tokenizers_1.FOLDER_1, raising=False)
    assert "BPELAB_BENCH_TOKENIZERS_1=FOLDER" in PEERS["tokenizers 1.0"].why_unavailable()
    monkeypatch.setenv(tokenizers_1.FOLDER_1, str(tmp_path))
    assert PEERS["tokenizers 1.0"].why_unavailable()
    info = tmp_path / "tokenizers-1.0.0rc9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tokenizers\nVersion: 1.0.0rc9\n", "utf-8")
    assert PEERS["tokenizers 1.0"].why_unavailable() is None
    assert PEERS["tokenizers 1.0"].version() == "1.0.0rc9"
    assert tokenizers_1.tokenizers_1.__wrapped__().Tokenizer.mine
    assert sys.modules["tokenizers"] is tokenizers
    assert not hasattr(tokenizers.Tokenizer, "mine")
    assert str(tmp_path) not in sys.path
