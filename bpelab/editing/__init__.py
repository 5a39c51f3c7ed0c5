"""Vocabularies changed after training: tokens taken away, and those of another vocabulary added.

(Adding tokens by training on is in `trainers/extend.py`.) Each takes a specification and returns another one. It may
import what is below it, `trainers` and `core` among them. Begin with `prune.py`.
"""
