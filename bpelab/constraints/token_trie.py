"""A vocabulary as a trie in arrays, read by automata of bytes.

The nodes are numbered level by level, so that the children of one are neighbours. A level is read in a few steps of
NumPy. Two automata are followed at once, to the nodes that both reach. Where these are many, it's faster to read the
whole vocabulary by each automaton alone, and to keep that: few states of pieces are met in most texts.

Cost: the nodes that both automata reach; of a whole reading, some nanoseconds for each node.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .._support.numpy_import import NDArray, np
from ..prefix.byte_states import DEAD
from .state_table import Numbers, StateTable

NONE = -1
MANY, DEEP = 2048, 20
"""With so many nodes of one level, or after so many levels, it's faster to read the whole vocabulary."""
MAX_READ = 32
"""The most readings of the whole vocabulary that a table keeps, each four bytes for each token."""


Step = tuple[int, int, int]
"""A token, and the states of both automata after it."""


class Found(NamedTuple):
    """Tokens, in the order of their ids, and the states of both automata after each."""

    tokens: Numbers
    texts: Numbers
    borders: Numbers


class TokenTrie:
    """The trie of some tokens.

    Attributes:
        tokens: their ids, in order.
        first, count: for each node, its first child and how many there are.
        byte, token: the byte that leads to it, and the token that ends there; NONE if there is none.
    """

    def __init__(self, tokens: Mapping[bytes, int]) -> None:
        ordered = sorted(tokens)  # so those that begin alike are neighbours
        ids = np.array([tokens[token] for token in ordered], np.int32)
        lengths = np.array([len(token) for token in ordered], np.int32)
        starts = np.cumsum(lengths) - lengths
        text = np.frombuffer(b"".join(ordered), np.uint8)
        data, ends, parents = [np.zeros(1, np.uint8)], [np.full(1, NONE, np.int32)], [np.zeros(1, np.int32)]
        node, nodes = np.zeros(len(ordered), np.int32), 1  # where each token has got to, and how many there are
        for depth in range(lengths.max(initial=0)):
            longer = np.flatnonzero(lengths > depth)
            before, byte = node[longer], text[starts[longer] + depth]
            new = np.ones(len(longer), bool)
            new[1:] = (before[1:] != before[:-1]) | (byte[1:] != byte[:-1])
            node[longer] = nodes - 1 + np.cumsum(new)
            data.append(byte[new])
            parents.append(before[new])
            ends.append(np.full(len(data[-1]), NONE, np.int32))
            done = np.flatnonzero(lengths == depth + 1)
            ends[-1][node[done] - nodes] = ids[done]
            nodes += len(data[-1])
        self.byte: NDArray[np.uint8] = np.concatenate(data)
        self.token: Numbers = np.concatenate(ends)
        self._parent = np.concatenate(parents)
        self.count = np.bincount(self._parent[1:], minlength=nodes).astype(np.int32)
        self.first = (1 + np.cumsum(self.count) - self.count).astype(np.int32)
        self._levels = [0, *np.cumsum([len(level) for level in data]).tolist()]
        self._ends = np.flatnonzero(self.token != NONE)
        self._ends = self._ends[np.argsort(self.token[self._ends])]
        self.tokens: Numbers = self.token[self._ends]
        self._views = [each.data for each in (self.first, self.count, self.byte, self.token)]

    def each(self, texts: StateTable, text: int, borders: StateTable, border: int) -> Iterator[Step]:
        """Yield what `walk` returns one by one, the shortest tokens first."""
        first, count, byte, token = self._views
        begins = self.byte[1 : 1 + count[0]]
        alive = np.flatnonzero((texts.row(text)[begins] != DEAD) & (borders.row(border)[begins] != DEAD))
        waiting: deque[tuple[Sequence[int], int, int]] = deque([((1 + alive).tolist(), text, border)])
        while waiting:
            children, text, border = waiting.popleft()
            for node in children:
                after = texts.states.read(text, byte[node])
                if after != DEAD and (state := borders.states.read(border, byte[node])) != DEAD:
                    if token[node] != NONE:
                        yield token[node], after, state
                    waiting.append((range(first[node], first[node] + count[node]), after, state))

    def states(self, table: StateTable, state: int) -> Numbers:
        """Return the state after each of `tokens`, read from a state; DEAD if there is none. The table keeps it."""
        key = self, state
        if key not in table.read:
            if len(table.read) >= MAX_READ:
                del table.read[next(iter(table.read))]
            table.row(state)
            after = np.full(len(self.byte), DEAD, np.int32)
            after[0] = state
            for start, end in pairwise(self._levels[1:]):
                after[start:end] = table.after(after.take(self._parent[start:end]), self.byte[start:end])
            table.read[key] = after.take(self._ends)
        return table.read[key]

    def walk(self, texts: StateTable, text: int, borders: StateTable, border: int) -> Found:
        """Return the tokens that can be read from a state of each automaton."""
        texts.row(text), borders.row(border)
        nodes, text_states, border_states = (np.array([each], np.int32) for each in (0, text, border))
        found: list[tuple[Numbers, Numbers, Numbers]] = []
        while len(nodes):
            if len(nodes) > MANY or len(found) == DEEP:
                after, after_pieces = self.states(texts, text), self.states(borders, border)
                both = np.flatnonzero((after != DEAD) & (after_pieces != DEAD))
                return Found(self.tokens[both], after[both], after_pieces[both])
            counts = self.count[nodes]
            parents = np.repeat(np.arange(len(nodes), dtype=np.int32), counts)
            steps = np.arange(len(parents), dtype=np.int32) - np.repeat(np.cumsum(counts) - counts, counts)
            children = (self.first[nodes][parents] + steps).astype(np.int32)
            text_states = texts.after(text_states[parents], self.byte[children])
            kept = np.flatnonzero(text_states != DEAD)
            children, text_states = children[kept], text_states[kept]
            border_states = borders.after(border_states[parents[kept]], self.byte[children])
            kept = np.flatnonzero(border_states != DEAD)
            nodes, text_states, border_states = children[kept], text_states[kept], border_states[kept]
            ends = np.flatnonzero(self.token[nodes] != NONE)
            found.append((self.token[nodes[ends]], text_states[ends], border_states[ends]))
        tokens, text_states, border_states = (np.concatenate(each) for each in zip(*found))
        order = np.argsort(tokens)
        return Found(tokens[order], text_states[order], border_states[order])
