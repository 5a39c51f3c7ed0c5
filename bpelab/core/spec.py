"""A tokenizer's specification: its model, its components and its settings, checked against each other.

File formats read and write specifications; a `Tokenizer` is built from one and adds the pipelines. A specification
is immutable: `replace` returns a new one.

Chapter: File formats. Cost: a lookup for each added token.
"""

from __future__ import annotations

from types import MappingProxyType

from .._support.lazy_property import cached_property
from .._support.read_only_dict import ReadOnlyDict
from .._support.textio import utf8
from ..errors import SpecialTokenError
from ..normalizers import find_normalizer
from ..pretokenizers.split import Split
from ..regex.patterns import refuse_misspelt
from ..unicode.byte_alphabet import to_alphabet
from ..vocab.special_tokens import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from ..decoders import Decoder
    from ..model.bpe import BPEModel
    from ..normalizers import Normalizer
    from ..postprocessors import PostProcessor
    from ..pretokenizers.base import PreTokenizer
    from ..vocab.added_tokens import AddedToken
    from .length_settings import Padding, Truncation

UNCHANGED = "a specification can't be changed: tokenizer.with_options({}...) returns a new tokenizer"
MAX_EAGER_CHECKS = 64
"""The most special tokens that are checked before a model's tables are loaded."""


