"""Encoding, decoding and training in C: an optional extension module, built if there is a C compiler.

It serves models whose initial symbols are bytes or characters and whose text is split by patterns. Its ids are the same
as those of `encoders`, in Python. Python does the rest, and everything if there is no extension. The rest is: steps
after ByteLevel in a sequence (Falcon), patterns with lookbehind or empty matches (SuperBPE's published models), pieces
of a fixed length or of one script, symbols of several characters, and tokens and ids beyond the limits of the tables.
In these cases splitting in Python takes most of the time, 0.3 MB/s for Falcon's pre-tokenizer and 0.8 for SuperBPE's.
Merging their pieces in C would gain nothing in English and a half in Chinese. Training works with any pattern
(`trainers/counting/native.py`).

One file a stage:

- splitting: scan.h, scan_table.h, parallel_scan.h, block_scan.h, block_scanners.h, split_rules.h, classify.h,
  classify_sse2.h, classify_avx2.h, classify_neon.h, byte_halves.h, beyond_ascii.h, bit_gather.h, find_pieces.h,
  split_steps.h, adjacency.h
- encoding: piece_keys.h, piece_cache.h, vocabulary.h, building.h, checks.h, table_file.h, cuts.h, initial_symbols.h,
  runs.h, merge.h, batched_merge.h, encode.h, superwords.h, utf8.h, decode.h
- files and vocabularies: json_text.h, model_json.h, merge_recovery.h, positions.h
- training: count.h, pairs.h, limits.h, replace.h, learn.h, pair_counts.h, phrases.h, phrase_parts.h
- used by all: common.h, instruction_sets.h, huge_pages.h, scratch.h
- Python types: module.c, piece_ends.h, pretoken_counter.h, merge_learner.h, phrase_counter.h
- for JavaScript: wasm.c, compiled to WebAssembly; the code around it is in `javascript/`

In Python, `plan.py` turns a pre-tokenizer into patterns, `arrays.py` a model into arrays, and `tables.py` keeps the
tables in files.

It may import `boundaries`, `model`, `pretokenizers` and `regex`. Begin with `encode.h`. Chapters: Native code;
Incremental training. Cost: 0.1 s to build the tables of 100,000 tokens; otherwise see each stage.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from .._support.fork_safety import fork_guard
from ..errors import MissingDependencyError
from . import tables
from .plan import preparation as preparation, scan_table, split_steps_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..model.bpe import BPEModel
    from ..model.lazy_model import ModelColumns
    from ..model.merge_recovery import RecoveredMerges
    from ..pretokenizers.base import PreTokenizer
    from ..pretokenizers.split import Split
    from ._core import Decoder, Encoder, PreTokenCounter

BUILD = "pip install --force-reinstall --no-deps --no-binary bpelab"
"""A command that builds bpelab even if pip would take a wheel without C, from an index or from its cache."""
ID_LIMIT = 1 << 28
"""The ids of a model that C serves must be below this."""
HIGHEST_IN_ROWS = 1 << 22
"""The ids of a model must be below this where C has a row for each."""


def extension() -> type[Encoder] | None:
    """Return the Encoder class of the extension, or None if it wasn't built."""
    try:
        from ._core import Encoder
    except ImportError:
        return None
    return Encoder


def instruction_set() -> str | None:
    """Return the instruction set with which C splits text: avx2, sse2, neon, portable; None if there is no extension.

    It is the fastest one that this machine has, unless the environment variable BPELAB_SIMD named another when C was
    first used. That is for tests and comparisons; all find the same pieces. Raises ValueError if this machine lacks it.
    """
    if extension() is None:
        return None
    from ._core import INSTRUCTION_SET

    return INSTRUCTION_SET


def require_extension() -> None:
    """Raise MissingDependencyError, with instructions, if the extension wasn't built."""
    if extension() is None:
        from .._support.install import install_command

        raise MissingDependencyError(
            "the extension in C was not built: it needs a C compiler and Python's headers (Debian: gcc python3-dev). "
            f"Install them, and bpelab again, from its sources: {install_command(pip=BUILD, build=True)}"
        )


