"""Texts that go on: which ids can begin the encoding of a text of which only the beginning is known.

`BPETokenizer.covers` is here: `piece_borders.py` guesses where the pattern will cut, `byte_states.py` reads a text with
these guesses, `valid_tokens.py` says which tokens can come next, and `definition.py` is what all are compared with. It
may import `core` and the layers below it. Begin with `covers.py`.
"""
