"""Superwords, learned incrementally: the merges of the textbooks, `superbpe.py` and `boundless.py`, for long texts.

Two facts make the second stage affordable, and neither changes a merge.

- *Rare neighbours never merge*, so that long texts come to short parts that repeat (`continuation.py`).
- *Counts fall.* Merges inside words are learned in the order of their counts, and so are superwords. A pre-token is one
  token before its merge is rarer than any pair that it is in. So the competition of BoundlessBPE is that of two sorted
  lists, each learned by itself.

Chapter: Superwords. Cost: encoding the corpus twice, then O(places that change). Memory: the distinct pairs of tokens,
and the distinct parts between rare ones.
Source: counting candidates by frequency is from Tanner, Schmidt and Pinter 2026; their greedy split is approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from ..core.pipeline import Pipeline
from ..core.spec import TokenizerSpec
from ..model.bpe import BPEModel
from ..pretokenizers.split import Split
from .boundless import whole_runs
from .continuation import learn_on
from .superbpe import LearnedMerge, TwoStages, named_merges
from .superwords import Superwords

Texts = Callable[[], Iterable[str]]
"""Returns the texts of a corpus, document by document, each time that it is called."""
AT_ONCE = 1 << 12
"""Pieces that are encoded in one call."""


def learn_superwords(
    texts: Texts,
    model: BPEModel,
    words: Split | None,
    num_merges: int,
    superwords: Superwords,
    min_frequency: int = 2,
    *,
    least: int | None = None,
) -> Iterator[LearnedMerge]:
    """Yield the superwords to add to a model of words, most frequent first, no more than `num_merges`.

    `words` is what cuts text for the model, which "boundless" asks for. `least` is a count that nothing learned is
    below, where it is known.

    >>> model = BPEModel.from_merges([(b" ", b"o"), (b" o", b"f"), (b" ", b"t")])
    >>> found = learn_superwords(lambda: ["all of them, most of that"], model, None, 2, Superwords())
    >>> [merge.left + merge.right for merge in found]
    [b' of t', b' of th']
    """
    ids = sorted(model.tokens)
    number, tokens = {token_id: index for index, token_id in enumerate(ids)}, [model.tokens[token] for token in ids]

    def sequences() -> Iterator[Sequence[int]]:
        if superwords.method == "boundless":
            found = _whole_words(texts(), model, words or Split("cl100k"), superwords.split)
        else:
            found = _encoded_pieces(texts(), model, superwords.split)
        return ([number[token_id] for token_id in sequence] for sequence in found)

    steps = learn_on(lambda: [(1, sequences())], tokens, num_merges, min_frequency, superwords.allows, least=least)
    yield from named_merges(steps, tokens)


def compete(words: list[LearnedMerge], beyond: Iterable[LearnedMerge], num_merges: int) -> TwoStages:
    """Return the most frequent merges of both lists; of equal counts those of words go first.

    >>> words = [LearnedMerge(b"a", b"b", 9), LearnedMerge(b"ab", b"c", 3)]
    >>> compete(words, [LearnedMerge(b"x", b" y", 3), LearnedMerge(b"x y", b" z", 2)], 3)[1][0].left
    b'x'
    """
    stages = TwoStages([], [])
    left = iter(words)
    word = next(left, None)
    for merge in chain(beyond, [None]):
        while word is not None and len(stages.words) + len(stages.superwords) < num_merges:
            if merge is not None and merge.frequency > word.frequency:
                break
            stages.words.append(word)
            word = next(left, None)
        if merge is None or len(stages.words) + len(stages.superwords) >= num_merges:
            break
        stages.superwords.append(merge)
    return stages


def _encoded_pieces(texts: Iterable[str], model: BPEModel, split: Split) -> Iterator[list[int]]:
    """Yield the ids of each piece: of the piece as it is, which by itself might be cut otherwise."""
    pipeline = Pipeline(TokenizerSpec(model, pattern=None), "auto", 0)
    pieces = (piece for text in texts for piece in split.split(text))
    while batch := list(islice(pieces, AT_ONCE)):
        yield from pipeline.lists(batch)


def _whole_words(texts: Iterable[str], model: BPEModel, words: Split, beyond: Split) -> Iterator[list[int]]:
    """Yield the ids of neighbouring pre-tokens that are one token each."""
    pipeline = Pipeline(TokenizerSpec(model, pattern=None), "auto", 0)
    known: dict[str, int | None] = {}
    for text in texts:
        for run in whole_runs(text, words, beyond):
            part: list[int] = []
            for piece in run:
                if piece not in known:
                    ids = pipeline.ids(piece)
                    known[piece] = ids[0] if len(ids) == 1 else None
                token = known[piece]
                if token is not None:
                    part.append(token)
                elif part:
                    yield part
                    part = []
            if part:
                yield part
