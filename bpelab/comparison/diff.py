"""Diff two tokenizers: the parts that differ, and the shortest text that shows it.

Equal parts can't change an id. Some differing parts are proved to change none: patterns that cut alike, or a list of
merges and ranks that are equivalent. For the others, the search looks for a text with different ids. The cause is the
part that changes the text's ids when the first tokenizer takes it from the second. A part that doesn't gets a search
for a text of its own.

Cost: seconds for large vocabularies, mostly for encoding some 200,000 short texts if nothing differs.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain, islice, zip_longest

from ..core.tokenizer import Tokenizer, with_spec
from . import candidates
from .parts import ROLES, Part, differing_parts, swapped
from .result import PartDifference, TokenizerDifference
from .search import BATCH, observe_ids, observe_text, shortest
from .templates import compare_templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.spec import TokenizerSpec


def diff(first: Tokenizer, second: Tokenizer, corpus: Iterable[str] | None = None) -> TokenizerDifference:
    """Implement `BPETokenizer.diff`."""
    if not isinstance(second, Tokenizer):
        raise TypeError(f"diff compares with another tokenizer, not {type(second).__name__}: open it first")
    parts = list(differing_parts(first.spec, second.spec))
    suspects = [part for part in parts if not part.proved_equal]
    text, tried = _search(first, second, suspects) if suspects else (None, 0)
    results = {part.name: PartDifference(part.name, part.sentence, False) for part in parts if part.proved_equal}
    for part in suspects:
        shown, number = (text, 0) if text is None or len(suspects) == 1 else _alone(first, second, part, text)
        tried += number
        results[part.name] = PartDifference(part.name, part.sentence, None if shown is None else True, shown)
    guilty = [part for part in suspects if text is not None and results[part.name].text == text]
    cause = "; ".join(f"{part.name}: {part.sentence}" for part in guilty)
    if text is not None and not guilty:
        cause = f"{' and '.join(part.name for part in suspects)} together: none of them alone changes this text"
    differing_lines, lines = (None, None) if corpus is None else _count(first, second, corpus)
    ids, other_ids = ((), ()) if text is None else (_ids(first, text), _ids(second, text))
    found = (*(results[part.name] for part in parts), *_other_parts(first, second))
    return TokenizerDifference(found, text, ids, other_ids, cause or None, tried, differing_lines, lines)


def _alone(first: Tokenizer, second: Tokenizer, part: Part, text: str) -> tuple[str | None, int]:
    """Return a text whose ids change when the first tokenizer takes one part of the second: `text`, if possible."""
    spec = swapped(first.spec, second.spec, part)
    if spec is None:
        return None, 0
    other = with_spec(first, spec)
    if observe_ids(first, [text]) != observe_ids(other, [text]):
        return text, 0
    return _search(first, other, [part])


def _search(first: Tokenizer, second: Tokenizer, parts: Sequence[Part]) -> tuple[str | None, int]:
    """Search for the shortest text with different ids, given the parts that differ; return it and the number tried."""
    frequent = candidates.frequent_characters(first, second)
    usual = [char for char, _ in frequent.most_common(180)]
    telling = zip_longest(*(_telling(first, second, part, frequent) for part in parts), fillvalue="")
    chars = list(dict.fromkeys([*chain.from_iterable(telling), *usual[:12], *candidates.COMMON, *usual]))
    chars = [char for char in chars if char]
    tokens = list(candidates.tokens_of(first, second))
    more = chain(tokens, candidates.with_contexts(tokens, chars[:8]))
    if any(part.argument == "normalizer" for part in parts):
        more = chain(more, candidates.characters())
    likely = chain.from_iterable(part.texts for part in parts)
    return shortest(partial(observe_ids, first), partial(observe_ids, second), likely, chars, more)


def _telling(first: Tokenizer, second: Tokenizer, part: Part, frequent: Counter[str]) -> list[str]:
    """Return characters that may reveal a difference in one part."""
    one, two = first.spec.pre_tokenizer, second.spec.pre_tokenizer
    if part.name != "pattern" or one is None or two is None:
        return list(dict.fromkeys(part.hint))
    return candidates.distinguishing_characters(one.as_single_split, two.as_single_split, part.hint, frequent)


def _ids(tokenizer: Tokenizer, text: str) -> tuple[int, ...] | str:
    ids = observe_ids(tokenizer, [text])[0]
    return ids if isinstance(ids, str) else tuple(ids)


def _other_parts(first: Tokenizer, second: Tokenizer) -> Iterator[PartDifference]:
    """Yield the differences that change no text's ids: in decoding, chat templates, and file settings."""
    one, two = first.spec, second.spec
    if one.decoder != two.decoder and _join_bytes(one) and _join_bytes(two):
        yield PartDifference("decoder", f"{one.decoder!r} and {two.decoder!r}, which both join bytes", False)
    elif one.decoder != two.decoder:
        looks = partial(observe_text, first), partial(observe_text, second)
        text, _ = shortest(*looks, candidates.placed(candidates.COMMON), candidates.COMMON)
        sentence = f"{one.decoder!r} and {two.decoder!r}"
        if text is not None:
            sentence += f"; the ids of {text!r} become {looks[0]([text])[0]!r} and {looks[1]([text])[0]!r}"
        yield PartDifference("decoder", sentence, None if text is None else True)
    if one.metadata.get("chat_template") != two.metadata.get("chat_template"):
        matters, sentence = compare_templates(first, second)
        yield PartDifference("chat template", sentence, matters)
    for role in ROLES:
        names = one.roles[role], two.roles[role]
        if names[0] != names[1]:
            yield PartDifference("special roles", f"{role}_token is {names[0]!r} and {names[1]!r}", True)
    for name in ("truncation", "padding", "dropout"):
        values = getattr(one, name), getattr(two, name)
        if values[0] != values[1]:
            yield PartDifference(name, f"{values[0]!r} and {values[1]!r}", True)


def _join_bytes(spec: TokenizerSpec) -> bool:
    """Return whether decoding just joins the tokens' bytes, and token names don't spell other bytes."""
    names = "".join(token.content for token in spec.special_tokens.tokens)
    return spec.joins_bytes and names.isascii() and names.isprintable() and " " not in names


def _count(first: Tokenizer, second: Tokenizer, corpus: Iterable[str]) -> tuple[int, int]:
    """Return the number of texts in a corpus with different ids, and the number of texts."""
    texts, differ, number = iter(corpus), 0, 0
    while batch := list(islice(texts, BATCH)):
        number += len(batch)
        differ += sum(a != b for a, b in zip(observe_ids(first, batch, ()), observe_ids(second, batch, ())))
    return differ, number
