"""Texts that know more than their characters: as they arrive in parts, or aligned with the original.

`stages.py` has functions of a text that is fed in parts, `text_buffer.py` what they hold back. Components make and take
these, so that each can say how a stream may proceed. It may import `unicode`. Begin with `stages.py`. Chapter:
Streaming.
"""
