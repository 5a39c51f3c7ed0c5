"""What C reads of a tokenizer.json, and what it finds out about merges, is what Python does."""

import random

import pytest

from bpelab import native

from ..conftest import amount
from .model_files import files_round, merges_round

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")


def test_random_files():
    rng, count = random.Random(103), amount(1_500, 60_000)
    in_c = sum(files_round(rng) for _ in range(count))
    assert count / 4 < in_c < count * 0.9


def test_random_lists_of_merges():
    rng, count = random.Random(104), amount(400, 20_000)
    early = sum(merges_round(rng) > 0 for _ in range(count))
    assert count / 20 < early < count / 2


@pytest.mark.parametrize(
    "part", ["", "{", '{"model"', '{"model":', '{"model":{', '{"model":{"vocab":{"a":', '{"a":[[[[']
)
def test_a_file_that_ends_early(part):
    from bpelab.native._core import model_json

    assert model_json(part.encode()) is None


def hash_of(name: bytes) -> int:
    """`hash_name` in model_json.h, for names of eight bytes."""
    hashed = 9 * 0x9E3779B97F4A7C15 % 2**64
    for word in (int.from_bytes(name, "little"), 0):
        hashed = (hashed ^ hashed >> 32 ^ word) * 0x9E3779B97F4A7C15 % 2**64
    return (hashed ^ hashed >> 29) * 0x9E3779B97F4A7C15 % 2**64


def test_names_that_were_chosen_to_be_slow():
    """So many that want one slot of the table that looking for a free one would take for ever: Python reads them."""
    from bpelab.native._core import model_json

    count, slots = 1_600, 4_096
    names = (f"{number:08x}" for number in range(10**7))
    slow = [name for name, _ in zip((n for n in names if hash_of(n.encode()) * slots >> 64 < 64), range(count))]
    for chosen, served in ((slow, False), ([f"{number:08x}" for number in range(count)], True)):
        entries = ",".join(f'"{name}":{at}' for at, name in enumerate(chosen))
        parts = model_json(f'{{"model":{{"vocab":{{{entries}}},"merges":[]}}}}'.encode())
        assert (parts is not None) == served
