"""From a corpus to word counts: what every trainer starts from.

A corpus is a text (`str`), a file (`pathlib.Path`), or an iterable of either. Each text, each file of text and each
record of JSON Lines or Parquet is one document: no pre-token reaches over the end of one. Text is read in blocks of a
megabyte and cut only at safe places (`pretokenizers/safe_cuts.py`), so the counts are those of the whole, whatever the
size of the blocks. With a pattern of your own that can't be promised, and the file is read whole.

Cost: linear; memory for the distinct words and one block.
"""

import codecs
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import TrainingError
from ..pretokenizers.safe_cuts import last_safe_cut
from ..pretokenizers.split import Split
from ..shards.input_forms import form_of
from ..special_tokens import SpecialTokens
from ..textio import utf8_counts, utf8_size

Corpus = str | Path | Iterable[str] | Iterable[Path]
BLOCK = 1 << 20
SAMPLE = 1 << 16
"""Characters at the beginning of a corpus in which a pattern is looked for."""
LEAST_SEEN = 1_000
"""Characters in a corpus from which a pattern that is hardly found is worth a warning."""
LEAST_MATCHED = 0.01
"""Share of them that a pattern which cuts texts matches."""
LONGEST_NAME = 4_096
"""Characters beyond which a text is not taken for a file's name."""
LOOKED_AT = 100
"""Texts of an iterable that are looked at: who gives names gives them from the first on."""


class HardlyCut(UserWarning):
    """The pattern matches next to nothing of the corpus, so that whole texts are pieces."""


def _file_blocks(path: Path, whole: bool) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    try:
        with path.open("rb") as file:
            while block := file.read(-1 if whole else BLOCK):
                text = decoder.decode(block)
                position += len(block)
                yield text
            yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        at = position - len(decoder.getstate()[0]) + error.start
        raise TrainingError(f"{path} is not UTF-8: {error.reason} near byte {at:,}; convert the file first") from error
    except OSError as error:
        raise TrainingError(f"{path} can't be read: {error.strerror}") from error


def document_parts(
    document: str | Path, whole: bool, special: SpecialTokens, form: str | None = None, field: str = "text"
) -> Iterator[str]:
    """A document, or those of a file, in parts of about a block, cut where that changes nothing.

    `form` and `field` are those of `encode_files`; a file whose name tells no form is text.
    """
    if isinstance(document, Path) and (held := form_of(str(document), form) or "text") != "text":
        from ..shards.inputs import look_at
        from .parts import Part, texts_of

        yield from texts_of(Part(look_at(str(document), held), None, 0), field, whole, special)
        return
    if isinstance(document, Path) and form is None:
        refuse_json_lines(document)
    if isinstance(document, str) and (whole or len(document) <= BLOCK):
        yield document
        return
    blocks = (
        _file_blocks(document, whole)
        if isinstance(document, Path)
        else (document[start : start + BLOCK] for start in range(0, len(document), BLOCK))
    )
    yield from safe_blocks(blocks, whole, special)


def refuse_json_lines(path: Path) -> None:
    """Raise TrainingError for a file named .json whose first two lines are objects of JSON: its name says text."""
    if path.suffix.lower() != ".json":
        return
    lines: list[object] = []
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        lines = [json.loads(file.readline(BLOCK)) for _ in range(2)]
    if lines and all(isinstance(line, dict) for line in lines):
        raise TrainingError(
            f"{path} holds JSON Lines, and its name doesn't say so: pass input_form='jsonl' to learn from one field of "
            "each, or input_form='text' to learn from the file as it is"
        )


def safe_blocks(blocks: Iterable[str], whole: bool, special: SpecialTokens) -> Iterator[str]:
    """The text of some blocks, cut where that changes nothing."""
    kept = ""
    for block in blocks:
        kept += block
        cut = 0 if whole else last_safe_cut(kept, len(kept) - special.longest)
        if cut and not special.any_across(kept, cut):
            yield kept[:cut]
            kept = kept[cut:]
    yield kept


