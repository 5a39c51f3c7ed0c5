"""What serves a tokenizer of transformers: the same one as bpelab reads it.

Chapter: Coming from tiktoken, Hugging Face, minbpe. Cost: reading a tokenizer.json; then that of `encode_batch`.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..cached import cached_property
from ..errors import BackendError, BPELabError, UnknownTokenError
from ..forks import unforked
from ..native import require_extension
from ..postprocessors import ByteLevel, Item, ProcessorSequence
from ..tokenizer import BPETokenizer
from .reading import Written, read_again, unlike_text

if TYPE_CHECKING:
    from .lengths import Lengths

OFF = {"", "off", "false", "f", "no", "n", "0"}
"""Values of TOKENIZERS_PARALLELISM that stand for one thread."""


class Side(NamedTuple):
    """What is put before a text, or after it: ids, their types, and which of them are special."""

    ids: list[int]
    types: list[int]
    special: list[int]


NOTHING = Side([], [], [])


class Engine:
    """A tokenizer as bpelab reads it.

    Args:
        content: a tokenizer.json.
        last: an engine whose model is taken where it is the same.

    Attributes:
        before, after: what is put around a text; `type_id` is that of the text itself.
        decodes: whether ids are decoded here; set to False where the original is found to decode otherwise.

    Raises BackendError where C doesn't serve it, MissingDependencyError where the extension was not built.
    """

    def __init__(self, content: Written, last: "Engine | None" = None) -> None:
        require_extension()
        self.content = content
        try:
            self._tokenizer: BPETokenizer = read_again(
                content, None if last is None else (last.content, last._tokenizer)
            )
        except BPELabError as error:
            raise BackendError(f"this tokenizer can't be accelerated: {error}") from error
        tokenizer = self._tokenizer
        if tokenizer.dropout:
            reason = f"it leaves out merges (dropout={tokenizer.dropout})"
            raise BackendError(f"this tokenizer can't be accelerated: {reason}")
        if (name := unlike_text(content, tokenizer)) is not None:
            reason = f"its special token {name!r} is a token of the model, which text may come out as"
            raise BackendError(f"this tokenizer can't be accelerated: {reason}")
        self._pipeline, self._allowed = tokenizer._pipeline, tokenizer._special.select("all", "allowed_special")
        if self._pipeline.native is None:
            raise BackendError("this tokenizer can't be accelerated: only Python serves it (see bpelab.native)")
        self.decodes = tokenizer._joins_bytes
        text: list[int] = []
        around = tokenizer.post_processor
        if isinstance(around, ProcessorSequence) and sum(not isinstance(s, ByteLevel) for s in around._steps) > 1:
            reason = "several steps of its post-processor add tokens"  # which takes one text for two
            raise BackendError(f"this tokenizer can't be accelerated: {reason}")
        items = [Item(text, 0, False)] if around is None else around.items(text, tokenizer._special)
        middle = next(number for number, item in enumerate(items) if item.ids is text)
        self.type_id = items[middle].type_id
        self.before, self.after = _side(items[:middle]), _side(items[middle + 1 :])

    def around(self, add_special_tokens: bool) -> tuple[Side, Side]:
        """What is put before a text and after it."""
        return (self.before, self.after) if add_special_tokens else (NOTHING, NOTHING)

    def lists(self, texts: list[str]) -> list[list[int]]:
        """The ids of each text."""
        if len(texts) == 1:
            return [self._pipeline.ids(texts[0], self._allowed)]
        return self._pipeline.lists(texts, self._allowed, _threads())

    def arrays(self, texts: list[str]) -> list[Any]:
        """The ids of each text, as arrays."""
        ids, offsets = self._pipeline.arrays(texts, self._allowed, _threads())
        bounds = offsets.tolist()
        return [ids[start:stop] for start, stop in zip(bounds, bounds[1:])]

    def text(self, ids: list[int], skip_special_tokens: bool) -> str | None:
        """The text of ids; None for what isn't decoded here, such as an id without a token."""
        try:
            return self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        except (UnknownTokenError, TypeError):
            return None

    def encodings(self, texts: Sequence[str], add_special_tokens: bool, lengths: "Lengths") -> list[Any]:
        """What Hugging Face's tokenizers say about the texts: a list of `tokenizers.Encoding`."""
        with unforked:  # others ask the same copy for other lengths
            copy = self._copy
            copy.no_truncation() if lengths.truncation is None else copy.enable_truncation(**lengths.truncation)
            copy.no_padding() if lengths.padding is None else copy.enable_padding(**lengths.padding)
            return list(copy.encode_batch(list(texts), add_special_tokens=add_special_tokens))

    @cached_property
    def _copy(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(self.content.whole)


def _side(items: list[Item]) -> Side:
    side = Side([], [], [])
    for ids, type_id, special in items:
        side.ids.extend(ids)
        side.types.extend([type_id] * len(ids))
        side.special.extend([int(special)] * len(ids))
    return side


def _threads() -> int | None:
    """One thread where the user asks Hugging Face's tokenizers for one."""
    return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "true").lower() in OFF else None
