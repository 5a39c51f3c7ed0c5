"""Encoding and training in C: an extension that is built where there is a compiler, and looked for once.

It encodes for byte-level models that one pattern cuts text for, from the first character; ids are those of `encoders`,
in Python, which everything else uses, and everything where there is no extension. One file a stage: scan.h,
piece_cache.h, vocabulary.h, building.h, table_file.h, cuts.h, merge.h, encode.h, decode.h, module.c. It trains whatever
the pattern (`trainers/native.py`): count.h, pairs.h, replace.h, learn.h, and the types pretoken_counter.h and
merge_learner.h.

Chapters: Compiled; Incremental training. Cost: tables, 0.1 s for 100,000 tokens; see the stages.
"""

from array import array
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..errors import MissingDependencyError, PatternError
from ..formats.table_cache import HASH
from ..install import install_command
from ..model import BPEModel, RankMerges
from ..pretokenizers.regex_dfa import DFA, dfa_for
from ..pretokenizers.regex_nfa import NotRegular
from ..pretokenizers.split import Split
from . import tables

if TYPE_CHECKING:
    from ._core import Decoder, Encoder, PreTokenCounter

MOST_TOKENS, MOST_MERGES, LARGEST_ID, MOST_BYTES = 1 << 21, 1 << 22, 1 << 28, 1 << 26
"""What tables hold; MOST_BYTES is of all tokens together, of which o200k has 2^21."""
NO_PATTERN = r"(?s:.+)"


def extension() -> "type[Encoder] | None":
    """The class of C, or None where the extension wasn't built."""
    try:
        from ._core import Encoder
    except ImportError:
        return None
    return Encoder


def require_extension() -> None:
    """Raise MissingDependencyError, which says what to do, where the extension wasn't built."""
    if extension() is None:
        raise MissingDependencyError(
            "the extension in C was not built: it needs a C compiler and Python's headers (Debian: gcc python3-dev). "
            f"Install them, and bpelab again: {install_command(pip='pip install --force-reinstall --no-deps')}"
        )


def encoder_for(model: BPEModel, split: Split | None) -> "Encoder | None":
    """The encoder of a model whose text `split` cuts, None for all of it; None where only Python can do it.

    >>> native = encoder_for(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), Split("gpt2"))
    >>> native is None or native.encode("low lo") == [257, 32, 256]
    True
    """
    core = extension()
    if core is None or not model.bytewise:
        return None
    scan = _scan(split)
    if scan is None:
        return None
    path = tables.path_for(model, core)
    made = None if path is None else tables.fetch(path, core, scan)
    if made is None:
        made = _made(model, core, scan)
        if made is not None and path is not None:
            tables.store(path, made)
    return made


def is_kept(model: BPEModel) -> bool:
    """Whether the tables of a model were made before, so that they are there at once."""
    core = extension() if HASH in vars(model) else None  # to hash a model takes as long as to make tables
    path = None if core is None else tables.path_for(model, core)
    return path is not None and path.exists()


def _made(model: BPEModel, core: "type[Encoder]", scan: "tuple[Any, ...]") -> "Encoder | None":
    if len(model.tokens) > MOST_TOKENS or max(model.tokens) >= LARGEST_ID:
        return None
    by_rank = isinstance(model.merges, RankMerges) and model.merges.plain
    order = _order(model, by_rank)
    merges = None if by_rank else _merges(model, order)
    if not by_rank and merges is None:
        return None
    contents = [model.tokens[token_id] for token_id in order]
    if sum(map(len, contents)) > MOST_BYTES:
        return None
    number = {token_id: place for place, token_id in enumerate(order)}
    try:
        return core(
            content=b"".join(contents),
            starts=array("i", accumulate(map(len, contents), initial=0)),
            ids=array("I", order),
            byte_tokens=array("I", map(number.__getitem__, model.byte_ids)),
            letters=len(model.alphabet),
            merges=merges,
            whole=model.take_whole,
            scan=scan,
        )
    except MemoryError:  # or tokens that are so long and so alike that tables would take too long
        return None


def decoder_for(contents: Mapping[int, bytes]) -> "Decoder | None":
    """What joins tokens in C; None where the extension wasn't built, or ids lie too far apart for a row each.

    >>> native = decoder_for({0: b"a", 1: b"bc"})
    >>> native is None or native.join([1, 0]) == b"bca"
    True
    """
    if extension() is None or not contents or max(contents) >= min(4 * len(contents) + (1 << 16), LARGEST_ID):
        return None
    from ._core import Decoder

    joined = b"".join(contents.values())
    return Decoder(joined, array("I", map(len, contents.values())), array("I", contents))


def counter_for(split: Split | None) -> "PreTokenCounter":
    """A counter of pre-tokens; it scans texts for those of `split`, and takes a text for one where only Python can cut.

    Raises MissingDependencyError where the extension wasn't built.
    """
    require_extension()
    from ._core import PreTokenCounter

    return PreTokenCounter(None if split is None else _scan(split))


def _scan(split: Split | None) -> "tuple[Any, ...] | None":
    """The pattern's table: transitions, width, start, and classes in two stages; None where there is none in C."""
    try:
        if split is None:
            dfa = dfa_for(NO_PATTERN, "rust")
        elif split.behavior == "Isolated" and not split.invert:
            dfa = dfa_for(split.pattern, split.dialect)
        else:
            return None
    except (PatternError, NotRegular):
        return None
    return None if _looks_behind(dfa) else (dfa.trans, dfa.width, dfa.entries[0], *dfa.stages)


def _looks_behind(dfa: DFA) -> bool:
    """Whether a pattern looks behind, or matches the empty string, which the scan in C doesn't do."""
    start = dfa.entries[0]
    return len(set(dfa.entries)) > 1 or any(step & 1 for step in dfa.trans[start * dfa.width : (start + 1) * dfa.width])


def _order(model: BPEModel, by_rank: bool) -> list[int]:
    """The ids in the order of their numbers: the alphabet, then by rank, then what no merge makes."""
    alphabet = sorted(model.alphabet.values())
    if by_rank:
        letters = set(alphabet)
        return alphabet + [token_id for token_id in sorted(model.tokens) if token_id not in letters]
    made = [new for _, new in sorted(set(model.merges.values()))]
    return list(dict.fromkeys([*alphabet, *made, *model.tokens]))


def _merges(model: BPEModel, order: list[int]) -> "tuple[array[int], array[int], bool] | None":
    """Listed merges: triples of left, right and merge, by rank; the token of each; whether each token has one merge.

    None where there are too many, or one rank for two tokens.
    """
    number = {token_id: place for place, token_id in enumerate(order)}
    listed = sorted(
        (rank, number[left], number[right], number[new]) for (left, right), (rank, new) in model.merges.items()
    )
    if len(listed) > MOST_MERGES:
        return None
    pairs, made, before = array("i"), array("I"), None
    for rank, left, right, new in listed:
        if rank != before:
            made.append(new)
        elif made[-1] != new:
            return None
        before = rank
        pairs.extend((left, right, len(made) - 1))
    return pairs, made, len(set(made)) == len(made)