class TokenizerSpec:
    """A tokenizer's components and settings. `BPETokenizer` explains the arguments.

    Attributes:
        model: tokens and merges.
        special_tokens: special and other added tokens, as SpecialTokens.
        normalizer, pre_tokenizer, post_processor: components, or None.
        roles: "bos", "eos", "pad", "unk" -> the name of a token, or None.
        truncation, padding, dropout: the file's settings.
        metadata: further entries of a tokenizer_config.json.

    Raises SpecialTokenError for special tokens that collide with tokens or with each other, PatternError for a pattern
    that can't be compiled, ValueError for names that don't exist.
    """

    model: BPEModel
    special_tokens: SpecialTokens
    pre_tokenizer: PreTokenizer | None
    normalizer: Normalizer | None
    post_processor: PostProcessor | None
    roles: Mapping[str, str | None]
    truncation: Truncation | None
    padding: Padding | None
    dropout: float | None
    metadata: Mapping[str, Any]
    _decoder: Decoder | Literal["bytes"] | None

    def __init__(
        self,
        model: BPEModel,
        *,
        pattern: str | None = None,
        pre_tokenizer: PreTokenizer | None = None,
        special_tokens: Mapping[str, int] | SpecialTokens | None = None,
        normalizer: str | Normalizer | None = None,
        decoder: Decoder | Literal["bytes"] | None = "bytes",
        post_processor: PostProcessor | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        unk_token: str | None = None,
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        dropout: float | None = None,
        metadata: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        special = special_tokens if isinstance(special_tokens, SpecialTokens) else SpecialTokens(special_tokens or {})
        roles = {"bos": bos_token, "eos": eos_token, "pad": pad_token, "unk": unk_token}
        vars(self).update(model=model, special_tokens=special, _decoder=decoder, roles=MappingProxyType(roles))
        for role, name in self.roles.items():
            if name is not None and name not in special.ids:
                raise SpecialTokenError(f"{role}_token={name!r} is not one of the special tokens")
        if isinstance(decoder, str) and decoder != "bytes":
            raise ValueError(f'there is no decoder {decoder!r}; choose "bytes", None or one of bpelab.decoders')
        self._check_collisions()
        if pre_tokenizer is None and pattern is not None:
            refuse_misspelt(pattern)
            pre_tokenizer = Split(pattern)
        if dropout is not None and not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability from 0 to 1, not {dropout!r}")
        if post_processor is not None:
            post_processor.check(special)
            post_processor = post_processor.strip_ids(special)
        vars(self).update(
            pre_tokenizer=pre_tokenizer,
            normalizer=find_normalizer(normalizer),
            post_processor=post_processor,
            truncation=truncation,
            padding=padding,
            dropout=dropout,
            metadata=ReadOnlyDict(metadata, UNCHANGED.format("metadata=")),
        )

    if not TYPE_CHECKING:  # else a type checker would let any name be set

        def __setattr__(self, name: str, value: object) -> None:
            argument = f"{name}=" if name in self.arguments() else ""
            raise AttributeError(UNCHANGED.format(argument), name=name, obj=self)

    @property
    def pattern(self) -> str | None:
        """The pattern's name, or its regular expression if unnamed; None if it isn't one pattern alone."""
        split = None if self.pre_tokenizer is None else self.pre_tokenizer.as_single_split
        return None if split is None else split.name or split.pattern

    @property
    def resolved_post_processor(self) -> PostProcessor | None:
        """The post-processor with the ids of all tokens filled in, as files have it."""
        return None if self.post_processor is None else self.post_processor.resolve_ids(self.special_tokens)

    @cached_property
    def tokens(self) -> dict[int, bytes]:
        """All tokens by id, including special and other added tokens."""
        names = {token_id: utf8(name) for token_id, name in self.special_tokens.contents.items()}
        return {**names, **self.model.tokens}

    @property
    def n_vocab(self) -> int:
        """The highest id plus one: the rows that an embedding table needs."""
        return max(self.tokens) + 1

    def role_id(self, role: str) -> int | None:
        """Return the id of the token with a role ("bos", "eos", "pad", "unk"), or None."""
        name = self.roles[role]
        return None if name is None else self.special_tokens.ids[name]

    @property
    def is_byte_level(self) -> bool:
        """True if the model's tokens are bytes rather than characters."""
        return not self.model.is_char_level

    @cached_property
    def decoder(self) -> Decoder | None:
        """Return the decoder, which turns tokens into text; None puts spaces between them."""
        if self._decoder != "bytes":
            return self._decoder
        from ..decoders import Bytes

        return Bytes()

    @property
    def joins_bytes(self) -> bool:
        """True if decoding joins the tokens' bytes; else the decoder works on their texts."""
        if self._decoder == "bytes":
            return self.is_byte_level
        from ..decoders import ByteLevel

        return self.is_byte_level and isinstance(self._decoder, ByteLevel)

    @property
    def decodes_added_tokens(self) -> bool:
        """True if the decoder applies to added tokens too, as it does in files."""
        if self._decoder == "bytes":
            return False
        from ..decoders import Bytes

        return not isinstance(self._decoder, Bytes)

    def arguments(self) -> dict[str, Any]:
        """Return everything but the model, as keyword arguments."""
        return {
            "pattern": None,
            "pre_tokenizer": self.pre_tokenizer,
            "special_tokens": self.special_tokens,
            "normalizer": self.normalizer,
            "decoder": self._decoder,
            "post_processor": self.post_processor,
            "truncation": self.truncation,
            "padding": self.padding,
            "dropout": self.dropout,
            "metadata": self.metadata,
            **{f"{role}_token": name for role, name in self.roles.items()},
        }

    def replace(self, **changes: Any) -> TokenizerSpec:
        """Return a specification with the same model and some of the other arguments changed."""
        arguments = self.arguments()
        if "pattern" in changes:
            del arguments["pre_tokenizer"]
        return TokenizerSpec(self.model, **{**arguments, **changes})

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.model, self.arguments())

    def __eq__(self, other: object) -> bool:
        """Return True if both have the same components, and therefore the same ids."""
        if not isinstance(other, TokenizerSpec):
            return NotImplemented
        return self.model == other.model and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((self.model, self.special_tokens.tokens))

    def _parts(self) -> dict[str, Any]:
        return {**self.arguments(), "special_tokens": self.special_tokens.tokens}

    def _check_collisions(self) -> None:
        """Raise SpecialTokenError if an id or a text would be ambiguous.

        Files have more freedom: an added token `é` is the byte that GPT-2's alphabet spells `é`, if the vocabulary has
        it, and an added token with the text of an ordinary token is found first.
        """
        model, added = self.model, self.special_tokens.tokens
        from_file, few = self.decodes_added_tokens, len(added) <= MAX_EAGER_CHECKS
        tokens: Iterable[AddedToken] = added
        if from_file and not few:  # there may be a million; check those whose id the model has
            tokens = [token for token in tokens if token.id in model.tokens]
        for token in tokens:
            if few and model.definitely_lacks(token.id, utf8(token.content)):
                continue
            name, ordinary = token.content, model.tokens.get(token.id)
            written = ordinary is not None and from_file and self.is_byte_level and to_alphabet(ordinary) == name
            if ordinary is not None and ordinary != utf8(name) and not written:
                raise SpecialTokenError(
                    f"the special token {name!r} has the id {token.id}, which is that of {ordinary!r}"
                )
            taken = model.ids.get(utf8(name)) if token.special and not from_file else None
            if taken is not None and (taken != token.id or model.can_make(taken)):
                raise SpecialTokenError(f"the special token {name!r} is an ordinary token already, with the id {taken}")


def _rebuild(model: BPEModel, arguments: dict[str, Any]) -> TokenizerSpec:
    return TokenizerSpec(model, **arguments)
