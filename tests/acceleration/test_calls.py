"""Calls of an accelerated tokenizer: equal in all that can be asked of them to those of the original."""

import json
import random

import pytest

from bpelab.errors import BPELabError
from bpelab.notebook import book_text

from ..conftest import SHARED, amount, needs_extension, shared
from ..formats import random_zoo
from ..formats.families import families
from .twins import Twins, asks, inputs

needs_extension()
HOSTILE = [
    "", "\0", "a\0b", "\ud800", "a\udc00b \ud83d\ude00", "é" * 2_000, "\u0301" * 300, " " * 5_000, "a" * 20_000,
    "\U0010ffff\uffff", "<|endoftext|" * 9, "\r\n \r\n", "ΑΣ\u0345", "👩‍👩‍👧🇺🇸" * 40,
]  # fmt: skip
SERVED = ["gpt2", "llama-2", "llama-3", "qwen-2", "roberta", "gemma"]


def all_that_is_asked(pair: Twins, rng: random.Random, count: int) -> None:
    names = [token.content for token in pair.plain.added_tokens_decoder.values()]
    for number in range(count):
        given, options = inputs(rng, names), asks(rng)
        pair.same(lambda t, given=given, options=options: t(**given, **options), number, given, options)
        given.pop("return_tensors", None)
        options = {key: value for key, value in options.items() if key != "return_length"}
        pair.same(lambda t, given=given, options=options: t.encode(**given, **options), number, given, options)


def named(name: str, **options: object) -> Twins:
    data = families()[name]
    names = [token["content"] for token in data["added_tokens"]]
    return Twins(data, **({"pad_token": names[-1]} if names else {}), **options)


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("sides", [{}, {"padding_side": "left", "truncation_side": "left", "model_max_length": 9}])
def test_whatever_is_asked(name, sides):
    all_that_is_asked(named(name, **sides), random.Random(name), amount(60, 5_000))


@pytest.mark.parametrize("name", SERVED)
def test_hostile_texts(name):
    pair = named(name)
    for text in HOSTILE:
        pair.same(lambda t, text=text: t(text), text)
    pair.same(lambda t: t([text for text in HOSTILE if text.isprintable()]))
    pair.same(lambda t: t(HOSTILE))
    for options in ({}, {"pair": "a pair"}, {"add_special_tokens": True}, {"truncation": True, "max_length": 2}):
        pair.same(lambda t, options=options: t.tokenize("The harbour<s></s><|endoftext|>", **options), options)
    assert len(pair.same(lambda t: t.encode(book_text()[:100_000]))[0][1]) > 20_000


def test_files_drawn_at_random():
    """Any parts and any merges, in tokenizers that are served and in those that are not."""
    served = 0
    for seed in range(amount(40, 3_000)):
        rng, data = random.Random(seed), random_zoo.draw(seed)
        try:
            pair = Twins(data)
        except BPELabError:
            continue
        served += 1
        names = [token["content"] for token in data["added_tokens"]]
        for text in random_zoo.texts(rng, data, 6):
            pair.same(lambda t, text=text: t(text, return_special_tokens_mask=True), seed, text)
        all_that_is_asked(pair, rng, 6)
        ids = [rng.randrange(len(pair.plain) + 3) for _ in range(40)]
        for skip in (False, True):
            pair.same(lambda t, ids=ids, skip=skip: t.decode(ids, skip_special_tokens=skip), seed, ids, names)
    assert served > amount(40, 3_000) / 4


def listed() -> list[object]:
    """The tokenizers of the kit; the largest is slow to open."""
    found = sorted(path.parent.name for path in (SHARED / "conformance" / "tokenizers").glob("*/tokenizer.json"))
    return [
        pytest.param(name, marks=pytest.mark.slow) if name == "qwen2.5" else name
        for name in found or ["(the kit is not here)"]
    ]


@pytest.mark.parametrize("name", listed())
def test_the_texts_of_the_kit(name):
    folder = shared("conformance")
    pair = Twins(folder / "tokenizers" / name / "tokenizer.json")
    cases = map(json.loads, (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines())
    texts = [case["text"] for case in cases if "text" in case]
    assert len(texts) > 40
    for text in texts:
        ids = pair.same(lambda t, text=text: t(text), text)[0][1][0]
        assert ids[0] == "input_ids"
    pair.same(lambda t: t(texts, return_tensors="np"))
    pair.same(lambda t: t(texts, truncation=True, max_length=7, return_special_tokens_mask=True))
    for row in pair.plain(texts)["input_ids"]:
        pair.same(lambda t, row=row: t.decode(row, skip_special_tokens=True), row)
        pair.same(lambda t, row=row: t.decode(row * 9), row)
    all_that_is_asked(pair, random.Random(name), amount(20, 2_000))


def test_a_chat():
    pair = named("qwen-2")
    template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    chat = [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "Two."}]
    pair.same(lambda t: t.apply_chat_template(chat, chat_template=template, return_dict=True))
