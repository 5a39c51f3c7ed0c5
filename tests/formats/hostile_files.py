"""Hostile and broken tokenizer files, made on the spot, and the child process in which they are opened.

A case is a folder with files and what may become of it. The child opens one after another with half a gigabyte of
memory and five seconds of processor time each, uses what opened, and says what happened; see test_hostile.py.
"""

import contextlib
import copy
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from bpelab import BPETokenizer
from bpelab.errors import BPELabError, TokenizerFileError
from bpelab.formats.gguf_container import write_metadata
from bpelab.unicode.byte_alphabet import to_alphabet

MEMORY = 500_000_000
SECONDS = 20.0 if "COVERAGE_PROCESS_CONFIG" in os.environ else 5.0  # a tracer takes several times as long
"""The slowest cases take 1.3 to 1.5 s on a quiet machine, and up to twice that where others use its caches."""
PROBE = "Hello ab abc ▁a 123 é<x> [A]\n日本 \x00!"
LONG = "a" * 30_000 + "!"


@dataclass
class Case:
    """Files by name: bytes, text, JSON data, or a function that makes the file at a path."""

    name: str
    files: dict[str, Any]
    must: str = "error"  # or "load", or "either"
    opened: str = ""  # the file that is opened; the folder by default
    pattern: str | None = None
    says: str = ""  # a part of the message
    place: str = ""  # where in the file the error has to be, or an entry around or inside it
    thorough: bool = True  # with a long text, and all that people do with a tokenizer

    def build(self, folder: Path) -> dict[str, Any]:
        """Write the files; what the child needs to know."""
        folder.mkdir()
        for name, content in self.files.items():
            if callable(content):
                content(folder / name)
            elif isinstance(content, (dict, list)):
                (folder / name).write_text(json.dumps(content), encoding="utf-8")
            else:
                (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        path = f"{folder}/{self.opened}" if self.opened else str(folder)
        return {"path": path, "pattern": self.pattern, "thorough": self.thorough}


# -- good files, from which the bad ones are made ----------------------------------------------------------------------


def byte_level() -> dict[str, Any]:
    """A tokenizer.json with bytes as initial symbols and an entry of every kind around the model."""
    vocab = {to_alphabet(bytes([byte])): byte for byte in range(256)}
    vocab |= {"ab": 256, "abc": 257, "Ġa": 258, "[A]": 259}
    around = {"single": [{"SpecialToken": {"id": "[A]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
              "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
              "special_tokens": {"[A]": {"id": "[A]", "ids": [259], "tokens": ["[A]"]}}}  # fmt: skip
    byte_level, second, third = (
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False} for _ in range(3)
    )
    split = {"type": "Split", "pattern": {"Regex": " ?[a-z]+|[^a-z]"}, "behavior": "Isolated", "invert": False}
    flags = {"single_word": False, "lstrip": True, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "truncation": {"max_length": 100_000, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 4}, "direction": "Left", "pad_to_multiple_of": 8, "pad_id": 259,
                    "pad_type_id": 0, "pad_token": "[A]"},
        "added_tokens": [{"id": 259, "content": "[A]", "special": True, **flags},
                         {"id": 260, "content": "<x>", "special": False, **flags}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "NFC"}, {"type": "Replace", "pattern": {"String": "z"}, "content": "y"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "Digits", "individual_digits": True},
        byte_level]},
        "post_processor": {"type": "Sequence", "processors": [second, {"type": "TemplateProcessing", **around}]},
        "decoder": third,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocab, "merges": [["a", "b"], ["ab", "c"], ["Ġ", "a"]]},
    }  # fmt: skip


def characters() -> dict[str, Any]:
    """One with characters as initial symbols, unknown ones in bytes, and the parts that such tokenizers have."""
    vocab = {"<unk>": 0, "<s>": 1, "▁": 2, "a": 3, "b": 4, "ab": 5, "▁a": 6, "!": 7}
    vocab |= {f"<0x{byte:02X}>": 8 + byte for byte in range(200)}
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "added_tokens": [{"id": 0, "content": "<unk>", **special}, {"id": 1, "content": "<s>", **special}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Strip", "strip_left": False, "strip_right": False},
            {"type": "Replace", "pattern": {"Regex": " "}, "content": "▁"}, {"type": "Lowercase"},
            {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False, "strip_accents": None,
             "lowercase": False}]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True},
        "post_processor": {"type": "RobertaProcessing", "sep": ["<s>", 1], "cls": ["<unk>", 0], "trim_offsets": True,
                           "add_prefix_space": False},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": 0.0, "unk_token": "<unk>", "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": True, "byte_fallback": True, "ignore_merges": True,
                  "vocab": vocab, "merges": ["a b", "▁ a"]},
    }  # fmt: skip


def gallery() -> dict[str, Any]:
    """One with the other parts there are, one after another."""
    data = characters()
    data["post_processor"] = {"type": "BertProcessing", "sep": ["<s>", 1], "cls": ["<unk>", 0]}
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}, {"type": "Whitespace"},
        {"type": "CharDelimiterSplit", "delimiter": "-"}, {"type": "FixedLength", "length": 5},
        {"type": "UnicodeScripts"}, {"type": "BertPreTokenizer"}]}  # fmt: skip
    data["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "BPEDecoder", "suffix": "</w>"},
        {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": False},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}]}  # fmt: skip
    return data


def tiny(**model: Any) -> dict[str, Any]:
    """The smallest file that opens, with entries of its model changed."""
    return {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], **model}}


