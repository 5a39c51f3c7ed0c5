"""Load the tokenizer in a GGUF file, the model file of llama.cpp. `gguf_save` writes one.

Three kinds are supported: "gpt2" (byte-level BPE: tokens in GPT-2's alphabet, merges, and the *name* of a split
pattern), "llama" (SentencePiece's BPE: scores instead of merges) and "gemma4" (merges of characters, with byte
fallback; some files call that "gpt2" too, and the pattern's name tells them apart). Others are rejected by name, and so
are unknown pattern names: patterns are never guessed. If llama.cpp's source has both the model's own patterns and its
adaptation of them, the model's own are used.

The format holds tokens with ids from 0 without gaps, merges, token types, bos, eos and similar roles, and chat
templates. It can't hold a normalizer other than SentencePiece's, a pattern without a name, flags of added tokens,
truncation and padding.

Chapter: File formats. Source: llama.cpp `src/llama-vocab.cpp`, the GGUF specification.
"""

import warnings
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from .._support.gc_paused import gc_paused
from .._support.json_document import JSONFile, short_repr
from ..core.spec import TokenizerSpec
from ..decoders import Bytes
from ..encoders.heap import HeapEncoder
from ..errors import BPELabError, SpecialTokenError, TokenizerFileError
from ..model.bpe import BPEModel
from ..normalizers import Normalizer, NormalizerSequence, Prepend, Replace
from ..postprocessors import TemplateProcessing
from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split_pattern import SplitPattern
from ..regex.matchers import Pattern
from ..unicode.byte_alphabet import BYTE_OF_CHAR, CHAR_OF_BYTE
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import SpecialTokens
from .gguf_container import read_metadata
from .gguf_overlaps import explain_overlap, find_overlap
from .gguf_pre_tokenizers import gguf_pre, with_all_spaces
from .sentencepiece_load import SPACE, build_decoder, build_model, is_text
from .sentencepiece_proto import PIECE_TYPES, Piece
from .tokenizer_json_model import read_model

PREFIX, TEMPLATE_KEY = "tokenizer.ggml.", "tokenizer.chat_template"
TYPE_DESCRIPTIONS = {
    int: "an integer",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    bool: "true or false",
}
TOKEN_TYPES = {"NORMAL": 1, "UNKNOWN": 2, "CONTROL": 3, "USER_DEFINED": 4, "UNUSED": 5, "BYTE": 6}
NON_UTF8_LETTERS = frozenset(CHAR_OF_BYTE[byte] for byte in (0xC0, 0xC1, *range(0xF5, 0x100)))
"""Letters of GPT-2's alphabet for bytes that never occur in UTF-8. As user-defined tokens, for example in DeepSeek's
files, they mean the letters themselves."""
NOT_BPE = {"bert": "WordPiece", "t5": "Unigram", "rwkv": "a greedy longest match", "plamo2": "Unigram"}
"""Models that aren't byte-pair encoding -> their algorithm."""
CHARACTER_LEVEL = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")
"""Pre-tokenizers of models with character tokens and SentencePiece's space symbol, U+2581."""
ROLE_KEYS = {"bos": "bos_token_id", "eos": "eos_token_id", "unk": "unknown_token_id", "pad": "padding_token_id"}


def splitter(patterns: Sequence[str]) -> PreTokenizer:
    """Return the pre-tokenizer that splits with these patterns, one after another, as llama.cpp does."""
    cuts = [SplitPattern(Pattern("Regex", pattern), "Isolated") for pattern in with_all_spaces(patterns)]
    return PreTokenizerSequence((*cuts, ByteLevel(add_prefix_space=False, use_regex=False)))


@gc_paused()  # a vocabulary is a million objects, none of them garbage
def load(path: Path) -> TokenizerSpec:
    """Return the tokenizer in a GGUF file, without reading its weights. Raises TokenizerFileError naming the key.

    It isn't kept in the disk cache: that has arrays for lists of merges and for ranks of bytes, and not for ranks of
    characters, with symbols that never merge, as in Gemma's and Llama 2's files.
    """
    return _Reader(path).read_spec()


