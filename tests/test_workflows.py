"""The workflows are valid and do nothing but call the make targets."""

import re
import subprocess
import sys

import pytest

from .conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_they_fit_the_schema():
    pytest.importorskip("check_jsonschema")
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_they_call_make(path):
    commands = re.findall(r"- run: (.*)", path.read_text(encoding="utf-8"))
    assert commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for command in commands:
        words = command.split()
        assert words[0] == "make"
        assert words[1] in targets