GOOD = {"byte_level": byte_level, "characters": characters, "gallery": gallery}
JUNK = [
    None,
    True,
    -1,
    7,
    1 << 32,
    10**30,
    1.5,
    1e300,
    "",
    "junk",
    [],
    ["junk"],
    [[[None]]],
    {},
    {"junk": 1},
    {"type": 3},
]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every entry; of long lists and objects to the first three."""
    if path:
        yield path
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for number, (key, value) in enumerate(inner):
        if number < 12:
            yield from places(value, (*path, key))


def shown(path: tuple[Any, ...]) -> str:
    """A way as messages write it."""
    if path[:2] == ("model", "vocab") and len(path) > 2:
        return f"model.vocab[{path[2]!r}]"
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]


def changed(data: dict[str, Any], path: tuple[Any, ...], value: Any = None, drop: bool = False) -> dict[str, Any]:
    """A copy with one entry replaced or left out."""
    data = copy.deepcopy(data)
    inner: Any = data
    for step in path[:-1]:
        inner = inner[step]
    if drop:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return data


def wrong_types() -> Iterator[Case]:
    """Every entry of the good files replaced by junk of every kind, left out, and with an unknown one beside it."""
    for name, make in GOOD.items():
        good = make()
        for path in places(good):
            where = shown(path)
            for junk in JUNK:
                files = {"tokenizer.json": writing(good, path, junk)}
                yield Case(f"{name} {where} = {json.dumps(junk)}", files, "either", place=where)
            yield Case(
                f"{name} without {where}", {"tokenizer.json": writing(good, path, drop=True)}, "either", place=where
            )
            beside = (*path[:-1], "unheard")
            if isinstance(path[-1], str) and path[:2] != ("model", "vocab"):
                files = {"tokenizer.json": writing(good, beside, 1)}
                yield Case(f"{name} unheard beside {where}", files, "either", place=shown(beside))


def writing(data: dict[str, Any], path: tuple[Any, ...], value: Any = None, drop: bool = False) -> Any:
    """What writes a copy of `data` with one entry changed."""
    return lambda file: file.write_text(json.dumps(changed(data, path, value, drop)), encoding="utf-8")


# -- tokenizer.json ----------------------------------------------------------------------------------------------------

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
EVIL = [
    r"(a+)+$", r"(a|aa)+$", r"(.*)*x", r"(a*)*b", r"((a+)+)+$", r"(a+)\1+$", r"(a+)+\1b", r"(.*)\1\1x", r"(?<=(a+)+)!b",
    r"(?<=a{50000})!", r"(?=(a+)+$)b", r"(?!(a+)+$)a", r"(?>(a+)+)b", r"a{100000}", r"((a{100}){100}){100}",
    r"(a|a)*\1b",
    r"(((a{1000}){1000}){1000}){1000}", r"(a{0,1000}){0,1000}b", r"a*b|a", r"(x+x+)+y|(a+a+)+y", r"(a?){1000}a{1000}",
    r"(\w+)*\1=", r"\X+\Xb", r"(a|b)*a(a|b){12}", r"(?:\p{L}{1,100}){100}", "a" * 100_000,
    "(" * 50_000 + "a" + ")" * 50_000,
    "|".join(f"w{number}" for number in range(5_000)), "|".join("a" * number for number in range(400)), "(?:" * 10_000,
    "[" + "".join(chr(0x4E00 + 2 * number) for number in range(10_000)) + "]+", "a?" * 500 + "a" * 500,
    "(a)" * 99 + r"\99",
    "(?i:" * 99 + "a" + ")" * 99, "a**" * 5_000, "[[a]" * 9_000, "[^" * 9_000, r"\p{L}" * 5_000, "(?<x>a)" * 3_000,
    "", "(?=a)", r"\b", "^|$", "a*", "()", "(?!)", "x??",
]  # fmt: skip
UNCOMPILABLE = [
    "(",
    ")",
    "[",
    "a{2,1}",
    r"\p{Junk}",
    "(?<n>a",
    "*a",
    r"\9(",
    "(?P<",
    "(?<=",
    "[z-a]",
    "\\",
    r"\x{110000}",
    "(?{1})",
]


def splitting(pattern: str, **more: Any) -> dict[str, Any]:
    return {
        **tiny(),
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": "Isolated",
            "invert": False,
            **more,
        },
    }


def nested(depth: int, kind: str, key: str, leaf: str) -> str:
    """The text of a component, a Sequence in a Sequence in a Sequence."""
    return f'{{"type":"{kind}","{key}":[' * depth + leaf + "]}" * depth


def with_section(section: str, text: str) -> str:
    return json.dumps({**tiny(), section: "HERE"}).replace('"HERE"', text)


def tokenizer_json() -> Iterator[Case]:
    """Whole files that are wrong in one way."""

    def case(name: str, content: Any, must: str = "error", says: str = "", place: str = "") -> Case:
        return Case(name, {"tokenizer.json": content}, must, says=says, place=place)

    def model(name: str, must: str = "error", says: str = "", place: str = "", **entries: Any) -> Case:
        return case(name, tiny(**entries), must, says, place)

    good = json.dumps(characters())
    for name, content in {
        "empty": b"", "a space": b" ", "words": b"hello", "null": b"null", "a list": b"[1]", "a string": b'"x"',
        "NaN": b"NaN",
        "a number": b"1", "two objects": b"{}{}", "empty object": b"{}", "zeros": bytes(5_000),
        "bytes": bytes(range(256)),
        "UTF-16": good.encode("utf-16"), "UTF-32": good.encode("utf-32"), "Latin-1": good.replace("<unk>",
        "é").encode("latin-1", "replace"),
        "HTML": b"<!DOCTYPE html><html><body>404</body></html>", "gzip": b"\x1f\x8b\x08\0\0\0\0\0",
        "LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
        "pickle": b"\x80\x04\x95\x10\0\0\0", "zip": b"PK\x03\x04\x14\0", "brackets": b"[" * 100_000,
        "braces": b'{"a":' * 100_000,
        "brackets in the model": b'{"model":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "a comma too many": good[:-1] + ",}",
        "single quotes": str(tiny()), "a comment": "// x\n" + good, "escapes": '{"model": "\\u12"}',
        "a control character": '{"a": "\n"}',
    }.items():  # fmt: skip
        yield case(f"json {name}", content)
    for depth in (10, 40, 100, 300, 600, 900, 950, 990):
        deep = "[" * depth + "]" * depth
        yield case(f"{depth} lists as version", '{"version": ' + deep + ', "model": 1}')
        yield case(f"{depth} lists as added token", with_section("added_tokens", f"[{deep}]"))
        yield case(f"{depth} lists as type", with_section("normalizer", f'{{"type": {deep}}}'))
        yield case(
            f"{depth} lists as template",
            with_section("post_processor", f'{{"type": "TemplateProcessing", "single": [{deep}]}}'),
        )
        yield case(f"{depth} lists as strategy", with_section("padding", f'{{"strategy": {deep}}}'))
        yield case(
            f"{depth} lists as delimiter",
            with_section("pre_tokenizer", f'{{"type": "CharDelimiterSplit", "delimiter": {deep}}}'),
        )
        yield case(
            f"{depth} lists as replacement", with_section("decoder", f'{{"type": "Metaspace", "replacement": {deep}}}')
        )
        yield case(f"{depth} lists as a merge", json.dumps(tiny(merges=["HERE"])).replace('"HERE"', deep))
        yield case(f"{depth} lists as an id", json.dumps(tiny(vocab={"a": "HERE"})).replace('"HERE"', deep))
    yield case("a byte order mark", b"\xef\xbb\xbf" + good.encode(), "load")
    for cut in range(1, len(good), max(1, len(good) // 40)):
        yield case(f"cut off at {cut}", good[:cut])
    number = '{"model": {"type": "BPE", "vocab": {"a": %s}, "merges": []}}'
    for value in ("9" * 4_299, "9" * 4_301, "9" * 1_000_000, "-1", "-0.0", "1e300", "1e999", "NaN", "Infinity",
    "-Infinity", "0x1", "1.0",
                  str(2**32), str(2**63), str(2**64), "true", '"1"', "null"):  # fmt: skip
        yield case(f"id {value[:20]}, {len(value)}", number % value)
    for value in (2**31, 2**32 - 1):
        yield case(f"id {value}", number % value, "load")
    yield case(
        "an added token with the highest id",
        {**tiny(), "added_tokens": [{"id": 2**32 - 1, "content": "<x>", **FLAGS}]},
        "load",
    )
    yield case("a key twice", '{"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}}', says="'a'")
    yield case("a section twice", '{"model": {}, "model": {}}', says="'model'")
    yield model("an id twice", vocab={"a": 0, "b": 0}, says="'b'")
    yield model("an empty token", vocab={"": 0, "a": 1})
    yield model("an empty vocabulary", vocab={}, merges=[])
    for value in ("\\ud800", "\\udfff\\ud800", "a\\uDC00"):
        for name, text in {
            "token": '{"model": {"type": "BPE", "vocab": {"HERE": 0}, "merges": []}}',
            "merge": '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["HERE HERE"]}}',
            "added token": json.dumps({**tiny(), "added_tokens": [{"id": 9, "content": "HERE", **FLAGS}]}),
            "pattern": json.dumps(splitting("HERE")),
            "prefix": json.dumps(tiny(continuing_subword_prefix="HERE")),
            "type": json.dumps({**tiny(), "decoder": {"type": "HERE"}}),
        }.items():
            yield case(f"half a pair {value} in a {name}", text.replace("HERE", value), says="surrogate")
    for kind in ("WordPiece", "Unigram", "WordLevel", "bpe", "Junk"):
        yield model(f"model {kind}", type=kind, says=kind, place="model.type")
    for name, merges in {
        "without a space": ["ab"], "of an empty part": ["a "], "of two empty parts": [" "],
        "with two spaces": ["a  b"], "empty": [""],
        "of three": ["a b ab"], "of one": [["a"]], "of three in a list": [["a", "b", "ab"]], "of none": [[]],
        "of numbers": [[0, 1]],
        "of lists": [[["a"], ["b"]]], "null": [None], "number": [3], "object": [{"a": 1, "b": 2}], "true": [True],
        "of nulls": [[None, None]], "of an unknown part": ["a c"], "with no result": ["b a"],
        "with no result in a list": [["ab", "ab"]],
        "with a tab": ["a\tb"], "with a line break": ["a b\n"],
    }.items():  # fmt: skip
        yield model(f"merge {name}", merges=["a b", *merges], says="model.merges[1]")
    yield model("merges with a no-break space", vocab={"a": 0, "b": 1, "\xa0": 2, "\xa0a": 3}, merges=["\xa0 a", "  a"],
                says="model.merges[1]")  # fmt: skip
    yield model("merge apart by a no-break space", merges=["a\xa0b"], says="a\\xa0b")
    yield model("a result longer than any token", vocab={"a": 0, "b": 1}, merges=["a b"], says="'ab'")
    yield model("a part without the prefix", continuing_subword_prefix="##", says="##")
    yield model(
        "a part shorter than the prefix",
        vocab={"a": 0, "#": 1, "a#": 2},
        merges=["a #"],
        continuing_subword_prefix="##",
    )
    yield model(
        "a part that is the prefix",
        "either",
        vocab={"a": 0, "##": 1, "x": 2},
        merges=["a ##"],
        continuing_subword_prefix="##",
    )
    yield model("no unknown token", unk_token="<unk>", says="<unk>", place="model.unk_token")
    for name in ("<0x-1>", "<0xGG>", "<0x>", "<0x000>", "<0x+1>", "<0x 1>", "<0xff>", "<0x１１>"):
        yield model(f"byte token {name}", "load", byte_fallback=True, vocab={"a": 0, "b": 1, "ab": 2, name: 3})
    for value in (-0.1, 1.1, 1e308, "0.5", True, [0.5]):
        yield model(f"dropout {value!r}", dropout=value, place="model.dropout")
    for value in (0, 1, 0.5):
        yield model(f"dropout {value}", "load", dropout=value)
    for content, says in (("", "empty"), ("a" * 70_000, "70,000 characters")):
        token = {"id": 9, "content": content, **FLAGS}
        yield case(
            f"added token {content[:3]!r}", {**tiny(), "added_tokens": [token]}, says=says, place="added_tokens[0]"
        )
    twice = {"id": 9, "content": "<x>", **FLAGS}
    yield case("an added token twice", {**tiny(), "added_tokens": [twice, {**twice, "id": 10}]}, says="added_tokens[1]")
    yield case(
        "an added token's id twice",
        {**tiny(), "added_tokens": [twice, {**twice, "content": "<y>"}]},
        says="added_tokens[1]",
    )
    yield case(
        "an added token with a token's id",
        {**tiny(), "added_tokens": [{**twice, "id": 1}]},
        says="'<x>'",
        place="added_tokens",
    )
    yield case("an added token with another id", {**tiny(), "added_tokens": [{**twice, "content": "a"}]}, says="'a'")
    yield case(
        "100,000 added tokens",
        {**tiny(), "added_tokens": [{"id": 9 + n, "content": f"<{n}>", **FLAGS} for n in range(100_000)]},
        "load",
    )
    for name, contents in {
        "that share a beginning": ["a" * n + "b" for n in range(2, 2_000)],
        "of one letter": ["b" + "a" * n for n in range(2_000)],
        "that are a run": ["a" * n for n in range(2, 2_000)],
        "that nearly fit": ["a" * 4_000 + "b" + str(n) for n in range(20)],
        "of all characters": [chr(n) for n in range(0x100, 0xD000)],
    }.items():  # fmt: skip
        for normalized in (False, True):
            tokens = [
                {"id": 9 + n, "content": text, **FLAGS, "special": False, "normalized": normalized}
                for n, text in enumerate(contents)
            ]
            yield case(f"added tokens {name}, {normalized}", {**tiny(), "added_tokens": tokens}, "either")
    yield from sections(case)


def sections(case: Any) -> Iterator[Case]:
    """Components and settings that ask for too much."""
    for number, pattern in enumerate(EVIL):
        yield case(f"pattern {number} {pattern[:24]}", splitting(pattern), "either")
        if number % 3 == 0:
            text = {"pattern": {"Regex": pattern}, "content": "b"}
            yield case(
                f"normalizer {number} {pattern[:24]}", {**tiny(), "normalizer": {"type": "Replace", **text}}, "either"
            )
            yield case(f"decoder {number} {pattern[:24]}", {**tiny(), "decoder": {"type": "Replace", **text}}, "either")
    for pattern in UNCOMPILABLE:
        yield case(f"pattern {pattern}", splitting(pattern), place="pre_tokenizer")
    for behavior in ("Junk", "", "isolated", "Contiguous "):
        yield case(f"behavior {behavior!r}", splitting("a", behavior=behavior), place="pre_tokenizer")
    for depth in (40, 60, 400, 10_000):
        for section, key, leaf in (("normalizer", "normalizers", '{"type":"NFC"}'), ("decoder", "decoders",
        '{"type":"Fuse"}'),
                                   ("pre_tokenizer", "pretokenizers", '{"type":"WhitespaceSplit"}'),
                                   ("post_processor", "processors", '{"type":"ByteLevel"}')):  # fmt: skip
            yield case(f"{section} {depth} deep", with_section(section, nested(depth, "Sequence", key, leaf)))
            yield case(
                f"{section} of {depth} empty ones",
                {**tiny(), section: {"type": "Sequence", key: [{"type": "Sequence", key: []}] * depth}},
                "either",
            )
            yield case(
                f"{section} of {depth} steps",
                {**tiny(), section: {"type": "Sequence", key: [json.loads(leaf)] * depth}},
                "either",
            )
    split = {"type": "Split", "pattern": {"Regex": r"(a+)+\1b"}, "behavior": "Isolated", "invert": False}
    for length in (3, 12):
        steps = [{"type": "FixedLength", "length": length}, *[split] * 5]
        yield case(
            f"slow patterns on pieces of {length}",
            {**tiny(), "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}},
            "either",
        )
    replaces = {
        "empty pattern": [({"String": ""}, "x")], "empty regex": [({"Regex": ""}, "x")],
        "to nothing": [({"Regex": "."}, "")],
        "growing": [({"String": "a"}, "a" * 10)] * 10, "growing by a regex": [({"Regex": "a"}, "a" * 10)] * 10,
        "growing once": [({"String": "a"}, "a" * 1_000_000)], "growing a little": [({"String": "a"}, "aa")] * 8,
        "growing to what is allowed": [({"String": "a"}, "a" * 30)], "a hundred": [({"String": "b"}, "c")] * 100,
        "twenty thousand": [({"String": "b"}, "c")] * 20_000,
    }  # fmt: skip
    for name, listed in replaces.items():
        steps = [{"type": "Replace", "pattern": pattern, "content": content} for pattern, content in listed]
        yield case(f"replace {name}", {**tiny(), "normalizer": {"type": "Sequence", "normalizers": steps}}, "either")
        yield case(f"decoder replace {name}", {**tiny(), "decoder": {"type": "Sequence", "decoders": steps}}, "either")
    yield case("prepend 10 MB", {**tiny(), "normalizer": {"type": "Prepend", "prepend": "a" * 10_000_000}}, "either")
    yield case(
        "prepend again",
        {
            **tiny(),
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "a" * 9_999}] * 999},
        },
        "either",
    )
    yield case("a suffix of 10 MB", tiny(end_of_word_suffix="x" * 10_000_000), "either")
    yield case("a prefix of 1 MB", tiny(continuing_subword_prefix="x" * 1_000_000, merges=[]), "either")
    yield case("a prefix of 1 kB", tiny(continuing_subword_prefix="x" * 1_000, merges=[]), "either")
    spaces = [
        {"type": "Metaspace", "replacement": mark, "prepend_scheme": "always", "split": True}
        for mark in "_-+~*%$#" * 30
    ]
    yield case(
        "a row of Metaspaces", {**tiny(), "pre_tokenizer": {"type": "Sequence", "pretokenizers": spaces}}, "either"
    )
    yield case(
        "eight Metaspaces", {**tiny(), "pre_tokenizer": {"type": "Sequence", "pretokenizers": spaces[:8]}}, "either"
    )
    yield case(
        "256 steps",
        {**tiny(), "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}] * 256}},
        "either",
    )
    for size in (0, 1, 2**31, 2**63, 10**30):
        yield case(f"pieces of {size}", {**tiny(), "pre_tokenizer": {"type": "FixedLength", "length": size}}, "either")
    text, token = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<x>", "type_id": 0}}
    known = {"<x>": {"id": "<x>", "ids": [9], "tokens": ["<x>"]}}
    for name, single, tokens in (("of 100,000 pieces", [token] * 99_999 + [text], known), ("naming an unknown token",
    [token, text], {}),
                                 ("without the text", [token], known), ("with the text twice", [text, text], known),
                                 ("empty", [], {}),
                                 ("with no ids", [token, text], {"<x>": {"id": "<x>", "ids": [],
                                 "tokens": []}})):  # fmt: skip
        must = "load" if name == "with no ids" else "error"
        template = {"type": "TemplateProcessing", "single": single, "pair": [text], "special_tokens": tokens}
        yield case(f"template {name}", {**tiny(), "post_processor": template}, must, place="post_processor")
    many = {"<x>": {"id": "<x>", "ids": [9] * 100_000, "tokens": ["<x>"] * 100_000}}
    template = {"type": "TemplateProcessing", "single": [token] * 999 + [text], "pair": [text], "special_tokens": many}
    yield case("a template that makes 10^8 ids", {**tiny(), "post_processor": template}, "either")
    padding = {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "a",
    }
    for key, value in (("strategy", {"Fixed": 10**9}), ("strategy", {"Fixed": -1}), ("strategy", {"Fixed": 1.5}),
    ("strategy", {"Junk": 1}),
                       ("pad_to_multiple_of", 10**9), ("pad_to_multiple_of", -8), ("pad_id", -1), ("pad_id", 2**32),
                       ("direction", "Up")):  # fmt: skip
        yield case(f"padding {key} {value}", {**tiny(), "padding": {**padding, key: value}}, place=f"padding.{key}")
    yield case("padding of 10^8", {**tiny(), "padding": {**padding, "strategy": {"Fixed": 10**8}}}, "error")
    truncation = {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    for key, value in (
        ("max_length", -1),
        ("stride", -1),
        ("strategy", "Junk"),
        ("direction", "Up"),
        ("max_length", 1.5),
    ):
        yield case(
            f"truncation {key} {value}", {**tiny(), "truncation": {**truncation, key: value}}, place=f"truncation.{key}"
        )
    yield case("a stride above the length", {**tiny(), "truncation": {**truncation, "stride": 9}}, "load")
    units = [index << 10 | 0x61 for index in range(300_000)]
    blobs = {
        "garbage": bytes(range(256)) * 4, "empty": b"", "four bytes": b"\xff" * 4, "a length": b"\0\0\0\x10",
        "no trie": bytes(4),
        "cyclic": (256 * 4).to_bytes(4, "little") + (0x61 | 0x100).to_bytes(4, "little") * 256 + b"a\0",
        "2 MB of zeros": bytes(2_000_000),
        "8 MB": (8_000_000).to_bytes(4, "little") + b"\x61\x01\0\0" * 2_000_000 + b"a\0",
        "40 MB": (40_000_000).to_bytes(4, "little") + bytes(40_000_000),
        "chains": (4 * len(units)).to_bytes(4, "little") + b"".join(unit.to_bytes(4,
        "little") for unit in units) + b"a" * 1_000_000,
    }  # fmt: skip
    for name, blob in blobs.items():
        yield case(
            f"precompiled {name}",
            {**tiny(), "normalizer": {"type": "Precompiled", "precompiled_charsmap": b64encode(blob).decode()}},
            "either",
        )
    yield case(
        "precompiled é",
        {**tiny(), "normalizer": {"type": "Precompiled", "precompiled_charsmap": "é"}},
        place="normalizer",
    )


# -- the file system ---------------------------------------------------------------------------------------------------


def sparse(size: int) -> Any:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def link(target: str) -> Any:
    return lambda path: path.symlink_to(target)


ENDINGS = {".json": "tokenizer.json", ".gguf": "x.gguf", ".model": "tokenizer.model", ".tiktoken": "x.tiktoken"}
SIDE_FILES = ("tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")
GPT2_NAMES = ("vocab.json", "merges.txt", "added_tokens.json")


def special_files() -> Iterator[Case]:
    """What is no file, cannot be read, or is of the wrong kind."""
    for ending, name in ENDINGS.items():
        pattern = "gpt2" if ending == ".tiktoken" else None
        for kind, make in {
            "pipe": os.mkfifo, "folder": Path.mkdir, "loop": link(name), "link to nowhere": link("nowhere"),
            "device": link("/dev/zero"),
            "huge": sparse(300_000_000), "large": sparse(250_000_000), "terminal": link("/dev/tty"),
            "null": link("/dev/null"),
            "empty": b"", "zeros": bytes(100_000), "pickle 0": b"cos\nsystem\n(S'x'\ntR.",
            "pickle 2": b"\x80\x02cos\nsystem\n",
            "pickle 5": b"\x80\x05\x95", "zip": b"PK\x03\x04" + bytes(64), "html": b"<html></html>",
            "gzip": b"\x1f\x8b\x08" + bytes(9),
            "LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "text": b"hello\n" * 999,
            "of another kind": b"YQ== 0\n" if ending != ".tiktoken" else json.dumps(tiny()).encode(),
            "a random one": b64encode(bytes(range(256)) * 400),
        }.items():  # fmt: skip
            yield Case(f"{ending} {kind}", {name: make}, opened=name, pattern=pattern)
            yield Case(f"a folder with {ending} {kind}", {name: make}, pattern=pattern)
    for name in SIDE_FILES:
        for kind, make in {
            "pipe": os.mkfifo,
            "folder": Path.mkdir,
            "device": link("/dev/zero"),
            "huge": sparse(300_000_000),
        }.items():
            yield Case(f"{name} {kind}", {"tokenizer.json": tiny(), name: make}, says=name)
        yield Case(f"{name} loop", {"tokenizer.json": tiny(), name: link(name)}, "either")
    for name in GPT2_NAMES:
        files = {**GPT2, name: os.mkfifo}
        yield Case(f"{name} pipe", files, pattern="gpt2", says=name)
    for name in (
        "nothing",
        "no\0name",
        "n" * 5_000,
        "n" * 300,
        "~nobody-is-called-that/x",
        "..",
        "x/y/z",
        "tokenizer.json/x",
        "tokenizer.json/",
        "pipe",
    ):
        yield Case(f"named {name[:20]!r}, {len(name)}", {"tokenizer.json": "{", "pipe": os.mkfifo}, opened=name)
    yield Case("an empty folder", {})
    yield Case("two models", {"a.gguf": b"", "b.gguf": b""})
    yield Case("a rank file without a pattern", {"x.tiktoken": "YQ== 0\n"}, says="pattern")
    yield Case(
        "a pattern for a file that has one",
        {"tokenizer.json": tiny()},
        opened="tokenizer.json",
        pattern="gpt2",
        says="pattern",
    )


def config_files() -> Iterator[Case]:
    """tokenizer_config.json and the files beside it: wrong types, and names that would have code run."""
    template = [{"name": "default", "template": "{{ x }}"}]
    good = {"bos_token": "[A]", "eos_token": {"content": "[A]", "__type": "AddedToken"}, "pad_token": None,
    "unk_token": None,
            "chat_template": template, "model_max_length": 10**30, "padding_side": "left",
            "truncation_side": "right"}  # fmt: skip
    model = byte_level()
    yield Case("a good config", {"tokenizer.json": model, "tokenizer_config.json": good}, "load")
    for path in places(good):
        for junk in JUNK:
            data = changed(good, path, junk)
            yield Case(f"config {shown(path)} = {json.dumps(junk)}", {"tokenizer.json": model,
            "tokenizer_config.json": data}, "either",
                       place=shown(path))  # fmt: skip
    for junk in (
        "",
        "[]",
        "null",
        "{",
        "NaN",
        b"\xff",
        "1",
        "[" * 100_000,
        '{"bos_token": ' + "[" * 900 + "]" * 900 + "}",
    ):
        for name in SIDE_FILES[:2]:
            yield Case(f"{name} {junk[:9]!r}", {"tokenizer.json": model, name: junk}, says=name)
    deep = '{"chat_template": ' + "[" * 900 + "]" * 900 + "}"
    yield Case("a deep template", {"tokenizer.json": model, "tokenizer_config.json": deep}, says="chat_template")
    yield Case("a template of bytes", {"tokenizer.json": model, "chat_template.jinja": b"\xff\xfe{{"}, "either")
    code = {"auto_map": {"AutoTokenizer": ["hostile_code.Tokenizer", None]},
    "tokenizer_class": "hostile_code.Tokenizer",
            "tokenizer_file": "../../../../etc/passwd", "name_or_path": "/etc/passwd", "vocab_file": "/etc/passwd",
            "chat_template":
            "{{ ''.__class__.__mro__[1].__subclasses__() }}"}  # fmt: skip
    harm = "import os\nos._exit(3)\n"
    yield Case(
        "a config that names code",
        {"tokenizer.json": model, "tokenizer_config.json": code, "hostile_code.py": harm},
        "load",
    )
    yield Case(
        "code beside vocab.json", {**GPT2, "tokenizer_config.json": code, "hostile_code.py": harm}, says="pattern"
    )


# -- GPT-2's two files, .tiktoken, minbpe ------------------------------------------------------------------------------

GPT2_VOCAB = {to_alphabet(bytes([byte])): byte for byte in range(256)} | {
    "ab": 256,
    "<|end|>": 257,
    "x\x85y": 258,
    "\u2028": 259,
}
GPT2: dict[str, Any] = {"vocab.json": GPT2_VOCAB, "merges.txt": "#version: 0.2\na b\n"}


def gpt2_files() -> Iterator[Case]:
    """vocab.json and merges.txt."""
    yield Case("gpt2 good", GPT2, "load", pattern="gpt2")
    yield Case("gpt2 without a pattern", GPT2, says="pattern")
    for name, merges in {
        "CRLF": "#version: 0.2\r\na b\r\n",
        "no version": "a b",
        "blank lines": "\n\na b\n\n",
        "none": "",
    }.items():
        yield Case(f"gpt2 merges {name}", {**GPT2, "merges.txt": merges}, "load", pattern="gpt2")
    for name, merges in {
        "one part": "a b\nab\n", "three parts": "a b\na b c\n", "two spaces": "a b\na  b\n", "a tab": "a b\na\tb\n",
        "unknown": "a b\nzz y\n",
        "no result": "a b\nb a\n", "NEL": "a b\na\x85b\n", "line separator": "a b\na\u2028b\n",
        "no-break space": "a b\na\xa0b\n", "a lone CR": "a b\rb a\n",
        "zeros": bytes(999), "UTF-16": "a b".encode("utf-16"), "Latin-1": b"a b\n\xe9 a\n", "JSON": "{}",
        "a space": "a b\n \n", "html": "<html>\n",
        "a BOM": b"\xef\xbb\xbfa b\n",
    }.items():  # fmt: skip
        yield Case(f"gpt2 merges {name}", {**GPT2, "merges.txt": merges}, pattern="gpt2", says="merges.txt")
    vocab = {"x": 0, "\x85": 1, "\u2028": 2, "x\x85": 3, "x\x85\u2028": 4, "\xa0": 5, "\xa0x": 6}
    yield Case(
        "gpt2 merges of U+0085 and U+2028",
        {"vocab.json": vocab, "merges.txt": "x \x85\nx\x85 \u2028\n\xa0 x\n"},
        "load",
        pattern="gpt2",
    )
    for junk in JUNK:
        yield Case(f"gpt2 vocab {json.dumps(junk)}", {**GPT2, "vocab.json": json.dumps(junk)}, "either", pattern="gpt2")
        yield Case(
            f"gpt2 id {json.dumps(junk)}",
            {**GPT2, "vocab.json": {**GPT2_VOCAB, "b": junk}},
            "either",
            pattern="gpt2",
            says="'b'",
        )
        yield Case(
            f"gpt2 added {json.dumps(junk)}", {**GPT2, "added_tokens.json": json.dumps(junk)}, "either", pattern="gpt2"
        )
        yield Case(
            f"gpt2 added id {json.dumps(junk)}", {**GPT2, "added_tokens.json": {"<y>": junk}}, "either", pattern="gpt2"
        )
        for entry in ({"added_tokens_decoder": junk}, {"added_tokens_decoder": {"300": junk}},
        {"added_tokens_decoder": {"300": {"content": junk}}},
                      {"tokenizer_class": junk}, {"added_tokens_decoder": {"300": {"content": "<y>", "lstrip": junk,
                      "special": True}}}):  # fmt: skip
            yield Case(
                f"gpt2 config {json.dumps(entry)}", {**GPT2, "tokenizer_config.json": entry}, "either", pattern="gpt2"
            )
    for key in ("-1", "1e3", "٣", "9" * 5_000, "", " 300", "4294967296"):
        entry = {"added_tokens_decoder": {key: {"content": "<y>"}}}
        yield Case(f"gpt2 added {key[:9]!r}", {**GPT2, "tokenizer_config.json": entry}, "either", pattern="gpt2")


def bytes_of_ranks() -> list[str]:
    return [f"{b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]


def tiktoken_files() -> Iterator[Case]:
    """.tiktoken files."""
    lines = bytes_of_ranks()

    def case(name: str, more: str | bytes, must: str = "error", base: list[str] = lines, **expected: str) -> Case:
        content = "\n".join(base).encode() + b"\n" + (more.encode() if isinstance(more, str) else more)
        return Case(f"tiktoken {name}", {"x.tiktoken": content}, must, pattern="gpt2", **expected)

    yield case("good", "YWI= 256\n", "load")
    yield case("with blank lines", "\n\r\n  \nYWI= 256\r\n\n", "load")
    yield case("without some bytes", "", base=lines[:200], says="bytes")
    for name, line in {
        "a rank twice": "YWI= 255", "a token twice": "YQ== 256", "bad base64": "Y*== 256", "short base64": "Y 256",
        "no rank": "YWI=",
        "a negative rank": "YWI= -1", "a float": "YWI= 256.0", "an exponent": "YWI= 1e3",
        "4,300 digits": "YWI= " + "9" * 4_300, "4,301 digits": "YWI= " + "9" * 4_301,
        "arabic digits": "YWI= ١", "an underscore": "YWI= 2_5_6", "a plus": "YWI= +256", "three parts": "YWI= 256 1",
        "hex": "YWI= 0x100",
        "a rank of 2^32": f"YWI= {2**32}", "a rank of 2^64": f"YWI= {2**64}", "words": "hello world",
        "a comma": "YWI=,256",
    }.items():  # fmt: skip
        yield case(name, line + "\n", says="line 257")
    yield case("an empty token", "= 256\n", "load")  # as Whisper's file has it
    yield case("bytes", b"\xff\xfe 256\n", says="line 257")
    yield case("a high rank", f"YWI= {2**32 - 1}\n", "load")
    many = "".join(f"{b64encode(b'%d' % number).decode()} {number}\n" for number in range(1_000, 26_000))
    yield case("high ranks that would be kept", many + f"YWI= {2**40}\n", says="line")
    runs = "".join(f"{b64encode(b'a' * number).decode()} {300 + number}\n" for number in range(2, 500))
    yield case("runs", runs, "load")
    yield case("a token of 1 MB", f"{b64encode(b'a' * 1_000_000).decode()} 256\n", "either")
    yield case("a BOM", "", base=["\ufeffYQ== 0"], says="line 1")


def minbpe_files() -> Iterator[Case]:
    """minbpe's .model files."""

    def case(name: str, content: str | bytes, must: str = "error", says: str = "") -> Case:
        return Case(f"minbpe {name}", {"tokenizer.model": content}, must, says=says)

    head = "minbpe v1\n\n0\n"
    yield case("good", head + "97 98\n256 99\n", "load")
    yield case("with a special token", "minbpe v1\n\n1\n<|end|> 256\n97 98\n", "either")
    for name, content in {
        "only a version": "minbpe v1", "another version": "minbpe v2\n\n0\n", "no version": "\n0\n97 98\n",
        "no count": "minbpe v1\n\n",
        "a bad count": "minbpe v1\n\nx\n", "a negative count": "minbpe v1\n\n-1\n",
        "a huge count": "minbpe v1\n\n999999999\n", "a longer count": "minbpe v1\n\n" + "9" * 5_000 + "\n",
        "a special token without an id": "minbpe v1\n\n1\n<|end|>\n",
        "a special token with a space": "minbpe v1\n\n1\n<|the end|> x\n",
        "a special token twice": "minbpe v1\n\n2\n<e> 300\n<e> 301\n",
        "special tokens with one id": "minbpe v1\n\n2\n<e> 300\n<f> 300\n",
        "a special token with a byte's id": "minbpe v1\n\n1\n<e> 7\n", "one part": head + "97\n",
        "three parts": head + "97 98 99\n", "words": head + "a b\n",
        "a negative part": head + "-1 98\n", "a part that is not made yet": head + "97 256\n",
        "itself": head + "256 256\n", "a merge twice": head + "97 98\n97 98\n",
        "arabic digits": head + "٣ 98\n", "4,301 digits": head + "9" * 4_301 + " 98\n",
        "a pattern that is none": "minbpe v1\n(\n0\n", "a blank line": head + "97 98\n\n98 99\n",
        "a slow pattern": "minbpe v1\n(" + "(a+)+" * 99 + "\n0\n", "UTF-16": (head + "97 98\n").encode("utf-16"),
        "Latin-1": head.encode() + b"\xe9\n",
        "tokens that double": head + "97 97\n" + "".join(f"{number} {number}\n" for number in range(256, 356)),
        "tokens that grow": head + "97 97\n" + "".join(f"{number} 97\n" for number in range(256, 60_000)),
    }.items():  # fmt: skip
        yield case(name, content)


