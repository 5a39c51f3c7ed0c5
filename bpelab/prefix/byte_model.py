"""A model of bytes, made of a model of tokens: exact probabilities for a prompt that may end anywhere.

A model of tokens gives each token a probability, given those before it. The probability that its text begins with some
bytes is that of all their covers together, since every text that begins with them has exactly one (`covers.py`). The
probability of a byte after a prompt is the share of the texts that begin with both among those that begin with the
prompt; so nothing depends on how the prompt would be cut into tokens if it ended there.

A model may also produce ids that are no text's encoding. These spellings count only in `probability`, if you ask for
them (`all_spellings.py`): there are too many to add up, and the model wasn't trained on them. Without them the
probabilities of all next bytes and of the end are made to add up to 1, once, after the prompt.

Cost: a call of the model for each sequence of tokens inside the prompt with which two covers begin. Sources: those of
`covers.py`, which says where they differ.
"""

from collections.abc import Iterable

from .._support.lazy_property import cached_property
from .._support.numpy_import import np
from .._support.validate import check_flags
from ..core.tokenizer import Tokenizer
from .all_spellings import AllSpellings
from .answers import CoverShares, NextBytes, TextProbability
from .covers import as_bytes, branches
from .model_calls import Logits, ModelCalls
from .valid_tokens import valid_tokens
from .weighing import Ids, Numbers, Weights, common_beginning, weigh

END = 256
"""Beside bytes, what can come next: the end of the text."""


