"""Convert a tokenizer from one format to another, and list the features that the target can't hold.

A loss that would change ids is refused, with the reason, unless the caller allows it. Any other loss is reported. The
result can be opened again and compared.

Chapter: File formats.
"""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .analysis.superwords import superwords
from .core.spec import TokenizerSpec
from .errors import ConversionError
from .formats import gguf_save, gpt2, huggingface, minbpe, tekken, tiktoken_encoding, tiktoken_file
from .formats.gguf_load import splitter
from .formats.gguf_pre_tokenizers import gguf_pre
from .normalizers.sentencepiece import SentencePieceNormalizer
from .regex.patterns import covering_pattern, find_pattern
from .tokenizer import BPETokenizer, open_tokenizer
from .vocab.special_tokens import ROLES


class Target(NamedTuple):
    """A format that can be written.

    Attributes:
        save: the function that writes it.
        ending: the file name's ending; "" for a folder.
        written: the kind of output, for messages.
        holds: the features of a tokenizer that it can hold.
    """

    save: Callable[[TokenizerSpec, Path], None]
    ending: str
    written: str
    holds: frozenset[str]


class UnsupportedFeature(NamedTuple):
    """A feature that a target can't hold.

    Attributes:
        feature: its name.
        what: its value in this tokenizer.
        changes_ids: whether ids change without it.
    """

    feature: str
    what: str
    changes_ids: bool


ALL_FEATURES = frozenset(
    ["pattern", "normalizer", "special tokens", "added tokens", "flags", "post-processor", "roles", "truncation",
     "padding", "dropout", "chat template"]
)  # fmt: skip
TARGETS: dict[str, Target] = {
    "huggingface": Target(huggingface.save, "", "a folder", ALL_FEATURES),
    "tiktoken": Target(tiktoken_file.save_ranks, ".tiktoken", "a .tiktoken file", frozenset()),
    "tekken": Target(tekken.save, ".json", "a tekken.json", frozenset({"pattern", "special tokens", "roles"})),
    "minbpe": Target(minbpe.save, ".model", "a .model file", frozenset({"pattern", "special tokens"})),
    "gpt2": Target(gpt2.save, "", "a folder", frozenset({"special tokens", "roles"})),
    "gguf": Target(
        gguf_save.save,
        ".gguf",
        "a .gguf file",
        frozenset(
            {"pattern", "normalizer", "special tokens", "added tokens", "post-processor", "roles", "chat template"}
        ),
    ),
}
APPROXIMATE_SPLITTER = (
    "the file has the name {}, whose pattern llama.cpp itself approximates: it knows upper and lower case in ASCII "
    "only, or not at all, and treats marks as outside words, so that some texts are split differently there"
)
NEVER_JOINED = "{:,} of them: readers that split with GPT-2's own pattern never join words, so none of these is used"
WHOLE_TEXT = covering_pattern(None)
"""The pattern to write for a tokenizer that has none, in files that need one."""
WITHOUT_FEATURE: dict[str, dict[str, Any]] = {
    "normalizer": {"normalizer": None},
    "flags": {},
    "post-processor": {"post_processor": None},
    "truncation": {"truncation": None},
    "padding": {"padding": None},
    "dropout": {"dropout": None},
}
"""Feature -> the tokenizer options that remove it, for features that the writers would refuse."""


def features(tokenizer: BPETokenizer) -> Iterable[UnsupportedFeature]:
    """Return the features of a tokenizer beyond its tokens and merges, each as it would be reported if unsupported."""
    added = tokenizer.added_tokens
    flagged = [
        t for t in added if t.lstrip or t.rstrip or t.single_word or (t.normalized and tokenizer.spec.normalizer)
    ]
    ordinary = [token for token in added if not token.special]
    roles = [role for role in ROLES if getattr(tokenizer, f"{role}_token") is not None]
    found: list[tuple[str, Any, bool]] = [
        ("pattern", tokenizer.pattern or tokenizer.spec.pre_tokenizer, False),
        ("normalizer", tokenizer.spec.normalizer, True),
        ("special tokens", ", ".join(list(tokenizer.special_tokens)[:4]), False),
        ("added tokens", ", ".join(token.content for token in ordinary[:4]), True),
        ("flags", ", ".join(token.content for token in flagged[:4]), True),
        ("post-processor", tokenizer.spec.post_processor, False),
        ("roles", ", ".join(roles), False),
        ("truncation", tokenizer.spec.truncation, False),
        ("padding", tokenizer.spec.padding, False),
        ("dropout", tokenizer.spec.dropout, False),
        ("chat template", tokenizer.spec.metadata.get("chat_template") and "there is one", False),
    ]
    return [
        UnsupportedFeature(feature, str(what), changes) for feature, what, changes in found if what not in (None, "")
    ]


