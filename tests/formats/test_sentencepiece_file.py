"""SentencePiece models: against the sentencepiece package, and against files that are cut, changed or made to harm."""

import io
import random
import struct
import time
from contextlib import contextmanager
from functools import lru_cache

import pytest

from bpelab import TokenizerFileError
from bpelab.formats import sentencepiece_proto
from bpelab.formats.sentencepiece_proto import NormalizerSpec, Piece, SentencePieceModel, TrainerSpec, read_model
from bpelab.notebook import book_text

from ..conftest import amount


@lru_cache(None)
def trained(**options):
    """A model that sentencepiece trained, as it writes it."""
    spm = pytest.importorskip("sentencepiece")
    lines = [line for line in book_text()[:60_000].split("\n") if line.strip()]
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, minloglevel=2, num_threads=1,
        **{"model_type": "bpe", "vocab_size": 400, "character_coverage": 0.99, **options},
    )  # fmt: skip
    return out.getvalue()


def load(tmp_path, data):
    (tmp_path / "m.model").write_bytes(data)
    return read_model(tmp_path / "m.model")


@contextmanager
def loader(tmp_path):
    """`load` for many files of one length: the bytes are written over, which is fast where a new file is not."""
    path = tmp_path / "m.model"
    with open(path, "wb", buffering=0) as file:

        def again(data):
            file.seek(0)
            file.write(data)
            return read_model(path)

        yield again


SETTINGS = [
    {},
    {"byte_fallback": True, "vocab_size": 600},
    {"user_defined_symbols": "<x>,a b,\u2581\u2581", "control_symbols": "<mask>,<sep>"},
    {"normalization_rule_name": "identity", "add_dummy_prefix": False},
    {"normalization_rule_name": "nmt_nfkc", "remove_extra_whitespaces": False},
    {"unk_id": 3, "bos_id": -1, "eos_id": 0, "pad_id": 1, "unk_piece": "<UNK>", "eos_piece": "<END>", "pad_piece": "_"},
    {"treat_whitespace_as_suffix": True, "split_digits": True, "split_by_number": False},
    {"split_by_whitespace": False, "allow_whitespace_only_pieces": True, "unk_surface": "?", "character_coverage": 1.0,
     "split_by_unicode_script": False, "max_sentencepiece_length": 7, "vocab_size": 700},
    {"model_type": "unigram"},
    {"model_type": "char"},
    {"model_type": "word"},
]  # fmt: skip


@pytest.mark.parametrize("options", SETTINGS, ids=lambda options: "-".join(options) or "default")
def test_what_sentencepiece_says(options, tmp_path):
    data = trained(**options)
    spm = pytest.importorskip("sentencepiece")
    theirs = spm.SentencePieceProcessor(model_proto=data)
    ours = load(tmp_path, data)
    trainer, normalizer = ours.trainer_spec, ours.normalizer_spec
    kinds = {"CONTROL": theirs.is_control, "UNKNOWN": theirs.is_unknown, "UNUSED": theirs.is_unused}
    assert len(ours.pieces) == theirs.get_piece_size() == trainer.vocab_size or options.get("model_type") == "char"
    for token_id, piece in enumerate(ours.pieces):
        assert piece.text == theirs.id_to_piece(token_id)
        assert piece.score == theirs.get_score(token_id)
        assert {kind: piece.type == kind for kind in kinds} == {kind: says(token_id) for kind, says in kinds.items()}
        assert (piece.type == "BYTE") == theirs.is_byte(token_id)
    assert (trainer.unk_id, trainer.bos_id, trainer.eos_id, trainer.pad_id) == (
        theirs.unk_id(), theirs.bos_id(), theirs.eos_id(), theirs.pad_id(),
    )  # fmt: skip
    assert trainer.model_type == options.get("model_type", "bpe").upper()
    for name, value in options.items():
        if name in ("user_defined_symbols", "control_symbols"):
            assert getattr(trainer, name) == tuple(value.split(","))
            kind = name.split("_symbols")[0].upper()
            assert all(Piece(text, 0.0, kind) in ours.pieces for text in value.split(","))
        elif hasattr(trainer, name) and name not in ("model_type", "vocab_size"):
            assert getattr(trainer, name) == value, name
        elif hasattr(normalizer, name):
            assert getattr(normalizer, name) == value, name
    assert normalizer.name == options.get("normalization_rule_name", "nmt_nfkc")
    assert bool(normalizer.precompiled_charsmap) == (normalizer.name != "identity")
    assert ours.denormalizer_spec in (None, NormalizerSpec())


