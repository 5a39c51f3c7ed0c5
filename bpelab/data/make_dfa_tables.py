"""Writes dfa_tables.json: the tables of the named patterns, compiled. Run it when a pattern or the Unicode table changes.

python -m bpelab.data.make_dfa_tables
"""

import json
from pathlib import Path

from bpelab.pretokenizers.patterns import PATTERNS
from bpelab.pretokenizers.regex_dfa import compile_dfa


def tables() -> dict[str, dict[str, object]]:
    """Name -> the fields of its DFA as lists; where classes begin is written as steps from one place to the next."""
    found = {}
    for name, pattern in PATTERNS.items():
        dfa = compile_dfa(pattern.regex)
        steps = [after - before for before, after in zip(dfa.starts, dfa.starts[1:])]
        found[name] = {
            "steps": steps,
            "classes": list(dfa.classes),
            "width": dfa.width,
            "trans": list(dfa.trans),
            "entries": list(dfa.entries),
        }
    return found


if __name__ == "__main__":
    content = json.dumps(tables(), separators=(",", ":")).replace('},"', '},\n"') + "\n"
    Path(__file__).with_name("dfa_tables.json").write_text(content, encoding="utf-8")
