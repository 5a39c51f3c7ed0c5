"""What a model is given: batches of ids with masks, truncated and padded, under the names of transformers.

It may import `postprocessors` and `_support`. Begin with `assemble.py`, which `BPETokenizer.__call__` calls.
"""
