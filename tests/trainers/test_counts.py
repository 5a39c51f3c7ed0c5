"""Tables of counted pre-tokens, one by one: their arrays, their buckets, and the files they go to."""

import errno
import shutil
import tempfile
import zlib
from types import SimpleNamespace

import pytest

from bpelab import TrainingError
from bpelab.corpus import parquet
from bpelab.corpus.inputs import find_inputs
from bpelab.pretokenizers import Split
from bpelab.trainers.counting import count_table, spill_runs as runs
from bpelab.trainers.counting.count_table import Counts, NativeCounter, PythonCounter, concat_counts
from bpelab.trainers.counting.partition import parts_of
from bpelab.trainers.counting.spill_runs import Runs

from ..conftest import needs_extension

np = pytest.importorskip("numpy")
WORDS = {b"low": 5, b"er": 2, b"a": 1, b"\xff\0": 1 << 40}


def test_the_arrays_of_a_table():
    table = Counts.of(WORDS)
    assert table.content.tobytes() == b"lowera\xff\0"
    assert (table.ends.tolist(), table.counts.tolist()) == ([3, 5, 6, 8], [5, 2, 1, 1 << 40])
    assert {array.dtype.name for array in table[1:]} == {"int64"}
    assert table.nbytes == 8 + 2 * 4 * 8
    assert Counts.of({}).as_dict() == {} and len(Counts.of({}).content) == 0


def test_tables_for_the_extension():
    """Buffers without a gap, whatever they were cut from, also those that may not be written to."""
    for table in (Counts.of(WORDS), Counts(*(array[:] for array in Counts.of(WORDS)))):
        for array in table:
            array.flags.writeable = False
        assert table.words().as_dict() == WORDS
    every_other = Counts.of(WORDS)._replace(ends=np.array([3, 0, 5, 0, 6, 0, 8, 0])[::2])
    assert every_other.words().ends.c_contiguous and every_other.words().as_dict() == WORDS


def test_counting_in_c():
    needs_extension()
    counter = count_table.make_counter(Split("gpt2"))
    assert isinstance(counter, NativeCounter)
    counter.feed(["a b b", "", " b"])
    before = counter.nbytes
    counter.add(Counts.of({b" b": 2, b"c": 4}))
    counter.add(Counts.of({b"c": 1, b"x" * 30: 1 << 40}))
    assert counter.nbytes > before  # the long one has bytes of its own
    assert counter.table().as_dict() == {b"a": 1, b" b": 5, b"c": 5, b"x" * 30: 1 << 40}
    assert counter.table().buckets(3)[0].content.dtype == np.uint8


def test_what_occurs_often():
    table = Counts.of(WORDS)
    assert table.at_least(1) is table and table.at_least(0) is table
    assert table.at_least(2).as_dict() == {b"low": 5, b"er": 2, b"\xff\0": 1 << 40}
    assert table.at_least(5).as_dict() == {b"low": 5, b"\xff\0": 1 << 40}
    assert table.at_least(6).as_dict() == {b"\xff\0": 1 << 40}
    assert table.at_least(1 << 41).as_dict() == {}
    assert table.at_least(2).content.tobytes() == b"lower\xff\0"


def bucket_of(word: bytes) -> int:
    return sum(zlib.crc32(bytes([byte])) for byte in word) * 0x9E3779B97F4A7C15 % (1 << 64) >> 32


def test_buckets_are_the_same_everywhere():
    """Machines must agree on them."""
    words = [b"%d" % number for number in range(40)]
    for bucket, table in enumerate(Counts.of(dict.fromkeys(words, 1)).buckets(5)):
        assert list(table.as_dict()) == [word for word in words if bucket_of(word) % 5 == bucket]
    empty = Counts.of({})
    assert [table is empty for table in empty.buckets(3)] == [True] * 3


def test_joined_tables():
    table = concat_counts([Counts.of({b"a": 1}), Counts.of({}), Counts.of({b"bc": 2, b"": 3})])
    assert table.content.tobytes() == b"abc"
    assert table.as_dict() == {b"a": 1, b"bc": 2, b"": 3}
    nothing = concat_counts([])
    assert nothing.as_dict() == {} and [array.dtype.name for array in nothing] == ["uint8", "int64", "int64"]


