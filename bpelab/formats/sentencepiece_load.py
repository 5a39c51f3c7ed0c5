"""SentencePiece's BPE models, read: ids as SentencePiece gives them.

A piece that two neighbours make when joined is merged by its score, the highest first: a rank table over characters.
The normalizer's settings become normalizers of Hugging Face's names, control pieces become special tokens, and
user-defined symbols are units that nothing merges with. Unigram, word and character models are refused by name, and so
are spaces that are put behind words and pieces marked as unused.

Chapter: File formats. Source: sentencepiece `bpe_model.cc`, `normalizer.cc`, `sentencepiece_processor.cc`.
"""

import base64
import re
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..added_tokens import AddedToken
from ..decoders import ByteFallback, DecoderSequence, Fuse, Replace as ReplaceInTokens, Strip
from ..errors import BPELabError, TokenizerFileError
from ..model import BPEModel, RankMerges
from ..normalizers import Normalizer
from ..normalizers.sentencepiece import SentencePieceNormalizer
from ..pretokenizers.matching import Pattern
from ..special_tokens import SpecialTokens
from ..tokenizer import BPETokenizer
from ..units import Units
from .sentencepiece_file import NormalizerSpec, Piece, SentencePieceModel, read_model

SPACE = "▁"
ALL = 1 << 20
NO_TEXT = b"\xff"
"""In place of a token that takes part in no merge: no text has this byte."""


