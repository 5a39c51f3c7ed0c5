"""Parser of SentencePiece's `.model` file, a protobuf message.

A message is a sequence of fields, each with a number, a wire type and a value; pieces, the trainer's settings and the
normalizer's are nested messages. Unknown fields are skipped, as protobuf requires. O(file) time and memory, bounded by
the limits below. Text is decoded with "surrogateescape", so no byte is lost.

Chapter: File formats. Source: SentencePiece `sentencepiece_model.proto`, protobuf's "Encoding" page.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .._support.json_document import open_file
from ..errors import TokenizerFileError

MAX_BYTES, MAX_PIECES, MAX_FIELDS, MAX_GROUPS = 1 << 25, 1 << 20, 1 << 22, 100
"""Limits on a file's bytes, pieces and fields, more than the largest vocabularies need, and protobuf's on groups."""

PIECE_TYPES = ("", "NORMAL", "UNKNOWN", "CONTROL", "USER_DEFINED", "UNUSED", "BYTE")
MODEL_TYPES = ("", "UNIGRAM", "BPE", "WORD", "CHAR")
unpack_float32 = struct.Struct("<f").unpack_from
VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)


class Piece(NamedTuple):
    """A token's text with U+2581 for spaces, its score (the highest merges first), and one of PIECE_TYPES."""

    text: str = ""
    score: float = 0.0
    type: str = "NORMAL"


@dataclass(frozen=True)
class TrainerSpec:
    """The trainer's settings needed to read the pieces. An id of -1 means that there is no such piece."""

    model_type: str = "UNIGRAM"
    vocab_size: int = 8000
    byte_fallback: bool = False
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " \u2047 "
    control_symbols: tuple[str, ...] = ()
    user_defined_symbols: tuple[str, ...] = ()
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    max_sentencepiece_length: int = 16
    pretokenization_delimiter: str = ""


@dataclass(frozen=True)
class NormalizerSpec:
    """The normalizer's settings. `precompiled_charsmap` is the compiled form of the rules called `name`."""

    name: str = ""
    precompiled_charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    normalization_rule_tsv: str = ""


@dataclass(frozen=True)
class SentencePieceModel:
    """The pieces by id, and the settings. `denormalizer_spec` is None if the file has none."""

    pieces: tuple[Piece, ...]
    trainer_spec: TrainerSpec
    normalizer_spec: NormalizerSpec
    denormalizer_spec: NormalizerSpec | None


TRAINER_FIELDS = {
    3: "model_type", 4: "vocab_size", 20: "max_sentencepiece_length", 21: "split_by_unicode_script",
    22: "split_by_whitespace", 23: "split_by_number", 24: "treat_whitespace_as_suffix", 25: "split_digits",
    26: "allow_whitespace_only_pieces", 30: "control_symbols", 31: "user_defined_symbols", 35: "byte_fallback",
    40: "unk_id", 41: "bos_id", 42: "eos_id", 43: "pad_id", 44: "unk_surface", 45: "unk_piece", 46: "bos_piece",
    47: "eos_piece", 48: "pad_piece", 53: "pretokenization_delimiter",
}  # fmt: skip
NORMALIZER_FIELDS = {
    1: "name", 2: "precompiled_charsmap", 3: "add_dummy_prefix", 4: "remove_extra_whitespaces",
    5: "escape_whitespaces", 6: "normalization_rule_tsv",
}  # fmt: skip


def may_match(start: bytes) -> bool:
    r"""Return whether a file that starts with these bytes may be SentencePiece's, which starts with a piece.

    A piece is a message (`\n` and its length), with a text (`\n` and its length) and a score (`\x15`).

    >>> may_match(b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02"), may_match(b"\n\nA text.")
    (True, False)
    """
    return start[:1] == b"\n" and start[2:3] == b"\n" and len(start) > 4 and start[4 + start[3] :][:1] == b"\x15"


