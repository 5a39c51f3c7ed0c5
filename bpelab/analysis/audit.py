"""Lint findings: oddities that a tokenizer file allows and its users will want to know about.

None is an error, and nothing is changed.

Chapter: File formats.
"""

from collections.abc import Iterator

from ..editing import prune
from ..formats.listing import printable
from ..model.lazy_model import merge_columns_of
from ..regex.patterns import find_pattern
from ..tokenizer import BPETokenizer
from ..trainers.counting.corpus import Corpus, rereadable
from ..unicode.byte_alphabet import BYTE_OF_CHAR
from .tokens import never_merged, unseen

FAMILIES = (
    (("<|begin_of_text|>", "<|eot_id|>"), "llama3", "Llama 3"),
    (("<|im_start|>", "<|object_ref_start|>"), "qwen2", "Qwen 2"),
    (("<|endofprompt|>", "<|fim_prefix|>"), "cl100k", "cl100k_base"),
)
"""Special tokens that identify a model family, the family's pattern, and its name."""
MAX_SHOWN = 4
OUTSIDE_BYTE_ALPHABET = " \n\u65e5"
"""Characters that aren't in GPT-2's byte alphabet; a character vocabulary may have both."""


def audit(tokenizer: BPETokenizer, corpus: Corpus | None = None) -> Iterator[str]:
    """Yield lint findings, one sentence each. With a corpus (as for `BPETokenizer.train`), report unused tokens too.

    >>> from bpelab import BPEModel
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 300}
    >>> print(*audit(BPETokenizer(BPEModel.from_ranks(ranks))), sep="\\n")
    1 token can't be reached by merging, only as a whole piece: 'abc' 300
    44 ids below the highest have no token, the first of them 256

    Cost: about a second for 100,000 tokens.
    """
    yield from _unreachable(tokenizer)
    if corpus is not None:
        yield from _unseen(tokenizer, corpus)
    yield from _odd_merges(tokenizer)
    yield from _missing_symbols(tokenizer)
    yield from _unread_byte_alphabet(tokenizer)
    yield from _unused_ids(tokenizer)
    yield from _unexpected_pattern(tokenizer)
    if tokenizer.spec.normalizer is not None:
        yield "text is normalized first, so decoding returns the normalized text"
    if tokenizer.spec.dropout:
        yield f"its file asks for dropout {tokenizer.spec.dropout}, which would make ids random; it is not applied"
    if (truncation := tokenizer.spec.truncation) is not None:
        yield f"its file asks for truncation to {truncation.max_length} tokens; encode() doesn't truncate"


def _unreachable(tokenizer: BPETokenizer) -> Iterator[str]:
    model, unreachable = tokenizer.model, never_merged(tokenizer)
    if unreachable:
        how = "by merging, only as a whole piece" if model.ignore_merges else "by any text"
        examples = ", ".join(f"{printable(model.tokens[i])!r} {i}" for i in unreachable[:MAX_SHOWN])
        more = f" and {len(unreachable) - MAX_SHOWN:,} more" if len(unreachable) > MAX_SHOWN else ""
        yield f"{_plural(len(unreachable), 'token')} can't be reached {how}: {examples}{more}"


def _unseen(tokenizer: BPETokenizer, corpus: Corpus) -> Iterator[str]:
    with rereadable(corpus) as texts:
        if ids := unseen(tokenizer, texts):
            free = len(prune(tokenizer, corpus=texts, min_frequency=1).removed)
            yield f"{_plural(len(ids), 'token')} unused by the corpus; no other token needs {free:,} of them"


def _odd_merges(tokenizer: BPETokenizer) -> Iterator[str]:
    if tokenizer.model.is_rank_table:
        return
    ranks, _, _, new = merge_columns_of(tokenizer.model)
    repeats = 1 + max(ranks, default=-1) - len(ranks)
    if repeats > 0:
        are = "is" if repeats == 1 else "are"
        yield f"{_plural(repeats, 'merge')} in its list {are} repeated; the last one counts"
    several = len(new) - len(set(new))
    if several:
        yield f"{_plural(several, 'more merge')} than tokens they make: some tokens are made in several ways"


def _missing_symbols(tokenizer: BPETokenizer) -> Iterator[str]:
    model, initial_symbols = tokenizer.model, tokenizer.model.initial_symbols
    if initial_symbols is None:
        return
    byte_values = (
        set(initial_symbols.byte_tokens or {})
        if model.is_char_level
        else {symbol[0] for symbol in model.alphabet if len(symbol) == 1}
    )
    becomes = "the unknown token" if initial_symbols.unk_id is not None else "nothing: they are lost"
    if initial_symbols.characters and initial_symbols.byte_tokens is None:
        yield f"it starts from {len(model.alphabet):,} characters; others become {becomes}"
    elif (missing := [byte for byte in range(256) if byte not in byte_values]) and not model.is_byte_level:
        examples = ", ".join(f"{byte:#04x}" for byte in missing[:MAX_SHOWN])
        sentence = f"{_plural(len(missing), 'byte')} have no token ({examples}) and become {becomes}"
        if len(missing) == 1:
            sentence = sentence.replace("have", "has").replace("become", "becomes").replace("they are", "it is")
        yield sentence


def _unread_byte_alphabet(tokenizer: BPETokenizer) -> Iterator[str]:
    model = tokenizer.model
    if not model.is_char_level or not {char.encode() for char in BYTE_OF_CHAR} <= model.alphabet.keys():
        return
    if chars := [char for char in OUTSIDE_BYTE_ALPHABET if not _comes_back(tokenizer, char)]:
        yield (
            "its tokens are written in GPT-2's byte alphabet, but its file has no ByteLevel, so text is not turned "
            f"into bytes first: {', '.join(map(repr, chars))} and others become nothing or the unknown token"
        )


def _comes_back(tokenizer: BPETokenizer, char: str) -> bool:
    return char in tokenizer.decode(tokenizer.encode(f"a{char}a", add_special_tokens=False))


def _unused_ids(tokenizer: BPETokenizer) -> Iterator[str]:
    tokens = {**tokenizer.model.tokens, **{token.id: b"" for token in tokenizer.added_tokens}}
    holes = tokenizer.n_vocab - len(tokens)
    if holes:
        first = next(number for number in range(tokenizer.n_vocab) if number not in tokens)
        have = "has" if holes == 1 else "have"
        yield f"{_plural(holes, 'id')} below the highest {have} no token, the first of them {first}"
    if len({token.id for token in tokenizer.added_tokens}) < len(tokenizer.added_tokens):
        yield "two added tokens have one id"


def _unexpected_pattern(tokenizer: BPETokenizer) -> Iterator[str]:
    pattern = None if tokenizer.pattern is None else find_pattern(tokenizer.pattern)
    for names, expected, family in FAMILIES:
        if set(names) <= set(tokenizer.special_tokens) and (pattern is None or pattern.name != expected):
            yield f"its special tokens are those of {family}, whose pattern is {expected}, but it splits differently"


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
