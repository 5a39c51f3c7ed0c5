"""The rules on bit masks against DFAs, text by text, and whether a change of any of the rules is noticed.

That the rules are right for blocks of any length is proved in `bit_proof.py`.
"""

import __future__

import ast
import copy
import inspect
import random
import re
from itertools import product

import pytest

from bpelab.notebook import book_text
from bpelab.regex import bit_rules
from bpelab.regex.bit_rules import masks_of, spans, starts
from bpelab.regex.pattern_families import (
    AFTER_WORDS,
    AUTOMATA,
    FAMILIES,
    NO_CONTRACTIONS,
    SMALL_BEFORE_WORDS,
    family_of,
)

from ..conftest import amount, fuzz_text
from .bit_proof import counterexample, is_wrong
from .published import dfas_by_row, families_and_automata

RUNS = [
    "a",
    "s",
    "A",
    "It's",
    "'LL",
    "x'S's",
    "1",
    "12345",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\n \n",
    "'",
    "/",
    "./\n",
    "\x7f",
    "é",
    "ſ",
    "日",
]
"""What is repeated in random texts, to make runs that cross the edges of blocks."""


def random_text(rng):
    chosen = rng.sample(RUNS, rng.randint(1, 6))
    return "".join(
        rng.choice(chosen) * rng.choice((1, 1, 1, 2, 3, rng.randint(1, 70))) for _ in range(rng.randint(1, 20))
    )


@pytest.mark.parametrize("row", AUTOMATA)
def test_blocks_make_the_pieces_that_the_dfa_makes(row):
    dfa, rng = dfas_by_row()[row], random.Random(row)
    family = family_of(dfa)
    texts = [random_text(rng) for _ in range(amount(20, 1_000))] + [fuzz_text(rng) for _ in range(amount(20, 500))]
    for text in ["", *texts, book_text()[:2_000]]:
        expected = list(dfa.spans(text))
        for size in (1, 2, 5, 64, 1_000):
            assert list(spans(text, dfa, family, size)) == expected, (text, size)


@pytest.mark.parametrize("row", AUTOMATA)
def test_all_short_texts(row):
    dfa = dfas_by_row()[row]
    family = family_of(dfa)
    for length in range(1, amount(2, 4) + 1):
        for text in map("".join, product("aslevAL1 \t\n'/.", repeat=length)):
            assert list(spans(text, dfa, family)) == list(dfa.spans(text)), text


def undecided_from(text, family):
    """Where the rules give up, as regular expressions say it: an offset, the text's length if they don't."""
    ends = [r"(?<=\s)\s+\Z"]
    if family.contractions == AFTER_WORDS:
        ends.append(r"(?<=[A-Za-z])'[\s\S]?\Z")
    elif family.contractions == SMALL_BEFORE_WORDS:
        ends.append(r"(?:(?<=[A-Za-z0-9\t-\r])|\A)'[A-Za-z]\Z")
    found = [re.search(end, text, re.ASCII) for end in ends]
    offsets = [
        match.start() + (family.contractions == SMALL_BEFORE_WORDS and match[0][0] == "'") for match in found if match
    ]
    return min([len(text), *offsets])


SHORT = [text for size in range(1, 5) for text in map("".join, product("a'. \n1", repeat=size))]


def what_is_undecided(family):
    """Return a short text of which the rules decide more or less than they should, or None."""
    return next((text for text in SHORT if starts(masks_of(text), family)[1] != undecided_from(text, family)), None)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_rules_give_up_only_at_the_end_of_a_block(name):
    assert what_is_undecided(FAMILIES[name]) is None


def noticed(family, automaton):
    """Whether the proof fails, or the rules decide less than they should; a failed proof has a text that shows it."""
    try:
        text = counterexample(family, automaton)
    except AssertionError:  # no circuit, or no automaton that reads from the end
        return True
    if text is not None:
        assert is_wrong(text, family, automaton), (text, family)
        return True
    return what_is_undecided(family) is not None


class Mutation(ast.NodeTransformer):
    """Change a function at the place with this number; `change` says how, or is empty if there is no such place."""

    def __init__(self, number):
        self.left, self.change = number, ""

    def _here(self, node, change):
        self.left -= 1
        if self.left == -1:
            self.change = f"{ast.unparse(node)}: {change}"
        return self.left == -1

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            if self._here(node, "only the left"):
                return node.left
            if self._here(node, "only the right"):
                return node.right
        elif self._here(node, "not shifted"):
            return node.left
        elif self._here(node, "shifted further"):
            node.right = ast.BinOp(node.right, ast.Add(), ast.Constant(1))
        return node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return node.operand if self._here(node, "not negated") else node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        return ast.Pass() if self._here(node, "left out") else node


def mutants():
    """Yield (what was changed, the changed rules)."""
    tree = ast.parse(inspect.getsource(bit_rules.rules))
    for number in range(1_000):
        mutation = Mutation(number)
        changed = ast.fix_missing_locations(mutation.visit(copy.deepcopy(tree)))
        if not mutation.change:
            return
        names = {**vars(bit_rules), "fixpoint": settled}
        exec(compile(changed, mutation.change, "exec", __future__.annotations.compiler_flag), names)
        yield mutation.change, names["rules"]


def settled(function):
    """As `fixpoint`, for short texts and rules that need not have a fixpoint."""
    mask = 0
    for _ in range(20):
        mask = function(mask)
    return mask


EQUIVALENT = {
    "digits << distance: shifted further": "a digit after a gap in a run is the first of the next one anyway",
    "taken & two: only the left": "two characters after an apostrophe is, in a contraction of three, a letter",
}
"""Changes of the rules that change nothing, and why."""


@pytest.mark.parametrize("some", [15, pytest.param(1, marks=pytest.mark.slow)])
def test_every_change_of_the_rules_is_noticed(some, monkeypatch):
    everything, unnoticed = list(mutants()), []
    assert len(everything) > 200
    for change, changed in everything[::some]:
        monkeypatch.setattr(bit_rules, "rules", changed)
        if not any(noticed(family, automaton) for family, automaton in families_and_automata()):
            unnoticed.append(change)
    assert set(unnoticed) <= EQUIVALENT.keys()
    assert some > 1 or set(unnoticed) == EQUIVALENT.keys()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_change_of_a_parameter_is_noticed(name):
    family = FAMILIES[name]
    automata = [automaton for other, automaton in families_and_automata() if other == family]
    values = {
        "digits": (0, 1, 2, 3),
        "after_punctuation": (0, 1, 2),
        "contractions": range(NO_CONTRACTIONS, AFTER_WORDS + 1),
    }
    for field in family._fields:
        for value in values.get(field, (0, 1)):
            changed = family._replace(**{field: value})
            if changed != family:
                assert all(noticed(changed, automaton) for automaton in automata), changed
