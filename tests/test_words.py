"""The words of the library: those of the glossary in CONTRIBUTING.md and not those that it rules out, in names and in
docstrings; the names in docstrings are there; and the book's glossary says in which chapter a thing is at work."""

import ast
import builtins
import json
import keyword
import re
import sys
from functools import cache

from .conftest import ROOT


def glossary():
    """(words, what they mean, old words) of each row of the glossary in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Words\n")[2]
    rows = [row.split("|") for row in re.findall(r"^\| (?!---|word ).*\|$", text, re.MULTILINE)]
    assert len(rows) >= 40
    return [(row[1].strip(), row[2].strip(), re.findall(r"`(\w+)`", row[3])) for row in rows]


@cache
def trees():
    """(path, syntax tree) of each file of the library."""
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted((ROOT / "bpelab").rglob("*.py"))]


def parts(name):
    """The words of a name, each with a capital if the name has it: SafeCuts is Safe, Cuts."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+", name)


def contains(name, old):
    """Whether a name has the words of an old one in a row, in the singular or the plural."""
    words, wanted = parts(name), parts(old)
    return any(
        all(word in (want, f"{want}s") for word, want in zip(words[start:], wanted))
        for start in range(len(words) - len(wanted) + 1)
    )


def test_old_words_are_found_in_longer_ones():
    assert contains("is_safe_pair", "safe_pair") and contains("safe_pairs", "safe_pair")
    assert contains("OriginOfText", "Origin") and contains("MarkedString", "Marked")
    assert (
        not contains("original", "Origin") and not contains("origins", "Origin") and not contains("pair", "safe_pair")
    )


def test_the_old_words_are_gone():
    """From the first line of every docstring, and from names, also as a part, unless the new words are in the name."""
    rows = [(words.partition(", ")[0].replace(" ", "_"), old) for words, _, olds in glossary() for old in olds]
    assert len(rows) > 10
    names = {}
    for path, tree in trees():
        for node in ast.walk(tree):
            names |= {getattr(node, field, None): path for field in ("name", "attr", "id", "arg")}
    for name in names.keys() - {None} - OF_OTHERS.keys():
        for new, old in rows:
            assert not contains(name, old) or contains("_".join(parts(name)).lower(), new), f"{names[name]}: {name}"
    for path, text in docstrings():
        line = text.partition("\n")[0]
        assert not {*re.findall(r"\w+", line)} & {old for _, old in rows}, f"{path}: {line}"


def test_the_glossary_has_the_words_of_the_code():
    """Each of them is in a docstring, or in a name."""
    texts = " ".join(" ".join(text for _, text in docstrings()).lower().split())
    names = " ".join(words_of_the_code() - {None}).replace("_", "").lower()
    for words, _, _ in glossary():
        for word in words.lower().split(", "):
            assert word in texts or re.sub("[- ]", "", word) in names, word


def test_a_chapter_shows_what_the_glossary_says_it_does():
    """The chapter that an entry of the book's glossary names has the words of the entry, or the beginnings of them."""
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^(\S.*)\n((?:  .*\n)+)", text, re.MULTILINE)
    assert len(entries) > 60
    for term, meaning in entries:
        forms = re.split(r", | \(", term.lower().rstrip(")"))
        for chapter in re.findall(r"\{doc\}`(\w+)`", meaning):
            cells = json.loads((ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
            shown = " ".join("".join(cell["source"]) for cell in cells).lower()
            assert any(all(word[:9] in shown for word in form.split()) for form in forms), (term, chapter)


OF_OTHERS = {
    "PathFinder": "importlib",
    "resize_token_embeddings": "transformers",
    "SplitDelimiterBehavior": "tokenizers",
    "countTokens": "@anthropic-ai/tokenizer",
    "taskset": "Linux",
    "asimd": "/proc/cpuinfo",
    "FEAT_DotProd": "macOS",
    "my_tokenizer.py": "the reader",
    "uniqueItems": "JSON Schema",
    "newlower": "a text",
    "aaa": "a text",
    "fi": "a text",
}
"""Names that are not the library's, and whose they are. Those after `Source:` are another project's."""


DATA = (".json", ".jsonl", ".md", ".model", ".gguf", ".tiktoken", ".txt", ".ipynb", ".js")


def docstrings():
    """(path, docstring) of everything that has one."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield path, text


def words_of_the_code():
    """Every identifier, and every word of a short string, in Python and in C."""
    words = {*dir(builtins), *keyword.kwlist, *sys.stdlib_module_names}
    for path, tree in trees():
        words |= {*path.relative_to(ROOT).with_suffix("").parts}
        for node in ast.walk(tree):
            if isinstance(node, ast.alias):
                words |= {*node.name.split("."), node.asname}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
                words |= {*re.findall(r"\w+", node.value)}
            else:
                words |= {getattr(node, field, None) for field in ("id", "attr", "arg", "name")}
    for path in (ROOT / "bpelab/native").glob("*.[hc]"):
        words |= {*re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    return words


def test_names_in_docstrings_are_in_the_code():
    words = words_of_the_code()
    files = {path.name for folder in ("bpelab", "tests", "tools") for path in (ROOT / folder).rglob("*.*")}
    names = 0
    for path, text in docstrings():
        for name in re.findall(r"(?<!`)`([A-Za-z_][\w.]*)(?:\([^`]*\))?`(?!`)", re.split(r"\bSources?:", text)[0]):
            names += 1
            here = name in files or (words >= {*name.split(".")} and not name.endswith((".py", ".h", ".c")))
            assert here or name in OF_OTHERS or name.endswith(DATA), f"{path}: `{name}`"
    assert names > 2_000
