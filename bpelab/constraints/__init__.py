"""Constraints: a model's text has to match a regular expression, a list of choices or a JSON schema.

Only ids are allowed that the tokenizer itself would make of such a text; a switch gives the usual mask. `language.py`
reads a text, `spellings.py` says which tokens may follow each other, `product.py` intersects the two, `finishing.py`
says from where a match can be reached, `definition.py` is what all are compared with, `json_schema.py` makes
expressions of schemas, and `automaton.py` writes a constraint as a table. It may import `prefix` and the layers below
it. Begin with `constraint.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .automaton import TokenAutomaton as TokenAutomaton, token_automaton as token_automaton
    from .constraint import Constraint as Constraint, Matcher as Matcher

_HOMES = {
    "Constraint": "constraint",
    "Matcher": "constraint",
    "TokenAutomaton": "automaton",
    "token_automaton": "automaton",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