def documents(corpus: Corpus) -> Iterator[str | Path]:
    """The texts and files of a corpus, one by one.

    Raises TypeError for anything else, for texts mixed with files, and for a text that is the name of a file: it is
    meant as one, and training on the name would go unnoticed.
    """
    if isinstance(corpus, (str, Path)):
        _refuse_name(corpus, "the corpus")
        yield corpus
        return
    if isinstance(corpus, (bytes, bytearray)) or not isinstance(corpus, Iterable):
        raise TypeError(f"a corpus is a str, a pathlib.Path, or an iterable of either, not {type(corpus).__name__}")
    kind: type | None = None
    for number, item in enumerate(corpus):
        found = str if isinstance(item, str) else Path if isinstance(item, Path) else None
        if found is None or (kind is not None and found is not kind):
            raise TypeError(
                f"item {number} of the corpus is a {type(item).__name__}; the items must be all str (texts) or all "
                "pathlib.Path (files)"
            )
        kind = found
        if number < LOOKED_AT:
            _refuse_name(item, f"item {number} of the corpus")
        yield item  # type: ignore[misc]


def _refuse_name(text: object, what: str) -> None:
    try:
        named = isinstance(text, str) and len(text) <= LONGEST_NAME and os.path.isfile(os.path.expanduser(text))
    except ValueError:  # with NUL, or a lone surrogate, in what looks like somebody's home
        return
    if named:
        raise TypeError(
            f"{what} is the text {text!r}, which is the name of a file: pass Path({text!r}) to learn from what it holds"
        )


def ordinary_texts(
    corpus: Corpus,
    pre_tokenizer: Split | None,
    special: SpecialTokens,
    normalize: Callable[[str], str] | None = None,
    advance: Callable[[int], object] = lambda size: None,
    form: str | None = None,
    field: str = "text",
) -> Iterator[str]:
    """The texts that are to be cut, each by itself: normalized, of about a block at most, without special tokens.

    Arguments and errors are those of `count_words`. Warns with HardlyCut, at the end.
    """
    whole = takes_whole(pre_tokenizer)
    seen = matched = 0
    for document in documents(corpus):
        for text in document_parts(document, whole, special, form, field):
            for ordinary in without_special(text, special, normalize):
                if pre_tokenizer is not None and pre_tokenizer.name is None and seen < SAMPLE:
                    seen, matched = seen + len(ordinary), matched + pre_tokenizer.covered(ordinary[: SAMPLE - seen])
                yield ordinary
            advance(utf8_size(text))
    if seen >= LEAST_SEEN and matched < LEAST_MATCHED * min(seen, SAMPLE):
        warnings.warn(
            f"the pattern {pre_tokenizer and pre_tokenizer.pattern!r} matches {matched:,} of the first "
            f"{min(seen, SAMPLE):,} characters: what is between two matches is one piece, however long, so that hardly "
            "anything was cut",
            HardlyCut,
            stacklevel=2,
        )


def takes_whole(pre_tokenizer: Split | None) -> bool:
    """Whether a document has to be cut as a whole, since nothing is known of the pattern."""
    return pre_tokenizer is None or pre_tokenizer.name is None


def without_special(text: str, special: SpecialTokens, normalize: Callable[[str], str] | None) -> Iterator[str]:
    """What is between the special tokens of a text, normalized."""
    for ordinary, special_id in special.split(text):
        if special_id is None:
            yield normalize(ordinary) if normalize else ordinary


def count_words(
    corpus: Corpus,
    pre_tokenizer: Split | None,
    special: SpecialTokens,
    normalize: Callable[[str], str] | None = None,
    advance: Callable[[int], object] = lambda size: None,
    form: str | None = None,
    field: str = "text",
) -> Counter[bytes]:
    """How often each pre-token occurs in a corpus. Special tokens are split out and not counted.

    `advance` is called with the size of each text in bytes of UTF-8, for a progress bar. Raises TrainingError for a
    text that can't be read or is not UTF-8, CorpusError for records or what is packed, TypeError for no corpus.
    """
    words: Counter[str] = Counter()
    for text in ordinary_texts(corpus, pre_tokenizer, special, normalize, advance, form, field):
        words.update(pre_tokenizer.split(text) if pre_tokenizer else [text] if text else [])
    return utf8_counts(words)
