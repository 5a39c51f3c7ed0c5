"""GGUF, written: a vocabulary-only file that llama.cpp loads, with the same ids.

Byte-level tokenizers need a pattern that llama.cpp has a name for. Others are written as SentencePiece's scores, if
their merges are what scores can say: any two neighbours whose text, joined, is a token, in one order of the tokens.

Chapter: File formats. Source: llama.cpp `src/llama-vocab.cpp`; llama.cpp's `convert_hf_to_gguf.py` for the kinds of
tokens.
"""

import re
from pathlib import Path
from typing import Any

from ..byte_alphabet import to_alphabet
from ..errors import ConversionError
from ..model import BPEModel, RankMerges
from ..normalizers import NormalizerSequence, Prepend, Replace
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.gguf_names import gguf_pre, names_for
from ..pretokenizers.patterns import PATTERNS, find_pattern
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split
from ..pretokenizers.split_pattern import SplitPattern
from ..recover import compatible
from ..tokenizer import BPETokenizer
from .gguf import KEY, KINDS, ROLES, TEMPLATE
from .gguf_file import write_metadata
from .huggingface import merge_pairs
from .sentencepiece import SPACE

SHOWN = 60
"""Characters of a pattern in a message."""


def save(tokenizer: BPETokenizer, path: Path) -> None:
    """Write a vocabulary-only GGUF file. Raises ConversionError for what llama.cpp would encode otherwise."""
    metadata, types = gguf_metadata(tokenizer)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_metadata(path, metadata, types)


def gguf_metadata(tokenizer: BPETokenizer) -> tuple[dict[str, Any], dict[str, str]]:
    """The keys of the file with their values, and the types of those that need one."""
    units = tokenizer.model.units
    kind = _scored(tokenizer) if units is not None and units.characters else _byte_level(tokenizer)
    texts, kinds = _tokens(tokenizer)
    special = {f"{KEY}{key}": getattr(tokenizer, f"{role}_token_id") for role, key in ROLES.items()}
    starts, ends = _ends(tokenizer)
    values: dict[str, Any] = {
        "general.architecture": "llama",
        "general.type": "vocab",
        **kind,
        f"{KEY}tokens": texts,
        f"{KEY}token_type": kinds,
        **{key: token_id for key, token_id in special.items() if token_id is not None},
        f"{KEY}add_bos_token": starts,
        f"{KEY}add_eos_token": ends,
        # llama.cpp wants the shape of a model also where there is none
        "llama.vocab_size": len(texts),
        "llama.context_length": 1,
        "llama.embedding_length": 1,
        "llama.block_count": 1,
        "llama.attention.head_count": 1,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
    }
    template = tokenizer.metadata.get("chat_template")
    if isinstance(template, str):
        values[TEMPLATE] = template
    elif isinstance(template, list):  # named ones, as Hugging Face lists them
        named = {entry["name"]: entry["template"] for entry in template}
        values |= {TEMPLATE if name == "default" else f"{TEMPLATE}.{name}": text for name, text in named.items()}
    types = {key: "uint32" for key, value in values.items() if type(value) is int}
    types |= {key: "float32" for key, value in values.items() if type(value) is float}
    types |= {f"{KEY}token_type": "[int32]", f"{KEY}scores": "[float32]"}
    types |= dict.fromkeys((f"{KEY}tokens", f"{KEY}merges"), "[string]")
    return values, {key: kind for key, kind in types.items() if key in values}


