"""Which chat templates only append: `python book/templates_record.py FILE_OR_FOLDER ...`, into a record.

Every `.jinja` file given, or found in a folder, and the `chat_template` of every `.json` file (write NAME=FILE to name
it) goes through `check_prefixes`, and so do the templates that bpelab has by name. The tokenizer learns 2,000 tokens
from the book's text and has the control tokens that the template's source spells, so a place in the ids isn't that of
the model's own tokenizer, while the verdict and the text are. The chapter *The ids that were never yours* shows
templates_record.json. llama.cpp's templates are in the source package of llama-cpp-python, under
`vendor/llama.cpp/models/templates`. Takes some seconds a template.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from bpelab import BPETokenizer
from bpelab.chat import NAMED, check_prefixes
from bpelab.errors import BPELabError
from bpelab.notebook import book_text

RECORD = Path(__file__).with_name("templates_record.json")
CONTROL = re.compile(r"<[|｜]?/?[\w▁:|｜-]+[|｜]?>|\[/?[A-Z_]+\]")
"""What control tokens look like in a template's source."""
VARIABLES = {"functions": "none", "datetime": "now"}
"""Variables without which one of llama.cpp's templates writes nothing."""
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}},
}


def read(given: str) -> Iterator[tuple[str, str]]:
    """Yield (name, source) of each template in a file or a folder."""
    name, _, place = given.rpartition("=")
    path = Path(place)
    if path.is_dir():
        for file in sorted(path.rglob("*.jinja")):
            yield file.stem, file.read_text(encoding="utf-8")
    elif path.suffix == ".json":
        source = json.loads(path.read_text(encoding="utf-8")).get("chat_template")
        if isinstance(source, str):
            yield name or path.stem, source
    else:
        yield name or path.stem, path.read_text(encoding="utf-8")


def tokenizer_for(source: str) -> BPETokenizer:
    """Return a tokenizer with the control tokens of a template."""
    named = {token for template in NAMED.values() for token in template.tokens}
    names = sorted({*CONTROL.findall(source), *named, "<s>", "</s>"})
    return BPETokenizer.train(
        book_text(), 2000 + len(names), special_tokens=names, bos_token="<s>", eos_token="</s>", progress=False
    )


def measure(name: str, origin: str, source: str) -> dict[str, Any]:
    """Return one row of the record."""
    tokenizer = tokenizer_for(source)
    row: dict[str, Any] = {"name": name, "origin": origin, "sha256": sha256(source.encode()).hexdigest()}
    try:
        found = check_prefixes(tokenizer, source, template_variables=VARIABLES)
        if not found.conversations:  # a template for tools alone
            found = check_prefixes(tokenizer, source, template_variables=VARIABLES, tools=[TOOL])
    except BPELabError as error:
        return row | {"conversations": 0, "error": str(error)}
    row |= {"conversations": found.conversations, "preserving": found.preserving}
    row |= {"preserves_text": found.preserves_text, "proved": found.proved}
    if found.divergence is not None and found.counterexample is not None:
        ids, theirs = found.divergence.ids, found.divergence.template_ids
        row["messages"] = found.counterexample
        row["place"] = found.divergence.place
        row["reason"] = found.divergence.reason
        row["was"], row["becomes"] = tokenizer.decode(ids), tokenizer.decode(theirs)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("templates", nargs="+", metavar="[NAME=]FILE_OR_FOLDER")
    parser.add_argument("--origin", default="", help="where they come from: a package and its version")
    parser.add_argument("--add", action="store_true", help="keep the rows that the record has, of other origins")
    parser.add_argument("--out", type=Path, default=RECORD, help="the record; by default that of the book")
    options = parser.parse_args()
    old = json.loads(options.out.read_text(encoding="utf-8"))["templates"] if options.add else []
    rows = [row for row in old if row["origin"] not in (options.origin, "bpelab")]
    sources = [(name, "bpelab", named.source) for name, named in NAMED.items()]
    sources += [(name, options.origin, source) for given in options.templates for name, source in read(given)]
    for name, origin, source in sources:
        rows.append(measure(name, origin, source))
        print(json.dumps(rows[-1], ensure_ascii=False)[:200], file=sys.stderr)
    record = {
        "about": "Whether chat templates only append: check_prefixes of each. Written by book/templates_record.py.",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "templates": rows,
    }
    options.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
