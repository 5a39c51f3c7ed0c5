"""ARCHITECTURE.md says what is there: its tree is compared with the folders, its layers with the contract.

tests/test_claims.py has its sentences, tests/test_words.py the words of the code.
"""

import ast
import re
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


def test_tests_mirror_the_library():
    """Every room has a folder of tests under its name, and what else lies there is said on the page."""
    rooms = {name for name in listed() if not name.endswith(".py")}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert folders - rooms == BESIDE_THE_ROOMS
    assert rooms - folders == {"data"}, "which has files and no code"
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
    encoding = import_graph()["bpelab.core.text_to_ids"]
    assert "bpelab.core.vocabulary" in encoding, "at the top"
    assert "bpelab.encoders.dropout" in encoding, "inside a function"
    assert "bpelab.core.pipeline" in encoding, "for type checkers"


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
