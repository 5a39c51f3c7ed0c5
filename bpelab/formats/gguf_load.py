"""GGUF: the tokenizer in a model file of llama.cpp, read and written.

Three kinds are read: "gpt2" (byte-level BPE: tokens in GPT-2's alphabet, merges, and the *name* of a split pattern),
"llama" (SentencePiece's BPE: scores instead of merges) and "gemma4" (merges of characters, with byte fallback; some
files call that "gpt2" too, and the name of the pattern tells). Others are refused by name, and so is a name of a
pattern that isn't known: never is one guessed. Patterns are the model's own where llama.cpp's source keeps them beside
its adaptation.

Held: tokens with ids from 0 on without holes, merges, kinds of tokens, bos, eos and their like, chat templates. Not
held: a normalizer other than SentencePiece's, a pattern without a name, flags of added tokens, truncation and padding.
Chapter: File formats. Source: llama.cpp `src/llama-vocab.cpp`, the GGUF specification.
"""

from math import isnan
from pathlib import Path
from typing import Any

from ..added_tokens import AddedToken
from ..byte_alphabet import BYTE_OF_CHAR, CHAR_OF_BYTE
from ..decoders import Bytes
from ..encoders.heap import HeapEncoder
from ..errors import BPELabError, SpecialTokenError, TokenizerFileError
from ..model import BPEModel
from ..normalizers import Normalizer, NormalizerSequence, Prepend, Replace
from ..postprocessors import TemplateProcessing
from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.gguf_names import gguf_pre
from ..pretokenizers.matching import Pattern
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split_pattern import SplitPattern
from ..special_tokens import SpecialTokens
from ..tokenizer import BPETokenizer
from .gguf_file import read_metadata
from .json_file import JSONFile, shown
from .sentencepiece import SPACE, build_model, decoder, is_text
from .sentencepiece_file import PIECE_TYPES, Piece
from .tokenizer_json import read_model

KEY, TEMPLATE = "tokenizer.ggml.", "tokenizer.chat_template"
TYPES = {int: "an integer", float: "a number with a fraction", str: "a string", list: "an array", bool: "true or false"}
KINDS = {"NORMAL": 1, "UNKNOWN": 2, "CONTROL": 3, "USER_DEFINED": 4, "UNUSED": 5, "BYTE": 6}
NO_BYTES = frozenset(CHAR_OF_BYTE[byte] for byte in (0xC0, 0xC1, *range(0xF5, 0x100)))
"""Letters for bytes which UTF-8 never has: where a user defined them, as in DeepSeek's files, they are the letters."""
OTHERS = {"bert": "WordPiece", "t5": "Unigram", "rwkv": "a greedy longest match", "plamo2": "Unigram"}
"""Models that are not byte-pair encoding, and what they are."""
BY_CHARACTERS = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")
"""Names of patterns whose tokens are characters, spaces written as SentencePiece's sign."""
ROLES = {"bos": "bos_token_id", "eos": "eos_token_id", "unk": "unknown_token_id", "pad": "padding_token_id"}


