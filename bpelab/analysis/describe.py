"""A summary of a tokenizer.

Chapter: File formats.
"""

from typing import Any

from .._support.gc_paused import gc_paused
from ..formats.gguf_pre_match import find_gguf_pre
from ..formats.listing import printable
from ..native import recovered_merges
from ..tokenizer import BPETokenizer
from ..vocab.special_tokens import ROLES
from .audit import audit
from .lossless import count_changed_lines, losses, sample_lines
from .superwords import superwords

SAMPLE = "Hello, world! 12345 naïve 日本語 it's"


@gc_paused()
def describe(tokenizer: BPETokenizer, sample: str = SAMPLE) -> dict[str, Any]:
    """Return sizes, components, special tokens, a sample encoding and lint findings, as JSON values.

    Cost: about a second for 100,000 tokens.

    >>> from bpelab import BPETokenizer
    >>> facts = describe(BPETokenizer.train("low lower " * 9, 261), "lower low")
    >>> facts["tokens"], facts["pattern"], facts["sample"]
    (261, 'cl100k', ['low', 'er', ' low'])
    """
    model = tokenizer.model
    made = recovered_merges(model)
    ids, reasons = tokenizer.encode(sample, add_special_tokens=False), losses(tokenizer)
    parts = {
        "normalizer": tokenizer.spec.normalizer,
        "pre_tokenizer": None if tokenizer.pattern is not None else tokenizer.spec.pre_tokenizer,
        "post_processor": tokenizer.spec.post_processor,
        "decoder": tokenizer.spec.decoder,
    }
    return {
        "tokens": len(tokenizer),
        "n_vocab": tokenizer.n_vocab,
        "merges": len(made.splits),
        "unreachable_by_merges": len(made.unreachable),
        "initial_symbols": f"{len(model.alphabet):,} characters" if model.is_char_level else "bytes",
        "pattern": tokenizer.pattern,
        **{name: None if part is None else str(part)[:300] for name, part in parts.items()},
        "llama_cpp_pre": _llama_cpp_pre(tokenizer) if not model.is_char_level else None,
        "special_tokens": tokenizer.special_tokens,
        "roles": {role: name for role in ROLES if (name := getattr(tokenizer, f"{role}_token")) is not None},
        "lossless": not reasons,
        "losses": [*reasons, _changed_lines(tokenizer)] if reasons else [],
        "other_added_tokens": sum(not token.special for token in tokenizer.added_tokens),
        "chat_template": "chat_template" in tokenizer.spec.metadata,
        "whole_pieces_first": model.ignore_merges,
        **_superwords(tokenizer),
        "longest_token_bytes": max(map(len, model.tokens.values())),
        "sample_text": sample,
        "sample_ids": ids,
        "sample": [printable(token) for token in tokenizer.convert_ids_to_tokens(ids)],
        "oddities": list(audit(tokenizer)),
    }


def _llama_cpp_pre(tokenizer: BPETokenizer) -> str:
    """Return the name of llama.cpp's pre-tokenizer that cuts every text alike, and why; "none" if there is none."""
    match = find_gguf_pre(tokenizer.spec.pre_tokenizer)
    return f"{match.names[0]} ({match.reason})" if match.names else "none"


def _changed_lines(tokenizer: BPETokenizer) -> str:
    return f"{count_changed_lines(tokenizer)} of {len(sample_lines())} lines in many scripts decode to another text"


def _superwords(tokenizer: BPETokenizer) -> dict[str, Any]:
    """Return the number of superwords, their share of the vocabulary, and their words; {} if there are none."""
    tokens = [tokenizer.model.tokens[token_id] for token_id in superwords(tokenizer)]
    if not tokens:
        return {}
    words = [len(token.split()) for token in tokens]
    return {
        "superwords": len(tokens),
        "superwords_share": round(len(tokens) / len(tokenizer), 4),
        "words_per_superword": round(sum(words) / len(words), 2),
    }