def _tokens(tokenizer: BPETokenizer) -> tuple[list[str], list[int]]:
    """Texts and kinds of all ids; ids that no token has are filled with unused ones."""
    units = tokenizer.model.units
    in_bytes = units is None or not units.characters
    size = tokenizer.n_vocab
    if size > 4 * len(tokenizer) + 1_000:
        raise ConversionError(
            f"GGUF lists every id from 0 up, and here {size - len(tokenizer):,} of {size:,} have no token"
        )
    texts, kinds = [f"[PAD{number}]" for number in range(size)], [KINDS["UNUSED"]] * size
    for token_id, token in tokenizer.model.tokens.items():
        texts[token_id] = to_alphabet(token) if in_bytes else token.decode("utf-8", "surrogateescape")
        kinds[token_id] = KINDS["NORMAL"]
    for token_id in (units.byte_tokens or {}).values() if units is not None else ():
        kinds[token_id] = KINDS["BYTE"]
    for added in tokenizer.added_tokens:
        texts[added.id] = added.content
        kinds[added.id] = KINDS["CONTROL" if added.special else "USER_DEFINED"]
    if units is not None and units.unk_id is not None:
        kinds[units.unk_id] = KINDS["UNKNOWN"]
    seen: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        if seen.setdefault(text, token_id) != token_id:
            raise ConversionError(
                f"GGUF would mix up the tokens {seen[text]} and {token_id}: both are written {text!r}"
            )
    return texts, kinds


def _byte_level(tokenizer: BPETokenizer) -> dict[str, Any]:
    model = tokenizer.model
    if tokenizer.normalizer is not None:
        raise ConversionError(
            f"llama.cpp applies no normalizer to byte-level tokenizers, and this one has {tokenizer.normalizer}"
        )
    if not model.bytewise:
        raise ConversionError("GGUF can't hold a byte-level tokenizer that lacks bytes, or marks the parts of words")
    name = pre_name(tokenizer)
    text = {token_id: to_alphabet(token) for token_id, token in model.tokens.items()}
    merges = [f"{text[left]} {text[right]}" for left, right in merge_pairs(model)]
    return {f"{KEY}model": "gpt2", f"{KEY}pre": name, f"{KEY}merges": merges}


def pre_name(tokenizer: BPETokenizer) -> str:
    """llama.cpp's name for how a byte-level tokenizer splits. Raises ConversionError where it has none."""
    spellings = _patterns(tokenizer)
    names = [name for spelling in spellings for name in names_for(spelling)]
    if not names:
        raise _nameless(tokenizer)
    model = tokenizer.model
    alike = not model.recovered.unreachable  # then looking whole pieces up first changes nothing
    fitting = [name for name in names if alike or gguf_pre()[name].ignore_merges == model.take_whole]
    if not fitting:
        does = "doesn't look" if model.take_whole else "looks"
        raise ConversionError(
            f"for this pattern ({names[0]}) llama.cpp {does} up whole pieces first, which changes ids here"
        )
    return fitting[0]


def approximated(tokenizer: BPETokenizer) -> str | None:
    """That name, where llama.cpp's own splitter only comes near to the pattern; else None."""
    try:
        name = pre_name(tokenizer)
    except ConversionError:
        return None
    pre = gguf_pre()[name]
    return name if any(re.search(r"\\p\{L[ultmo]\}", pattern) for pattern in pre.original or pre.written) else None


def _patterns(tokenizer: BPETokenizer) -> list[list[str]]:
    """The split patterns, in each of the spellings known."""
    pre_tokenizer = tokenizer.pre_tokenizer
    steps = list(pre_tokenizer.pretokenizers) if isinstance(pre_tokenizer, PreTokenizerSequence) else [pre_tokenizer]
    patterns = []
    for step in steps:
        if isinstance(step, Split) and step.behavior == "Isolated":
            patterns.append(step.pattern)
        elif isinstance(step, SplitPattern) and step.behavior == "Isolated" and step.pattern.kind == "Regex":
            patterns.append(step.pattern.text)
        elif isinstance(step, ByteLevel) and not step.add_prefix_space and step is steps[-1]:
            patterns += ["gpt2"] if step.use_regex else []
        else:
            raise _nameless(tokenizer)
    return _spellings(patterns)


