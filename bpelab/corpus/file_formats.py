"""Formats of input files: text, JSON Lines or Parquet, compressed or not.

The format is in the file's extension: `.txt`, `.jsonl` or `.parquet`, the first two optionally with `.gz` or `.zst`.
"""

from pathlib import Path

ENDINGS = {".txt": "text", ".text": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
COMPRESSIONS = {".gz": ".gz", ".gzip": ".gz", ".zst": ".zst", ".zstd": ".zst"}
FORMS = ("text", "text.gz", "text.zst", "jsonl", "jsonl.gz", "jsonl.zst", "parquet")


def detect_format(path: str, form: str | None = None) -> str | None:
    """Return a file's format by its name, or None. `form` overrides all but the compression after "text" or "jsonl".

    >>> detect_format("a.jsonl.gz"), detect_format("notes.md"), detect_format("notes.md.zst", "text")
    ('jsonl.gz', None, 'text.zst')
    """
    name = Path(path).name.lower()
    compression = COMPRESSIONS.get(Path(name).suffix, "")
    kind = ENDINGS.get(Path(Path(name).stem if compression else name).suffix)
    if form is not None:
        return form + compression if form in ("text", "jsonl") else form
    if kind is None or (kind == "parquet" and compression):
        return None
    return kind + compression


def validate_format(form: str | None) -> None:
    """Raise ValueError for a format that is not in FORMS."""
    if form is not None and form not in FORMS:
        raise ValueError(f"input_format is one of {', '.join(FORMS)}, not {form!r}")
