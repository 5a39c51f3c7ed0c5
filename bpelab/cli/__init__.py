"""The command line: one file for each command, with its arguments and the function that runs it.

It may import everything, and nothing imports it. Begin with `main.py`.
"""
