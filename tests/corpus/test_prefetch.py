"""Reading ahead in a thread: no further than asked, and errors arrive where they were raised."""

import pytest

from bpelab.corpus.prefetch import prefetch


def test_reading_ahead_stops_where_nobody_takes():
    taken = []

    def items():
        for number in range(1_000):
            taken.append(number)
            yield number

    found = prefetch(items(), 2)
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    found.close()
    assert len(taken) <= 5 + 2 + 1


def test_reading_ahead_hands_errors_on():
    def items():
        yield 1
        raise KeyError("gone")

    found = prefetch(items())
    assert next(found) == 1
    with pytest.raises(KeyError, match="gone"):
        next(found)
