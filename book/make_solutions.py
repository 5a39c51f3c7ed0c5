"""Write the solutions, one notebook a chapter, from the exercises of the library: `python book/make_solutions.py`

The question is taken from the chapter, the answer from `bpelab/exercises`; tests/book/test_solutions.py fails if either
has changed since. The notebooks are executed by book/execute.py, like all others.
"""

import json
import re
import sys
from pathlib import Path
from symtable import symtable
from types import ModuleType

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bpelab.exercises import EXERCISES
from bpelab.exercises.exercise import Exercise
from bpelab.exercises.own_file import names_in

BOOK = Path(__file__).parent


def public_home(module: str, name: str, value: object) -> str:
    """Return the outermost package within bpelab that exports an object of `module`; else `module` itself."""
    packages = [module.rsplit(".", depth)[0] for depth in range(module.count("."), 0, -1)]
    exporting = (package for package in packages if getattr(sys.modules.get(package), name, None) is value)
    return next(exporting, module) if module.startswith("bpelab.") else module


def imports_for(exercise: Exercise) -> list[str]:
    """Return the import lines that the source of a worked answer needs to run in a notebook."""
    lines, module = set(), sys.modules[exercise.solution.__module__]
    for name in names_in(symtable(exercise.source, "", "exec")) & vars(module).keys() - {exercise.solution.__name__}:
        value = vars(module)[name]
        if isinstance(value, ModuleType):
            lines.add(f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else ""))
        else:
            home = getattr(value, "__module__", None)
            found = home and getattr(sys.modules.get(home), name, None) is value
            lines.add(f"from {public_home(home, name, value) if found else module.__name__} import {name}")
    return sorted(lines, key=lambda line: (line.startswith("from"), line))


def questions(chapter: Path) -> dict[str, str]:
    """Exercise -> the prose of the exercise, from a chapter."""
    found = {}
    for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (match := re.search(r"\*\*Exercise (\w+\.\d+) ", text)):
            prose = text[match.start() :].strip()
            found[match[1]] = re.sub(r"\]\((\w+\.ipynb)", r"](../\1", prose)
    return found


def solutions(chapter: Path) -> nbformat.NotebookNode:
    """Return the notebook with the answers to the exercises of a chapter, not executed."""
    title = next(
        line for cell in nbformat.read(chapter, 4).cells for line in cell.source.splitlines() if line.startswith("# ")
    )
    cells = [
        new_markdown_cell(
            f"{title.replace('# ', '# Solutions to ', 1)}\n\n"
            f"One answer to each exercise of [{title.removeprefix('# ').strip()}](../{chapter.name}). "
            "Others are as good: what counts is what `check` says."
        ),
        new_code_cell("from bpelab.exercises import check"),
    ]
    for number, prose in questions(chapter).items():
        exercise = EXERCISES[number]
        source = re.sub(r"  # type: ignore\[[\w, -]+\]", "", exercise.source)
        needed = imports_for(exercise)
        cells.append(new_markdown_cell(f"## {number} {exercise.title}\n\n{prose.partition('.**')[2].strip()}"))
        cells.append(new_code_cell("\n".join(needed) + "\n\n\n" + source if needed else source))
        cells.append(new_code_cell(f'check("{number}", {exercise.solution.__name__})'))
    return new_notebook(cells=cells)


if __name__ == "__main__":
    for chapter in sorted(BOOK.glob("*.ipynb")):
        if questions(chapter):
            path = BOOK / "solutions" / chapter.name
            path.parent.mkdir(exist_ok=True)
            nbformat.write(solutions(chapter), path)
            print(path)