class ByteModel:
    """A model of tokens, asked about bytes.

    Args:
        logits: a function from ids to the logits of the next token, one for each id; log-probabilities are logits, too.
        tokenizer: the model's.
        before: ids before each text, such as a bos token, or a question.
        stop: ids that end a text.
        max_evaluations: the most calls of the model for the covers of one text, after the ids that they all begin with.
            The likeliest tokens are followed first.
        cache_size: the number of calls whose results are kept.

    Attributes:
        calls: the model's calls so far, and the results that are kept.

    >>> from bpelab import BPETokenizer
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> low = tokenizer.token_to_id("low")
    >>> def logits(ids):  # "low", whatever came before
    ...     return [0 if token == low else -9 for token in range(262)]
    >>> after = ByteModel(logits, tokenizer).next_bytes("lo")
    >>> max(after.probabilities, key=after.probabilities.get) == ord("w"), after.evaluations
    (True, 2)

    It needs NumPy. One thread at a time may ask it. Its methods raise as `BPETokenizer.covers` does, and BackendError
    for logits that aren't numbers, or too few.
    """

    def __init__(
        self,
        logits: Logits,
        tokenizer: Tokenizer,
        *,
        before: Iterable[int] = (),
        stop: Iterable[int] = (),
        max_evaluations: int = 256,
        cache_size: int = 64,
    ) -> None:
        self.tokenizer, self.before, self.stop = tokenizer, list(before), frozenset(stop)
        self.max_evaluations = max_evaluations
        self.calls = ModelCalls(logits, self.before, max(tokenizer.model.tokens), cache_size)

    def next_bytes(self, prompt: str | bytes) -> NextBytes:
        """Return the probability of each next byte. Bytes may end inside a character."""
        data, last, before = as_bytes(prompt), valid_tokens(self.tokenizer).arrays, self.calls.count
        wanted: dict[Ids, tuple[Numbers, Numbers]] = {}
        for branch in branches(self.tokenizer, data, beyond=True, arrays=True):
            tokens = np.asarray(branch.beyond)
            wanted[branch.ids] = tokens, last.bytes_at(tokens, len(data) - branch.end)
        if self.stop and (whole := self._encoded(data)) is not None:
            tokens, bytes_after = wanted.get(whole, (np.empty(0, np.int64), np.empty(0, np.int64)))
            ends = np.array(sorted(self.stop), np.int64)
            wanted[whole] = np.append(tokens, ends), np.append(bytes_after, np.full(len(ends), END))
        found = weigh(self.calls.row, wanted, common_beginning(wanted), self.max_evaluations)
        shares = found.shares()
        end = shares.pop(END, 0.0)
        return NextBytes(dict(sorted(shares.items())), end, self.calls.count - before, found.missing)

    def next_characters(self, prompt: str | bytes, least: float = 0.01) -> dict[str, float]:
        """Return the next characters whose probability is at least `least`, the likeliest first.

        After bytes that end inside a character, that is the character which they begin. Cost: that of `next_bytes`,
        once for the prompt and once for each first byte, or first bytes, of a character that are as probable.

        >>> from bpelab.chat import ChatSession
        >>> list(ChatSession().byte_model("What is a token?").next_characters("A toke", 0.5))
        ['n']
        """
        data = as_bytes(prompt)
        inside = data[len(data.decode(errors="ignore").encode()) :]
        found: dict[str, float] = {}
        waiting = [(1.0, inside)]
        for share, begun in waiting:
            for byte, likely in self.next_bytes(data + begun[len(inside) :]).probabilities.items():
                longer, probability = begun + bytes([byte]), share * likely
                if probability < least:
                    continue
                char = longer.decode(errors="ignore")
                if char:
                    found[char] = probability
                else:
                    waiting.append((probability, longer))
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def covers(self, prompt: str | bytes) -> CoverShares:
        """Return the covers of a prompt, the likeliest first, each with its share in the probability of all.

        Cost: a call for each sequence of tokens inside the prompt with which covers begin.

        >>> from bpelab import BPETokenizer
        >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
        >>> for cover, share in ByteModel(lambda ids: [0.0] * 262, tokenizer).covers("slo").shares.items():
        ...     print(tokenizer.convert_ids_to_tokens(cover), round(share, 3))
        [b's', b'lo'] 0.5
        [b's', b'low'] 0.5
        """
        data, before = as_bytes(prompt), self.calls.count
        if not data:
            return CoverShares({(): 1.0}, 0, 0.0)
        covers, _, found = self._weigh_covers(data)
        likeliest = sorted(found.shares().items(), key=lambda item: -item[1])
        shares = {covers[number]: share for number, share in likeliest}
        return CoverShares(shares, self.calls.count - before, found.missing)

    def probability(self, text: str | bytes, *, spellings: bool = False) -> TextProbability:
        """Return how probable it is that the model's text begins with this one, and how probable its own ids are.

        With `spellings`, all sequences of tokens that spell it are added up, too, with calls for up to
        `max_evaluations` of those that aren't the beginning of its likeliest cover. Cost without them: a call for each
        token.

        >>> import math
        >>> from bpelab import BPETokenizer
        >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=258)
        >>> found = ByteModel(lambda ids: [0.0] * 258, tokenizer).probability("lo", spellings=True)
        >>> [
        ...     round(math.exp(each) * 258, 3) for each in (found.log_covers, found.log_spellings)
        ... ]  # `lo`, `low`; `l`, `o`
        [2.0, 2.004]
        """
        check_flags(spellings=spellings)
        data, before = as_bytes(text), self.calls.count
        if not data:
            return TextProbability(0.0, 0.0, 0, 0.0, *((0.0, 0.0) if spellings else ()))
        covers, root, found = self._weigh_covers(data)
        log_covers = found.log_total + self.calls.log_probability(root)
        ids = self._encoded(data)
        log_canonical = None if ids is None else self.calls.log_probability(ids)
        every = None
        if spellings:
            shares = found.shares()
            likely = covers[max(shares, key=shares.__getitem__)] if shares else ()
            every = self._all_spellings.weigh(self.calls.row, data, likely, self.max_evaluations)
        return TextProbability(
            log_covers,
            log_canonical,
            self.calls.count - before,
            found.missing,
            *(() if every is None else (every.log_total, every.missing)),
        )

    @cached_property
    def _all_spellings(self) -> AllSpellings:
        return AllSpellings(self.tokenizer)

    def _weigh_covers(self, data: bytes) -> tuple[list[Ids], Ids, Weights]:
        """Return the covers, the ids that all begin with, and their weights after these, by the cover's number."""
        covers = list[Ids]()
        wanted: dict[Ids, tuple[Numbers, Numbers]] = {}
        for branch in branches(self.tokenizer, data, arrays=True):
            tokens = np.append(np.array(branch.ending, np.int64), branch.beyond)
            wanted[branch.ids] = tokens, np.arange(len(covers), len(covers) + len(tokens))
            covers += [(*branch.ids, token) for token in tokens.tolist()]
        root = common_beginning(wanted)
        return covers, root, weigh(self.calls.row, wanted, root, self.max_evaluations)

    def _encoded(self, data: bytes) -> Ids | None:
        """Return the ids of a text that ends here; None inside a character."""
        try:
            return tuple(self.tokenizer.pipeline.ids(data.decode()))
        except UnicodeDecodeError:
            return None
