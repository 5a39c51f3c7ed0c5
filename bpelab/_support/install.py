"""How to install bpelab and its extras: the one place from which every message takes the command.

It depends on where this copy came from. A clone is installed from its folder. A copy that pip installed from an
address, a folder or a wheel is installed from there again (PEP 610: pip records it in `direct_url.json`). Any other
copy comes from an index once there is a release, and until then from the repository.
"""

import json
import os
from pathlib import Path

PUBLISHED = False
"""Whether bpelab is on package indexes. The first release sets it: see book/publishing.md."""
ANYWHERE = "  # in a clone of bpelab's repository"
"""The note after a command that works only in a clone, if this copy doesn't know where one is."""


def install_command(*extras: str, pip: str = "pip install", build: bool = False) -> str:
    """Return the command that installs bpelab with these extras, to be typed in the current folder.

    Args:
        pip: the installer and its options, which come before the package.
        build: whether it has to be built from source, so that installing the same wheel again won't do.

    >>> install_command("chat", "tiktoken", pip="uv pip install")  # in a clone
    'uv pip install -e ".[chat,tiktoken]"'
    """
    names = _bracketed(extras)
    return f"{pip} {_from_folder(names) or _from_origin(names, build) or _from_elsewhere(names)}"


def is_pure_wheel() -> bool:
    """Return whether this copy was installed from a wheel that runs anywhere, and so has no C by intention."""
    from importlib import metadata

    try:
        wheel = metadata.distribution("bpelab").read_text("WHEEL") or ""
    except metadata.PackageNotFoundError:
        return False
    return "Root-Is-Purelib: true" in wheel and _from_folder("") is None


def from_repository(address: str, *extras: str) -> str:
    """Return pip's requirement for bpelab, with these extras, from the repository at `address`.

    >>> from_repository("https://git.example/bpelab", "chat")
    'bpelab[chat] @ git+https://git.example/bpelab'
    """
    return f"bpelab{_bracketed(extras)} @ git+{address}"


def _bracketed(extras: tuple[str, ...]) -> str:
    return f"[{','.join(extras)}]" if extras else ""


def _from_folder(names: str) -> str | None:
    """Return the editable requirement for the clone that contains this package; None if none does."""
    root = Path(__file__).resolve().parents[2]
    return f'-e "{_as_typed(root)}{names}"' if _is_source(root) else None


def _from_origin(names: str, build: bool) -> str | None:
    """Return the requirement that pip was given; None if it's unknown, gone, or a wheel while `build` is true."""
    from importlib import metadata
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    try:
        origin = json.loads(metadata.distribution("bpelab").read_text("direct_url.json") or "null")
    except metadata.PackageNotFoundError:
        return None
    if not origin:
        return None
    address = urlparse(origin["url"])
    path = Path(url2pathname(address.path)) if address.scheme == "file" else None
    if version := origin.get("vcs_info"):
        revision = f"@{version['requested_revision']}" if "requested_revision" in version else ""
        return f'"bpelab{names} @ {version["vcs"]}+{origin["url"]}{revision}"'
    if build and address.path.endswith(".whl"):
        return None
    if path is None or path.is_file():
        return f'"bpelab{names} @ {origin["url"]}"'
    return f'"{_as_typed(path)}{names}"' if _is_source(path) else None


def _from_elsewhere(names: str) -> str:
    from importlib import metadata

    if PUBLISHED:
        return f'"bpelab{names}"' if names else "bpelab"
    try:
        links = metadata.metadata("bpelab").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # only the package's folder was copied
        links = []
    for label, _, address in (link.partition(", ") for link in links):
        if label == "Repository":
            return f'"bpelab{names} @ git+{address}"'
    return f'".{names}"{ANYWHERE}'


def _is_source(folder: Path) -> bool:
    """Return whether a folder holds bpelab's own sources, rather than a project with a copy of the package."""
    file = folder / "pyproject.toml"
    return file.is_file() and 'name = "bpelab"' in file.read_text(encoding="utf-8")


def _as_typed(folder: Path) -> str:
    """Return a folder as a user would type it: relative from inside it, absolute from elsewhere."""
    try:
        here = Path.cwd()
    except OSError:  # the working folder was deleted
        return str(folder)
    return os.path.relpath(folder, here) if here.is_relative_to(folder) else str(folder)
