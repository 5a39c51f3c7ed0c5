"""Superwords in a vocabulary, and what they save, compared with tokenizers that were trained without them."""

import json
import math

import pytest

from bpelab import BPEModel, BPETokenizer, Superwords
from bpelab.analysis.describe import describe
from bpelab.analysis.superwords import superword_uses, superwords, words_alone
from bpelab.cli.main import main
from bpelab.notebook import book_text
from bpelab.publishing.card import MEASURES, OF_SUPERWORDS, format_measure, measure, parse_card, write_card

TRAINED_ON, UNSEEN = book_text()[20_000:], book_text()[:20_000]
SIZE, TRANSITION = 2_000, 1_700


@pytest.fixture(scope="module")
def two_stages():
    return BPETokenizer.train(TRAINED_ON, SIZE, superwords=Superwords(transition=TRANSITION))


@pytest.fixture(scope="module")
def of_words():
    return BPETokenizer.train(TRAINED_ON, TRANSITION)


@pytest.mark.parametrize(
    ("token", "is_superword", "is_by_pattern"),
    [
        (" of the", True, True),
        (". The", True, True),
        ("a\nb", True, True),
        (" the ", False, True),  # the space is the beginning of another word, but no second word is there
        (".\n", False, False),
        ("//\n//", False, False),  # o200k_base has it as a word
        ("\u00a0 \u00a0", False, False),
        ("我。", False, True),
        ("我们", False, False),
        ("can't", False, False),
        ("\u2581of\u2581the", True, False),
    ],
)
def test_what_a_superword_is(token, is_superword, is_by_pattern):
    vocabulary = {number: bytes([number]) for number in range(256)} | {256: token.encode()}
    ours = BPETokenizer(BPEModel.from_vocab(vocabulary, []), pattern="superbpe")
    assert superwords(ours) == [256] * is_superword
    if "\u2581" not in token:
        assert superwords(ours, "o200k") == [256] * is_by_pattern
    assert superwords(ours.with_options(pattern="o200k")) == []


def test_parts_of_characters_are_no_superwords(two_stages):
    vocabulary = {number: bytes([number]) for number in range(256)} | {256: " é".encode()[:2], 257: "é a".encode()[1:]}
    assert superwords(BPETokenizer(BPEModel.from_vocab(vocabulary, []), pattern=None)) == []


def test_words_alone_are_the_tokenizer_of_the_transition_point(two_stages, of_words):
    """The first stage is an ordinary training; of its merges alone every text has the ids of that tokenizer."""
    alone = words_alone(two_stages, superwords(two_stages))
    assert alone.get_vocab() == of_words.get_vocab()
    assert alone.encode(UNSEEN) == of_words.encode(UNSEEN)
    found = superword_uses(two_stages, {"unseen": UNSEEN, "nothing": ""})
    here = found["unseen"]
    assert (here.vocabulary, here.words_vocabulary) == (SIZE, TRANSITION)
    assert here.tokens == two_stages.count_tokens(UNSEEN) < here.tokens_of_words_alone == of_words.count_tokens(UNSEEN)
    assert here.saving == 1 - here.tokens / here.tokens_of_words_alone
    tokens = two_stages.tokenize(UNSEEN)
    assert here.uses == sum(len(token.split()) > 1 for token in tokens) > 0
    assert here.superwords == sum(len(token.split()) > 1 for token in two_stages.get_vocab()) > SIZE - TRANSITION - 60
    assert here.most_words == max(len(token.split()) for token in two_stages.get_vocab())
    assert here.words_per_token == len(UNSEEN.split()) / len(tokens)
    assert math.isnan(found["nothing"].saving) and math.isnan(found["nothing"].words_per_token)


def test_words_alone_of_superwords_learned_among_words():
    """Few tokens after the first superword are superwords here, so only these are left out."""
    ours = BPETokenizer.train(TRAINED_ON[:60_000], 900, superwords=Superwords(transition=400))
    ids = superwords(ours)
    alone = words_alone(ours, ids)
    assert 0 < len(ids) == len(ours) - len(alone) < 250
    assert set(alone.get_vocab()) == {token for token in ours.get_vocab() if len(token.split()) < 2}
    assert alone.decode(alone.encode(UNSEEN)) == UNSEEN
    assert alone.count_tokens(UNSEEN) > ours.count_tokens(UNSEEN)


def test_tables_of_ranks_have_them_too(two_stages):
    ranks = BPETokenizer(BPEModel.from_ranks(two_stages.model.ids), pattern="superbpe")
    assert superword_uses(ranks, {"unseen": UNSEEN}) == superword_uses(two_stages, {"unseen": UNSEEN})


def test_without_a_list_of_merges_nothing_is_said_to_be_saved():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"of the": 256}
    orphan = BPETokenizer(BPEModel.from_ranks(ranks), pattern="superbpe")
    found = superword_uses(orphan, {"": "of the"})[""]
    assert (found.superwords, found.uses, found.words_vocabulary, found.tokens_of_words_alone) == (1, 1, None, None)
    assert math.isnan(found.saving)


def test_tokenizers_without_superwords_show_nothing_new(of_words, tmp_path, capsys):
    assert superword_uses(of_words, {"unseen": UNSEEN}) == {}
    assert not any("superword" in fact for fact in describe(of_words))
    assert list(measure(of_words, UNSEEN)) == list(MEASURES)
    of_words.save(tmp_path / "words")
    assert main(["info", str(tmp_path / "words")]) == 0
    (tmp_path / "t.txt").write_text(UNSEEN, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "words"), "--text", str(tmp_path / "t.txt"), "--out", str(page)]) == 0
    assert "uperword" not in capsys.readouterr().out + page.read_text(encoding="utf-8")


def test_info_report_and_card_show_them(two_stages, of_words, tmp_path, capsys):
    use = superword_uses(two_stages, {"": UNSEEN})[""]
    for name, tokenizer in (("super", two_stages), ("words", of_words)):
        tokenizer.save(tmp_path / name)
    assert main(["info", str(tmp_path / "super"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    words = [len(token.split()) for token in two_stages.get_vocab() if len(token.split()) > 1]
    assert (facts["superwords"], facts["superwords_share"]) == (len(words), round(len(words) / SIZE, 4))
    assert facts["words_per_superword"] == round(sum(words) / len(words), 2)
    assert main(["info", str(tmp_path / "super")]) == 0
    assert f"superwords             {len(words)}\n" in capsys.readouterr().out
    (tmp_path / "t.txt").write_text(UNSEEN, encoding="utf-8")
    page = tmp_path / "page.html"
    told = ["--text", str(tmp_path / "t.txt"), "--out", str(page), "--quiet"]
    assert main(["report", str(tmp_path / "super"), str(tmp_path / "words"), *told]) == 0
    section = page.read_text(encoding="utf-8").partition("<h2>Superwords</h2>")[2].partition("</section>")[0]
    rows = section.split("<tr>")[2:]
    assert len(rows) == 1  # one tokenizer has none
    for shown in (
        use.superwords,
        f"{use.words_vocabulary:,}",
        f"{use.tokens_of_words_alone:,}",
        f"{100 * use.saving:.1f}",
    ):
        assert str(shown) in rows[0]
    measured = measure(two_stages, UNSEEN)
    assert list(measured) == [*MEASURES, *OF_SUPERWORDS]
    assert measured["tokens saved by going over words"] == use.saving
    card = write_card("super", two_stages, measured, [], "")
    assert all(parse_card(card)[name] == format_measure(name, value) for name, value in measured.items())
