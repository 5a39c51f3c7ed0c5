"""Encoding and training in C: an extension that is built where there is a compiler, and looked for once.

It serves models whose units are bytes or characters, and whose text patterns cut; ids are those of `encoders`, in
Python, which does the rest, and everything where there is no extension. The rest is: what follows ByteLevel in a
sequence (Falcon), patterns that look behind or match the empty string (SuperBPE), pieces of a length or a script, units
of several characters, tokens and ids beyond what tables hold. There cutting in Python is what takes the time: 0.3 MB/s
for Falcon's pre-tokenizer, 0.8 for SuperBPE's, where pieces that are merged in C would gain nothing in English and a
half in Chinese. It trains whatever the pattern (`trainers/native.py`).

One file a stage: scan.h, readers.h, levels.h, neighbours.h, piece_cache.h, vocabulary.h, building.h, table_file.h,
cuts.h, units.h, merge.h, encode.h, decode.h; for training count.h, pairs.h, replace.h, learn.h; and the Python types,
module.c, pretoken_counter.h, merge_learner.h. In Python, `plan.py` says what cuts a text, `arrays.py` what tables are
made of, and `tables.py` keeps these.

Chapters: Compiled; Incremental training. Cost: tables, 0.1 s for 100,000 tokens; see the stages.
"""

from __future__ import annotations

from array import array

from ..errors import MissingDependencyError
from ..forks import unforked
from . import tables
from .plan import levels_for, preparation as preparation, scan_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import BPEModel
    from ..pretokenizers.base import PreTokenizer
    from ..pretokenizers.split import Split
    from ._core import Decoder, Encoder, PreTokenCounter

LARGEST_ID = 1 << 28
"""No id of a model that C serves is as large."""


def extension() -> type[Encoder] | None:
    """The class of C, or None where the extension wasn't built."""
    try:
        from ._core import Encoder
    except ImportError:
        return None
    return Encoder


def require_extension() -> None:
    """Raise MissingDependencyError, which says what to do, where the extension wasn't built."""
    if extension() is None:
        from ..install import install_command

        raise MissingDependencyError(
            "the extension in C was not built: it needs a C compiler and Python's headers (Debian: gcc python3-dev). "
            f"Install them, and bpelab again: {install_command(pip='pip install --force-reinstall --no-deps')}"
        )


def encoder_for(model: BPEModel, pre_tokenizer: PreTokenizer | None) -> Encoder | None:
    """The encoder of a model whose text a pre-tokenizer cuts, None for all of it; None where only Python can do it.

    What it is given is the text after `plan.preparation`.

    >>> from bpelab.pretokenizers.split import Split
    >>> from bpelab import BPEModel
    >>> native = encoder_for(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), Split("gpt2"))
    >>> native is None or native.encode("low lo") == [257, 32, 256]
    True
    """
    core = extension()
    if core is None:
        return None
    levels = levels_for(pre_tokenizer, model)
    if levels is None:
        return None
    path = tables.path_for(model, core)
    encoder = None if path is None else tables.fetch(path, core, levels)
    if encoder is None:
        with unforked:
            from .arrays import made
        encoder = made(model, core, levels)
        if encoder is not None and path is not None:
            tables.store(path, encoder)
    return encoder


def decoder_for(contents: Mapping[int, bytes]) -> Decoder | None:
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


def counter_for(split: Split | None) -> PreTokenCounter:
    """A counter of pre-tokens; it scans texts for those of `split`, and takes a text for one where only Python can cut.

    Raises MissingDependencyError where the extension wasn't built.
    """
    require_extension()
    from ._core import PreTokenCounter

    return PreTokenCounter(scan_table(split))