def encoder_for(model: BPEModel, pre_tokenizer: PreTokenizer | None) -> Encoder | None:
    """Return the encoder in C for a model and its pre-tokenizer, if any; None if only Python can serve them.

    The encoder expects texts after `plan.preparation`.

    >>> from bpelab.pretokenizers.split import Split
    >>> from bpelab import BPEModel
    >>> native = encoder_for(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), Split("gpt2"))
    >>> native is None or native.encode("low lo") == [257, 32, 256]
    True
    """
    core = extension()
    if core is None:
        return None
    levels = split_steps_for(pre_tokenizer, model)
    if levels is None:
        return None
    path = tables.path_for(model, core)
    encoder = None if path is None else tables.fetch(path, core, levels)
    if encoder is None:
        with fork_guard:
            from .arrays import build_encoder
        encoder = build_encoder(model, core, levels)
        if encoder is not None and path is not None:
            tables.store(path, encoder)
    return encoder


def recovered_merges(model: BPEModel) -> RecoveredMerges:
    """Return `model.recovered_merges`, computed in C for a list of merges, and kept in the model.

    >>> from bpelab import BPEModel
    >>> recovered_merges(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])).splits
    {256: (108, 111), 257: (256, 119)}
    """
    columns = model.columns
    if "recovered_merges" in vars(model) or columns is None or columns.merges is None or extension() is None:
        return model.recovered_merges
    from ..model.lazy_model import are_distinct

    ranks = columns.merges[0]
    if not are_distinct(ranks) or columns.highest >= HIGHEST_IN_ROWS:
        return model.recovered_merges
    from .._support.gc_paused import gc_paused
    from ..model.early_merges import add_early_merges
    from ..model.merge_recovery import RecoveredMerges
    from ._core import recover_merges

    made = bytearray(columns.highest + 1)
    for token_id in model.alphabet.values():
        made[token_id] = 1
    with gc_paused():
        *used, complete = recover_merges(*columns.merges, made)
        rank, left, right, new = (memoryview(column).cast("I") for column in used)
        splits, rank_of = dict(zip(new, zip(left, right))), dict(zip(new, rank))
        early = 0 if complete else add_early_merges(model, set(columns.merges[3]).difference(splits), splits, rank_of)
        unreachable = tuple(i for i in columns.ids if not made[i] and i not in splits)
        found = RecoveredMerges(splits, rank_of, unreachable, early)
    vars(model)["recovered_merges"] = found
    return found


def decoder_for(contents: Mapping[int, bytes]) -> Decoder | None:
    """Return the decoder in C for token bytes by id, or None if the extension wasn't built or the ids are too sparse.

    >>> native = decoder_for({0: b"a", 1: b"bc"})
    >>> native is None or native.join([1, 0]) == b"bca"
    True
    """
    if extension() is None or not contents or _is_sparse(max(contents), len(contents)):
        return None
    from ._core import Decoder

    ends = array("I", accumulate(map(len, contents.values())))
    return Decoder(b"".join(contents.values()), ends, array("I", contents))


def decoder_for_columns(
    columns: ModelColumns, added: Mapping[int, bytes], silent: Collection[int] = ()
) -> Decoder | None:
    """Return the decoder in C for `added` tokens and a model's tokens, taken as arrays instead of a dict.

    If both have an id, it is the model's; ids in `silent` decode to nothing. Cost: 2 ms for 100,000 tokens; with a dict
    100 ms.
    """
    ids, ends, highest, joined = columns.ids, columns.ends, columns.highest, columns.content
    if extension() is None or _is_sparse(max((highest, *added, *silent)), len(ids)):
        return None
    from ._core import Decoder

    # The rows are filled in this order; if an id occurs twice, the last one counts.
    before = {token_id: token for token_id, token in added.items() if token_id <= highest}
    after = {token_id: token for token_id, token in added.items() if token_id > highest} | dict.fromkeys(silent, b"")
    all_ends = array("I", accumulate(map(len, before.values())))
    start = all_ends[-1] if before else 0
    all_ends += array("I", [start + end for end in ends]) if start else array("I", ends.tobytes())
    all_ends += array("I", accumulate(map(len, after.values()), initial=start + len(joined)))[1:]
    all_ids = array("I", before) + array("I", ids.tobytes()) + array("I", after)
    return Decoder(b"".join([*before.values(), joined, *after.values()]), all_ends, all_ids)


def _is_sparse(highest: int, count: int) -> bool:
    """Return whether one row for each id up to the highest would take far more memory than the tokens."""
    return highest >= min(4 * count + (1 << 16), ID_LIMIT)


def counter_for(split: Split | None) -> PreTokenCounter:
    """Return a counter of pre-tokens that splits texts by `split`.

    It counts whole texts if `split` is None or C can't run its pattern. Raises MissingDependencyError if the extension
    wasn't built.
    """
    require_extension()
    from ._core import PreTokenCounter

    return PreTokenCounter(scan_table(split))
