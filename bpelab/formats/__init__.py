"""File formats of tokenizers: what each can hold, and how it is read and written.

Each module reads a file into a `TokenizerSpec` and writes a specification to a file; none depends on the tokenizer. It
may import `core` and the components. Begin with `minbpe.py`, the shortest; `detect.py` tells formats apart.
"""
