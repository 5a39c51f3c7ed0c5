"""Drift: whether ids are those of their own text, and where they differ.

A model chooses ids one by one, and may spell a word in other tokens than `encode` does. Decoding its answer and
encoding it again then gives different ids: a cache is lost, or a gradient is computed for tokens never sampled. Two
spellings of the same bytes diverge and meet again; each part between two meeting points is a run.

Chapter: The ids that were never yours. Cost: decoding and encoding once. Source: known as "retokenization drift" in
training on conversations.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from ..core.detokenize import to_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..core.tokenizer import Tokenizer


@dataclass(frozen=True)
class DriftingRun:
    """A run of ids that becomes other ids when its text is encoded again.

    Attributes:
        start: the index of the first id.
        ids: the given ids; empty if encoding only adds some.
        encoded: the ids that `encode` returns instead.
        text: the ids' text; U+FFFD for bytes that aren't UTF-8.
    """

    start: int
    ids: tuple[int, ...]
    encoded: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return f"from id {self.start} on {list(self.ids)} is encoded as {list(self.encoded)}: {self.text!r}"


def drift(tokenizer: Tokenizer, ids: Iterable[int]) -> list[DriftingRun]:
    """Implement `BPETokenizer.drift`."""
    offset, bare_ids = _without_frame(tokenizer, to_ids(ids))
    names = tokenizer.spec.special_tokens.names
    text = tokenizer.decode(bare_ids)
    allowed = {names[token_id] for token_id in bare_ids if token_id in names}
    encoded = tokenizer.encode(text, allowed_special=allowed, add_special_tokens=False)
    if encoded == bare_ids:
        return []
    runs = _runs(bare_ids, encoded, tokenizer.decode_pipeline.token_bytes) if tokenizer.spec.joins_bytes else None
    return [
        DriftingRun(offset + a, tuple(bare_ids[a:b]), tuple(encoded[c:d]), tokenizer.decode(bare_ids[a:b]))
        for a, b, c, d in runs or [_one_run(bare_ids, encoded)]
    ]


def _without_frame(tokenizer: Tokenizer, ids: list[int]) -> tuple[int, list[int]]:
    """Return the number of ids that the post-processor added in front, and the ids without the added ones."""
    post_processor = tokenizer.spec.post_processor
    if post_processor is not None:
        framed = post_processor.apply([-1], tokenizer.spec.special_tokens)
        front, back = framed[: framed.index(-1)], framed[framed.index(-1) + 1 :]
        stop = len(ids) - len(back)
        if ids[: len(front)] == front and ids[stop:] == back and len(front) <= stop:
            return len(front), ids[len(front) : stop]
    return 0, ids


def _runs(
    ids: Sequence[int], encoded: Sequence[int], tokens: Mapping[int, bytes]
) -> list[tuple[int, int, int, int]] | None:
    """Return (start, stop, start, stop) of each differing run in both; None if their bytes aren't the same."""
    if b"".join([tokens[i] for i in ids]) != b"".join([tokens[i] for i in encoded]):
        return None
    meetings = list(_meetings(*(list(accumulate((len(tokens[i]) for i in row), initial=0)) for row in (ids, encoded))))
    runs: list[tuple[int, int, int, int]] = []
    for (a, c), (b, d) in zip(meetings, meetings[1:]):
        if ids[a:b] != encoded[c:d]:
            joins = bool(runs) and runs[-1][1] == a
            runs[-1:] = [(runs[-1][0], b, runs[-1][2], d)] if joins else [*runs[-1:], (a, b, c, d)]
    return runs


def _meetings(ends: Sequence[int], other_ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of indices at which two increasing sequences of offsets are equal."""
    indices = {end: index for index, end in enumerate(other_ends)}
    yield from ((index, indices[end]) for index, end in enumerate(ends) if end in indices)


def _one_run(ids: Sequence[int], encoded: Sequence[int]) -> tuple[int, int, int, int]:
    """Return (start, stop, start, stop) of the part between the common start and the common end."""
    shorter = min(len(ids), len(encoded))
    start = next((i for i in range(shorter) if ids[i] != encoded[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if ids[-1 - i] != encoded[-1 - i]), rest)
    return start, len(ids) - end, start, len(encoded) - end
