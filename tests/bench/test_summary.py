"""Medians and ratios that can be found by hand."""

import pytest

from bpelab.bench.record import Row, Spread, paired_ratio, right_digest, speeds, spread


def sample(library, number, cpu, size=1_000_000, **other):
    facts = {"encoding": "e", "measure": "unseen", "text": "t", "output": "list", "threads": 1}
    return {
        **facts,
        "library": library,
        "round": number,
        "cpu": cpu,
        "wall": 9.0,
        "bytes": size,
        "calls": None,
        **other,
    }


def test_ratios_are_taken_within_rounds():
    """Rounds two and three are slow for both: the ratio of medians would say 4 / 1, the rounds say 2."""
    own, baseline = {0: 8.0, 1: 4.0, 2: 2.0}, {0: 4.0, 1: 2.0, 2: 1.0, 3: 100.0}
    assert paired_ratio(own, baseline) == Spread(2.0, 2.0, 2.0)
    assert paired_ratio({0: 6.0, 1: 5.0, 2: 8.0, 3: 7.0, 4: 9.0}, dict.fromkeys(range(5), 2.0)) == Spread(3.5, 3.0, 4.0)
    assert paired_ratio({0: 1.0}, {1: 1.0}) is None
    assert spread([3.0, 1.0]) == Spread(2.0, 1.0, 3.0)


def test_speeds_by_hand():
    samples = [sample("tiktoken", n, cpu) for n, cpu in enumerate((0.1, 0.2, 0.4))]
    samples += [sample("bpelab", n, cpu) for n, cpu in enumerate((0.02, 0.05, 0.05))]  # 5, 4 and 8 times as fast
    samples += [sample("naive Python", 0, 0.5, size=62_500)]  # given a sixteenth
    found = speeds({"samples": samples, "baselines": {"e": "tiktoken"}})[Row("e", "unseen", "t", "list", 1)]
    assert found["tiktoken"].rate == pytest.approx(5.0)
    assert found["tiktoken"].times == Spread(1.0, 1.0, 1.0)
    assert found["bpelab"].rate == pytest.approx(20.0)
    assert found["bpelab"].times == pytest.approx(Spread(5.0, 4.5, 6.5))
    assert found["naive Python"].times.median == pytest.approx(0.0125)


def test_batches_go_by_the_clock_and_calls_are_counted():
    samples = [sample("tiktoken", 0, 1.0, measure="batch", wall=0.5), sample("x", 0, 0.1, measure="calls", calls=50)]
    found = speeds({"samples": samples, "baselines": {"e": "tiktoken"}})
    assert found[Row("e", "batch", "t", "list", 1)]["tiktoken"].rate == pytest.approx(2.0)
    calls = found[Row("e", "calls", "t", "list", 1)]["x"]
    assert calls.call == pytest.approx(0.002)
    assert calls.times is None


def test_without_the_baseline_most_decide():
    found = {"a": "1", "b": "2", "c": "2"}
    samples = [
        {"measure": "pathological", "encoding": "e", "text": "t", "library": name, "digest": digest}
        for name, digest in found.items()
    ]
    assert right_digest({"samples": samples, "baselines": {"e": "tiktoken"}}, "e", "t") == "2"
    assert right_digest({"samples": samples, "baselines": {"e": "a"}}, "e", "t") == "1"
