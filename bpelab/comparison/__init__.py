"""Two tokenizers, or two moments of one, compared: what is different, what was locked, which ids drift.

`diff.py` finds what changed, with the shortest text that shows it. `lock.py` writes ids down, so that a test notices
when they move; `drift.py` says whether ids are those of their own text. It may import what is below it: `core`, `regex`
and `chat_templates` among them. Begin with `diff.py`.
"""
