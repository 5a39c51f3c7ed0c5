"""All spellings of a text, the tokenizer's own and all others: their probabilities, added up.

A model may write "t", "he" where the tokenizer makes "the". The number of such sequences grows exponentially with the
text, so they are followed up to a limit on the calls of the model: first the likeliest cover, then those that would be
the likeliest if they went on like it. The probability of those that weren't followed is the most that can be missing.
For a long text that may be nearly everything, since each of them might go on with certainty.

Cost: a call for each sequence of tokens inside the text that is followed.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from .._support.numpy_import import np
from ..core.tokenizer import Tokenizer
from .served import token_texts
from .weighing import Ids, Row, Weights, log_sum


class AllSpellings:
    """The tokens of a tokenizer by the bytes that they spell; special tokens spell none.

    >>> from bpelab import BPETokenizer
    >>> spellings = AllSpellings(BPETokenizer.train("low lower lowest " * 9, vocab_size=258))
    >>> list(spellings.inside(b"low")), spellings.ending(b"lo")
    ([(108, 1), (256, 2)], [256, 257])
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        served = token_texts(tokenizer)
        special = {token.id for token in tokenizer.spec.special_tokens.tokens if token.special}
        texts = sorted((text, token) for token, text in served.texts.items() if text and token not in special)
        self._prefix = served.prefix
        self._texts, self._ids = [text for text, _ in texts], [token for _, token in texts]
        self._longest = max(map(len, self._texts), default=0)
        self._sizes = {token: len(text) for token, text in served.texts.items()}

    def inside(self, rest: bytes) -> Iterator[tuple[int, int]]:
        """Yield the tokens that `rest` begins with, and their sizes; not those that are all of it."""
        for size in range(1, min(len(rest), self._longest + 1)):
            start = rest[:size]
            at = bisect_left(self._texts, start)
            while at < len(self._texts) and self._texts[at] == start:
                yield self._ids[at], size
                at += 1

    def ending(self, rest: bytes) -> list[int]:
        """Return the tokens that begin with `rest`."""
        at = end = bisect_left(self._texts, rest)
        while end < len(self._texts) and self._texts[end].startswith(rest):
            end += 1
        return self._ids[at:end]

    def weigh(self, row_of: Callable[[Ids], Row], data: bytes, likely: Ids, most: int) -> Weights:
        """Add up the probabilities of all sequences that spell a text that begins with `data`, under the key 0.

        Their last token is the first that reaches the end of the data. `likely` is one of them. `row_of` is called for
        at most `most` others, and for those with which `likely` begins.
        """
        whole, ahead = self._prefix + data, self._ahead(row_of, likely)
        found, waiting = Weights({0: []}), [(False, 0.0, -0.0, 0, Ids())]
        while waiting and most > 0:
            other, _, unlikely, end, ids = heappop(waiting)
            most -= other
            row, rest = row_of(ids), whole[end:]
            if last := self.ending(rest):
                found.terms[0].append(log_sum((row[np.array(last)] - unlikely).tolist()))
            for token, size in self.inside(rest):
                if row[token] > -np.inf:
                    longer, cost, at = (*ids, token), unlikely - float(row[token]), end + size
                    heappush(waiting, (longer != likely[: len(longer)], cost + ahead(at), cost, at, longer))
        found.unvisited = [-unlikely for _, _, unlikely, _, _ in waiting]
        return found

    def _ahead(self, row_of: Callable[[Ids], Row], likely: Ids) -> Callable[[int], float]:
        """Return how unlikely the rest of `likely` is after an offset, as a negative logarithm."""
        steps = [(self._sizes[token], -float(row_of(likely[:at])[token])) for at, token in enumerate(likely)]
        ends, unlikely = np.cumsum([(0, 0.0), *steps], axis=0).T
        if not np.isfinite(unlikely[-1]):
            return lambda end: 0.0
        return lambda end: float(unlikely[-1] - np.interp(end, ends, unlikely))
