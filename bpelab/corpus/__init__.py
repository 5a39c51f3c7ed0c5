"""Corpora: the input files, their formats and compression, and the documents in them.

Files are text, JSON Lines or Parquet, local or at any address that fsspec can read. Training and shards both read
through this room. It may import `_support`. Begin with `documents.py`.
"""
