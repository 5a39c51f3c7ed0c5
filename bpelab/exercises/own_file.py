"""The reader's own tokenizer: a file, `my_tokenizer.py`, that grows with the last exercises of nine chapters.

`check` writes a right answer into the file beside the notebook and runs the whole file. A page opens it with
`my_tokenizer(chapter)`. Worked answers stand in for functions that the reader hasn't written yet, so nobody gets stuck.
With BPELAB_NO_PROGRESS=1 nothing is read or written, and every function is a worked answer.
"""

import ast
import builtins
import inspect
import linecache
import os
import re
from collections.abc import Callable
from pathlib import Path
from symtable import SymbolTable, symtable
from types import FunctionType, ModuleType
from typing import Any

from .._support.textio import write_atomically
from ..errors import BPELabError
from .checker import check_answer
from .exercise import Exercise
from .progress_store import is_saved

FILE = "my_tokenizer.py"
HEADER = '"""My tokenizer: byte-pair encoding, one function a chapter."""\n'
STEPS = (
    "bytes.6", "training.6", "encoding.6", "regex.6", "tiktoken.6", "special_tokens.3", "special_tokens.4",
    "chat_templates.4", "heap.6", "trie.6",
)  # fmt: skip
"""The exercises whose answers make up the file, in book order. heap.6 replaces the function of encoding.6."""
SCAN, BY_SCAN = "encode_piece", "encode_piece_by_scan"
"""The name of encoding.6's answer, and its name in the file once heap.6 has replaced it."""

Definitions = dict[str, str]
Definition = ast.FunctionDef | ast.ClassDef


class OwnFileError(BPELabError):
    """The reader's file, or an answer meant for it, can't be used; the message says why."""


def names_in(scope: SymbolTable) -> set[str]:
    """Return the names that code uses but doesn't bind, in a file's scope and in all scopes inside it."""
    inner = [names_in(child) for child in scope.get_children()]
    module = scope.get_type() == "module"
    own = {name.get_name() for name in scope.get_symbols() if name.is_referenced() and (module or name.is_global())}
    return own.union(*inner)


def function_of(answer: Any) -> FunctionType:
    """Return a function itself, or a class's first method. Raises OwnFileError for anything else."""
    methods = [getattr(value, "__func__", value) for value in vars(answer).values()] if inspect.isclass(answer) else []
    for function in [answer, *methods]:
        if isinstance(function, FunctionType):
            return function
    raise OwnFileError(f"it is a {type(answer).__name__}, and a file needs a function or a class that you wrote")


def source_of(answer: Any) -> str:
    """Return the source of a function or class, even from a notebook. Raises OwnFileError if Python doesn't know it.

    `inspect.getsource` can't find a notebook's classes: Python keeps their lines under the name of a cell.
    """
    source = "".join(linecache.getlines(function_of(answer).__code__.co_filename))
    try:
        definitions = [node for node in ast.parse(source).body if getattr(node, "name", "") == answer.__name__]
        return source_of_node(source, definitions[-1])
    except (SyntaxError, IndexError) as error:
        raise OwnFileError(
            f"the source of `{answer.__name__}` isn't known: define it in a cell of the notebook"
        ) from error


def parts_of(source: str, space: dict[str, Any], names_in_file: set[str]) -> tuple[set[str], Definitions]:
    """Return the import lines, and the definitions by name, that `source` needs to run in a file of its own.

    `space` has the globals where it was written. Modules and what they define become imports, functions and constants
    of the notebook are copied, and `names_in_file` are left out. Raises OwnFileError for other values.
    """
    tree = ast.parse(source)
    own = {node.name: source_of_node(source, node) for node in tree.body if isinstance(node, Definition)}
    imports: set[str] = set()
    for name in sorted(names_in(symtable(source, FILE, "exec")) & space.keys() - own.keys() - names_in_file):
        if hasattr(builtins, name):
            continue
        value = space[name]
        home = getattr(value, "__module__", None)
        if isinstance(value, ModuleType):
            imports.add(f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else ""))
        elif home not in (None, "__main__") and callable(value):
            imports.add(f"from {home.removeprefix('_')} import {name}")
        elif inspect.isfunction(value) or inspect.isclass(value):
            more, helpers = parts_of(source_of(value), space, names_in_file | set(own))
            imports |= more
            own = {**helpers, **own}
        elif isinstance(value, str | int | float | bytes | bool | tuple):
            own = {name: f"{name} = {value!r}\n", **own}
        else:
            raise OwnFileError(f"`{name}` is a {type(value).__name__} of the notebook: make it inside the function")
    return imports, own


def source_of_node(source: str, node: ast.stmt) -> str:
    """Return the lines of a statement, decorators included."""
    first = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
    return "\n".join(source.splitlines()[first - 1 : node.end_lineno]) + "\n"


