"""What pages say outside their cells, where it follows from a cell, a record or a test: each was wrong once."""

import ast
import json
import re
from collections import Counter
from itertools import pairwise, product

import pytest

from bpelab import PATTERNS, BPETokenizer, Split
from bpelab.baselines import WordTokenizer
from bpelab.chat.hardware.install import FLAGS
from bpelab.exercises import EXERCISES
from bpelab.notebook import book_text

from ..conftest import ROOT
from .test_notebooks import CHAPTERS, NOTEBOOKS, cells, prose, source

BOOK = ROOT / "book"
REGEX = BOOK / "regex.ipynb"
DETAILS = BOOK / "details.ipynb"
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


def stored(cell) -> str:
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


class TestPatterns:
    def test_those_of_gpt2_gpt4_and_gpt4o_are_printed_whole(self):
        """Each where the page first speaks of it, as Python strings that give the pattern when they are joined."""
        printed = [stored(cell) for cell in cells(REGEX, "code") if "show_pattern(" in source(cell)]
        blocks = [
            re.findall(r'^r".*"$', block, re.MULTILINE)
            for text in printed
            for block in re.split(r"^\w+\n", text, flags=re.M)
        ]
        joined = [ast.literal_eval("(" + "\n".join(lines) + ")") for lines in blocks if lines]
        assert joined == [PATTERNS["gpt2"].oniguruma, PATTERNS["cl100k"].regex, PATTERNS["o200k"].regex]

    @pytest.fixture
    def suspects(self):
        """The patterns from public code that the page puts to the test."""
        text = next(source(cell) for cell in cells(DETAILS, "code") if source(cell).startswith("suspects = "))
        return [ast.literal_eval(node) for node in ast.parse(text).body[0].value.elts[:2]]

    def test_the_first_suspect_is_the_older_spelling_and_not_gpt4s(self, suspects):
        """On all short texts of the kinds of characters that the patterns tell apart."""
        suspect, llama3, cl100k = (Split(pattern).split for pattern in (suspects[0], "llama3", "cl100k"))
        texts = ["".join(chars) for size in range(1, 5) for chars in product("as'1-\n\r ", repeat=size)]
        assert all(suspect(text) == llama3(text) for text in texts)
        differ = [text for text in texts if suspect(text) != cl100k(text)]
        assert len(differ) > 100
        assert all(text[-1].isspace() for text in differ)

    def test_no_page_calls_it_gpt4s(self):
        assert "The first is GPT-4's" not in prose(DETAILS)
        assert "passes for GPT-4's" in prose(DETAILS)
        table = next(cell for cell in cells(DETAILS, "code") if source(cell).startswith("suspects = "))
        assert stored(table).splitlines()[0].startswith("['cl100k', 'llama3'] ['llama3'] ")


def test_files_that_pages_name_are_there():
    """With their folder: the name alone goes stale without anybody noticing."""
    for path in NOTEBOOKS:
        for name in re.findall(r"`((?:bpelab|tests|tools|book)/[\w/]+\.(?:py|h|c|json))`", prose(path)):
            assert (ROOT / name).is_file(), f"{path.name}: {name}"
        assert "regex_dfa.py" not in prose(path)


def printed_source(cell) -> str:
    """The source that a cell of code shows, in fences."""
    return "".join("".join(output.get("data", {}).get("text/markdown", "")) for output in cell.get("outputs", ()))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_named_beside_a_printed_source_is_on_the_page(path):
    """A fragment such as `best_start[end]`, right after a source, has only names that some code of the page has."""
    all_cells = json.loads(path.read_text("utf-8"))["cells"]
    code = " ".join(source(cell) + printed_source(cell) for cell in all_cells if cell["cell_type"] == "code")
    names = set(re.findall(r"[A-Za-z_]\w*", code))
    for before, cell in pairwise(all_cells):
        if cell["cell_type"] == "markdown" and "```" in printed_source(before):
            for fragment in re.findall(r"`([^`\n]*(?:\w[\[(]|[!=]=)[^`\n]*)`", source(cell)):
                assert not set(re.findall(r"[A-Za-z_]\w*", fragment)) - names, fragment


def test_the_number_of_conversations_is_that_of_the_test():
    amounts = re.search(
        r"amount\(([\d_]+), ([\d_]+)\)", (ROOT / "tests/chat_templates/test_injection.py").read_text("utf-8")
    )
    short, full = (f"{int(number):,}" for number in amounts.groups())
    text = " ".join(prose(BOOK / "chat_templates.ipynb").split())
    assert f"with {short} conversations in an everyday run and {full} in a long one" in text


