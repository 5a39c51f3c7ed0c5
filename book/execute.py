"""Run notebooks in place and store what they print: `python book/execute.py [--jobs N] book/encoding.ipynb ...`

Execution counts run from 1, cell ids are made from positions, and nothing that changes from run to run (timings,
versions) goes into the metadata, so that a second run of an unchanged chapter changes only pictures. Chapters measure
times: several at once (`--jobs`) try whether all run and measure once; outputs that are to be kept come from one after
the other.
"""

import argparse
import os
import re
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def lasting(outputs):
    """Return the outputs without what changes from run to run, and with neighbouring prints, sent in parts, in one."""
    out = []
    for output in outputs:
        if "data" in output:  # a widget's number is another one in every run; its static form stays
            output.data.pop("application/vnd.jupyter.widget-view+json", None)
        if out and output.output_type == out[-1].output_type == "stream" and output.name == out[-1].name:
            out[-1].text += output.text
        else:
            out.append(output)
    return out


def describe_pictures(cells):
    """Give each picture its caption as alternative text, for those who hear the page."""
    for cell, after in zip(cells, cells[1:]):
        pictures = cell.cell_type == "code" and any("image/png" in output.get("data", {}) for output in cell.outputs)
        caption = re.sub(r"[*`]", "", after.source.partition("\n\n")[0].replace("\n", " "))
        if pictures and caption.startswith("Figure: "):
            cell.metadata["mystnb"] = {"image": {"alt": caption.removeprefix("Figure: ")}}


def execute(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = nbformat.from_dict(KERNEL)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:03}"
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": path.parent}}, record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = lasting(cell.outputs)
    describe_pictures(notebook.cells)
    notebook.metadata = nbformat.from_dict(KERNEL)  # the client adds the Python version
    nbformat.write(notebook, path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run notebooks in place and store what they print.")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="notebooks at once (default: 1)")
    parser.add_argument("notebooks", nargs="+", type=Path)
    args = parser.parse_args()
    os.environ["BPELAB_NO_PROGRESS"] = "1"  # solving the book's own solutions is nobody's progress
    if args.jobs > 1:
        os.environ["BPELAB_MEASURE_ONCE"] = "1"
    with ProcessPoolExecutor(args.jobs) as pool:
        running = {pool.submit(execute, path): path for path in args.notebooks}
        for number, done in enumerate(as_completed(running), 1):
            done.result()
            print(f"{number} of {len(running)}: {running[done]}", flush=True)


if __name__ == "__main__":
    main()
