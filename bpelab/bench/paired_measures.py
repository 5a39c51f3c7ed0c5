"""Paired measures: in each round all libraries run one after the other on the same text, so ratios are comparable.

Each round starts with a different library. After each round the ids from the timed calls are compared with the
baseline's again.
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from .checking import encode_batch, first_difference, flatten, ids_to_decode, shorten
from .library import Peer
from .machine import freeze_heap
from .plan import Step
from .texts import split_documents, split_lines, split_short

if TYPE_CHECKING:
    from .worker import Worker

WARM_UP_TEXT = (
    "What is put together at the first call is part of loading; some wait for a rare word, überhaupt xqzvwk. " * 4
)
"""The first text that a library encodes, so that work done at the first call counts as loading."""
WARM_SECONDS = 5.0
"""Maximum processor seconds for warming up a library: slow ones cache little and gain nothing from more."""
SPLITS: dict[str, Callable[[str], list[str]]] = {
    "calls": split_short,
    "lines": split_lines,
    "documents": split_documents,
    "batch": split_documents,
}
"""Measure -> the function that cuts a part into texts."""


def cold(worker: "Worker", step: Step) -> None:
    """Measure with an empty cache: in every round a fresh object of each library encodes its first text."""
    _, parts = worker.read_parts(step)
    names = worker.participants(step)
    for round_index, part in enumerate(parts[: worker.job.values["cold rounds"]]):
        peers = {name: peer for name in rotate(names, round_index) if (peer := worker.load(name)) is not None}
        for name, peer in peers.items():  # work done at the first call is part of loading, and counted there
            worker.run_guarded(name, "warm up", peer[step.output], WARM_UP_TEXT)
        freeze_heap()
        results = {name: time_text(worker, step, peer, "cold", part, round_index) for name, peer in peers.items()}
        compare_round(worker, step, peers, results)


def warm(worker: "Worker", step: Step) -> None:
    """Measure unseen text after a warm-up on other text, then the same text again."""
    peers, parts = load_and_warm_up(worker, step)
    for round_index, part in enumerate(parts):
        results = {}
        for name in rotate(list(peers), round_index):
            results[name] = time_text(worker, step, peers[name], "unseen", part, round_index)
            if results[name] is not None:
                time_text(worker, step, peers[name], "again", part, round_index)
        peers = compare_round(worker, step, peers, results)


def time_text(worker: "Worker", step: Step, peer: Peer, measure: str, part: str, round_index: int) -> Any:
    """Time encoding one text; return its ids."""
    text = shorten(part, peer)
    call = partial(peer[step.output], text)
    return time_in_round(worker, step, peer, call, round_index, len(text.encode()), measure=measure)


def many_texts(worker: "Worker", step: Step) -> None:
    """Measure many texts: 60 characters, lines, or documents of 2 kB, one call each; or such documents as a batch."""
    peers, parts = load_and_warm_up(worker, step)
    for round_index, part in enumerate(parts):
        results = {}
        for name in rotate(list(peers), round_index):
            peer = peers[name]
            texts = SPLITS[step.measure](shorten(part, peer))
            if step.batch:
                calls, call = None, partial(peer[step.output], texts, step.threads)
            else:
                calls, call = len(texts), partial(encode_one_by_one, peer["list"], texts)
            size = sum(len(text.encode()) for text in texts)
            result = time_in_round(worker, step, peer, call, round_index, size, calls=calls)
            results[name] = None if result is None else flatten([result[0]] if step.output == "batch array" else result)
        peers = compare_round(worker, step, peers, results)


def encode_one_by_one(encode: Callable[[str], list[int]], texts: list[str]) -> list[list[int]]:
    """Encode each text with one call."""
    return [encode(text) for text in texts]


def decode(worker: "Worker", step: Step) -> None:
    """Measure decoding, from ids to text."""
    peers, parts = load_and_warm_up(worker, step)
    for round_index, part in enumerate(parts):
        for name in rotate(list(peers), round_index):
            peer = peers[name]
            call = partial(peer[step.output], ids_to_decode(peer, step.output, part))
            time_in_round(worker, step, peer, call, round_index, len(part.encode()))


def rotate(names: list[str], round_index: int) -> list[str]:
    """Rotate the names, so that each round starts with a different one.

    >>> rotate(["a", "b", "c"], 4)
    ['b', 'c', 'a']
    """
    at = round_index % len(names) if names else 0
    return names[at:] + names[:at]


def load_and_warm_up(worker: "Worker", step: Step) -> tuple[dict[str, Peer], list[str]]:
    """Load each library anew and warm it up on text of the same kind; return the objects and the parts to time."""
    texts, parts = worker.read_parts(step)
    peers = {}
    for name in worker.participants(step):
        peer = worker.cached(name) if step.measure == "decode" else worker.load(name)
        if peer is not None and worker.run_guarded(name, "warm up", warm_up, peer, step, texts):
            peers[name] = peer
    freeze_heap()
    return peers, parts


def warm_up(peer: Peer, step: Step, texts: list[str]) -> bool:
    """Warm up with the call to be timed; for decoding, with encoding, since both use the model's tables."""
    begun = process_time()
    for text in (shorten(text, peer) for text in texts):
        if process_time() - begun > WARM_SECONDS:
            break
        if step.batch:
            encode_batch(peer, step.output, split_documents(text), step.threads)
        else:
            peer["array" if step.output == "array" else "list"](text)
    return True


def time_in_round(
    worker: "Worker", step: Step, peer: Peer, call: Callable[[], Any], round_index: int, size: int, **facts: Any
) -> Any:
    """Time one call of a round, on `size` bytes; return the call's result, or None if it raised."""
    about = {"threads": step.threads, "round": round_index, "bytes": size, "calls": None}
    return worker.time(peer.name, step, call, **{**about, **facts})


def compare_round(worker: "Worker", step: Step, peers: dict[str, Peer], results: dict[str, Any]) -> dict[str, Peer]:
    """Report results that differ from the baseline's, for libraries that encoded the whole text.

    Returns the libraries that have a result, for the next round.
    """
    ids = {name: flatten([row]) for name, row in results.items() if row is not None and peers[name].library.part == 1}
    baseline = worker.job.vocabulary.baseline
    if baseline in ids:
        for name, own in ids.items():
            if (position := first_difference(own, ids[baseline])) is not None:
                why = f"differs at token {position:,} from {baseline} while it is timed"
                worker.emit("fault", library=name, doing=step.measure, why=why)
    return {name: peer for name, peer in peers.items() if results[name] is not None}
