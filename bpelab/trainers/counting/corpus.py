"""Count the pre-tokens of a corpus, the input of every trainer.

A corpus is a text (`str`), a file (`pathlib.Path`), or an iterable of either. Each text, each text file and each record
of JSON Lines or Parquet is one document; no pre-token crosses the end of one. Text is read in blocks of a megabyte and
cut only at boundaries (`boundaries/named_patterns.py`), so the counts don't depend on the size of the blocks. For other
patterns no boundaries are known, so the file is read whole.

Cost: linear. Memory: the distinct pre-tokens and one block.
"""

import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ..._support.textio import decode_blocks, names_file, utf8_counts, utf8_size
from ..._support.validate import refuse_keyed
from ...boundaries.named_patterns import LOOKAHEAD, BoundaryKind, last_boundary
from ...corpus.file_formats import detect_format
from ...errors import TrainingError
from ...pretokenizers.split import Split
from ...vocab.special_tokens import SpecialTokens

Corpus = str | Path | Iterable[str] | Iterable[Path]
BLOCK = 1 << 20
SAMPLE = 1 << 16
"""The number of characters at the start of a corpus in which a pattern's matches are counted."""
MIN_SEEN = 1_000
"""The fewest characters for which a pattern that hardly matches causes a warning."""
MIN_MATCHED = 0.01
"""The share of these characters that a pattern must match to avoid a warning."""
CHECKED_ITEMS = 100
"""How many texts of an iterable are checked for file names: a caller who passes names does so from the first item."""


class PatternMatchesLittle(UserWarning):
    """The pattern matches almost nothing in the corpus, so whole texts become pre-tokens."""


def not_utf8(path: Path, at: int, reason: str) -> TrainingError:
    """Return the error for a file with a byte that isn't UTF-8."""
    return TrainingError(f"{path} is not UTF-8: {reason} at byte {at:,}; convert the file first")


def _file_blocks(path: Path, whole: bool) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            yield from decode_blocks(iter(lambda: file.read(-1 if whole else BLOCK), b""), partial(not_utf8, path))
    except OSError as error:
        raise TrainingError(f"{path} can't be read: {error.strerror}") from error


def document_parts(
    document: str | Path, kind: BoundaryKind, special: SpecialTokens, form: str | None = None, field: str = "text"
) -> Iterator[str]:
    """Yield a document, or the documents in a file, cut at boundaries into parts of about a block.

    `form` and `field` are `input_format` and `field` of `encode_files`; a file is text unless its name says otherwise.
    """
    if isinstance(document, Path) and (pending := detect_format(str(document), form) or "text") != "text":
        from ...corpus.inputs import stat_input
        from .partition import Part, texts_of

        yield from texts_of(Part(stat_input(str(document), pending), None, 0), field, kind, special)
        return
    if isinstance(document, Path) and form is None:
        refuse_json_lines(document)
    if isinstance(document, str) and (kind is BoundaryKind.NONE or len(document) <= BLOCK):
        yield document
        return
    blocks = (
        _file_blocks(document, kind is BoundaryKind.NONE)
        if isinstance(document, Path)
        else (document[start : start + BLOCK] for start in range(0, len(document), BLOCK))
    )
    yield from blocks_at_boundaries(blocks, kind, special)


def refuse_json_lines(path: Path) -> None:
    """Raise TrainingError for a .json file whose first two lines are JSON objects, since it would be read as text."""
    if path.suffix.lower() != ".json":
        return
    lines: list[object] = []
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        lines = [json.loads(file.readline(BLOCK)) for _ in range(2)]
    if lines and all(isinstance(line, dict) for line in lines):
        raise TrainingError(
            f"{path} holds JSON Lines, and its name doesn't say so: pass input_format='jsonl' to learn from one field "
            "of each, or input_format='text' to learn from the file as it is"
        )


def blocks_at_boundaries(blocks: Iterable[str], kind: BoundaryKind, special: SpecialTokens) -> Iterator[str]:
    """Yield the text of some blocks in parts that end at boundaries. Cost: linear, however rare boundaries are."""
    searched: list[str] = []  # text without a boundary, or with one inside a special token
    text, known = "", 0  # text that may have a boundary after its first `known` characters
    for block in blocks:
        text += block
        settled = len(text) - special.longest
        end = 0 if kind is BoundaryKind.NONE else last_boundary(text, settled, kind)
        if end > known and not special.may_cross(text, end):
            yield "".join([*searched, text[:end]])
            searched, text, known = [], text[end:], 0
        else:
            begin = max(0, settled - special.longest - LOOKAHEAD)
            searched.append(text[:begin])
            text, known = text[begin:], max(0, settled - begin - 1)
    yield "".join([*searched, text])


def documents(corpus: Corpus) -> Iterator[str | Path]:
    """Yield the texts and files of a corpus, one by one.

    Raises TypeError for anything else, for texts mixed with files, and for a text that is the name of a file: the
    caller meant the file, and training on its name would go unnoticed.
    """
    if isinstance(corpus, (str, Path)):
        _refuse_name(corpus, "the corpus")
        yield corpus
        return
    if isinstance(corpus, (bytes, bytearray)) or not isinstance(corpus, Iterable):
        raise TypeError(f"a corpus is a str, a pathlib.Path, or an iterable of either, not {type(corpus).__name__}")
    refuse_keyed(corpus, "the corpus")
    kind: type | None = None
    for index, item in enumerate(corpus):
        found = str if isinstance(item, str) else Path if isinstance(item, Path) else None
        if found is None or (kind is not None and found is not kind):
            raise TypeError(
                f"item {index} of the corpus is a {type(item).__name__}; the items must be all str (texts) or all "
                "pathlib.Path (files)"
            )
        kind = found
        if index < CHECKED_ITEMS:
            _refuse_name(item, f"item {index} of the corpus")
        yield item  # type: ignore[misc]


