"""Benchmarks: this library against others, on one machine, in one run, with ids compared before anything is timed.

`bpelab bench` runs them. `peers` has how each library is called. It may import everything but `cli`, and the peers
where they are installed. Begin with `plan.py`, which lists what is measured.
"""
