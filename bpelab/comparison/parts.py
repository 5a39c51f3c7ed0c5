"""The parts in which two specifications differ: in words, with any proof that no id depends on it, and texts.

Each part can be tried alone: the first tokenizer with that part of the second. So each of several differences gets a
text of its own.

Cost: comparing patterns (`regex/equivalence.py`) and models (`models.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .._support.first_difference import first_difference
from ..core.spec import TokenizerSpec
from ..errors import BPELabError
from ..formats.published_patterns import same_ids_with_classic
from ..regex.dfa import NotRegular
from ..regex.equivalence import compare_patterns
from .candidates import placed, strings_of
from .models import compare_models

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..model.bpe import BPEModel
    from ..vocab.special_tokens import SpecialTokens

FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
ROLES = ("bos", "eos", "pad", "unk")
SHOWN = 120
"""The most characters of a component that a sentence shows."""


@dataclass(frozen=True)
class Part:
    """A part that may affect ids and that differs.

    Attributes:
        name: as in `PartDifference`.
        sentence: the difference in words.
        argument: the TokenizerSpec argument to swap; "model" for the model.
        proved_equal: True if it is proved that no id depends on it.
        texts: texts whose ids may depend on it.
        hint: characters to try first in a search.
    """

    name: str
    sentence: str
    argument: str
    proved_equal: bool = False
    texts: tuple[str, ...] = field(default=())
    hint: str = ""


def differing_parts(first: TokenizerSpec, second: TokenizerSpec) -> Iterator[Part]:
    """Yield the differing parts that may change ids, in pipeline order."""
    if first.special_tokens.tokens != second.special_tokens.tokens:
        yield from _added_tokens(first.special_tokens, second.special_tokens)
    if first.normalizer != second.normalizer:
        strings = [*strings_of(first.normalizer), *strings_of(second.normalizer)]
        sentence = _both(first.normalizer, second.normalizer)
        yield Part("normalizer", sentence, "normalizer", texts=tuple(placed(strings)), hint="".join(strings)[:20])
    if first.pre_tokenizer != second.pre_tokenizer:
        yield _pre_tokenizers(first, second)
    if (model := compare_models(first.model, second.model)) is not None:
        hint = "".join(dict.fromkeys("".join(model.texts[:20])))
        yield Part(model.part, model.sentence, "model", model.proved_equal, model.texts, hint)
    if first.resolved_post_processor != second.resolved_post_processor:
        nothing = _adds_nothing(first) and _adds_nothing(second)
        sentence = _both(first.post_processor, second.post_processor) + (", which add nothing" if nothing else "")
        yield Part("post-processor", sentence, "post_processor", nothing)


def _added_tokens(first: SpecialTokens, second: SpecialTokens) -> Iterator[Part]:
    one, two = ({token.content: token for token in tokens.tokens} for tokens in (first, second))
    only = [[name for name in a if name not in b] for a, b in ((one, two), (two, one))]
    said = [f"only the {which} has {_names(names)}" for names, which in zip(only, ("first", "second")) if names]
    both = [(one[name], two[name]) for name in one if name in two]
    ids = [name.content for name, other in both if name.id != other.id]
    said += [f"{_names(ids)} has the ids {one[ids[0]].id} and {two[ids[0]].id}"] if ids else []
    flagged = [
        (token.content, flag, getattr(token, flag))
        for token, other in both
        for flag in FLAGS
        if getattr(token, flag) != getattr(other, flag)
    ]
    for name, flag, value in flagged[:4]:
        said.append(f"{name!r} is {flag} in the {'first' if value else 'second'} only")
    changed = [*only[0], *only[1], *ids, *dict.fromkeys(name for name, _, _ in flagged)]
    part = "flags" if flagged and not (only[0] or only[1] or ids) else "added tokens"
    sentence = "; ".join(said) or "the same tokens in a different order"
    yield Part(part, sentence, "special_tokens", texts=tuple(placed(changed[:200])), hint=" a")


def _pre_tokenizers(first: TokenizerSpec, second: TokenizerSpec) -> Part:
    one, two = first.pre_tokenizer, second.pre_tokenizer
    if (
        all(it is None or (it.cuts_nothing and not it.emits_byte_alphabet) for it in (one, two))
        and first.model.is_byte_level
    ):
        return Part("pre-tokenizer", f"{_both(one, two)}, which cut nothing", "pre_tokenizer", True)
    splits = [None if it is None else it.as_single_split for it in (one, two)]
    if one is None or two is None or splits[0] is None or splits[1] is None:
        strings = [*strings_of(one), *strings_of(two)]
        hint = "".join(strings)[:20]
        return Part("pre-tokenizer", _both(one, two), "pre_tokenizer", texts=tuple(placed(strings)), hint=hint)
    sentence = _both(one, two) if splits[0] == splits[1] else _both(*splits)
    try:
        found = compare_patterns(splits[0].pattern, splits[1].pattern, splits[0].dialect, splits[1].dialect)
    except NotRegular as reason:
        return Part("pattern", f"{sentence}; no proof: {reason}", "pre_tokenizer")
    if found is not None:
        named = {first.pattern, second.pattern} == {"cl100k", "llama3"}
        if named and same_ids_with_classic(first.model) and same_ids_with_classic(second.model):
            return Part("pattern", f"{sentence}; {found}, and no token lies across that cut", "pre_tokenizer", True)
        return Part("pattern", f"{sentence}; {found}", "pre_tokenizer", texts=(found.text,), hint=found.text)
    levels = first.is_byte_level or one.byte_level == two.byte_level
    return Part(
        "pattern",
        f"{sentence}, which cut alike",
        "pre_tokenizer",
        one.emits_byte_alphabet == two.emits_byte_alphabet and levels,
    )


def swapped(first: TokenizerSpec, second: TokenizerSpec, part: Part) -> TokenizerSpec | None:
    """Return the first specification with one part of the second, or None if that part doesn't fit the others.

    A model brings the second's added tokens if its ids collide with the first's.
    """
    arguments = {**first.arguments(), **{f"{role}_token": None for role in ROLES}}
    arguments["post_processor"] = first.resolved_post_processor
    theirs = {**second.arguments(), "post_processor": second.resolved_post_processor}
    if part.argument != "model":
        return _fitting(first.model, {**arguments, part.argument: theirs[part.argument]})
    whole = _fitting(second.model, arguments)
    return whole or _fitting(second.model, {**arguments, "special_tokens": theirs["special_tokens"]})


def _fitting(model: BPEModel, arguments: dict[str, Any]) -> TokenizerSpec | None:
    try:
        return TokenizerSpec(model, **arguments)
    except (BPELabError, ValueError):
        return None


def _names(names: list[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _adds_nothing(spec: TokenizerSpec) -> bool:
    """Return whether the ids of a text, and of two, stay as they are after the post-processor."""
    after, special = spec.resolved_post_processor, spec.special_tokens
    return after is None or (after.apply((0,), special) == [0] and after.apply((0,), special, (1,)) == [0, 1])


def _both(one: object, two: object) -> str:
    """Return two components as a sentence shows them: the beginning or, if it is the same, where they differ.

    >>> _both("a" * 200, None)[110:]
    'aaaaaaaaaa… and none'
    >>> _both("a" * 200 + "b", "a" * 200 + "c")[50:]
    "aaaaaaaaaaab' and …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'"
    """
    shown = ["none" if component is None else repr(component) for component in (one, two)]
    alike = first_difference(*shown)
    start = alike - SHOWN // 2 if SHOWN * 3 // 4 < alike < max(map(len, shown)) else 0
    return " and ".join(
        "…" * (start > 0) + text[start : start + SHOWN] + "…" * (len(text) > start + SHOWN) for text in shown
    )
