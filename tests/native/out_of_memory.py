"""Every allocation of the extension fails once: `python -m tests.native.out_of_memory`, with its folder in BPELAB_CORE.

A call that fails has to raise MemoryError, or leave the work to Python, and to free what it had allocated; later calls
have to be right.
"""

import ctypes
import gc
import itertools
import os
import random
from array import array
from functools import partial
from pathlib import Path

from bpelab import BPEModel, native
from bpelab.native.arrays import build_encoder
from bpelab.native.plan import split_steps_for
from bpelab.pretokenizers.split import Split
from bpelab.trainers.counting.pre_token_counts import PreTokenCounts
from bpelab.trainers.superwords import Superwords
from bpelab.trainers.superwords.learner import key_of
from bpelab.trainers.superwords.native_phrases import PairCounter, PartCounter, PhraseEncoding, learn_parts

from . import sanitized  # noqa: F401 - loads the extension in BPELAB_CORE
from .fuzz import random_model

MAX_ALLOCATIONS = 2_000
"""More than any of these calls makes."""
TEXT = "low lower 日本語 " * 40
LONG = TEXT * 60 + "o" * 5_000
"""Merged on the heap, and without the interpreter's lock."""


def failures_of(core, call, keeps_nothing):
    """Fail each allocation of `call` in turn; returns their number."""
    for count in range(MAX_ALLOCATIONS):
        gc.collect()
        before = core.live_allocations()
        core.fail_after(count)
        try:
            done = call()
        except MemoryError:
            done = None
        finally:
            core.fail_after(-1)
        complete, done = done is not None, None
        gc.collect()
        if keeps_nothing:
            assert core.live_allocations() == before, (count, core.live_allocations() - before)
        if complete:
            return count
    raise AssertionError("it never succeeds")


def failures_with(core, model, pattern="cl100k"):
    """Do the same for everything that is done with a model."""
    levels, core_type = split_steps_for(Split(pattern), model), native.extension()
    encoder = build_encoder(model, core_type, levels)
    expected, tables = encoder.encode(LONG), encoder.tables()
    by_themselves = [
        lambda: build_encoder(model, core_type, levels),
        lambda: core_type.from_tables(tables, levels, encoder.words),
        lambda: core_type.from_tables(tables, levels, encoder.words).encode(TEXT),
        lambda: native.decoder_for(model.tokens).join(expected),
    ]
    of_an_encoder = [
        lambda: encoder.encode(LONG),
        lambda: encoder.encode_array(LONG),
        lambda: encoder.encode_texts([TEXT, LONG] * 3),
        lambda: encoder.encode_piece(b"low" * 500),
    ]
    found = sum(failures_of(core, call, True) for call in by_themselves)
    found += sum(failures_of(core, call, False) for call in of_an_encoder)
    assert encoder.encode(LONG) == expected
    return found


def failures_in_training(core, model):
    """Do the same for what counts phrases and learns superwords."""
    superwords = Superwords("boundless", max_words=3, forbidden=(": ",))
    encodings = [PhraseEncoding(model, Split("cl100k"), chosen) for chosen in (Superwords(), superwords)]
    tokens = encodings[0].sequences.tokens
    keys = array("Q", map(key_of, itertools.product(range(200, len(tokens)), repeat=2)))

    def count(encoding, kept):
        counter = PairCounter(encoding, 1 << 20)
        counter.feed([LONG, TEXT])
        parts = PartCounter(encoding, kept)
        parts.feed([LONG, TEXT])
        counter.counter.add_pairs(encoding.counter(0))
        return counter.counter.pairs(1), counter.counter.frequent(3), parts.parts.table()

    def learn(words):
        return list(learn_parts([words, PreTokenCounts.of({})], tokens, 20, 1, superwords))

    found = sum(
        failures_of(core, partial(count, *given), False) for given in itertools.product(encodings, (None, keys))
    )
    return found + failures_of(core, partial(learn, count(encodings[0], None)[2]), True)


def _in_two_stages(merges):
    model = BPEModel.from_merges(merges)
    return build_encoder(model, native.extension(), split_steps_for(Split("superbpe"), model)).words is not None


def main():
    core = ctypes.CDLL(str(next(Path(os.environ["BPELAB_CORE"]).glob("_core*.so"))))
    core.fail_after.argtypes, core.live_allocations.restype = [ctypes.c_long], ctypes.c_long
    rng, failures = random.Random(7), 0
    models = [BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), *(random_model(rng) for _ in range(3))]
    for model in models:
        gc.collect()
        before = core.live_allocations()
        failures += failures_with(core, model)
        gc.collect()
        assert core.live_allocations() == before
    words = [(b"l", b"o"), (b"lo", b"w"), (b" ", b"low"), (b"low", b" low"), (b"r", b" low"), (b"w", b"e")]
    assert _in_two_stages(words)
    failures += failures_with(core, BPEModel.from_merges(words), "superbpe")
    failures += failures_in_training(core, BPEModel.from_merges(words[:3]))
    assert failures > 20 * len(models)
    print(f"{failures} allocations failed")


if __name__ == "__main__":
    main()
