"""Save a vocabulary-only GGUF file, which llama.cpp loads with the same ids.

Byte-level tokenizers need a pattern that has a name in llama.cpp. Others are written with SentencePiece's scores, if
scores can express their merges: any two neighbours merge if their concatenation is a token, in one order of the tokens.

Chapter: File formats. Source: llama.cpp `src/llama-vocab.cpp`; llama.cpp's `convert_hf_to_gguf.py` for the types of
tokens.
"""

from pathlib import Path
from typing import Any

from .._support.textio import utf8
from ..core.spec import TokenizerSpec
from ..errors import ConversionError
from ..model.bpe import BPEModel
from ..model.merge_recovery import merge_pairs, pair_only_ranks_merge
from ..model.rank_merges import RankMerges
from ..normalizers import NormalizerSequence, Prepend, Replace
from ..pretokenizers.split import Split
from ..regex.patterns import PATTERNS, find_pattern
from ..unicode.byte_alphabet import to_alphabet
from .gguf_container import write_metadata
from .gguf_load import PREFIX, ROLE_KEYS, TEMPLATE_KEY, TOKEN_TYPES
from .gguf_overlaps import explain_overlap, find_overlap
from .gguf_pre_match import GGUFPreMatch, find_gguf_pre, names_by_spelling, spellings
from .gguf_pre_tokenizers import gguf_pre, names_for
from .sentencepiece_load import SPACE

FOUND_FIRST = {TOKEN_TYPES[kind] for kind in ("CONTROL", "USER_DEFINED", "UNKNOWN")}
"""The types of the tokens that llama.cpp looks for before anything else."""
MAX_SHOWN = 60
"""The number of characters of a pattern that error messages show."""


def save(spec: TokenizerSpec, path: Path) -> None:
    """Write a vocabulary-only GGUF file. Raises ConversionError if llama.cpp would give other ids."""
    metadata, types = gguf_metadata(spec)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_metadata(path, metadata, types)


def gguf_metadata(spec: TokenizerSpec) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the metadata of the file, and the types of the keys that need one: the arguments of `write_metadata`."""
    kind = _sentencepiece(spec) if spec.model.is_char_level else _byte_level(spec)
    texts, kinds = _token_texts(spec)
    _check_overlaps([text for text, kind in zip(texts, kinds) if kind in FOUND_FIRST])
    special = {f"{PREFIX}{key}": spec.role_id(role) for role, key in ROLE_KEYS.items()}
    adds_bos, adds_eos = _bos_eos(spec)
    values: dict[str, Any] = {
        "general.architecture": "llama",
        "general.type": "vocab",
        **kind,
        f"{PREFIX}tokens": texts,
        f"{PREFIX}token_type": kinds,
        **{key: token_id for key, token_id in special.items() if token_id is not None},
        f"{PREFIX}add_bos_token": adds_bos,
        f"{PREFIX}add_eos_token": adds_eos,
        # llama.cpp requires a model's sizes even in a file without a model
        "llama.vocab_size": len(texts),
        "llama.context_length": 1,
        "llama.embedding_length": 1,
        "llama.block_count": 1,
        "llama.attention.head_count": 1,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
    }
    template = spec.metadata.get("chat_template")
    if isinstance(template, str):
        values[TEMPLATE_KEY] = template
    elif isinstance(template, list):  # named templates, as Hugging Face lists them
        templates = {entry["name"]: entry["template"] for entry in template}
        values |= {
            TEMPLATE_KEY if name == "default" else f"{TEMPLATE_KEY}.{name}": text for name, text in templates.items()
        }
    types = {key: "uint32" for key, value in values.items() if type(value) is int}
    types |= {key: "float32" for key, value in values.items() if type(value) is float}
    types |= {f"{PREFIX}token_type": "[int32]", f"{PREFIX}scores": "[float32]"}
    types |= dict.fromkeys((f"{PREFIX}tokens", f"{PREFIX}merges"), "[string]")
    return values, {key: kind for key, kind in types.items() if key in values}


def _token_texts(spec: TokenizerSpec) -> tuple[list[str], list[int]]:
    """Return the texts and types of all ids; an id without a token gets an unused placeholder."""
    initial_symbols = spec.model.initial_symbols
    in_bytes = not spec.model.is_char_level
    size = spec.n_vocab
    if size > 4 * len(spec.tokens) + 1_000:
        raise ConversionError(
            f"GGUF lists every id from 0 up, but here {size - len(spec.tokens):,} of {size:,} have no token"
        )
    texts, kinds = [f"[PAD{token_id}]" for token_id in range(size)], [TOKEN_TYPES["UNUSED"]] * size
    for token_id, token in spec.model.tokens.items():
        texts[token_id] = to_alphabet(token) if in_bytes else token.decode("utf-8", "surrogateescape")
        kinds[token_id] = TOKEN_TYPES["NORMAL"]
    for token_id in (initial_symbols.byte_tokens or {}).values() if initial_symbols is not None else ():
        kinds[token_id] = TOKEN_TYPES["BYTE"]
    for token_id in initial_symbols.symbols.values() if initial_symbols is not None else ():
        kinds[token_id] = TOKEN_TYPES["USER_DEFINED"]
    for added in spec.special_tokens.tokens:
        texts[added.id] = added.content
        kinds[added.id] = TOKEN_TYPES["CONTROL" if added.special else "USER_DEFINED"]
    if initial_symbols is not None and initial_symbols.unk_id is not None:
        kinds[initial_symbols.unk_id] = TOKEN_TYPES["UNKNOWN"]
    seen: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        if seen.setdefault(text, token_id) != token_id:
            raise ConversionError(
                f"GGUF would mix up the tokens {seen[text]} and {token_id}: both are written {text!r}"
            )
    return texts, kinds


def _byte_level(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the keys of a byte-level model. Raises ConversionError if llama.cpp would give other ids."""
    model = spec.model
    if spec.normalizer is not None:
        raise ConversionError(
            f"llama.cpp applies no normalizer to byte-level tokenizers, but this one has {spec.normalizer}"
        )
    if not model.is_byte_level:
        raise ConversionError("GGUF can't hold a byte-level tokenizer that lacks bytes, or marks the parts of words")
    name = pre_name(spec)
    text = {token_id: to_alphabet(token) for token_id, token in model.tokens.items()}
    merges = [f"{text[left]} {text[right]}" for left, right in merge_pairs(model)]
    return {f"{PREFIX}model": "gpt2", f"{PREFIX}pre": name, f"{PREFIX}merges": merges}


