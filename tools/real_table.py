"""Write README's table of real tokenizers from the record of the last whole run. `python -m tools.real_table`"""

from pathlib import Path

from tests.real import record

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- real tokenizers -->\n", "<!-- /real tokenizers -->\n"


def with_table(readme: str, table: str) -> str:
    """Return README's text with the table between its two marks.

    >>> with_table(f"before\\n{BEGIN}old\\n{END}after\\n", "| new |") == f"before\\n{BEGIN}| new |\\n{END}after\\n"
    True
    """
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    README.write_text(with_table(README.read_text("utf-8"), record.table(record.read())), "utf-8")
