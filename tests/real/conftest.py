"""Real tokenizer files, compared with their own libraries. `make test-real` runs these tests, with BPELAB_REAL=1, since
their packages are downloads of 300 MB; a run of all tests passes them by.

A run prints a table of what it compared. One of all files, in which nothing differs and nothing is skipped, also keeps
it, in `record.json`.
"""

import os
from importlib.metadata import version

from . import record

REAL = os.environ.get("BPELAB_REAL") == "1"


def pytest_ignore_collect(config):
    return None if REAL or any("real" in argument.split("/") for argument in config.args) else True


def pytest_terminal_summary(terminalreporter):
    reports = [
        report
        for outcome in ("passed", "failed", "skipped", "error")
        for report in terminalreporter.stats.get(outcome, [])
        if "tests/real/" in report.nodeid
    ]
    if compared := record.compared_files(reports):
        libraries = {name: version(name) for name in record.LIBRARIES}
        result = record.Record(libraries, compared)
        terminalreporter.write_line("\n" + record.table(result))
        if record.is_complete(reports, compared):
            record.write(result)