def as_protobuf(data):
    """What protobuf's own parser says, by sentencepiece's description of the message."""
    pytest.importorskip("google.protobuf")
    try:
        from sentencepiece import sentencepiece_model_pb2
    except Exception as error:  # the installed protobuf and the one that the description was made with can differ
        pytest.skip(f"sentencepiece's description can't be used: {type(error).__name__}")
    from google.protobuf.message import DecodeError

    proto = sentencepiece_model_pb2.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        return None
    types = proto.SentencePiece.Type

    def escaped(text):  # what is not UTF-8 comes as bytes
        return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text

    def spec(kind, message, **own):
        texts = {name for name, default in vars(kind()).items() if isinstance(default, str)}
        values = {name: getattr(message, name) for name in kind.__dataclass_fields__ if name not in own}
        return kind(**{name: escaped(value) if name in texts else value for name, value in values.items()}, **own)

    own = {
        name: tuple(map(escaped, getattr(proto.trainer_spec, name)))
        for name in ("control_symbols", "user_defined_symbols")
    }
    own["model_type"] = proto.trainer_spec.ModelType.Name(proto.trainer_spec.model_type)
    return SentencePieceModel(
        tuple(Piece(escaped(piece.piece), piece.score, types.Name(piece.type)) for piece in proto.pieces),
        spec(TrainerSpec, proto.trainer_spec, **own),
        spec(NormalizerSpec, proto.normalizer_spec),
        spec(NormalizerSpec, proto.denormalizer_spec) if proto.HasField("denormalizer_spec") else None,
    )


@pytest.mark.parametrize("options", SETTINGS[:4], ids=lambda options: "-".join(options) or "default")
def test_what_protobuf_says(options, tmp_path):
    data = trained(**options)
    assert load(tmp_path, data) == as_protobuf(data)


def varint(number):
    out = b""
    while number > 127:
        number, out = number >> 7, out + bytes([number & 127 | 128])
    return out + bytes([number])