# -- GGUF and SentencePiece --------------------------------------------------------------------------------------------


def gguf_files() -> Iterator[Case]:
    """GGUF at the level of the tokenizer; what headers can hold is tested in test_gguf_file.py."""
    tokens = [to_alphabet(bytes([byte])) for byte in range(256)] + ["ab", "<|end|>", "Ġa"]
    scored = ["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁a", *(f"<0x{byte:02X}>" for byte in range(256))]
    is_byte_level: dict[str, Any] = {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "merges": ["a b", "Ġ a"],
    "token_type": [1] * 257 + [3, 1],
                                "bos_token_id": 257, "eos_token_id": 257, "add_bos_token": True}  # fmt: skip
    spm: dict[str, Any] = {"model": "llama", "tokens": scored,
    "scores": [0.0] * 3 + [-float(n) for n in range(len(scored) - 3)],
                           "token_type": [2, 3, 3, *[1] * 5, *[6] * 256], "bos_token_id": 1, "eos_token_id": 2,
                           "unknown_token_id": 0}  # fmt: skip

    def types(entries: dict[str, Any]) -> dict[str, str]:
        kinds = {bool: "bool", int: "int64", float: "float32", str: "string"}

        def kind(value: Any) -> str:
            return f"[{kind(value[0]) if value else 'int32'}]" if isinstance(value, list) else kinds[type(value)]

        return {key: kind(value) for key, value in entries.items()}

    def case(name: str, base: dict[str, Any], must: str = "error", says: str = "", **entries: Any) -> Case:
        given = {f"tokenizer.ggml.{key}": value for key, value in {**base, **entries}.items() if value is not None}
        return Case(f"gguf {name}", {"x.gguf": lambda path: write_metadata(path, given, types(given))}, must, says=says)

    yield case("good bytes", is_byte_level, "load")
    yield case("good scores", spm, "load")
    for label, base in (("bytes", is_byte_level), ("scores", spm)):
        size = len(base["tokens"])
        for key in ("bos_token_id", "eos_token_id", "unknown_token_id", "padding_token_id"):
            for value in (-1, size, 2**31, 2**32 - 1, 2**63 - 1, "1", 1.0, True, [1]):
                yield case(f"{label} {key} {value}", base, says=key, **{key: value})
        for key in base:
            for value in (
                7,
                "junk",
                1.5,
                True,
                [],
                [1],
                ["x"],
                [0.5],
                [True],
                [[1]],
                None,
                ["x"] * size,
                [1] * size,
                [0.5] * size,
                [-1] * size,
                [99] * size,
            ):
                yield case(f"{label} {key} = {str(value)[:20]}", base, "either", says=key, **{key: value})
        yield case(f"{label} short types", base, says="token_type", token_type=base["token_type"][:-1])
        yield case(f"{label} no tokens", base, tokens=[], token_type=[], scores=[])
        yield case(f"{label} tokens twice", base, says="tokens[1]", tokens=[base["tokens"][0]] * size)
        yield case(f"{label} an empty token", base, says="tokens[0]", tokens=["", *base["tokens"][1:]])
        yield case(f"{label} tokens of bytes", base, "either", tokens=["\udcff", *base["tokens"][1:]])
        yield case(
            f"{label} control tokens of bytes",
            base,
            "either",
            tokens=[*base["tokens"][:-3], "\udcff", "\udcfe", "\udcff\udcfe"],
            token_type=[3] * size,
        )
        yield case(f"{label} all control", base, "either", token_type=[3] * size)
        yield case(f"{label} all bytes", base, "either", token_type=[6] * size)
        yield case(f"{label} all unknown", base, "either", token_type=[2] * size)
        yield case(f"{label} all symbols", base, "either", token_type=[4] * size)
    for name in ("bert", "t5", "rwkv", "plamo2", "none", "", "GPT2"):
        yield case(f"model {name!r}", is_byte_level, says="model", model=name)
    for name in ("", "junk", "qwen2 ", "x" * 10_000):
        yield case(f"pre {name[:9]!r}", is_byte_level, "error", says="pre", pre=name)
    for value in (float("nan"), float("inf"), -float("inf"), 1e38):
        yield case(f"a score of {value}", spm, "error" if isnan(value) else "either", scores=[value] * len(scored))
    yield case("equal scores", spm, "load", scores=[0.0] * len(scored))
    yield case("short scores", spm, says="scores", scores=[0.0])
    for name, merges in {
        "without a space": ["ab"],
        "unknown": ["a zz"],
        "no result": ["b a"],
        "empty": [""],
        "a space": [" "],
        "three": ["a b c"],
    }.items():
        yield case(f"a merge {name}", is_byte_level, says="merges[0]", merges=merges)
    for text in ("<0x-1>", "<0xGG>", "<0x1>", "byte", "<0x 1>", "<0x+1>", "<0x１１>"):
        yield case(f"byte token {text}", spm, says="", tokens=[*scored[:-1], text])
    symbols = scored[:8] + [f"sym{number}" for number in range(20_000)]
    yield case(
        "20,000 symbols",
        spm,
        "either",
        tokens=symbols,
        scores=[0.0] * len(symbols),
        token_type=[2, 3, 3, *[1] * 5, *[4] * 20_000],
    )
    runs = scored[:8] + ["a" * number for number in range(3, 500)]
    yield case(
        "runs",
        spm,
        "either",
        tokens=runs,
        scores=[-float(len(text)) for text in runs],
        token_type=[2, 3, 3, *[1] * (len(runs) - 3)],
    )
    yield case(
        "symbols that are runs",
        spm,
        "either",
        tokens=runs,
        scores=[0.0] * len(runs),
        token_type=[2, 3, 3, *[4] * (len(runs) - 3)],
    )
    alike = scored[:8] + ["a" * number + "b" for number in range(2, 1_500)]
    yield case(
        "symbols that share a beginning",
        spm,
        "either",
        tokens=alike,
        scores=[0.0] * len(alike),
        token_type=[2, 3, 3, *[1] * 5, *[4] * (len(alike) - 8)],
    )
    yield Case("gguf truncated", {"x.gguf": b"GGUF\3\0\0\0"})


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def sp_piece(text: str | bytes, score: float = 0.0, kind: int = 1) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return message(1, message(1, data) + b"\x15" + struct.pack("<f", score) + b"\x18" + varint(kind))


