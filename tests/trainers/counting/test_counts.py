"""Tables of counted pre-tokens, one by one: their arrays, their buckets, and the files they go to."""

import errno
import pickle
import shutil
import tempfile
import zlib
from types import SimpleNamespace

import pytest

from bpelab import TrainingError
from bpelab.boundaries.named_patterns import BoundaryKind
from bpelab.corpus import parquet
from bpelab.corpus.inputs import find_inputs
from bpelab.pretokenizers import Split
from bpelab.trainers.counting import counters, spill_runs as runs
from bpelab.trainers.counting.counters import PythonCounter, make_counter, sum_counts
from bpelab.trainers.counting.native import NativeCounter
from bpelab.trainers.counting.partition import parts_of
from bpelab.trainers.counting.pre_token_counts import PreTokenCounts, concat_counts
from bpelab.trainers.counting.spill_runs import Runs

from ...conftest import needs_extension

np = pytest.importorskip("numpy")
WORDS = {b"low": 5, b"er": 2, b"a": 1, b"\xff\0": 1 << 40}


def test_the_buffers_of_a_table():
    table = PreTokenCounts.of(WORDS)
    assert bytes(table.content) == b"lowera\xff\0"
    assert (list(table.ends), list(table.counts)) == ([3, 5, 6, 8], [5, 2, 1, 1 << 40])
    assert {memoryview(buffer).format for buffer in table[1:]} == {"q"}
    assert table.nbytes == 8 + 2 * 4 * 8
    assert PreTokenCounts.of({}).as_dict() == {} and len(PreTokenCounts.of({}).content) == 0


def test_buffers_of_any_kind():
    """Tables made of NumPy's arrays, of which some may not be written to, and of bytes where a worker sent them."""
    content, ends, counts = PreTokenCounts.of(WORDS)
    arrays = np.frombuffer(content, np.uint8), np.array(ends), np.array(counts)
    for array in arrays:
        array.flags.writeable = False
    unaligned = (memoryview(b"-" + bytes(buffer))[1:] for buffer in (ends, counts))
    for table in (PreTokenCounts.from_buffers(*arrays), PreTokenCounts.from_buffers(content, *unaligned)):
        assert table.as_dict() == WORDS == sum_counts([table]).as_dict()
        assert {word for bucket in table.buckets(3) for word in bucket.as_dict()} == WORDS.keys()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_tables_that_are_sent(protocol):
    """Also those of the counter in C, and of parts; since protocol 5 no buffer is copied."""
    counter = make_counter(None)
    counter.add(PreTokenCounts.of(WORDS))
    for table in (PreTokenCounts.of(WORDS), counter.table(), PreTokenCounts.of(WORDS).buckets(1)[0]):
        again = pickle.loads(pickle.dumps(table, protocol))
        assert type(again) is PreTokenCounts and again.as_dict() == WORDS
    if protocol >= 5:
        apart = []
        small = pickle.dumps(table, protocol, buffer_callback=apart.append)
        assert len(apart) == 3 and len(small) < 200
        assert pickle.loads(small, buffers=apart).as_dict() == WORDS


def test_counting_in_c():
    needs_extension()
    counter = make_counter(Split("gpt2"))
    assert isinstance(counter, NativeCounter)
    counter.feed(["a b b", "", " b"])
    before = counter.nbytes
    counter.add(PreTokenCounts.of({b" b": 2, b"c": 4}))
    counter.add(PreTokenCounts.of({b"c": 1, b"x" * 30: 1 << 40}))
    assert counter.nbytes > before  # the long one has bytes of its own
    assert counter.table().as_dict() == {b"a": 1, b" b": 5, b"c": 5, b"x" * 30: 1 << 40}
    assert sum(len(table.ends) for table in counter.table().buckets(3)) == 4


