"""Shared helpers for every room: lazy imports, fork safety, atomic file writes, waits for a cluster, progress bars.

Nothing here knows about tokens. It may import `errors` and the standard library; optional packages are imported on
first use. Begin with `textio.py`, which every reader and writer of files goes through.
"""
