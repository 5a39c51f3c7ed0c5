r"""Regular expressions in linear time: tokenizers' split patterns, compiled to a DFA that reads each character once.

The steps are `parser.py` (pattern to syntax tree), `nfa.py`, `dfa_construction.py` (ordered subset construction, which
keeps leftmost-first matches), `dfa.py` (the search). `patterns.py` has the published patterns by name. Most belong to
one of the families in `pattern_families.py`, whose pieces `bit_rules.py` finds a block of characters at a time. If no
DFA can run a pattern, `backtracking.py` runs it with the `regex` package, under a time limit. `equivalence.py` proves
that two patterns cut all texts alike, or finds the shortest text that they cut differently. It may import `unicode`.
Begin with `parser.py`.
"""
