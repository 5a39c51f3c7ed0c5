"""What is different in two tokenizers: planted differences are noticed, by a text as short as trying all short texts
finds, with the part that was changed as the cause; equal ones are called equal, with what that rests on."""

import json
import shutil
from itertools import product
from random import Random

import pytest

from bpelab import BPEModel, BPETokenizer, TemplateProcessing
from bpelab.comparison.models import compare_models
from bpelab.decoders import Metaspace
from bpelab.normalizers import NFC, Lowercase, NormalizerSequence, Prepend, Replace, Strip, StripAccents
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.regex.matchers import Pattern
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding
from ..model.test_early_merges import scored

LETTERS = "abc 1"
TEXTS = ["".join(chars) for size in range(5) for chars in product(LETTERS, repeat=size)]
SPLITS = [
    None, r"[ab]+|c| +|\d+", r"\w+| +", r"\w{1,2}| +", r"[abc]{1,3}|\d| ", r"\d{1,3}|\w+?(?=\d)|\w+| ?\w+",
    r" ?[a-c]+|\d+", r"a+(?!b)|\w+", "gpt2", "cl100k", "qwen2",
]  # fmt: skip
NORMALIZERS = [
    None, Lowercase(), Strip(), Prepend("a"), Replace(Pattern("String", "ab"), "c"),
    Replace(Pattern("Regex", " +"), " "), Replace(Pattern("String", "1"), "b"), StripAccents(),
]  # fmt: skip
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TEMPLATES = [
    CHATML, CHATML.replace("m.content", "m.content | trim"), CHATML.replace("<|im_end|>\n", "<|im_end|>"),
    CHATML + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    CHATML + "{{ tools and tools | tojson }}",
    CHATML.replace("for m in messages", "for m in messages if m.role != 'system'"),
    CHATML.replace("m.content", "m.content.split('</think>')[-1]"), "{{ raise_exception('no') }}",
]  # fmt: skip


def random_merges(rng):
    """Merges of short tokens over LETTERS, each made of earlier ones."""
    tokens, merges = [letter.encode() for letter in LETTERS], []
    while len(merges) < 12:
        pair = rng.choice(tokens), rng.choice(tokens)
        if len(pair[0] + pair[1]) <= 4 and pair not in merges and pair[0] + pair[1] not in tokens:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    return merges


def in_order(vocab, merges):
    return BPEModel.from_vocab(vocab, merges)


def planted(rng, kind):
    """Two tokenizers of which one part differs, though perhaps no text shows it."""
    merges = random_merges(rng)
    model = BPEModel.from_merges(merges)
    options = {"pattern": rng.choice(SPLITS), "normalizer": rng.choice([None, None, *NORMALIZERS])}
    first = BPETokenizer(model, **options)
    if kind == "pattern":
        return first, first.with_options(pattern=rng.choice(SPLITS))
    if kind == "normalizer":
        return first, first.with_options(normalizer=rng.choice(NORMALIZERS))
    if kind == "merges":
        moved = list(merges)
        at = rng.randrange(1, len(moved))
        moved.insert(rng.randrange(at), moved.pop(at))
        made = set(map(bytes, zip(range(256))))
        for left, right in moved:
            if left not in made or right not in made:
                return planted(rng, kind)
            made.add(left + right)
        first = BPETokenizer(in_order(model.tokens, merges), **options)
        return first, BPETokenizer(in_order(model.tokens, moved), **options)
    if kind == "flags":
        content, flag = rng.choice(["ab", "c1", "a c", "b"]), rng.choice(["lstrip", "rstrip", "single_word", "special"])
        tokens = (
            [SpecialTokens([AddedToken(content, 999, special=False, **more)]) for more in ({}, {flag: True})]
            if (flag != "special")
            else [SpecialTokens([AddedToken(content, 999, special=it)]) for it in (False, True)]
        )
        decoder = Metaspace()  # a file's: such tokens may have the text of ordinary ones
        return tuple(BPETokenizer(model, special_tokens=it, decoder=decoder, **options) for it in tokens)
    names = {"<|im_start|>": 900, "<|im_end|>": 901}
    one, two = rng.sample(TEMPLATES, 2)
    return tuple(
        BPETokenizer(model, special_tokens=names, metadata={"chat_template": it}, **options) for it in (one, two)
    )


def shortest_by_trying(first, second):
    """A shortest text over LETTERS that differs, or None."""
    ids = [it.encode_batch(TEXTS, allowed_special="all") for it in (first, second)]
    return next((text for text, one, two in zip(TEXTS, *ids) if one != two), None)


