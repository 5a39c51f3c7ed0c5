"""SECURITY.md names the tests that hold its promises: they are there under these names."""

import re

from ..conftest import ROOT

NAMED = re.findall(r"`(tests/[\w/]+\.py)((?:::\w+)*)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))


def test_every_promise_has_its_test():
    assert len(NAMED) > 25
    for path, names in NAMED:
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in filter(None, names.split("::")):
            assert re.search(rf"^\s*(def|class) {name}\b", text, re.MULTILINE), f"{path} has no {name}"
