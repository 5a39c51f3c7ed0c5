"""The cache folder, for files that can be rebuilt: tables of vocabularies, converted models.

The folder is `$BPELAB_CACHE`, or `bpelab` in `$XDG_CACHE_HOME` or `~/.cache`; `BPELAB_CACHE=` (empty) keeps nothing.
Everything in it can be deleted at any time.
"""

import os


def cache_dir() -> str | None:
    """Return the cache folder; None if caching is off or there is no home folder."""
    chosen = os.environ.get("BPELAB_CACHE")
    if chosen is None:
        chosen = os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "bpelab")
    folder = os.path.expanduser(chosen)
    return folder if folder and not folder.startswith("~") else None  # "~" stays if there is no home
