"""Corpora: the input files, their formats and compression, and the documents in them.

Text, JSON Lines and Parquet; local, or wherever fsspec reads. Training and shards both read through this room. It may
import `_support`. Begin with `documents.py`.
"""
