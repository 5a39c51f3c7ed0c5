"""The shipped model as a figure: it records what the page computes, and a reader asks it and chooses its tokens."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from bpelab._support.install import install_command
from bpelab.chat import ChatSession
from bpelab.chat.backends import close_backends, open_backend
from bpelab.chat.models.find import find_model

from .test_language_model import TINY, node

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import ModelView
from bpelab.widgets.model_view import trace
from bpelab.widgets.sphinx import write_assets

QUESTION = "What comes after 41?"


@pytest.fixture(autouse=True)
def closed():
    yield
    close_backends()


def test_it_shows_the_answer_of_a_session():
    data, answer = ModelView(QUESTION).data, ChatSession(backend="reference").ask(QUESTION)
    assert tuple(data["ids"][data["asked"] :]) == answer.ids
    assert data["asked"] == answer.prompt_tokens
    assert data["say"] == "The model answers with 5 tokens: “After·4·comes·5.”."


def test_a_trace_is_the_forward_pass_and_leaves_no_recorder_behind():
    model, ids = open_backend("reference", find_model()), [311, 387, 470, 383]
    steps = trace(model, ids)
    assert model.record is None
    for size, (shares, rows, weights) in enumerate(steps, 1):
        logits = model.next_logits(ids[:size])
        powers = np.exp(logits - logits.max())
        np.testing.assert_allclose(shares, powers / powers.sum(), atol=1e-6)
        np.testing.assert_array_equal(rows[0], model.weights.embedding[ids[size - 1]])
        assert [one.shape for one in weights] == [(4, size)] * 5
        np.testing.assert_allclose(np.sum(weights, axis=-1), 1, atol=1e-5)
        last = rows[-1] / np.sqrt(np.mean(rows[-1] ** 2) + 1e-5) * model.weights.norm
        np.testing.assert_allclose(last @ model.weights.head, logits, atol=1e-3)


def test_the_page_computes_what_was_recorded():
    """Rows, attention and probabilities: the library's, packed and unpacked, and computed in JavaScript."""
    data = ModelView(QUESTION).data
    script = """
    const { readFileSync } = require("node:fs");
    const { folder, data } = JSON.parse(readFileSync(0, "utf8"));
    const language = makeLanguageModel(data.config, readSafetensors(readFileSync(`${folder}/model.safetensors`)));
    const plain = ({ id, best, rows, attention }) =>
      ({ id, best, rows: rows.map((row) => [...row]), attention: attention.map((all) => all.map((one) => [...one])) });
    const computed = data.ids.map((id) => computedStep(language, id, 8));
    console.log(JSON.stringify([recordedSteps(data), computed].map((all) => all.map(plain))));
    """
    recorded, computed = json.loads(node(script, {"folder": str(TINY), "data": data}))
    steps = trace(open_backend("reference", find_model()), data["ids"])
    assert len(recorded) == len(computed) == len(steps)
    for old, new, (shares, rows, weights) in zip(recorded, computed, steps):
        assert old["id"] == new["id"]
        np.testing.assert_allclose(new["rows"], rows, atol=1e-4)
        np.testing.assert_allclose(new["attention"], weights, atol=1e-4)
        np.testing.assert_allclose(old["attention"], weights, atol=1 / 500)
        for small, row in zip(old["rows"], rows):
            np.testing.assert_allclose(np.array(small) / 127, row / abs(row).max(), atol=1 / 250)
        for (token, share), (other, exact) in zip(old["best"], new["best"]):
            assert abs(share - exact) < 1e-3 and abs(shares[token] - exact) < 1e-3
            assert share < 1e-3 or token == other


def test_a_kernel_sends_the_weights_when_they_are_asked_for(monkeypatch):
    view, sent = ModelView("Hi", max_new_tokens=1), []
    monkeypatch.setattr(view, "send", lambda *message: sent.append(message))
    view._on_message(view, {"kind": "else"}, [])
    view._on_message(view, "weights", [])
    assert sent == []
    view._on_message(view, {"kind": "weights"}, [])
    assert sent == [({"kind": "weights"}, [(TINY / "model.safetensors").read_bytes()])]


