"""Offsets: which characters of the original text a token stands for.

`offsets.py` counts the bytes of a piece's tokens; `pieces.py` locates a pre-tokenizer's pieces. Normalizers align their
own results (`texts/aligned_string.py`). It may import `model`, `texts` and the components. Begin with `offsets.py`.
"""
