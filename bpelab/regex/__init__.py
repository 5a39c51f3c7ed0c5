r"""Regular expressions in linear time: tokenizers' split patterns, compiled to a DFA that reads each character once.

The road is `parser.py` (pattern to syntax tree), `nfa.py`, `dfa_construction.py` (ordered subset construction, which
keeps leftmost-first matches), `dfa.py` (the search). `patterns.py` has the published patterns by name; most belong to
one of the `pattern_families.py`, whose pieces `bit_rules.py` finds a block of characters at a time. What no table can
run, `backtracking.py` leaves to the package regex, with a limit on time. `equivalence.py` proves that two
patterns cut alike, or has the shortest text that they cut differently. It may import `unicode`. Begin with `parser.py`.
"""
