"""The exercises of *A heap*."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import product
from random import Random
from typing import Any
from unittest.mock import patch

from ...encoders import HeapEncoder, NaiveEncoder
from ...model.bpe import BPEModel
from ...model.trace import HeapStep, trace_encode
from ...notebook.messages import code
from ..exercise import Exercise
from ..fixtures import WORDS, models, models_and_pieces
from .encoding import _vocabularies_and_pieces


def largest(steps):
    """Return the largest number of entries that were on the heap at any time."""
    most = now = 0
    for step in steps:
        if isinstance(step, HeapStep):
            now += 1 if step.action == "push" else -1  # "pop" and "stale" both take one off
            most = max(most, now)
    return most


def merge_node(ids, previous, following, node, new):
    """Write `new` at `node`, take its right neighbour out of the list, and return the
    nodes at which a new pair begins: the one before `node`, if any, and `node`, if it
    still has a neighbour."""
    other = following[node]
    ids[node], ids[other] = new, None
    after = following[node] = following[other]
    begins = []
    if previous[node] >= 0:
        begins.append(previous[node])
    if after < len(ids):
        previous[after] = node
        begins.append(node)
    return begins


def nothing_stale():
    """Return (model, piece): at least 20 bytes, 5 "pop" or more in the trace and no "stale"."""
    return BPEModel.from_merges([(b"a", b"b")]), b"ab" * 10  # no two of these pairs share a byte


def by_length(model, limit):
    """Return a function from a piece to its ids: naive below `limit` bytes, heap from there on."""
    naive, heap = NaiveEncoder(model), HeapEncoder(model)
    return lambda piece: (naive if len(piece) < limit else heap).encode_piece(piece)


def stamped(model, piece):
    """Return the ids of `piece`, with a heap whose entries carry the change counts of their two nodes."""
    ids = model.initial_ids(piece)
    end = len(ids)
    previous, following, changed = list(range(-1, end - 1)), list(range(1, end + 1)), [0] * end

    def entry(node):
        other = following[node]
        merge = model.merges.get((ids[node], ids[other])) if other < end else None
        return merge and (merge[0], node, other, changed[node], changed[other], merge[1])

    heap = [found for node in range(end) if (found := entry(node))]
    heapify(heap)
    while heap:
        _, node, other, node_stamp, other_stamp, new = heappop(heap)
        if (changed[node], changed[other]) != (node_stamp, other_stamp):
            continue
        ids[node], ids[other] = new, None
        changed[node] += 1
        changed[other] += 1
        after = following[node] = following[other]
        if after < end:
            previous[after] = node
        for begin in (previous[node], node):
            if begin >= 0 and (found := entry(begin)):
                heappush(heap, found)
    return [token for token in ids if token is not None]


def _show_trace(name: str, model: BPEModel, piece: bytes) -> str:
    return f'{name}(list(trace_encode(ENCODERS["heap"]({code(model)}), {code(piece)})))'


def _linked_lists() -> Iterator[tuple[list[int | None], list[int], list[int], int, int]]:
    """Yield lists of up to five nodes, some of them already removed, and every node that has a neighbour."""
    for size in range(2, 6):
        for gone in product((False, True), repeat=size - 1):
            nodes = [0, *(node for node in range(1, size) if not gone[node - 1])]
            ids: list[int | None] = [97 + node if node in nodes else None for node in range(size)]
            previous, following = list(range(-1, size - 1)), list(range(1, size + 1))
            for left, right in zip(nodes, [*nodes[1:], size]):
                following[left] = right
                if right < size:
                    previous[right] = left
            for node in nodes[:-1]:
                yield list(ids), list(previous), list(following), node, 256


def _walks(result: Any, ids: list[Any], previous: list[int], following: list[int], *others: Any) -> dict[str, Any]:
    """Return the result, and the linked list as it is traversed from left to right and back."""
    if isinstance(result, (tuple, set, frozenset)):
        result = list(result)
    if isinstance(result, list) and all(isinstance(node, int) for node in result):
        result = sorted(result)

    def walk(links: list[int], node: int) -> list[Any]:
        nodes: list[Any] = []
        while 0 <= node < len(ids) and len(nodes) <= len(ids):
            nodes.append((node, ids[node]))
            node = links[node]
        return nodes

    right = walk(following, 0)
    left = walk(previous, right[-1][0])
    return {"returned": result, "from left to right": right, "from right to left": left}


def _count_steps(result: Any) -> Any:
    match result:
        case tuple((BPEModel() as model, bytes() as piece)):
            steps = trace_encode(HeapEncoder(model), piece)
            actions = [step.action for step in steps if isinstance(step, HeapStep)]
            return {"bytes": len(piece), "pop": actions.count("pop"), "stale": actions.count("stale")}
    return "not a pair of a model and bytes"


def _about_stale(got: Any) -> str | None:
    if not isinstance(got, dict):
        return "Give a pair: a BPEModel and a piece (bytes)."
    if got["bytes"] < 20:
        return "The piece has fewer than 20 bytes."
    if got["pop"] < 5:
        return "There are fewer than five merges."
    return "An entry was stale." if got["stale"] else None


def _encode_noting(answer: Any, model: BPEModel, limit: int, piece: bytes) -> Any:
    """Return the ids from the answer's function, and which encoders it called."""
    with (
        patch.object(NaiveEncoder, "encode_piece", autospec=True, side_effect=NaiveEncoder.encode_piece) as naive,
        patch.object(HeapEncoder, "encode_piece", autospec=True, side_effect=HeapEncoder.encode_piece) as heap,
    ):
        encode = answer(model, limit)
        if encode is None or encode is Ellipsis:
            return encode
        naive.reset_mock()
        heap.reset_mock()
        ids = encode(piece)
    used = [name for name, calls in (("heap", heap), ("naive", naive)) if calls.called]
    return {"ids": ids, "encoder": " and ".join(used) or "another"}


