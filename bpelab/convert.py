"""From one format to another, with a list of what the target can't hold.

What would change ids is refused, with the reason, unless the caller says that it may be lost; what changes none is left
out and named. The result can be opened again and compared.

Chapter: File formats.
"""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ConversionError
from ..normalizers.sentencepiece import SentencePieceNormalizer
from ..special_tokens import ROLES
from ..tokenizer import BPETokenizer
from . import gguf_write, gpt2, huggingface, minbpe, tiktoken
from .detect import open_tokenizer


class Target(NamedTuple):
    """A format that can be written: how, and which features of a tokenizer it holds."""

    save: Callable[[BPETokenizer, Path], None]
    ending: str
    written: str
    holds: frozenset[str]


class Loss(NamedTuple):
    """A feature that a target can't hold, what it is here, and whether ids change without it."""

    feature: str
    what: str
    changes_ids: bool


EVERYTHING = frozenset(
    ["pattern", "normalizer", "special tokens", "added tokens", "flags", "post-processor", "roles", "truncation",
     "padding", "dropout", "chat template"]
)  # fmt: skip
TARGETS: dict[str, Target] = {
    "huggingface": Target(huggingface.save, "", "a folder", EVERYTHING),
    "tiktoken": Target(tiktoken.save_ranks, ".tiktoken", "a .tiktoken file", frozenset()),
    "minbpe": Target(minbpe.save, ".model", "a .model file", frozenset({"pattern", "special tokens"})),
    "gpt2": Target(gpt2.save, "", "a folder", frozenset({"special tokens", "roles"})),
    "gguf": Target(
        gguf_write.save,
        ".gguf",
        "a .gguf file",
        frozenset(
            {"pattern", "normalizer", "special tokens", "added tokens", "post-processor", "roles", "chat template"}
        ),
    ),
}
APPROXIMATED = (
    "the file has the name {}, whose pattern llama.cpp itself approximates: it knows upper and lower case in ASCII "
    "only, or not at all, and marks stand outside of words, so that other texts are cut otherwise there"
)
WHOLE = r"(?s:.+)"
"""A pattern for where one has to be named and none is used."""
NEUTRAL: dict[str, dict[str, Any]] = {
    "normalizer": {"normalizer": None},
    "flags": {},
    "post-processor": {"post_processor": None},
    "truncation": {"truncation": None},
    "padding": {"padding": None},
    "dropout": {"dropout": None},
}
"""How a tokenizer is without a feature, where the writers would stumble over it."""


def features(tokenizer: BPETokenizer) -> Iterable[Loss]:
    """What a tokenizer has beside its tokens and merges, as losses if it had to be left out."""
    added = tokenizer.added_tokens
    flagged = [t for t in added if t.lstrip or t.rstrip or t.single_word or (t.normalized and tokenizer.normalizer)]
    ordinary = [token for token in added if not token.special]
    roles = [role for role in ROLES if getattr(tokenizer, f"{role}_token") is not None]
    found: list[tuple[str, Any, bool]] = [
        ("pattern", tokenizer.pattern or tokenizer.pre_tokenizer, False),
        ("normalizer", tokenizer.normalizer, True),
        ("special tokens", ", ".join(list(tokenizer.special_tokens)[:4]), False),
        ("added tokens", ", ".join(token.content for token in ordinary[:4]), True),
        ("flags", ", ".join(token.content for token in flagged[:4]), True),
        ("post-processor", tokenizer.post_processor, False),
        ("roles", ", ".join(roles), False),
        ("truncation", tokenizer.truncation, False),
        ("padding", tokenizer.padding, False),
        ("dropout", tokenizer.dropout, False),
        ("chat template", tokenizer.metadata.get("chat_template") and "there is one", False),
    ]
    return [Loss(feature, str(what), changes) for feature, what, changes in found if what not in (None, "")]


def losses(tokenizer: BPETokenizer, target: str) -> list[Loss]:
    """What `target` can't hold of a tokenizer. Raises ValueError for a target that doesn't exist.

    >>> from bpelab import BPETokenizer
    >>> [loss.feature for loss in losses(BPETokenizer.train("low lower " * 9, 262, special_tokens=["<e>"]), "tiktoken")]
    ['pattern', 'special tokens']
    """
    if target not in TARGETS:
        raise ValueError(f"there is no format {target!r} to write; choose one of {', '.join(TARGETS)}")
    holds = TARGETS[target].holds
    units = tokenizer.model.units
    if target == "gguf" and (units is None or not units.characters):
        holds -= {"normalizer"}  # llama.cpp prepares text for scored tokens only
    lost = [loss for loss in features(tokenizer) if loss.feature not in holds]
    if target == "gguf" and "normalizer" not in holds and (name := gguf_write.approximated(tokenizer)):
        lost.append(Loss("llama.cpp's splitter", APPROXIMATED.format(name), False))
    if target == "gpt2" and units is not None and units.unk_id is not None:
        lost.append(Loss("unknown token", tokenizer.unk_token or str(units.unk_id), True))
    if target == "huggingface" and isinstance(tokenizer.normalizer, SentencePieceNormalizer):
        lost.append(Loss("SentencePiece's normalizer", "its character map works on clusters there", True))
    return lost


