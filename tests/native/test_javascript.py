"""The library in JavaScript gives the ids of the one in Python: all formats, real files, random texts, broken files."""

import base64
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import bpelab
from bpelab import BPETokenizer
from bpelab.data import FOLDER
from bpelab.encoders.naive import NaiveEncoder
from bpelab.formats import gguf_save
from bpelab.formats.tiktoken_file import save_ranks
from bpelab.model.trace import trace_encode
from bpelab.notebook import book_text
from tools import make_javascript_patterns, make_wasm

from ..conftest import ROOT, amount, fuzz_text, shared
from .javascript import PACKAGE, conformance_texts, differences, library, node, packed, rank_file, valid

CHAT = ["<|im_start|>", "<|im_end|>", "<s>"]
PATTERNS = ["gpt2", "cl100k", "o200k", "qwen2", "tekken", "superbpe"]
CONFORMANCE = ["gpt2", "phi-3-mini", "qwen2.5", "zoo-gpt2", "zoo-llama3", "zoo-metaspace-first", "zoo-post-bos-eos"]
CONFORMANCE += ["zoo-spm-prepend"]


@pytest.fixture(scope="module")
def ask():
    with library() as asks:
        yield asks


def some_texts(seed: int, number: int) -> list[str]:
    """Random texts, some with special tokens in them, of which no other library's rules are asked."""
    rng = random.Random(seed)
    texts = [valid(fuzz_text(rng)) for _ in range(number)]
    return [
        "",
        " ",
        "Hello, wörld! 東京 🍓 1234567\n\n  x",
        *(rng.choice([*CHAT, "", "\n", "  "]).join(texts[n : n + 3]) for n in range(number)),
    ]


def trained(pattern: str = "cl100k", size: int = 1_000) -> BPETokenizer:
    return BPETokenizer.train(book_text()[:60_000], size, pattern=pattern).with_special_tokens(CHAT)


# -- what is committed belongs to its sources --------------------------------------------------------------------------


def test_the_compiled_file_is_that_of_the_sources():
    record = json.loads(make_wasm.RECORD.read_text(encoding="utf-8"))
    assert record["sources"] == make_wasm.digest(), "the C has changed: run `make wasm` and commit bpelab.wasm"
    content = make_wasm.WASM.read_bytes()
    assert record["sha256"] == hashlib.sha256(content).hexdigest() and len(content) < 120_000
    (pinned,) = (line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("ziglang=="))
    assert record["compiler"] == pinned.replace("==", " ")


def test_every_header_that_is_compiled_is_hashed():
    names = {path.name for path in make_wasm.sources()}
    assert {"wasm.c", "checks.h", "scan.h", "merge.h", "vocabulary.h", "decode.h"} <= names
    assert "module.c" not in names and "pretoken_counter.h" not in names


def test_the_tables_of_patterns_are_those_of_the_library():
    assert make_javascript_patterns.PATH.read_text(encoding="utf-8") == make_javascript_patterns.contents(), (
        "a pattern has changed: run `python -m tools.make_javascript_patterns`"
    )


def test_the_package_has_the_version_of_the_library():
    assert json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))["version"] == bpelab.__version__


# -- the same ids ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_trained_tokenizer_as_tokenizer_json(pattern, ask, tmp_path):
    trained(pattern).save(tmp_path)
    opened = BPETokenizer.from_pretrained(tmp_path)
    path = tmp_path / "tokenizer.json"
    if pattern == "cl100k":  # tokenizer_config.json names the pattern, which the file alone spells as Llama 3's
        (tmp_path / "tokenizer_config.json").unlink()
        opened = BPETokenizer.from_pretrained(tmp_path)
    assert not differences(ask, path, opened, some_texts(1, amount(200, 2_000)))


