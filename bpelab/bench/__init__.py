"""Benchmarks: this library against others, on one machine, in one run, with ids compared before anything is timed.

`bpelab bench` runs them. `peers` has an adapter for each library. This room may import everything but `cli`, and the
libraries that are installed. Begin with `plan.py`, which lists what is measured.
"""
