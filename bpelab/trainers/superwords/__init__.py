"""Superwords: tokens that span word boundaries, learned after the words or alongside them.

It may import `counting` and the trainers. Begin with `superbpe.py`, then `boundless.py`.
"""

from .settings import Superwords

__all__ = ["Superwords"]
