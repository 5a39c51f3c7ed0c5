"""The public names: those of the two pages of the API reference, which are the one list of them. Each exists and is
explained there."""

import inspect
import re
from importlib import import_module
from types import ModuleType

import pytest

import bpelab

from .conftest import ROOT

ROOMS = (
    "acceleration", "adapt", "baselines", "chat", "decoders", "editing", "encoders", "exercises", "model",
    "normalizers", "postprocessors", "pretokenizers", "publishing", "shards", "streaming", "tiktoken", "trainers",
    "widgets",
)  # fmt: skip
"""Rooms that people import from: what their `__all__` exports is public."""


def resolve(path: str) -> object:
    """The module, class or function with a dotted path."""
    found: object = bpelab
    parts = path.split(".")
    for number, part in enumerate(parts[1:], 2):
        if isinstance(found, ModuleType) and not hasattr(found, part):
            import_module(".".join(parts[:number]))
        found = getattr(found, part)
    return found


def listed_text() -> str:
    """The two pages of the API reference."""
    return "".join((ROOT / "book" / name).read_text(encoding="utf-8") for name in ("api.md", "api_tools.md"))


def documented() -> dict[str, object]:
    """Dotted path -> what it names, of everything in the list."""
    text = listed_text()
    paths = []
    for kind, path, options in re.findall(r"^\.\. auto(\w+):: (\S+)\n((?:   :.*\n)*)", text, re.MULTILINE):
        members = re.search(r":members: (.+)", options)
        paths += [f"{path}.{name}" for name in members[1].split(", ")] if members else []
        if kind == "module" and not members and ":members:" in options:
            paths += [f"{path}.{name}" for name in vars(resolve(path)) if name[0].isupper() and name.isidentifier()]
        if kind != "module":
            paths.append(path)
    return {path: resolve(path) for path in paths}


DOCUMENTED = documented()


@pytest.mark.parametrize("path", DOCUMENTED)
def test_what_is_listed_is_explained(path):
    found = DOCUMENTED[path]
    if inspect.isroutine(found) or inspect.isclass(found):
        assert found.__doc__, path


def exported() -> list[tuple[str, object]]:
    names = [("bpelab", name) for name in bpelab.__all__ if name != "__version__"]
    names += [(f"bpelab.{room}", name) for room in ROOMS for name in getattr(resolve(f"bpelab.{room}"), "__all__", ())]
    return [(f"{room}.{name}", getattr(resolve(room), name)) for room, name in names]


def test_what_is_exported_is_listed():
    """As an object: `bpelab.Split` is listed as `bpelab.pretokenizers.split.Split`. Constants are named in the text."""
    text = listed_text()
    listed = {id(found) for found in DOCUMENTED.values()}
    lacking = [
        path for path, found in exported() if id(found) not in listed and f"`{path.rpartition('.')[2]}`" not in text
    ]
    assert not lacking
