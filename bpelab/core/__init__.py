"""The road of a text to its ids and back: added tokens, normalizer, pre-tokenizer, encoder; and bytes again.

`pipeline.py` puts the components together, `vocabulary.py` has the tokens by id, `detokenize.py` the way back. It may
import every component and `native`, and no file format. Begin with `pipeline.py`.
"""
