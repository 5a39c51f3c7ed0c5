"""What a file of texts holds: text, JSON Lines or Parquet, packed or not.

A name's ending says so: `.txt`, `.jsonl`, `.parquet`, the first two also behind `.gz` or `.zst`.
"""

from pathlib import Path

ENDINGS = {".txt": "text", ".text": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PACKED = {".gz": ".gz", ".gzip": ".gz", ".zst": ".zst", ".zstd": ".zst"}
FORMS = ("text", "text.gz", "text.zst", "jsonl", "jsonl.gz", "jsonl.zst", "parquet")


def form_of(path: str, form: str | None = None) -> str | None:
    """What a file holds, by its name; a `form` given goes first, and "text" or "jsonl" leave packing to the name.

    >>> form_of("a.jsonl.gz"), form_of("notes.md"), form_of("notes.md.zst", "text")
    ('jsonl.gz', None, 'text.zst')
    """
    name = Path(path).name.lower()
    packed = PACKED.get(Path(name).suffix, "")
    kind = ENDINGS.get(Path(Path(name).stem if packed else name).suffix)
    if form is not None:
        return form + packed if form in ("text", "jsonl") else form
    if kind is None or (kind == "parquet" and packed):
        return None
    return kind + packed


def check_form(form: str | None) -> None:
    """Raise ValueError for a form that is none."""
    if form is not None and form not in FORMS:
        raise ValueError(f"an input form is one of {', '.join(FORMS)}, not {form!r}")
