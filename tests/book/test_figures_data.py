"""Every figure is made from data made in the book, and every verdict in Claims, tested is worked out in the page.

Two ways to see the first. What cells say: no address, and no file of this repository by its name. What cells do: a
kernel that writes down each file that is read, in the soak for every notebook.
"""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from docutils.nodes import make_id

from ..conftest import ROOT, amount
from .test_notebooks import NOTEBOOKS, cells, source

# Files of this repository that a notebook may read, outside of what the package ships, and why.
READ = {
    "claims.ipynb": {
        "claims_record.json": "what the sections found, for the table at the top; the last section compares",
        "claims_evidence_record.json": "what the sections of claims_evidence.ipynb found, for the same table",
    },
    "claims_evidence.ipynb": {
        "claims_evidence_record.json": "what the sections found, for the table of claims.ipynb; the last one compares",
        "real_models_record.json": "what two models of other makers answer, which takes llama.cpp and 1.4 GB; `python "
        "book/real_models_record.py` asks them and writes it, with their hashes, and a test counts its questions again",
    },
    "language_model.ipynb": {
        "README.md": "the shipped model's card, which lies beside its weights in the package",
        "letters_record.json": "four networks trained from nothing, which takes torch and half an hour; `python "
        "book/letters_record.py` does so and writes it, and a test counts its words and questions again",
        "real_models_record.json": "the record of claims_evidence.ipynb, of which this page shows the letters",
    },
    "distributed.ipynb": {
        "growth_record.json": "what a gigabyte of text takes, too much for a page; `python book/growth.py` measures it "
        "and writes it, with the machine in it, and corpus_cost.ipynb counts its smallest sizes again"
    },
    "corpus_cost.ipynb": {"growth_record.json": "the record of distributed.ipynb, which this page extrapolates"},
    "superwords.ipynb": {
        "superwords_record.json": "15 MB of English and lines in six scripts, which are not part of the book; `python "
        "book/superwords_record.py` trains on them and writes it, with the texts' hashes and the machine, and the page "
        "computes the small sizes beside it",
    },
    "new_words.ipynb": {
        "new_words_record.json": "a model trained further, which takes torch and minutes; `python "
        "book/new_words_record.py` does so and writes it, and the page counts its tokens and bits again",
        "gemma_record.json": "a real model, which is not part of the book; `python book/gemma_record.py` adapts "
        "and trains it and writes it, with the hashes of the model and the texts",
    },
    "one_byte.ipynb": {
        "forced_spelling_record.json": "what a model of a gigabyte answers under three masks, which takes llama.cpp; "
        "`python book/forced_spelling_record.py` asks it and writes it, and a test counts its right answers again",
        "constraints_record.json": "what masks cost beside two other libraries, with GPT-4's vocabulary; `python "
        "book/constraints_record.py` measures it and writes it, with versions and the machine",
        "byte_prompts_record.json": "what two models of other makers expect after prompts that end anywhere, which "
        "takes llama.cpp and 1.4 GB; `python book/byte_prompts_record.py` asks them and writes it, with the prompts, "
        "and a test cuts these again",
    },
    "drift.ipynb": {
        "templates_record.json": "templates that llama.cpp's sources and packages ship; `python "
        "book/templates_record.py` checks them and writes it, with their sources"
    },
    "chat.ipynb": {
        "conversation_record.json": "a conversation with a model of a gigabyte, which others trained; `python "
        "book/conversation_record.py` holds it again and writes it, with the file's hash and the machine",
        "elsewhere_record.json": "what doctor says of machines that are put together for its tests; `python "
        "book/elsewhere_record.py` writes it, and a test makes it again",
        "backends_record.json": "speeds of backends that no reader has all of; `make test-backends` measures them and "
        "writes it, once all have given the same tokens, with the machine and all versions in it",
    },
}
NETWORK = {
    "urllib",
    "requests",
    "httpx",
    "aiohttp",
    "socket",
    "http",
    "ftplib",
    "huggingface_hub",
    "fsspec",
    "datasets",
}

