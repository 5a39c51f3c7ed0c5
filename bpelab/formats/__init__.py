"""Tokenizer files: what each holds, how it is read and written, and what it can't hold."""