def read_file(path: Path) -> tuple[set[str], Definitions]:
    """Return the imports and the definitions of the reader's file; both are empty if there is no file."""
    if not is_saved() or not path.exists():
        return set(), {}
    source = path.read_text(encoding="utf-8")
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise OwnFileError(f"{path}: line {error.lineno}: {error.msg}; fix it, or delete the file") from error
    imports, definitions = set[str](), Definitions()
    for node in body:
        text = source_of_node(source, node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.add(text.strip())
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            name = node.targets[0] if isinstance(node, ast.Assign) else node
            definitions[getattr(name, "id", getattr(name, "name", text))] = text
    return imports, definitions


def compose(imports: set[str], definitions: Definitions) -> str:
    """Return the text of a file with these imports and definitions."""
    lines = sorted(imports, key=lambda line: (line.startswith("from"), line))
    values = [text for text in definitions.values() if not text.startswith(("def ", "class ", "@"))]
    others = [text for text in definitions.values() if text.startswith(("def ", "class ", "@"))]
    return "\n".join([HEADER, *(["\n".join(lines) + "\n"] if lines else []), *values]) + "".join(
        f"\n\n{text}" for text in others
    )


def worked_answer(step: str, names_in_file: set[str]) -> tuple[set[str], Definitions]:
    """Return the imports and definitions of the worked answer to a step."""
    from . import EXERCISES

    exercise = EXERCISES[step]
    return parts_of(exercise.source + "\n", vars(inspect.getmodule(exercise.solution)), names_in_file)


def rename_definition(text: str, old: str, new: str) -> str:
    """Return a definition under another name, with its calls to itself renamed too."""
    return re.sub(rf"\b{old}\b", new, text)


def text_until(chapter: str, path: Path | None = None) -> str:
    """Return the file as it is after a chapter: the reader's functions, and worked answers for missing ones."""
    from . import CHAPTERS

    imports, mine = read_file(path or Path(FILE))
    if BY_SCAN in mine and CHAPTERS.index(chapter) < CHAPTERS.index("heap"):
        mine[SCAN] = rename_definition(mine.pop(BY_SCAN), BY_SCAN, SCAN)
    book: Definitions = {}
    for step in STEPS:
        if step.partition(".")[0] in CHAPTERS[: CHAPTERS.index(chapter) + 1]:
            more, definitions = worked_answer(step, set(book))
            if not set(definitions) <= set(mine):
                imports |= more
            book |= definitions
    return compose(imports, {**book, **mine})


def run_text(text: str, name: str = FILE) -> ModuleType:
    """Run a file's text and return it as a module. Raises OwnFileError if it doesn't run."""
    module = ModuleType("my_tokenizer")
    module.__file__ = os.path.abspath(name)
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    try:
        exec(compile(text, name, "exec"), vars(module))
    except Exception as error:
        raise OwnFileError(f"{name} doesn't run: {type(error).__name__}: {error}; fix it, or delete it") from error
    return module


def keep(exercise: Exercise, answer: Callable[..., Any], path: Path | None = None) -> str:
    """Put a right answer into the reader's file, run the whole file, and return a sentence about it.

    Raises OwnFileError if the answer has another name than the exercise's, if it can't stand in a file, or if it makes
    an earlier step fail.
    """
    path, name = path or Path(FILE), exercise.solution.__name__
    if getattr(answer, "__name__", name) != name:
        raise OwnFileError(f"it is named `{answer.__name__}`; name it `{name}`, as the exercise does")
    imports, mine = read_file(path)
    names_in_file = {name for step in STEPS[: STEPS.index(exercise.id)] for name in worked_answer(step, set(mine))[1]}
    more, definitions = parts_of(source_of(answer), function_of(answer).__globals__, names_in_file)
    if exercise.id == "heap.6" and BY_SCAN not in mine:
        scan = mine.get(SCAN) or worked_answer("encoding.6", set(mine))[1][SCAN]
        mine[BY_SCAN] = rename_definition(scan, SCAN, BY_SCAN)
    elif exercise.id == "encoding.6" and BY_SCAN in mine:
        definitions[BY_SCAN] = rename_definition(definitions.pop(SCAN), SCAN, BY_SCAN)
    text = compose(imports | more, {**mine, **definitions})
    if is_saved():
        write_atomically(path, text.encode())
    module = run_text(text_until(exercise.chapter, path) if is_saved() else text_until(exercise.chapter))
    from . import EXERCISES

    latest = {EXERCISES[step].solution.__name__: step for step in STEPS[: STEPS.index(exercise.id) + 1]}
    for name, step in latest.items():
        right, message = check_answer(EXERCISES[step], getattr(module, name))
        if not right:
            raise OwnFileError(f"{FILE} as a whole fails: {message!r}")
    written = [name for name in latest if name in definitions or name in mine]
    return f"`{FILE}` has {', '.join(written)}, and runs." if is_saved() else ""