def _same_encoding(expected: Any, got: Any) -> bool:
    same_ids = isinstance(got, dict) and expected["ids"] == got["ids"]
    return same_ids and got["encoder"] in (expected["encoder"], "another")


def _limits() -> Iterator[tuple[BPEModel, int, bytes]]:
    pieces = (b"", b"a", b"abc", b"abcd", b"lower", b"lowest", b"newestnewest")
    return product((models()[1], models()[4], models()[8]), (0, 1, 4, 6, 100), pieces)


def _long_pieces() -> Iterator[tuple[BPEModel, bytes]]:
    yield from models_and_pieces()
    random = Random(0)
    for size in (50, 1500):
        yield models()[8], b"".join(random.choices(WORDS, k=size // 5))


def encode_piece(vocab, piece):
    """Return the ids of one piece (bytes), as the `encode_piece` of *Encoding*, but with a heap.

    `vocab` is a dict of token (bytes) -> id. For a piece of n bytes the time grows as n log n.
    """
    tokens = [bytes([byte]) for byte in piece]  # b"" where a token was merged into the one on its left
    end = len(tokens)
    before, after, heap = list(range(-1, end - 1)), list(range(1, end + 1)), []

    def push(left):
        if left >= 0 and after[left] < end:
            joined = tokens[left] + tokens[after[left]]
            if joined in vocab:
                heappush(heap, (vocab[joined], left, joined))

    for left in range(end):
        push(left)
    while heap:
        _, left, joined = heappop(heap)
        right = after[left]
        if not tokens[left] or right == end or tokens[left] + tokens[right] != joined:
            continue  # stale: one of the two has merged with another neighbour since
        tokens[left], tokens[right] = joined, b""
        after[left] = after[right]
        if after[left] < end:
            before[after[left]] = left
        push(left)
        push(before[left])
    return [vocab[token] for token in tokens if token]


def _short_and_long() -> Iterator[tuple[dict[bytes, int], bytes]]:
    yield from _vocabularies_and_pieces()
    for size in (100, 400, 1600):
        yield dict(models()[5].ids), b"a" * size


EXERCISES = [
    Exercise(
        "heap.1",
        "How full it gets",
        largest,
        models_and_pieces,
        (
            'Go through the steps and count: "push" puts one entry on. Two of the actions take one off.',
            "Keep the largest number seen. MergeSteps are in the list too; they have no `action`.",
        ),
        level="easy",
        next_step="Can it be more than the piece has pairs at the start? Look for such a piece.",
        call=lambda answer, model, piece: answer(list(trace_encode(HeapEncoder(model), piece))),
        format_call=_show_trace,
    ),
    Exercise(
        "heap.2",
        "A merge in a linked list",
        merge_node,
        _linked_lists,
        (
            "other = following[node] is the neighbour, and following[other] comes after it.",
            "Two links change: following[node], and previous of the node that now comes after it, if there is one.",
            "There is a node before if previous[node] is not -1, and one after if its number is below len(ids).",
        ),
        level="medium",
        next_step="Add a heap of the pairs that begin at these nodes, and it is the encoder of the page.",
        observe=_walks,
        is_valid=lambda *arguments: False,
    ),
    Exercise(
        "heap.3",
        "Nothing stale",
        nothing_stale,
        lambda: [()],
        (
            "An entry becomes stale when another merge takes one of its two nodes, or changes one.",
            "So no two pairs that can merge may share a byte. One merge in the model is enough.",
        ),
        level="medium",
        next_step="Now the opposite: which piece of 20 bytes has the most stale entries?",
        observe=_count_steps,
        problem=_about_stale,
    ),
    Exercise(
        "heap.4",
        "Both",
        by_length,
        _limits,
        (
            "Make both encoders once, before the function that you return.",
            "A piece of exactly `limit` bytes goes to the heap.",
        ),
        level="easy",
        next_step="Try the limits 4, 8, 16 and 32 bytes on the book's pieces, and time each.",
        call=_encode_noting,
        equal=_same_encoding,
        format_call=lambda name, model, limit, piece: f"{name}({code(model)}, {limit})({code(piece)})",
    ),
    Exercise(
        "heap.5",
        "Stamps",
        stamped,
        _long_pieces,
        (
            "An entry is (rank, node, other, changed[node], changed[other], new id). Rank and node come first, so "
            "the heap keeps the order of the rule.",
            "A merge adds one to changed of both nodes. Entries made before that no longer agree.",
            "After a merge push the pair that begins at the node before, and the one that begins at the node.",
        ),
        level="hard",
        next_step="Which is faster, stamps or asking the table again? Count what each entry costs.",
    ),
    Exercise(
        "heap.6",
        "Your tokenizer: a heap in place of the scan",
        encode_piece,
        _short_and_long,
        (
            "Keep three lists: the tokens, and for each position the one before and the one after it.",
            "An entry is (id, left position, joined bytes). It is stale if the two no longer join to these bytes.",
            "After a merge, push the new token with its right neighbour, and the left neighbour with the new token.",
        ),
        level="hard",
        next_step="Measure it on pieces of 1,000, 10,000 and 100,000 bytes: does the time grow as promised?",
        is_valid=lambda vocab, piece: False,
    ),
]