def sp_model(*pieces: bytes, trainer: bytes = b"\x18\x02", normalizer: bytes = b"") -> bytes:
    return b"".join(pieces) + message(2, trainer) + message(3, normalizer)


SP_PIECES = [sp_piece("<unk>", 0, 2), sp_piece("<s>", 0, 3), sp_piece("</s>", 0, 3), sp_piece("▁", -1), sp_piece("a",
-2), sp_piece("ab", -0.5),
             sp_piece("b", -3)]  # fmt: skip
FALLBACK = b"\x18\x02" + varint(35 << 3) + b"\1"


def sentencepiece_files() -> Iterator[Case]:
    """SentencePiece at the level of the tokenizer; the protobuf is tested in test_sentencepiece_file.py."""

    def case(name: str, content: bytes, must: str = "error", says: str = "") -> Case:
        return Case(f"sp {name}", {"tokenizer.model": content}, must, says=says)

    yield case("good", sp_model(*SP_PIECES), "load")
    for kind in (0, 1, 3, 4, 5, 99):
        yield case(f"model type {kind}", sp_model(*SP_PIECES, trainer=b"\x18" + varint(kind)))
    for name, more in {
        "an empty piece": sp_piece(""), "a piece twice": sp_piece("a"), "an unused piece": sp_piece("zz", 0, 5),
        "no number": sp_piece("zz", float("nan")),
        "a kind of its own": sp_piece("zz", 0, 9), "a control piece twice": sp_piece("a", 0, 3),
    }.items():  # fmt: skip
        yield case(name, sp_model(*SP_PIECES, more))
    for text in ("<0x-1>", "<0xGG>", "<0x1>", "byte", "<0x 1>", "<0x+1>", "<0x１１>"):
        yield case(f"byte piece {text}", sp_model(*SP_PIECES, sp_piece(text, 0, 6), trainer=FALLBACK))
    yield case("no pieces", sp_model())
    yield case("one byte", sp_model(*SP_PIECES, sp_piece("<0x41>", 0, 6), trainer=FALLBACK), "load")
    yield case("only control", sp_model(sp_piece("<unk>", 0, 2), sp_piece("<s>", 0, 3)), "either")
    yield case("two unknown", sp_model(*SP_PIECES, sp_piece("<unk2>", 0, 2)), "either")
    yield case("endless score", sp_model(*SP_PIECES, sp_piece("zz", float("inf"))), "either")
    yield case("bytes", sp_model(*SP_PIECES, sp_piece(b"\xff\xfe"), sp_piece(b"\xff")), "either")
    yield case(
        "control bytes",
        sp_model(*SP_PIECES, sp_piece(b"\xff\xfe", 0, 3), sp_piece(b"\xfd", 0, 3), sp_piece(b"\xfc", 0, 4)),
        "either",
    )
    symbols = [sp_piece(f"sym{number}", 0, 4) for number in range(20_000)]
    yield case("20,000 symbols", sp_model(*SP_PIECES, *symbols), "either")
    yield case(
        "20,000 control", sp_model(*SP_PIECES, *(sp_piece(f"<{number}>", 0, 3) for number in range(20_000))), "either"
    )
    alike = [sp_piece("a" * number + "b", 0, 4) for number in range(2, 1_500)]
    yield case("symbols that share a beginning", sp_model(*SP_PIECES, *alike), "either")
    yield case("symbols of spaces", sp_model(*SP_PIECES, sp_piece("▁▁", 0, 4), sp_piece("!", 0, 4)), "load")
    for name, blob in {
        "garbage": b"\xff" * 40,
        "short": b"\x10\0\0\0",
        "cyclic": (1024).to_bytes(4, "little") + b"\x61\x01\0\0" * 256 + b"a\0",
    }.items():
        yield case(f"charsmap {name}", sp_model(*SP_PIECES, normalizer=message(2, blob)), "either")


