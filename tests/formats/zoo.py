"""Small tokenizer.json files with the structure of those in the wild: trained on the book's text, or made by hand.

`NORMALIZERS` and its like are parts, to be tried one by one and to be drawn by `random_zoo`; `families` puts parts
together as model families have them.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from bpelab.notebook import book_text
from bpelab.unicode.byte_alphabet import CHAR_OF_BYTE

JSON = dict[str, Any]
SUPERBPE = r"(?=(\d{3})+(?!\d))"
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def trained_model(kind: str, **changes: Any) -> JSON:
    """The section "model" of a tokenizer trained on the book: "bytes", "spaces" (`▁`), "words", "prefix" or "clip"."""
    return {**json.loads(_trained(kind)), **changes}


@lru_cache(None)
def _trained(kind: str) -> str:
    spaced = normalizers.Replace(" ", "▁")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    specials: dict[str, Any] = {"special_tokens": ["<unk>", "<s>", "</s>"]}
    full = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    normalizer, cut, options = {
        "bytes": (None, byte_level, {"vocab_size": 700, **full}),
        "spaces": (spaced, pre_tokenizers.Metaspace(), {"vocab_size": 700, "limit_alphabet": 90, **specials}),
        "words": (
            None,
            pre_tokenizers.BertPreTokenizer(),
            {"vocab_size": 600, "end_of_word_suffix": "</w>", **specials},
        ),
        "prefix": (
            None,
            pre_tokenizers.Whitespace(),
            {"vocab_size": 600, "continuing_subword_prefix": "##", "limit_alphabet": 90, **specials},
        ),
        "clip": (normalizers.Lowercase(), byte_level, {"vocab_size": 900, "end_of_word_suffix": "</w>", **full}),
    }[kind]
    unk = None if "special_tokens" not in options else "<unk>"
    affixes = {key: value for key, value in options.items() if key.endswith("fix")}
    tokenizer = tokenizers.Tokenizer(models.BPE(unk_token=unk, **affixes))
    tokenizer.pre_tokenizer = cut
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(
        book_text()[:200_000].splitlines(True), trainers.BpeTrainer(show_progress=False, **options)
    )
    model = json.loads(tokenizer.to_str())["model"]
    if kind == "clip":  # CLIP has every byte with the suffix too
        for char in CHAR_OF_BYTE.values():
            model["vocab"].setdefault(f"{char}</w>", len(model["vocab"]))
    if kind == "spaces":  # the bytes stand behind the special tokens
        spelled = {f"<0x{byte:02X}>": 3 + byte for byte in range(256)}
        rest = {token: token_id + 256 for token, token_id in model["vocab"].items() if token_id > 2}
        model["vocab"] = {"<unk>": 0, "<s>": 1, "</s>": 2, **spelled, **rest}
        model |= {"byte_fallback": True, "fuse_unk": True}
    return json.dumps(model)


def added(content: str, token_id: int, **flags: bool) -> JSON:
    """An entry of "added_tokens": special, and not normalized, unless the flags say otherwise."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": token_id, "content": content, **plain, **flags}


def behind(model: JSON, *contents: str, **flags: bool) -> list[JSON]:
    """Added tokens with the ids of the vocabulary where they are in it, and the next ones otherwise."""
    vocab, following, entries = model["vocab"], max(model["vocab"].values()) + 1, []
    for content in contents:
        entries.append(added(content, vocab.get(content, following), **flags))
        following += content not in vocab
    return entries


def whole(model: JSON, **sections: Any) -> JSON:
    """A tokenizer.json; sections that aren't given are empty. `added_tokens` get ids that don't collide."""
    empty = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, **sections, "model": model}


def sequence(key: str, *parts: JSON) -> JSON:
    return {"type": "Sequence", key: list(parts)}


def split(pattern: str, behavior: str = "Isolated", invert: bool = False, kind: str = "Regex") -> JSON:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def replace(old: str, new: str, kind: str = "String") -> JSON:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def byte_level(use_regex: bool = False, add_prefix_space: bool = False, trim_offsets: bool = True) -> JSON:
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def metaspace(scheme: str = "always", splits: bool = True, replacement: str = "▁") -> JSON:
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": splits}


def cut_by(*patterns: str) -> JSON:
    """Splits by regular expressions, and ByteLevel."""
    return sequence("pretokenizers", *map(split, patterns), byte_level())