def pre_name(spec: TokenizerSpec) -> str:
    """Return llama.cpp's name for how a byte-level tokenizer splits text. Raises ConversionError if there is none.

    Only names with the same patterns, in any spelling, or with patterns that are proved to cut every text alike count.
    """
    names = names_by_spelling(spec.pre_tokenizer)
    match = None if names or _is_well_known(spec) else find_gguf_pre(spec.pre_tokenizer)
    if match is not None and match.basis == "proof":
        names = match.names
    if not names:
        raise _explain_unnamed(spec, match)
    model = spec.model
    equivalent = not model.recovered_merges.unreachable  # then looking up whole pieces first changes nothing
    fitting = [name for name in names if equivalent or gguf_pre()[name].ignore_merges == model.ignore_merges]
    if not fitting:
        does = "doesn't look" if model.ignore_merges else "looks"
        raise ConversionError(
            f"for this pattern ({names[0]}) llama.cpp {does} up whole pieces first, which changes ids here"
        )
    return fitting[0]


def approximate_pre_name(spec: TokenizerSpec) -> str | None:
    """Return the name of the spec's pattern if llama.cpp's own splitter only approximates it, else None."""
    try:
        name = pre_name(spec)
    except ConversionError:
        return None
    return name if gguf_pre()[name].is_approximation else None


def _is_well_known(spec: TokenizerSpec) -> bool:
    """Return whether the pattern is named or missing: then only an equal spelling can match a name (tested)."""
    return spec.pre_tokenizer is None or (spec.pattern is not None and find_pattern(spec.pattern) is not None)


def _explain_unnamed(spec: TokenizerSpec, match: GGUFPreMatch | None) -> ConversionError:
    """Return the error for a pattern without a name in llama.cpp; it lists the patterns with a name."""
    named_pattern = find_pattern(spec.pattern) if spec.pattern else None
    shown = named_pattern.name if named_pattern else str(spec.pattern or spec.pre_tokenizer)
    shown = shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + "..."
    if match is not None:
        shown += f" ({match})"
    supported_names = [name for name in PATTERNS if any(map(names_for, spellings(Split(name)) or ()))]
    advice = f"train it with a pattern that has one: {', '.join(supported_names)}"
    if named_pattern and not named_pattern.cuts_words:
        digits = " and then ".join(gguf_pre()["superbpe"].regex)
        advice = f"its one pre-tokenizer for superwords, also called superbpe, cuts digits only, by {digits}"
    return ConversionError(f"llama.cpp has no name for the way this tokenizer splits text, {shown}; {advice}")


