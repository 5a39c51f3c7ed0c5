"""The path from text to ids and back: added tokens, normalizer, pre-tokenizer, encoder, and then decoding.

`spec.py` lists a tokenizer's components, `pipeline.py` encodes with them, `decode_pipeline.py` decodes, and
`vocabulary.py` looks tokens up. `text_to_ids.py`, `token_counts.py` and `ids_to_text.py` are the methods that people
call, and `tokenizer.py` combines all of these into the tokenizer that other packages use.
It may import every component and `native`, but no file format. Begin with `pipeline.py`.
"""
