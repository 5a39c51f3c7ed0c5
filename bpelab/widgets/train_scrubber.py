"""Training on a small corpus, step by step: pair counts, the winner, the vocabulary, the text. Chapter: Training."""

from collections import Counter
from html import escape
from itertools import islice
from typing import Any

from .._support.textio import utf8
from ..errors import TrainingError
from ..model.trace import TrainStep, trace_train
from ..pretokenizers.split import Split
from ..trainers.incremental import train_incremental
from ..trainers.naive import replace_pair
from .base import Figure
from .visible import chips, labels, pluralize, quoted

MAX_MERGES = 60
MAX_BARS = 8


class TrainScrubber(Figure):
    """The training of `num_merges` merges on `text`, with a slider over the steps.

    At each step: the counts of the most frequent pairs, of which the first is merged next, the tokens learned so far,
    and the text as they cut it. Shows 2,000 characters and 60 merges; a pair must occur twice to be merged, as in
    `BPETokenizer.train`. The counts are those that the trainer reports (`trace_train`).

    >>> scrubber = TrainScrubber("low low lower", 2)
    >>> scrubber.data["sizes"], [step["token"] for step in scrubber.data["steps"]]
    ([13, 10, 7], [256, 257])
    >>> scrubber.data["say"]
    'After 2 merges: 13 bytes are 7 tokens, 1.86 bytes per token. The newest token is “low”.'

    Raises TrainingError for a number of merges below 1, PatternError for an invalid pattern.
    """

    name = "train_scrubber"
    limit = 2000

    def __init__(self, text: str, num_merges: int = 30, pattern: str | None = "cl100k") -> None:
        if num_merges < 1:
            raise TrainingError(f"num_merges must be at least 1, not {num_merges}")
        self._merges = min(num_merges, MAX_MERGES)
        self._split = None if pattern is None else Split(pattern)
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the steps; the words of the text, with cuts as [from step, tokens], and their order; sizes by step."""
        pieces = [utf8(piece) for piece in (self._split.split(text) if self._split else [text] if text else [])]
        counts = Counter(pieces)
        # One step more than there are merges: it has the final counts.
        trace = list(islice(trace_train(train_incremental, counts, self._merges + 1), self._merges + 1))
        tokens = {byte: bytes([byte]) for byte in range(256)}
        history: dict[bytes, list[Any]] = {word: [[0, list(word)]] for word in counts}
        sizes = [sum(map(len, pieces))]
        steps: list[dict[str, Any]] = []
        for index, step in enumerate(trace[: self._merges]):
            new = 256 + index
            tokens[new] = step.token
            size = sizes[-1]
            for word, cuts in history.items():
                ids = replace_pair(cuts[-1][1], (step.left, step.right), new)
                if len(ids) < len(cuts[-1][1]):
                    size -= (len(cuts[-1][1]) - len(ids)) * counts[word]
                    cuts.append([index + 1, ids])
            sizes.append(size)
            steps.append({"pair": [step.left, step.right], "count": step.count, "token": new})
        bars = [_top_pairs(step) for step in trace]
        words = {word: index for index, word in enumerate(counts)}
        shown = {token for cuts in history.values() for _, ids in cuts for token in ids}
        shown |= {token for top in bars for left, right, _ in top for token in (left, right)}
        data: dict[str, Any] = {
            "words": list(history.values()),
            "order": [words[piece] for piece in pieces],
            "sizes": sizes,
            "steps": steps,
            "bars": bars,
            "labels": labels(tokens, shown | {step["token"] for step in steps}),
            "ended": len(steps) < self._merges,
        }
        data["says"] = [self._sentence(index, data, tokens) for index in range(len(sizes))]
        return {**data, "say": data["says"][-1]}

    def _sentence(self, merges: int, data: dict[str, Any], tokens: dict[int, bytes]) -> str:
        sizes, steps = data["sizes"], data["steps"]
        if not sizes[0]:
            return "No text, so nothing to learn from."
        size = f"{pluralize(sizes[0], 'byte')} {'is' if sizes[0] == 1 else 'are'} {pluralize(sizes[merges], 'token')}"
        say = f"After {pluralize(merges, 'merge')}: {size}, {sizes[0] / sizes[merges]:.2f} bytes per token."
        if merges:
            say += f" The newest token is {quoted(tokens[steps[merges - 1]['token']])}."
        if merges < len(steps):
            left, right = (quoted(tokens[token]) for token in steps[merges]["pair"])
            say += f" Next: {left} + {right}, {pluralize(steps[merges]['count'], 'time')}."
        elif data["ended"]:
            say += " No pair occurs twice any more, so training ends here."
        return say

    def still(self, data: dict[str, Any]) -> str:
        """Return the sentence, the tokens learned and the text as they cut it."""
        tokens = {byte: bytes([byte]) for byte in range(256)}
        for step in data["steps"]:
            tokens[step["token"]] = tokens[step["pair"][0]] + tokens[step["pair"][1]]
        learned = chips(tokens[step["token"]] for step in data["steps"])
        text = chips(tokens[token] for word in data["order"] for token in data["words"][word][-1][1])
        return f"<p>{escape(data['say'])}</p>\n<p>Learned, first to last: {learned}</p>\n<p>{text}</p>"


def _top_pairs(step: TrainStep) -> list[list[int]]:
    """Return the most frequent pairs as [left, right, count], with ties in the trainer's order."""
    counts = step.counts or {}
    return [[*pair, counts[pair]] for pair in sorted(counts, key=lambda pair: (-counts[pair], pair))[:MAX_BARS]]
