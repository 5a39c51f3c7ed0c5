"""Rank files as tiktoken reads and writes them, its cache included: tiktoken's own functions.

`bpelab.formats.tiktoken.read_ranks` reads a rank file and says which line of a wrong one is wrong.
"""

from tiktoken.load import (
    check_hash,
    data_gym_to_mergeable_bpe_ranks,
    dump_tiktoken_bpe,
    load_tiktoken_bpe,
    read_file,
    read_file_cached,
)

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]
