"""The automata of published patterns that have a family."""

from functools import lru_cache

from bpelab.errors import PatternError
from bpelab.formats.gguf_pre_tokenizers import gguf_pre
from bpelab.regex.dfa import dfa_for
from bpelab.regex.pattern_families import AUTOMATA, FAMILIES, ascii_automaton, automaton_hash
from bpelab.regex.patterns import PATTERNS


def published_dfas():
    """Yield the DFA of every published pattern, in both dialects."""
    for pattern in PATTERNS.values():
        yield dfa_for(pattern.regex)
        yield dfa_for(pattern.oniguruma, "oniguruma")
    for regex in sorted({regex for pre in gguf_pre().values() for regex in (*pre.regex, *(pre.original or ()))}):
        for dialect in ("rust", "oniguruma"):
            try:
                yield dfa_for(regex, dialect)
            except PatternError:  # what no table can run
                continue


@lru_cache(1)
def dfas_by_row():
    """Return, for each row of AUTOMATA that a published pattern has, the DFA of such a pattern."""
    hashes = ((automaton_hash(dfa), dfa) for dfa in published_dfas())
    return {row: dfa for row, dfa in hashes if row in AUTOMATA}


def families_and_automata():
    """Return (family, automaton) of each row."""
    return [(FAMILIES[AUTOMATA[row]], ascii_automaton(dfa)) for row, dfa in dfas_by_row().items()]
