"""The post-processors of BERT and RoBERTa, ByteLevel's, and several in a row.

Chapter: Chat templates. Cost: linear in the ids.
Source: tokenizers/src/processors/{bert,roberta,sequence}.rs and pre_tokenizers/byte_level.rs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._support.lazy_property import cached_property
from ..errors import SpecialTokenError
from ..vocab.special_tokens import SpecialTokens
from .base import FindIds, Part, PostProcessor, Segment
from .template_pieces import MAX_TYPE_ID as HIGHEST_ID

MAX_PROCESSORS = 64
MAX_DEPTH = 50


@dataclass(frozen=True)
class ByteLevel(PostProcessor):
    """Add nothing: ByteLevel only trims the offsets of tokens.

    >>> ByteLevel().apply([1, 2], pair=[3])
    [1, 2, 3]
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        return parts


@dataclass(frozen=True)
class BertProcessing(PostProcessor):
    """Build `[CLS] A [SEP]`, or `[CLS] A [SEP] B [SEP]` with the type id 1 for the last two.

    >>> BertProcessing(sep=("[SEP]", 102), cls=("[CLS]", 101)).apply([1, 2], pair=[3])
    [101, 1, 2, 102, 3, 102]

    `sep` and `cls` are (token, id). Raises SpecialTokenError for anything else.
    """

    sep: tuple[str, int]
    cls: tuple[str, int]

    def __post_init__(self) -> None:
        _check_tokens(self)

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        first, last = [Segment((self.cls[1],), 0, True)], [Segment((self.sep[1],), 0, True)]
        after = [Segment((self.sep[1],), 1, True)]
        # What an earlier step added counts as text, as in Hugging Face's tokenizers.
        texts = [[item._replace(special=False) for item in part] for part in parts]
        return [first + part + last if index == 0 else part + after for index, part in enumerate(texts)]

    def map_ids(self, new_id: Callable[[int], int]) -> "BertProcessing":
        return replace(self, sep=(self.sep[0], new_id(self.sep[1])), cls=(self.cls[0], new_id(self.cls[1])))


@dataclass(frozen=True)
class RobertaProcessing(PostProcessor):
    """Build `<s> A </s>`, or `<s> A </s> </s> B </s>`; every type id is 0. The last two fields concern offsets.

    >>> RobertaProcessing().apply([7, 8], pair=[9])
    [0, 7, 8, 2, 2, 9, 2]

    `sep` and `cls` are (token, id). Raises SpecialTokenError for anything else.
    """

    sep: tuple[str, int] = ("</s>", 2)
    cls: tuple[str, int] = ("<s>", 0)
    trim_offsets: bool = True
    add_prefix_space: bool = True

    def __post_init__(self) -> None:
        _check_tokens(self)

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        first, other = [Segment((self.cls[1],), 0, True)], [Segment((self.sep[1],), 0, True)]
        texts = [[Segment(item.ids, 0, False) for item in part] for part in parts]
        return [(other if index else first) + part + other for index, part in enumerate(texts)]

    def map_ids(self, new_id: Callable[[int], int]) -> "RobertaProcessing":
        return replace(self, sep=(self.sep[0], new_id(self.sep[1])), cls=(self.cls[0], new_id(self.cls[1])))

    @classmethod
    def from_pair_config(cls, data: Mapping[str, Any]) -> tuple[type[PostProcessor], Mapping[str, Any]]:
        """Return the class and keys that a file means: with both flags off, Hugging Face reads a BertProcessing."""
        flags = {"trim_offsets", "add_prefix_space"}
        if flags <= data.keys():
            return cls, data
        return BertProcessing, {key: value for key, value in data.items() if key not in flags}


def _check_tokens(processor: BertProcessing | RobertaProcessing) -> None:
    for key in ("sep", "cls"):
        value = getattr(processor, key)
        token, token_id = value if isinstance(value, (tuple, list)) and len(value) == 2 else (None, None)
        valid = isinstance(token_id, int) and not isinstance(token_id, bool) and 0 <= token_id <= HIGHEST_ID
        if not isinstance(token, str) or not valid:
            raise SpecialTokenError(
                f"{type(processor).__name__}: {key} is a token and its id, a number from 0 to {HIGHEST_ID}, not "
                f"{str(value)[:40]!r}"
            )
        object.__setattr__(processor, key, (token, token_id))


@dataclass(frozen=True)
class ProcessorSequence(PostProcessor):
    """Apply the `processors` in order, each to the previous one's parts; a template makes a part of every piece.

    >>> ProcessorSequence((ByteLevel(), RobertaProcessing())).apply([7])
    [0, 7, 2]

    Raises SpecialTokenError for more than 64 processors, 50 sequences within sequences, and for a template that gets
    more than two parts.
    """

    processors: tuple[PostProcessor, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "processors", tuple(self.processors))
        count, depth = len(self.steps), self.depth
        if count > MAX_PROCESSORS or depth > MAX_DEPTH:
            raise SpecialTokenError(
                f"a Sequence of {count} post-processors, {depth} deep, can't be used: at most {MAX_PROCESSORS}, "
                f"{MAX_DEPTH} deep"
            )
        self.added_tokens()

    @cached_property
    def steps(self) -> tuple[PostProcessor, ...]:
        steps: list[PostProcessor] = []
        for part in self.processors:
            steps += part.steps if isinstance(part, ProcessorSequence) else [part]
        return tuple(steps)

    @cached_property
    def depth(self) -> int:
        inner = [part.depth for part in self.processors if isinstance(part, ProcessorSequence)]
        return 1 + max(inner, default=0)

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        for step in self.steps:
            parts = step.process(parts, find)
        return parts

    def check(self, special: SpecialTokens) -> None:
        for step in self.steps:
            step.check(special)

    def resolve_ids(self, special: SpecialTokens) -> "ProcessorSequence":
        return ProcessorSequence(tuple(part.resolve_ids(special) for part in self.processors))

    def strip_ids(self, special: SpecialTokens) -> "ProcessorSequence":
        return ProcessorSequence(tuple(part.strip_ids(special) for part in self.processors))

    def map_ids(self, new_id: Callable[[int], int]) -> "ProcessorSequence":
        return ProcessorSequence(tuple(part.map_ids(new_id) for part in self.processors))