MAKERS = [
    tokenizer_json, special_files, config_files, gpt2_files, tiktoken_files, minbpe_files, gguf_files,
    sentencepiece_files
]  # fmt: skip


# -- at random ---------------------------------------------------------------------------------------------------------


def changed_bytes(rng: random.Random, data: bytes) -> bytes:
    """A file with some bytes changed, left out, doubled or moved."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, size = rng.randrange(len(out) + 1), rng.choice((1, 1, 2, 8, 64))
        kind = rng.randrange(5)
        if kind == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del out[at : at + rng.choice((size, size, size, len(out)))]
        elif kind == 3:
            out[at:at] = out[at : at + size] * rng.choice((1, 1, 3))
        else:
            out[at : at + size] = rng.choice(
                (b"", b"\xff" * size, bytes(size), b"9" * size, b'"', b"[" * size, b" ", b"\n")
            )
    return bytes(out)


def changed_entries(rng: random.Random, data: dict[str, Any]) -> dict[str, Any]:
    """An object with some entries replaced, by junk or by what stands elsewhere in it, or left out."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        found = list(places(data))
        if not found:
            return data
        path = rng.choice(found)
        value: Any = rng.choice(JUNK)
        if rng.random() < 0.5:
            value = data
            for step in rng.choice(found):
                value = value[step]
        value = copy.deepcopy(value)
        for _ in range(rng.choice((0,) * 15 + (3, 150))):
            value = [value]
        data = changed(data, path, value, drop=rng.random() < 0.2)
    return data


