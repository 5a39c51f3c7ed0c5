"""Hugging Face: a folder with `tokenizer.json` and `tokenizer_config.json`.

Held: tokens with any ids, merges, special tokens, pattern, Unicode normal form, post-processor, bos/eos/pad/unk.
Tokens are written in GPT-2's byte alphabet. Not held: a merge order in which one merge has several ranks, tokens that
are recovered from ranks but ambiguous, special tokens that share an id.

Named patterns are written as Hugging Face's engine needs them (`NamedPattern.oniguruma`) and recognised when read.
Read so far: byte-level BPE as written here. Anything else in a file is refused by name, never skipped.

Chapter: File formats. Source: tokenizers `models/bpe/serialization.rs`, read and tried.
"""

import json
import re
from pathlib import Path
from typing import Any

from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..model import BPEModel
from ..normalizers import FORMS, UnicodeNormalizer
from ..postprocessors import TemplateProcessing
from ..pretokenizers.patterns import find_pattern
from ..textio import write_atomically
from ..tokenizer import BPETokenizer
from .byte_alphabet import BYTE_OF_CHAR, from_alphabet, to_alphabet

ROLES = ("bos", "eos", "pad", "unk")
PLAIN_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


# -- writing -----------------------------------------------------------------------------------------------------------


def save(tokenizer: BPETokenizer, folder: Path) -> None:
    """Write both files; see `BPETokenizer.save`."""
    files = {"tokenizer.json": tokenizer_json(tokenizer), "tokenizer_config.json": _config(tokenizer)}
    contents = {name: json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n" for name, data in files.items()}
    if folder.exists() and not folder.is_dir():
        raise ConversionError(f"{folder} is a file; save writes a folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomically(folder / name, content)


def tokenizer_json(tokenizer: BPETokenizer) -> dict[str, Any]:
    """The contents of `tokenizer.json`. Raises ConversionError for what it can't hold."""
    model, special = tokenizer.model, tokenizer.special_tokens
    if len(set(special.values())) != len(special):
        raise ConversionError("tokenizer.json can't hold two special tokens with one id")
    vocab = {to_alphabet(token): token_id for token_id, token in sorted(model.tokens.items())}
    # Hugging Face numbers added tokens on from the size of the vocabulary, whatever their "id" says, unless the
    # vocabulary itself gives them another.
    if sorted(special.values()) != list(range(len(vocab), len(vocab) + len(special))):
        for name, token_id in special.items():
            if name in vocab:
                raise ConversionError(
                    f"tokenizer.json would mix up the special token {name!r} with the token {from_alphabet(name)!r}"
                )
            vocab[name] = token_id
    template = tokenizer.post_processor
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": token_id, "content": name, **PLAIN_FLAGS, "special": True}
            for name, token_id in sorted(special.items(), key=lambda item: item[1])
        ],
        "normalizer": None if tokenizer.normalizer is None else {"type": tokenizer.normalizer.form},
        "pre_tokenizer": _pre_tokenizer(tokenizer.pattern),
        "post_processor": None if template is None else _post_processor(template, special),
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": model.take_whole,
            "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
            "merges": [[to_alphabet(left), to_alphabet(right)] for left, right in merge_list(model)],
        },
    }  # fmt: skip


def merge_list(model: BPEModel) -> list[tuple[bytes, bytes]]:
    """The merges in the order of their ranks. Raises ConversionError for a rank table that has no such list."""
    recovered = model.recovered
    if not recovered.exact:
        raise ConversionError("a merge list can't hold this model: some tokens rank before their own parts")
    return [(model.tokens[left], model.tokens[right]) for left, right in recovered.splits.values()]


def _pre_tokenizer(pattern: str | None) -> dict[str, Any]:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    if pattern is None:
        return byte_level
    named = find_pattern(pattern)
    expression = named.oniguruma if named else pattern
    outside_classes = re.sub(r"\\[^ZG]|\[(?:\\.|[^\]])*\]", "", expression)
    if not named and (found := re.search(r"\$|\{[\d,]+\}\+|\\[ZG]", outside_classes)):
        raise ConversionError(
            f"the pattern {pattern!r} holds {found[0]!r}, which means something else in Hugging Face's engine; "
            r"write \z for the end of the text, and (?>x{1,3}) instead of x{1,3}+"
        )
    split = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, byte_level]}


