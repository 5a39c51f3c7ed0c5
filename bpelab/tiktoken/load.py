"""Rank files: tiktoken's own functions that read, write and cache them.

`bpelab.formats.tiktoken_file.read_ranks` also reads a rank file, and names the line of an error.
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