class _Reader:
    """A reader that builds a tokenizer from the metadata of a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.data = path, read_metadata(path).metadata

    def error(self, key: str, problem: str) -> TokenizerFileError:
        return TokenizerFileError(self.path, _full_key(key) if key else "", problem)

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.data.get(_full_key(key), default)
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is int)):
            raise self.error(key, f"expected {TYPE_DESCRIPTIONS[kind]}, found {short_repr(value)}")
        return value

    def array(self, key: str, kind: type, length: int | None = None) -> list[Any]:
        items: list[Any] = self.get(key, list)
        if items is None:
            raise self.error(key, "is missing")
        if length is not None and len(items) != length:
            raise self.error(key, f"has {len(items):,} entries for {length:,} tokens")
        if not set(map(type, items)) <= {kind}:
            raise self.error(key, f"is not an array in which each entry is {TYPE_DESCRIPTIONS[kind]}")
        return items

    def read_spec(self) -> TokenizerSpec:
        model = self._model_kind()
        tokens = self.array("tokens", str)
        if "" in tokens:
            raise self.error(f"tokens[{tokens.index('')}]", "is empty")
        if len(set(tokens)) < len(tokens):
            seen: dict[str, int] = {}
            again = next(n for n, text in enumerate(tokens) if seen.setdefault(text, n) != n)
            raise self.error(f"tokens[{again}]", f"{tokens[again][:40]!a} is already token {seen[tokens[again]]}")
        codes = self.array("token_type", int, len(tokens)) if PREFIX + "token_type" in self.data else [1] * len(tokens)
        if unknown := set(codes).difference(range(1, len(PIECE_TYPES))):
            place = next(place for place, code in enumerate(codes) if code in unknown)
            raise self.error(f"token_type[{place}]", f"{codes[place]} is not a token type")
        kinds = [PIECE_TYPES[code] for code in codes]
        roles = {role: self._role_id(key, len(tokens)) for role, key in ROLE_KEYS.items()}
        control = {n for n, kind in enumerate(kinds) if kind in ("CONTROL", "UNKNOWN")}
        for role, role_id in roles.items():
            if (
                role_id is not None
                and model == "gpt2"
                and kinds[role_id] == "NORMAL"
                and _is_byte_encoded(tokens[role_id])
            ):
                problem = f"expected a special token, found {role_id}, the ordinary token {tokens[role_id][:40]!r}"
                raise self.error(ROLE_KEYS[role], problem)
        control |= {token_id for token_id in roles.values() if token_id is not None}
        for token_id, text in enumerate(tokens):
            if (model == "gpt2" or token_id in control or kinds[token_id] == "USER_DEFINED") and not is_text(text):
                raise self.error(f"tokens[{token_id}]", f"{text[:40]!a} is not UTF-8")
        added = [
            AddedToken(text, token_id, special=token_id in control)
            for token_id, text in enumerate(tokens)
            if token_id in control or kinds[token_id] == "USER_DEFINED"
        ]
        if (overlap := self._overlap(added)) is not None:
            warnings.warn(f"{self.path}: {explain_overlap(*overlap)}", stacklevel=4)
        template = self._chat_templates()
        common: dict[str, Any] = {
            "pattern": None,
            "special_tokens": SpecialTokens(added),
            "metadata": {} if template is None else {"chat_template": template},
            **{f"{role}_token": tokens[token_id] for role, token_id in roles.items() if token_id is not None},
        }
        try:
            if model == "llama":
                built = self._sentencepiece(tokens, kinds)
            else:
                built = (self._byte_level if model == "gpt2" else self._character_level)(tokens, kinds, added)
            return TokenizerSpec(**built, **common, post_processor=self._post_processor(common, model))
        except BPELabError as error:
            where = "tokens" if isinstance(error, SpecialTokenError) else ""
            raise error if isinstance(error, TokenizerFileError) else self.error(where, str(error)) from error
        except ValueError as error:
            raise self.error("", str(error)) from error

    def _overlap(self, added: list[AddedToken]) -> tuple[str, str] | None:
        try:
            return find_overlap([token.content for token in added])
        except ValueError as error:
            raise self.error("tokens", str(error)) from error

    def _model_kind(self) -> str:
        """Return the kind of the model: "gpt2", "llama" or "gemma4"."""
        model: str | None = self.get("model", str)
        if model == "gpt2" and self.get("pre", str) in CHARACTER_LEVEL:
            return "gemma4"
        if model in ("gpt2", "llama", "gemma4"):
            return model
        if model is None:
            raise self.error("model", "is missing")
        what = f"is {NOT_BPE[model]}, not byte-pair encoding" if model in NOT_BPE else "is unknown"
        raise self.error("model", f"{model[:40]!r} {what}; gpt2, llama and gemma4 are supported")

    def _role_id(self, key: str, size: int) -> int | None:
        token_id: int | None = self.get(key, int)
        if token_id is not None and not 0 <= token_id < size:
            raise self.error(key, f"is {token_id}, but the tokens are numbered from 0 to {size - 1}")
        return token_id

    def _chat_templates(self) -> str | list[dict[str, str]] | None:
        """Return the chat template, a list in Hugging Face's form if there are named ones, or None."""
        default: str | None = self.get(TEMPLATE_KEY, str)
        keys = [key for key in self.data if key.startswith(TEMPLATE_KEY + ".")]
        if not keys:
            return default
        templates = {"default": default} if default is not None else {}
        templates |= {key.removeprefix(TEMPLATE_KEY + "."): self.get(key, str) for key in keys}
        return [{"name": name, "template": source} for name, source in templates.items()]

    def _post_processor(self, common: dict[str, Any], model: str) -> TemplateProcessing | None:
        """Return the template that adds bos and eos as the file or llama.cpp's defaults say; None if it adds none."""
        pre = gguf_pre().get(self.get("pre", str, ""))
        starts = self.get("add_bos_token", bool, model == "llama" or (pre is not None and pre.add_bos))
        if model == "gemma4" and self.get("pre", str) != "sarvam-moe":
            starts = True  # llama.cpp overrides the file
        ends = self.get("add_eos_token", bool, False)
        names = [common.get("bos_token") if starts else None, "$A", common.get("eos_token") if ends else None]
        used = tuple(name for name in names if name is not None)
        return TemplateProcessing(used) if len(used) > 1 else None

    def _byte_level(self, tokens: list[str], kinds: list[str], added: list[AddedToken]) -> dict[str, Any]:
        """Return the arguments of a TokenizerSpec for byte-level BPE."""
        name = self.get("pre", str)
        if name is None or name not in gguf_pre():
            reason = "is missing" if name is None else f"{name[:40]!r} is unknown"
            raise self.error(
                "pre",
                f"{reason}, so it's unclear how text is split, and a wrong guess would give wrong ids; open the "
                "tokenizer.json of the same model instead",
            )
        pre = gguf_pre()[name]
        if not pre.byte_level:
            raise self.error("pre", f"{name!r} is for models whose tokens are not bytes, which is not supported")
        vocab = {
            text: index
            for index, text in enumerate(tokens)
            if kinds[index] != "USER_DEFINED" or text not in NON_UTF8_LETTERS
        }
        model = self._merge_model({"vocab": vocab, "ignore_merges": pre.ignore_merges}, added, byte_level=True)
        return {"model": model, "pre_tokenizer": splitter(pre.original or pre.regex), "decoder": Bytes()}

    def _character_level(self, tokens: list[str], kinds: list[str], added: list[AddedToken]) -> dict[str, Any]:
        """Return the arguments for BPE of characters with byte fallback.

        Merges must produce the tokens that are runs of line feeds, since llama.cpp looks these up directly.
        """
        vocab = {text: token_id for token_id, text in enumerate(tokens)}
        if missing := [text for text in map("<0x{:02X}>".format, range(256)) if text not in vocab]:
            raise self.error("tokens", f"{missing[0]} is missing, which byte fallback needs")
        model = self._merge_model({"vocab": vocab, "byte_fallback": True}, added, byte_level=False)
        heap = HeapEncoder(model)
        for text, token_id in vocab.items():  # llama.cpp looks these up whole, whatever the merges
            if not text.strip("\n") and heap.encode_piece(text.encode()) != [token_id]:
                raise self.error(f"tokens[{token_id}]", f"no merges make {text!r}, but llama.cpp looks it up directly")
        return {
            "model": model,
            "normalizer": Replace(Pattern("String", " "), SPACE),
            "pre_tokenizer": SplitPattern(Pattern("Regex", gguf_pre()["gemma4"].regex[0]), "Isolated"),
            "decoder": build_decoder(0),
        }

    def _merge_model(self, section: dict[str, Any], added: list[AddedToken], byte_level: bool) -> BPEModel:
        """Return the model of a tokenizer.json's "model" section, completed with the merges of this file."""
        merges = [list(_split_merge(text)) for text in self.array("merges", str)]
        if ["", ""] in merges:
            raise self.error(f"merges[{merges.index(['', ''])}]", "expected two tokens and a space between them")
        file = JSONFile(self.path, b"{}")
        file.data = {"model": section | {"merges": merges}}
        try:
            return read_model(file, added, byte_level)
        except TokenizerFileError as error:
            raise self.error(error.where.removeprefix("model."), error.problem) from None

    def _sentencepiece(self, tokens: list[str], kinds: list[str]) -> dict[str, Any]:
        """Return the arguments for SentencePiece's BPE."""
        scores = self.array("scores", float, len(tokens))
        if any(map(isnan, scores)):
            raise self.error("scores", "holds a value that is not a number")
        pieces = tuple(map(Piece, tokens, scores, map(_piece_type, tokens, kinds)))
        prefix = self.get("add_space_prefix", bool, True)
        steps: list[Normalizer] = [Prepend(SPACE)] if prefix else []
        steps.append(Replace(Pattern("String", " "), SPACE))
        return {
            "model": build_model(pieces, byte_fallback="BYTE" in kinds),
            "normalizer": NormalizerSequence(tuple(steps)),
            "decoder": build_decoder(int(prefix)),
        }


def _piece_type(text: str, kind: str) -> str:
    """Return the type of a scored token for `build_model`: llama.cpp merges unused tokens, and user-defined ones.

    It finds user-defined tokens before it replaces spaces by U+2581 and merges, so merges can only make those that hold
    this character, and never those with a plain space, as in Gemma's files.
    """
    if kind == "USER_DEFINED" and (" " in text or (len(text) > 1 and SPACE not in text)):
        return "UNUSED"
    return "NORMAL" if kind in ("USER_DEFINED", "UNUSED") else kind


def _is_byte_encoded(text: str) -> bool:
    """Return whether a token is in GPT-2's alphabet but not ASCII, so that its characters aren't its bytes."""
    return not text.isascii() and BYTE_OF_CHAR.keys() >= set(text)


def _full_key(key: str) -> str:
    """Return the name of a key in the file: with PREFIX, unless it is a chat template's."""
    return key if key.startswith(TEMPLATE_KEY) else PREFIX + key


def _split_merge(text: str) -> tuple[str, str]:
    """Return the two tokens of a merge, split at a space; the first token may start with a space."""
    at = text.find(" ", 1)
    return (text[:at], text[at + 1 :]) if at > 0 else ("", "")
