"""Comparison of two tokenizers, or of one tokenizer at two times: differences, locks, drifting ids.

`diff.py` finds what changed, with the shortest text that shows it. `lock.py` records ids, so that a test notices when
they change. `drift.py` says whether ids are those that `encode` gives for their own text. It may import the layers
below it, such as `core`, `regex` and `chat_templates`. Begin with `diff.py`.
"""
