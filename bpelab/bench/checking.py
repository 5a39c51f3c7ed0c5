"""Are the ids right? Every call that will be timed is compared with tiktoken first, in a process that times nothing.

The process is another one than that of the timing, so that nothing a library keeps from it makes "unseen" untrue.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .peers.base import Peer
from .steps import Step
from .texts import documents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .worker import Worker

    Array = NDArray[np.uint32]

DOCUMENT = 2_000
"""Bytes of a document in batches and loops."""


def check(worker: "Worker", step: Step) -> None:
    """Compare what each library gives with what the first library gave; the first one's ids are kept in a file."""
    warm, parts = worker.material(step.text)
    for name in worker.able(step):
        peer = worker.kept(name)
        if peer is None:
            continue
        texts = [shortened(text, peer) for text in [*warm, *parts]]
        if step.output.startswith("decode"):
            worker.attempt(name, step.output, check_decoding, worker, step, peer, texts)
            continue
        rows = worker.attempt(name, step.output, encode, peer, step.output, texts)
        if rows is not None:
            compare(worker, step, peer, flat(rows))


def shortened(text: str, peer: Peer) -> str:
    """What a library is given of a text: all of it, unless it is too slow for that."""
    return text[: len(text) // peer.part].rstrip()


def encode(peer: Peer, output: str, texts: Sequence[str]) -> list[Any]:
    """The ids of each text, in whatever form the library gives them."""
    if output == "list":
        return [peer.encode_list(text) for text in texts]
    if output == "array":
        return [peer.encode_array(text) for text in texts]
    return [row for text in texts for row in rows_of(peer, output, documents(text, DOCUMENT), 1)]


def rows_of(peer: Peer, output: str, texts: Sequence[str], threads: int) -> list[Any]:
    """The rows of a batch."""
    if output == "batch list":
        rows: list[Any] = peer.batch_list(texts, threads)
        return rows
    ids, offsets = peer.batch_array(texts, threads)
    return [ids[begin:end] for begin, end in zip(offsets.tolist(), offsets[1:].tolist())]


def flat(rows: Sequence[Any]) -> "Array":
    """Rows of ids as one array."""
    import numpy as np

    return np.concatenate([np.asarray(row, np.uint32) for row in rows] or [np.empty(0, np.uint32)])


def first_difference(ids: "Array", right: "Array") -> int | None:
    """The place of the first id that is another one; None if there is none.

    >>> import numpy as np
    >>> one, other = np.array([5, 6, 7]), np.array([5, 6, 8])
    >>> first_difference(one, one), first_difference(one, other), first_difference(one[:2], one)
    (None, 2, 2)
    """
    size = min(len(ids), len(right))
    differing = (ids[:size] != right[:size]).nonzero()[0]
    if len(differing):
        return int(differing[0])
    return None if len(ids) == len(right) else size


def reference(worker: "Worker", step: Step, peer: Peer) -> Path:
    """Where the right ids are: of whole texts or of documents, and of shortened texts."""
    kind = "documents" if step.output.startswith("batch") else "texts"
    return Path(worker.job.folder, f"{worker.job.vocabulary.name}-{step.text}-{kind}-{peer.part}.npy")


def compare(worker: "Worker", step: Step, peer: Peer, ids: "Array") -> None:
    """Tell where ids differ; those of the library whose ids nobody has given before are the ones to compare with."""
    import numpy as np

    path = reference(worker, step, peer)
    if path.exists():
        right = np.load(path)
        if (place := first_difference(ids, right)) is not None:
            got, wanted = ids[place : place + 1].tolist(), right[place : place + 1].tolist()
            why = f"differs at token {place:,}: {got or 'the end'}, not {wanted or 'the end'}"
            worker.tell("fault", library=peer.name, doing=step.output, why=why)
    else:
        np.save(path, ids)


def check_decoding(worker: "Worker", step: Step, peer: Peer, texts: Sequence[str]) -> None:
    """Whether the library's own ids are its texts again."""
    import numpy as np

    for number, text in enumerate(texts):
        ids = peer.encode_list(text)
        back = peer.decode_list(ids) if step.output == "decode list" else peer.decode_array(np.array(ids, np.uint32))
        if back != text:
            why = f"text {number} of {len(texts)} comes back as another one"
            worker.tell("fault", library=peer.name, doing=step.output, why=why)
            return
