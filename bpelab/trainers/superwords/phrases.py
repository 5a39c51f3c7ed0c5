"""The phrases of a corpus, for continued training: counted in this process, on its threads, or on a cluster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...model.bpe import BPEModel
from ...pretokenizers.split import Split
from ..continue_training import Phrases
from ..counting.local import LocalCorpus
from .python_phrases import PythonPhrases
from .settings import Superwords

if TYPE_CHECKING:
    from ..counting.distributed import ClusterCorpus


def phrases_of(
    corpus: LocalCorpus | ClusterCorpus, model: BPEModel, superwords: Superwords, native: bool
) -> Phrases[Superwords]:
    """Return a corpus as sequences of a model's tokens; with `native`, a corpus in this process is counted in C."""
    if not isinstance(corpus, LocalCorpus):
        from .distributed_phrases import DistributedPhrases

        return DistributedPhrases(lambda job, what: corpus.run(job, what=what), corpus.job, model, superwords)
    whole = corpus.split or Split("cl100k") if superwords.method == "boundless" else None
    texts = partial(corpus.texts, superwords.split, "phrases", whole)
    if not native:
        return PythonPhrases(texts, model, corpus.split, superwords)
    from .native_phrases import NativePhrases

    return NativePhrases(texts, model, corpus.split, superwords, corpus.max_memory)
