"""Helpers for the book's pages: its text, live source code, plots of growth, tested claims.

It may import the library; besides the pages, `exercises`, `widgets`, `bench` and `cli` import it. Begin with
`live_source.py`, which shows an algorithm on a page.
"""

from .live_source import (
    book_text as book_text,
    passages as passages,
    published_ranks as published_ranks,
    show_c as show_c,
    show_source as show_source,
    tiktoken_encoding as tiktoken_encoding,
)
