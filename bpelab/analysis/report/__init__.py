"""`bpelab report`: an HTML page that compares tokenizers on texts. Begin with `measure.py`."""
