"""Did you mean: the known name that is nearest to a wrong one."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `name`; None if none is similar.

    >>> nearest("add_generation_promt", ["tools", "add_generation_prompt"])
    'add_generation_prompt'
    >>> nearest("padding", ["tools", "add_generation_prompt"]) is None
    True
    """
    from difflib import get_close_matches  # for errors only, so not when bpelab is imported

    return next(iter(get_close_matches(name, known, 1)), None)


def wrong_keyword(call: str, name: str, known: Iterable[str], otherwise: str = "") -> TypeError:
    """Return the error for a keyword that `call` doesn't have: it names the nearest one, or else says `otherwise`."""
    meant = nearest(name, known)
    advice = f": did you mean {meant}?" if meant else otherwise and f": {otherwise}"
    return TypeError(f"{call} has no argument {name!r}{advice}")
