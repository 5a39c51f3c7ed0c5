"""Correctness checks: every call to be timed is first compared with tiktoken, in a process that times nothing.

Timing runs in another process, so that nothing a library has cached here can make "unseen" untrue there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .peers.base import Peer
from .plan import Step
from .texts import split_documents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .worker import Worker

    Array = NDArray[np.uint32]

DOCUMENT_BYTES = 2_000
"""The size of a document in batches and loops, in bytes."""


def check(worker: "Worker", step: Step) -> None:
    """Compare each library's output with that of the first library, whose ids are saved to a file."""
    warm, parts = worker.read_parts(step.text)
    for name in worker.participants(step):
        peer = worker.cached(name)
        if peer is None:
            continue
        texts = [shorten(text, peer) for text in [*warm, *parts]]
        if step.output.startswith("decode"):
            worker.run_guarded(name, step.output, check_decoding, worker, step, peer, texts)
            continue
        rows = worker.run_guarded(name, step.output, encode, peer, step.output, texts)
        if rows is not None:
            compare_ids(worker, step, peer, flatten(rows))


def shorten(text: str, peer: Peer) -> str:
    """Return the part of a text that a library encodes: all of it, unless the library is too slow."""
    return text[: len(text) // peer.part].rstrip()


def encode(peer: Peer, output: str, texts: Sequence[str]) -> list[Any]:
    """Encode each text; return the ids in whatever form the library returns them."""
    if output == "list":
        return [peer.encode_list(text) for text in texts]
    if output == "array":
        return [peer.encode_array(text) for text in texts]
    return [row for text in texts for row in encode_batch(peer, output, split_documents(text, DOCUMENT_BYTES), 1)]


def encode_batch(peer: Peer, output: str, texts: Sequence[str], threads: int) -> list[Any]:
    """Encode a batch of texts; return the ids of each as a row."""
    if output == "batch list":
        rows: list[Any] = peer.batch_list(texts, threads)
        return rows
    ids, offsets = peer.batch_array(texts, threads)
    return [ids[begin:end] for begin, end in zip(offsets.tolist(), offsets[1:].tolist())]


def flatten(rows: Sequence[Any]) -> "Array":
    """Concatenate rows of ids into one uint32 array."""
    import numpy as np

    return np.concatenate([np.asarray(row, np.uint32) for row in rows] or [np.empty(0, np.uint32)])


def first_difference(ids: "Array", expected: "Array") -> int | None:
    """Return the index of the first id that differs, or None if all are equal.

    >>> import numpy as np
    >>> one, other = np.array([5, 6, 7]), np.array([5, 6, 8])
    >>> first_difference(one, one), first_difference(one, other), first_difference(one[:2], one)
    (None, 2, 2)
    """
    size = min(len(ids), len(expected))
    differing = (ids[:size] != expected[:size]).nonzero()[0]
    if len(differing):
        return int(differing[0])
    return None if len(ids) == len(expected) else size


def reference_path(worker: "Worker", step: Step, peer: Peer) -> Path:
    """Return the path of the expected ids; whole texts, documents and shortened texts each have their own file."""
    kind = "documents" if step.output.startswith("batch") else "texts"
    return Path(worker.job.folder, f"{worker.job.vocabulary.name}-{step.text}-{kind}-{peer.part}.npy")


def compare_ids(worker: "Worker", step: Step, peer: Peer, ids: "Array") -> None:
    """Report where ids differ from the expected ones, which come from the first library to call this."""
    import numpy as np

    path = reference_path(worker, step, peer)
    if path.exists():
        expected = np.load(path)
        if (position := first_difference(ids, expected)) is not None:
            got, wanted = ids[position : position + 1].tolist(), expected[position : position + 1].tolist()
            why = f"differs at token {position:,}: {got or 'the end'}, not {wanted or 'the end'}"
            worker.emit("fault", library=peer.name, doing=step.output, why=why)
    else:
        np.save(path, ids)


def check_decoding(worker: "Worker", step: Step, peer: Peer, texts: Sequence[str]) -> None:
    """Check that decoding the library's own ids returns the texts."""
    import numpy as np

    for index, text in enumerate(texts):
        ids = peer.encode_list(text)
        back = peer.decode_list(ids) if step.output == "decode list" else peer.decode_array(np.array(ids, np.uint32))
        if back != text:
            why = f"text {index} of {len(texts)} does not survive the round trip"
            worker.emit("fault", library=peer.name, doing=step.output, why=why)
            return
