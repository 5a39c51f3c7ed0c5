"""Analysis of tokenizers: lint findings, and measurements on texts.

It may import the tokenizer. Begin with `compression.py`; `report` writes them to an HTML page.
"""
