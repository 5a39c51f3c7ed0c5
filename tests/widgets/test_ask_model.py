"""The figure that asks the shipped model: its answer is a session's, and other tokenizers' ids are what they are."""

from base64 import b64encode
from functools import lru_cache
from html import escape
from types import SimpleNamespace

import pytest

from bpelab import BPETokenizer
from bpelab._support.install import install_command
from bpelab.chat import ChatSession
from bpelab.chat.backends import close_backends
from bpelab.constraints import Constraint
from bpelab.errors import BPELabError
from bpelab.notebook import book_text

from .test_language_model import TINY

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import AskModel
from bpelab.widgets.sphinx import write_assets

LETTERS = 'How many r are in "strawberry"?'


@pytest.fixture(autouse=True)
def closed():
    yield
    close_backends()


@lru_cache(1)
def other() -> BPETokenizer:
    """As many tokens as the model has, learned from another text."""
    own = ChatSession().tokenizer
    return BPETokenizer.train(book_text()[:60_000], own.n_vocab, special_tokens=[*own.special_tokens])


def test_the_still_says_what_a_session_says():
    session = ChatSession(backend="reference")
    asked = session.ask(LETTERS)
    figure = AskModel(LETTERS)
    assert figure.data["say"] == (
        f"The model is given {asked.prompt_tokens} numbers, and says “{asked.text.replace(' ', '·')}”."
    )
    assert asked.text.replace(" ", "·") in figure.static_html()
    session = ChatSession(backend="reference", tokenizer=other(), max_new_tokens=64)
    ids = session.ask(LETTERS).ids
    said = ChatSession().tokenizer.decode(ids).replace(" ", "·").replace("\n", "⏎")
    assert escape(said) in AskModel(LETTERS, {"another": other()}).static_html()


def test_tokenizers_whose_control_tokens_are_others_are_refused():
    with pytest.raises(BPELabError, match="its control tokens are not the model's"):
        AskModel(LETTERS, {"none": BPETokenizer.train("low " * 9, 257)})


def test_constraints_that_are_for_another_tokenizer_are_refused():
    constraint = Constraint.choices(other(), ["Yes."])
    with pytest.raises(BPELabError, match="yes: the constraint is for another tokenizer"):
        AskModel(LETTERS, constraints={"yes": constraint})
    with pytest.raises(BPELabError, match="go without others"):
        AskModel(LETTERS, constraints={"yes": constraint}, own_file=True)


