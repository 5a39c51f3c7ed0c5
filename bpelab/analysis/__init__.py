"""Looking at tokenizers: what is odd about one, and how it does on texts."""
