"""Unicode as tokenizers see it: categories, graphemes, the byte alphabet, and the versions that Hugging Face uses.

Tables are ranges of code points with a category. Python's own `unicodedata` differs between Python versions, which
would change ids. It may import `_support` and `data`. Begin with `tables.py`.
"""
