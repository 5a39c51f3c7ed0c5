"""Offsets: which characters of the original text a token stands for.

`offsets.py` counts the bytes of a piece's tokens, `pieces.py` says where the pieces of a pre-tokenizer are. How a text
is aligned through normalizers, each of them says itself (`texts/aligned_string.py`). It may import `model`, `texts` and
the components. Begin with `offsets.py`.
"""
