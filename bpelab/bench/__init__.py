"""Benchmarks: this library against others, on one machine, in one run, with ids compared before anything is timed.

`bpelab bench` runs them. This room may import everything but `cli`, and the libraries that are installed. Begin with
`plan.py`, which lists what is measured, and `peers.py`, which lists the libraries and the code that calls each.
`driver.py` gives the work to processes (`runner.py`, `worker.py`), and `report.py` shows their record.
"""