def template(single: str, pair: str, **ids: int) -> JSON:
    """A TemplateProcessing: `ids` are those of the names."""

    def piece(form: str) -> JSON:
        name, _, type_id = form.partition(":")
        kind = "Sequence" if name[0] == "$" else "SpecialToken"
        return {kind: {"id": name.removeprefix("$"), "type_id": int(type_id or 0)}}

    tokens = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in ids.items()}
    forms = {"single": [piece(form) for form in single.split()], "pair": [piece(form) for form in pair.split()]}
    return {"type": "TemplateProcessing", **forms, "special_tokens": tokens}


def bos(name: str, token_id: int) -> JSON:
    return template(f"{name} $A", f"{name} $A {name}:1 $B:1", **{name: token_id})


def roberta(cls: str, cls_id: int, sep: str, sep_id: int) -> JSON:
    return {
        "type": "RobertaProcessing",
        "sep": [sep, sep_id],
        "cls": [cls, cls_id],
        "trim_offsets": True,
        "add_prefix_space": False,
    }


def normalize(normalizer: JSON | None) -> Callable[[str], str]:
    """What a normalizer of `tokenizers` does to a text."""
    if normalizer is None:
        return str
    data = whole({"type": "BPE", "vocab": {"a": 0}, "merges": []}, normalizer=normalizer)
    return tokenizers.Tokenizer.from_str(json.dumps(data)).normalizer.normalize_str


STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
NORMALIZERS: list[JSON] = [
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents", "ByteLevel")),
    BERT, BERT | {"lowercase": False, "strip_accents": True, "handle_chinese_chars": False},
    STRIP, STRIP | {"strip_left": False}, STRIP | {"strip_right": False},
    {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁"), replace(r"\s+", " ", "Regex"),
    replace("(?i)the|é", "ΑΣ ", "Regex"), sequence("normalizers"),
    sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")),
    sequence("normalizers", STRIP, sequence("normalizers", {"type": "NFKC"}, replace(r" {2,}", "▁", "Regex"))),
]  # fmt: skip
SPLITS: list[JSON] = [
    split(pattern, behavior, invert, kind)
    for kind, pattern in (("String", " "), ("Regex", r"\s+|'\w"), ("Regex", SUPERBPE))
    for behavior in BEHAVIORS
    for invert in (False, True)
]
FALCON = (
    {"type": "Punctuation", "behavior": "Contiguous"},
    byte_level(True),
    {"type": "Digits", "individual_digits": False},
)
PRE_TOKENIZERS: list[JSON] = [
    *SPLITS,
    *(byte_level(regex, prefix, trim) for regex in (False, True) for prefix in (False, True) for trim in (False, True)),
    *(metaspace(scheme, splits) for scheme in ("first", "never", "always") for splits in (False, True)),
    metaspace("first", True, "_"), {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    *({"type": name} for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")),
    {"type": "CharDelimiterSplit", "delimiter": "-"}, {"type": "FixedLength", "length": 3},
    *({"type": "Digits", "individual_digits": flag} for flag in (False, True)),
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    sequence("pretokenizers"), sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("first")),
    sequence("pretokenizers", {"type": "UnicodeScripts"}, sequence("pretokenizers", FALCON[2])),
    sequence("pretokenizers", *FALCON, split("[0-9][0-9][0-9]")),
    sequence("pretokenizers", metaspace("never"), byte_level(True, True)),
]  # fmt: skip
SPACED = (replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"})
LLAMA_STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
DECODERS: list[JSON | None] = [
    None, byte_level(True), *({"type": name} for name in ("ByteFallback", "Fuse")), LLAMA_STRIP,
    {"type": "BPEDecoder", "suffix": "</w>"}, {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
    *(metaspace(scheme) for scheme in ("first", "never", "always")), replace("[ae▁]", "-", "Regex"),
    sequence("decoders"), sequence("decoders", *SPACED), sequence("decoders", *SPACED, LLAMA_STRIP),
    sequence("decoders", byte_level(), {"type": "Fuse"}, replace("  ", " ")),
    sequence("decoders", {"type": "ByteFallback"}, metaspace("never"), LLAMA_STRIP),
    sequence("decoders", {"type": "WordPiece", "prefix": "#", "cleanup": False}, sequence("decoders", *SPACED[2:])),
]  # fmt: skip
POST_PROCESSORS: list[JSON] = [
    byte_level(True, True), bos("<s>", 1), template("$A:0 </s>:0", "$A:0 $B:1 </s>:1", **{"</s>": 2}),
    template("<s> $A </s>", "<s> $A </s> $B:1 </s>:1", **{"<s>": 1, "</s>": 2}), roberta("<s>", 1, "</s>", 2),
    {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
    sequence("processors", byte_level(), bos("<s>", 1)), sequence("processors"),
    sequence("processors", bos("<s>", 1), roberta("<s>", 1, "</s>", 2)),
]  # fmt: skip
