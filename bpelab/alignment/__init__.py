"""Offsets: which characters of the original text a token stands for, through normalizers that change its length.

It may import `normalizers` and `pretokenizers`. Begin with `aligned_string.py`, a string that knows where its
characters come from.
"""
