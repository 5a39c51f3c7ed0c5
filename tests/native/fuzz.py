"""Random models and texts encoded, and trainings, in C and in Python: `python -m tests.native.fuzz SEED ROUNDS`.

A file of its own, so that it also runs on an extension that was built with sanitizers: see `sanitized.py`.
"""

import json
import random
import sys
import tempfile
from array import array
from pathlib import Path

from bpelab import BPELabError, BPEModel, BPETokenizer, native
from bpelab._support.textio import valid_text
from bpelab.native.plan import preparation, split_steps_for
from bpelab.pretokenizers.char_types import BertPreTokenizer, Digits, Punctuation, Whitespace, WhitespaceSplit
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.pretokenizers.split import Split
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.matchers import Pattern
from bpelab.trainers.counting.corpus import count_pre_tokens
from bpelab.trainers.counting.native import NativeCounter, count_native
from bpelab.trainers.counting.pre_token_counts import PreTokenCounts
from bpelab.trainers.incremental import train_incremental
from bpelab.trainers.native import train_native
from bpelab.trainers.superwords import Superwords
from bpelab.trainers.superwords.learner import learn_superwords
from bpelab.trainers.superwords.native_phrases import NativePhrases
from bpelab.trainers.superwords.python_phrases import PythonPhrases
from bpelab.vocab.special_tokens import SpecialTokens

from .. import superword_vocabularies
from ..boundaries import test_from_vocabulary
from ..conftest import fuzz_text, random_merges, random_ranks
from ..formats import random_zoo
from ..model.test_initial_symbols import random_file as random_initial_symbols
from . import sanitized  # noqa: F401 - loads the extension in BPELAB_CORE
from .model_files import files_round, merges_round

PATTERNS = (
    "gpt2",
    "cl100k",
    "o200k",
    "llama3",
    "qwen2",
    None,
    r"\S+|\s+",
    "a+b|.",
    "[a-c]+",
    r"\w+|[^\w\s]+|\s+",
    "(?:a*b|a)",
)
ALPHABETS = (b"ab", b"abc ", bytes(range(97, 110)) + b" \n", "aé日\U0001f600 ".encode(), bytes(range(256)))


def random_model(rng):
    alphabet, size = rng.choice(ALPHABETS), rng.randint(0, 200)
    if rng.random() < 0.5:
        return BPEModel.from_ranks(random_ranks(rng, alphabet, size), ignore_merges=rng.random() < 0.6)
    model = BPEModel.from_merges(random_merges(rng, alphabet, size), ignore_merges=rng.random() < 0.3)
    if rng.random() < 0.5:
        return model
    new = rng.sample(range(5_000), len(model.tokens))  # ids that aren't the tokens' indices
    ids = dict(zip(model.tokens, new))
    return BPEModel(
        {ids[n]: token for n, token in model.tokens.items()},
        {(ids[a], ids[b]): (rank, ids[c]) for (a, b), (rank, c) in model.merges.items()},
        {symbol: ids[n] for symbol, n in model.alphabet.items()},
        model.ignore_merges,
    )


def random_text(rng):
    text = valid_text(fuzz_text(rng))
    if rng.random() < 0.4:
        text = "".join(rng.choices("abc é日\n", k=rng.randint(0, 300)))
    if rng.random() < 0.15:  # long enough for four readers: words, now and then something else
        words = [
            "low",
            "Lower",
            "newest",
            "  ",
            "\n\n",
            "    x",
            "'s",
            "it's",
            "1234",
            "日本",
            "é",
            "!?",
            "\t",
            "ab" * 9,
            text,
        ]
        return "".join(
            rng.choices([" ", "", "\n", "  "])[0] + rng.choice(words) for _ in range(rng.randint(500, 2_000))
        )
    return text * rng.randint(1, 200) if rng.random() < 0.05 else text