def test_a_kernel_sends_the_weights_when_they_are_asked_for(monkeypatch):
    figure, sent = AskModel("Hi", max_new_tokens=1), []
    monkeypatch.setattr(figure, "send", lambda *message: sent.append(message))
    figure._on_message(figure, {"kind": "else"}, [])
    assert sent == []
    figure._on_message(figure, {"kind": "weights"}, [])
    assert sent == [({"kind": "weights"}, [(TINY / "model.safetensors").read_bytes()])]


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page on a disk with a figure; what it loaded is `asked`."""
    write_assets(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path))
    pages, problems, asked = [], [], []

    def open_page(figure: AskModel):
        style = '<meta charset="utf-8"><link rel="stylesheet" href="_static/bpelab-figures.css">'
        script = '<script defer src="_static/bpelab-figures.js"></script>'
        (tmp_path / "page.html").write_text(f"<!doctype html>{style}{figure.static_html()}{script}", encoding="utf-8")
        page = browser.new_page()
        pages.append(page)
        page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
        return page, asked

    yield open_page
    for page in pages:
        page.close()
    assert problems == []


def ids(page) -> list[int]:
    return [int(text) for text in page.locator(".bl-cell .bl-id").all_inner_texts()]


def prompt(text: str, tokenizer: BPETokenizer | None = None) -> list[int]:
    own = ChatSession().tokenizer
    message, template = [{"role": "user", "content": text}], own.spec.metadata["chat_template"]
    return (tokenizer or own).apply_chat_template(message, template, add_generation_prompt=True)


def said(page) -> str:
    """The answer, once it is over."""
    page.wait_for_function("document.querySelector('.bl-say').textContent !== ''", timeout=0)
    return page.locator(".bl-flow").inner_text().replace("·", " ")


@pytest.mark.slow
def test_a_reader_asks_about_letters(open_page):
    page, asked = open_page(AskModel(LETTERS))
    assert "bpelab-weights.js" not in asked and ids(page) == []
    page.get_by_role("button", name="Ask it").click()
    assert said(page) == ChatSession(backend="reference").ask(LETTERS).text
    assert ids(page) == prompt(LETTERS)
    word = ChatSession().tokenizer.encode("strawberry")
    marked = page.locator(".bl-cell.bl-here .bl-id").all_inner_texts()
    assert [*map(int, marked)] == word
    verdict = page.locator(".bl-say").inner_text()
    assert verdict.startswith("There are 3. Of “strawberry” the model was given 5 numbers, ")
    assert " ".join(map(str, word)) in verdict
    assert asked.count("bpelab-weights.js") == 1

    area = page.get_by_label("A question for the model")
    for question, begin in (
        ("How many t are in tree?", "That is right. Of “tree” "),
        ("What is a token?", "It was given 15 numbers, and no letter."),
    ):
        area.fill(question)
        area.press("Enter")
        assert said(page) == ChatSession(backend="reference").ask(question).text
        assert page.locator(".bl-say").inner_text().startswith(begin)


@pytest.mark.slow
def test_answers_under_a_constraint(open_page):
    """Each is that of a session, and the page says whether the tokenizer makes the same ids of it."""
    question, session = "What is a merge?", ChatSession(backend="reference", max_new_tokens=64)
    texts = ["The answer: a merge.", "The answer: a token.", 'The answer: "naïve".']
    constraints = {
        "any spelling": Constraint.choices(session.tokenizer, texts, canonical=False),
        "in canonical ids": Constraint.choices(session.tokenizer, texts),
        "an end": Constraint.regex(session.tokenizer, "[0-9]{3}|[0-9]"),
    }
    page, _ = open_page(AskModel(question, constraints=constraints))
    verdicts = []
    for title, constraint in constraints.items():
        page.get_by_label(title).check()
        answer = session.ask(question, constraint=constraint)
        session.reset()
        assert said(page) == answer.text
        own = session.tokenizer.encode(answer.text)
        same = "the same" if own == [*answer.ids] else len(own)
        verdicts.append(page.locator(".bl-say").inner_text())
        noun = "token" if len(answer.ids) == 1 else "tokens"
        assert verdicts[-1] == f"{len(answer.ids)} {noun}. The tokenizer makes {same} of this text."
    assert "the same" not in verdicts[0] and "the same" in verdicts[1]
    page.get_by_label("any text").check()
    assert said(page) == session.ask(question).text


@pytest.mark.slow
def test_another_tokenizer_and_files_of_the_reader(open_page, tmp_path):
    question, own = "What is a token?", ChatSession().tokenizer
    page, _ = open_page(AskModel(question, {"another": other()}, own_file=True))
    page.get_by_label("another").check()
    answer = ChatSession(backend="reference", tokenizer=other(), max_new_tokens=64).ask(question)
    assert said(page) == own.decode(answer.ids).replace("\n", "⏎")
    assert ids(page) == prompt(question, other())
    assert "takes each id for its own token of that number" in page.locator(".bl-say").inner_text()
    meant = page.locator(".bl-meant").all_inner_texts()
    assert meant[4].replace("·", " ") == own.decode([ids(page)[4]])

    ranks = tmp_path / "mine.tiktoken"
    ranks.write_bytes(b"".join(b64encode(token) + b" %d\n" % number for token, number in own.model.ids.items()))
    page.get_by_label("A tokenizer file of yours").set_input_files(ranks)
    page.get_by_text("These are the ids of the model's own tokenizer").wait_for(timeout=0)
    assert ids(page) == prompt(question)
    assert page.get_by_label("mine.tiktoken").is_checked()

    larger = BPETokenizer.train(book_text()[:200_000], 3000)
    larger.save(tmp_path / "large")
    page.get_by_label("A tokenizer file of yours").set_input_files(tmp_path / "large" / "tokenizer.json")
    page.get_by_text("it can't be asked").wait_for(timeout=0)
    text = larger.encode(f"user\n{question}")
    assert ids(page)[1 : 1 + len(text)] == text
    assert page.get_by_text("no row").count() == sum(token >= 1024 for token in ids(page)) > 0

    (tmp_path / "broken.json").write_text("{")
    page.get_by_label("A tokenizer file of yours").set_input_files(tmp_path / "broken.json")
    page.get_by_text("broken.json: This is not JSON").wait_for(timeout=0)
