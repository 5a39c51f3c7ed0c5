"""Did you mean: the known name closest to a wrong one."""

from collections.abc import Callable, Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name most similar to `name`, ignoring case; None if none is similar.

    >>> nearest("add_generation_promt", ["tools", "add_generation_prompt"])
    'add_generation_prompt'
    >>> nearest("GPT2", ["gpt2", "gpt-4"]), nearest("padding", ["tools", "add_generation_prompt"])
    ('gpt2', None)
    """
    from difflib import get_close_matches  # for errors only, so not when bpelab is imported

    originals = {each.lower(): each for each in names}
    return next((originals[each] for each in get_close_matches(name.lower(), originals, 1)), None)


def wrong_keyword(call: str, name: str, parameters: Iterable[str], otherwise: str = "") -> TypeError:
    """Return the error for a keyword that `call` doesn't have; it suggests the nearest one, or says `otherwise`."""
    close = nearest(name, parameters)
    advice = f": did you mean {close}?" if close else otherwise and f": {otherwise}"
    return TypeError(f"{call} has no argument {name!r}{advice}")


def refuse_unknown(method: Callable[..., object], names: Iterable[str], *others: Callable[..., object]) -> None:
    """Raise TypeError for the first keyword in `names` that neither a method nor `others` accepts.

    The message has a hint: how to migrate from another library, the call that accepts it, or the nearest name.
    """
    from inspect import Parameter, isclass, signature

    from .migration_hints import KEYWORDS

    arguments = [it for each in (method, *others) for it in signature(each).parameters.values()]
    parameters = [it.name for it in arguments if it.kind != Parameter.VAR_KEYWORD]
    wrong = next((name for name in names if name not in parameters), None)
    if wrong is None:
        return
    owner = method.__self__  # type: ignore[attr-defined]
    call = f"{(owner if isclass(owner) else type(owner)).__name__}.{method.__name__}"
    advice = KEYWORDS.get(wrong)
    if advice is None and wrong in signature(owner.__call__).parameters:
        advice = f"tokenizer(text, {wrong}=...) has it"
    if advice is not None:
        raise wrong_keyword(call, wrong, (), advice)
    raise wrong_keyword(call, wrong, parameters, f"its arguments are {', '.join(parameters)}")
