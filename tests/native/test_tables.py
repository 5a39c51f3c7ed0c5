"""Tables cached in files: read if they are intact, built again if not, never trusted."""

import hashlib
import os
import random
import shutil
import sys

import pytest

from bpelab import BPEModel, native
from bpelab._support import checked_files
from bpelab.model import disk_cache
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.native import tables
from bpelab.native.plan import split_steps_for
from bpelab.pretokenizers.split import Split

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")

MERGES = [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"x", b"y")]
TEXT = "lower xylophones, flow"


def of_characters() -> BPEModel:
    """A model with tables of initial symbols and of adjacent characters."""
    names = [*"lowerxy ▁", "lo", "low", "er", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens = {number: name.encode() for number, name in enumerate(names)}
    ids = {token: number for number, token in tokens.items()}
    initial_symbols = InitialSymbols(True, byte_tokens={byte: ids[f"<0x{byte:02X}>".encode()] for byte in range(256)})
    merges = {(ids[a], ids[b]): (rank, ids[a + b]) for rank, (a, b) in enumerate(MERGES[:3])}
    return BPEModel(tokens, merges, {name.encode(): ids[name.encode()] for name in names[:9]}, False, initial_symbols)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))
    monkeypatch.setattr(tables, "SMALLEST", 10)
    return tmp_path / "native"


@pytest.fixture(params=["bytes", "characters"])
def model(request, folder) -> BPEModel:
    return BPEModel.from_merges(MERGES) if request.param == "bytes" else of_characters()


def ids_of(model: BPEModel) -> list[int]:
    return native.encoder_for(model, Split("gpt2")).encode(TEXT)


def test_tables_are_kept_and_read(model, folder, monkeypatch):
    expected = ids_of(model)
    (file,) = folder.iterdir()
    ignoring = BPEModel(model.tokens, model.merges, model.alphabet, True, model.initial_symbols)
    ids_of(ignoring)
    assert len(list(folder.iterdir())) == 2 and file.exists()

    def never(*given):
        raise AssertionError("the tables should have been read")

    monkeypatch.setattr("bpelab.native.arrays.build_encoder", never)
    again = BPEModel(model.tokens, model.merges, model.alphabet, model.ignore_merges, model.initial_symbols)
    assert ids_of(again) == expected
    assert native.encoder_for(again, None).encode("low") == [next(i for i, t in model.tokens.items() if t == b"low")]


def test_damaged_tables_are_made_again(model, folder):
    expected = ids_of(model)
    (file,) = folder.iterdir()
    good = file.read_bytes()
    damaged = [b"", b"x", good[:31], good[:40], good[:-1], good + b"\0", good[:200] + b"\1" + good[201:]]
    damaged.append(b"bpelab3\n" + good[8:])  # the version before
    step = len(good) // 20 | 1
    damaged += [good[:offset] + bytes([good[offset] ^ 1]) + good[offset + 1 :] for offset in range(0, len(good), step)]
    for data in damaged:
        file.write_bytes(data)
        assert ids_of(model) == expected
        assert file.read_bytes() == good


def test_a_file_with_a_fitting_hash_and_nonsense_is_not_used(model, folder):
    expected = ids_of(model)
    (file,) = folder.iterdir()
    for block in (b"", b"{}", bytes(2_000), file.read_bytes()[64:-64], file.read_bytes()[64:] + bytes(64)):
        body = bytes(32) + block
        file.write_bytes(hashlib.sha256(body).digest() + body)
        assert ids_of(model) == expected


@pytest.fixture
def checks(monkeypatch):
    """Whether the checksum was compared, for each time that tables were read."""
    compared: list[bool] = []
    core = native.extension()

    class Recording:
        __module__ = core.__module__

        @staticmethod
        def from_tables(block, levels, words, checked):
            compared.append(not checked)
            return core.from_tables(block, levels, words, checked)

    fetch = tables.fetch
    monkeypatch.setattr(tables, "fetch", lambda path, core, levels: fetch(path, Recording, levels))
    return compared


