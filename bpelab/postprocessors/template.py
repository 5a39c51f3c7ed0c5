"""TemplateProcessing: put special tokens around one text or two, following a template.

Chapter: Chat templates. Cost: linear in the ids.
Source: tokenizers/src/processors/template.rs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._support.lazy_property import cached_property
from ..errors import SpecialTokenError
from ..vocab.special_tokens import SpecialTokens
from .base import FindIds, Part, PostProcessor, Segment
from .template_pieces import TemplatePiece, TemplateToken

MAX_PIECES = 1_000
MAX_IDS = 10_000
"""The most ids that a template may add."""


@dataclass(frozen=True)
class TemplateProcessing(PostProcessor):
    """Add special tokens before, between and after one text or two.

    Args:
        single: the template for one text: `$A` and names of special tokens. A type id may follow each, as in `$A:0`.
        pair: the template for two texts, with `$A` and `$B`; by default, each text is treated separately.
        special_tokens: name -> id, or TemplateToken for a name that stands for several tokens. Other names are the
            tokenizer's special tokens.

    >>> special = SpecialTokens({"<s>": 300, "</s>": 301})
    >>> TemplateProcessing(("<s>", "$A", "</s>")).apply([1, 2], special)
    [300, 1, 2, 301]
    >>> bert = TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", {"[CLS]": 101, "[SEP]": 102})
    >>> bert.apply([1, 2], pair=[3])
    [101, 1, 2, 102, 3, 102]

    Raises SpecialTokenError when `single` doesn't hold `$A` exactly once or `pair` holds `$A` or `$B` more than once
    (Hugging Face loses or repeats a text then), for more than 1,000 pieces or 10,000 ids, and when two texts come and
    `pair` leaves one of them out.
    """

    single: tuple[str, ...]
    pair: tuple[str, ...] | None = None
    special_tokens: Mapping[str, TemplateToken | int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        single = _parse(self.single, "single")
        if [piece.text for piece in single if piece.text is not None] != [0]:
            raise SpecialTokenError(f"a template holds $A exactly once, for the text; this one is {_shown(single)}")
        second = [piece if piece.text is None else piece._replace(text=1) for piece in single]
        pair = [*single, *second] if self.pair is None else _parse(self.pair, "pair")
        texts = [piece.text for piece in pair if piece.text is not None]
        if len(texts) != len(set(texts)):
            raise SpecialTokenError(f"a template for a pair holds $A and $B once each; this one is {_shown(pair)}")
        if not isinstance(self.special_tokens, Mapping):
            raise SpecialTokenError("a template's special_tokens go from names to ids")
        tokens = {name: TemplateToken.of(name, value) for name, value in self.special_tokens.items()}
        for key, value in (
            ("single", tuple(map(str, single))),
            ("pair", tuple(map(str, pair))),
            ("special_tokens", tokens),
        ):
            object.__setattr__(self, key, value)
        added = max(
            sum(len(tokens[piece.name].ids) for piece in template if piece.name in tokens)
            for template in (single, pair)
        )
        if added > MAX_IDS:
            raise SpecialTokenError(f"a template that adds {added:,} ids can't be used: at most {MAX_IDS:,}")

    @cached_property
    def _templates(self) -> tuple[list[TemplatePiece], list[TemplatePiece]]:
        return _parse(self.single, "single"), _parse(self.pair or (), "pair")

    @cached_property
    def _tokens(self) -> dict[str, TemplateToken]:
        return {name: TemplateToken.of(name, value) for name, value in self.special_tokens.items()}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(piece.name for template in self._templates for piece in template if piece.text is None)

    def _unknown(self) -> frozenset[str]:
        """Return the names whose ids are not among the special_tokens."""
        return self._names - self._tokens.keys()

    def check(self, special: SpecialTokens) -> None:
        special.select(self._unknown(), "the post-processor's template")

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        if not 1 <= len(parts) <= 2:
            raise SpecialTokenError(f"a template takes one text or two; the step before it makes {len(parts)} of them")
        template = self._templates[len(parts) - 1]
        # A single template always has its text, so only a pair's template can leave one out.
        if sum(piece.text is not None for piece in template) < len(parts):
            raise SpecialTokenError(f"the template {_shown(template)} leaves out one of two texts")
        out: list[Part] = []
        for piece in template:
            if piece.text is not None:
                out.append([item._replace(type_id=piece.type_id) for item in parts[piece.text]])
            else:
                token = self._tokens.get(piece.name)
                out.append([Segment(find(piece.name) if token is None else token.ids, piece.type_id, True)])
        return out

    def resolve_ids(self, special: SpecialTokens) -> "TemplateProcessing":
        self.check(special)
        found = {name: TemplateToken.of(name, special.ids[name]) for name in self._unknown()}
        return replace(self, special_tokens={**self.special_tokens, **found})

    def strip_ids(self, special: SpecialTokens) -> "TemplateProcessing":
        same = {name: TemplateToken.of(name, special.ids[name]) for name in self._names & special.ids.keys()}
        kept = {name: token for name, token in self._tokens.items() if token != same.get(name)}
        return replace(self, special_tokens=kept)

    def map_ids(self, new_id: Callable[[int], int]) -> "TemplateProcessing":
        moved = {name: token._replace(ids=tuple(map(new_id, token.ids))) for name, token in self._tokens.items()}
        return replace(self, special_tokens=moved)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TemplateProcessing":
        """Return the template in a file. Raises SpecialTokenError if it is malformed."""
        single, pair = (
            tuple(str(TemplatePiece.from_json(piece)) for piece in _entries(data.get(key), key))
            for key in ("single", "pair")
        )
        tokens = data.get("special_tokens", ())
        if isinstance(tokens, Mapping):
            for name, token in tokens.items():
                if not isinstance(token, Mapping) or not isinstance(token.get("id"), str):
                    raise SpecialTokenError(
                        f"the special token {name[:60]!r} of a template needs an id, which is its name"
                    )
        template = cls(single, pair, tokens)
        if missing := sorted(template._unknown()):
            raise SpecialTokenError(f"the template names {missing[0]!r}, which is not among its special_tokens")
        return template

    def to_json(self) -> dict[str, Any]:
        """Return the JSON keys without `type`; call `resolve_ids` first if names are the tokenizer's."""
        single, pair = ([piece.to_json() for piece in template] for template in self._templates)
        tokens = {
            name: {"id": name, "ids": list(token.ids), "tokens": list(token.tokens)}
            for name, token in sorted(self._tokens.items())
        }
        return {"single": single, "pair": pair, "special_tokens": tokens}


def _entries(template: Any, key: str) -> list[Any]:
    if isinstance(template, (str, Mapping)) or not isinstance(template, Iterable):
        raise SpecialTokenError(f"{key} is a list of the pieces of a template, not {str(template)[:40]!r}")
    pieces = list(template)
    if len(pieces) > MAX_PIECES:
        raise SpecialTokenError(f"a template of {len(pieces):,} pieces can't be used: at most {MAX_PIECES:,}")
    return pieces


def _parse(template: Any, key: str) -> list[TemplatePiece]:
    forms = template.split(" ") if isinstance(template, str) else template
    return [TemplatePiece.parse(form) for form in _entries(forms, key)]


def _shown(template: list[TemplatePiece]) -> str:
    return repr(" ".join(map(str, template))[:100])