def read_model(path: str | Path) -> SentencePieceModel:
    """Return the contents of a SentencePiece model file, of any model type. O(file) time and memory.

    Missing fields have protobuf's defaults; the last value of a repeated field wins. Bytes that aren't UTF-8 become
    U+DC80..U+DCFF. Raises TokenizerFileError naming the field and the byte.
    """
    try:
        with open_file(Path(path)) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TokenizerFileError(path, "", f"can't be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise TokenizerFileError(path, "", f"is larger than {MAX_BYTES:,} bytes, the limit for a SentencePiece model")
    return _Message(path, data).model()


class _Message:
    """The bytes of a message and its nested messages. Offsets are in bytes from the start of the file."""

    def __init__(self, path: str | Path, data: bytes) -> None:
        self.path, self.data, self.fields = path, data, 0

    def error(self, offset: int, what: str, problem: str) -> TokenizerFileError:
        return TokenizerFileError(self.path, f"{what} at byte {offset:,}", problem)

    def model(self) -> SentencePieceModel:
        pieces: list[Piece] = []
        settings: dict[int, dict[str, Any]] = {2: {}, 3: {}, 5: {}}  # a message that occurs twice is merged
        seen = set()
        for number, wire, at, end in self.walk(0, len(self.data), "the model"):
            if wire == BYTES and number == 1:
                pieces.append(self.piece(at, end, len(pieces)))
                if len(pieces) > MAX_PIECES:
                    raise self.error(at, "the model", f"there are more than {MAX_PIECES:,} pieces, the limit here")
            elif wire == BYTES and number in settings:
                seen.add(number)
                kind = TrainerSpec if number == 2 else NormalizerSpec
                self.settings(at, end, kind, settings[number])
        if not pieces:
            raise TokenizerFileError(self.path, "", "has no pieces; a SentencePiece model has one for each token")
        for name in ("control_symbols", "user_defined_symbols"):
            settings[2][name] = tuple(settings[2].get(name, ()))
        denormalizer = NormalizerSpec(**settings[5]) if 5 in seen else None
        return SentencePieceModel(
            tuple(pieces), TrainerSpec(**settings[2]), NormalizerSpec(**settings[3]), denormalizer
        )

    def piece(self, start: int, end: int, index: int) -> Piece:
        text, score, kind, data = "", 0.0, "NORMAL", self.data
        for number, wire, at, stop in self.walk(start, end, f"piece {index}"):
            if number == 1 and wire == BYTES:
                text = str(data[at:stop], "utf-8", "surrogateescape")
            elif number == 2 and wire == FIXED32:
                score = unpack_float32(data, at)[0]
            elif number == 3 and wire == VARINT:
                kind = _enum_name(PIECE_TYPES, self.varint(at, stop, "")[0], kind)
        return Piece(text, score, kind)

    def settings(self, start: int, end: int, kind: type, into: dict[str, Any]) -> None:
        """Read the fields of a TrainerSpec or NormalizerSpec, with the types of their defaults."""
        names = TRAINER_FIELDS if kind is TrainerSpec else NORMALIZER_FIELDS
        for number, wire, at, stop in self.walk(start, end, f"the {kind.__name__}"):
            if not (name := names.get(number)):
                continue
            default = getattr(kind, name)
            if wire == VARINT and (name == "model_type" or isinstance(default, int)):
                value = self.varint(at, stop, "")[0]
                if name == "model_type":
                    into[name] = _enum_name(MODEL_TYPES, value, into.get(name, default))
                else:
                    into[name] = bool(value) if isinstance(default, bool) else _int32(value)
            elif wire == BYTES and name != "model_type" and not isinstance(default, int):
                data = self.data[at:stop]
                text = str(data, "utf-8", "surrogateescape")
                if isinstance(default, tuple):
                    into.setdefault(name, []).append(text)
                else:
                    into[name] = data if isinstance(default, bytes) else text

    def walk(self, start: int, end: int, what: str) -> Iterator[tuple[int, int, int, int]]:
        """Yield a message's fields: number, wire type, offsets of the value's start and end. Groups are skipped."""
        data, at, groups = self.data, start, list[int]()
        while at < end:
            begin = at
            if (tag := data[at]) < 0x80:  # nearly always
                at += 1
            else:
                tag, at = self.varint(at, end, what)
            number, wire = tag >> 3, tag & 7
            self.fields += 1
            if self.fields > MAX_FIELDS:
                raise self.error(begin, what, f"there are more than {MAX_FIELDS:,} fields, the limit here")
            if not 0 < number < 1 << 29 or at - begin > 5:
                raise self.error(begin, what, f"a field has the number {number}, which protobuf does not allow")
            value = at
            if wire == BYTES:
                if at < end and (length := data[at]) < 0x80:
                    value = at + 1
                else:
                    length, value = self.varint(at, end, what)
                at = value + length
            elif wire == VARINT:
                at = self.varint(at, end, what)[1]
            elif wire in (FIXED32, FIXED64):
                at += 4 if wire == FIXED32 else 8
            elif wire == GROUP and len(groups) < MAX_GROUPS:
                groups.append(number)
            elif wire != END_GROUP or not groups or groups.pop() != number:
                raise self.error(begin, what, f"field {number} has the wire type {wire}, which is not allowed here")
            if at > end:
                raise self.error(begin, what, f"field {number} should end at byte {at:,}, beyond the end at {end:,}")
            if not groups and wire != END_GROUP:
                yield number, wire, value, at
        if groups:
            raise self.error(end, what, f"the group of field {groups[-1]} does not end")

    def varint(self, at: int, end: int, what: str) -> tuple[int, int]:
        """Return the variable-length integer at an offset, seven bits a byte, and the offset after it."""
        if at < end and self.data[at] < 0x80:
            return self.data[at], at + 1
        value, shift = 0, 0
        for index in range(at, min(end, at + 10)):
            byte = self.data[index]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, index + 1
            shift += 7
        raise self.error(at, what, "a number does not end" + (" within ten bytes" if end - at >= 10 else ""))


def _int32(value: int) -> int:
    """Return a number as protobuf's int32: the lower 32 bits, with a sign."""
    return ((value & 0xFFFF_FFFF) ^ 0x8000_0000) - 0x8000_0000


def _enum_name(names: tuple[str, ...], value: int, default: str) -> str:
    """Return the name of an enum's value, or `default` for an unknown one, as protobuf requires."""
    value = _int32(value)
    return names[value] if 0 < value < len(names) else default
