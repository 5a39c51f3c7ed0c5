"""A model of bytes, made of a model of tokens: exact probabilities for a prompt that may end anywhere.

A model of tokens gives each token a probability, given those before it. The probability that its text begins with some
bytes is that of all their covers together, since every text that begins with them has exactly one (`covers.py`). The
probability of a byte after a prompt is the share of the texts that begin with both among those that begin with the
prompt; so nothing depends on how the prompt would be cut into tokens if it ended there.

A model may also produce ids that no text is encoded to. These spellings don't count here: there are too many to add
up, and a model is trained on encodings. What it gives to other spellings is shared among these.

Cost: a call of the model for each sequence of tokens inside the prompt with which two covers begin. Sources: those of
`covers.py`; Hayase et al. count encodings alone, too, and Vieira et al. all spellings.
"""

import math
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..core.tokenizer import Tokenizer
from ..errors import BackendError
from .covers import as_bytes, branches
from .weighing import Ids, Row, common_beginning, weigh

END = -1
"""Beside bytes, what can come next: the end of the text."""


@dataclass(frozen=True)
class NextBytes:
    """What comes after a prompt.

    Attributes:
        probabilities: of each byte that can be next; with `end` they add up to 1.
        end: the probability that the text ends.
        evaluations: how often the model was called. What it had been asked before was cached.
        missing: 0, or, if `max_evaluations` was reached, how much the probabilities may be wrong in all.
    """

    probabilities: dict[int, float]
    end: float
    evaluations: int
    missing: float


class ByteModel:
    """A model of tokens, asked about bytes.

    Args:
        logits: a function from ids to the logits of the next token, one for each id; log-probabilities are logits, too.
        tokenizer: the model's.
        before: ids before each text, such as a bos token, or a question.
        stop: ids that end a text.
        max_evaluations: the most calls of the model for one answer. The likeliest tokens are followed first.
        cache_size: the number of calls whose results are kept.

    >>> from bpelab import BPETokenizer
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> low = tokenizer.token_to_id("low")
    >>> def logits(ids):  # "low", whatever came before
    ...     return [0 if token == low else -9 for token in range(262)]
    >>> after = ByteModel(logits, tokenizer).next_bytes("lo")
    >>> max(after.probabilities, key=after.probabilities.get) == ord("w"), after.evaluations
    (True, 2)

    Raises as `BPETokenizer.covers` does for tokenizers that aren't served.
    """

    def __init__(
        self,
        logits: Callable[[list[int]], Sequence[float]],
        tokenizer: Tokenizer,
        *,
        before: Iterable[int] = (),
        stop: Iterable[int] = (),
        max_evaluations: int = 256,
        cache_size: int = 64,
    ) -> None:
        self.tokenizer, self.before, self.stop = tokenizer, list(before), frozenset(stop)
        self.max_evaluations, self._cache_size = max_evaluations, cache_size
        self._logits = logits
        self._largest_id = max(tokenizer.model.tokens)
        self._rows: OrderedDict[Ids, Row] = OrderedDict()
        self._evaluations = 0

    def next_bytes(self, prompt: str | bytes) -> NextBytes:
        """Return the probability of each next byte. Bytes may end inside a character.

        Raises ValueError for bytes that no text begins with, BackendError for logits that aren't numbers, or too few.
        """
        data, tokens = as_bytes(prompt), self.tokenizer.model.tokens
        wanted: dict[Ids, list[tuple[int, int]]] = {}
        for branch in branches(self.tokenizer, data, beyond=True):
            at = len(data) - branch.end
            wanted[branch.ids] = [(token, tokens[token][at]) for token in branch.last]
        if self.stop and (whole := _text(data)) is not None:
            ids = tuple(self.tokenizer.pipeline.ids(whole))
            wanted.setdefault(ids, []).extend((token, END) for token in self.stop)
        before = self._evaluations
        found = weigh(self._row, wanted, common_beginning(wanted), self.max_evaluations)
        shares = found.shares()
        end = shares.pop(END, 0.0)
        return NextBytes(dict(sorted(shares.items())), end, self._evaluations - before, found.missing)

    def _row(self, ids: Ids) -> Row:
        """Return the log-probabilities after ids, from the cache if possible."""
        row = self._rows.pop(ids, None)
        if row is None:
            self._evaluations += 1
            row = log_probabilities(self._logits([*self.before, *ids]))
            if len(row) <= self._largest_id:
                raise BackendError(f"the model returned {len(row):,} logits, too few for the id {self._largest_id:,}")
            if len(self._rows) >= self._cache_size > 0:
                self._rows.popitem(last=False)
        self._rows[ids] = row
        return row


def log_probabilities(logits: Sequence[float]) -> Row:
    """Return the logarithms of the probabilities: logits, made to add up to 1.

    >>> [round(math.exp(each), 2) for each in log_probabilities([1.0, 1.0, -math.inf, 2.0])]
    [0.21, 0.21, 0.0, 0.58]
    """
    row = array("d", logits)
    top = max(row)
    if not math.isfinite(top):
        raise BackendError(f"the model's largest logit is {top}, and has to be a number: its weights may be damaged")
    whole = top + math.log(math.fsum([math.exp(each - top) for each in row]))
    return array("d", [each - whole for each in row])


def _text(data: bytes) -> str | None:
    """Return the text that the bytes are, None if they end inside a character."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
