"""Post-processors against Hugging Face's, read from the same JSON: ids, type ids and the mask of special tokens."""

import json
import pickle
import random

import pytest

from bpelab import SpecialTokenError
from bpelab.postprocessors import (
    POST_PROCESSORS,
    BertProcessing,
    ByteLevel,
    ProcessorSequence,
    RobertaProcessing,
    TemplateProcessing,
    TemplateToken,
)
from bpelab.postprocessors.template import MAX_PIECES
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount

tokenizers = pytest.importorskip("tokenizers")

LETTERS = "abcdefgh"
NAMES = ("[CLS]", "[SEP]", "<s>", "a:b", "x:1", "$x", "with space", "é", ":")
SPECIAL = SpecialTokens({name: 50 + number for number, name in enumerate(NAMES)})


def theirs(data):
    """A tokenizer whose ids are the places of letters, with a post-processor from JSON; an exception if refused."""
    model = tokenizers.models.BPE({letter: number for number, letter in enumerate(LETTERS)}, [])
    file = json.loads(tokenizers.Tokenizer(model).to_str())
    file["post_processor"] = data
    return tokenizers.Tokenizer.from_str(json.dumps(file))


def to_json(ours):
    kind = next(name for name, kind in POST_PROCESSORS.items() if kind is type(ours))
    if isinstance(ours, TemplateProcessing):
        return {"type": kind, **ours.resolve_ids(SPECIAL).to_json()}
    if isinstance(ours, ProcessorSequence):
        return {"type": kind, "processors": [to_json(part) for part in ours.processors]}
    return {"type": kind, **vars(ours)}


def random_template(rng):
    def names():
        return [f"{name}:{rng.randint(0, 3)}" for name in rng.choices(NAMES, k=rng.choice((0, 0, 1, 2)))]

    def template(*texts):
        out = names()
        for text in texts:
            out += [rng.choice((text, f"{text}:0", f"{text}:{rng.randint(0, 3)}")), *names()]
        return tuple(out)

    known = {name: rng.randint(0, 999) for name in rng.sample(NAMES, rng.randint(0, 3))}
    if rng.random() < 0.4:
        known["<s>"] = TemplateToken((7, 8, 9), ("q", "r", "s"))
    pair = None if rng.random() < 0.3 else template(*rng.choice((("$A", "$B"), ("$B", "$A"))))
    return TemplateProcessing(template("$A"), pair, known)


def random_processor(rng, depth=0):
    kind = rng.random()
    if kind < 0.4:
        return random_template(rng)
    tokens = ("s", rng.randint(0, 99)), ("c", rng.randint(0, 99))
    if kind < 0.55:
        return BertProcessing(*tokens)
    if kind < 0.7:
        return RobertaProcessing(*tokens, rng.random() < 0.5, rng.random() < 0.5)
    if kind < 0.8 or depth == 3:
        return ByteLevel(rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.5)
    while True:
        try:
            return ProcessorSequence([random_processor(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 2, 3)))])
        except SpecialTokenError:
            continue


def encoded(ours, ids, pair=None):
    """(ids, type ids, mask)."""
    items = ours.items(ids, SPECIAL, pair)
    assert ours.apply(ids, SPECIAL, pair) == [number for item in items for number in item.ids]
    assert ours.added_tokens(pair is not None) == sum(len(item.ids) for item in items) - len(ids) - len(pair or ())
    return (
        [number for item in items for number in item.ids],
        [item.type_id for item in items for _ in item.ids],
        [int(item.special) for item in items for _ in item.ids],
    )


def test_fuzz():
    rng = random.Random(1)
    pairs = 0
    for _ in range(amount(2_000, 50_000)):
        ours = random_processor(rng)
        other = theirs(to_json(ours))
        for _ in range(3):
            one, two = ("".join(rng.choices(LETTERS, k=rng.choice((0, 1, 5)))) for _ in range(2))
            ids, pair = ([LETTERS.index(letter) for letter in text] for text in (one, two))
            found = other.encode(one)
            assert encoded(ours, ids) == (found.ids, found.type_ids, found.special_tokens_mask), ours
            try:
                mine = encoded(ours, ids, pair)
            except SpecialTokenError as error:
                assert "the step before it makes" in str(error)  # where Hugging Face panics
                continue
            found = other.encode(one, two)
            assert mine == (found.ids, found.type_ids, found.special_tokens_mask), ours
            pairs += 1
    assert pairs > 1_000


