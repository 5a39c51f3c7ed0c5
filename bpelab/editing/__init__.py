"""Vocabularies changed after training: tokens taken away, added by training on, or taken from another vocabulary.

Each function takes a specification and returns another one. It may import what is below it, `trainers` and `core`
among them. Begin with `prune.py`.
"""
