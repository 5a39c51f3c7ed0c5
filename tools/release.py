"""Check that the sources are ready for a release: `python tools/release.py check v0.1.0`; `notes v0.1.0` prints notes.

The tag, the version and the changelog have to agree, and the package has to know its address and that it is released.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(root: Path, version: str) -> str | None:
    """Return the changelog's section of a version, or None if there is none with a date."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)\n"
    found = re.search(rf"{heading}(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else None


def problems(root: Path, tag: str) -> list[str]:
    """Return what prevents releasing these sources as `tag`: sentences that say what to do."""

    def has(name: str, pattern: str) -> str | None:
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        return found and found[1]

    version = has("bpelab/__init__.py", r'^__version__ = "(.*)"')
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag!r}, but bpelab.__version__ is {version!r}: make them agree")
    if notes(root, str(version)) is None:
        found.append(f'CHANGELOG.md has no heading "## {version} (YYYY-MM-DD)": put the date of the release there')
    if (cited := has("CITATION.cff", r"^version: (.*)$")) != version:
        found.append(f"CITATION.cff says version {cited}: make it {version}")
    if not has("bpelab/_support/install.py", r"^PUBLISHED = (True)$"):
        found.append("PUBLISHED in bpelab/_support/install.py is not True: a release says how to install it")
    if not has("pyproject.toml", r'^Repository = "(.+)"'):
        found.append("the package does not know its repository: make address ADDRESS=https://HOST/OWNER/NAME")
    return found


def main(command: str, tag: str) -> None:
    if command == "notes":
        print(notes(ROOT, tag.removeprefix("v")) or sys.exit(f"CHANGELOG.md has no section for {tag}"))
    elif found := problems(ROOT, tag):
        sys.exit("\n".join(found))
    else:
        print(f"{tag} can be released.")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("check", "notes"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
