"""Real tokenizer files, compared with their own libraries. `make test-real` runs these tests, with BPELAB_REAL=1, since
their packages are downloads of 300 MB; a run of all tests passes them by.

A run prints a table of what it compared. One of all files, in which nothing differs and nothing is skipped, also keeps
it, in `book/real_record.json`, and writes the tables into README and *Using the library*.
"""

import os
from importlib.metadata import PackageNotFoundError, version

from bpelab.bench.tokenizers_1 import VERSION_1

from . import record
from .catalogue import ALL

REAL = os.environ.get("BPELAB_REAL") == "1"


def pytest_ignore_collect(config):
    return None if REAL or any("real" in argument.split("/") for argument in config.args) else True


def pytest_collection_modifyitems(items):
    """Run the tests of a file one after the other: then what they share is made once."""
    order = {file: number for number, file in enumerate(ALL)}
    items.sort(key=lambda item: order.get(item.callspec.params.get("file"), -1) if hasattr(item, "callspec") else -1)


def pytest_terminal_summary(terminalreporter):
    reports = [
        report
        for outcome in ("passed", "failed", "skipped", "error")
        for report in terminalreporter.stats.get(outcome, [])
        if "tests/real/" in report.nodeid
    ]
    if compared := record.collect(reports):
        names = dict.fromkeys([*(entry.library for entry in compared.values()), "transformers"])
        result = record.Record({name: _version(name) for name in names} | {"tokenizers 1.0": VERSION_1}, compared)
        terminalreporter.write_line("\n" + record.table(result))
        if record.is_complete(reports, compared):
            record.write(result)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
