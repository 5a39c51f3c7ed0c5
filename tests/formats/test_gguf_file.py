"""GGUF headers both ways: against the gguf package, and against files that are cut, changed or made to harm."""

import random
import struct
import time

import pytest
from hypothesis import given, settings, strategies as st

from bpelab import ConversionError, TokenizerFileError
from bpelab.formats.gguf_container import MAX_HEADER, read_metadata, write_metadata

from ..conftest import amount

INTEGERS = {
    "uint8": (0, 2**8 - 1), "int8": (-(2**7), 2**7 - 1), "uint16": (0, 2**16 - 1), "int16": (-(2**15), 2**15 - 1),
    "uint32": (0, 2**32 - 1), "int32": (-(2**31), 2**31 - 1), "uint64": (0, 2**64 - 1), "int64": (-(2**63), 2**63 - 1),
}  # fmt: skip
SCALARS = {
    **{kind: st.integers(*bounds) for kind, bounds in INTEGERS.items()},
    "float32": st.floats(width=32, allow_nan=False),
    "float64": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "string": st.text(max_size=12),
}
KINDS = list(SCALARS)


def values(deep=True):
    """(type, value) pairs; an array of arrays is no deeper than the limit."""
    scalar = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), SCALARS[kind]))
    flat = st.sampled_from(KINDS).flatmap(
        lambda kind: st.tuples(st.just(f"[{kind}]"), st.lists(SCALARS[kind], max_size=8))
    )
    nested = st.sampled_from(KINDS).flatmap(
        lambda kind: st.tuples(
            st.just(f"[[{kind}]]"), st.lists(st.lists(SCALARS[kind], max_size=3), min_size=1, max_size=3)
        )
    )
    return st.one_of(scalar, flat, nested) if deep else st.one_of(scalar, flat)


KEYS = st.text(min_size=1, max_size=12).filter(lambda key: not key.startswith(("GGUF.", "general.alignment")))


@settings(max_examples=amount(60, 3_000))
@given(st.dictionaries(KEYS, values(), max_size=6))
def test_what_is_written_is_read(tmp_path_factory, pairs):
    path = tmp_path_factory.getbasetemp() / "a.gguf"
    metadata = {key: value for key, (_, value) in pairs.items()}
    types = {key: kind for key, (kind, _) in pairs.items()}
    write_metadata(path, metadata, types)
    ours = read_metadata(path)
    assert (ours.metadata, ours.types) == (metadata, types)
    assert (ours.version, ours.byte_order, ours.tensors) == (3, "little", ())
    assert path.stat().st_size % 32 == 0


@settings(max_examples=amount(60, 3_000))
@given(st.dictionaries(KEYS, values(deep=False), max_size=6))
def test_the_gguf_package_reads_what_we_write(tmp_path_factory, pairs):
    gguf = pytest.importorskip("gguf")
    path = tmp_path_factory.getbasetemp() / "b.gguf"
    write_metadata(path, {k: v for k, (_, v) in pairs.items()}, {k: kind for k, (kind, _) in pairs.items()})
    theirs = gguf.GGUFReader(path)
    found = {key: field for key, field in theirs.fields.items() if not key.startswith("GGUF.")}
    assert list(found) == list(pairs)
    for key, (kind, value) in pairs.items():
        assert [part.name.lower() for part in found[key].types][: 1 + (value not in ([], "") and kind[0] == "[")] == (
            ["array", kind[1:-1]] if kind[0] == "[" and value else ["array"] if kind[0] == "[" else [kind]
        )
        assert found[key].contents() == value
    assert len(theirs.tensors) == 0


