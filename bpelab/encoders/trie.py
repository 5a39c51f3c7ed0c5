"""Longest match with backtracking where BPE would cut differently: exact, without performing any merge.

Walk the text with a trie of the vocabulary and take the longest token that fits. Keep it if it is compatible with the
token before it: encoding the bytes of the two together must yield exactly these two. If not, try the next shorter
token; if there is none, go back and shorten the token before. Dead ends are remembered, so no position is tried twice.
The first complete sequence is BPE's, because the encoding of a text is the only sequence in which every two adjacent
tokens are compatible.

Chapter: A trie. Cost: O(n) for a piece of n bytes, times the length of the longest token.
Source: the corollaries in rust-gems `bpe` (README). `supports` says which models this works for.
"""

from ..errors import ModelError
from ..model.bpe import BPEModel
from ..model.merge_recovery import compatible
from ..model.trace import Record, TrieStep

Node = dict[int, "Node"]
TOKEN = -1  # the key for the token that ends at a node; no byte is negative


def build_trie(tokens: dict[bytes, int]) -> tuple[Node, dict[int, int | None]]:
    """Build the trie, and for each token find the longest other token that is a prefix of it.

    >>> trie, shorter = build_trie({b"a": 1, b"abc": 2})
    >>> trie[97][98][99][TOKEN], shorter[2]
    (2, 1)
    """
    root: Node = {}
    shorter: dict[int, int | None] = {}
    for token, token_id in sorted(tokens.items(), key=lambda item: len(item[0])):
        node, prefix = root, None
        for byte in token:
            prefix = node.get(TOKEN, prefix)
            node = node.setdefault(byte, {})
        node[TOKEN] = token_id  # type: ignore[assignment]
        shorter[token_id] = prefix  # type: ignore[assignment]
    return root, shorter


def longest_match(trie: Node, text: bytes, start: int) -> int | None:
    """Return the id of the longest token in `text` at `start`, or None."""
    node, found = trie, None
    for position in range(start, len(text)):
        child = node.get(text[position])
        if child is None:
            break
        node = child
        found = node.get(TOKEN, found)
    return found  # type: ignore[return-value]


class TrieEncoder:
    """Encodes by exact backtracking over a trie.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
    >>> TrieEncoder(model).encode_piece(b"lower")
    [257, 258]
    """

    def __init__(self, model: BPEModel) -> None:
        if not self.supports(model):
            raise ModelError(
                "the trie encoder needs bytes as its symbols and merges in which every token ranks after its parts; "
                "use encoder='heap'"
            )
        self.model = model
        self.splits, self.rank_of = model.recovered_merges.splits, model.recovered_merges.rank_of
        self.merged = {pair: self.rank_of[token_id] for token_id, pair in self.splits.items()}
        self.length = {token_id: len(token) for token_id, token in model.tokens.items()}
        unreachable = set(model.recovered_merges.unreachable)
        reachable = {token: token_id for token, token_id in model.ids.items() if token_id not in unreachable}
        self.trie, self.shorter = build_trie(reachable)

    @staticmethod
    def supports(model: BPEModel) -> bool:
        """Return whether symbols are bytes and each token has one merge and ranks after its parts, as in training."""
        return model.is_byte_level and not model.recovered_merges.early

    def encode_piece(self, piece: bytes, record: Record | None = None) -> list[int]:
        """Return the ids of one piece. `record` is called with every TrieStep."""
        if (whole := self.model.whole_piece_id(piece)) is not None:
            return [whole]
        return self._search(piece, record)

    def prefix_counts(self, piece: bytes) -> list[int]:
        """Return the number of tokens of each prefix of `piece`, of length 0 to n. Cost: that of encoding.

        The last token of a prefix is the longest one that ends there and is compatible with the encoding of the bytes
        before it. Those are a shorter prefix, which has been solved already.
        """
        counts, last = [0], [-1]
        for end in range(1, len(piece) + 1):
            counts.append(0)
            last.append(-1)
            for start in range(max(0, end - self.model.max_token_bytes), end):
                token = self._reachable_token(piece[start:end])
                if token is not None and (start == 0 or self._compatible(last[start], token)):
                    counts[end], last[end] = counts[start] + 1, token
                    break
        return counts

    def _reachable_token(self, text: bytes) -> int | None:
        token = self.model.ids.get(text)
        return token if token in self.shorter else None

    def _compatible(self, left: int, right: int) -> bool:
        return compatible(left, right, self.splits, self.rank_of, self.merged)

    def _search(self, piece: bytes, record: Record | None) -> list[int]:
        def note(action: str, position: int, token: int) -> None:
            if record is not None:
                record(TrieStep(action, position, token))

        ids: list[int] = []
        dead: set[int] = set()  # positions from which no compatible sequence reaches the end
        start, token = 0, longest_match(self.trie, piece, 0)
        if token is not None:
            note("match", start, token)
        while token is not None:
            end = start + self.length[token]
            if end not in dead and (not ids or self._compatible(ids[-1], token)):
                note("accept", start, token)
                ids.append(token)
                start, token = end, longest_match(self.trie, piece, end)
                if token is not None:
                    note("match", start, token)
                continue
            note("reject", start, token)
            while (shorter := self.shorter[token]) is None:  # no token fits here, so the one before it was wrong
                dead.add(start)
                token = ids.pop()
                start -= self.length[token]
                note("back", start, token)
            token = shorter
            note("shorter", start, token)
        return ids
