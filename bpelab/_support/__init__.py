"""What every room builds on: lazy imports, fork safety, whole writes of files, waits for a cluster, progress bars.

Nothing in here knows of tokens. It may import `errors` and the standard library; what is optional is imported when it
is first used. Begin with `textio.py`, which every reader and writer of files goes through.
"""