@settings(max_examples=amount(60, 2_000))
@given(st.dictionaries(KEYS, values(deep=False), max_size=6), st.booleans())
def test_we_read_what_the_gguf_package_writes(tmp_path_factory, pairs, big):
    gguf = pytest.importorskip("gguf")
    import numpy as np

    path = tmp_path_factory.getbasetemp() / "c.gguf"
    writer = gguf.GGUFWriter(path, "llama", endianess=gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE)
    expected = {"general.architecture": "llama"}
    for key, (kind, value) in pairs.items():
        if key in expected or value == [] or (kind[0] == "[" and kind not in ("[int32]", "[string]", "[bool]")):
            continue  # the package leaves empty arrays out, and knows of numbers in arrays int32 and float32
        expected[key] = value
        if kind[0] == "[":
            writer.add_array(key, value)
        else:
            getattr(writer, f"add_{kind}")(key, value)
    shapes = {"token_embd.weight": (3, 4), "x": (5,)}
    for name, shape in shapes.items():
        writer.add_tensor(name, np.ones(shape, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ours = read_metadata(path)
    assert ours.metadata == {key: value for key, value in expected.items() if value != ""}
    assert ours.byte_order == ("big" if big else "little")
    assert [(info.name, info.shape[::-1], info.type) for info in ours.tensors] == [
        (name, shape, 0) for name, shape in shapes.items()
    ]
    assert [info.offset for info in ours.tensors] == [0, 64]


def test_bytes_that_are_no_text_come_back(tmp_path):
    tokens = [bytes(random.Random(i).randbytes(i % 7)).decode("utf-8", "surrogateescape") for i in range(500)]
    write_metadata(tmp_path / "a", {"tokens": tokens})
    assert read_metadata(tmp_path / "a").metadata["tokens"] == tokens
    assert any("\udc80" <= char <= "\udcff" for token in tokens for char in token)


def text(data):
    return struct.pack("<Q", len(data)) + data


def header(*keys, version=3, tensors=0, count=None):
    start = b"GGUF" + struct.pack("<IQQ", version, tensors, len(keys) if count is None else count)
    return start + b"".join(keys)


def key(name, kind, data):
    return text(name) + struct.pack("<I", kind) + data


def array(kind, count, data=b""):
    return struct.pack("<IQ", kind, count) + data


NESTED = b"".join(array(9, 1) for _ in range(400))
BAD = {
    "not a file of ours": (b"PK\3\4" + b"\0" * 99, "begins with b'PK"),
    "empty": (b"", "ends at once"),
    "version 1": (b"GGUF" + struct.pack("<III", 1, 0, 0) + b"\0" * 99, "version 1, which has 32-bit lengths"),
    "version 4": (header(version=4), "version 4"),
    "version 0": (header(version=0), "version 0"),
    "many keys": (header(count=10**18), "1,000,000,000,000,000,000 keys should follow"),
    "many tensors": (header(tensors=2**63), "tensors should follow"),
    "many small tensors": (header(tensors=1 << 18) + b"\0" * (24 << 18), "tensors are more than"),
    "long key": (header(text(b"k" * 70_000) + b"\0" * 99), "longer than 65,535"),
    "long string": (header(key(b"k", 8, struct.pack("<Q", 2**63))), "key 'k' at byte .*bytes of text should follow"),
    "negative length": (header(key(b"k", 8, struct.pack("<q", -1))), "bytes of text should follow"),
    "long array": (header(key(b"k", 9, array(4, 1 << 22))), "numbers should follow"),
    "endless array": (header(key(b"k", 9, array(4, 2**64 - 1))), "the limit here"),
    "long array of strings": (header(key(b"k", 9, array(8, 1 << 21))), "strings should follow"),
    "twice": (header(key(b"k", 0, b"\1"), key(b"k", 0, b"\1")), "key 'k' at byte .*occurs twice"),
    "unknown type": (header(key(b"k", 13, b"\1")), "the type 13"),
    "unknown type in an array": (header(key(b"k", 9, array(77, 1, b"\1"))), "the type 77"),
    "a bool of 2": (header(key(b"k", 7, b"\2")), "neither 0 nor 1"),
    "deep": (header(key(b"k", 9, NESTED)), "more than 4 deep"),
    "wide": (header(key(b"k", 9, array(9, 1 << 19, array(0, 0) * (1 << 19)))), "the limit here"),
    "mixed": (header(key(b"k", 9, array(9, 2, array(0, 1, b"\1") + array(1, 1, b"\1")))), "different types"),
    "no alignment": (header(key(b"general.alignment", 4, bytes(4))), "power of two"),
    "odd alignment": (header(key(b"general.alignment", 4, b"\3\0\0\0")), "power of two"),
    "alignment of another type": (header(key(b"general.alignment", 8, text(b"32"))), "power of two"),
    "no tensor": (header(tensors=1), "1 tensors should follow"),
    "dimensions": (header(tensors=1) + text(b"w") + b"\xff" * 40, "dimensions"),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_wrong(name, tmp_path):
    content, problem = BAD[name]
    (tmp_path / "x.gguf").write_bytes(content)
    start = time.process_time()
    with pytest.raises(TokenizerFileError, match=problem):
        read_metadata(tmp_path / "x.gguf")
    assert time.process_time() - start < 5  # a hang, not a slow machine


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(TokenizerFileError, match=r"can't be read|is not a regular file"):
            read_metadata(path)


def test_a_file_of_weights_costs_what_its_header_costs(tmp_path):
    path = tmp_path / "large.gguf"
    path.write_bytes(header(key(b"n", 4, b"\7\0\0\0")))
    with open(path, "r+b") as file:
        file.truncate(1 << 36)  # 64 GB of nothing, which takes no room on the disk
    assert read_metadata(path).metadata == {"n": 7}
    path.write_bytes(header(key(b"k", 8, struct.pack("<Q", 1 << 35))))
    with open(path, "r+b") as file:
        file.truncate(1 << 36)
    with pytest.raises(TokenizerFileError, match=f"header of more than {MAX_HEADER:,} bytes"):
        read_metadata(path)


@pytest.fixture
def small(tmp_path):
    """A small file with every type, and where its header ends."""
    path = tmp_path / "small.gguf"
    kinds = dict.fromkeys(INTEGERS, 1) | {"float32": 0.5, "float64": 0.1, "bool": True, "string": "é\udcff"}
    metadata = {**kinds, "tokens": ["a", "bc", ""], "scores": [0.5, -1.0], "nested": [[1], [2, 3]], "flags": [True]}
    types = {kind: kind for kind in kinds} | {"scores": "[float32]", "nested": "[[int32]]"}
    write_metadata(path, metadata, types)
    data = path.read_bytes()
    data = data[:8] + struct.pack("<Q", 1) + data[16:].rstrip(b"\0")  # the last value is True
    data += text(b"weight") + struct.pack("<IQQIQ", 2, 3, 4, 0, 0)
    path.write_bytes(data + bytes(100))
    assert read_metadata(path).metadata == metadata
    return path, data


def test_cut_anywhere(small):
    path, data = small
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(TokenizerFileError):
            read_metadata(path)
    path.write_bytes(data)
    assert read_metadata(path).tensors == (("weight", (3, 4), 0, 0),)


@pytest.mark.slow
def test_changed_anywhere(small, tmp_path):
    path, data = small
    rng = random.Random(7)
    loaded = 0
    with open(path, "wb", buffering=0) as file:  # written over, which is fast where a new file is not
        for _ in range(amount(6_000, 200_000)):
            changed = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                place = rng.randrange(len(data))
                changed[place] = rng.choice((0, 1, 255, rng.randrange(256), changed[place] ^ (1 << rng.randrange(8))))
            if rng.random() < 0.2:
                place = rng.randrange(len(data) - 8)
                changed[place : place + 8] = rng.choice((b"\xff" * 8, b"\0" * 7 + b"\x80", b"\0" * 4 + b"\1\0\0\0"))
            file.seek(0)
            file.write(changed)
            try:
                found = read_metadata(path)
            except TokenizerFileError:
                continue
            loaded += 1
            if loaded % 20 == 0:
                write_metadata(tmp_path / "again", found.metadata, found.types)
                again = read_metadata(tmp_path / "again")
                assert repr(again.metadata) == repr(found.metadata) and again.types == found.types
    assert loaded > 100


@pytest.mark.parametrize(
    ("value", "kind", "problem"),
    [
        (5, None, "several types"),
        (1.5, None, "several types"),
        ([], None, "several types"),
        ([1], None, "several types"),
        (b"x", None, "several types"),
        (256, "uint8", "too large for uint8"),
        (-1, "uint32", "too large for uint32"),
        (1e300, "float32", "too large for float32"),
        (True, "uint8", "is not of the type int"),
        (1, "bool", "is not of the type bool"),
        (1, "float32", "is not of the type float"),
        (["a", 5], None, "'5' is not of the type str"),
        (["a"], "[int32]", "is not of the type int"),
        ("a", "[string]", "is not a list"),
        ("a", "text", "is not a type"),
        (["a"], "[array]", "is not a type"),
        (["a"], "[string", "is not a list"),
        ([[[[["a"]]]]], "[[[[[string]]]]]", "at most 4 deep"),
        ([[[[["a"]]]]], None, "several types"),
        ("\ud800", None, "surrogates not allowed"),
    ],
)
def test_what_cannot_be_written(value, kind, problem, tmp_path):
    with pytest.raises(ConversionError, match=problem):
        write_metadata(tmp_path / "x", {"some key": value}, {"some key": kind} if kind else None)
    assert list(tmp_path.iterdir()) == []


def test_keys_and_alignments_that_cannot_be_written(tmp_path):
    with pytest.raises(ConversionError, match="65,535"):
        write_metadata(tmp_path / "x", {"k" * 65_536: "v"})
    for alignment, kind in ((0, "uint32"), (3, "uint32"), (64, "int32")):
        with pytest.raises(ConversionError, match="power of two"):
            write_metadata(tmp_path / "x", {"general.alignment": alignment}, {"general.alignment": kind})
    write_metadata(tmp_path / "x", {"general.alignment": 256}, {"general.alignment": "uint32"})
    assert (tmp_path / "x").stat().st_size == 256
