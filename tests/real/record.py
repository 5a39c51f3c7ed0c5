"""What a run over real tokenizer files compared: kept as `book/real_record.json`, and shown in two tables.

README has a short one, a row for each library; the page *Using the library* names every tokenizer.
"""

import json
import re
from dataclasses import asdict, dataclass

from ..conftest import ROOT
from .catalogue import ALL

PATH = ROOT / "book" / "real_record.json"
README, PAGE = ROOT / "README.md", ROOT / "book" / "using.md"
PLACE = re.compile(r"(?<=^<!-- real -->\n).*?(?=^<!-- /real -->$)", re.MULTILINE | re.DOTALL)
READERS = ("tokenizers 1.0", "transformers")
"""What reads the files that bpelab saved, beside the library that read the original."""
KNOWN = ("GPT-4o", "gpt-oss", "Llama 3.1", "Qwen 3", "DeepSeek V3", "Gemma 3", "Mistral Nemo", "Mistral 7B", "Qwen 3.5")
"""Tokenizers that the short table names, in this order."""


@dataclass(frozen=True)
class Compared:
    """A tokenizer: the library whose ids are right, and the number of texts whose ids were compared, all of them equal.

    `readers` names the further libraries that gave the ids of a sample with the file that bpelab saved.
    """

    library: str
    texts: int
    readers: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """The versions of all libraries, and what was compared for each tokenizer."""

    versions: dict[str, str]
    tokenizers: dict[str, Compared]


def collect(reports) -> dict[str, Compared]:
    """What the tests that passed have compared, in the order of the catalogue."""
    texts: dict[str, tuple[str, int]] = {}
    readers: dict[str, set[str]] = {}
    for report in reports:
        properties = dict(report.user_properties) if report.outcome == "passed" else {}
        if "texts" in properties:
            texts[properties["tokenizer"]] = properties["library"], properties["texts"]
        if "reader" in properties:
            readers.setdefault(properties["tokenizer"], set()).add(properties["reader"])
    return {
        file.name: Compared(*texts[file.name], tuple(sorted(readers.get(file.name, ()))))
        for file in ALL
        if file.name in texts
    }


def is_complete(reports, compared: dict[str, Compared]) -> bool:
    """Whether every file was compared and every test passed: nothing failed, nothing was skipped.

    The tests of the library in JavaScript don't count, because they need node or Chromium.
    """
    counted = [report for report in reports if "test_javascript" not in report.nodeid]
    return len(compared) == len(ALL) and all(report.outcome == "passed" for report in counted)


def write(record: Record) -> None:
    """Keep the record, and show it in README and in the book."""
    PATH.write_text(json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n", "utf-8")
    for path, shown in (README, summary(record)), (PAGE, table(record)):
        path.write_text(PLACE.sub(lambda _, shown=shown: shown, path.read_text("utf-8")), "utf-8")


def read() -> Record:
    data = json.loads(PATH.read_text("utf-8"))
    compared = {
        name: Compared(entry["library"], entry["texts"], tuple(entry["readers"]))
        for name, entry in data["tokenizers"].items()
    }
    return Record(data["versions"], compared)


def summary(record: Record) -> str:
    """Return the record in short, in Markdown: a headline, and a row for each library whose ids were the right ones."""
    counts = sorted({entry.texts for entry in record.tokenizers.values()})
    texts = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    rows = [
        f"| {library} | {len(names)} | {', '.join(name for name in KNOWN if name in names)} | 0 |"
        for library, names in _by_library(record).items()
    ]
    return "\n".join(
        [
            f"**{len(record.tokenizers)} real tokenizers, {texts} texts each, 0 differences**",
            "",
            "| compared with | tokenizers | among them | ids that differ |",
            "| --- | ---: | --- | ---: |",
            *rows,
            "",
        ]
    )


def table(record: Record) -> str:
    """Return the names of all tokenizers as a table in Markdown, and the libraries that read them again."""
    rows = [f"| {library} | {'; '.join(names)} |" for library, names in _by_library(record).items()]
    readers = " and ".join(
        f"`{reader.split()[0]}` {record.versions[reader]} "
        f"({sum(reader in entry.readers for entry in record.tokenizers.values())})"
        for reader in READERS
    )
    return "\n".join(
        [
            "| compared with | tokenizers |",
            "| --- | --- |",
            *rows,
            "",
            f"{readers} read the files that bpelab saves of them, with equal ids.",
            "",
        ]
    )


def _by_library(record: Record) -> dict[str, list[str]]:
    """Return the library whose ids were the right ones, with its version -> the tokenizers."""
    names: dict[str, list[str]] = {}
    for name, entry in record.tokenizers.items():
        names.setdefault(f"`{entry.library}` {record.versions[entry.library]}", []).append(name)
    return names
