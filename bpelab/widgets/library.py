"""The library in JavaScript (`native/javascript/`) for figures: one function, in a page, a notebook or a worker.

A page that was opened from a disk may load neither modules nor the compiled C: browsers let it run classic scripts, and
nothing else. So the modules become one function, `(resources) => what they export`, and the compiled C travels as
base64. A worker is made from the function's own source. Cost: 260 kB, which a page loads with the first figure that
asks for a tokenizer.
"""

import json
import re
from base64 import b64encode
from functools import lru_cache
from importlib.resources import files

from ..unicode.tables import property_ranges, union
from .visible import HIDDEN

ENTRY = "tokenizer_service.js"
"""The module whose exports the function returns; it imports the others."""
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
GIVEN = {"resources": "{ readResources: async () => resources }"}
"""What a page has in place of a module: its parts come with it, where a server or a disk would be asked."""


def module_source(name: str) -> str:
    """Return a module of the library, or one beside the figures that imports it."""
    for folder in (files("bpelab.widgets") / "js", files("bpelab.native") / "javascript"):
        if (path := folder / name).is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(name)


@lru_cache(1)
def library_function() -> str:
    """Return the modules as the source of one function, each a constant with what it exports, imports first."""
    modules: dict[str, str] = {}

    def add(name: str) -> None:
        if name in modules:
            return
        source = module_source(f"{name}.js")
        for found in IMPORT.finditer(source):
            if found[2] not in GIVEN:
                add(found[2])
        names = EXPORT.findall(source)
        source = re.sub(r"^export \{[^}]*\};\n", "", source, flags=re.MULTILINE)
        body = EXPORT.sub("", IMPORT.sub(r"const {\1} = \2_js;" + "\n", source))
        modules[name] = f"const {name}_js = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"

    add(ENTRY.removesuffix(".js"))
    given = "".join(f"const {name}_js = {value};\n" for name, value in GIVEN.items())
    return f"(resources) => {{\n{given}{''.join(modules.values())}return {[*modules][-1]}_js;\n}}"


@lru_cache(1)
def library_parts() -> str:
    """Return a JavaScript object: the function, the compiled C in base64, patterns' tables, and `character_looks`."""
    folder = files("bpelab.native") / "javascript"
    core = b64encode((folder / "bpelab.wasm").read_bytes()).decode()
    patterns = (folder / "patterns.json").read_text(encoding="utf-8").strip()
    looks = json.dumps(character_looks(), separators=(",", ":"))
    return f'{{\nlibrary: {library_function()},\ncore: "{core}",\npatterns: {patterns},\nlooks: {looks},\n}}'


@lru_cache(1)
def published_patterns() -> frozenset[tuple[str, str]]:
    """Return the patterns that the library in JavaScript has tables of: (expression, dialect)."""
    content = (files("bpelab.native") / "javascript" / "patterns.json").read_text(encoding="utf-8")
    return frozenset((text, dialect) for dialect, all_ in json.loads(content)["patterns"].items() for text in all_)


def character_looks() -> list[int]:
    """Return how each character is shown (see `visible.py`), as runs, each 4 * its length + look.

    The look is 0 for a character that is shown as it is, 1 for a mark on what precedes it, 2 for a code point.
    """
    looks = bytearray(0x110000)
    for begin, end in union(property_ranges("C"), property_ranges("Z"), tuple((ord(c), ord(c)) for c in HIDDEN)):
        looks[begin : end + 1] = bytes([2]) * (end - begin + 1)
    for begin, end in property_ranges("M"):
        looks[begin : end + 1] = (max(1, look) for look in looks[begin : end + 1])
    return [4 * len(run[0]) + run[0][0] for run in re.finditer(rb"(.)\1*", looks, re.DOTALL)]
