"""A vocabulary as a trie in arrays, walked by two automata of bytes at once.

The nodes are numbered level by level, so that the children of one are neighbours. A level is walked in a few steps of
NumPy. Cost: for each level, the nodes that both automata reach.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .._support.numpy_import import NDArray, np
from ..prefix.byte_states import DEAD
from .state_table import Numbers, StateTable

NONE = -1


class Found(NamedTuple):
    """Tokens, the shortest first, and the states of both automata after each."""

    tokens: Numbers
    texts: Numbers
    borders: Numbers


class TokenTrie:
    """The trie of some tokens.

    Attributes:
        first, count: for each node, its first child and how many there are.
        byte, token: the byte that leads to it, and the token that ends there; NONE if there is none.
    """

    def __init__(self, tokens: Mapping[bytes, int]) -> None:
        ordered = sorted(tokens)  # so those that begin alike are neighbours
        ids = np.array([tokens[token] for token in ordered], np.int32)
        lengths = np.array([len(token) for token in ordered], np.int32)
        starts = np.cumsum(lengths) - lengths
        text = np.frombuffer(b"".join(ordered), np.uint8)
        data, ends, parents = [np.zeros(1, np.uint8)], [np.full(1, NONE, np.int32)], [np.zeros(0, np.int32)]
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
        self.count = np.bincount(np.concatenate(parents), minlength=nodes).astype(np.int32)
        self.first = (1 + np.cumsum(self.count) - self.count).astype(np.int32)

    def walk(self, texts: StateTable, text: int, borders: StateTable, border: int) -> Found:
        """Return the tokens that can be read from a state of each automaton."""
        nodes, text_states, border_states = (np.array([each], np.int32) for each in (0, text, border))
        found: list[tuple[Numbers, Numbers, Numbers]] = []
        while len(nodes):
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
        return Found(*(np.concatenate(each) for each in zip(*found)))