def load(path: Path, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer of a `.model` file. Raises TokenizerFileError for what it can't be."""
    file = read_model(path)
    trainer = file.trainer_spec

    def wrong(where: str, problem: str) -> TokenizerFileError:
        return TokenizerFileError(path, where, problem)

    if trainer.model_type != "BPE":
        raise wrong("trainer_spec.model_type", f"is {trainer.model_type}; only BPE models are supported")
    if trainer.treat_whitespace_as_suffix:
        raise wrong("trainer_spec.treat_whitespace_as_suffix", "is not supported")
    if file.normalizer_spec.normalization_rule_tsv and not file.normalizer_spec.precompiled_charsmap:
        raise wrong("normalizer_spec.normalization_rule_tsv", "rules that are not compiled are not supported")
    seen: dict[str, int] = {}
    for number, piece in enumerate(file.pieces):
        if not piece.text:
            raise wrong(f"pieces[{number}]", "is empty")
        if seen.setdefault(piece.text, number) != number:
            raise wrong(f"pieces[{number}]", f"{piece.text[:60]!a} is piece {seen[piece.text]} already")
        if piece.type == "UNUSED":
            raise wrong(f"pieces[{number}]", f"{piece.text[:60]!a} is marked as unused, which is not supported")
        if piece.type not in ("NORMAL", "BYTE") and not is_text(piece.text):
            raise wrong(f"pieces[{number}]", f"{piece.text[:60]!a} is no UTF-8, and is to be found in text")
        if isnan(piece.score):
            raise wrong(f"pieces[{number}]", "has a score that is no number")
    try:
        names = {piece.text for piece in file.pieces if piece.type == "CONTROL"}
        roles: dict[str, Any] = {
            "bos_token": trainer.bos_piece,
            "eos_token": trainer.eos_piece,
            "pad_token": trainer.pad_piece,
        }
        named = {role: name for role, name in roles.items() if name in names}
        return BPETokenizer(
            build_model(file.pieces, trainer.byte_fallback),
            pattern=None,
            special_tokens=special_tokens(file.pieces),
            normalizer=_normalizer(file),
            decoder=decoder(_spaces_in_front(file.normalizer_spec)),
            encoder=encoder,
            unk_token=next((piece.text for piece in file.pieces if piece.type == "UNKNOWN"), None),
            **named,
        )
    except (BPELabError, ValueError) as error:
        raise error if isinstance(error, TokenizerFileError) else wrong("", str(error)) from error


def is_text(piece: str) -> bool:
    """Whether a piece is UTF-8: it has no bytes that the reader had to escape.

    >>> is_text("é"), is_text(b"\\xff".decode("utf-8", "surrogateescape"))
    (True, False)
    """
    return piece.isascii() or not any("\ud800" <= char <= "\udfff" for char in piece)


def build_model(pieces: tuple[Piece, ...], byte_fallback: bool) -> BPEModel:
    """The rank table of scored pieces; user-defined ones are units of their own. Raises ValueError."""
    texts = {number: piece.text.encode("utf-8", "surrogateescape") for number, piece in enumerate(pieces)}
    order = {score: rank for rank, score in enumerate(sorted({piece.score for piece in pieces}, reverse=True))}
    kinds: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        kinds.setdefault(piece.type, []).append(number)
    _refuse_pieces_without_characters({pieces[number].text for number in kinds.get("NORMAL", [])})
    mergeable = kinds.get("NORMAL", []) + kinds.get("USER_DEFINED", [])
    ids = {texts[number]: number for number in mergeable}
    symbols = {texts[number]: number for number in kinds.get("USER_DEFINED", [])}
    units = Units(
        characters=True,
        byte_tokens={_byte(pieces[number].text): number for number in kinds.get("BYTE", [])} if byte_fallback else None,
        unk_id=kinds["UNKNOWN"][0] if "UNKNOWN" in kinds else None,
        fuse_unk=True,
        symbols=symbols,
    )
    joined = dict.fromkeys(texts, NO_TEXT) | {number: texts[number] for number in kinds.get("NORMAL", [])}
    ranks = {number: order[pieces[number].score] for number in mergeable}
    tokens = {number: texts[number] for number in (*mergeable, *kinds.get("BYTE", []))}
    return BPEModel(
        MappingProxyType(tokens),
        RankMerges(joined, ids, ranks),
        MappingProxyType(units.alphabet({token: number for token, number in ids.items() if token not in symbols})),
        False,
        units,
    )


def _refuse_pieces_without_characters(texts: set[str]) -> None:
    """Raise ValueError for a piece that merging makes of a character that no piece is: none could say which."""
    known = {text for text in texts if len(text) == 1}
    for text in texts:
        if len(text) > 1 and not known.issuperset(text):
            halves = ((text[:cut], text[cut:]) for cut in range(1, len(text)))
            if any(all(len(half) == 1 or half in texts for half in pair) for pair in halves):
                missing = next(char for char in text if char not in known)
                raise ValueError(f"{text[:60]!a} holds {missing!a}, which is no piece itself; that is not supported")


def _byte(text: str) -> int:
    if re.fullmatch("<0x[0-9A-F]{2}>", text):
        return int(text[3:5], 16)
    raise ValueError(f"{text[:60]!a} is marked as a byte, but is not written as <0x00> to <0xFF>")


def special_tokens(pieces: tuple[Piece, ...]) -> SpecialTokens:
    """Control pieces and the unknown one."""
    special = ((n, piece.text) for n, piece in enumerate(pieces) if piece.type in ("CONTROL", "UNKNOWN"))
    return SpecialTokens([AddedToken(text, number) for number, text in special])


def _normalizer(file: SentencePieceModel) -> Normalizer | None:
    """SentencePiece's normalizer, in Hugging Face's parts where these do the same."""
    spec = file.normalizer_spec
    symbols = tuple(piece.text for piece in file.pieces if piece.type == "USER_DEFINED")
    normalizer = SentencePieceNormalizer(
        base64.b64encode(spec.precompiled_charsmap).decode(),
        symbols,
        spec.add_dummy_prefix,
        spec.remove_extra_whitespaces,
        spec.escape_whitespaces,
    )
    if spec.precompiled_charsmap or (symbols and spec.remove_extra_whitespaces):
        return normalizer
    parts = normalizer.in_parts()
    return parts if parts.normalizers else None


def _spaces_in_front(spec: NormalizerSpec) -> int:
    """How many spaces at the beginning of a text are none of its own: all, the one that was put there, or none."""
    return ALL if spec.remove_extra_whitespaces else int(spec.add_dummy_prefix)


def decoder(spaces: int) -> DecoderSequence:
    """From pieces to text: spaces back, bytes joined, and up to so many spaces at the beginning taken off again."""
    back = ReplaceInTokens(Pattern("String", SPACE), " ")
    return DecoderSequence((back, ByteFallback(), Fuse(), *([Strip(" ", spaces, 0)] if spaces else [])))
