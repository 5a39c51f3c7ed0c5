"""Measuring: this library against the others, on the same machine, in the same run, with ids that were compared first.

`bpelab bench` is the way in; see `command.py`. What is measured says `plan.py`; how each library is called, `peers`.
"""
