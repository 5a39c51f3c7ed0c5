"""Lossless or not: whether decoding returns every text, judged by the tokenizer's components, since no sample can tell.

Each component either keeps the whole text, or is reported as one that may lose some of it; so is an unknown component.
How much is lost in practice is counted on a sample in many scripts.

Chapter: File formats. Cost: a few milliseconds, without the sample.
"""

from functools import lru_cache

from ..core.spec import TokenizerSpec
from ..data import FOLDER
from ..tokenizer import BPETokenizer
from ..vocab.added_tokens import AddedToken


def losses(tokenizer: BPETokenizer) -> list[str]:
    """Return the reasons why `decode(encode(text))` may differ from `text`; none if they are always equal.

    Tokens that a post-processor adds don't count. Nor do special tokens, which no text has unless the caller allows
    them.

    >>> from bpelab import BPETokenizer
    >>> losses(BPETokenizer.train("low low", 258)), losses(BPETokenizer.train("low low", 258, normalizer="NFC"))
    ([], ['its normalizer changes text, NFC()'])
    """
    spec, reasons = tokenizer.spec, []
    if spec.normalizer is not None:
        reasons.append(f"its normalizer changes text, {str(spec.normalizer)[:120]}")
    if not _cuts_only(spec):
        reasons.append(f"its pre-tokenizer may change text, {str(spec.pre_tokenizer)[:120]}")
    initial_symbols = spec.model.initial_symbols
    if not spec.model.covers_utf8 and (initial_symbols is None or len(initial_symbols.byte_tokens or {}) < 256):
        reasons.append("not all that a text may hold has a token")
    if not spec.joins_bytes:
        reasons.append(f"its decoder doesn't just join bytes, {str(spec.decoder)[:120]}")
    changed = next((token.content for token in spec.special_tokens.tokens if _is_changed(tokenizer, token)), None)
    if changed is not None:
        reasons.append(f"an added token decodes to another text or strips spaces, {changed!r}")
    return reasons


def _cuts_only(spec: TokenizerSpec) -> bool:
    """Return whether the pre-tokenizer is known to cut the text without changing it."""
    steps = () if spec.pre_tokenizer is None else spec.pre_tokenizer.steps
    return spec.pattern is not None or all(step.as_single_split or step.cuts_nothing for step in steps)


def _is_changed(tokenizer: BPETokenizer, token: AddedToken) -> bool:
    """Return whether an added token may match text other than its own, so that decoding changes the text."""
    if token.special:
        return False
    return token.lstrip or token.rstrip or tokenizer.decode([token.id]) != token.content


@lru_cache(1)
def sample_lines() -> tuple[str, ...]:
    """Return lines in many scripts, and odd ones, from the library's own texts.

    >>> len(sample_lines()) > 60
    True
    """
    texts = [FOLDER.joinpath("passages", name).read_text("utf-8") for name in ("languages.txt", "oddities.txt")]
    lines = [line for text in texts for line in text.splitlines() if line and not line.startswith("%% ")]
    return tuple(dict.fromkeys(lines))


def count_changed_lines(tokenizer: BPETokenizer) -> int:
    """Return how many of `sample_lines()` a round trip changes; only the first 80 characters of a line count."""
    lines = [line[:80] for line in sample_lines()]
    ids = tokenizer.encode_batch(lines, add_special_tokens=False)
    return sum(line != back for line, back in zip(lines, tokenizer.decode_batch(ids)))