def good_contents(folder: Path) -> list[tuple[Case, dict[str, bytes]]]:
    """Good files of every format as cases, with what is in them; `folder` is for making them."""
    makers = [tokenizer_json, config_files, gpt2_files, tiktoken_files, minbpe_files, gguf_files, sentencepiece_files]
    good = [Case("a good tokenizer.json", {"tokenizer.json": make()}) for make in GOOD.values()]
    good += [case for make in makers[1:] for case in make() if "good" in case.name]
    contents: list[tuple[Case, dict[str, bytes]]] = []
    for count, case in enumerate(good):
        case.build(folder / f"good {count}")
        contents.append((case, {name: (folder / f"good {count}" / name).read_bytes() for name in case.files}))
    return contents


def changed_case(rng: random.Random, case: Case, files: dict[str, bytes], number: str) -> Case:
    """A good case with one of its files changed: a JSON file mostly entry by entry, others byte by byte."""
    name = rng.choice([name for name in files if name != "tokenizer.json" or len(files) == 1])
    entries = name.endswith(".json") and rng.random() < 0.7
    changed_file: Any = changed_entries(rng, json.loads(files[name])) if entries else changed_bytes(rng, files[name])
    content = {**files, name: changed_file}
    return Case(f"{case.name}, {number}", content, "either", pattern=case.pattern, thorough=rng.random() < 0.1)


