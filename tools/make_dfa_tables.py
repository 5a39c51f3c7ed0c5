"""Writes *.dfa: the tables of the named patterns, compiled. Run it when a pattern or the Unicode table changes.

python -m bpelab.data.make_dfa_tables
"""

import struct
from pathlib import Path

from bpelab.pretokenizers.patterns import PATTERNS
from bpelab.pretokenizers.regex_dfa import compile_dfa


def contents() -> dict[Path, bytes]:
    """File -> a DFA: its width, the number of its transitions, these, its entries, and both stages; little-endian."""
    found = {}
    for name, pattern in PATTERNS.items():
        dfa = compile_dfa(pattern.regex)
        numbers = [dfa.width, len(dfa.trans), *dfa.trans, *dfa.entries]
        head = struct.pack(f"<{len(numbers)}i{len(dfa.stage1)}H", *numbers, *dfa.stage1)
        found[Path(__file__).with_name(f"{name}.dfa")] = head + dfa.stage2
    return found


if __name__ == "__main__":
    for path, content in contents().items():
        path.write_bytes(content)
