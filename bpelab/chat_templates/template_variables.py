"""Template variables as keywords of a chat call: a keyword that neither the call nor the template reads is an error.

A keyword that nobody reads is a mistake: it's misspelt, or belongs to another library. A template's source shows what
it reads. `template_variables=` accepts any names, for templates that aren't known beforehand.

Chapter: Chat templates. Cost: the template is parsed once.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from inspect import signature
from typing import Any

from .._support.nearest_name import wrong_keyword
from .render import compiled

ELSEWHERE = {
    "context": "n_ctx",
    "num_ctx": "n_ctx",
    "max_length": "max_new_tokens",
    "num_predict": "max_new_tokens",
    "do_sample": "temperature, which is 0 for the most likely token always",
    "return_dict": "tokenize: the answer is a list of ids, or with tokenize=False a text",
    "return_tensors": "numpy.array or torch.tensor on the ids, which are a list",
}
"""Keywords of other libraries, and what to use here instead, if the names aren't alike."""


@lru_cache(32)
def variables_of(source: str) -> frozenset[str]:
    """Return the names that a template reads and doesn't define. Raises TemplateError.

    >>> sorted(variables_of("{% if thinking %}{% for m in messages %}{{ m.content }}{% endfor %}{% endif %}"))
    ['messages', 'thinking']
    """
    from jinja2.meta import find_undeclared_variables

    environment = compiled(source).environment
    return frozenset(find_undeclared_variables(environment.parse(source)) - environment.globals.keys())


def own_keywords(call: Callable[..., Any]) -> list[str]:
    """Return the arguments that a function names in its signature."""
    return [name for name, parameter in signature(call).parameters.items() if parameter.kind != parameter.VAR_KEYWORD]


def variables_for(
    call: str, own: Iterable[str], source: str, variables: Mapping[str, Any] | None, keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Merge `variables` and `keywords`, if the template reads each keyword.

    Raises TypeError for a keyword that it doesn't read, naming the nearest of `own` and the template's names, and for
    one that is in both.
    """
    if variables is not None and not isinstance(variables, Mapping):
        raise TypeError(f"template_variables must be a dict of names and values, not {type(variables).__name__}")
    for name in keywords:
        if name in (variables or {}):
            raise TypeError(f"{call}: {name!r} is given twice, as a keyword and in template_variables")
        read = variables_of(source)
        if name not in read:
            if name in ELSEWHERE:
                raise TypeError(f"{call} has no argument {name!r}: use {ELSEWHERE[name]}")
            otherwise = "nor does the template read it; template_variables={...} passes it anyway"
            raise wrong_keyword(call, name, [*own, *sorted(read)], otherwise)
    return {**(variables or {}), **keywords}