def test_all_other_formats(ask, tmp_path):
    tokenizer, texts = trained(), some_texts(2, amount(200, 2_000))
    save_ranks(tokenizer.spec, tmp_path / "ranks.tiktoken")
    plain = BPETokenizer.from_pretrained(tmp_path / "ranks.tiktoken", pattern="cl100k")
    special = dict(tokenizer.special_tokens)
    assert not differences(ask, tmp_path / "ranks.tiktoken", plain, texts, pattern="cl100k")
    with_names = plain.with_special_tokens(special)
    assert not differences(ask, tmp_path / "ranks.tiktoken", with_names, texts, pattern="cl100k", specialTokens=special)
    gguf_save.save(trained("gpt2").spec, tmp_path / "model.gguf")
    assert not differences(ask, tmp_path / "model.gguf", BPETokenizer.from_pretrained(tmp_path / "model.gguf"), texts)
    write_tekken(tmp_path / "tekken.json", plain)
    assert not differences(ask, tmp_path / "tekken.json", BPETokenizer.from_pretrained(tmp_path / "tekken.json"), texts)


def write_tekken(path, tokenizer):
    """A tekken.json with the tokens of a rank table, and three special ones."""
    ranks = sorted(tokenizer.spec.model.tokens)
    tokens = [bytes([byte]) for byte in range(256)] + [tokenizer.spec.model.tokens[rank] for rank in ranks[256:]]
    config = {"pattern": bpelab.PATTERNS["tekken"].regex, "default_num_special_tokens": 5, "version": "v3"}
    config |= {"default_vocab_size": len(tokens) + 5, "num_vocab_tokens": len(tokens)}
    vocab = [{"rank": n, "token_bytes": base64.b64encode(token).decode()} for n, token in enumerate(tokens)]
    special = [{"rank": n, "token_str": name} for n, name in enumerate(CHAT)]
    path.write_text(json.dumps({"config": config, "vocab": vocab, "special_tokens": special}), encoding="utf-8")


def test_the_shipped_model(ask):
    folder = FOLDER / "tiny_chat"
    tokenizer = BPETokenizer.from_pretrained(folder)
    assert not differences(ask, folder / "tokenizer.json", tokenizer, some_texts(3, amount(200, 2_000)))


