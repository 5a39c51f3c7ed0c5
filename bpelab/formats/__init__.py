"""File formats of tokenizers: what each can hold, and how it is read and written.

Each reads a file to a `TokenizerSpec` and writes a specification to a file; none knows of the tokenizer. It may import
`core` and the components. Begin with `minbpe.py`, the shortest; `detect.py` tells formats apart.
"""