def _post_processor(template: TemplateProcessing, special: dict[str, int]) -> dict[str, Any]:
    def item(name: str, sequence: str = "A") -> dict[str, Any]:
        if name == "$A":
            return {"Sequence": {"id": sequence, "type_id": 0}}
        return {"SpecialToken": {"id": name, "type_id": 0}}

    names = {name for name in template.single if name != "$A"}
    return {
        "type": "TemplateProcessing",
        "single": [item(name) for name in template.single],
        "pair": [item(name, which) for which in "AB" for name in template.single],
        "special_tokens": {name: {"id": name, "ids": [special[name]], "tokens": [name]} for name in sorted(names)},
    }


def _config(tokenizer: BPETokenizer) -> dict[str, Any]:
    roles = {f"{role}_token": getattr(tokenizer, f"{role}_token") for role in ROLES}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,  # would eat spaces before punctuation when decoding
        **{role: name for role, name in roles.items() if name is not None},
    }


# -- reading -----------------------------------------------------------------------------------------------------------


class _File:
    """A JSON file, and errors that name the place in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.data = json.loads(path.read_bytes().decode("utf-8"))
        except OSError as error:
            raise TokenizerFileError(path, "", f"can't be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise TokenizerFileError(path, "", f"is not JSON: {error}") from error
        if not isinstance(self.data, dict):
            raise TokenizerFileError(path, "", "is not a JSON object")

    def wrong(self, where: str, problem: str) -> TokenizerFileError:
        return TokenizerFileError(self.path, where, problem)

    def expect(self, value: Any, kind: type, where: str) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise self.wrong(where, f"expected {kind.__name__}, found {str(value)[:60]!r}")
        return value


def load(folder: Path, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer in a folder; see `BPETokenizer.from_pretrained`."""
    file = _File(folder / "tokenizer.json" if folder.is_dir() or not folder.suffix else folder)
    config_path = file.path.parent / "tokenizer_config.json"
    config = _File(config_path).data if config_path.exists() else {}
    for section in ("truncation", "padding"):
        if file.data.get(section) is not None:
            raise file.wrong(section, "is not supported")
    special = _added_tokens(file)
    model = _model(file, special)
    roles: dict[str, Any] = {f"{role}_token": _role(config.get(f"{role}_token")) for role in ROLES}
    try:
        return BPETokenizer(
            model,
            pattern=_read_pattern(file),
            special_tokens=special,
            normalizer=_read_normalizer(file),
            post_processor=_read_template(file, special),
            encoder=encoder,
            **{role: name for role, name in roles.items() if name in special},
        )
    except BPELabError as error:
        if isinstance(error, TokenizerFileError):
            raise
        raise file.wrong("", str(error)) from error


def _role(value: Any) -> str | None:
    name = value.get("content") if isinstance(value, dict) else value
    return name if isinstance(name, str) else None


def _added_tokens(file: _File) -> dict[str, int]:
    special: dict[str, int] = {}
    for number, entry in enumerate(file.expect(file.data.get("added_tokens") or [], list, "added_tokens")):
        where = f"added_tokens[{number}]"
        file.expect(entry, dict, where)
        name, token_id = (
            file.expect(entry.get(key), kind, f"{where}.{key}") for key, kind in (("content", str), ("id", int))
        )
        if not entry.get("special") or any(
            entry.get(flag) for flag in ("lstrip", "rstrip", "single_word", "normalized")
        ):
            raise file.wrong(
                where, f"{name!r}: only special tokens without lstrip, rstrip, single_word and normalized are supported"
            )
        if special.setdefault(name, token_id) != token_id or list(special.values()).count(token_id) > 1:
            raise file.wrong(where, f"{name!r} with the id {token_id} repeats the name or the id of an earlier one")
    return special