def random_cases(number: int, seed: int, folder: Path) -> Iterator[Case]:
    """Good files of every format, changed at random; `folder` is for making them."""
    contents = good_contents(folder)
    for count in range(number):
        rng = random.Random(f"{seed} {count}")
        yield changed_case(rng, *rng.choice(contents), f"{seed} {count}")


# -- the child ---------------------------------------------------------------------------------------------------------


class OutOfTime(BaseException):
    """The alarm."""


def use(path: str, pattern: str | None, thorough: bool) -> Iterator[str]:
    """Open a tokenizer and do with it what people do; each step is named before it is done."""
    from bpelab.analysis.describe import describe
    from bpelab.convert import convert

    yield "open"
    tokenizer = BPETokenizer.from_pretrained(path, pattern=pattern)
    for step, text in (("probe", PROBE), ("long", LONG))[: 1 + thorough]:
        yield f"encode {step}"
        ids = tokenizer.encode(text, allowed_special="all")
        yield f"decode {step}"
        tokenizer.decode(ids)
        tokenizer.decode_bytes(ids)
    yield "size"
    assert tokenizer.n_vocab >= len(tokenizer)
    if thorough:
        yield "describe"
        json.dumps(describe(tokenizer)).encode()
        yield "convert"
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BPELabError):
            convert(tokenizer, Path(folder) / "x.gguf", "gguf", lossy=True)
    with tempfile.TemporaryDirectory() as folder:
        yield "save"
        tokenizer.save(folder)
        yield "open again"
        again = BPETokenizer.from_pretrained(folder)
        yield "compare"
        one, two = (t.encode(PROBE, allowed_special="all") for t in (tokenizer, again))
        if one != two:
            raise AssertionError(f"saved and opened again it encodes to {two[:20]}, not {one[:20]}")


