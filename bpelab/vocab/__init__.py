"""Added tokens, which no merge makes: their flags, which of them are special, and the search for them in a text.

It may import `unicode` and `_support`, but no model. Begin with `added_tokens.py`; `special_tokens.py` decides which
special tokens a call allows.
"""
