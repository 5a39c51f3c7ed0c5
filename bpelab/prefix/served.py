"""What each token of a tokenizer spells in a text. Tokenizers for which that isn't enough are refused by name.

Byte-level tokens are bytes of the text. SentencePiece's kind replaces spaces by `▁` before it encodes, and may put one
in front; its tokens are characters, and one that the vocabulary lacks is spelled by tokens of its bytes. Both may have
added tokens that aren't special, which are found in a text before anything else.

A text with a `▁` of its own gets the ids of the text that has a space there, which is what these ids decode to. It
can't be asked about, and doesn't count among the texts that go on.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from ..core.tokenizer import Tokenizer
from ..errors import ModelError
from ..normalizers.base import Normalizer
from ..normalizers.ends import Prepend
from ..normalizers.replace import Replace
from ..normalizers.sequence import NormalizerSequence
from ..vocab.special_tokens import SpecialTokens

SPACE = "▁"
SPACES = SPACE.encode(), b" "


@dataclass(frozen=True)
class TokenTexts:
    """What tokens spell.

    Attributes:
        texts: of every id of the model, and of the added tokens that aren't special, the bytes in a text.
        added: text -> id of the added tokens.
        byte_tokens: byte -> id of the tokens that spell characters which the vocabulary lacks.
        characters: the characters that it has, if there are such tokens.
        prefix: what is put in front of a text.
        never: characters that no text has.
    """

    texts: dict[int, bytes]
    added: dict[str, int] = field(default_factory=dict)
    byte_tokens: dict[int, int] = field(default_factory=dict)
    characters: frozenset[str] = frozenset()
    prefix: bytes = b""
    never: str = ""


@lru_cache(4)
def token_texts(tokenizer: Tokenizer) -> TokenTexts:
    """Return what a tokenizer's tokens spell. Raises ModelError for one that isn't served, saying why."""
    spec, model = tokenizer.spec, tokenizer.model
    added = _added_tokens(spec.special_tokens, spec.normalizer is not None)
    if spec.pre_tokenizer is not None and tokenizer.pipeline.split is None:
        raise ModelError(f"this needs a pre-tokenizer that is one pattern, not {spec.pre_tokenizer!r:.200}")
    symbols = model.initial_symbols
    if symbols is None or model.is_byte_level:
        if spec.normalizer is not None:
            raise ModelError("this needs a tokenizer without a normalizer, which gives different texts the same ids")
        return TokenTexts({**model.tokens} | {token: text.encode() for text, token in added.items()}, added)
    prepended = _spaces_replaced(spec.normalizer)
    if not (symbols.characters and symbols.byte_tokens and len(symbols.byte_tokens) == 256):
        raise ModelError("this needs a model that can spell every text, by tokens for all 256 bytes")
    if symbols.prefix or symbols.suffix or symbols.symbols or model.ignore_merges or spec.pre_tokenizer is not None:
        raise ModelError("covers of SentencePiece's kind need symbols without marks, merges only, and no pattern")
    if prepended and added:
        raise ModelError(f"this needs texts that begin alike, and {SPACE} is put after each added token, too")
    if SPACE.encode() not in model.alphabet:
        raise ModelError(f"this needs a token {SPACE}, which stands for a space")
    merged = {token for pair in model.merges for token in (*pair, model.merges[pair][1])}
    if not merged.isdisjoint(symbols.byte_tokens.values()):
        raise ModelError("this needs tokens of bytes that aren't merged")
    texts = {token: spelled.replace(*SPACES) for token, spelled in model.tokens.items()}
    texts |= {token: bytes([byte]) for byte, token in symbols.byte_tokens.items()}
    texts |= {token: text.encode() for text, token in added.items()}
    characters = frozenset(text.decode().replace(SPACE, " ") for text in model.alphabet)
    prefix = b" " if prepended else b""
    return TokenTexts(texts, added, dict(symbols.byte_tokens), characters, prefix, SPACE)


def _added_tokens(special: SpecialTokens, normalized: bool) -> dict[str, int]:
    """Return the added tokens that aren't special. Raises ModelError for those whose search isn't served."""
    added = [token for token in special.tokens if not token.special]
    for token in added:
        if token.single_word or token.lstrip or token.rstrip:
            raise ModelError(f"this needs added tokens that match everywhere, and {token.content!r} looks around")
        if token.normalized and normalized:
            raise ModelError(f"this needs added tokens of the original text; {token.content!r} is normalized")
        if token.normalized != added[0].normalized:
            raise ModelError(f"this needs one search for added tokens, and {token.content!r} needs another")
    begun = {token.content[:size] for token in added for size in range(1, len(token.content) + 1)}
    together = "\0".join(special.special_names)
    for token in added:
        if token.content in together:
            raise ModelError(f"this needs added tokens apart, and one that is special contains {token.content!r}")
    for name in special.special_names:
        if any(name[at:] in begun for at in range(len(name))):
            raise ModelError(f"this needs added tokens apart, and the end of {name!r} begins another one")
    return {token.content: token.id for token in added}


def _spaces_replaced(normalizer: Normalizer | None) -> bool:
    """Return whether a normalizer of SentencePiece's kind puts `▁` in front. Raises ModelError for other kinds."""
    steps = normalizer.normalizers if isinstance(normalizer, NormalizerSequence) else (normalizer,)
    prepended = bool(steps) and steps[0] == Prepend(SPACE)
    rest = steps[prepended:]
    if not (len(rest) == 1 and isinstance(rest[0], Replace)):
        raise ModelError(f"this needs a normalizer that only makes spaces {SPACE}, not {normalizer!r:.200}")
    replaced = rest[0]
    if (replaced.pattern.kind, replaced.pattern.text, replaced.content) != ("String", " ", SPACE):
        raise ModelError(f"this needs a normalizer that only makes spaces {SPACE}, not {normalizer!r:.200}")
    return prepended