WATCH = """
import os, sys, threading

log, inside = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT), threading.local()

def heard(event, words):
    if event == "open" and isinstance(words[0], (str, bytes)) and not (words[2] or 0) & (os.O_WRONLY | os.O_CREAT):
        os.write(log, b"read " + os.fsencode(os.path.abspath(words[0])) + b"\\n")
    elif event == "socket.connect" and isinstance(words[1], tuple):
        os.write(log, f"connect {{words[1][0]}}\\n".encode())

sys.addaudithook(heard)
"""


def code(path) -> list[tuple[str, ast.Module]]:
    """Each code cell, and what Python reads in it."""
    texts = [re.sub(r"^[%!].*", "pass", source(cell), flags=re.MULTILINE) for cell in cells(path, "code")]
    return [(text, ast.parse(text)) for text in texts]


def own_files(path: Path) -> set[str]:
    """The names of this repository's files that are no notebook's to make, from the repository and from the book."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
    if not listed:
        pytest.skip("this is no git repository")
    return {*listed, *(os.path.relpath(ROOT / name, path.parent) for name in listed)}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_cells_name_no_data_from_elsewhere(path):
    files, allowed = own_files(path), READ.get(path.name, {})
    for text, tree in code(path):
        for node in ast.walk(tree):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in modules} & NETWORK, text
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert "://" not in node.value or "localhost" in node.value, text
                assert node.value not in files or node.value in allowed or " " in node.value, text


def lies_in(file: Path, places) -> bool:
    return any(file.is_relative_to(Path(place).resolve()) for place in places)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS[: amount(1, 99)], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_cells_read_what_the_book_makes(path, tmp_path):
    """All that was read lies in a temporary folder, in a cache, in the package, or in what is installed."""
    log = tmp_path / "log"
    (tmp_path / "sitecustomize.py").write_text(WATCH.format(log=str(log)), encoding="utf-8")
    here = os.pathsep.join([str(tmp_path), str(ROOT)])
    words = [
        sys.executable,
        "-c",
        "from nbclient.cli import main; main()",
        "--output",
        str(tmp_path / "out"),
        str(path),
    ]
    env = {**os.environ, "PYTHONPATH": here, "BPELAB_NO_PROGRESS": "1", "HOME": str(tmp_path)}
    subprocess.run(words, check=True, capture_output=True, cwd=path.parent, env=env)
    ours = [
        ROOT / "bpelab",
        ROOT / "bpelab.egg-info",
        path,
        sys.prefix,
        *(path.parent / name for name in READ.get(path.name, {})),
    ]
    places = [tempfile.gettempdir(), tmp_path, sys.base_prefix, *sysconfig.get_paths().values()]
    places += [os.environ.get("TIKTOKEN_CACHE_DIR", tmp_path), "/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/var"]
    said = log.read_text(encoding="utf-8").splitlines()
    read = {Path(line.removeprefix("read ")).resolve() for line in said if line.startswith("read ")}
    assert any(lies_in(file, ours[:1]) for file in read)
    strange = {file for file in read if file.is_file() and not lies_in(file, ours)}
    assert not {file for file in strange if lies_in(file, [ROOT]) or not lies_in(file, places)}
    assert {line for line in said if line.startswith("connect ")} <= {"connect 127.0.0.1", "connect localhost"}


def claims_tested(tree):
    """The calls of `claims.test` in a cell."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "claims.test":
            yield node


