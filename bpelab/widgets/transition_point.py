"""A slider over SuperBPE's transition point: token counts, words per token, a tokenized text. Chapter: Superwords."""

from collections.abc import Mapping
from html import escape
from typing import Any

from ..errors import BPELabError
from ..pretokenizers.split import Split
from ..tokenizer import BPETokenizer
from .base import Figure
from .trained_data import own_tokenizers
from .visible import chips, html_table, pluralize, visible


class TransitionPoint(Figure):
    """A slider over transition points, each with a tokenizer that was trained with it.

    `tokenizers` maps transition points, in tokens, to tokenizers of one size. For each: how many tokens `measured`
    takes, how many of its words a token has on average, and the tokens of `text`, with its superwords marked. Those are
    the tokens that `pattern`, which splits words, would cut; words are separated by white space. Shows 400 characters.

    >>> corpus = "one of the best, some of the rest, all of the cats"
    >>> late = {261: BPETokenizer.train(corpus, 261), 260: BPETokenizer.train(corpus, 261, superwords="superbpe")}
    >>> print(TransitionPoint(late, "of the", measured=corpus).data["says"][1])
    Words until 261 of 261 tokens, so no superwords: 35 tokens for the measured text, 0.34 words each. Below: 3 tokens.

    Raises BPELabError without tokenizers, without words to measure, or if the tokenizers differ in size.
    """

    name = "transition_point"
    limit = 400

    def __init__(
        self, tokenizers: Mapping[int, BPETokenizer], text: str, *, measured: str, pattern: str = "cl100k"
    ) -> None:
        sizes = {tokenizer.n_vocab for tokenizer in tokenizers.values()}
        if len(sizes) != 1:
            raise BPELabError(f"give one or more tokenizers, all of the same size; their sizes are {sorted(sizes)}")
        if not measured.split():
            raise BPELabError("there are no words to measure: `measured` is empty")
        (self._size,), self._split = sizes, Split(pattern)
        self._tokenizers = dict(sorted(tokenizers.items()))
        self._beyond = [
            {token for token in tokenizer.model.tokens.values() if self._goes_beyond(token)}
            for tokenizer in self._tokenizers.values()
        ]
        self._counts = [tokenizer.count_tokens(measured) for tokenizer in self._tokenizers.values()]
        self._words = len(measured.split())
        self._begins = [
            self._begin(point, len(beyond), count)
            for point, beyond, count in zip(self._tokenizers, self._beyond, self._counts)
        ]
        super().__init__(text)

    def _goes_beyond(self, token: bytes) -> bool:
        text = token.decode("utf-8", "ignore")
        return text.encode() == token and len(self._split.split(text)) > 1

    def compute(self, text: str) -> dict[str, Any]:
        """Return the counts, and the tokens of the text at each transition point as indices into the labels."""
        cuts = [
            tokenizer.convert_ids_to_tokens(tokenizer.encode_ordinary(text)) for tokenizer in self._tokenizers.values()
        ]
        number = {token: index for index, token in enumerate(dict.fromkeys(token for cut in cuts for token in cut))}
        says = [
            f"{'' if cut else 'No text to cut. '}{begin}{pluralize(len(cut), 'token')}."
            for begin, cut in zip(self._begins, cuts)
        ]
        return {
            "points": [f"{point:,}" for point in self._tokenizers],
            "at": [point / self._size for point in self._tokenizers],
            "counts": self._counts,
            "labels": [visible(token) for token in number],
            "cuts": [[number[token] for token in cut] for cut in cuts],
            "beyond": [[number[token] for token in number if token in beyond] for beyond in self._beyond],
            "says": says,
            "say": says[-1],
        }

    def for_own_text(self) -> dict[str, Any] | None:
        """Return the tokenizers, the ids of their superwords, and what is said of each before the text's tokens."""
        own = own_tokenizers(self._tokenizers.values())
        beyond = [
            sorted(tokenizer.model.ids[token] for token in tokens)
            for tokenizer, tokens in zip(self._tokenizers.values(), self._beyond)
        ]
        return own and {**own, "beyond": beyond, "begins": self._begins}

    def _begin(self, point: int, beyond: int, count: int) -> str:
        made = f"then {pluralize(beyond, 'superword')}" if beyond else "so no superwords"
        return (
            f"Words until {point:,} of {self._size:,} tokens, {made}: "
            f"{pluralize(count, 'token')} for the measured text, {self._words / count:.2f} words each. Below: "
        )

    def still(self, data: dict[str, Any]) -> str:
        """Return a table of all transition points, and the text's tokens at the first of them."""
        rows = (
            (point, f"{len(beyond):,}", f"{count:,}", f"{self._words / count:.2f}")
            for point, beyond, count in zip(data["points"], self._beyond, self._counts)
        )
        table = html_table(("words until", "superwords", "tokens", "words per token"), rows)
        first = next(iter(self._tokenizers.values()))
        cut = chips(first.convert_ids_to_tokens(first.encode_ordinary(self.text)))
        return f"{table}\n<p>{escape(data['say'])}</p>\n<p>At {data['points'][0]}: {cut}</p>"
