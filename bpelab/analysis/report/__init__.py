"""`bpelab report`: an HTML page that compares tokenizers on texts. Start with `measure.py`."""