def test_characters_with_byte_fallback(ask, tmp_path):
    """As SentencePiece trains them: Metaspace, or Prepend and Replace; with the 256 bytes, with some, and with none."""
    rng, texts = random.Random(4), some_texts(4, amount(100, 1_000))
    letters = "▁abcdehlortwö東京1"
    for spelled in (256, 200, 0):
        vocab = {text: n for n, text in enumerate(["<unk>", *(f"<0x{byte:02X}>" for byte in range(spelled)), *letters])}
        merges = []
        for _ in range(60):
            left, right = (rng.choice([text for text in vocab if not text.startswith("<")]) for _ in range(2))
            if left + right not in vocab:
                vocab[left + right] = len(vocab)
                merges.append([left, right])
        model = {"type": "BPE", "unk_token": "<unk>", "byte_fallback": spelled > 0, "fuse_unk": spelled == 200}
        replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
        prepend = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, replace]}
        back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
        strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        decoder = {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]}
        metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": spelled != 256}
        for normalizer, pre_tokenizer in ((prepend, None), (None, metaspace)):
            added = {"id": len(vocab), "content": "lo w", "special": False, "normalized": True, "lstrip": True}
            data = {"version": "1.0", "added_tokens": [{"id": 0, "content": "<unk>", "special": True}, added]}
            data |= {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": decoder}
            data["model"] = {**model, "vocab": vocab, "merges": merges}
            path = tmp_path / f"{spelled}{'first' if pre_tokenizer else ''}.json"
            path.write_text(json.dumps(data), encoding="utf-8")
            words = ["hello world", " lo wer", "told東京x öl", *texts]
            assert not differences(ask, path, BPETokenizer.from_pretrained(path), words)


def test_tokens_and_pieces(ask, tmp_path):
    tokenizer = trained()
    save_ranks(tokenizer.spec, tmp_path / "ranks.tiktoken")
    texts, job = some_texts(5, 50), {"path": str(tmp_path / "ranks.tiktoken"), "options": {"pattern": "cl100k"}}
    shown = ask(**job, method="tokens", texts=texts)["results"]
    assert [[id_ for id_, _ in tokens] for tokens in shown] == [tokenizer.encode(text) for text in texts]
    assert all(bytes.fromhex(content) == tokenizer.spec.tokens[id_] for tokens in shown for id_, content in tokens)
    pieces = ask(**job, method="pieces", texts=texts)["results"]
    assert pieces == [tokenizer.pipeline.pieces(text) for text in texts]
    assert ask(**job, method="encode", texts=["a\ud800b"])["results"] == [tokenizer.encode("a\ufffdb")]
    unknown = ask(**job, method="decode", texts=[[5, 99_999]])
    assert unknown == {"refused": "there is no token with the id 99999", "kind": "RangeError"}


def traced(tokenizer: BPETokenizer, text: str) -> dict:
    """The merges of a text by the definition of BPE, as the library in JavaScript says them, but for their ranks."""
    model, symbols, steps = tokenizer.spec.model, [], []
    for segment, added, first in tokenizer.pipeline.segments(text, frozenset()):
        for piece in [] if added is not None else tokenizer.pipeline.pre_tokenize(segment, first):
            initial = model.initial_ids(piece.encode())
            ranges = [(len(symbols) + n, len(symbols) + n + 1) for n in range(len(initial))]
            symbols += initial
            for step in trace_encode(NaiveEncoder(model), piece.encode()):
                (begin, _), (_, stop) = ranges[step.position : step.position + 2]
                ranges[step.position : step.position + 2] = [(begin, stop)]
                steps.append({"begin": begin, "stop": stop, "id": step.token})
        if added is not None:
            symbols.append(added)
    return {"symbols": symbols, "steps": steps}


def in_place(steps: list[dict]) -> list[dict]:
    return sorted(steps, key=lambda step: (step["begin"], step["stop"]))


def traces(ask, path, texts, **options):
    found = ask(path=str(path), options=options, method="trace", texts=texts)["results"]
    ranks = [[step.pop("rank") for step in one["steps"]] for one in found]
    return found, ranks


def test_traces_are_those_of_the_definition(ask, tmp_path):
    texts = some_texts(12, amount(60, 2_000))
    trained("o200k").save(tmp_path)
    for folder in (tmp_path, FOLDER / "tiny_chat"):
        tokenizer = BPETokenizer.from_pretrained(folder)
        found, _ = traces(ask, folder / "tokenizer.json", texts)
        assert found == [traced(tokenizer, text) for text in texts]


def test_traces_of_characters_in_several_steps(ask, tmp_path):
    """Initial symbols that aren't bytes, and pieces that a second pattern splits."""
    for name in ("phi-3-mini", "zoo-metaspace-first", "zoo-llama3"):
        path = shared("conformance/tokenizers") / name / "tokenizer.json"
        tokenizer, texts = (
            BPETokenizer.from_pretrained(path),
            ["Hello wörld, 東京 🍓\u200b don't 12345", *some_texts(13, 20)],
        )
        found, ranks = traces(ask, path, texts)
        for text, one, its_ranks in zip(texts, found, ranks):
            if not tokenizer.spec.model.ignore_merges:
                wanted = traced(tokenizer, text)  # in C a piece may be cut where nothing merges, and parts come in turn
                assert one["symbols"] == wanted["symbols"], (name, text)
                assert in_place(one["steps"]) == in_place(wanted["steps"]), (name, text)
            ids = list(one["symbols"])
            for step in one["steps"]:
                ids[step["begin"] : step["stop"]] = [step["id"], *[None] * (step["stop"] - step["begin"] - 1)]
            assert [id_ for id_ in ids if id_ is not None] == tokenizer.encode(text, add_special_tokens=False)
            assert all(step["stop"] - step["begin"] > 1 for step in one["steps"]) and len(its_ranks) == len(
                one["steps"]
            )


def test_a_piece_that_no_merge_makes_is_taken_whole(ask, tmp_path):
    path = tmp_path / "ranks.tiktoken"
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abcd"]
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)))
    (found,), (ranks,) = traces(ask, path, ["abcd"], pattern="cl100k")
    assert found["steps"] == [{"begin": 0, "stop": 2, "id": 256}, {"begin": 0, "stop": 4, "id": 257}]
    assert ranks[0] < ranks[1] == 2**32 - 1
    assert ask(path=str(path), options={"pattern": "cl100k"}, method="encode", texts=["abcd"])["results"] == [[257]]