def load(path: Path, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer in a GGUF file, whose weights are not looked at. Raises TokenizerFileError naming the key."""
    return _Reader(path).tokenizer(encoder)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path, self.data = path, read_metadata(path).metadata

    def wrong(self, key: str, problem: str) -> TokenizerFileError:
        return TokenizerFileError(self.path, _full(key) if key else "", problem)

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.data.get(_full(key), default)
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is int)):
            raise self.wrong(key, f"expected {TYPES[kind]}, found {shown(value)}")
        return value

    def array(self, key: str, kind: type, length: int | None = None) -> list[Any]:
        found: list[Any] = self.get(key, list)
        if found is None:
            raise self.wrong(key, "is missing")
        if length is not None and len(found) != length:
            raise self.wrong(key, f"has {len(found):,} entries for {length:,} tokens")
        if not all(type(item) is kind for item in found):
            raise self.wrong(key, f"is no array of which each entry is {TYPES[kind]}")
        return found

    def tokenizer(self, encoder: str) -> BPETokenizer:
        model = self._kind()
        tokens = self.array("tokens", str)
        seen: dict[str, int] = {}
        for number, text in enumerate(tokens):
            if not text:
                raise self.wrong(f"tokens[{number}]", "is empty")
            if seen.setdefault(text, number) != number:
                raise self.wrong(f"tokens[{number}]", f"{text[:40]!a} is token {seen[text]} already")
        codes = self.array("token_type", int, len(tokens)) if KEY + "token_type" in self.data else [1] * len(tokens)
        if unknown := [code for code in codes if not 1 <= code < len(PIECE_TYPES)]:
            raise self.wrong(f"token_type[{codes.index(unknown[0])}]", f"{unknown[0]} is no kind of token")
        kinds = [PIECE_TYPES[code] for code in codes]
        roles = {role: self._role(key, len(tokens)) for role, key in ROLES.items()}
        control = {n for n, kind in enumerate(kinds) if kind in ("CONTROL", "UNKNOWN")}
        for role, held in roles.items():
            if held is not None and model == "gpt2" and kinds[held] == "NORMAL" and _is_written(tokens[held]):
                problem = f"is {held}, the ordinary token {tokens[held][:40]!r}; a special one was expected"
                raise self.wrong(ROLES[role], problem)
        control |= {token_id for token_id in roles.values() if token_id is not None}
        for number, text in enumerate(tokens):
            if (model == "gpt2" or number in control or kinds[number] == "USER_DEFINED") and not is_text(text):
                raise self.wrong(f"tokens[{number}]", f"{text[:40]!a} is no UTF-8")
        added = [
            AddedToken(text, number, special=number in control)
            for number, text in enumerate(tokens)
            if number in control or kinds[number] == "USER_DEFINED"
        ]
        template = self._chat_templates()
        common: dict[str, Any] = {
            "pattern": None,
            "encoder": encoder,
            "special_tokens": SpecialTokens(added),
            "metadata": {} if template is None else {"chat_template": template},
            **{f"{role}_token": tokens[number] for role, number in roles.items() if number is not None},
        }
        try:
            if model == "llama":
                built = self._scored(tokens, kinds)
            else:
                built = (self._bytes if model == "gpt2" else self._characters)(tokens, kinds, added)
            return BPETokenizer(**built, **common, post_processor=self._template(common, model))
        except BPELabError as error:
            where = "tokens" if isinstance(error, SpecialTokenError) else ""
            raise error if isinstance(error, TokenizerFileError) else self.wrong(where, str(error)) from error
        except ValueError as error:
            raise self.wrong("", str(error)) from error

    def _kind(self) -> str:
        """gpt2, llama or gemma4."""
        model: str | None = self.get("model", str)
        if model == "gpt2" and self.get("pre", str) in BY_CHARACTERS:
            return "gemma4"
        if model in ("gpt2", "llama", "gemma4"):
            return model
        if model is None:
            raise self.wrong("model", "is missing")
        what = f"is {OTHERS[model]}, not byte-pair encoding" if model in OTHERS else "is not known"
        raise self.wrong("model", f"{model[:40]!r} {what}; gpt2, llama and gemma4 are read")

    def _role(self, key: str, size: int) -> int | None:
        found: int | None = self.get(key, int)
        if found is not None and not 0 <= found < size:
            raise self.wrong(key, f"is {found}, and the tokens are numbered from 0 to {size - 1}")
        return found

    def _chat_templates(self) -> str | list[dict[str, str]] | None:
        """The chat template; where there are named ones beside it, all of them, as Hugging Face lists them."""
        default: str | None = self.get(TEMPLATE, str)
        keys = [key for key in self.data if key.startswith(TEMPLATE + ".")]
        if not keys:
            return default
        named = {"default": default} if default is not None else {}
        named |= {key.removeprefix(TEMPLATE + "."): self.get(key, str) for key in keys}
        return [{"name": name, "template": source} for name, source in named.items()]

    def _template(self, common: dict[str, Any], model: str) -> TemplateProcessing | None:
        """What is put around a text, as far as the file or llama.cpp's defaults say so."""
        pre = gguf_pre().get(self.get("pre", str, ""))
        starts = self.get("add_bos_token", bool, model == "llama" or (pre is not None and pre.add_bos))
        if model == "gemma4" and self.get("pre", str) != "sarvam-moe":
            starts = True  # llama.cpp overrules the file
        ends = self.get("add_eos_token", bool, False)
        names = [common.get("bos_token") if starts else None, "$A", common.get("eos_token") if ends else None]
        used = tuple(name for name in names if name is not None)
        return TemplateProcessing(used) if len(used) > 1 else None

    def _bytes(self, tokens: list[str], kinds: list[str], added: list[AddedToken]) -> dict[str, Any]:
        """Byte-level BPE."""
        name = self.get("pre", str)
        if name is None or name not in gguf_pre():
            said = "is missing" if name is None else f"{name[:40]!r} is not known"
            raise self.wrong(
                "pre",
                f"{said}, so how text is split can't be told, and a wrong guess would give wrong ids; open the "
                "tokenizer.json of the same model instead",
            )
        pre = gguf_pre()[name]
        if not pre.byte_level:
            raise self.wrong("pre", f"{name!r} is for models whose tokens are not bytes, which is not supported")
        vocab = {
            text: number
            for number, text in enumerate(tokens)
            if kinds[number] != "USER_DEFINED" or text not in NO_BYTES
        }
        model = self._merged({"vocab": vocab, "ignore_merges": pre.ignore_merges}, added, byte_level=True)
        steps: list[PreTokenizer] = [
            SplitPattern(Pattern("Regex", pattern), "Isolated") for pattern in pre.original or pre.regex
        ]
        steps.append(ByteLevel(add_prefix_space=False, use_regex=False))
        return {"model": model, "pre_tokenizer": PreTokenizerSequence(tuple(steps)), "decoder": Bytes()}

    def _characters(self, tokens: list[str], kinds: list[str], added: list[AddedToken]) -> dict[str, Any]:
        """BPE of characters: lines are merged whole, and a character that no token has is written in bytes."""
        vocab = {text: number for number, text in enumerate(tokens)}
        if missing := [text for text in map("<0x{:02X}>".format, range(256)) if text not in vocab]:
            raise self.wrong("tokens", f"{missing[0]} is missing, and a character that no token has is written so")
        model = self._merged({"vocab": vocab, "byte_fallback": True}, added, byte_level=False)
        heap = HeapEncoder(model)
        for text, number in vocab.items():  # llama.cpp takes these whole, whatever the merges
            if not text.strip("\n") and heap.encode_piece(text.encode()) != [number]:
                raise self.wrong(f"tokens[{number}]", f"no merges make {text!r}, and llama.cpp finds it without")
        return {
            "model": model,
            "normalizer": Replace(Pattern("String", " "), SPACE),
            "pre_tokenizer": SplitPattern(Pattern("Regex", gguf_pre()["gemma4"].regex[0]), "Isolated"),
            "decoder": decoder(0),
        }

    def _merged(self, section: dict[str, Any], added: list[AddedToken], byte_level: bool) -> BPEModel:
        """The model of a tokenizer.json's section, whose merges are in the file."""
        merges = [list(_halves(text)) for text in self.array("merges", str)]
        if ["", ""] in merges:
            raise self.wrong(f"merges[{merges.index(['', ''])}]", "expected two tokens and a space between them")
        file = JSONFile(self.path, b"{}")
        file.data = {"model": section | {"merges": merges}}
        try:
            return read_model(file, added, byte_level)
        except TokenizerFileError as error:
            raise self.wrong(error.where.removeprefix("model."), error.problem) from None

    def _scored(self, tokens: list[str], kinds: list[str]) -> dict[str, Any]:
        """SentencePiece's BPE."""
        scores = self.array("scores", float, len(tokens))
        if any(map(isnan, scores)):
            raise self.wrong("scores", "holds something that is no number")
        merging = {"USER_DEFINED": "NORMAL", "UNUSED": "NORMAL"}
        pieces = tuple(Piece(t, s, merging.get(k, k)) for t, s, k in zip(tokens, scores, kinds))
        prefix = self.get("add_space_prefix", bool, True)
        steps: list[Normalizer] = [Prepend(SPACE)] if prefix else []
        steps.append(Replace(Pattern("String", " "), SPACE))
        return {
            "model": build_model(pieces, byte_fallback="BYTE" in kinds),
            "normalizer": NormalizerSequence(tuple(steps)),
            "decoder": decoder(int(prefix)),
        }


def _is_written(text: str) -> bool:
    """Whether a token says something else than it seems to: it is in GPT-2's alphabet and not in ASCII."""
    return not text.isascii() and BYTE_OF_CHAR.keys() >= set(text)


def _full(key: str) -> str:
    """A key's name in the file, for one that is named without what most of them begin with."""
    return key if key.startswith(TEMPLATE) else KEY + key


def _halves(text: str) -> tuple[str, str]:
    """The two tokens of a merge; the first may begin with the space that stands between others."""
    at = text.find(" ", 1)
    return (text[:at], text[at + 1 :]) if at > 0 else ("", "")
