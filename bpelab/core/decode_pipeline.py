"""From ids to text: join the tokens' bytes, or run the tokens' texts through a decoder.

If tokens are bytes, decoding joins them. Otherwise a decoder turns the tokens' texts into the decoded text. Bytes that
aren't UTF-8 pass through it as lone surrogates, so none is lost.

Chapter: File formats. Cost: that of `token_bytes.py` if tokens are bytes, else that of the decoder.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from .._support.lazy_property import cached_property
from .._support.textio import utf8
from ..unicode.byte_alphabet import to_alphabet
from . import detokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .detokenize import Unknown
    from .spec import TokenizerSpec


class DecodePipeline:
    """The decoding pipeline of a tokenizer. It is immutable, except that its tables are built on first use.

    Attributes:
        joins_bytes: whether `join` decodes, joining the tokens' bytes; else `text_of` decodes the `token_strings`.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self.spec, self.joins_bytes = spec, spec.joins_bytes

    @cached_property
    def token_bytes(self) -> dict[int, bytes]:
        """Return the bytes of each token, by id; those of added tokens as the decoder decodes them."""
        spec, decoder = self.spec, self.spec.decoder
        if decoder is None or not self.joins_bytes or not spec.decodes_added_tokens:
            return spec.tokens
        written = {token.id: token.content for token in spec.special_tokens.tokens if not token.content.isascii()}
        read = {token_id: decoder.decode_chain([text], "surrogateescape") for token_id, text in written.items()}
        return {**spec.tokens, **{i: text[0].encode("utf-8", "surrogateescape") for i, text in read.items()}}

    @cached_property
    def join(self) -> Callable[[Iterable[int], Unknown, bool], bytes]:
        """Return the function that joins the bytes of ids, given `unknown` and whether to skip special tokens."""
        from .token_bytes import TokenDecoder

        spec, special = self.spec, self.spec.special_tokens
        columns = spec.model.columns
        if spec.decodes_added_tokens and any(not token.content.isascii() for token in special.tokens):
            columns = None  # the decoder gives these other bytes
        added = {token_id: utf8(name) for token_id, name in special.contents.items()}
        return TokenDecoder(lambda: self.token_bytes, special.names, columns, added).join

    def token_strings(self, ids: Iterable[int], unknown: Unknown) -> list[str]:
        """Return the tokens as files spell them, the input of decoders. Unknown ids become U+FFFD with "replace"."""
        spec, added, ordinary = self.spec, self.spec.special_tokens.contents, self.spec.model.tokens
        texts = []
        for token_id in detokenize.to_ids(ids):
            if (name := added.get(token_id)) is not None:
                texts.append(name)
            elif (token := ordinary.get(token_id)) is not None:
                texts.append(to_alphabet(token) if spec.is_byte_level else token.decode("utf-8", "replace"))
            else:
                texts += [data.decode() for data in detokenize.join_tokens([token_id], spec.tokens, unknown)]
        return texts

    @cached_property
    def text_of(self) -> Callable[[list[str], str], str]:
        """Return the function that decodes token strings to text, given `errors` as for bytes.decode."""
        from ..decoders import decode_tokens

        return partial(decode_tokens, self.spec.decoder)

    def without_special(self, ids: Iterable[int]) -> list[int]:
        """Return the ids without those of special tokens."""
        names = self.spec.special_tokens.names
        return [token_id for token_id in detokenize.to_ids(ids) if token_id not in names]
