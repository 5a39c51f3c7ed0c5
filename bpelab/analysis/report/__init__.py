"""`bpelab report`: an HTML page that compares tokenizers on texts. `measure.py` measures, `page.py` writes."""