STEPS = (
    Digits(), Digits(True), Whitespace(), WhitespaceSplit(), BertPreTokenizer(), Metaspace(), Metaspace("é", "first"),
    *map(Punctuation, ("Isolated", "Removed", "MergedWithNext", "Contiguous")),
    *map(Split, ("gpt2", "a+b|.", "(?:a*b|a)", "[a-c]+")), Split("[a-c]+", "Removed"), Split("[a-c]+", "Removed", True),
    SplitPattern(Pattern("String", "a"), "MergedWithPrevious"), SplitPattern(Pattern("String", "ab"), "Removed"),
)  # fmt: skip


def compare(python, in_c, texts):
    """Compare the encoder in C with a tokenizer; returns how many texts needed too much look-ahead for C."""
    exceeded, prepare = 0, preparation(python.spec.pre_tokenizer)
    for text in texts:
        expected = python.encode(text)
        prepared = text if prepare is None else prepare(text, True)
        found = in_c.encode(prepared)
        if found is None:
            exceeded += 1
            continue
        assert found == expected, (python, text[:300])
        assert array("I", bytes(in_c.encode_array(prepared))).tolist() == expected
    prepared = [text if prepare is None else prepare(text, True) for text in texts]
    if (several := in_c.encode_texts(prepared)) is not None:
        assert in_c.lists(*several) == [python.encode(text) for text in texts]
    return exceeded


def of_bytes(rng):
    """Compare one byte-level model and one pattern on some texts."""
    model, pattern = random_model(rng), rng.choice(PATTERNS)
    split = None if pattern is None else Split(pattern)
    python = BPETokenizer(model, pattern=pattern, encoder="heap")
    in_c = native.encoder_for(model, split)
    assert in_c is not None, pattern
    texts = [random_text(rng) for _ in range(10)]
    if rng.random() < 0.5:  # as in a process that finds the tables in a file
        in_c = type(in_c).from_tables(in_c.tables(), split_steps_for(split, model))
    for text in texts:
        data = text.encode()[: rng.randint(0, 300)]
        assert in_c.encode_piece(data) == python.encode_piece(data), (data, model)
    ids = python.encode(texts[0])
    joined = native.decoder_for(model.tokens).join(ids)
    assert joined == python.decode_bytes(ids)
    return compare(python, in_c, texts)


def of_superwords(rng):
    """Compare a vocabulary that is encoded in two stages."""
    model, split = next(superword_vocabularies.models(rng, 1)), Split(rng.choice(("superbpe", "[0-9]+| of", r"\n")))
    python = BPETokenizer(model, pattern=split.name or split.pattern, encoder="heap")
    in_c = native.encoder_for(model, split)
    if in_c.words is not None and rng.random() < 0.5:
        in_c = type(in_c).from_tables(in_c.tables(), split_steps_for(split, model), in_c.words)
    texts = [superword_vocabularies.random_text(rng).encode("utf-8", "replace").decode() for _ in range(6)]
    return compare(python, in_c, texts)


def of_levels(rng):
    """Compare several steps, some of which drop pieces."""
    step, model = PreTokenizerSequence(rng.choices(STEPS, k=rng.randint(1, 4))), random_model(rng)
    in_c = native.encoder_for(model, step)
    if in_c is None:  # a Metaspace that isn't the first step
        return 0
    python = BPETokenizer(model, pattern=None, pre_tokenizer=step, encoder="heap")
    return compare(python, in_c, [random_text(rng) for _ in range(6)])


def of_files(rng):
    """Compare a tokenizer.json of any parts: symbols missing, marked, fused, spelled in bytes; `▁` anywhere."""
    seed, letters = rng.randrange(1 << 30), test_from_vocabulary.LETTERS + "abcé😀 zŋ"
    draw = rng.choice(
        (
            random_zoo.draw,
            *(
                lambda seed, of=of: of(random.Random(seed))
                for of in (random_initial_symbols, test_from_vocabulary.random_file)
            ),
        )
    )
    data = draw(seed)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
        try:
            python = BPETokenizer.from_pretrained(folder, encoder="heap")
        except BPELabError:
            return 0
    in_c = python.with_options(encoder="native")
    texts = ["".join(rng.choices(letters, k=rng.choice((0, 1, 5, 14, 60, 200, 5_000)))) for _ in range(6)]
    for text in [*texts, *(fuzz_text(rng) for _ in range(4))]:
        try:
            expected = python.encode(text, allowed_special="all", add_special_tokens=False)
        except BPELabError:
            continue
        assert in_c.encode(text, allowed_special="all", add_special_tokens=False) == expected, (seed, text, data)
        assert in_c.encode_array(text, allowed_special="all").tolist() == expected, (seed, text, data)
    if (encoder := in_c.pipeline.native) is not None:
        data = bytes(rng.choices("aé日😀▁".encode() + b"\xff", k=rng.randint(0, 300)))
        encoder.encode_piece(data)  # None, or some ids: Python has none for bytes that are not UTF-8
        again = type(encoder).from_tables(encoder.tables(), split_steps_for(python.spec.pre_tokenizer, python.model))
        assert again.encode(texts[0]) == encoder.encode(texts[0])
    return 0