class TestClaims:
    PATH = ROOT / "book" / "claims.ipynb"
    EVIDENCE = ROOT / "book" / "claims_evidence.ipynb"
    PAGES = (PATH, EVIDENCE)

    def test_no_case_is_decided_by_hand(self):
        """A case begins with what was found out; only a function that tries something may say True or False."""
        number = 0
        for text, tree in [cell for page in self.PAGES for cell in code(page)]:
            tried = [
                node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and "try:" in ast.unparse(node)
            ]
            excused = {id(inner) for function in tried for inner in ast.walk(function)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Tuple) and id(node) not in excused and len(node.elts) == 2:
                    assert not (isinstance(node.elts[0], ast.Constant) and isinstance(node.elts[0].value, bool)), text
            for call in claims_tested(tree):
                number += 1
                assert isinstance(call.args[0], ast.Constant)
                assert not any(isinstance(n, ast.Constant) and isinstance(n.value, bool) for n in ast.walk(call)), text
            assert not re.search(r"\b(Verdict|Condition)\(|_verdicts\b|= *(SAFE|MOSTLY|DANGEROUS|WRONG)\b", text)
        assert number > 25

    def table(self) -> str:
        """The stored text of the table at the top of the page, without its first line."""
        cell = next(cell for cell in cells(self.PATH, "code") if "ClaimTable(" in source(cell))
        return "".join(cell["outputs"][-1]["data"]["text/plain"]).partition("\n")[2]

    def test_each_claim_quoted_is_tested_and_the_table_has_all(self):
        """In the order of the chapter, and then of the appendix."""
        stored, all_tested = self.table(), []
        for page in self.PAGES:
            prose = "\n".join(source(cell) for cell in cells(page, "markdown"))
            quoted = [line[2:].replace("`", "") for line in prose.splitlines() if line.startswith("> ")]
            tested = [call.args[0].value for _, tree in code(page) for call in claims_tested(tree)]
            assert tested == quoted
            all_tested += tested
            for cell, (_, tree) in zip(cells(page, "code"), code(page), strict=True):
                for call in claims_tested(tree):  # what is shown under a claim is what the table says of it
                    shown = "".join(cell["outputs"][-1]["data"]["text/plain"]).partition(":")[0].lower()
                    assert re.search(rf"\d {shown:9} .{{14}} {re.escape(call.args[0].value)}$", stored, re.MULTILINE)
        assert [row[28:] for row in stored.splitlines() if row[:2].strip()] == all_tested

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
    def test_each_page_compares_what_it_found_with_the_table(self, page):
        last = next(source(cell) for cell in cells(page, "code") if "claims.differences(recorded)" in source(cell))
        assert "assert not changed" in last

    def test_each_row_leads_to_the_section_that_tests_its_claim(self):
        cell = next(cell for cell in cells(self.PATH, "code") if "ClaimTable(" in source(cell))
        links = re.findall('href="([^"]*)"', "".join(cell["outputs"][-1]["data"]["text/html"]))
        expected = []
        for page, address in zip(self.PAGES, ("", "claims_evidence.html")):
            text = "\n".join(source(cell) for cell in cells(page, "markdown"))
            for section in re.split("^#+ ", text, flags=re.MULTILINE)[1:]:
                if re.search("^> ", section, re.MULTILINE):
                    expected.append(f"{address}#{make_id(section.partition(chr(10))[0])}")
        assert links == expected
        assert len(set(links)) == len(links) > 25

    def test_each_row_that_is_not_safe_says_what_to_do_instead(self):
        lines = self.table().splitlines()
        for line, after in zip(lines, [*lines[1:], ""]):
            if line[:2].strip() and line[3:12].strip() != "safe":
                assert after.lstrip().startswith("-> "), line

    def test_what_lets_an_attack_through_is_called_dangerous(self):
        """A share of cases can't say that: the messages that do the harm are few, and written by the attacker."""
        stored = self.table()
        for claim in ("Write the conversation as text and encode it", "The chat function takes our tokenizer"):
            assert re.search(rf"^ ?\d+ dangerous .* {claim}", stored, re.MULTILINE)
        for claim in ("BPE is optimal compression", "English costs less", "A space at the end of a prompt keeps"):
            assert re.search(rf"^ ?\d+ mostly .* {claim}", stored, re.MULTILINE)