@pytest.mark.parametrize("kind", ["pattern", "merges", "flags", "normalizer", "chat template"])
def test_planted_differences_are_noticed(kind):
    rng, noticed, seen = Random(kind), 0, 0
    while seen < amount(40, 200):
        first, second = planted(rng, kind)
        if kind == "chat template":
            seen += 1
            found = first.diff(second)
            noticed += not found.equal and [part.part for part in found.parts] == [kind]
            continue
        expected = shortest_by_trying(first, second)
        if expected is None:
            continue
        seen += 1
        found = first.diff(second)
        assert found.text is not None and len(found.text) <= len(expected), (first, second, expected)
        assert len(found.text) == len(expected) or not set(found.text) <= set(LETTERS)
        assert first.encode(found.text, allowed_special="all") == list(found.ids)
        assert second.encode(found.text, allowed_special="all") == list(found.other_ids) != list(found.ids)
        noticed += kind in (found.parts[0].part, "pattern" if found.parts[0].part == "pre-tokenizer" else "")
    assert (seen, noticed) == (amount(40, 200),) * 2


@pytest.mark.parametrize("kind", ["pattern", "merges", "normalizer"])
def test_what_no_short_text_shows_is_not_called_different_for_nothing(kind):
    rng = Random(7)
    for _ in range(12):
        first, second = planted(rng, kind)
        found = first.diff(second)
        if found.equal:
            assert shortest_by_trying(first, second) is None
        else:
            assert first.encode(found.text) != second.encode(found.text)


def test_equal_files_are_called_equal(tmp_path):
    rng = Random(3)
    for number in range(10):
        first = planted(rng, "chat template")[0].with_options(
            pattern=rng.choice(["gpt2", "cl100k", "llama3", r"[abc]+"])
        )
        first.save(tmp_path / str(number))
        found = first.diff(BPETokenizer.from_pretrained(tmp_path / str(number)))
        assert found.equal and found.basis in ("the same parts", "proof")
        assert first.diff(first).basis == "the same parts"


def test_what_an_equal_verdict_rests_on():
    trained = BPETokenizer.train("low lower lowest 123 12 " * 9, 264)
    spelled = trained.with_options(pre_tokenizer=Split(f"(?:{PATTERNS['cl100k'].regex})"))
    found = trained.diff(spelled)
    assert found.equal and found.basis == "proof" and found.texts_tried == 0
    assert "which cut alike (proved to change no id)" in str(found)

    ranks = BPETokenizer(BPEModel.from_ranks({token: i for i, token in trained.model.tokens.items()}))
    found = trained.diff(ranks)
    assert (found.equal, found.basis) == (True, "proof")
    assert found.parts[0].part == "ignore_merges"

    sequence = NormalizerSequence((NFC(),))
    found = trained.with_options(normalizer=NFC()).diff(trained.with_options(normalizer=sequence))
    assert (found.equal, found.basis) == (True, "search")
    assert found.texts_tried > 100_000
    assert "no proof" in str(found)


def test_a_step_that_cuts_nothing_is_proved_to_be_no_matter():
    trained = BPETokenizer.train("low lower lowest 123 12 " * 9, 264)
    steps = PreTokenizerSequence((Split("cl100k"), ByteLevel(add_prefix_space=False, use_regex=False)))
    assert trained.diff(trained.with_options(pre_tokenizer=steps)).basis == "proof"


def test_merges_that_share_a_rank_are_not_a_list():
    """Of equal scores the one further left merges first, in a list always the same one: "bab" shows it."""
    table = scored({"a": 0, "b": 0, "ab": 1, "ba": 1})
    listed = BPEModel(table.tokens, {(0, 1): (0, 2), (1, 0): (1, 3)}, table.alphabet, False, table.initial_symbols)
    apart = scored({"a": 0, "b": 0, "ab": 1, "ba": 2})
    assert compare_models(apart, listed).proved_equal
    assert not compare_models(table, listed).proved_equal


def test_a_saved_cl100k_is_proved_equal(tmp_path):
    """It is saved as the published pattern that cuts once more; a token across that cut makes the difference."""
    ours = BPETokenizer.train(book_text()[:30_000], 500)
    ours.save(tmp_path)
    folder = ours.diff(BPETokenizer.from_pretrained(tmp_path))
    assert (folder.basis, [part.part for part in folder.parts]) == ("proof", ["decoder"])
    alone = tmp_path / "alone"  # without the pattern's own name, which tokenizer_config.json keeps
    alone.mkdir()
    file = ours.diff(BPETokenizer.from_pretrained(shutil.copy(tmp_path / "tokenizer.json", alone)))
    assert file.basis == "proof"
    assert "no token lies across that cut" in str(file)
    across = BPETokenizer(BPEModel.from_merges([(b"\n", b" ")]))
    assert across.diff(across.with_options(pattern="llama3")).text == "\n "