@pytest.mark.parametrize("built", [True, False])
def test_what_occurs_often(monkeypatch, built):
    if built:
        needs_extension()
    else:
        monkeypatch.setattr("bpelab.native.extension", lambda: None)
    table = PreTokenCounts.of(WORDS)
    for least in (0, 1, 2, 5, 6, 1 << 40, 1 << 41):
        often = {word: count for word, count in WORDS.items() if count >= least}
        assert sum_counts([table], least).as_dict() == often
        assert sum_counts([table, table], 2 * least).as_dict() == {word: 2 * count for word, count in often.items()}


def bucket_of(word: bytes) -> int:
    return sum(zlib.crc32(bytes([byte])) for byte in word) * 0x9E3779B97F4A7C15 % (1 << 64) >> 32


def test_buckets_are_the_same_everywhere():
    """Machines must agree on them."""
    words = [b"%d" % number for number in range(40)]
    for bucket, table in enumerate(PreTokenCounts.of(dict.fromkeys(words, 1)).buckets(5)):
        assert list(table.as_dict()) == [word for word in words if bucket_of(word) % 5 == bucket]
    empty = PreTokenCounts.of({})
    assert [table is empty for table in empty.buckets(3)] == [True] * 3


def test_joined_tables():
    table = concat_counts([PreTokenCounts.of({b"a": 1}), PreTokenCounts.of({}), PreTokenCounts.of({b"bc": 2, b"": 3})])
    assert table.content == b"abc"
    assert table.as_dict() == {b"a": 1, b"bc": 2}  # the empty one is in no table
    assert concat_counts([]).as_dict() == {}


def test_counting_in_a_dictionary():
    counter = PythonCounter(Split("gpt2"))
    counter.feed(["a b b", "", " b"])
    counter.add(PreTokenCounts.of({b" b": 2, b"c": 4}))
    counter.add(PreTokenCounts.of({b"c": 1}))
    assert counter.nbytes == counters.PRE_TOKEN_BYTES * 4
    assert counter.table().as_dict() == {b"a": 1, b" b": 5, b"c": 5}
    whole = PythonCounter(None)
    whole.feed(["a b", "", "a b"])
    assert whole.table().as_dict() == {b"a b": 2}


def test_who_counts(monkeypatch):
    monkeypatch.setattr("bpelab.native.extension", lambda: None)
    plain = make_counter(Split("gpt2"))
    assert isinstance(plain, PythonCounter)
    plain.feed(["a b"])
    assert plain.table().as_dict() == {b"a": 1, b" b": 1}


def test_a_file_of_one_part(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"0123456789")
    words, none = BoundaryKind.WORDS, BoundaryKind.NONE
    for size, kind, spans in ((10, words, [None]), (9, words, [(0, 9), (9, 10)]), (9, none, [None])):
        found = parts_of(find_inputs(tmp_path / "a.txt"), size, kind)
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
        found = parts_of([source], size, BoundaryKind.WORDS)
        assert [part.span for part in found] == spans and sum(part.size for part in found) == 14


def test_runs(tmp_path):
    one, two = PreTokenCounts.of({b"a": 1}), PreTokenCounts.of({b"bc": 2})
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
    kept.add(0, PreTokenCounts.of({b"a": 1}))
    (folder,) = tmp_path.iterdir()
    shutil.rmtree(folder)
    kept.close()


def test_a_bucket_of_which_nothing_was_written(tmp_path):
    kept = Runs(2, 0, str(tmp_path))
    kept.add(0, PreTokenCounts.of({b"a": 1}))
    assert kept.sum(1).as_dict() == {}
    kept.close()


@pytest.mark.parametrize("folder", [True, False])
def test_a_full_disk_is_named(tmp_path, monkeypatch, folder):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = Runs(1, 0)
    if folder:
        kept.add(0, PreTokenCounts.of({b"a": 1}))
        monkeypatch.setattr(runs.Path, "open", full)
        place = rf"{tmp_path}/bpelab-counts-\w+"
    else:
        monkeypatch.setattr(tempfile, "mkdtemp", full)
        place = str(tmp_path)
    with pytest.raises(
        TrainingError, match=rf"^counts can't be written to {place}: No space left on device; make room"
    ):
        kept.add(0, PreTokenCounts.of({b"b": 1}))
    kept.close()
    assert not list(tmp_path.iterdir())