@pytest.fixture
def page(browser, tmp_path):
    """A page on a disk with the figure, and what it loaded."""
    write_assets(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path))
    style = '<link rel="stylesheet" href="_static/bpelab-figures.css">'
    figure = ModelView(QUESTION).static_html()
    script = '<script defer src="_static/bpelab-figures.js"></script>'
    (tmp_path / "page.html").write_text(f"<!doctype html>{style}{figure}{script}", encoding="utf-8")
    page, asked, problems = browser.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
    yield page, asked
    page.close()
    assert problems == []


def ids(page) -> list[int]:
    return [int(text) for text in page.locator(".bl-cell .bl-id").all_inner_texts()]


def wait_for_answer(page, wanted: list[int]):
    page.wait_for_function(
        """(wanted) => {
            const ids = [...document.querySelectorAll(".bl-cell .bl-id")];
            return ids.map((id) => id.textContent).join() === wanted;
        }""",
        arg=",".join(map(str, wanted)),
        timeout=0,
    )


def prompt(text: str) -> list[int]:
    return ChatSession().tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True)


@pytest.mark.slow
def test_a_reader_asks_and_chooses_another_token(page):
    page, asked = page
    recorded = ids(page)
    assert recorded == ModelView(QUESTION).data["ids"]
    assert "bpelab-weights.js" not in asked, "nothing is loaded before it is asked for"
    before = page.locator(".bl-say").inner_text()
    page.get_by_role("button", name="Next").click()
    assert page.locator(".bl-say").inner_text() != before

    session, area = ChatSession(backend="reference"), page.get_by_label("A question for the model")
    for text in ('Spell "harbour".', "<|im_end|>\n<|im_start|>system", "日本 é😀 don't", "a\u200b  b\n\n"):
        area.fill(text)
        page.get_by_role("button", name="Ask", exact=True).click()
        session.reset()
        wait_for_answer(page, [*prompt(text), *session.ask(text).ids[:64]])
    assert asked.count("bpelab-weights.js") == 1

    page.get_by_role("button", name=QUESTION).click()
    wait_for_answer(page, recorded)
    slider, choices = page.locator(".bl-controls input"), page.locator(".bl-pick")
    slider.fill(str(len(prompt(QUESTION)) - 1))
    other = int(choices.nth(1).get_attribute("title").split()[1].strip(":"))
    choices.nth(1).click()
    model = open_backend("reference", find_model())
    row = [*prompt(QUESTION), other]
    while (best := int(model.next_logits(row).argmax())) != 1023 and len(row) < len(prompt(QUESTION)) + 60:
        row.append(best)
    wait_for_answer(page, row)
    assert page.locator(".bl-say").inner_text().startswith(f"Token {len(prompt(QUESTION)) + 1} of ")
    given = page.locator(".bl-cells").first.locator(".bl-cell")
    assert given.count() == len(prompt(QUESTION))  # what the reader chose is part of the answer
    slider.fill(str(len(row) - 1))
    choices.first.click()
    page.get_by_text("The model runs in this page.").wait_for(timeout=0)
    assert given.count() == len(prompt(QUESTION))


@pytest.mark.slow
def test_without_the_weights_a_sentence_says_so(browser, tmp_path):
    write_assets(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path))
    (tmp_path / "_static" / "bpelab-weights.js").unlink()
    script = '<script defer src="_static/bpelab-figures.js"></script>'
    figure = ModelView(QUESTION, max_new_tokens=2).static_html()
    (tmp_path / "page.html").write_text(f"<!doctype html>{figure}{script}", encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("The model's weights can't be loaded from beside this page.").wait_for(timeout=0)
    assert page.locator(".bl-cell").count() == len(prompt(QUESTION)) + 2  # the recording stays
    page.close()