def field(number, value):
    """A field: bytes as they are, an int as a varint, a float in 32 bits."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def piece(text, *more):
    return field(1, field(1, text) + b"".join(more))


SMALL = (
    piece(b"<unk>", field(2, 0.0), field(3, 2))
    + piece(b"\xe2\x96\x81a", field(2, -1.5))
    + piece(b"<0x41>", field(3, 6))
    + piece(b"\xff\xfe")
    + field(2, field(3, 2) + field(4, 4) + field(35, 1) + field(30, b"<c>") + field(31, b"u") + field(43, 2**64 - 1))
    + field(3, field(1, b"identity") + field(2, b"\0\1\2") + field(3, 0) + field(200, b"new"))
    + field(5, field(6, b"a\tb"))
)


def test_a_model_made_by_hand(tmp_path):
    found = load(tmp_path, SMALL)
    assert found.pieces == (
        Piece("<unk>", 0.0, "UNKNOWN"), Piece("\u2581a", -1.5), Piece("<0x41>", 0.0, "BYTE"), Piece("\udcff\udcfe"),
    )  # fmt: skip
    assert found.trainer_spec == TrainerSpec(
        "BPE", 4, byte_fallback=True, control_symbols=("<c>",), user_defined_symbols=("u",), pad_id=-1
    )
    assert found.normalizer_spec == NormalizerSpec("identity", b"\0\1\2", add_dummy_prefix=False)
    assert found.denormalizer_spec == NormalizerSpec(normalization_rule_tsv="a\tb")


GROUP = varint(9 << 3 | 3) + field(1, b"not a piece") + varint(8 << 3 | 3) + varint(8 << 3 | 4) + varint(9 << 3 | 4)


@pytest.mark.parametrize(
    ("data", "same"),
    [
        (piece(b"a") + field(77, b"skipped") + field(78, 5) + field(79, 1.0) + b"\x81\x05" + bytes(8), piece(b"a")),
        (GROUP + piece(b"a") + GROUP, piece(b"a")),
        (field(1, field(1, b"a") + GROUP), piece(b"a")),
        (field(1, field(1, b"z") + field(1, b"a")), piece(b"a")),  # the last value counts
        (field(1, field(1, 5) + field(1, b"a") + field(2, b"no float") + field(3, 1.0)), piece(b"a")),  # wire types
        (field(1, field(1, b"a") + field(3, 4) + field(3, 99)), piece(b"a", field(3, 4))),  # an enum value not known
        (piece(b"a") + field(2, field(40, 5)) + field(2, field(41, 6)),
         piece(b"a") + field(2, field(40, 5) + field(41, 6))),
        (piece(b"a") + field(2, field(30, b"x")) + field(2, field(30, b"y")),
         piece(b"a") + field(2, field(30, b"x") + field(30, b"y"))),
        (piece(b"a") + field(2, b"\xc0\x02\x85\x80\x80\x80\x10"), piece(b"a") + field(2, field(40, 5))),  # 33 bits
        (piece(b"a") + field(2, b"\x98\x82\x00\x02"), piece(b"a") + field(2, field(35, 1))),
        (b"\x8a\x00\x03\x0a\x01a", piece(b"a")),  # a tag in more bytes than it needs
    ],
)  # fmt: skip
def test_what_protobuf_allows(data, same, tmp_path):
    assert load(tmp_path, data) == load(tmp_path, same)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "has no pieces"),
        (field(2, b""), "has no pieces"),
        (b"\x0a", "the model at byte 1: a number does not end"),
        (b"\x0a\x05abcd", "the model at byte 0: field 1 should end at byte 7, beyond the end at 6"),
        (piece(b"a") + b"\x0a\x02\x0a\x01", "piece 1 at byte 7: field 1 should end at byte 10, beyond the end at 9"),
        (b"\x0a" + b"\xff" * 9 + b"\x01", "beyond the end"),
        (b"\x08" + b"\xff" * 11, "within ten bytes"),
        (b"\x08" + b"\xff" * 4, "a number does not end"),
        (b"\x00\x00", "has the number 0"),
        (b"\xff\xff\xff\xff\x7f" + b"\0" * 9, "which protobuf does not allow"),
        (b"\x0f", "wire type 7"),
        (b"\x0c", "wire type 4"),
        (b"\x4b\x54", "wire type 4"),
        (b"\x4b", "the group of field 9 does not end"),
        (b"\x4b" * 200, "wire type 3"),
        (b"\x0d\0\0\0", "field 1 should end at byte 5"),
        (b"\x09\0\0\0\0\0\0", "field 1 should end at byte 9"),
        (piece(b"a") + field(3, b"\x12\x7f"), "the NormalizerSpec at byte"),
        (piece(b"a") + field(2, b"\x98"), "the TrainerSpec at byte"),
    ],
)
def test_files_that_are_wrong(data, problem, tmp_path):
    with pytest.raises(TokenizerFileError, match=problem):
        load(tmp_path, data)


def test_limits(tmp_path, monkeypatch):
    for name, limit in (("MAX_FIELDS", 1_500), ("MAX_PIECES", 1_000), ("MAX_BYTES", 1_000)):
        monkeypatch.setattr(sentencepiece_proto, name, limit)
    assert len(load(tmp_path, b"\x0a\0" * 500).pieces) == 500
    with pytest.raises(TokenizerFileError, match="larger than 1,000 bytes"):
        load(tmp_path, b"\x0a\0" * 501)
    monkeypatch.setattr(sentencepiece_proto, "MAX_BYTES", 10_000)
    with pytest.raises(TokenizerFileError, match="more than 1,000 pieces"):
        load(tmp_path, b"\x0a\0" * 1_001)
    with pytest.raises(TokenizerFileError, match="more than 1,500 fields"):
        load(tmp_path, piece(b"a") * 999)
    with pytest.raises(TokenizerFileError, match=r"the TrainerSpec at byte .*more than 1,500 fields"):
        load(tmp_path, piece(b"a") + field(2, field(99, 1) * 1_501))


def test_many_symbols_take_linear_time(tmp_path):
    start = time.process_time()
    found = load(tmp_path, piece(b"a") + field(2, field(31, b"") * 300_000))
    assert len(found.trainer_spec.user_defined_symbols) == 300_000
    assert time.process_time() - start < 20


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path / "none.model", tmp_path):
        with pytest.raises(TokenizerFileError, match=r"can't be read|is not a regular file"):
            read_model(path)


def test_cut_anywhere(tmp_path):
    """A cut between two fields of the model can't be seen; any other is."""
    whole = load(tmp_path, SMALL)
    loaded = []
    for length in range(len(SMALL)):
        try:
            found = load(tmp_path, SMALL[:length])
        except TokenizerFileError:
            continue
        loaded.append(length)
        assert found.pieces == whole.pieces[: len(found.pieces)]
    assert len(loaded) == 6  # after each piece and the first two settings


@pytest.mark.slow
def test_changed_anywhere(tmp_path):
    rng = random.Random(11)
    loaded = 0
    with loader(tmp_path) as load_again:
        for _ in range(amount(6_000, 200_000)):
            changed = bytearray(SMALL)
            for _ in range(rng.randint(1, 3)):
                changed[rng.randrange(len(SMALL))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
            try:
                load_again(changed)
                loaded += 1
            except TokenizerFileError:
                pass
    assert loaded > 100


def test_protobuf_agrees_on_changed_files(tmp_path):
    rng = random.Random(13)
    agreed = 0
    with loader(tmp_path) as load_again:
        for _ in range(amount(3_000, 200_000)):
            changed = bytearray(SMALL)
            for _ in range(rng.randint(1, 3)):
                changed[rng.randrange(len(SMALL))] = rng.choice((0, 1, 8, 10, 127, 128, rng.randrange(256)))
            theirs = as_protobuf(bytes(changed))
            try:
                ours = load_again(changed)
            except TokenizerFileError as error:
                assert theirs is None or not theirs.pieces, (bytes(changed), error)
                continue
            if theirs is None:
                assert "\\udc" in repr(ours), bytes(changed)
                continue
            assert repr(ours) == repr(theirs), bytes(changed)  # as text, for nan is not equal to itself
            agreed += 1
    assert agreed > 100