def test_byte_level_without_a_pattern_is_proved_to_be_no_matter():
    trained = BPETokenizer.train("low lower " * 9, 262, pattern=None)
    found = trained.diff(trained.with_options(pre_tokenizer=ByteLevel(add_prefix_space=False, use_regex=False)))
    assert (found.basis, found.parts[0].part) == ("proof", "pre-tokenizer")
    found = trained.diff(trained.with_options(pre_tokenizer=ByteLevel(add_prefix_space=True, use_regex=False)))
    assert not found.equal


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(TypeError, match="diff compares with another tokenizer, not str: open it first"):
        BPETokenizer.train("low low", 258).diff("gpt2")


def test_several_differences_have_a_text_each():
    first = BPETokenizer.train("low lower lowest 123 12 " * 9, 264)
    second = first.with_options(pattern="qwen2", normalizer=Lowercase())
    found = first.diff(second)
    assert [part.part for part in found.parts] == ["normalizer", "pattern"]
    assert [part.matters for part in found.parts] == [True, True]
    assert found.text == found.parts[0].text and found.text.isupper() and found.parts[1].text == "12"
    assert found.cause.startswith("normalizer: none and Lowercase()")


def test_differences_that_cancel_are_no_difference():
    first = BPETokenizer(
        BPEModel.from_merges([(b"a", b"b")]), pattern=r"\w+", normalizer=Replace(Pattern("String", "x"), "y")
    )
    second = first.with_options(normalizer=NormalizerSequence((first.spec.normalizer,)), pattern=r"\w+?(?!\w)")
    found = first.diff(second)
    assert found.equal and found.basis == "search"
    assert [part.matters for part in found.parts] == [None, False]


def test_how_often_it_bites():
    first = BPETokenizer.train("low lower lowest 123 12 " * 9, 264)
    found = first.diff(first.with_options(pattern="qwen2"), corpus=["low", "12", "lower", "1 2", "123"])
    assert (found.differing_lines, found.lines) == (2, 5)
    assert "2 of 5 lines have different ids (40.00%)" in str(found)


def test_what_is_no_matter_of_a_text():
    names = ["<s>", "</s>"]
    first = BPETokenizer.train("low low", 259, special_tokens=names, eos_token="</s>")
    found = first.diff(first.with_options(eos_token="<s>", bos_token="<s>", dropout=0.1))
    assert [str(part) for part in found.parts] == [
        "special roles: bos_token is None and '<s>'",
        "special roles: eos_token is '</s>' and '<s>'",
        "dropout: None and 0.1",
    ]
    assert found.text is None and not found.equal and found.basis == "example"
    found = first.diff(first.with_options(decoder=Metaspace()))
    assert found.parts[0].part == "decoder" and found.parts[0].matters
    post = TemplateProcessing("<s> $0")
    found = first.diff(first.with_options(post_processor=post))
    assert (found.text, found.other_ids, found.parts[0].part) == ("", (first.token_to_id("<s>"),), "post-processor")


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "LlamaTokenizerFast", "RobertaTokenizer"])
def test_what_transformers_5_makes_of_a_file(tmp_path, name):
    """Its class for the name in the config brings a pre-tokenizer of its own, as with Granite and DeepSeek."""
    transformers = pytest.importorskip("transformers")
    ours = BPETokenizer.train(book_text()[:30_000], 600, special_tokens=["<|endoftext|>"])
    ours.save(tmp_path)
    before, made = tmp_path / "tokenizer.json", tmp_path / "made.json"
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    theirs.backend_tokenizer.save(str(made))
    if len({str(json.loads(file.read_text("utf-8"))["pre_tokenizer"]) for file in (before, made)}) == 1:
        pytest.skip(f"transformers {transformers.__version__} keeps the file's pre-tokenizer")
    found = ours.diff(BPETokenizer.from_pretrained(made))
    assert {"pattern", "pre-tokenizer"} & {part.part for part in found.parts if part.matters}
    assert ours.encode(found.text) == list(found.ids) != list(found.other_ids) == theirs.encode(found.text)


def test_published_encodings():
    gpt2, r50k, p50k = map(BPETokenizer.from_tiktoken, ["gpt2", "r50k_base", "p50k_base"] if encoding("gpt2") else [])
    assert gpt2.diff(r50k).basis in ("the same parts", "proof")
    found = gpt2.diff(p50k)
    assert found.text == "  " and found.cause.startswith("vocabulary: 24 ids have different tokens")