def test_strings_as_hugging_face_reads_them():
    """The strings of a template mean the same to both; what only we take are names that hold a colon or a $."""
    rng = random.Random(2)
    parts = ("$", "A", "B", "a", "b", "0", "1", "12", ":", "+", "-", "[SEP]", "x", "4294967295", "4294967296")
    checked = 0
    for _ in range(amount(5_000, 100_000)):
        form = "".join(rng.choices(parts, k=rng.randint(1, 4)))
        try:
            made = tokenizers.processors.TemplateProcessing(
                single=["$A", form],
                pair=["$A", "$B"],
                special_tokens=[(n, 1) for n in ("[SEP]", "x", form, form.split(":")[0])],
            )
        except ValueError:
            continue
        state = json.loads(made.__getstate__())
        data = {key: state[key] for key in ("single", "pair", "special_tokens")}
        try:
            ours = TemplateProcessing(("$A", form), ("$A", "$B"), {form.split(":")[0]: 1}).to_json()
        except SpecialTokenError as error:
            assert sum("Sequence" in piece for piece in data["single"]) > 1, (form, error)
            continue
        assert ours["single"] == data["single"], form
        checked += 1
    assert checked > 500


def test_files_round_trip():
    rng = random.Random(3)
    for _ in range(amount(500, 10_000)):
        ours = random_template(rng)
        filled = ours.resolve_ids(SPECIAL)
        again = TemplateProcessing.from_json(json.loads(json.dumps(filled.to_json())))
        assert again == filled and hash(again) == hash(filled)
        assert pickle.loads(pickle.dumps(again)) == filled
        assert again.strip_ids(SPECIAL).resolve_ids(SPECIAL) == filled
        state = json.loads(theirs(to_json(ours)).to_str())["post_processor"]
        assert TemplateProcessing.from_json(state) == filled
    plain = TemplateProcessing(("<s>", "$A"))
    assert plain.resolve_ids(SPECIAL) != plain and plain.resolve_ids(SPECIAL).strip_ids(SPECIAL) == plain
    both = ProcessorSequence((ByteLevel(), plain))
    assert both.resolve_ids(SPECIAL).strip_ids(SPECIAL) == both


def test_default_pair_is_each_text_on_its_own():
    template = TemplateProcessing(("<s>", "$A", "[SEP]"))
    assert template.pair == ("<s>", "$A", "[SEP]", "<s>", "$B", "[SEP]")
    assert template.added == 2 and template.added_tokens(pair=True) == 4


TEXT = {"Sequence": {"id": "A", "type_id": 0}}
TOKEN = {"SpecialToken": {"id": "x", "type_id": 0}}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TemplateProcessing(()), "exactly once"),
        (lambda: TemplateProcessing(("$A", "$A")), "exactly once"),
        (lambda: TemplateProcessing(("$A", "$B")), "exactly once"),
        (lambda: TemplateProcessing(5), "list of the pieces"),
        (lambda: TemplateProcessing(("$A", 5)), "is a string"),
        (lambda: TemplateProcessing(("$A", "x:4294967296")), "too large"),
        (lambda: TemplateProcessing(("$A",), ("$A", "$B", "$B")), "once each"),
        (lambda: TemplateProcessing(("$A",), special_tokens=[1]), "names to ids"),
        (lambda: TemplateProcessing(("$A",), special_tokens={"x": "y"}), "needs ids"),
        (lambda: TemplateProcessing(("$A",), special_tokens={"x": -1}), "needs ids"),
        (lambda: TemplateProcessing(("$A", *["<s>"] * MAX_PIECES)), "pieces can't be used"),
        (lambda: TemplateProcessing(("$A",), ("$A",)).apply([1], pair=[2]), "leaves out"),
        (lambda: TemplateProcessing(("$A", "nobody")).check(SPECIAL), "nobody"),
        (lambda: TemplateProcessing.from_json({}), "list of the pieces"),
        (lambda: TemplateProcessing.from_json({"single": [TEXT], "pair": "$A $B", "special_tokens": {}}), "list of"),
        (lambda: TemplateProcessing.from_json({"single": [TEXT, TOKEN], "pair": [], "special_tokens": {}}), "'x'"),
        (lambda: TemplateProcessing.from_json({"single": ["$A"], "pair": [], "special_tokens": {}}), "a piece of"),
        (
            lambda: TemplateProcessing.from_json(
                {"single": [TEXT], "pair": [], "special_tokens": {"x": {"id": "x", "ids": [1], "tokens": [2]}}}
            ),
            "needs tokens",
        ),
        (lambda: BertProcessing(("a", 1), ("b", "2")), "a token and its id"),
        (lambda: RobertaProcessing(sep="a"), "a token and its id"),
        (lambda: ProcessorSequence([ByteLevel()] * 65), "at most 64"),
        (lambda: ProcessorSequence([TemplateProcessing(("$A", "<s>", "<s>")), TemplateProcessing(("$A",))]), "makes 3"),
    ],
)
def test_refused(make, message):
    with pytest.raises(SpecialTokenError, match=message):
        make()


def test_special_token_named_like_a_text():
    piece = {"SpecialToken": {"id": "$A", "type_id": 0}}
    with pytest.raises(SpecialTokenError, match="can't be told from the text"):
        TemplateProcessing.from_json({"single": [TEXT, piece], "pair": [], "special_tokens": {}})


def test_sequences_within_sequences_end():
    nested = ProcessorSequence(())
    with pytest.raises(SpecialTokenError, match="deep"):
        for _ in range(100):
            nested = ProcessorSequence((nested,))
