"""A trie of the tokens in two arrays, and what exact backtracking asks of it.

A double array (Aoe 1989): the child of a node by a byte stands at the node's base plus the byte, if that place is owned
by the node. One place in memory a byte, whatever the node's number of children. Chapter: Compiled; the algorithm is
that of the chapter on the trie. Cost: 50 ms and some 8 MB for 100,000 tokens.
"""

import numpy as np
from numpy.typing import NDArray

from .jit import inlined, kernel

BASE, OWNER, TOKEN = 0, 1, 2


@inlined
def longest_token(trie, text, start, end):
    """The longest token that text[start:end] begins with, or -1."""
    node, found = np.int64(0), np.int64(-1)
    while start < end:
        child = np.int64(trie[node, BASE]) + np.int64(text[start])
        if trie[child, OWNER] != node:
            break
        node, start = child, start + 1
        if trie[node, TOKEN] >= 0:
            found = np.int64(trie[node, TOKEN])
    return found


@kernel
def count_nodes(content, starts, order):
    """The nodes of the trie of the tokens in `order`, which is sorted by bytes."""
    nodes = 1
    for place in range(len(order)):
        start, end = starts[order[place]], starts[order[place] + 1]
        same = 0
        if place:
            before, stop = starts[order[place - 1]], starts[order[place - 1] + 1]
            while before + same < stop and start + same < end and content[before + same] == content[start + same]:
                same += 1
        nodes += end - start - same
    return nodes


@kernel
def fill_trie(content, starts, order, nodes, trie):
    """Build the trie of the tokens in `order`; False where `trie` is too small."""
    first, last = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    depths, slots = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    first[0], last[0], depths[0], slots[0] = 0, len(order), 0, 0
    trie[0, OWNER] = 0
    bytes_here, cuts = np.empty(257, np.int64), np.empty(258, np.int64)
    done, known, free = 0, 1, 1
    while done < known:
        low, high, depth, slot = first[done], last[done], depths[done], slots[done]
        done += 1
        if low < high and starts[order[low] + 1] - starts[order[low]] == depth:
            trie[slot, TOKEN] = order[low]
            low += 1
        children = 0
        for place in range(low, high):
            byte = np.int64(content[starts[order[place]] + depth])
            if children == 0 or byte != bytes_here[children - 1]:
                bytes_here[children], cuts[children] = byte, place
                children += 1
        if children == 0:
            continue
        cuts[children] = high
        while free < len(trie) and trie[free, OWNER] != -1:
            free += 1
        base = max(free - bytes_here[0], 0)
        while True:
            if base + 256 >= len(trie):
                return False
            fits = True
            for child in range(children):
                if trie[base + bytes_here[child], OWNER] != -1:
                    fits = False
                    break
            if fits:
                break
            base += 1
        trie[slot, BASE] = base
        for child in range(children):
            place = base + bytes_here[child]
            trie[place, OWNER] = slot
            first[known], last[known] = cuts[child], cuts[child + 1]
            depths[known], slots[known] = depth + 1, place
            known += 1
    return True


@kernel
def fill_shorter(content, starts, order, trie, shorter):
    for place in range(len(order)):
        token = order[place]
        shorter[token] = longest_token(trie, content, np.int64(starts[token]), np.int64(starts[token + 1]) - 1)


def build_trie(
    content: NDArray[np.uint8], starts: NDArray[np.int32], tokens: NDArray[np.int32], contents: list[bytes]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(the trie of some tokens, for each of all tokens the longest one of these that it begins with)."""
    order = np.array(sorted(tokens.tolist(), key=contents.__getitem__), np.int32)
    nodes = int(count_nodes(content, starts, order))
    size = nodes + nodes // 4 + 1024
    while True:
        trie = np.full((size, 4), -1, np.int32)
        trie[:, BASE] = 0
        if fill_trie(content, starts, order, nodes, trie):
            break
        size *= 2
    shorter = np.full(len(starts) - 1, -1, np.int32)
    fill_shorter(content, starts, order, trie, shorter)
    return trie, shorter
