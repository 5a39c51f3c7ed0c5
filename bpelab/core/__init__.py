"""The road of a text to its ids and back: added tokens, normalizer, pre-tokenizer, encoder; and bytes again.

`spec.py` says what a tokenizer is made of, `pipeline.py` puts the components together, `decode_pipeline.py` has the way
back, `vocabulary.py` the tokens by id, and `tokenizer.py` is all of these: what the rooms above take for a tokenizer.
It may import every component and `native`, and no file format. Begin with `pipeline.py`.
"""