def _refuse_name(text: object, what: str) -> None:
    if isinstance(text, str) and names_file(text):
        raise TypeError(
            f"{what} is the text {text!r}, which is the name of a file: pass Path({text!r}) to learn from what it holds"
        )


@contextmanager
def rereadable(corpus: Corpus) -> Iterator[Corpus]:
    """Yield a corpus that can be read repeatedly; an iterator is copied to a temporary file on the first read.

    >>> with rereadable(word for word in ["low", "lower"]) as again:
    ...     list(again), list(again)
    (['low', 'lower'], ['low', 'lower'])
    """
    if not isinstance(corpus, Iterator):
        yield corpus
        return
    first = next(documents(corpus), None)
    rest: Iterable[Any] = chain([] if first is None else [first], corpus)
    if not isinstance(first, str):
        yield list(rest)
        return
    with tempfile.TemporaryFile("w+", encoding="ascii") as file:
        yield SpooledTexts(rest, file)


class SpooledTexts:
    """The texts of an iterator, copied to a file during the first read."""

    def __init__(self, texts: Iterable[str], file: IO[str]) -> None:
        self._rest: Iterator[str] | None = iter(texts)
        self._file, self._complete = file, False

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts. Raises RuntimeError if a second read starts before the first has ended."""
        rest, self._rest = self._rest, None
        if rest is not None:
            for text in rest:
                if isinstance(text, str):
                    json.dump(text, self._file)
                    self._file.write("\n")
                yield text
            self._complete = True
        elif not self._complete:
            raise RuntimeError("the corpus is being read already")
        else:
            self._file.seek(0)
            yield from map(json.loads, self._file)


def training_texts(
    corpus: Corpus,
    pre_tokenizer: Split | None,
    special: SpecialTokens,
    normalize: Callable[[str], str] | None = None,
    advance: Callable[[int], object] = lambda size: None,
    form: str | None = None,
    field: str = "text",
    whole: Split | None = None,
) -> Iterator[str]:
    """Yield the texts to pre-tokenize separately: normalized, at most about a block long, without special tokens.

    `whole` is a second pattern whose pieces must stay whole. The other arguments and the errors are those of
    `count_pre_tokens`. May warn with PatternMatchesLittle at the end.
    """
    kind = boundary_kind_for(pre_tokenizer, whole or pre_tokenizer)
    seen = matched = 0
    for document in documents(corpus):
        for text in document_parts(document, kind, special, form, field):
            for ordinary in strip_special(text, special, normalize):
                if pre_tokenizer is not None and pre_tokenizer.name is None and seen < SAMPLE:
                    seen, matched = (
                        seen + len(ordinary),
                        matched + pre_tokenizer.covered(ordinary[: SAMPLE - seen]),
                    )
                yield ordinary
            advance(utf8_size(text))
    if seen >= MIN_SEEN and matched < MIN_MATCHED * min(seen, SAMPLE):
        warnings.warn(
            f"the pattern {pre_tokenizer and pre_tokenizer.pattern!r} matches {matched:,} of the first "
            f"{min(seen, SAMPLE):,} characters: the text between two matches is one piece, however long, so almost "
            "nothing was cut",
            PatternMatchesLittle,
            stacklevel=2,
        )


def boundary_kind_for(*splits: Split | None) -> BoundaryKind:
    """Return where a document may be cut before it is split by these patterns; nowhere for unnamed ones.

    >>> boundary_kind_for(Split("gpt2")), boundary_kind_for(Split("gpt2"), Split("superbpe"))
    (<BoundaryKind.WORDS: 'words'>, <BoundaryKind.PHRASES: 'phrases'>)
    >>> boundary_kind_for(Split("-"))
    <BoundaryKind.NONE: 'none'>
    """
    known = [split for split in splits if split is not None and (split.cuts_words or split.name == "superbpe")]
    if len(known) < len(splits):
        return BoundaryKind.NONE
    return BoundaryKind.WORDS if all(split.cuts_words for split in known) else BoundaryKind.PHRASES


def strip_special(text: str, special: SpecialTokens, normalize: Callable[[str], str] | None) -> Iterator[str]:
    """Yield the text between special tokens, normalized."""
    for ordinary, special_id in special.split(text, special.special_names):
        if special_id is None:
            yield normalize(ordinary) if normalize else ordinary


def count_pre_tokens(
    corpus: Corpus,
    pre_tokenizer: Split | None,
    special: SpecialTokens,
    normalize: Callable[[str], str] | None = None,
    advance: Callable[[int], object] = lambda size: None,
    form: str | None = None,
    field: str = "text",
) -> Counter[bytes]:
    """Count the pre-tokens of a corpus. Special tokens are split out and not counted.

    `advance` is called with the size of each text in bytes of UTF-8, for a progress bar. Raises TrainingError for a
    text that can't be read or isn't UTF-8, CorpusError for records and compressed files, and TypeError if `corpus`
    isn't a corpus.
    """
    counts: Counter[str] = Counter()
    for text in training_texts(corpus, pre_tokenizer, special, normalize, advance, form, field):
        counts.update(pre_tokenizer.split(text) if pre_tokenizer else [text] if text else [])
    return utf8_counts(counts)
