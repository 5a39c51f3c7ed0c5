"""Count a corpus's pre-tokens as a tokenizer cuts them, and encode each distinct one once.

Added tokens are cut out, the text between them is normalized, and the pre-tokenizer cuts it, as `encode` does with all
special tokens allowed. If the pre-tokenizer is a pattern, C counts (`native.py`); otherwise Python does.

Chapter: New words for an old model. Cost: linear in the corpus. Memory: the distinct pre-tokens, which are sentences
for tokenizers that leave words together.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from ... import native as core
from ..._support.progress import progress_bar
from ..._support.textio import utf8_size
from ...boundaries.named_patterns import BoundaryKind
from ...core.pipeline import Pipeline
from ...core.spec import TokenizerSpec
from ...errors import TrainingError
from ...normalizers import UnicodeNormalizer
from .corpus import Corpus, document_parts, documents
from .local import corpus_size
from .native import count_native

AT_ONCE = 1 << 12
"""The number of pre-tokens encoded per call."""


def count_by_tokenizer(
    spec: TokenizerSpec,
    corpus: Corpus,
    *,
    input_format: str | None = None,
    field: str = "text",
    progress: bool | None = None,
) -> Mapping[str, int]:
    """Return the number of occurrences of each pre-token.

    >>> from bpelab.model import BPEModel
    >>> counts = count_by_tokenizer(TokenizerSpec(BPEModel.from_merges([]), pattern="gpt2"), "to be or not to be")
    >>> sorted(counts.items())
    [(' be', 2), (' not', 1), (' or', 1), (' to', 1), ('to', 1)]

    Raises TrainingError for an empty corpus, and the errors of `count_pre_tokens`.
    """
    pipeline = Pipeline(spec, "auto", 0)
    split = pipeline.split
    in_parts = split is not None and split.cuts_words and isinstance(spec.normalizer, (UnicodeNormalizer, type(None)))
    kind = BoundaryKind.WORDS if in_parts else BoundaryKind.NONE
    special, counts = spec.special_tokens, Counter[str]()
    with progress_bar(progress, corpus_size(corpus, input_format), "reading", "B") as advance:

        def segments() -> Iterator[tuple[str, int]]:
            for document in documents(corpus):
                for text in document_parts(document, kind, special, input_format, field):
                    for segment, token_id, first in pipeline.segments(text, special.special_names):
                        if token_id is None:
                            yield segment, first
                    advance(utf8_size(text))

        if split is not None and core.extension() is not None:
            table = count_native((segment for segment, _ in segments()), split)
            counts = Counter({pre_token.decode(): count for pre_token, count in table.as_dict().items()})
        else:
            for segment, first in segments():
                counts.update(pipeline.pre_tokenize(segment, first))
    if not counts:
        raise TrainingError("the corpus is empty: there is no text to count pre-tokens in")
    return counts


def pre_token_encoder(spec: TokenizerSpec) -> Callable[[Iterable[str]], Iterator[list[int]]]:
    """Return a function that yields the ids of each pre-token, encoded on its own and without cutting it again.

    >>> from bpelab.model import BPEModel
    >>> encode = pre_token_encoder(TokenizerSpec(BPEModel.from_merges([(b"l", b"o")])))
    >>> list(encode(["lo", "low"]))
    [[256], [256, 119]]
    """
    pre_tokenizer = spec.pre_tokenizer
    if pre_tokenizer is not None and (
        pre_tokenizer.emits_byte_alphabet or (pre_tokenizer.byte_level and not spec.is_byte_level)
    ):  # pre-tokens or tokens are in the byte alphabet
        full = Pipeline(spec, "auto", 0)
        return lambda pre_tokens: (full.encode_pieces([pre_token]) for pre_token in pre_tokens)
    bare = Pipeline(TokenizerSpec(spec.model), "auto", 0)
    return lambda pre_tokens: encode_in_batches(bare, pre_tokens, threads=1)


def encode_in_batches(pipeline: Pipeline, pre_tokens: Iterable[str], threads: int | None = None) -> Iterator[list[int]]:
    """Yield the ids of each pre-token, encoding `AT_ONCE` of them per call."""
    rest = iter(pre_tokens)
    while batch := list(islice(rest, AT_ONCE)):
        yield from pipeline.lists(batch, threads=threads)