def outcome(path: str, pattern: str | None = None, thorough: bool = True) -> dict[str, Any]:
    """What became of a case: "used", "refused" (an error of the library's, in which step), or "broken"."""
    step, started = "", time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        steps = use(path, pattern, thorough)
        while True:
            try:
                step = next(steps)
            except StopIteration:
                break
            if step in ("convert", "save", "open again"):
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
        found: dict[str, Any] = {"kind": "used", "step": step}
    except BPELabError as error:
        where = getattr(error, "where", "")
        kind = "refused" if step != "open" or isinstance(error, TokenizerFileError) else "broken"
        found = {"kind": kind, "type": type(error).__name__, "where": where, "message": str(error)}
    except BaseException as error:
        found = {"kind": "broken", "type": type(error).__name__, "message": str(error)[:300], "where": ""}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {**found, "step": step, "seconds": round(time.process_time() - started, 2)}


def memory() -> int:
    """Bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def serve() -> None:
    """Read cases as lines of JSON, answer each with a line."""

    def alarm(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGPROF, alarm)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in GOOD.items():  # what is loaded once in a process is not what is measured
            (Path(folder) / f"{name}.json").write_text(json.dumps(make()))
            outcome(f"{folder}/{name}.json")
    start = memory()
    resource.setrlimit(resource.RLIMIT_AS, (start + MEMORY, start + MEMORY))
    for line in sys.stdin:
        answer = outcome(**json.loads(line))
        sys.stdout.write(json.dumps({**answer, "full": memory() - start > MEMORY // 5}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
