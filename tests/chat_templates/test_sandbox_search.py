"""Attacks on the sandbox in a process of their own, which its operating system ends when one runs on or grows."""

import json
import random
import subprocess
import sys

import pytest

from ..conftest import ROOT, amount
from .hostile_templates import FOUND, hostile

CHILD = """
import json, resource, signal, sys
from tests.chat_templates.conftest import tokenizer
from bpelab.chat import apply_chat_template
from bpelab.chat_templates import resource_limits
from bpelab.errors import TemplateError
resource_limits.SECONDS = 0.1
which, unit = tokenizer(), 1 if sys.platform == "darwin" else 1024
messages = [{"role": "user", "content": "hi"}]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, source in json.load(sys.stdin):
    print(name, flush=True)
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)  # of this process's own time: a busy machine ends nobody
    try:
        text = apply_chat_template(which, messages, source, tokenize=False)
    except TemplateError as error:
        text = str(error)
    assert len(text) < 10**7, name
    assert not any(sign in text for sign in ("object at", "class '", "function ")), (name, text[:200])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
    assert grown < 300e6, (name, grown)
print("all")
"""


def check(templates: list[tuple[str, str]]) -> None:
    pytest.importorskip("resource", reason="the operating system doesn't limit a process's time")
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(templates),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[-2:] == ["all", ""], f"{done.stdout[-3000:]}{done.stderr[-3000:]}"


@pytest.mark.slow
def test_found_attacks_end_soon():
    check(list(FOUND.items()))


@pytest.mark.slow
def test_random_attacks_end_soon():
    rng = random.Random(18)
    check([(source, source) for source in (hostile(rng) for _ in range(amount(150, 20_000)))])
