"""The public names: those of the two pages of the API reference. What a room exports is listed there and explained."""

import inspect
import re
from importlib import import_module

import pytest

import bpelab

from .conftest import ROOT

PAGES = ("api", "api_tools")
HTML = ROOT / "_build" / "html" / "book"
MAX_ENTRIES = 60
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PRIVATE = set(re.findall(r"`(\w+)`", re.split(r"These\s+rooms\s+have\s+nothing\s+public:", MAP)[1]))
"""Rooms that export nothing, from the end of ARCHITECTURE.md."""


def entries():
    """(page, module, options) of each `{public}` on the two pages."""
    for page in PAGES:
        text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
        for module, options in re.findall(r"^```\{public\} (\S+)\n((?::\w+: .*\n)*)```$", text, re.MULTILINE):
            yield page, import_module(module), dict(re.findall(r":(\w+): (.*)", options))


def names_of(module, options):
    """The names that an entry lists: as book/api_reference.py chooses them."""
    if "names" in options:
        return options["names"].split()
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return getattr(module, "__all__", defined)


LISTED = {
    f"{module.__name__}.{name}": (page, getattr(module, name))
    for page, module, options in entries()
    for name in names_of(module, options)
}
"""Dotted path -> (page, what it is), of every public name."""
ROOMS = sorted(path.parent.name for path in (ROOT / "bpelab").glob("*/__init__.py"))


def is_code(value):
    return inspect.isroutine(value) or inspect.isclass(value)


@pytest.mark.parametrize("path", LISTED)
def test_what_is_listed_is_explained(path):
    """By a docstring; a constant by what it has, which must be names or values that a reader can type."""
    _, value = LISTED[path]
    assert not path.rpartition(".")[2].startswith("_")
    if is_code(value):
        assert value.__doc__, path
    else:
        assert re.fullmatch(r"[A-Z_]+", path.rpartition(".")[2]) and repr(value)


def test_methods_are_explained():
    """Of the classes whose methods are listed; Sphinx leaves out what has no docstring."""
    for _, module, options in entries():
        for name in options.get("members", "").split():
            assert name in names_of(module, options)
            for member, value in vars(getattr(module, name)).items():
                if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_the_list_is_short():
    assert len(list(entries())) < MAX_ENTRIES


def test_nothing_is_listed_twice():
    listed = [id(value) for _, value in LISTED.values() if is_code(value)]
    assert len(set(listed)) == len(listed)


def test_what_is_exported_is_listed():
    """As an object: `bpelab.Split` is listed as `bpelab.pretokenizers.Split`."""
    listed = {id(value) for _, value in LISTED.values()}
    for home in ("bpelab", *(f"bpelab.{room}" for room in ROOMS)):
        module = import_module(home)
        for name in getattr(module, "__all__", ()):
            assert name == "__version__" or id(getattr(module, name)) in listed, f"{home}.{name}"


def test_a_room_exports_names_or_is_private():
    """What isn't in the list of private rooms has something in the reference, and the others nothing."""
    public = {path.split(".")[1] for path in LISTED}
    homes = {value.__module__.split(".")[1] for _, value in LISTED.values() if is_code(value)}
    assert len(PRIVATE) > 8 and PRIVATE.isdisjoint(public)
    assert set(ROOMS) - {"data"} <= PRIVATE | public | homes
    assert not [room for room in PRIVATE if hasattr(import_module(f"bpelab.{room}"), "__all__")]


def built(page):
    """The page as HTML, or a skip that says how it is made."""
    path = HTML / f"{page}.html"
    if not path.exists():
        pytest.skip("the book has not been built: run `make book` first")
    return path.read_text(encoding="utf-8")


def test_the_page_has_every_name():
    pages = {page: built(page) for page in PAGES}
    for path, (page, _) in LISTED.items():
        assert f'id="{path}"' in pages[page], path


def test_the_page_has_every_name_of_the_tokenizer():
    page = built("api")
    for name in dir(bpelab.BPETokenizer):
        if not name.startswith("_"):
            assert f'id="bpelab.BPETokenizer.{name}"' in page, name
