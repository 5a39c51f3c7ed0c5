"""The engine of an accelerated tokenizer: bpelab's version of the same tokenizer.

Chapter: Coming from tiktoken, Hugging Face, minbpe. Cost: reading a tokenizer.json; then that of `encode_batch`.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._support.fork_safety import fork_guard
from .._support.lazy_property import cached_property
from ..errors import BackendError, BPELabError, UnknownTokenError
from ..native import require_extension
from ..native.plan import unserved_part
from ..postprocessors import ByteLevel, ProcessorSequence, Segment
from ..tokenizer import BPETokenizer
from .reading import TokenizerJSON, conflicting_token, load_tokenizer

if TYPE_CHECKING:
    from .lengths import LengthOptions

FALSE_VALUES = {"", "off", "false", "f", "no", "n", "0"}
"""Values of TOKENIZERS_PARALLELISM that mean one thread."""


class Affix(NamedTuple):
    """The tokens added before a text, or after it: ids, type ids, and 1 for each that is special, else 0."""

    ids: list[int]
    types: list[int]
    special: list[int]


NO_AFFIX = Affix([], [], [])


class Engine:
    """A tokenizer of transformers, read by bpelab.

    Args:
        content: a tokenizer.json.
        last: an earlier engine; if its model is the same, it is reused.

    Attributes:
        before, after: the tokens added before and after a text.
        type_id: the token type id of the text itself.
        decodes: whether ids are decoded here; set to False if the original turns out to decode differently.

    Raises BackendError if C doesn't support it, MissingDependencyError if the extension isn't built.
    """

    def __init__(self, content: TokenizerJSON, last: "Engine | None" = None) -> None:
        require_extension()
        self.content = content
        try:
            self.tokenizer: BPETokenizer = load_tokenizer(
                content, None if last is None else (last.content, last.tokenizer)
            )
        except BPELabError as error:
            raise BackendError(f"this tokenizer can't be accelerated: {error}") from error
        tokenizer = self.tokenizer
        if tokenizer.spec.dropout:
            reason = f"it leaves out merges (dropout={tokenizer.spec.dropout})"
            raise BackendError(f"this tokenizer can't be accelerated: {reason}")
        if (name := conflicting_token(content, tokenizer)) is not None:
            reason = f"its special token {name!r} is a token of the model, which text may be encoded as"
            raise BackendError(f"this tokenizer can't be accelerated: {reason}")
        self.pipeline = tokenizer.pipeline
        self._allowed = tokenizer.spec.special_tokens.select("all", "allowed_special")
        if self.pipeline.native is None:
            part = unserved_part(tokenizer.spec.pre_tokenizer, tokenizer.model)
            raise BackendError(f"this tokenizer can't be accelerated: only Python serves {part} (see bpelab.native)")
        self.decodes = tokenizer.decode_pipeline.joins_bytes
        text: list[int] = []
        post_processor = tokenizer.spec.post_processor
        steps = post_processor.steps if isinstance(post_processor, ProcessorSequence) else ()
        if sum(not isinstance(step, ByteLevel) for step in steps) > 1:
            reason = "several steps of its post-processor add tokens"  # the post-processor takes one text for two
            raise BackendError(f"this tokenizer can't be accelerated: {reason}")
        items = [Segment(text, 0, False)]
        if post_processor is not None:
            items = post_processor.items(text, tokenizer.spec.special_tokens)
        middle = next(index for index, item in enumerate(items) if item.ids is text)
        self.type_id = items[middle].type_id
        self.before, self.after = _affix(items[:middle]), _affix(items[middle + 1 :])

    def affixes(self, add_special_tokens: bool) -> tuple[Affix, Affix]:
        """Return the tokens added before and after a text; empty ones without `add_special_tokens`."""
        return (self.before, self.after) if add_special_tokens else (NO_AFFIX, NO_AFFIX)

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Return the ids of each text."""
        if len(texts) == 1:
            return [self.pipeline.ids(texts[0], self._allowed)]
        return self.pipeline.lists(texts, self._allowed, _threads())

    def arrays(self, texts: list[str]) -> list[Any]:
        """Return the ids of each text as a uint32 array."""
        ids, offsets = self.pipeline.arrays(texts, self._allowed, _threads())
        bounds = offsets.tolist()
        return [ids[start:stop] for start, stop in zip(bounds, bounds[1:])]

    def text(self, ids: list[int], skip_special_tokens: bool) -> str | None:
        """Decode ids; return None for ids that can't be decoded here, such as one without a token."""
        try:
            return self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        except (UnknownTokenError, TypeError):
            return None

    def encodings(self, texts: Sequence[str], add_special_tokens: bool, lengths: "LengthOptions") -> list[Any]:
        """Return a `tokenizers.Encoding` of each text, from Hugging Face's tokenizers."""
        with fork_guard:  # threads share the copy, and each sets its own lengths
            copy = self._copy
            copy.no_truncation() if lengths.truncation is None else copy.enable_truncation(**lengths.truncation)
            copy.no_padding() if lengths.padding is None else copy.enable_padding(**lengths.padding)
            return list(copy.encode_batch(list(texts), add_special_tokens=add_special_tokens))

    @cached_property
    def _copy(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(self.content.json)


def _affix(items: list[Segment]) -> Affix:
    side = Affix([], [], [])
    for ids, type_id, special in items:
        side.ids.extend(ids)
        side.types.extend([type_id] * len(ids))
        side.special.extend([int(special)] * len(ids))
    return side


def _threads() -> int | None:
    """Return 1 if TOKENIZERS_PARALLELISM asks Hugging Face's tokenizers for one thread, else None."""
    return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "true").lower() in FALSE_VALUES else None