def _model(file: _File, special: dict[str, int]) -> BPEModel:
    data = file.expect(file.data.get("model"), dict, "model")
    if data.get("type", "BPE") != "BPE":
        raise file.wrong("model.type", f"only BPE is supported, not {data['type']!r}")
    for key in ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"):
        if data.get(key):
            raise file.wrong(f"model.{key}", f"{data[key]!r} is not supported")
    ids: dict[bytes, int] = {}
    tokens: dict[int, bytes] = {}
    for text, token_id in file.expect(data.get("vocab"), dict, "model.vocab").items():
        where = f"model.vocab[{text!r}]"
        file.expect(token_id, int, where)
        if text in special:
            if special[text] != token_id:
                raise file.wrong(where, f"has the id {token_id}, but {special[text]} in added_tokens")
            continue
        try:
            token = from_alphabet(text)
        except ValueError as error:
            raise file.wrong(where, str(error)) from None
        if token_id in tokens:
            raise file.wrong(where, f"has the id {token_id}, which is that of {tokens[token_id]!r}")
        ids[token], tokens[token_id] = token_id, token
    merges: dict[tuple[int, int], tuple[int, int]] = {}
    for rank, entry in enumerate(file.expect(data.get("merges"), list, "model.merges")):
        where = f"model.merges[{rank}]"
        parts = entry.split(" ") if isinstance(entry, str) else entry
        if (
            not isinstance(parts, list)
            or len(parts) != 2
            or not all(isinstance(part, str) and part and BYTE_OF_CHAR.keys() >= set(part) for part in parts)
        ):
            raise file.wrong(where, f"expected two tokens, found {str(entry)[:60]!r}")
        left, right = map(from_alphabet, parts)
        for token in (left, right, left + right):
            if token not in ids:
                raise file.wrong(where, f"{parts}: {to_alphabet(token)!r} is not in model.vocab")
        merges[ids[left], ids[right]] = rank, ids[left + right]
    alphabet = {unit: ids[unit] for unit in map(bytes, zip(range(256))) if unit in ids}
    try:
        return BPEModel(tokens, merges, alphabet, bool(data.get("ignore_merges")))
    except BPELabError as error:
        raise file.wrong("model", str(error)) from error


def _read_pattern(file: _File) -> str | None:
    data = file.data.get("pre_tokenizer")
    steps = data.get("pretokenizers") if isinstance(data, dict) and data.get("type") == "Sequence" else [data]
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise file.wrong("pre_tokenizer", "expected ByteLevel, or a Sequence of Split and ByteLevel")
    *splits, last = steps
    if last.get("type") != "ByteLevel" or last.get("add_prefix_space") is not False:
        raise file.wrong(
            "pre_tokenizer", f"only ByteLevel without add_prefix_space is supported at the end, not {last}"
        )
    if not splits:
        return "gpt2" if last.get("use_regex", True) else None
    first = splits[0]
    pattern = first.get("pattern")
    if (
        len(splits) > 1
        or last.get("use_regex", True)
        or first.get("type") != "Split"
        or first.get("behavior") != "Isolated"
        or first.get("invert")
        or not isinstance(pattern, dict)
        or not isinstance(pattern.get("Regex"), str)
    ):
        raise file.wrong(
            "pre_tokenizer", "only one isolated, not inverted Split by a Regex before ByteLevel is supported"
        )
    return str(pattern["Regex"])


def _read_normalizer(file: _File) -> UnicodeNormalizer | None:
    data = file.data.get("normalizer")
    if data is None:
        return None
    form = data.get("type") if isinstance(data, dict) else data
    if form not in FORMS:
        raise file.wrong("normalizer", f"only {', '.join(FORMS)} are supported, not {form!r}")
    return UnicodeNormalizer(form)


def _read_template(file: _File, special: dict[str, int]) -> TemplateProcessing | None:
    data = file.data.get("post_processor")
    if data is None or (isinstance(data, dict) and data.get("type") == "ByteLevel"):
        return None
    if not isinstance(data, dict) or data.get("type") != "TemplateProcessing":
        raise file.wrong("post_processor", f"only TemplateProcessing is supported, not {str(data)[:60]}")
    names = []
    for number, item in enumerate(file.expect(data.get("single"), list, "post_processor.single")):
        name = item.get("SpecialToken", {}).get("id") if isinstance(item, dict) and "Sequence" not in item else "$A"
        if name != "$A" and name not in special:
            raise file.wrong(f"post_processor.single[{number}]", f"{name!r} is not in added_tokens")
        names.append(name)
    return TemplateProcessing(tuple(names))
