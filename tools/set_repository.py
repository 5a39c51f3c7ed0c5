"""Write two addresses into the files that need them, the repository's and that of the published book.

    make address ADDRESS=https://github.com/you/bpelab PAGES=https://you.github.io/bpelab

`_config.yml` holds them. With the first, notebooks get their buttons for Binder and Colab, and every page has links to
the repository and to a form for reporting an error. From there it is copied to pyproject.toml (so that an installed
package knows where it comes from), to CITATION.cff, to the first cell of each notebook (which Colab runs where nothing
is installed), and to README.md and book/index.md. The second is where README.md says that one can type. Without an
argument the addresses of `_config.yml` are written into the others; with an empty one they are removed from all.
"""

import re
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTING = re.compile(r'(?<=^  url: ")[^"]*(?=")', re.MULTILINE)
PAGES = re.compile(r'(?<=^  baseurl: ")[^"]*(?=")', re.MULTILINE)
BUTTONS = re.compile(r"(?<=^  use_issues_button: ).*$|(?<=^  use_repository_button: ).*$", re.MULTILINE)
CODE = re.compile(r"^repository-code: .*\n", re.MULTILINE)
LINKS = re.compile(r'^\[project\.urls\]\nRepository = "[^"\n]*"\n\n', re.MULTILINE)
CELL = re.compile(r'(?<=install --quiet \\")[^"\\]*\[chapters\][^"\\]*(?=\\")')
PLACE = re.compile(r"(?<=^<!-- address -->\n).*?(?=^<!-- /address -->$)", re.MULTILINE | re.DOTALL)
BOX = re.compile(r"(?<=^<!-- pages -->\n).*?(?=^<!-- /pages -->$)", re.MULTILINE | re.DOTALL)
NOT_YET = (
    "The book has no public address yet. `make serve`, below, builds it on your machine and opens it at this box.\n"
)


def in_config(text: str, address: str, pages: str) -> str:
    return BUTTONS.sub("true" if address else "false", PAGES.sub(pages, SETTING.sub(address, text)))


def in_citation(text: str, address: str) -> str:
    return CODE.sub("", text) + (f"repository-code: {address}\n" if address else "")


def in_pyproject(text: str, address: str) -> str:
    links = f'[project.urls]\nRepository = "{address}"\n\n' if address else ""
    return re.sub(r"(?=^\[project\.optional-dependencies\])", lambda _: links, LINKS.sub("", text), flags=re.MULTILINE)


def in_notebook(text: str, address: str) -> str:
    """Set what the first cell installs; without an address, the copy of the repository that contains the notebook."""
    wanted = f"bpelab[chapters] @ git+{address}" if address else "..[chapters]"
    return CELL.sub(lambda _: wanted, text)


def in_page(text: str, address: str) -> str:
    line = f'`git clone {address}` fetches the repository; `pip install "bpelab @ git+{address}"` the library alone.\n'
    return PLACE.sub(lambda _: line if address else "", text)


def in_readme(text: str, address: str, pages: str) -> str:
    line = f"**Type here: <{pages}>**. Nothing that you type leaves the page.\n" if pages else NOT_YET
    return BOX.sub(lambda _: line, in_page(text, address))


def write(root: Path, address: str | None, pages: str | None = None) -> list[str]:
    """Write the addresses into the files under `root`, and return the names of the files changed.

    None stands for the address that `_config.yml` has. Without a repository there are no pages. Raises ValueError for
    what is no address of a repository or of pages.
    """
    config = (root / "_config.yml").read_text(encoding="utf-8")
    if address is None:
        address = SETTING.findall(config)[0]
    address = address.removesuffix("/").removesuffix(".git")
    if address and not re.fullmatch(r"https://[\w.-]+(/[\w.-]+){2,}", address):
        raise ValueError(f"{address!r} is not the address of a repository: https://HOST/OWNER/NAME is one")
    pages = (PAGES.findall(config)[0] if pages is None else pages).removesuffix("/") if address else ""
    if pages and not re.fullmatch(r"https?://[\w.-]+(/[\w.-]+)*", pages):
        raise ValueError(f"{pages!r} is not the address of a book: https://HOST/NAME is one")
    changes = {"_config.yml": partial(in_config, pages=pages), "pyproject.toml": in_pyproject}
    changes |= {"CITATION.cff": in_citation, "README.md": partial(in_readme, pages=pages), "book/index.md": in_page}
    changes |= {path.relative_to(root).as_posix(): in_notebook for path in sorted(root.glob("book/*.ipynb"))}
    changed = []
    for name, change in changes.items():
        text = (root / name).read_text(encoding="utf-8")
        if (new := change(text, address=address)) != text:
            (root / name).write_text(new, encoding="utf-8", newline="\n")
            changed.append(name)
    return changed


if __name__ == "__main__":
    try:
        for name in write(ROOT, *(sys.argv[1:] or [None])):
            print("changed:", name)
    except ValueError as error:
        sys.exit(str(error))
