"""Boundaries: places where a text can be cut so that the parts have the same ids as the whole.

There are three modules. `named_patterns.py`: where do the published patterns always start a piece? `dfa_pairs.py`:
between which two characters does a pattern certainly cut, as proved from its DFA? `from_vocabulary.py`: which two
characters are adjacent in no token, so that no merge crosses? Other answers need more than a pattern and live with
their users: each pre-tokenizer defines what it does between two characters (`PreTokenizer.boundary`).
`streaming/pre_tokenizing.py` cuts a stream, `shards/partition.py` a document too large for memory,
`trainers/counting/partition.py` a file among workers, and `native/cuts.h` and `native/adjacency.h` a long piece inside
the encoder. It may import `model`, `regex` and `unicode`. Begin with `named_patterns.py`.
"""