def convert(tokenizer: BPETokenizer, out: str | Path, target: str, *, lossy: bool = False) -> list[Loss]:
    """Write a tokenizer in another format; what was left out.

    Raises ConversionError where ids would change, unless `lossy`, and for what the target can't hold in any way.
    """
    lost = losses(tokenizer, target)
    if not lossy and (serious := [loss for loss in lost if loss.changes_ids]):
        raise ConversionError(
            f"{target} has no {serious[0].feature}, and without it ids change; here it is {serious[0].what[:200]}. "
            "Say lossy=True (--lossy) to go on without it."
        )
    without: dict[str, Any] = {}
    for loss in lost:
        without |= NEUTRAL.get(loss.feature, {})
        if isinstance(tokenizer.normalizer, SentencePieceNormalizer) and target == "huggingface":
            without["normalizer"] = tokenizer.normalizer.in_parts()
    TARGETS[target].save(tokenizer.with_options(**without) if without else tokenizer, Path(out))
    return lost


def read_otherwise(tokenizer: BPETokenizer, target: str) -> bool:
    """Whether other readers of `target` cut a text otherwise: those of GPT-2's files have GPT-2's pattern.

    >>> read_otherwise(BPETokenizer.train("low lower " * 9, 261), "gpt2")
    True
    """
    of_bytes = tokenizer.model.units is None or not tokenizer.model.units.characters
    return target == "gpt2" and of_bytes and tokenizer.pattern != "gpt2"


def lines_that_differ(tokenizer: BPETokenizer, texts: Iterable[str]) -> tuple[int, int]:
    """On how many lines of `texts`, of how many, GPT-2's own pattern leads to other ids.

    >>> lines_that_differ(BPETokenizer.train("low low " * 9, 262, pattern=None), ["low", "low low"])
    (1, 2)
    """
    other = tokenizer.with_options(pattern="gpt2", pre_tokenizer=None)
    lines = [line for text in texts for line in text.splitlines() if line]
    return sum(tokenizer.encode_ordinary(line) != other.encode_ordinary(line) for line in lines), len(lines)


def ruled_out(tokenizer: BPETokenizer) -> dict[str, str]:
    """The formats that can't hold a tokenizer without a change of ids there, and why; nothing is written.

    >>> list(ruled_out(BPETokenizer.train("low lower " * 9, 261)))
    ['gpt2', 'gguf']
    """
    found = {}
    with tempfile.TemporaryDirectory(prefix="bpelab-") as folder:
        for target, form in TARGETS.items():
            if read_otherwise(tokenizer, target):
                found[target] = f"its readers cut by their own pattern, and here it is {tokenizer.pattern}"
                continue
            try:
                convert(tokenizer, Path(folder, f"{target}{form.ending}"), target)
            except ConversionError as error:
                found[target] = str(error)
    return found


def check(tokenizer: BPETokenizer, out: str | Path, target: str, texts: Iterable[str]) -> int:
    """Open what was written and compare ids on `texts`; how many there were.

    Raises ConversionError at the first text whose ids differ, naming the first token that does.
    """
    holds = TARGETS[target].holds
    pattern = None if "pattern" in holds else tokenizer.pattern or WHOLE
    again = open_tokenizer(out, pattern=pattern)
    allowed: Any = "all" if "special tokens" in holds else ()
    number = 0
    for number, text in enumerate(texts, 1):
        one = tokenizer.encode(text, allowed_special=allowed, add_special_tokens=False)
        two = again.encode(text, allowed_special=allowed, add_special_tokens=False)
        if one != two:
            at = next((i for i, pair in enumerate(zip(one, two)) if pair[0] != pair[1]), min(len(one), len(two)))
            raise ConversionError(
                f"{out}: text {number} has other ids from token {at} on: {one[at : at + 4]} and {two[at : at + 4]}"
            )
    return number
