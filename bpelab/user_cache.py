"""Where what can be made again is kept: tables of vocabularies, converted models.

The folder is `$BPELAB_CACHE`, or `bpelab` in `$XDG_CACHE_HOME` or `~/.cache`; `BPELAB_CACHE=` (empty) keeps nothing.
Everything in it can be deleted at any time.
"""

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """The folder, or None where nothing is to be kept."""
    chosen = os.environ.get("BPELAB_CACHE")
    if chosen is not None:
        return Path(chosen).expanduser() if chosen else None
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # no home
        return None
    return Path(base) / "bpelab"
