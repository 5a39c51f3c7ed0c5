"""Where a text may be cut so that the parts have the ids of the whole.

Three answers live here. `named_patterns.py`: before which characters do the published patterns always begin a piece?
`dfa_pairs.py`: between which two characters does a pattern surely cut, proved from its table? `from_vocabulary.py`:
between which characters is there no token, so that no merge crosses? Others need more than a pattern and live with
their users: each pre-tokenizer says of itself what it does between two characters (`PreTokenizer.boundary`);
`streaming/pre_tokenizing.py` cuts a stream, `shards/partition.py` a document too large for memory,
`trainers/counting/partition.py` a file among workers, and `native/cuts.h` and `native/adjacency.h` a long piece inside
the encoder. It may import `model`, `regex` and `unicode`. Begin with `named_patterns.py`.
"""
