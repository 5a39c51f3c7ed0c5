"""Verify shards: by their SHA-256, and by encoding the inputs again.

Cost: reading the shards once; for the comparison, encoding all inputs again, without writing.
"""

from contextlib import closing
from typing import TYPE_CHECKING

from .._support.numpy_import import np
from .._support.progress import progress_bar
from ..corpus.inputs import Input, Paths, input_paths, stat_input
from ..errors import ShardsError
from .array_files import sha256
from .encoding import EncodedBatch, Position
from .fingerprints import fingerprint
from .write import make_encoder

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer
    from .reader import Shards

MAX_NAMED = 8


def check_files(shards: "Shards", progress: bool | None) -> None:
    """Raise ShardsError naming the files whose SHA-256 differs from the index."""
    damaged = []
    expected = [(shard.file, shard.sha256) for shard in shards.index.shards]
    expected += [(shard.documents_file, shard.documents_sha256) for shard in shards.index.shards]
    with progress_bar(progress, len(expected), "checking", " files") as advance:
        for name, digest in expected:
            try:
                if sha256(shards.folder / name) != digest:
                    damaged.append(name)
            except OSError as error:
                damaged.append(f"{name} ({error.strerror})")
            advance(1)
    if damaged:
        more = f" and {len(damaged) - MAX_NAMED:,} more" if len(damaged) > MAX_NAMED else ""
        raise ShardsError(
            f"{shards.folder}: not what was written (another SHA-256): {', '.join(damaged[:MAX_NAMED])}{more}; bring "
            "them back, or write the folder anew with overwrite=True (--overwrite)"
        )


def verify_against_inputs(
    shards: "Shards", tokenizer: "Tokenizer", against: Paths | None, threads: int | None, progress: bool | None
) -> None:
    """Encode the inputs again and compare. Raises ShardsError naming the first document that differs, CorpusError."""
    settings = shards.index.settings
    if (found := fingerprint(tokenizer)) != settings.tokenizer:
        raise ShardsError(
            f"{shards.folder}: was written with another tokenizer: its fingerprint begins with "
            f"{settings.tokenizer[:12]}, that of this one with {found[:12]}; name the one that wrote it"
        )
    inputs = _inputs(shards, against)
    token = document = 0
    encoding = make_encoder(tokenizer, settings, threads)
    with (
        progress_bar(progress, sum(item.size for item in inputs), "comparing", "B") as advance,
        closing(encoding.of(inputs, Position(), advance)) as parts,
    ):
        for part in parts:
            if (number := _first_difference(shards, part, token, document)) is not None:
                at = int(np.searchsorted(np.cumsum(part.first), number - document + 1))
                source = int(part.sources[min(at, len(part.sources) - 1)])
                raise _difference_error(shards, number, inputs[source], source)
            token, document = token + len(part.ids), document + int(part.first.sum())
    if token < len(shards) or document < shards.documents:
        last = shards.find_document(token) if token < len(shards) else document
        raise _difference_error(shards, min(last, document), None, len(inputs))


def _difference_error(shards: "Shards", number: int, source: Input | None, index: int) -> ShardsError:
    inside = number - sum(item.documents for item in shards.index.inputs[:index])
    where = f"document {inside:,} of {source.path}" if source else "after the end of the inputs"
    return ShardsError(
        f"{shards.folder}: document {number:,} is not what the inputs encode to ({where}; both counted from 0): the "
        "file was changed, or is in another place of the list"
    )


def _inputs(shards: "Shards", against: Paths | None) -> list[Input]:
    before = shards.index.inputs
    if against is None:
        return [stat_input(item.path, item.form) for item in before]
    paths = input_paths(against, shards.index.settings.input_format)
    if len(paths) != len(before):
        raise ShardsError(f"{shards.folder}: was written from {len(before):,} files, and {len(paths):,} are given")
    return [stat_input(path, item.form) for path, item in zip(paths, before)]


def _first_difference(shards: "Shards", part: EncodedBatch, token: int, document: int) -> int | None:
    """Return the first document that differs in a batch, or None; `token` and `document` say where the batch begins."""
    found = []
    kept = shards.tokens(min(token, len(shards)), min(token + len(part.ids), len(shards)))
    begins = part.starts[part.first] + token
    unequal = np.flatnonzero(kept != part.ids[: len(kept)])
    if len(unequal) or len(kept) < len(part.ids):
        at = token + (int(unequal[0]) if len(unequal) else len(kept))
        found.append(document + int(np.searchsorted(begins, at, "right")) - 1)
    there = shards.begins(min(document, shards.documents), min(document + len(begins), shards.documents))
    moved = np.flatnonzero(there != begins[: len(there)])
    if len(moved):
        found.append(max(0, document + int(moved[0]) - 1))  # the one before it has another length
    elif len(there) < len(begins):
        found.append(document + len(there))
    return min(found, default=None)
