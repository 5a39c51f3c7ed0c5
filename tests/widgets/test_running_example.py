"""The picture that grows from chapter to chapter."""

from html import escape
from itertools import chain

import pytest

from bpelab.widgets import RunningExample
from bpelab.widgets.running_example import CHAPTERS, GPT4_IDS, MERGES, NEW_TEXT, PIECE, TEXT, example_tokenizer

from ..conftest import ROOT


def test_it_grows_by_the_rows_of_each_chapter():
    shown = [RunningExample(chapter).rows for chapter in CHAPTERS]
    for before, after in zip(shown, shown[1:]):
        assert [row[1:] for row in before] == [row[1:] for row in after[: len(before)]]
        assert [new for new, *_ in after] == [False] * len(before) + [True] * (len(after) - len(before))
        assert len(after) > len(before)


def test_the_words_teach_no_more_merges():
    with pytest.warns(UserWarning, match="stopped at 261 tokens"):
        assert len(type(example_tokenizer()).train(TEXT, 300, progress=False).model.merges) == MERGES


def test_the_rows_agree():
    """The pieces, their tokens and their ids are of one text; the heap and the trie make its last piece's tokens."""
    tokenizer, rows = example_tokenizer(), {label: groups for _, label, groups in RunningExample("trie").rows}
    tokens = rows[f'tokens of "{NEW_TEXT}"']
    assert "".join(chain(*tokens)).replace("\u2423", " ") == NEW_TEXT
    assert [["".join(group)] for group in tokens] == rows["its pieces, cut first"]
    assert [int(token_id) for token_id in chain(*rows["their ids"])] == tokenizer.encode(NEW_TEXT)
    assert list(chain(*rows["a trie takes, for \u2423hat"])) == tokens[-1]
    merged = rows["a heap merges, for \u2423hat"]
    assert all(merge in rows["merges that they teach"] for merge in merged)
    assert len(PIECE) - len(merged) == len(tokens[-1])


def test_the_ids_of_gpt_4():
    tiktoken = pytest.importorskip("tiktoken")
    try:
        encoding = tiktoken.get_encoding("cl100k_base")
    except OSError:
        pytest.skip("the vocabulary of cl100k_base isn't here, and can't be fetched")
    assert encoding.encode(NEW_TEXT) == list(GPT4_IDS)


def test_html_has_the_same_words():
    example = RunningExample("trie")
    html = example._repr_html_()
    for _, label, groups in example.rows:
        for words in (label, *chain(*groups)):
            assert escape(words) in html


def test_a_chapter_without_a_row():
    with pytest.raises(ValueError, match=r"no row .* is of 'chat'; chapters with one: start, training"):
        RunningExample("chat")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_shows_it(chapter):
    page = (ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert f'RunningExample(\\"{chapter}\\")' in page
