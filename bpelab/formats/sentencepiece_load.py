"""Load SentencePiece's BPE models, with SentencePiece's ids.

Two neighbours merge if their concatenation is a piece, highest score first: a rank table over characters. The
normalizer's settings become normalizers with Hugging Face's names, control pieces become special tokens, and
user-defined symbols become initial symbols that never merge. Unigram, word and character models, spaces added after
words, and pieces marked as unused are rejected by name.

Chapter: File formats. Source: sentencepiece `bpe_model.cc`, `normalizer.cc`, `sentencepiece_processor.cc`.
"""

import base64
import re
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..core.spec import TokenizerSpec
from ..decoders import ByteFallback, DecoderSequence, Fuse, Replace as ReplaceInTokens, Strip
from ..errors import BPELabError, TokenizerFileError
from ..model.bpe import BPEModel
from ..model.initial_symbols import InitialSymbols
from ..model.rank_merges import RankMerges
from ..normalizers import Normalizer
from ..normalizers.sentencepiece import SentencePieceNormalizer
from ..regex.matchers import Pattern
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import SpecialTokens
from .sentencepiece_proto import NormalizerSpec, Piece, SentencePieceModel, read_model

SPACE = "▁"
ALL_SPACES = 1 << 20
NO_TEXT = b"\xff"
"""The bytes of a token that never merges: this byte never occurs in UTF-8."""


def load(path: Path) -> TokenizerSpec:
    """Return the tokenizer in a `.model` file. Raises TokenizerFileError for one that isn't supported."""
    file = read_model(path)
    trainer = file.trainer_spec

    def error_at(where: str, problem: str) -> TokenizerFileError:
        return TokenizerFileError(path, where, problem)

    if trainer.model_type != "BPE":
        raise error_at("trainer_spec.model_type", f"is {trainer.model_type}; only BPE models are supported")
    if trainer.treat_whitespace_as_suffix:
        raise error_at("trainer_spec.treat_whitespace_as_suffix", "is not supported")
    if file.normalizer_spec.normalization_rule_tsv and not file.normalizer_spec.precompiled_charsmap:
        raise error_at("normalizer_spec.normalization_rule_tsv", "rules that are not compiled are not supported")
    seen: dict[str, int] = {}
    for index, piece in enumerate(file.pieces):
        if not piece.text:
            raise error_at(f"pieces[{index}]", "is empty")
        if seen.setdefault(piece.text, index) != index:
            raise error_at(f"pieces[{index}]", f"{piece.text[:60]!a} is already piece {seen[piece.text]}")
        if piece.type == "UNUSED":
            raise error_at(f"pieces[{index}]", f"{piece.text[:60]!a} is marked as unused, which is not supported")
        if piece.type not in ("NORMAL", "BYTE") and not is_text(piece.text):
            raise error_at(f"pieces[{index}]", f"{piece.text[:60]!a} is not UTF-8, so it can't be found in text")
        if isnan(piece.score):
            raise error_at(f"pieces[{index}]", "has a score that is not a number")
    try:
        names = {piece.text for piece in file.pieces if piece.type == "CONTROL"}
        roles: dict[str, Any] = {
            "bos_token": trainer.bos_piece,
            "eos_token": trainer.eos_piece,
            "pad_token": trainer.pad_piece,
        }
        role_names = {role: name for role, name in roles.items() if name in names}
        return TokenizerSpec(
            build_model(file.pieces, trainer.byte_fallback),
            pattern=None,
            special_tokens=special_tokens(file.pieces),
            normalizer=_normalizer(file),
            decoder=build_decoder(_leading_spaces(file.normalizer_spec)),
            unk_token=next((piece.text for piece in file.pieces if piece.type == "UNKNOWN"), None),
            **role_names,
        )
    except (BPELabError, ValueError) as error:
        raise error if isinstance(error, TokenizerFileError) else error_at("", str(error)) from error


def is_text(piece: str) -> bool:
    """Return whether a piece is UTF-8: the reader didn't have to escape any bytes.

    >>> is_text("é"), is_text(b"\\xff".decode("utf-8", "surrogateescape"))
    (True, False)
    """
    return piece.isascii() or not any("\ud800" <= char <= "\udfff" for char in piece)