def test_counting_in_a_dictionary():
    counter = PythonCounter(Split("gpt2"))
    counter.feed(["a b b", "", " b"])
    counter.add(Counts.of({b" b": 2, b"c": 4}))
    counter.add(Counts.of({b"c": 1}))
    assert counter.nbytes == count_table.WORD_BYTES * 4
    assert counter.table().as_dict() == {b"a": 1, b" b": 5, b"c": 5}
    whole = PythonCounter(None)
    whole.feed(["a b", "", "a b"])
    assert whole.table().as_dict() == {b"a b": 2}


def test_who_counts(monkeypatch):
    monkeypatch.setattr("bpelab.native.extension", lambda: None)
    plain = count_table.make_counter(Split("gpt2"))
    assert isinstance(plain, PythonCounter)
    plain.feed(["a b"])
    assert plain.table().as_dict() == {b"a": 1, b" b": 1}


def test_a_file_of_one_part(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"0123456789")
    for size, whole, spans in ((10, False, [None]), (9, False, [(0, 9), (9, 10)]), (9, True, [None])):
        found = parts_of(find_inputs(tmp_path / "a.txt"), size, whole)
        assert [part.span for part in found] == spans and sum(part.size for part in found) == 10


def test_row_groups_are_put_together(monkeypatch):
    monkeypatch.setattr(parquet, "row_groups", lambda source: [4, 4, 4, 2])
    source = SimpleNamespace(size=14, form="parquet")
    for size, spans in (
        (8, [(0, 2), (2, 4)]),
        (4, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        (9, [(0, 3), (3, 4)]),
        (14, [None]),
    ):
        found = parts_of([source], size, False)
        assert [part.span for part in found] == spans and sum(part.size for part in found) == 14


def test_runs(tmp_path):
    one, two = Counts.of({b"a": 1}), Counts.of({b"bc": 2})
    kept = Runs(2, one.nbytes + two.nbytes, str(tmp_path))
    kept.add(0, one)
    kept.add(1, two)
    assert kept.spilled == 0 and not list(tmp_path.iterdir())
    kept.add(0, one)
    assert kept.spilled == one.nbytes + two.nbytes  # of a bucket the sum
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("bpelab-counts-")
    assert sorted(path.name for path in folder.iterdir()) == ["0", "1"]
    kept.add(0, two)
    kept.add(0, one)
    assert kept.spilled == one.nbytes + two.nbytes  # nothing new was written: the limit is reached, no more
    kept.add(0, one)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert kept.sum(0).as_dict() == {b"a": 4, b"bc": 2}
    assert kept.sum(1).as_dict() == {b"bc": 2}
    kept.close()
    assert not list(tmp_path.iterdir())
    kept.close()
    Runs(1, 9).close()


def test_files_that_somebody_else_deleted(tmp_path):
    kept = Runs(1, 0, str(tmp_path))
    kept.add(0, Counts.of({b"a": 1}))
    (folder,) = tmp_path.iterdir()
    shutil.rmtree(folder)
    kept.close()


def test_a_bucket_of_which_nothing_was_written(tmp_path):
    kept = Runs(2, 0, str(tmp_path))
    kept.add(0, Counts.of({b"a": 1}))
    assert kept.sum(1).as_dict() == {}
    kept.close()


@pytest.mark.parametrize("folder", [True, False])
def test_a_full_disk_is_named(tmp_path, monkeypatch, folder):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = Runs(1, 0)
    if folder:
        kept.add(0, Counts.of({b"a": 1}))
        monkeypatch.setattr(runs.Path, "open", full)
        place = rf"{tmp_path}/bpelab-counts-\w+"
    else:
        monkeypatch.setattr(tempfile, "mkdtemp", full)
        place = str(tmp_path)
    with pytest.raises(
        TrainingError, match=rf"^counts can't be written to {place}: No space left on device; make room"
    ):
        kept.add(0, Counts.of({b"b": 1}))
    kept.close()
    assert not list(tmp_path.iterdir())
