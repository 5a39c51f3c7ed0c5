"""What is different in two tokenizers, with the shortest text by which it shows.

Parts that are the same can't change an id. Of those that differ, some are proved to change none: patterns that cut
alike, a list of merges and ranks that say the same. For the others a text is searched that has other ids. The cause is
the part that changes the ids of this text when the first tokenizer gets it from the second; a part that doesn't is
searched for a text of its own.

Cost: seconds for large vocabularies, most of it for encoding some 200,000 short texts where nothing differs.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain, islice, zip_longest

from . import candidates
from .parts import ROLES, Part, differing_parts, swapped
from .result import PartDifference, TokenizerDifference
from .search import BATCH, observe_ids, observe_text, shortest
from .templates import compare_templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.spec import TokenizerSpec
    from ..core.tokenizer import Tokenizer


def diff(first: Tokenizer, second: Tokenizer, corpus: Iterable[str] | None = None) -> TokenizerDifference:
    """Return what `BPETokenizer.diff` does."""
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
        cause = f"{' and '.join(part.name for part in suspects)} together: no one of them alone changes this text"
    differing_lines, lines = (None, None) if corpus is None else _count(first, second, corpus)
    ids, other_ids = ((), ()) if text is None else (_ids(first, text), _ids(second, text))
    found = (*(results[part.name] for part in parts), *_other_parts(first, second))
    return TokenizerDifference(found, text, ids, other_ids, cause or None, tried, differing_lines, lines)


def _alone(first: Tokenizer, second: Tokenizer, part: Part, text: str) -> tuple[str | None, int]:
    """Return a text whose ids change when the first tokenizer gets one part of the second: `text`, if it is one."""
    spec = swapped(first.spec, second.spec, part)
    if spec is None:
        return None, 0
    other = type(first).from_spec(spec, encoder=first.pipeline.encoder)
    if observe_ids(first, [text]) != observe_ids(other, [text]):
        return text, 0
    return _search(first, other, [part])


def _search(first: Tokenizer, second: Tokenizer, parts: Sequence[Part]) -> tuple[str | None, int]:
    """Return the shortest text found with other ids, where some parts differ, and how many texts were tried."""
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
    """Return characters by which a difference of one part may show."""
    one, two = first.spec.pre_tokenizer, second.spec.pre_tokenizer
    if part.name != "pattern" or one is None or two is None:
        return list(dict.fromkeys(part.hint))
    return candidates.telling_characters(one.as_single_split, two.as_single_split, part.hint, frequent)


def _ids(tokenizer: Tokenizer, text: str) -> tuple[int, ...] | str:
    ids = observe_ids(tokenizer, [text])[0]
    return ids if isinstance(ids, str) else tuple(ids)


def _other_parts(first: Tokenizer, second: Tokenizer) -> Iterator[PartDifference]:
    """Yield the differences that change no text's ids: how they are decoded, what a model is asked, what files say."""
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
    """Whether decoding joins the bytes of tokens, whose names are no spelling of other bytes."""
    names = "".join(token.content for token in spec.special_tokens.tokens)
    return spec.joins_bytes and names.isascii() and names.isprintable() and " " not in names


def _count(first: Tokenizer, second: Tokenizer, corpus: Iterable[str]) -> tuple[int, int]:
    """Return on how many texts of a corpus the ids differ, and how many texts there are."""
    texts, differ, number = iter(corpus), 0, 0
    while batch := list(islice(texts, BATCH)):
        number += len(batch)
        differ += sum(a != b for a, b in zip(observe_ids(first, batch, ()), observe_ids(second, batch, ())))
    return differ, number