@pytest.mark.skipif(not os.path.exists(checked_files.BOOT_ID), reason="the system doesn't say when it was started")
def test_tables_that_nobody_wrote_to_are_checked_once(model, folder, monkeypatch, checks):
    expected = ids_of(model)
    (file,) = folder.iterdir()
    assert ids_of(model) == expected and checks == [True]
    assert ids_of(model) == expected and checks == [True, True]  # it may have been written again in the same instant
    monkeypatch.setattr(checked_files, "YOUNG", 0)
    for _ in range(3):
        assert ids_of(model) == expected
    assert checks == [True, True, True, False, False]
    good = file.read_bytes()
    for change in ("write", "time", "another file", "another start of the machine"):
        checks.clear()
        if change == "write":
            file.write_bytes(good)
        elif change == "time":
            os.utime(file, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
        elif change == "another file":
            shutil.copy2(file, folder / "copy")
            (folder / "copy").replace(file)
        else:
            (folder / "boot").write_text("another")
            monkeypatch.setattr(checked_files, "BOOT_ID", str(folder / "boot"))
        assert [ids_of(model), ids_of(model)] == [expected] * 2
        assert checks == [True, False], change
    checks.clear()
    monkeypatch.setattr(checked_files, "BOOT_ID", str(folder / "none"))
    assert [ids_of(model), ids_of(model)] == [expected] * 2 and checks == [True, True]


@pytest.mark.parametrize("note", [b"", b"x", None])
def test_a_note_that_is_wrong_or_a_folder(model, folder, monkeypatch, checks, note):
    expected = ids_of(model)
    monkeypatch.setattr(checked_files, "YOUNG", 0)
    (file,) = folder.iterdir()
    place = folder.parent / "checked" / file.name
    place.parent.mkdir()
    place.mkdir() if note is None else place.write_bytes(note)
    assert ids_of(model) == expected and checks == [True]


def test_a_damaged_file_whose_good_content_was_checked(model, folder, monkeypatch):
    monkeypatch.setattr(checked_files, "YOUNG", 0)
    expected = ids_of(model)
    (file,) = folder.iterdir()
    good = file.read_bytes()
    for offset in range(0, len(good), len(good) // 7 | 1):
        assert ids_of(model) == expected
        with file.open("r+b") as opened:  # in place: the same file, of the same size
            opened.seek(offset)
            opened.write(bytes([good[offset] ^ 1]))
        os.utime(file, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns + 1_000_000))
        assert ids_of(model) == expected
        assert file.read_bytes() == good


def test_the_checksum_is_that_of_the_definition():
    def mixed(word: int) -> int:
        return word * 0x9E3779B97F4A7C15 % (1 << 64)

    def over(data: bytes, seed: int) -> int:
        lanes, everything = [seed ^ lane for lane in (1, 2, 3, 4)], len(data)
        for at in range(0, len(data), 8):
            word = mixed(lanes[at // 8 % 4] ^ int.from_bytes(data[at : at + 8], "little"))
            lanes[at // 8 % 4] = word ^ word >> 32
        for lane in lanes:
            everything = mixed(everything ^ lane) ^ everything >> 29
        return everything

    rng, checksum = random.Random(3), sys.modules[native.extension().__module__].checksum
    for size in (0, 1, 63, 64, 65, 500):
        data = rng.randbytes(size)
        whole = size // 64 * 64
        assert checksum(data) == over(data[whole:].ljust(64, b"\0"), over(data[:whole], size))
        assert len({checksum(data), checksum(data + b"\0"), checksum(data + b"x")}) == 3
    with pytest.raises(TypeError):
        checksum("text")


def test_sizes_that_are_wrong(model):
    """Damage in the header of a block, which has the sizes of all tables, is detected, or changes no size."""
    levels = split_steps_for(Split("gpt2"), model)
    core = native.extension()
    block = native.encoder_for(model, Split("gpt2")).tables()
    assert core.from_tables(block, levels).encode(TEXT) == ids_of(model)
    rng, refused = random.Random(7), 0
    for _ in range(600):
        damaged = bytearray(block)
        damaged[rng.choice((*range(16), *range(56, 128)))] ^= 1 << rng.randrange(8)
        try:
            core.from_tables(bytes(damaged), levels)
        except ValueError:
            refused += 1
    assert refused > 500


def test_tables_where_nothing_can_be_kept(model, tmp_path, monkeypatch):
    expected = ids_of(model)
    (tmp_path / "file").write_text("")
    for cache in ("", str(tmp_path / "file")):
        monkeypatch.setenv("BPELAB_CACHE", cache)
        assert ids_of(model) == expected


def test_the_oldest_tables_are_removed(folder, monkeypatch):
    files: list[os.PathLike[str]] = []
    for number in range(6):
        ids_of(BPEModel.from_merges([(b"a", bytes([98 + number]))]))
        (new,) = set(folder.iterdir()) - set(files)
        files.append(new)
        os.utime(new, (number, number))
        monkeypatch.setattr(tables, "MAX_BYTES", 3 * new.stat().st_size)
    assert sorted(folder.iterdir()) == sorted(files[-3:])


def test_the_hash_of_a_model():
    one = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    assert disk_cache.model_hash(one) == disk_cache.model_hash(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]))
    others = [
        BPEModel.from_merges([(b"l", b"o")]),
        BPEModel.from_merges([(b"l", b"o"), (b"w", b"lo")]),
        BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")], reserved=[0]),
        BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")], ignore_merges=True),
        BPEModel.from_ranks(dict(one.ids)),
    ]
    assert len({disk_cache.model_hash(model) for model in [one, *others]}) == 6
