"""The tiny chat model, made from nothing: its text, its tokenizer, its training, its files and its scores.

`python -m tools.make_tiny_chat` does it all and writes bpelab/data/tiny_chat; it needs torch, transformers,
safetensors and gguf. The parts, in order: `corpus` and the domains it draws from, `tokens`, `train`, `export`, `score`,
`card`.

Chapter: A model answers.
"""