def build_model(pieces: tuple[Piece, ...], byte_fallback: bool) -> BPEModel:
    """Return the model of scored pieces, a rank table in which user-defined pieces are single symbols.

    Raises ValueError for pieces that it can't represent.
    """
    texts = {token_id: piece.text.encode("utf-8", "surrogateescape") for token_id, piece in enumerate(pieces)}
    kinds: dict[str, list[int]] = {}
    for token_id, piece in enumerate(pieces):
        kinds.setdefault(piece.type, []).append(token_id)
    _check_characters_are_pieces([pieces[token_id].text for token_id in kinds.get("NORMAL", [])])
    mergeable = kinds.get("NORMAL", []) + kinds.get("USER_DEFINED", [])
    scores = sorted({pieces[token_id].score for token_id in mergeable}, reverse=True)
    order = {score: rank for rank, score in enumerate(scores)}
    ids = {texts[token_id]: token_id for token_id in mergeable}
    symbols = {texts[token_id]: token_id for token_id in kinds.get("USER_DEFINED", [])}
    initial_symbols = InitialSymbols(
        characters=True,
        byte_tokens={_byte_of_piece(pieces[token_id].text): token_id for token_id in kinds.get("BYTE", [])}
        if byte_fallback
        else None,
        unk_id=kinds["UNKNOWN"][0] if "UNKNOWN" in kinds else None,
        fuse_unk=True,
        symbols=symbols,
    )
    joined = dict.fromkeys(texts, NO_TEXT) | {token_id: texts[token_id] for token_id in kinds.get("NORMAL", [])}
    ranks = {token_id: order[pieces[token_id].score] for token_id in mergeable}
    tokens = {token_id: texts[token_id] for token_id in (*mergeable, *kinds.get("BYTE", []))}
    return BPEModel(
        MappingProxyType(tokens),
        RankMerges(joined, ids, ranks),
        MappingProxyType(
            initial_symbols.alphabet({token: token_id for token, token_id in ids.items() if token not in symbols})
        ),
        False,
        initial_symbols,
    )


def _check_characters_are_pieces(texts: list[str]) -> None:
    """Raise ValueError for the first piece that merges can make from a character that isn't a piece and has no id."""
    known = set(texts)
    characters = {text for text in texts if len(text) == 1}
    for text in texts:
        if len(text) > 1 and not characters.issuperset(text):
            halves = ((text[:cut], text[cut:]) for cut in range(1, len(text)))
            if any(all(len(half) == 1 or half in known for half in pair) for pair in halves):
                missing = next(char for char in text if char not in characters)
                raise ValueError(f"{text[:60]!a} contains {missing!a}, which is not a piece; that is not supported")


def _byte_of_piece(text: str) -> int:
    """Return the byte of a piece such as "<0x0A>". Raises ValueError for any other spelling."""
    if re.fullmatch("<0x[0-9A-F]{2}>", text):
        return int(text[3:5], 16)
    raise ValueError(f"{text[:60]!a} is marked as a byte, but is not written as <0x00> to <0xFF>")


def special_tokens(pieces: tuple[Piece, ...]) -> SpecialTokens:
    """Return the control pieces and the unknown piece, as special tokens."""
    special = ((n, piece.text) for n, piece in enumerate(pieces) if piece.type in ("CONTROL", "UNKNOWN"))
    return SpecialTokens([AddedToken(text, token_id) for token_id, text in special])


def _normalizer(file: SentencePieceModel) -> Normalizer | None:
    """Return SentencePiece's normalizer, as Hugging Face's components if these are equivalent."""
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


def _leading_spaces(spec: NormalizerSpec) -> int:
    """Return how many leading spaces decoding removes: all, the one that the normalizer adds, or none."""
    return ALL_SPACES if spec.remove_extra_whitespaces else int(spec.add_dummy_prefix)


def build_decoder(spaces: int) -> DecoderSequence:
    """Return the decoder: turn U+2581 into spaces, join bytes, and remove up to `spaces` leading spaces."""
    to_spaces = ReplaceInTokens(Pattern("String", SPACE), " ")
    return DecoderSequence((to_spaces, ByteFallback(), Fuse(), *([Strip(" ", spaces, 0)] if spaces else [])))
