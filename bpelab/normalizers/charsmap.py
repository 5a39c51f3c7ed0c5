"""SentencePiece's character map: a trie of byte sequences, each with its replacement text.

The map is a "double array" (Aoe 1989; the library darts-clone): node n has a child for byte b if unit n ^ b carries
the label b. Chapter: File formats. Cost: reading it is linear in its units; look-ups are cached. Source: SentencePiece
`normalizer.cc`; Hugging Face `spm_precompiled`.
"""

import base64
import binascii
import struct
from collections import defaultdict
from functools import lru_cache

IS_VALUE = 1 << 31
REMEMBERED, LONGEST_REMEMBERED = 1 << 16, 64
MAX_UNITS = 1 << 18
"""Four times the size of SentencePiece's largest map, NFKC with case folding."""
CONTINUATIONS = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))


class CharsMap:
    """A character map, read from its bytes. Raises ValueError if they aren't one."""

    def __init__(self, data: bytes) -> None:
        count = int.from_bytes(data[:4], "little") // 4
        if count > MAX_UNITS:
            raise ValueError(f"precompiled_charsmap says that it holds {count:,} units; at most {MAX_UNITS:,} are read")
        if len(data) < 4 + 4 * count:
            raise ValueError(f"precompiled_charsmap says that it holds {count:,} units, but has {len(data):,} bytes")
        self.units: tuple[int, ...] = struct.unpack_from(f"<{count}I", data, 4)
        if not self.units:
            raise ValueError("precompiled_charsmap holds no trie")
        self.texts = data[4 + 4 * count :]
        try:
            self.texts.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"precompiled_charsmap: its texts aren't UTF-8: {error}") from None
        self._check()
        self._cache: dict[str, str | None] = {}

    def next_node(self, at: int) -> int:
        """Return the node that unit `at` leads to."""
        unit = self.units[at]
        return at ^ (unit >> 10 << ((unit & 0x200) >> 6))

    def _check(self) -> None:
        """Raise ValueError if a reachable entry points to a text that doesn't exist."""
        children: dict[int, list[int]] = defaultdict(list)
        for at, unit in enumerate(self.units):
            if not unit & IS_VALUE and unit & 0xFF:
                children[at ^ unit & 0xFF].append(at)
        seen: set[int] = set()
        waiting = [self.next_node(0)]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            for at in children[node]:
                if self.units[at] & 0x100:
                    self._start_of(self.next_node(at))
                waiting.append(self.next_node(at))

    def _start_of(self, node: int) -> int:
        """Return the start offset of the text of the entry that ends in `node`."""
        start = self.units[node] & ~IS_VALUE if node < len(self.units) else len(self.texts) + 1
        if start > len(self.texts) or self.texts[start : start + 1] in CONTINUATIONS:
            raise ValueError(f"precompiled_charsmap: unit {node} points to no text")
        return start

    def _text_from(self, start: int) -> str:
        """Return the text from `start` to the next zero byte."""
        end = self.texts.find(b"\0", start)
        return self.texts[start : None if end < 0 else end].decode()

    def _search(self, data: bytes) -> str | None:
        node = self.next_node(0)
        for byte in data:
            at = node ^ byte
            if not byte or at >= len(self.units) or self.units[at] & (IS_VALUE | 0xFF) != byte:
                return None
            node = self.next_node(at)
            if self.units[at] & 0x100:
                return self._text_from(self._start_of(node))
        return None

    def get(self, text: str) -> str | None:
        """Return the replacement of the shortest entry that `text` starts with, or None."""
        if text in self._cache:
            return self._cache[text]
        found = self._search(text.encode("utf-8", "surrogatepass"))
        if found is None or len(found) <= LONGEST_REMEMBERED:
            if len(self._cache) >= REMEMBERED:
                self._cache.clear()
            self._cache[text] = found
        return found

    def longest(self, data: bytes, start: int) -> tuple[int, str] | None:
        """Return (end, text) of the longest entry in `data` at `start`, or None."""
        node, found = self.next_node(0), None
        for end in range(start, len(data)):
            at = node ^ data[end]
            if not data[end] or at >= len(self.units) or self.units[at] & (IS_VALUE | 0xFF) != data[end]:
                break
            node = self.next_node(at)
            if self.units[at] & 0x100:
                found = end + 1, self._start_of(node)
        return None if found is None else (found[0], self._text_from(found[1]))


@lru_cache(8)
def read_charsmap(text: str) -> CharsMap:
    """Decode a character map from base64. Raises ValueError if it is malformed."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"precompiled_charsmap isn't base64: {error}") from None
    return CharsMap(data)
