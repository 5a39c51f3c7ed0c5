"""ARCHITECTURE.md says what is there: its tree is compared with the folders, its layers with the contract, its words
with the glossary."""

import ast
import builtins
import keyword
import re
import sys
import tomllib
from functools import cache

from .conftest import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
TREE = re.search(r"```\n(bpelab/\n.*?)```", PAGE, re.DOTALL)[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
LAYERS = [{name.strip() for name in re.split(r"[|:]", layer)} for layer in CONTRACTS[0]["layers"]]


def listed():
    """The rooms and files of the tree, in its order."""
    return [name.rstrip("/") for name in re.findall(r"^  (\w+(?:\.py|/))", TREE, re.MULTILINE)]


def test_the_tree_is_that_of_the_folders():
    package = ROOT / "bpelab"
    found = {path.name for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    found |= {path.name for path in package.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert sorted(listed()) == sorted(found)


BESIDE_THE_ROOMS = {"book", "backends", "conformance", "faults", "fuzz", "real"}
TESTED_ELSEWHERE = {
    "core": "tests/test_tokenizer.py",
    "corpus": "tests/shards",
    "data": "tests/test_package.py",
}


def test_tests_mirror_the_library():
    """Every room has a folder of tests under its name, and what else lies there is said on the page."""
    rooms = {name for name in listed() if not name.endswith(".py")}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert folders - rooms == BESIDE_THE_ROOMS
    assert rooms - folders == set(TESTED_ELSEWHERE) and all(
        (ROOT / path).exists() for path in TESTED_ELSEWHERE.values()
    )
    of_tests = re.search(r"^tests/ .*?^\w", PAGE, re.DOTALL | re.MULTILINE)[0]
    assert set(re.findall(r"(\w+)/", of_tests)) == {"tests", *BESIDE_THE_ROOMS}


def test_few_files_lie_at_the_root():
    assert len([path for path in (ROOT / "bpelab").iterdir() if path.is_file()]) <= 8


def test_a_room_imports_what_is_above_it_in_the_tree():
    """The contract has the layers from the top down, the page from the ground up."""
    level = {name: number for number, layer in enumerate(reversed(LAYERS)) for name in layer}
    rooms = [name.removesuffix(".py") for name in listed() if name != "data"]
    assert set(rooms) == set(level)
    ground_up = [level[name] for name in rooms]
    assert ground_up == sorted(ground_up)


LARGEST_CIRCLE = 6
"""Files of one room that may import each other in a circle, inside functions or for type checkers."""


@cache
def modules():
    """The modules of the library, by name: (path, whether it is a package)."""
    found = {}
    for path in sorted((ROOT / "bpelab").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if package else parts)] = path, package
    return found


def imported(name, path, package):
    """The names that a module imports, wherever in it: at the top, inside functions, and for type checkers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level + package or None] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


@cache
def import_graph():
    """Module -> the other modules of the library that it imports."""
    named = modules()

    def nearest(name):
        return name if name in named or "." not in name else nearest(name.rpartition(".")[0])

    return {
        name: {nearest(other) for other in imported(name, *where) if nearest(other) in named} - {name}
        for name, where in named.items()
    }


def reachable(graph, start):
    """The modules that one imports, and those that these import, and so on."""
    reached, waiting = set(), [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def circles(graph):
    """The largest sets of modules that all import each other, directly or not."""
    far = {name: reachable(graph, name) for name in graph}
    return {frozenset(other for other in far[name] if name in far[other]) for name in graph if name in far[name]}


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert circles(graph) == {frozenset("abc")}
    of_core = import_graph()["bpelab.core.tokenizer"]
    assert "bpelab.core.pipeline" in of_core, "at the top"
    assert "bpelab.core.token_limit" in of_core, "inside a function"
    assert "bpelab.core.spec" in of_core, "for type checkers"
    assert "bpelab.core.length_settings" in import_graph()["bpelab.model_inputs"], "in a package"


def test_circles_are_small_and_stay_in_a_room():
    graph = import_graph()
    assert len(graph) > 400
    for circle in circles(graph):
        rooms = {modules()[name][0].parent for name in circle}
        assert len(rooms) == 1 and len(circle) <= LARGEST_CIRCLE, sorted(circle)


def test_no_import_runs_back_up():
    """Who imports `bpelab` itself lies above all rooms whose names are there."""
    level = {name: number for number, layer in enumerate(reversed(LAYERS)) for name in layer} | {"data": 0}
    graph = import_graph()

    def height(name):
        if name == "bpelab":
            return max(map(height, graph[name]))
        return level[name.split(".")[1]]

    for name, others in graph.items():
        for other in others if name.partition(".")[2] not in ("", "__main__") else ():
            same = other.split(".")[1:2] == name.split(".")[1:2]
            assert same or height(other) <= height(name), f"{name} imports {other}"


def test_writers_of_formats_take_specifications():
    """No format knows a tokenizer but by its specification."""
    for name, others in import_graph().items():
        if name.startswith("bpelab.formats"):
            assert not others & {"bpelab.tokenizer", "bpelab.core.tokenizer"}, name


def test_every_path_that_it_names_is_there():
    text = PAGE.replace(TREE, "")
    for name in set(re.findall(r"`([\w/]+\.(?:py|h|toml|yml|md)|[a-z_]+/(?:[a-z_]+/)*)`", text)):
        if "NAME" not in name:
            tries = (ROOT / name, ROOT / "bpelab" / name, *(ROOT / "bpelab").glob(f"*/{name}"))
            assert any(path.exists() for path in tries), name


def test_every_room_says_what_lives_there_what_it_may_import_and_where_to_begin():
    for path in (ROOT / "bpelab").glob("*/__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert "import" in text, path
        begin = re.search(r"\bBegin\s+with\s+`([\w./]+)`", text)
        assert begin and (begin[1] == "FOLDER" or (path.parent / begin[1]).exists()), path


def old_words():
    """The words that the glossary in CONTRIBUTING.md rules out."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Words\n")[2]
    rows = [row.split("|") for row in re.findall(r"^\| (?!---|word ).*\|$", text, re.MULTILINE)]
    assert len(rows) >= 40
    return {word for row in rows for word in re.findall(r"`(\w+)`", row[3])}


def test_the_old_words_are_gone():
    """From the names of the library, and from the first line of every docstring."""
    old = old_words()
    assert len(old) > 10
    for path in sorted((ROOT / "bpelab").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "name", None) or getattr(node, "attr", None) or getattr(node, "id", None)
            assert not isinstance(name, str) or name.strip("_") not in old, f"{path}: {name}"
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                words = set(re.findall(r"\w+", text.partition("\n")[0]))
                assert not words & old, f"{path}: {text.partition(chr(10))[0]}"


OF_OTHERS = {
    "resize_token_embeddings": "transformers",
    "SplitDelimiterBehavior": "tokenizers",
    "countTokens": "@anthropic-ai/tokenizer",
    "taskset": "Linux",
    "asimd": "/proc/cpuinfo",
    "FEAT_DotProd": "macOS",
    "my_tokenizer.py": "the reader",
    "newlower": "a text",
    "aaa": "a text",
    "fi": "a text",
}
"""Names in backticks that are not the library's, and whose they are. Those after `Source:` are another project's."""


DATA = (".json", ".jsonl", ".md", ".model", ".gguf", ".tiktoken", ".txt", ".ipynb", ".js")


def docstrings():
    """(path, docstring) of everything that has one."""
    for path in sorted((ROOT / "bpelab").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield path, text


def words_of_the_code():
    """Every identifier, and every word of a short string, in Python and in C."""
    words = {*dir(builtins), *keyword.kwlist, *sys.stdlib_module_names}
    for path in (ROOT / "bpelab").rglob("*.py"):
        words |= {*path.relative_to(ROOT).with_suffix("").parts}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.alias):
                words |= {*node.name.split("."), node.asname}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
                words |= {*re.findall(r"\w+", node.value)}
            else:
                words |= {getattr(node, field, None) for field in ("id", "attr", "arg", "name")}
    for path in (ROOT / "bpelab/native").glob("*.[hc]"):
        words |= {*re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    return words


def test_names_in_docstrings_are_in_the_code():
    words = words_of_the_code()
    files = {path.name for folder in ("bpelab", "tests", "tools") for path in (ROOT / folder).rglob("*.*")}
    names = 0
    for path, text in docstrings():
        for name in re.findall(r"(?<!`)`([A-Za-z_][\w.]*)(?:\([^`]*\))?`(?!`)", re.split(r"\bSources?:", text)[0]):
            names += 1
            here = name in files or (words >= {*name.split(".")} and not name.endswith((".py", ".h", ".c")))
            assert here or name in OF_OTHERS or name.endswith(DATA), f"{path}: `{name}`"
    assert names > 2_000
