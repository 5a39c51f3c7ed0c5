"""Texts with more than their characters: texts that arrive in parts, and texts aligned with the original.

`stages.py` has functions of a text that arrives in parts, `text_buffer.py` the text they hold back. Components return
and accept these to say how they work on a stream. It may import `unicode`. Begin with `stages.py`. Chapter: Streaming.
"""
