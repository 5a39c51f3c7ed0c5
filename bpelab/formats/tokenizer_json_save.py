"""Write a specification as a tokenizer.json.

The format holds everything in a tokenizer, except tokens of equal rank that overlap, added tokens that share an id,
vocabularies in which an added token has the text of another token, and SentencePiece's user-defined symbols if it puts
a space before the text.

Named patterns are written as Hugging Face's engine needs them (`NamedPattern.oniguruma`); others are translated
(`regex/oniguruma.py`). Each is written as it was published where that changes no id (`published_patterns`).

Chapter: File formats. Source: tokenizers `models/bpe/serialization.rs`, confirmed by experiment.
"""

from typing import Any

from ..core.spec import TokenizerSpec
from ..errors import ConversionError
from ..model.initial_symbols import InitialSymbols
from ..model.merge_recovery import merge_pairs
from ..normalizers import NormalizerSequence, Prepend, Replace
from ..pretokenizers.split import Split
from ..regex.matchers import Pattern
from ..regex.patterns import find_pattern
from ..unicode.byte_alphabet import from_alphabet, to_alphabet
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import SpecialTokens
from .json_components import portable_end, write_component, write_section

SPACE = "▁"


def tokenizer_json(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the contents of `tokenizer.json`. Raises ConversionError if it can't hold the tokenizer."""
    spec = _with_symbols_added(spec)
    model = _model(spec)
    return {
        "version": "1.0",
        "truncation": write_section(spec.truncation),
        "padding": write_section(spec.padding),
        "added_tokens": [
            {
                "id": token.id,
                "content": token.content,
                "single_word": token.single_word,
                "lstrip": token.lstrip,
                "rstrip": token.rstrip,
                "normalized": token.normalized,
                "special": token.special,
            }
            for token in _in_order(spec.special_tokens.tokens, model["vocab"])
        ],
        "normalizer": write_component(spec.normalizer, "normalizer"),
        "pre_tokenizer": _with_published_patterns(spec),
        "post_processor": write_component(spec.resolved_post_processor, "post_processor"),
        "decoder": write_component(spec.decoder, "decoder"),
        "model": model,
    }


def _with_symbols_added(spec: TokenizerSpec) -> TokenizerSpec:
    """Return the specification with its symbols, which never merge with their neighbours, as added tokens.

    These are found in the normalized text, as SentencePiece's symbols are, if only spaces are replaced in it. Raises
    ConversionError for any other normalizer.
    """
    initial_symbols, normalizer = spec.model.initial_symbols, spec.normalizer
    if initial_symbols is None or not initial_symbols.symbols:
        return spec
    symbols = {symbol.decode(): token_id for symbol, token_id in initial_symbols.symbols.items()}
    steps = normalizer.normalizers if isinstance(normalizer, NormalizerSequence) else (normalizer,)
    if any(step not in (None, Replace(Pattern("String", " "), SPACE)) for step in steps):
        first = next(iter(symbols))
        reason = "would be normalized, like the text, but these aren't"
        if Prepend(SPACE) in steps:
            reason = (
                f"are found before {SPACE} is put in front of a text, so a text that begins with one would get "
                "different ids"
            )
        raise ConversionError(
            f"tokenizer.json can't hold symbols that never merge with their neighbours, such as {first!r}: added "
            f"tokens, which come closest, {reason}"
        )
    added = [AddedToken(symbol, token_id, special=False, normalized=True) for symbol, token_id in symbols.items()]
    return spec.replace(special_tokens=SpecialTokens([*spec.special_tokens.tokens, *added]))


def _in_order(added: tuple[AddedToken, ...], vocab: dict[str, int]) -> list[AddedToken]:
    """Return the tokens in their own order, since the first of two with equal normalized text wins, or sorted by id.

    Hugging Face numbers tokens outside the vocabulary in the order of the file, so their ids must ascend.
    """
    renumbered = [token.id for token in added if token.content not in vocab or token.id >= len(vocab)]
    return list(added) if renumbered == sorted(renumbered) else sorted(added, key=lambda token: token.id)


def _model(spec: TokenizerSpec) -> dict[str, Any]:
    model, in_bytes = spec.model, not spec.model.is_char_level
    initial_symbols = model.initial_symbols or InitialSymbols(characters=False)

    def text(token: bytes) -> str:
        try:
            return to_alphabet(token) if in_bytes else token.decode()
        except UnicodeDecodeError:
            raise ConversionError(f"tokenizer.json is text, but the token {token!r} is not UTF-8") from None

    vocab = {text(token): token_id for token_id, token in sorted(model.tokens.items())}
    merges = [[text(model.tokens[left]), text(model.tokens[right])] for left, right in merge_pairs(model)]
    _add_specials(spec, vocab, in_bytes)
    unk = None if initial_symbols.unk_id is None else spec.tokens.get(initial_symbols.unk_id)
    return {
        "type": "BPE",
        "dropout": spec.dropout,
        "unk_token": None if unk is None else unk.decode(),
        "continuing_subword_prefix": text(initial_symbols.prefix) or None,
        "end_of_word_suffix": text(initial_symbols.suffix) or None,
        "fuse_unk": initial_symbols.fuse_unk,
        "byte_fallback": initial_symbols.byte_tokens is not None,
        "ignore_merges": model.ignore_merges,
        "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
        "merges": merges,
    }


def _add_specials(spec: TokenizerSpec, vocab: dict[str, int], in_bytes: bool) -> None:
    """Add to `vocab` the tokens that Hugging Face would otherwise renumber, or requires there."""
    added = sorted(spec.special_tokens.tokens, key=lambda token: token.id)
    if len({token.id for token in added}) < len(added):
        raise ConversionError("tokenizer.json can't hold two special tokens with one id")
    for token in added:
        if vocab.get(token.content, token.id) != token.id:
            other = from_alphabet(token.content) if in_bytes else token.content
            raise ConversionError(
                f"tokenizer.json would mix up the special token {token.content!r} with the token {other!r}"
            )
    initial_symbols = spec.model.initial_symbols
    if initial_symbols is not None:
        vocab.update((token.content, token.id) for token in added if token.id == initial_symbols.unk_id)
    outside = [token for token in added if token.content not in vocab]
    size, n_in_vocab = len(vocab), len(outside)
    # Hugging Face numbers tokens outside the vocabulary from its size on.
    while n_in_vocab and outside[n_in_vocab - 1].id == size + n_in_vocab - 1:
        n_in_vocab -= 1
    vocab.update((token.content, token.id) for token in outside[:n_in_vocab])


def _with_published_patterns(spec: TokenizerSpec) -> Any:
    from .published_patterns import publish_patterns

    written = _pre_tokenizer(spec)
    publish_patterns(written, spec)
    return written


def _pre_tokenizer(spec: TokenizerSpec) -> Any:
    pre_tokenizer = spec.pre_tokenizer
    if isinstance(pre_tokenizer, Split):
        split: list[dict[str, Any]] = [_split(pre_tokenizer)]
    elif pre_tokenizer is None and not spec.model.is_char_level:
        split = []
    else:
        return write_component(pre_tokenizer, "pre_tokenizer")
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {"type": "Sequence", "pretokenizers": [*split, byte_level]} if split else byte_level


def _split(split: Split) -> dict[str, Any]:
    from ..regex.oniguruma import oniguruma_spelling

    pattern = split.pattern
    if split.dialect != "oniguruma":
        named_pattern = find_pattern(pattern)
        pattern = named_pattern.oniguruma if named_pattern else oniguruma_spelling(pattern)
    return {
        "type": "Split",
        "behavior": split.behavior,
        "invert": split.invert,
        "pattern": {"Regex": portable_end(pattern)},
    }
