"""tiktoken's `Encoding`: convert one to a tokenizer and back, or refuse what it can't hold.

An `Encoding` holds tokens, ranks, the pattern and special tokens. It can't hold merges (they follow from the ranks), a
normalizer, a post-processor, or ids that differ from ranks. tiktoken drops text between the matches of a pattern, so a
pattern that may leave gaps, such as that of superwords, gets an alternative that matches them.

Chapter: Matching GPT-2 and GPT-4. Source: tiktoken `core.py`.
"""

from __future__ import annotations

from ..core.spec import TokenizerSpec
from ..errors import ConversionError, MissingDependencyError
from ..model.bpe import BPEModel
from ..regex.patterns import covering_pattern, without_covering
from ..vocab.special_tokens import SpecialTokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tiktoken import Encoding as Encoding  # noqa: PLC0414 - for tokenizer.py

NEVER_MERGED = "tiktoken encodes a piece that is a token as that token, but here no merges make the token {!r}"
END_OF_TEXT = "<|endoftext|>"
"""The token whose id tiktoken calls `eot_token`."""


def import_tiktoken() -> ModuleType:
    """Return the module tiktoken, even if `bpelab.tiktoken` has replaced it in `sys.modules`.

    Raises MissingDependencyError if it isn't installed.
    """
    try:
        import tiktoken

        original: ModuleType | None = vars(tiktoken).get("original", tiktoken)
        if original is None:
            raise ImportError("bpelab.tiktoken is in its place")
    except ImportError as error:
        from .._support.install import install_command

        raise MissingDependencyError(f"tiktoken is not installed: {install_command('tiktoken')}") from error
    return original


def from_encoding(encoding: Encoding) -> TokenizerSpec:
    """Return the tokenizer of an Encoding, tiktoken's or `bpelab.tiktoken`'s. Raises TypeError for other objects."""
    # an Encoding's parts are private attributes; tiktoken's own documentation uses them to extend encodings
    if not all(hasattr(encoding, part) for part in ("_mergeable_ranks", "_pat_str", "_special_tokens")):
        raise TypeError(f"expected the name of an encoding or an Encoding, not {type(encoding).__name__}")
    ranks, pattern, special = encoding._mergeable_ranks, encoding._pat_str, encoding._special_tokens  # noqa: SLF001
    return spec_of_ranks(BPEModel.from_ranks(ranks), pattern, special)


def spec_of_ranks(model: BPEModel, pattern: str, special: dict[str, int]) -> TokenizerSpec:
    """Return the tokenizer equivalent to an Encoding with these parts."""
    # o200k_harmony has two names for 200018
    tokens = SpecialTokens(special, aliases=True)
    eos = END_OF_TEXT if END_OF_TEXT in special else None
    return TokenizerSpec(model, pattern=without_covering(pattern), special_tokens=tokens, eos_token=eos)


def to_tiktoken(spec: TokenizerSpec, name: str) -> Encoding:
    """Return a tiktoken Encoding with the same ids; see `BPETokenizer.to_tiktoken`."""
    encoding: Encoding = import_tiktoken().Encoding(
        name=name,
        pat_str=covering_pattern(spec.pattern),
        mergeable_ranks=rank_table(spec),
        special_tokens=dict(spec.special_tokens.ids),
    )
    return encoding


def rank_table(spec: TokenizerSpec) -> dict[bytes, int]:
    """Return token -> rank for which tiktoken's rule gives the same ids. Raises ConversionError if there is none."""
    from ..model.merge_recovery import merges_by_ids

    model = spec.model
    if spec.normalizer is not None:
        raise ConversionError(f"tiktoken has no normalizer, but this tokenizer uses {spec.normalizer}")
    if not model.covers_utf8 or (spec.pre_tokenizer is not None and spec.pattern is None):
        raise ConversionError("tiktoken can hold byte-level tokenizers with one pattern only")
    if not merges_by_ids(model):
        _refuse_other_merges(model)
    if not model.ignore_merges and (token := _never_merged(model)) is not None:
        raise ConversionError(NEVER_MERGED.format(token))
    return {**model.ids, **missing_bytes(spec)}


def _refuse_other_merges(model: BPEModel) -> None:
    """Raise ConversionError if merging by ranks, with ids as ranks, would differ from the model's own merges."""
    from ..model.merge_recovery import pair_only_ranks_merge

    merged = list(model.recovered_merges.splits)
    if merged != sorted(merged):
        at = next(i for i, (a, b) in enumerate(zip(merged, merged[1:])) if a > b)
        raise ConversionError(
            f"tiktoken's ids are its ranks, but the token {merged[at]} merges before {merged[at + 1]} here"
        )
    if (more := pair_only_ranks_merge(model)) is not None:
        raise ConversionError(f"by ranks {more[0]!r} and {more[1]!r} would merge, but here they don't")


def _never_merged(model: BPEModel) -> bytes | None:
    """Return a token that merging its own bytes doesn't produce, or None."""
    return next((model.tokens[token_id] for token_id in model.recovered_merges.unreachable), None)


def missing_bytes(spec: TokenizerSpec) -> dict[bytes, int]:
    """Return the bytes without a token -> free ids. tiktoken needs all 256 bytes, though these never occur in text.

    >>> from bpelab import BPETokenizer
    >>> missing_bytes(BPETokenizer.train("low low", 258).spec)
    {}
    """
    alphabet = spec.model.alphabet
    missing = [byte for byte in map(bytes, zip(range(256))) if byte not in alphabet]
    return dict(zip(missing, range(spec.n_vocab, spec.n_vocab + len(missing))))