def round_of(rng):
    """Compare one model on some texts; returns how many of them needed too much look-ahead for C."""
    return rng.choice((of_bytes, of_bytes, of_levels, of_files, of_superwords))(rng)


def training_round(rng):
    """Count some texts, add tables of counts, and learn merges, and compare each with Python."""
    pattern = rng.choice(PATTERNS)
    split = None if pattern is None else Split(pattern)
    texts = [fuzz_text(rng) if rng.random() < 0.2 else random_text(rng) for _ in range(rng.randint(0, 12))]
    expected = dict(count_pre_tokens(list(texts), split, SpecialTokens({})))
    assert count_native(texts, split, rng.randint(1, 2)).as_dict() == expected, (pattern, texts)
    words = PreTokenCounts.of(expected)
    counter, times = NativeCounter(split), rng.randint(1, 3)
    for _ in range(times):
        counter.add(words)
    least = rng.choice((1, 1, 2, 5))
    often = {word: count * times for word, count in expected.items() if count * times >= least}
    assert counter.table(least).as_dict() == often
    alphabet = rng.choice(ALPHABETS)
    for _ in range(rng.choice((0, 3, 50, 400))):
        word = bytes(rng.choices(alphabet, k=rng.choice((1, 3, 9, 60))))
        often[word] = rng.choice((1, 2, 3, 1 << 33))
    merges, least = rng.choice((0, 1, 30, 400)), rng.choice((1, 2, 3))
    found, known = (list(train(often, merges, least)) for train in (train_native, train_incremental))
    assert found == known, (often, merges, least)


def phrases_round(rng):
    """Count the pairs of some texts in C, learn superwords from their parts, and compare both with Python."""
    superwords = Superwords(
        rng.choice(("superbpe", "boundless")),
        pattern=rng.choice(("superbpe", "[0-9]+| of", r"\n", "a+b|.")),
        max_words=rng.choice((None, 2, 4)),
        forbidden=rng.choice(((), (": ",), ("a", "e a"))),
    )
    if rng.random() < 0.5:
        model = next(superword_vocabularies.models(rng, 1))
        texts = [superword_vocabularies.random_text(rng) for _ in range(rng.randint(0, 6))]
    else:
        model, texts = random_model(rng), [random_text(rng) for _ in range(rng.randint(0, 6))]
    if not model.covers_utf8:
        return
    given = model, rng.choice((None, Split("gpt2"), Split("[a-c]+"))), superwords
    known, found = (
        PythonPhrases(lambda: texts, *given),
        NativePhrases(lambda: texts, *given, rng.choice((1, 1 << 30))),
    )
    if not found.dropped:
        assert found.pairs(1) == known.pairs(1), (given, texts)
    number, least = rng.choice((1, 30, 400)), rng.choice((1, 2, 3))
    one, other = (list(learn_superwords(phrases, number, superwords, least)) for phrases in (known, found))
    assert one == other, (given, texts)


if __name__ == "__main__":
    seed, rounds = map(int, sys.argv[1:])
    rng = random.Random(seed)
    print("too much look-ahead:", sum(round_of(rng) for _ in range(rounds)))
    for _ in range(rounds):
        training_round(rng)
        phrases_round(rng)
        files_round(rng)
        merges_round(rng)