def test_the_slowest_backends_are_those_of_the_record():
    record = json.loads((BOOK / "backends_record.json").read_text("utf-8"))["backends"]
    waits = {entry["name"]: entry["load_seconds"] + entry["first_token_seconds"] for entry in record}
    text = " ".join(prose(BOOK / "chat.ipynb").split())
    named = re.search(r"`(\w+)` and `(\w+)` take longest, some (\w+) seconds each", text)
    assert list(named.groups()[:2]) == sorted(waits, key=waits.get, reverse=True)[:2]
    assert all(round(waits[name]) == WORDS[named[3]] for name in named.groups()[:2])
    assert max(entry["first_token_seconds"] for entry in record) < 0.05  # "a few hundredths of a second at most"
    assert not any(entry.get("rounding") for entry in record), "the text says that all ids were equal"


def test_the_flags_for_each_gpu_are_those_that_doctor_prints():
    text = prose(BOOK / "chat.ipynb")
    named = re.findall(r"-DGGML_\w+=on", text)
    assert set(named) == {flag.split()[0] for _, flag, _, _ in FLAGS}


def test_the_paragraphs_that_solution_2_1_names():
    paragraphs = book_text().split("\n\n")
    words = WordTokenizer.train("\n\n".join(paragraphs[::2]), 4096)
    share = EXERCISES["subwords.1"].solution
    shares = {text: share(words, text) for text in paragraphs[1::2]}
    lost = [text for text in shares if shares[text] == 1]
    assert all(len(words.encode(text)) < 20 for text in lost)
    worst = max((text for text in shares if len(words.encode(text)) >= 20), key=shares.get)
    said = EXERCISES["subwords.1"].source
    assert len(lost) == WORDS[re.search(r"(\w+) paragraphs of `unseen`", said)[1]]
    assert sum("\u0600" <= char < "\u0700" for char in worst) > len(worst) / 2
    assert f"with {shares[worst]:.0%} unknown" in said


def test_the_share_that_the_answer_to_claims_1_names():
    tokenizer = BPETokenizer.train(book_text(), 2000, progress=False)
    counts = Counter(piece.strip() for piece in tokenizer.pieces(book_text()) if piece.strip().isalpha())
    often = {word: count for word, count in counts.items() if count >= 10}
    right, cases = EXERCISES["claims.1"].solution(tokenizer, often)
    assert f"right in {right / cases:.0%} of the cases" in EXERCISES["claims.1"].source


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_an_exercise_asks_nothing_that_no_check_answers(path):
    """A question in an exercise is what its function returns. What else there is to find out is said on some page."""
    asked = re.findall(r"\*\*Exercise (\w+\.\d+) \([^)]*\)\.\*\*(.*?)(?=\*\*Exercise|\n## |\Z)", prose(path), re.DOTALL)
    for number, text in asked:
        assert not re.search(r"How many of the book|Which paragraph|\bWhy\?", text), number


class TestGlossary:
    TEXT = (BOOK / "glossary.md").read_text("utf-8")
    ENTRIES = re.findall(r"^(\S.*)\n  \S", TEXT.partition("{glossary}\n")[2], re.MULTILINE)

    def test_is_in_order(self):
        key = [entry.lower().translate(str.maketrans("é-_", "e  ")) for entry in self.ENTRIES]
        assert key == sorted(key)

    def test_has_the_words_that_pages_use(self):
        needed = {"attention", "embedding", "byte fallback", "WordPiece", "Unigram", "SentencePiece", "merge list"}
        needed |= {"rank table", "n_vocab", "greedy"}
        assert needed <= set(self.ENTRIES)

    def test_greedy_is_defined_in_each_of_its_senses(self):
        greedy = self.TEXT.split("\ngreedy\n")[1].split("\n\n")[0]
        assert all(f"{{doc}}`{page}`" in greedy for page in ("training", "encoding", "model_answers"))


def test_the_library_names_its_chapters_by_their_titles():
    """A docstring's `Chapter: A trie` is the beginning of the title of a page."""
    pages = [prose(path) for path in BOOK.glob("*.ipynb")] + [path.read_text("utf-8") for path in BOOK.glob("*.md")]
    titles = [re.search("^# (.*)", page, re.MULTILINE)[1] for page in pages]
    named = set()
    for path in [*(ROOT / "bpelab").rglob("*.py"), *(ROOT / "bpelab").rglob("*.h")]:
        for names in re.findall(r"Chapters?: ((?:[^.\"]|\n)+)[.\"]", path.read_text("utf-8")):
            named.update(" ".join(name.split()) for name in names.split(";"))
    assert len(named) > 15
    assert not {name for name in named if not any(title.startswith(name) for title in titles)}