@pytest.mark.parametrize("name", CONFORMANCE)
def test_the_conformance_tokenizers(name, ask):
    path = shared("conformance/tokenizers") / name / "tokenizer.json"
    texts = [text for text in conformance_texts() if len(text) < 10_000] + some_texts(6, amount(50, 20_000))
    assert not differences(ask, path, BPETokenizer.from_pretrained(path), texts)


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_published_rank_files(name, ask, tmp_path):
    """Their pattern is known by their hash."""
    path = rank_file(name, tmp_path)
    with pytest.warns(UserWarning, match="by its hash"):
        tokenizer = BPETokenizer.from_pretrained(path)
    assert not differences(ask, path, tokenizer, some_texts(7, amount(300, 20_000)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qwen2.5", "phi-3-mini", "gpt2"])
def test_long_texts(name, ask, tmp_path):
    path = shared("conformance/tokenizers") / name / "tokenizer.json"
    tokenizer = BPETokenizer.from_pretrained(path)
    for number, text in enumerate([book_text(), "a" * 1_000_000, " \n" * 200_000, "東京🍓" * 100_000]):
        file = tmp_path / f"{number}.txt"
        file.write_text(text, encoding="utf-8", newline="")
        answer = ask(path=str(path), method="encode", texts=[{"file": str(file)}])
        ids = np.array(tokenizer.encode(text, add_special_tokens=False), "<u4")
        assert answer["results"] == [hashlib.sha256(ids.tobytes()).hexdigest()]


@pytest.mark.slow
def test_another_build_gives_the_same_ids(tmp_path):
    """`make wasm` writes the same bytes, or at least a file that gives the same ids."""
    made = subprocess.run(["make", ".venv-wasm/.ready", f"PYTHON={sys.executable}"], cwd=ROOT, check=False)
    programs = ROOT / ".venv-wasm" / ("Scripts" if os.name == "nt" else "bin")
    if made.returncode:
        pytest.skip("the compiler can't be installed here: there is no network, or no `make`")
    folder = shutil.copytree(PACKAGE, tmp_path / "javascript")
    command = [programs / "python", "-m", "tools.make_wasm", folder / "bpelab.wasm"]
    subprocess.run(command, cwd=ROOT, check=True)
    trained("o200k").save(tmp_path)
    with library(folder) as ask:
        texts = some_texts(8, 2_000)
        assert not differences(ask, tmp_path / "tokenizer.json", BPETokenizer.from_pretrained(tmp_path), texts)


# -- what is refused ---------------------------------------------------------------------------------------------------


def changed(**parts):
    data = json.loads((FOLDER / "tiny_chat" / "tokenizer.json").read_text(encoding="utf-8"))
    model = parts.pop("model", {})
    return json.dumps({**data, **parts, "model": {**data["model"], **model}}).encode()


SPLIT = {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Isolated", "invert": False}
WORD = {"id": 9_000, "content": "x", "single_word": True, "special": True}
REFUSED = {
    "WordPiece": (lambda: changed(model={"type": "WordPiece"}), "The model is WordPiece; only BPE is served."),
    "a pattern": (lambda: changed(pre_tokenizer=SPLIT), r"\[a-z\]\+ is none of the published ones"),
    "a normalizer": (lambda: changed(normalizer={"type": "Lowercase"}), "The normalizer Lowercase is not served"),
    "a pre-tokenizer": (lambda: changed(pre_tokenizer={"type": "UnicodeScripts"}), "UnicodeScripts with these options"),
    "a decoder": (lambda: changed(decoder={"type": "CTC"}), "The decoder CTC is not served"),
    "a flag": (lambda: changed(added_tokens=[WORD]), "The added token x matches whole words"),
    "a section": (lambda: changed(prefix={}), "The file has the key prefix, which is not served"),
    "a key": (lambda: changed(model={"vocab_size": 9}), "The model has the key vocab_size, which is not served"),
    "a key of a step": (lambda: changed(decoder={"type": "ByteLevel", "x": 1}), "ByteLevel has the key x, which"),
    "a key of a token": (lambda: changed(added_tokens=[{**WORD, "case": 1}]), "An added token has the key case"),
    "suffixes": (lambda: changed(model={"end_of_word_suffix": "</w>"}), "Prefixes and suffixes of subwords"),
    "a merge": (lambda: changed(model={"merges": [["a", "zzzz"]]}), r"model.merges\[0\]"),
    "an id": (lambda: changed(model={"vocab": {"a": -1}, "merges": []}), r"model.vocab\[a\]: -1 is no id"),
    "no merges": (lambda: changed(model={"merges": None}), "a part is missing or of another kind"),
    "no pattern": (lambda: b"IQ== 0\nIg== 1\n", "It holds no pattern"),
    "no JSON": (lambda: b'{"model": ', "This is not JSON"),
    "other JSON": (lambda: b'{"a": 1}', "neither a tokenizer.json nor a tekken.json"),
    "no tokenizer": (lambda: b"\x0a\x05hello", "This is no tokenizer.json, .tiktoken, tekken.json or GGUF."),
    "a cut GGUF": (lambda: b"GGUF\x03\0\0\0" + bytes(8) + b"\x05" + bytes(7), "ends inside its header"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case, ask, tmp_path):
    content, message = REFUSED[case]
    path = tmp_path / "file.json"
    path.write_bytes(content())
    answer = ask(path=str(path), method="encode", texts=["a"])
    assert answer.get("kind") == "Refused", answer
    assert re.search(message, answer["refused"]), answer
    assert answer["refused"].startswith("file.json: ")


def test_special_tokens_are_allowed_by_name(ask):
    path = FOLDER / "tiny_chat" / "tokenizer.json"
    tokenizer = BPETokenizer.from_pretrained(path)
    name = next(iter(tokenizer.special_tokens))
    text = f"a{name}b<|im_start|>"
    (ids,) = ask(path=str(path), method="encode", texts=[text], allowed=[name])["results"]
    assert ids == tokenizer.encode(text, allowed_special=[name], add_special_tokens=False)
    answer = ask(path=str(path), method="encode", texts=[text], allowed=["<no>"])
    assert answer["refused"] == "allowedSpecial names <no>, which is no special token here."


def test_damaged_files_end_in_a_sentence(ask, tmp_path):
    """They are served or refused; the library neither hangs nor breaks off."""
    rng = random.Random(9)
    tokenizer = trained(size=300)
    tokenizer.save(tmp_path)
    save_ranks(tokenizer.spec, tmp_path / "ranks.tiktoken")
    gguf_save.save(trained("gpt2", 300).spec, tmp_path / "model.gguf")
    whole = [(tmp_path / name).read_bytes() for name in ("tokenizer.json", "ranks.tiktoken", "model.gguf")]
    said = {"served": 0, "refused": 0}
    for number in range(amount(150, 3_000)):
        content = bytearray(whole[number % 3])
        for _ in range(rng.randrange(1, 3)):
            content[rng.randrange(len(content))] = rng.choice([rng.randrange(256), rng.randrange(48, 58), 0x22])
        if rng.randrange(8) == 0:
            del content[rng.randrange(len(content)) :]
        path = tmp_path / f"damaged{number}"
        path.write_bytes(content)
        answer = ask(
            path=str(path), options={"pattern": "gpt2"}, method="encode", texts=["Hello wörld, 東京 🍓 \n x" * 3]
        )
        assert answer.get("kind", "Refused") == "Refused"
        said["served" if "results" in answer else "refused"] += 1
    assert min(said.values()) > 5, said


# -- the package -------------------------------------------------------------------------------------------------------


def test_the_npm_package(tmp_path):
    node()
    package = packed(tmp_path)
    assert {path.name for path in package.iterdir()} == {path.name for path in PACKAGE.iterdir()} - {"bpelab.wasm.json"}
    trained().save(tmp_path)
    program = """import { Tokenizer } from "bpelab"; import { readFileSync } from "node:fs";
    const tokenizer = await Tokenizer.fromFile(readFileSync("tokenizer.json"), "tokenizer.json");
    console.log(JSON.stringify([...tokenizer.encode("Hello <|im_end|>", { allowedSpecial: "all" })]));"""
    (tmp_path / "try.mjs").write_text(program, encoding="utf-8")
    ran = subprocess.run([node(), "try.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    wanted = BPETokenizer.from_pretrained(tmp_path).encode("Hello <|im_end|>", allowed_special="all")
    assert json.loads(ran.stdout) == wanted
