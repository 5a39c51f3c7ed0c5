"""Write *.dfa, the compiled DFAs of the named patterns. Run it when a pattern or the Unicode table changes.

python -m tools.make_dfa_tables
"""

import struct
from pathlib import Path

from bpelab.data import FOLDER
from bpelab.regex.dfa_construction import compile_dfa
from bpelab.regex.patterns import PATTERNS


def contents() -> dict[Path, bytes]:
    """Return path -> DFA: width, number of transitions, transitions, entries, both lookup stages; little-endian."""
    found = {}
    for name, pattern in PATTERNS.items():
        dfa = compile_dfa(pattern.regex)
        numbers = [dfa.width, len(dfa.trans), *dfa.trans, *dfa.entries]
        head = struct.pack(f"<{len(numbers)}i{len(dfa.stage1)}H", *numbers, *dfa.stage1)
        found[FOLDER / f"{name}.dfa"] = head + dfa.stage2
    return found


if __name__ == "__main__":
    for path, content in contents().items():
        path.write_bytes(content)
