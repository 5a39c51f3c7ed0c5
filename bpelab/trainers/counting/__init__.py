"""Counting: how often each pre-token occurs in a corpus, in this process, on its threads, or on a cluster.

It may import `core`, `native`, `boundaries` and `corpus`, but no trainer. Begin with `corpus.py`.
"""
