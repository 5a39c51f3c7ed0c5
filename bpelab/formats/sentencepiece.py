"""SentencePiece's BPE models, read: ids as SentencePiece gives them.

A piece that two neighbours make when joined is merged by its score, the highest first: a rank table over characters. The
normalizer's settings become normalizers of Hugging Face's names, control pieces become special tokens, and user-defined
symbols are units that nothing merges with. Unigram, word and character models are refused by name, and so are spaces that
are put behind words and pieces marked as unused.

Chapter: File formats. Source: sentencepiece `bpe_model.cc`, `normalizer.cc`, `sentencepiece_processor.cc`.
"""

import base64
from pathlib import Path
from types import MappingProxyType

from ..added_tokens import AddedToken
from ..decoders import ByteFallback, DecoderSequence, Fuse, Replace as ReplaceInTokens, Strip
from ..errors import BPELabError, TokenizerFileError
from ..model import BPEModel, RankMerges
from ..normalizers import Normalizer, NormalizerSequence, Prepend, Replace
from ..normalizers.precompiled import SentencePieceMap
from ..pretokenizers.matching import Pattern
from ..special_tokens import SpecialTokens
from ..tokenizer import BPETokenizer
from ..units import Units
from .sentencepiece_file import Piece, SentencePieceModel, read_model

SPACE = "▁"
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
        if not piece.score == piece.score:
            raise wrong(f"pieces[{number}]", "has a score that is no number")
    try:
        names = {piece.text for piece in file.pieces if piece.type == "CONTROL"}
        roles = {"bos_token": trainer.bos_piece, "eos_token": trainer.eos_piece, "pad_token": trainer.pad_piece}
        return BPETokenizer(
            build_model(file.pieces, trainer.byte_fallback),
            pattern=None,
            special_tokens=special_tokens(file.pieces),
            normalizer=_normalizer(file),
            decoder=decoder(file.normalizer_spec.add_dummy_prefix),
            encoder=encoder,
            unk_token=next((piece.text for piece in file.pieces if piece.type == "UNKNOWN"), None),
            **{role: name for role, name in roles.items() if name in names},
        )
    except (BPELabError, ValueError) as error:
        raise error if isinstance(error, TokenizerFileError) else wrong("", str(error)) from error


def build_model(pieces: tuple[Piece, ...], byte_fallback: bool) -> BPEModel:
    """The rank table of scored pieces; user-defined ones are units of their own."""
    texts = {number: piece.text.encode("utf-8", "surrogateescape") for number, piece in enumerate(pieces)}
    order = {score: rank for rank, score in enumerate(sorted({piece.score for piece in pieces}, reverse=True))}
    kinds: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        kinds.setdefault(piece.type, []).append(number)
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
    joined = {number: NO_TEXT for number in texts} | {number: texts[number] for number in kinds.get("NORMAL", [])}
    ranks = {number: order[pieces[number].score] for number in mergeable}
    tokens = {number: texts[number] for number in (*mergeable, *kinds.get("BYTE", []))}
    return BPEModel(
        MappingProxyType(tokens),
        RankMerges(joined, ids, ranks),
        MappingProxyType(units.alphabet({token: number for token, number in ids.items() if token not in symbols})),
        False,
        units,
    )


def _byte(text: str) -> int:
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        return int(text[3:5], 16)  # ValueError where it is none
    raise ValueError(f"{text[:60]!a} is marked as a byte, but is not written as <0x00> to <0xFF>")


def special_tokens(pieces: tuple[Piece, ...]) -> SpecialTokens:
    """Control pieces and the unknown one."""
    special = ((n, piece.text) for n, piece in enumerate(pieces) if piece.type in ("CONTROL", "UNKNOWN"))
    return SpecialTokens([AddedToken(text, number) for number, text in special])


def _normalizer(file: SentencePieceModel) -> Normalizer | None:
    spec = file.normalizer_spec
    steps: list[Normalizer] = []
    if spec.precompiled_charsmap:
        steps.append(SentencePieceMap(base64.b64encode(spec.precompiled_charsmap).decode()))
    if spec.remove_extra_whitespaces:
        steps += [Replace(Pattern("Regex", r"\A +| +\z"), ""), Replace(Pattern("Regex", " {2,}"), " ")]
    if spec.add_dummy_prefix:
        steps.append(Prepend(SPACE if spec.escape_whitespaces else " "))
    if spec.escape_whitespaces:
        steps.append(Replace(Pattern("String", " "), SPACE))
    return NormalizerSequence(tuple(steps)) if steps else None


def decoder(strips_prefix: bool) -> DecoderSequence:
    """From pieces to text: spaces back, bytes joined, and the space that was put in front taken off again."""
    back = ReplaceInTokens(Pattern("String", SPACE), " ")
    return DecoderSequence((back, ByteFallback(), Fuse(), *([Strip(" ", 1, 0)] if strips_prefix else [])))