def unsupported(tokenizer: BPETokenizer, target: str) -> list[UnsupportedFeature]:
    """Return the features of a tokenizer that `target` can't hold. Raises ValueError for a target that doesn't exist.

    >>> from bpelab import BPETokenizer
    >>> [
    ...     loss.feature
    ...     for loss in unsupported(BPETokenizer.train("low lower " * 9, 262, special_tokens=["<e>"]), "tiktoken")
    ... ]
    ['pattern', 'special tokens']
    """
    if target not in TARGETS:
        raise ValueError(f"there is no format {target!r} to write; choose one of {', '.join(TARGETS)}")
    holds = TARGETS[target].holds
    initial_symbols = tokenizer.model.initial_symbols
    if target == "gguf" and not tokenizer.model.is_char_level:
        holds -= {"normalizer"}  # llama.cpp prepares text for scored tokens only
    lost = [loss for loss in features(tokenizer) if loss.feature not in holds]
    if target == "gguf" and "normalizer" not in holds and (name := gguf_save.approximate_pre_name(tokenizer.spec)):
        lost.append(UnsupportedFeature("llama.cpp's splitter", APPROXIMATE_SPLITTER.format(name), False))
    if target == "gpt2" and initial_symbols is not None and initial_symbols.unk_id is not None:
        lost.append(UnsupportedFeature("unknown token", tokenizer.unk_token or str(initial_symbols.unk_id), True))
    if target == "gpt2" and splits_differently(tokenizer, target) and (joined := superwords(tokenizer)):
        lost.append(UnsupportedFeature("superwords", NEVER_JOINED.format(len(joined)), False))
    if target == "tekken" and (elsewhere := tekken.other_roles(tokenizer.spec)):
        lost.append(UnsupportedFeature("roles", ", ".join(elsewhere), False))
    if target in ("tiktoken", "tekken"):
        lost += _of_tiktoken(tokenizer)
    if target == "huggingface" and isinstance(tokenizer.spec.normalizer, SentencePieceNormalizer):
        lost.append(UnsupportedFeature("SentencePiece's normalizer", "its character map works on clusters there", True))
    return lost


def _of_tiktoken(tokenizer: BPETokenizer) -> list[UnsupportedFeature]:
    """Return the losses due to tiktoken: text between the matches of a pattern, and bytes without a token."""
    lost, named = [], find_pattern(tokenizer.pattern) if tokenizer.pattern else None
    if tokenizer.pattern and not (named and named.cuts_words):
        dropped = f"tiktoken drops it; with this pattern nothing is left: {covering_pattern(tokenizer.pattern)}"
        lost.append(UnsupportedFeature("text between matches", dropped, False))
    if more := tiktoken_encoding.missing_bytes(tokenizer.spec):
        first, *_, last = more.values()
        lost.append(UnsupportedFeature("bytes without a token", f"they get the ids {first} to {last}", False))
    return lost


def convert(tokenizer: BPETokenizer, out: str | Path, target: str, *, lossy: bool = False) -> list[UnsupportedFeature]:
    """Write a tokenizer in another format, and return the features that were dropped.

    Raises ConversionError if ids would change, unless `lossy`, and for a tokenizer that `target` can't hold at all.
    """
    lost = unsupported(tokenizer, target)
    if not lossy and (harmful := [loss for loss in lost if loss.changes_ids]):
        raise ConversionError(
            f"{target} has no {harmful[0].feature}, and without it ids change; here it is {harmful[0].what[:200]}. "
            "Pass lossy=True (--lossy) to convert without it."
        )
    without: dict[str, Any] = {}
    for loss in lost:
        without |= WITHOUT_FEATURE.get(loss.feature, {})
        if isinstance(tokenizer.spec.normalizer, SentencePieceNormalizer) and target == "huggingface":
            without["normalizer"] = tokenizer.spec.normalizer.in_parts()
    TARGETS[target].save(tokenizer.spec.replace(**without) if without else tokenizer.spec, Path(out))
    return lost