def _spellings(patterns: list[str]) -> list[list[str]]:
    named = [find_pattern(pattern) for pattern in patterns]
    older = [name.oniguruma if name else pattern for name, pattern in zip(named, patterns)]
    newer = [name.regex if name else pattern for name, pattern in zip(named, patterns)]
    # tiktoken's cl100k cuts white space at the end of a text in its own way, which llama.cpp has no name for
    return [newer] if any(name and name.name == "cl100k" for name in named) else [older, newer]


def _nameless(tokenizer: BPETokenizer) -> ConversionError:
    """What is wrong with how a tokenizer splits, and which of the named patterns llama.cpp knows."""
    named = find_pattern(tokenizer.pattern) if tokenizer.pattern else None
    way = named.name if named else str(tokenizer.pattern or tokenizer.pre_tokenizer)
    known = [name for name in PATTERNS if any(map(names_for, _spellings([name])))]
    return ConversionError(
        f"llama.cpp has no name for the way this tokenizer splits text, {way[:SHOWN]}{'...' * (len(way) > SHOWN)}; "
        f"train it with a pattern that has one: {', '.join(known)}"
    )


def _scored(tokenizer: BPETokenizer) -> dict[str, Any]:
    model, units = tokenizer.model, tokenizer.model.units
    assert units is not None
    steps = tokenizer.normalizer
    parts = list(steps.normalizers) if isinstance(steps, NormalizerSequence) else [steps] if steps is not None else []
    prefix = bool(parts) and parts[0] == Prepend(SPACE)
    rest = parts[prefix:]
    if len(rest) != 1 or not isinstance(rest[0], Replace) or (rest[0].pattern.text, rest[0].content) != (" ", SPACE):
        raise ConversionError(
            f"llama.cpp prepares text for scored tokens in one way only, and this tokenizer has {steps}"
        )
    if tokenizer.pre_tokenizer is not None or units.prefix or units.suffix or units.symbols or model.take_whole:
        raise ConversionError(
            "llama.cpp's scored tokens need a tokenizer without pre-tokenizer and without marks on words"
        )
    if len(units.byte_tokens or {}) < 256:
        raise ConversionError(
            "llama.cpp spells missing characters in bytes, and this tokenizer has no tokens for all of them"
        )
    ranks = _ranks(model)
    order = {rank: -float(place) for place, rank in enumerate(sorted(set(ranks.values())), 1)}
    scores = [order[ranks[number]] if number in ranks else 0.0 for number in range(tokenizer.n_vocab)]
    return {f"{KEY}model": "llama", f"{KEY}pre": "default", f"{KEY}add_space_prefix": prefix, f"{KEY}scores": scores}


def _ranks(model: BPEModel) -> dict[int, int]:
    """Token -> rank, if a token's rank says all about the merges that make it."""
    if isinstance(model.merges, RankMerges):
        pairs = {pair: merge for pair in model.merges if (merge := model.merges.get(pair)) is not None}
        return {new: rank for rank, new in pairs.values()}
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
    recovered, merged = model.recovered, {pair: rank for pair, (rank, _) in model.merges.items()}
    for left, right in RankMerges(model.tokens, model.ids):  # whatever makes a token merges by scores
        if (left, right) not in merged and compatible(left, right, recovered.splits, recovered.rank_of, merged):
            one, other = model.tokens[left], model.tokens[right]
            raise ConversionError(f"by scores {one!r} and {other!r} would merge, and here they don't")
    return ranks


def _ends(tokenizer: BPETokenizer) -> tuple[bool, bool]:
    """Whether bos is put before and eos behind a text. Raises ConversionError for anything else that is."""
    template, text = tokenizer.resolved_post_processor, -1
    made = [text] if template is None else template.apply([text])
    for starts, ends in ((False, False), (True, False), (False, True), (True, True)):
        if made == [tokenizer.bos_token_id] * starts + [text] + [tokenizer.eos_token_id] * ends:
            return starts, ends
    raise ConversionError("GGUF can put bos before a text and eos behind it, and nothing else")
