"""Text to ids: the methods of a tokenizer that encode one text, a piece, or a batch.

They check their arguments, and leave the rest to the pipeline (`pipeline.py`). Special tokens in a text are plain text
unless the caller allows them. Chapter: A tokenizer in production. Cost: linear on real text, O(n log n) at worst.
"""

from __future__ import annotations

from .._support.lazy_property import cached_property
from .._support.nearest_name import refuse_unknown
from .._support.textio import valid_text
from .._support.validate import check_flags, refuse_keyed
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Never

    import numpy as np
    from numpy.typing import NDArray

    from ..vocab.special_tokens import Special
    from .pipeline import Ids, Pipeline


class TextToIds(Vocabulary):
    """A vocabulary that can encode.

    Attributes:
        pipeline: from text to ids.
    """

    pipeline: Pipeline

    def encode(
        self,
        text: str,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
        **wrong: Never,
    ) -> list[int]:
        """Return the ids of `text`.

        Args:
            allowed_special: names of special tokens (or "all") that become their id where they occur in the text.
            disallowed_special: names (or "all", except the allowed ones) that raise SpecialTokenError instead. Special
                tokens in neither are plain text. That is the default for all of them, because text is untrusted.
            add_special_tokens: whether the post-processor, if any, adds its tokens.

        Lone surrogates become U+FFFD. Cost: O(n log n) at worst, linear on real text.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<|end|>"])
        >>> t.encode("ab<|end|>", allowed_special="all"), len(t.encode("ab<|end|>"))
        ([256, 257], 8)
        """
        if wrong:
            refuse_unknown(self.encode, wrong)
        if add_special_tokens is not True and add_special_tokens is not False:
            check_flags(add_special_tokens=add_special_tokens)
        pipeline = self.pipeline
        asked = allowed_special != () or disallowed_special != ()
        ids = None if asked or type(text) is not str else pipeline.encode_short(text)
        if ids is None:
            given = (
                self._special.check_text(text, allowed_special, disallowed_special) if asked else (valid_text(text),)
            )
            ids = pipeline.ids(*given)
        return self._post_processed(ids) if add_special_tokens and self._spec.post_processor is not None else ids

    def _post_processed(self, ids: list[int]) -> list[int]:
        """Return the ids of one text with what the post-processor adds."""
        if self._affixes is None:
            assert self._spec.post_processor is not None
            return self._spec.post_processor.apply(ids, self._special)
        before, after = self._affixes
        return [*before, *ids, *after] if before or after else ids

    @cached_property
    def _affixes(self) -> tuple[list[int], list[int]] | None:
        """Return the ids that the post-processor puts before and after each text; None if it does anything else."""
        return ([], []) if self._spec.post_processor is None else self._spec.post_processor.affixes(self._special)

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`; special tokens in it are plain text, and none are added."""
        ids = self.pipeline.encode_short(text) if type(text) is str else None
        return self.pipeline.ids(valid_text(text)) if ids is None else ids

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece, which isn't split by the pattern.

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("abab", 257).encode_piece(b"ab ab")
        [256, 32, 256]
        """
        return self.pipeline.encode_piece(bytes(piece))

    def encode_with_dropout(
        self, text: str, probability: float | None = None, *, seed: int | None = None, allowed_special: Special = ()
    ) -> list[int]:
        """Encode with BPE-dropout, for training a model: each merge is skipped with `probability`.

        The default probability is that of the tokenizer's file. The same `seed` gives the same ids. Raises ValueError
        if neither gives a probability, or if it isn't from 0 to 1. Source: Provilkov et al. 2020.
        """
        if probability is None:
            probability = self._spec.dropout
        if probability is None:
            raise ValueError("this tokenizer's file asks for no dropout: give a probability from 0 to 1")
        from random import Random

        from ..encoders.dropout import DropoutEncoder

        encoder = DropoutEncoder(self.pipeline.model, probability, Random(seed))
        allowed = self._special.select(allowed_special, "allowed_special")
        return self.pipeline.ids(valid_text(text), allowed, encoder)

    def encode_array(self, text: str, *, allowed_special: Special = (), disallowed_special: Special = ()) -> Ids:
        """Return the ids of `text` as a numpy array of uint32, without an intermediate list or added special tokens.

        Runs in C or Python, as `encode` does: see the encoders "auto" and "native".

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("abab", 257).encode_array("cabab")
        array([ 99, 256, 256], dtype=uint32)
        """
        asked = allowed_special != () or disallowed_special != ()
        ids = None if asked or type(text) is not str else self.pipeline.array_short(text)
        if ids is not None:
            return ids
        valid, allowed = self._special.check_text(text, allowed_special, disallowed_special)
        return self.pipeline.array(valid, allowed)

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        threads: int | None = None,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
        **wrong: Never,
    ) -> list[list[int]]:
        """Return the ids of each text, as a list of lists; options as for `encode`.

        Args:
            threads: the number of threads; None for one a processor, if the batch is large enough. Only C uses them
                (see the encoders "auto" and "native"); Python encodes in one thread.

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("abab", 257).encode_batch(["ab", "", "cab"])
        [[256], [], [99, 256]]
        """
        if wrong:
            refuse_unknown(self.encode_batch, wrong)
        check_flags(add_special_tokens=add_special_tokens)
        encode_with, allowed = self._checked_batch(texts, allowed_special, disallowed_special)
        found = self.pipeline.lists(encode_with, allowed, threads)
        if add_special_tokens and self._spec.post_processor is not None:
            return [self._post_processed(ids) for ids in found]
        return found

    def encode_batch_array(
        self,
        texts: Iterable[str],
        *,
        threads: int | None = None,
        allowed_special: Special = (),
        disallowed_special: Special = (),
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of several texts end to end, and their offsets: text i has ids[offsets[i]:offsets[i + 1]].

        The ids are a numpy array of uint32, the offsets one of int64, with one entry more than there are texts: the
        layout of Arrow's lists. No special tokens are added. Options as for `encode_batch`.

        >>> from bpelab import BPETokenizer
        >>> ids, offsets = BPETokenizer.train("abab", 257).encode_batch_array(["ab", "", "cab"])
        >>> ids.tolist(), offsets.tolist()
        ([256, 99, 256], [0, 1, 1, 3])
        """
        return self.pipeline.arrays(*self._checked_batch(texts, allowed_special, disallowed_special), threads)

    def _checked_batch(
        self, texts: Iterable[str], allowed_special: Special, disallowed_special: Special
    ) -> tuple[list[str], frozenset[str]]:
        """Return the texts, which may have lone surrogates, and the special tokens allowed in them."""
        if isinstance(texts, (str, bytes)):
            raise TypeError("a batch is several texts; for one, use encode or encode_array")
        refuse_keyed(texts, "the batch")
        encode_with = list(texts)
        if not set(map(type, encode_with)) <= {str}:
            wrong = next((n for n, text in enumerate(encode_with) if not isinstance(text, str)), None)
            if wrong is not None:
                raise TypeError(f"texts[{wrong}] must be a str, not {type(encode_with[wrong]).__name__}")
        allowed = self._special.select(allowed_special, "allowed_special")
        disallowed = self._special.select(disallowed_special, "disallowed_special") - allowed
        for text in encode_with if disallowed else ():
            self._special.check(valid_text(text), disallowed)
        return encode_with, allowed

    def tokenize(self, text: str, **options: Any) -> list[bytes]:
        """Return the tokens of `text` as bytes; options as for `encode`."""
        return self.convert_ids_to_tokens(self.encode(text, **options))

    def pieces(self, text: str) -> list[str]:
        """Return the pieces into which the pre-tokenizer cuts the normalized `text`."""
        return self.pipeline.pieces(valid_text(text))