def splits_differently(tokenizer: BPETokenizer, target: str) -> bool:
    """Return whether other readers of `target` split text differently: readers of GPT-2's files use GPT-2's pattern.

    >>> splits_differently(BPETokenizer.train("low lower " * 9, 261), "gpt2")
    True
    """
    is_byte_level = not tokenizer.model.is_char_level
    return target == "gpt2" and is_byte_level and tokenizer.pattern != "gpt2"


def count_differing_lines(
    tokenizer: BPETokenizer, texts: Iterable[str], other: BPETokenizer | None = None
) -> tuple[int, int]:
    """Return the number of lines in `texts` for which `other` gives different ids, and the total number of lines.

    By default `other` is the tokenizer with GPT-2's own pattern.

    >>> count_differing_lines(BPETokenizer.train("low low " * 9, 262, pattern=None), ["low", "low low"])
    (1, 2)
    """
    other = other or tokenizer.with_options(pattern="gpt2", pre_tokenizer=None)
    lines = [line for text in texts for line in text.splitlines() if line]
    return sum(tokenizer.encode_ordinary(line) != other.encode_ordinary(line) for line in lines), len(lines)


def as_llama_cpp_splits(tokenizer: BPETokenizer) -> BPETokenizer | None:
    """Return the tokenizer with llama.cpp's splitter, if that only approximates its own; else None.

    >>> as_llama_cpp_splits(BPETokenizer.train("low low", 258, pattern="gpt2")) is None
    True
    >>> other = as_llama_cpp_splits(BPETokenizer.train("low low", 258, pattern="o200k"))
    >>> other.spec.pre_tokenizer.split("γδΑΒ"), BPETokenizer.train("low low", 258, pattern="o200k").pieces("γδΑΒ")
    (['γδΑΒ'], ['γδ', 'ΑΒ'])
    """
    name = gguf_save.approximate_pre_name(tokenizer.spec)
    return None if name is None else tokenizer.with_options(pre_tokenizer=splitter(gguf_pre()[name].regex))


def rejecting_formats(tokenizer: BPETokenizer) -> dict[str, str]:
    """Return format -> reason, for each format that can't hold a tokenizer without changing ids. Leaves no files.

    >>> list(rejecting_formats(BPETokenizer.train("low lower " * 9, 261)))
    ['gpt2', 'gguf']
    """
    found = {}
    with tempfile.TemporaryDirectory(prefix="bpelab-") as folder:
        for name, target in TARGETS.items():
            if splits_differently(tokenizer, name):
                found[name] = f"its readers split with their own pattern, and this tokenizer's is {tokenizer.pattern}"
                continue
            try:
                convert(tokenizer, Path(folder, f"{name}{target.ending}"), name)
            except ConversionError as error:
                found[name] = str(error)
    return found


def check(tokenizer: BPETokenizer, out: str | Path, target: str, texts: Iterable[str]) -> int:
    """Open a converted tokenizer, compare its ids on `texts`, and return the number of texts.

    Raises ConversionError at the first text whose ids differ, naming the first token that differs.
    """
    holds = TARGETS[target].holds
    pattern = None if "pattern" in holds else tokenizer.pattern or WHOLE_TEXT
    reopened = open_tokenizer(out, pattern=pattern)
    allowed: Any = "all" if "special tokens" in holds else ()
    number = 0
    for number, text in enumerate(texts, 1):
        expected = tokenizer.encode(text, allowed_special=allowed, add_special_tokens=False)
        found = reopened.encode(text, allowed_special=allowed, add_special_tokens=False)
        if expected != found:
            unequal = (i for i, (a, b) in enumerate(zip(expected, found)) if a != b)
            at = next(unequal, min(len(expected), len(found)))
            raise ConversionError(
                f"{out}: text {number} has other ids from token {at} on: {expected[at : at + 4]} and "
                f"{found[at : at + 4]}"
            )
    return number
