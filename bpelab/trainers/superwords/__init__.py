"""Superwords: tokens that go on over the end of a word, learned after the words or beside them.

It may import `counting` and the trainers. Begin with `superbpe.py`, then `boundless.py`.
"""

from .settings import Superwords

__all__ = ["Superwords"]
