"""Measures in rounds, in which all libraries run one after the other on the same text: the ones to compare.

Who begins changes from round to round. What was timed is compared with the baseline's ids once more after each round.
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from ..no_collection import no_collection
from .checking import DOCUMENT, first_difference, flat, rows_of, shortened
from .peers import BASELINE, Peer
from .steps import Step
from .texts import documents
from .timing import settle, timed

if TYPE_CHECKING:
    from .worker import Worker

Call = Callable[[], Any]
START = "What is put together at the first call is part of loading; some wait for a rare word, überhaupt xqzvwk. " * 4
"""A first text."""
WARM_SECONDS = 5.0
"""For which a library is warmed up: slow ones remember little, and gain nothing from more."""
CALL = 60
"""Characters of a short call's text."""


def cold(worker: "Worker", step: Step) -> None:
    """Empty cache: in every round a fresh object of each library, and its first text."""
    _, parts = worker.material(step.text)
    names = worker.able(step)
    for number, part in enumerate(parts[: worker.job.values["cold rounds"]]):
        fresh = {name: peer for name in turned(names, number) if (peer := worker.load(name)) is not None}
        for name, peer in fresh.items():  # what a library does at its first call is part of loading, and counted there
            worker.attempt(name, "warm up", encoder(peer, step.output), START)
        settle()
        results = {name: once(worker, step, peer, "cold", part, number) for name, peer in fresh.items()}
        compare_round(worker, step, fresh, results)


def warm(worker: "Worker", step: Step) -> None:
    """Unseen text after a warm-up on other text, and the same text again."""
    peers, parts = warmed(worker, step)
    for number, part in enumerate(parts):
        here = {name: peers[name] for name in turned(list(peers), number)}
        results = {}
        for name, peer in here.items():
            results[name] = once(worker, step, peer, "unseen", part, number)
            if results[name] is not None:
                once(worker, step, peer, "again", part, number)
        compare_round(worker, step, here, results)
        peers = {name: peer for name, peer in peers.items() if results[name] is not None}


def once(worker: "Worker", step: Step, peer: Peer, measure: str, part: str, number: int) -> Any:
    """The ids of one text; the time it took is told."""
    text = shortened(part, peer)
    encode = encoder(peer, step.output)
    return sample(worker, step, peer, measure, lambda: encode(text), number, len(text.encode()))


def encoder(peer: Peer, output: str) -> Callable[[str], Any]:
    """The call for an array, or else that for a list."""
    encode: Callable[[str], Any] = peer.encode_array if output == "array" else peer.encode_list
    return encode


def calls(worker: "Worker", step: Step) -> None:
    """Short texts, one call for each."""

    def short(part: str, peer: Peer) -> Call:
        text = shortened(part, peer)
        texts = [text[start : start + CALL].rstrip() for start in range(0, min(len(text), 2_000 * CALL), CALL)]
        return lambda: [peer.encode_list(text) for text in texts]

    in_loops(worker, step, short)


def documents_in_a_loop(worker: "Worker", step: Step) -> None:
    """Documents of 2 kB, one call for each."""

    def loop(part: str, peer: Peer) -> Call:
        texts = documents(shortened(part, peer), DOCUMENT)
        return lambda: [peer.encode_list(text) for text in texts]

    in_loops(worker, step, loop)


def batch(worker: "Worker", step: Step) -> None:
    """The same documents as a batch."""

    def whole(part: str, peer: Peer) -> Call:
        texts = documents(part, DOCUMENT)
        encode: Callable[..., Any] = peer.batch_list if step.output == "batch list" else peer.batch_array
        return lambda: encode(texts, step.threads)

    in_loops(worker, step, whole)


def in_loops(worker: "Worker", step: Step, make: Callable[[str, Peer], Call]) -> None:
    """Rounds of a measure of many texts at a time."""
    peers, parts = warmed(worker, step)
    for number, part in enumerate(parts):
        results = {}
        for name in turned(list(peers), number):
            call = make(part, peers[name])
            size = len(shortened(part, peers[name]).encode())
            results[name] = sample(worker, step, peers[name], step.measure, call, number, size)
        rows = {name: as_rows(step, result) for name, result in results.items()}
        compare_round(worker, step, peers, rows)
        peers = {name: peer for name, peer in peers.items() if results[name] is not None}


def as_rows(step: Step, result: Any) -> Any:
    """The ids of a batch, one after the other."""
    if result is None:
        return None
    return result[0] if step.output == "batch array" else [token for row in result for token in row]


def decode(worker: "Worker", step: Step) -> None:
    """From ids to text."""
    import numpy as np

    peers, parts = warmed(worker, step)
    for number, part in enumerate(parts):
        for name in turned(list(peers), number):
            peer = peers[name]
            ids: Any = peer.encode_list(part)
            back: Callable[[Any], Any] = peer.decode_list
            if step.output == "decode array":
                ids, back = np.array(ids, np.uint32), peer.decode_array
            sample(worker, step, peer, "decode", partial(back, ids), number, len(part.encode()))


def turned(names: list[str], number: int) -> list[str]:
    """The names, another one first each time.

    >>> turned(["a", "b", "c"], 4)
    ['b', 'c', 'a']
    """
    at = number % len(names) if names else 0
    return names[at:] + names[:at]


def warmed(worker: "Worker", step: Step) -> tuple[dict[str, Peer], list[str]]:
    """The libraries, each with a fresh object that has encoded other text of this kind, and the texts to measure on."""
    texts, parts = worker.material(step.text)
    peers = {}
    for name in worker.able(step):
        peer = worker.kept(name) if step.measure == "decode" else worker.load(name)
        if peer is not None and worker.attempt(name, "warm up", warm_up, peer, step, texts):
            peers[name] = peer
    settle()
    return peers, parts


def warm_up(peer: Peer, step: Step, texts: list[str]) -> bool:
    """Encode texts as they will be encoded; decoding is warmed up by encoding too, since its tables are the model's."""
    begun = process_time()
    for text in (shortened(text, peer) for text in texts):
        if process_time() - begun > WARM_SECONDS:
            break
        if step.measure == "batch":
            rows_of(peer, step.output, documents(text, DOCUMENT), step.threads)
        else:
            encoder(peer, step.output)(text)
    return True


def sample(worker: "Worker", step: Step, peer: Peer, measure: str, call: Call, number: int, size: int) -> Any:
    """Time one call and tell it; what it returned, None if it raised."""
    with no_collection():
        done = worker.attempt(peer.name, measure, timed, call)
    if done is None:
        return None
    result, cpu, wall = done
    facts = {"measure": measure, "text": step.text, "output": step.output, "threads": step.threads}
    count = len(result) if measure in ("calls", "documents") else None
    worker.tell("sample", library=peer.name, **facts, round=number, cpu=cpu, wall=wall, bytes=size, calls=count)
    return result


def compare_round(worker: "Worker", step: Step, peers: dict[str, Peer], results: dict[str, Any]) -> None:
    """Say which results are not the baseline's; only of those that were given the same text."""
    ids = {name: flat([row]) for name, row in results.items() if row is not None and peers[name].part == 1}
    if BASELINE in ids:
        for name, own in ids.items():
            if (place := first_difference(own, ids[BASELINE])) is not None:
                why = f"differs at token {place:,} from {BASELINE} while it is timed"
                worker.tell("fault", library=name, doing=step.measure, why=why)
