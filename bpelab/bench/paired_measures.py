"""Paired measures: in each round all libraries run one after the other on the same text, so ratios are comparable.

Each round starts with a different library. After each round the ids from the timed calls are compared with the
baseline's again.
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from .._support.gc_paused import gc_paused
from .checking import DOCUMENT_BYTES, encode_batch, first_difference, flatten, shorten
from .meters import freeze_heap, timed
from .peers import Peer
from .plan import Step
from .texts import split_documents, split_lines, split_short

if TYPE_CHECKING:
    from .worker import Worker

Call = Callable[[], Any]
WARM_UP_TEXT = (
    "What is put together at the first call is part of loading; some wait for a rare word, überhaupt xqzvwk. " * 4
)
"""The first text that a library encodes, so that work done at the first call counts as loading."""
WARM_SECONDS = 5.0
"""Maximum processor seconds for warming up a library: slow ones cache little and gain nothing from more."""
TEXTS: dict[str, Callable[[str], list[str]]] = {
    "calls": split_short,
    "lines": split_lines,
    "documents": partial(split_documents, size=DOCUMENT_BYTES),
    "batch": partial(split_documents, size=DOCUMENT_BYTES),
}
"""Measure -> the function that cuts a part into texts."""


def cold(worker: "Worker", step: Step) -> None:
    """Measure with an empty cache: in every round a fresh object of each library encodes its first text."""
    _, parts = worker.read_parts(step.text)
    names = worker.participants(step)
    for round_index, part in enumerate(parts[: worker.job.values["cold rounds"]]):
        fresh = {name: peer for name in rotate(names, round_index) if (peer := worker.load(name)) is not None}
        for name, peer in fresh.items():  # work done at the first call is part of loading, and counted there
            worker.run_guarded(name, "warm up", encode_call(peer, step.output), WARM_UP_TEXT)
        freeze_heap()
        results = {name: time_once(worker, step, peer, "cold", part, round_index) for name, peer in fresh.items()}
        compare_round(worker, step, fresh, results)


def warm(worker: "Worker", step: Step) -> None:
    """Measure unseen text after a warm-up on other text, then the same text again."""
    peers, parts = load_and_warm_up(worker, step)
    for round_index, part in enumerate(parts):
        here = {name: peers[name] for name in rotate(list(peers), round_index)}
        results = {}
        for name, peer in here.items():
            results[name] = time_once(worker, step, peer, "unseen", part, round_index)
            if results[name] is not None:
                time_once(worker, step, peer, "again", part, round_index)
        compare_round(worker, step, here, results)
        peers = {name: peer for name, peer in peers.items() if results[name] is not None}


def time_once(worker: "Worker", step: Step, peer: Peer, measure: str, part: str, round_index: int) -> Any:
    """Time encoding one text; return its ids."""
    text = shorten(part, peer)
    encode = encode_call(peer, step.output)
    return emit_sample(worker, step, peer, measure, lambda: encode(text), round_index, len(text.encode()))


def encode_call(peer: Peer, output: str) -> Callable[[str], Any]:
    """Return the library's call for `output`: the one that encodes to an array, or to a list."""
    encode: Callable[[str], Any] = peer.encode_array if output == "array" else peer.encode_list
    return encode


def one_by_one(worker: "Worker", step: Step) -> None:
    """Measure many texts, one call each: 60 characters, lines, or documents of 2 kB."""

    def loop(peer: Peer, texts: list[str]) -> Call:
        return lambda: [peer.encode_list(text) for text in texts]

    time_in_rounds(worker, step, TEXTS[step.measure], loop)


def batch(worker: "Worker", step: Step) -> None:
    """Measure documents of 2 kB as a batch."""

    def whole(peer: Peer, texts: list[str]) -> Call:
        encode: Callable[..., Any] = peer.batch_list if step.output == "batch list" else peer.batch_array
        return lambda: encode(texts, step.threads)

    time_in_rounds(worker, step, TEXTS[step.measure], whole)


def time_in_rounds(
    worker: "Worker", step: Step, split: Callable[[str], list[str]], make_call: Callable[[Peer, list[str]], Call]
) -> None:
    """Run the rounds of a measure whose calls each encode many texts; `split` cuts a part into them."""
    peers, parts = load_and_warm_up(worker, step)
    for round_index, part in enumerate(parts):
        results = {}
        for name in rotate(list(peers), round_index):
            texts = split(shorten(part, peers[name]))
            call, size = make_call(peers[name], texts), sum(len(text.encode()) for text in texts)
            results[name] = emit_sample(worker, step, peers[name], step.measure, call, round_index, size)
        rows = {name: flatten_batch(step, result) for name, result in results.items()}
        compare_round(worker, step, peers, rows)
        peers = {name: peer for name, peer in peers.items() if results[name] is not None}


def flatten_batch(step: Step, result: Any) -> Any:
    """Concatenate the ids of a batch."""
    if result is None:
        return None
    return result[0] if step.output == "batch array" else [token for row in result for token in row]


def decode(worker: "Worker", step: Step) -> None:
    """Measure decoding, from ids to text."""
    import numpy as np

    peers, parts = load_and_warm_up(worker, step)
    for round_index, part in enumerate(parts):
        for name in rotate(list(peers), round_index):
            peer = peers[name]
            ids: Any = peer.encode_list(part)
            back: Callable[[Any], Any] = peer.decode_list
            if step.output == "decode array":
                ids, back = np.array(ids, np.uint32), peer.decode_array
            emit_sample(worker, step, peer, "decode", partial(back, ids), round_index, len(part.encode()))


def rotate(names: list[str], round_index: int) -> list[str]:
    """Rotate the names, so that each round starts with a different one.

    >>> rotate(["a", "b", "c"], 4)
    ['b', 'c', 'a']
    """
    at = round_index % len(names) if names else 0
    return names[at:] + names[:at]


def load_and_warm_up(worker: "Worker", step: Step) -> tuple[dict[str, Peer], list[str]]:
    """Load each library anew and warm it up on text of the same kind; return the objects and the parts to time."""
    texts, parts = worker.read_parts(step.text)
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
        if step.measure == "batch":
            encode_batch(peer, step.output, split_documents(text, DOCUMENT_BYTES), step.threads)
        else:
            encode_call(peer, step.output)(text)
    return True


def emit_sample(worker: "Worker", step: Step, peer: Peer, measure: str, call: Call, round_index: int, size: int) -> Any:
    """Time one call and emit the sample; return the call's result, or None if it raised."""
    with gc_paused():
        done = worker.run_guarded(peer.name, measure, timed, call)
    if done is None:
        return None
    result, cpu, wall = done
    facts = {"measure": measure, "text": step.text, "output": step.output, "threads": step.threads}
    count = len(result) if measure in ("calls", "lines", "documents") else None
    worker.emit("sample", library=peer.name, **facts, round=round_index, cpu=cpu, wall=wall, bytes=size, calls=count)
    return result


def compare_round(worker: "Worker", step: Step, peers: dict[str, Peer], results: dict[str, Any]) -> None:
    """Report results that differ from the baseline's, for libraries that encoded the whole text."""
    ids = {name: flatten([row]) for name, row in results.items() if row is not None and peers[name].part == 1}
    baseline = worker.job.vocabulary.baseline
    if baseline in ids:
        for name, own in ids.items():
            if (position := first_difference(own, ids[baseline])) is not None:
                why = f"differs at token {position:,} from {baseline} while it is timed"
                worker.emit("fault", library=name, doing=step.measure, why=why)
