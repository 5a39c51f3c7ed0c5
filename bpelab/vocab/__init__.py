"""Added tokens, which no merge makes: their flags, which of them are special, and the search for them in a text.

It may import `unicode` and `_support`, and no model. Begin with `added_tokens.py`; which special tokens a call allows
is decided in `special_tokens.py`.
"""
