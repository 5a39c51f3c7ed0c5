"""Analysis of tokenizers: lint findings, and measures of how one does on texts.

It may import the tokenizer. Begin with `compression.py`; `report` puts the measures on a page.
"""
