"""Threads and forks; run by `driver.py`, or as `python -m tests.faults.together` by any Python that is named."""

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bpelab import BPEModel, BPETokenizer, StreamDecoder, StreamEncoder
from bpelab.encoders import ENCODERS
from bpelab.notebook import book_text

from .driver import child

TEXT = book_text()[:20_000]
SPECIAL = {"<|end|>": 5_000, "<|start|>": 5_001}
WAYS = {
    "plain": {},
    "normal form": {"normalizer": "NFC"},
    "own pattern": {"pattern": r"\p{L}+|\s+(?!\S)|[^\p{L}]"},
    "no pattern": {"pattern": None},
}


def made(model: BPEModel, encoder: str, way: str) -> BPETokenizer:
    return BPETokenizer(model, special_tokens=SPECIAL, encoder=encoder, **{"pattern": "cl100k", **WAYS[way]})


def work(tokenizer: BPETokenizer, number: int) -> list[object]:
    """One of many things at once, whose result depends on `number` alone."""
    rng = random.Random(number)
    start = rng.randrange(len(TEXT) - 400)
    text = TEXT[start : start + rng.choice((3, 40, 400))] + rng.choice(["", "<|end|>", " é日本😀", "e\u0301", "  \n"])
    ids = tokenizer.encode(text, allowed_special="all")
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    encoder = StreamEncoder(tokenizer, allowed_special="all")
    decoder = StreamDecoder(tokenizer)
    return [
        ids,
        tokenizer.decode(ids),
        tokenizer.count_tokens(text),
        [found for batch in encoder.stream(pieces) for found in batch],
        "".join(decoder.push(token_id) for token_id in ids) + decoder.finish(),
        tokenizer.encode_batch([text, text[::-1]]),
        tokenizer.truncate(text, 5),
        tokenizer.token_to_id("<|end|>"),
    ]


def threads(number: int, encoders: list[str]) -> None:
    """16 threads on one tokenizer that none has used before: what one thread gives."""
    model, seen = BPETokenizer.train(TEXT, 700).model, sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that they get in each other's way
    for encoder in encoders:
        for way in WAYS:
            expected = list(map(partial(work, made(model, encoder, way)), range(number)))
            fresh = BPEModel.from_merges([model.tokens[a], model.tokens[b]] for a, b in model.merges)
            shared, ready = made(fresh, encoder, way), threading.Barrier(16)

            def begin(at: int) -> object:
                if at < 16:
                    ready.wait(600)  # noqa: B023
                return work(shared, at)  # noqa: B023

            with ThreadPoolExecutor(16) as pool:
                assert list(pool.map(begin, range(number))) == expected, (encoder, way)
    sys.setswitchinterval(seen)


def forks(folder: Path, number: int, rng: random.Random) -> None:
    """Forks while eight threads make tokenizers and use them: each child makes its own, uses all, and ends.

    In Python 3.11 the children waited for ever for the lock of a `functools.cached_property`.
    """
    model = BPETokenizer.train(TEXT, 500).model
    for encoder in (*ENCODERS, "auto", "native"):
        try:
            shared = made(model, encoder, "plain")
        except ImportError:  # the extension was not built
            continue
        expected, stop = list(map(partial(work, shared), range(9))), threading.Event()

        def busy(at: int) -> None:
            while not stop.is_set():  # noqa: B023
                work(made(model, encoder, "plain"), at)  # noqa: B023
                work(shared, at)  # noqa: B023

        def forked() -> int:
            own = made(model, encoder, "plain")  # noqa: B023
            return int([work(own, at) for at in range(9)] != expected) + int(work(shared, 3) != expected[3])  # noqa: B023

        for at in range(9):
            work(made(model, encoder, "plain"), at)  # what is imported late, is: that lock is Python's own
        running = [threading.Thread(target=busy, args=(at,)) for at in range(8)]
        for thread in running:
            thread.start()
        try:
            for _ in range(number):
                assert child(forked) == 0, encoder
        finally:
            stop.set()
            for thread in running:
                thread.join()


if __name__ == "__main__":
    threads(int(sys.argv[1]), sys.argv[2:])
    print("the same")
