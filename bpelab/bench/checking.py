"""Correctness checks: every call to be timed is first compared with tiktoken, in a process that times nothing.

Timing runs in another process, so that nothing a library has cached here can make "unseen" untrue there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .library import Peer
from .plan import Step
from .texts import split_documents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .worker import Worker

    Array = NDArray[np.uint32]


def check(worker: "Worker", step: Step) -> None:
    """Compare each library's output with that of the first library, whose ids are saved to a file."""
    warm, parts = worker.read_parts(step)
    check_output = check_decoding if step.output.startswith("decode") else check_ids
    for name in worker.participants(step):
        peer = worker.cached(name)
        if peer is not None:
            texts = [shorten(text, peer) for text in [*warm, *parts]]
            worker.run_guarded(name, step.output, check_output, worker, step, peer, texts)


def shorten(text: str, peer: Peer) -> str:
    """Return the part of a text that a library encodes: all of it, unless the library is too slow."""
    return text[: len(text) // peer.library.part].rstrip()


def encode_batch(peer: Peer, output: str, texts: Sequence[str], threads: int) -> list[Any]:
    """Encode a batch of texts; return the ids of each as a row."""
    encoded = peer[output](texts, threads)
    if output == "batch list":
        return list(encoded)
    ids, offsets = encoded
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


def check_ids(worker: "Worker", step: Step, peer: Peer, texts: Sequence[str]) -> None:
    """Report where ids differ from the expected ones, which come from the first library to call this.

    Whole texts, documents and shortened texts each have their own file of expected ids.
    """
    import numpy as np

    if step.batch:
        ids = flatten([row for text in texts for row in encode_batch(peer, step.output, split_documents(text), 1)])
    else:
        ids = flatten([peer[step.output](text) for text in texts])
    path = Path(worker.job.folder, f"{worker.job.vocabulary.name}-{step.text_file}-{peer.library.part}.npy")
    if not path.exists():
        np.save(path, ids)
        return
    expected = np.load(path)
    if (position := first_difference(ids, expected)) is not None:
        got, wanted = ids[position : position + 1].tolist(), expected[position : position + 1].tolist()
        why = f"differs at token {position:,}: {got or 'the end'}, not {wanted or 'the end'}"
        worker.emit("fault", library=peer.name, doing=step.output, why=why)


def check_decoding(worker: "Worker", step: Step, peer: Peer, texts: Sequence[str]) -> None:
    """Check that decoding the library's own ids returns the texts."""
    for index, text in enumerate(texts):
        if peer[step.output](ids_to_decode(peer, step.output, text)) != text:
            why = f"text {index} of {len(texts)} doesn't survive the round trip"
            worker.emit("fault", library=peer.name, doing=step.output, why=why)
            return


def ids_to_decode(peer: Peer, output: str, text: str) -> Any:
    """Return a text's ids as what a library's call for `output` decodes: a list, or an array."""
    import numpy as np

    ids = peer["list"](text)
    return ids if output == "decode list" else np.array(ids, np.uint32)