def _sentencepiece(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the keys of a model with scores. Raises ConversionError if llama.cpp would give other ids."""
    model, initial_symbols = spec.model, spec.model.initial_symbols
    assert initial_symbols is not None
    steps = spec.normalizer
    parts = list(steps.normalizers) if isinstance(steps, NormalizerSequence) else [steps] if steps is not None else []
    prefix = bool(parts) and parts[0] == Prepend(SPACE)
    rest = parts[prefix:]
    if len(rest) != 1 or not isinstance(rest[0], Replace) or (rest[0].pattern.text, rest[0].content) != (" ", SPACE):
        raise ConversionError(
            f"llama.cpp prepares text for scored tokens in one way only, but this tokenizer has {steps}"
        )
    _check_symbols([symbol.decode() for symbol in initial_symbols.symbols], prefix)
    if spec.pre_tokenizer is not None or initial_symbols.prefix or initial_symbols.suffix or model.ignore_merges:
        raise ConversionError(
            "llama.cpp's scored tokens need a tokenizer without pre-tokenizer and without marks on words"
        )
    if len(initial_symbols.byte_tokens or {}) < 256:
        raise ConversionError(
            "llama.cpp spells missing characters in bytes, but this tokenizer lacks tokens for some of them"
        )
    ranks = _token_ranks(model, _found_in_text(spec))
    order = {rank: -float(position) for position, rank in enumerate(sorted(set(ranks.values())), 1)}
    scores = [order[ranks[token_id]] if token_id in ranks else 0.0 for token_id in range(spec.n_vocab)]
    return {
        f"{PREFIX}model": "llama",
        f"{PREFIX}pre": "default",
        f"{PREFIX}add_space_prefix": prefix,
        f"{PREFIX}scores": scores,
    }


def _check_overlaps(names: list[str]) -> None:
    """Raise ConversionError if added tokens overlap and llama.cpp would choose differently between them."""
    try:
        overlap = find_overlap(names)
    except ValueError as error:
        raise ConversionError(f"GGUF can't hold these added tokens: {error}") from error
    if overlap is not None:
        raise ConversionError(explain_overlap(*overlap))


def _check_symbols(symbols: list[str], prefix: bool) -> None:
    """Raise ConversionError unless llama.cpp finds these symbols where SentencePiece does, and merges the rest alike.

    As user-defined tokens they are found in the text before its spaces become U+2581.
    """
    if symbols and prefix:
        raise ConversionError(
            f"llama.cpp puts a space before the text that follows a symbol such as {symbols[0]!r}, but SentencePiece "
            "only before the whole text, so ids differ after each symbol"
        )
    for symbol in symbols:
        if SPACE in symbol or " " in symbol:
            raise ConversionError(f"llama.cpp looks for the symbol {symbol!r} before spaces become {SPACE}")


def _found_in_text(spec: TokenizerSpec) -> set[bytes]:
    """Return tokens that are found in every text before anything merges, so that what merges never contains them.

    Except those with U+2581, which may come from spaces afterwards.
    """
    added = (token for token in spec.special_tokens.tokens if not (token.special or token.single_word))
    return {utf8(token.content) for token in added if SPACE not in token.content}


def _token_ranks(model: BPEModel, absent: set[bytes]) -> dict[int, int]:
    """Return token id -> rank; merging never meets tokens in `absent`.

    Raises ConversionError if one rank for each token doesn't determine the merges.
    """
    if isinstance(model.merges, RankMerges):
        return {token: token for token in model.tokens} if model.merges.rank_of is None else dict(model.merges.rank_of)
    by_rank = sorted((rank, new) for rank, new in model.merges.values())
    ranks: dict[int, int] = {}
    last = None
    for rank, new in by_rank:
        if new in ranks and new != last:
            raise ConversionError(
                f"GGUF gives a token one score, but {model.tokens[new]!r} is made by merges of several ranks"
            )
        ranks.setdefault(new, rank)
        last = new
    if (more := pair_only_ranks_merge(model, absent)) is not None:
        raise ConversionError(f"by scores {more[0]!r} and {more[1]!r} would merge, but here they don't")
    return ranks


def _bos_eos(spec: TokenizerSpec) -> tuple[bool, bool]:
    """Return whether bos is added before a text, and eos after it. Raises ConversionError if other tokens are added."""
    template, text_id = spec.resolved_post_processor, -1
    ids = [text_id] if template is None else template.apply([text_id])
    bos, eos = spec.role_id("bos"), spec.role_id("eos")
    for adds_bos, adds_eos in ((False, False), (True, False), (False, True), (True, True)):
        if ids == [bos] * adds_bos + [text_id] + [eos] * adds_eos:
            return adds_bos, adds_eos
    before, after = (
        [spec.tokens[token_id].decode(errors="replace") for token_id in part]
        for part in (ids[: ids.index(text_id)], ids[ids.index(text_id) + 1 :])
    )
    missing = {"bos": before[0]} if bos is None and len(before) == 1 else {}
    missing |= {"eos": after[0]} if eos is None and len(after) == 1 else {}
    remedy = ", ".join(f"{role}_token={name!r}" for role, name in missing.items())
    raise ConversionError(
        "GGUF can put bos before a text and eos after it, and nothing else. This tokenizer puts "
        f"{before or 'nothing'} before a text and {after or 'nothing'} after it, and its bos is {spec.roles['bos']!r}, "
        f"its eos {spec.roles['eos']!r}"
        + (f". A tokenizer_config.json names them; without one, use tokenizer.with_options({remedy})" if remedy else "")
    )