def test_the_first_page_leads_to_every_chapter():
    listed = (ROOT / "_toc.yml").read_text("utf-8").partition("The library")[0]
    contents = re.findall(r"file: book/(\w+)$", listed, re.MULTILINE)
    assert len(contents) > 18
    first = (BOOK / "index.md").read_text("utf-8")
    assert not [name for name in contents if f"]({name}.ipynb)" not in first]


def test_one_page_introduces_the_words_of_a_model():
    """The others link to it, and set none of these words in italics, which is how a word is introduced."""
    words = r"(?:embedding|logit|attention|softmax)s?"
    for path in BOOK.glob("*.ipynb"):
        if path.stem != "language_model":
            said = "\n".join(source(cell) for cell in cells(path, "markdown"))
            assert not re.findall(rf"(?<!\*)\*{words}\*(?!\*)", said), path.name
            assert "(language_model.ipynb" in said or not re.search(rf"\b{words}\b", said), path.name


def test_the_plan_for_a_trillion_tokens_is_the_one_that_is_worked_out():
    plan = "".join(stored(cell) for cell in cells(BOOK / "corpus_cost.ipynb", "code"))
    text = " ".join(prose(BOOK / "distributed.ipynb").split())
    said = re.search(
        r"the line gives (\S+ billion) .* takes (\d+) hours of one core, .* takes (\d+ GB) of memory", text
    )
    for name, value in zip(("distinct pre-tokens", "counting, core hours", "memory to learn merges"), said.groups()):
        assert re.search(rf"^{name} +{value}$", plan, re.MULTILINE), name


class TestSuperwords:
    """What the page says of its record, whose tables are no output that `holds` can read."""

    LARGE, *BY_SCRIPT = json.loads((BOOK / "superwords_record.json").read_text("utf-8"))["texts"]

    def test_the_documentation_runs_out_of_words(self):
        words = [row["vocabulary"] for row in self.LARGE["rows"] if row["method"] == "words"]
        assert f"no more than {words[1]:,} tokens" in prose(BOOK / "superwords.ipynb")
        saved = []
        for size in (32_000, 64_000):
            tokens = {
                row["method"]: row["tokens"] for row in self.LARGE["rows"] if 0.9 * size < row["vocabulary"] <= size
            }
            saved.append(1 - min(tokens[f"superbpe, {share}%"] for share in (50, 75, 90)) / tokens["words"])
            assert tokens["boundless"] > min(tokens[f"superbpe, {share}%"] for share in (50, 75, 90))
        assert 0.15 < saved[0] < saved[1]  # "a larger vocabulary gains more"

    def test_only_devanagari_compares_vocabularies_of_two_sizes(self):
        """Its words run out of pairs; all other words of the table, and all superwords, fill 4,096 tokens."""
        short = {
            (text["script"], row["pattern"]): row["vocabulary"]
            for text in self.BY_SCRIPT
            for row in text["rows"]
            if row["vocabulary"] < 4096
        }
        assert list(short) == [("DEVANAGARI", "cl100k")]
        size = short["DEVANAGARI", "cl100k"]
        assert f"Devanagari words run out of pairs at {size:,} tokens" in prose(BOOK / "superwords.ipynb")

    def test_where_a_space_says_nothing(self):
        tokens = {
            (text["script"], row["pattern"], row["method"]): row["tokens"]
            for text in self.BY_SCRIPT
            for row in text["rows"]
        }

        def best(script, pattern):
            return min(tokens[script, pattern, f"superbpe, {share}%"] for share in (50, 75, 90))

        def saved(script, pattern):
            return 1 - best(script, pattern) / tokens[script, pattern, "words"]

        assert f"Superwords save {saved('THAI', 'cl100k'):.1%} over GPT-4's pattern" in prose(BOOK / "superwords.ipynb")
        assert tokens["THAI", "o200k", "words"] <= best("THAI", "cl100k")  # "saves as much", without superwords
        assert saved("THAI", "o200k") < 0  # "costs tokens"
        assert tokens["THAI", "o200k", "superbpe, 50%, with marks"] < tokens["THAI", "o200k", "words"]
        assert saved("CJK", "cl100k") < saved("LATIN", "cl100k")  # "no more than English"
