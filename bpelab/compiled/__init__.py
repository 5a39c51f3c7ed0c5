"""Training compiled by numba: what counts words and learns merges in arrays.

Chapter: Incremental training.
"""
