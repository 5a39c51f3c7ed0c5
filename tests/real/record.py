"""What a run over the real tokenizer files compared: kept as `record.json`, and as a table."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from .catalogue import TOKENIZER_JSON

PATH = Path(__file__).with_name("record.json")
LIBRARIES = ("tokenizers",)


@dataclass(frozen=True)
class Record:
    """The versions of the libraries that said what is right, and for each tokenizer the number of texts compared."""

    libraries: dict[str, str]
    texts: dict[str, int]


def compared_files(reports) -> dict[str, int]:
    """The number of texts for each tokenizer whose ids were equal on all of them."""
    properties = [dict(report.user_properties) for report in reports if report.outcome == "passed"]
    compared = {entry["tokenizer"]: entry["texts"] for entry in properties if "tokenizer" in entry}
    return {file.name: compared[file.name] for file in TOKENIZER_JSON if file.name in compared}


def is_complete(reports, compared: dict[str, int]) -> bool:
    """Whether every file was compared and every test passed: nothing failed, nothing was skipped."""
    return len(compared) == len(TOKENIZER_JSON) and all(report.outcome == "passed" for report in reports)


def write(record: Record) -> None:
    PATH.write_text(json.dumps(asdict(record), indent=1) + "\n", "utf-8")


def table(record: Record) -> str:
    """Return the record as a table in Markdown."""
    libraries = ", ".join(f"`{name}` {version}" for name, version in record.libraries.items())
    return "\n".join(
        [
            "| real tokenizers | texts | ids that differ | compared with |",
            "| --- | --- | --- | --- |",
            f"| {len(record.texts)} | {sum(record.texts.values()):,} | 0 | {libraries} |",
            "",
            f"{', '.join(record.texts)}.",
        ]
    )
