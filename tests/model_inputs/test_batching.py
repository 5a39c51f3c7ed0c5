"""Batches: padding, truncation, overflow, pairs and tensors, compared with transformers on what `save` writes."""

import json
import multiprocessing
import pickle
import random
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, strategies as st

from bpelab import BPETokenizer
from bpelab.core.batch import map_in_threads
from bpelab.errors import BPELabError, SpecialTokenError
from bpelab.model_inputs import Padding, Truncation
from bpelab.normalizers import NFC, Lowercase
from bpelab.postprocessors import BertProcessing, ByteLevel, ProcessorSequence, RobertaProcessing, TemplateProcessing
from bpelab.pretokenizers.byte_level import ByteLevel as ByteLevelSplit

from ..conftest import amount, fuzz_text

CORPUS = "The lowest of the low tide, and a harbour wall at 17 minutes past noon; naïve 日本 cafés. " * 20
NAMES = ["<s>", "</s>", "<pad>"]
PLAIN = BPETokenizer.train(CORPUS, 310, special_tokens=NAMES, pad_token="<pad>")
S, E = PLAIN.special_tokens["<s>"], PLAIN.special_tokens["</s>"]
AROUND = {
    "nothing": None,
    "BOS": TemplateProcessing("<s> $A", "<s> $A <s> $B:1"),
    "EOS": TemplateProcessing("$A </s>", "$A </s> $B:1 </s>:1"),
    "both": TemplateProcessing("<s> $A </s>", "<s> $A </s> $B:1 </s>:1"),
    "RoBERTa": RobertaProcessing(("</s>", E), ("<s>", S)),
    "BERT": BertProcessing(("</s>", E), ("<s>", S)),
    "trimmed": ByteLevel(add_prefix_space=False),
    "a sequence": ProcessorSequence((ByteLevel(), TemplateProcessing("<s> $A", "<s> $A $B:1"))),
}


def in_transformers(ours: BPETokenizer, folder):
    transformers = pytest.importorskip("transformers")
    ours.save(folder)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )


def short_text(rng: random.Random) -> str:
    start = rng.randrange(len(CORPUS) - 60)
    text = CORPUS[start : start + rng.choice((0, 3, 20, 60))]
    return text + "".join(char for char in fuzz_text(rng) if not "\ud800" <= char < "\ue000")[:20]


def draw_call(rng: random.Random) -> tuple[tuple, dict, dict]:
    """Texts, our options, and theirs."""
    kind = rng.choice(("one", "pair", "batch", "batch", "pairs", "pairs"))
    count = rng.randint(1, 5)
    texts: tuple
    if kind in ("one", "pair"):
        texts = tuple(short_text(rng) or "x" for _ in range(1 + (kind == "pair")))
    else:
        texts = tuple([short_text(rng) for _ in range(count)] for _ in range(1 + (kind == "pairs")))
    padding = rng.choice((False, True, "longest", "max_length"))
    truncation = rng.choice((False, True, "longest_first", "only_first", "only_second"))
    multiple = rng.choice((None, None, 2, 8))
    length = rng.choice((8, 16, 24, 32)) if truncation or padding == "max_length" else None
    overflow = bool(truncation) and rng.random() < 0.6
    options = {
        "padding": padding,
        "truncation": truncation,
        "max_length": length,
        "stride": rng.choice((0, 0, 1, 2)) if overflow else 0,
        "pad_to_multiple_of": multiple,
        "padding_side": rng.choice((None, "left", "right")),
        "add_special_tokens": rng.random() < 0.8,
        "return_special_tokens_mask": rng.random() < 0.5,
        "return_token_type_ids": rng.random() < 0.5,
        "return_overflowing_tokens": overflow,
        "return_tensors": "np" if padding and rng.random() < 0.3 else None,
    }
    offsets, side = rng.random() < 0.5, rng.choice(("left", "right"))
    ours = {**options, "return_offsets": offsets, "truncation_side": side, "allowed_special": "all"}
    return texts, ours, {**options, "return_offsets_mapping": offsets, "side": side}


def result(run):
    """The columns as lists; None where it refuses."""
    try:
        found = run()
    except (Exception, BaseException) as error:
        if (
            isinstance(error, (ValueError, TypeError))
            or type(error).__name__ == "PanicException"
            or type(error) is Exception
        ):
            return None
        raise
    listed = {key: column.tolist() if hasattr(column, "tolist") else column for key, column in found.items()}
    if any(hasattr(row, "tolist") for column in listed.values() if isinstance(column, list) for row in column):
        return None  # rows of different lengths, of which transformers makes arrays in a list
    return json.loads(json.dumps(listed))


@pytest.mark.slow
@pytest.mark.parametrize("around", AROUND)
def test_as_transformers_does(around, tmp_path):
    ours = PLAIN.with_options(post_processor=AROUND[around])
    theirs = in_transformers(ours, tmp_path)
    rng = random.Random(around)
    compared = refused = 0
    for _ in range(amount(80, 5_000)):
        texts, options, their_options = draw_call(rng)
        theirs.truncation_side = their_options.pop("side")
        expected = result(lambda: dict(theirs(*texts, **their_options)))  # noqa: B023
        found = result(lambda: ours(*texts, **options))  # noqa: B023
        if around == "RoBERTa" and options["return_overflowing_tokens"] and not options["add_special_tokens"]:
            # There 0 in a first row and 1 in the others; here 0.
            for columns in filter(None, (found, expected)):
                columns.pop("token_type_ids", None)
        assert found == expected, (texts, options)
        compared, refused = compared + 1, refused + (expected is None)
    assert refused < compared / 2


def test_through_a_normalizer_and_a_prefix_space(tmp_path):
    ours = PLAIN.with_options(
        normalizer=NFC(), pre_tokenizer=ByteLevelSplit(), post_processor=RobertaProcessing(("</s>", E), ("<s>", S))
    )
    theirs = in_transformers(ours, tmp_path)
    rng = random.Random(5)
    for _ in range(amount(60, 2_000)):
        texts = [short_text(rng) for _ in range(3)]
        expected = result(lambda: dict(theirs(texts, padding=True, return_offsets_mapping=True)))  # noqa: B023
        found = result(lambda: ours(texts, padding=True, return_offsets=True, allowed_special="all"))  # noqa: B023
        expected.pop("token_type_ids", None)
        assert found == expected


def test_special_tokens_in_a_text_are_text_unless_allowed():
    assert PLAIN("a</s>")["input_ids"] == PLAIN.encode("a</s>") and E not in PLAIN("a</s>")["input_ids"]
    assert PLAIN("a</s>", allowed_special={"</s>"})["input_ids"][-1] == E
    with pytest.raises(SpecialTokenError):
        PLAIN(["fine", "a</s>"], disallowed_special="all")


def test_the_sections_of_a_file_are_the_defaults_when_asked():
    ours = PLAIN.with_options(
        truncation=Truncation(4, "LongestFirst", 1, "Left"), padding=Padding({"Fixed": 6}, "Left", None, 5, 0)
    )
    text = "the low tide and the lowest harbour"
    ids = PLAIN.encode(text)
    assert ours(text)["input_ids"] == ids
    assert ours(text, truncation=True)["input_ids"] == ids[-4:]
    assert ours(text, truncation=True, max_length=5, truncation_side="right")["input_ids"] == ids[:5]
    assert ours("a", padding=True)["input_ids"] == [ours.pad_token_id] * 5 + PLAIN.encode("a")
    assert ours("a", padding="longest", padding_side="right")["input_ids"] == PLAIN.encode("a")
    without = PLAIN.with_options(pad_token=None, padding=ours.spec.padding)
    assert without("a", padding=True)["input_ids"][:5] == [5] * 5
    configured = PLAIN.with_options(metadata={"model_max_length": 3, "truncation_side": "left", "padding_side": "left"})
    assert configured(text, truncation=True)["input_ids"] == ids[-3:]
    assert configured(["a", text], padding=True)["attention_mask"][0][0] == 0


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        (("a",), {"truncation": True}, ValueError, "needs a length"),
        (("a",), {"padding": "max_length"}, ValueError, "needs a length"),
        (("a",), {"max_length": 3}, ValueError, "does nothing by itself"),
        (("a",), {"truncation": True, "max_length": -1}, ValueError, "max_length is a whole number from 0 up"),
        (("a",), {"truncation": True, "max_length": True}, ValueError, "max_length is a whole number"),
        (("a",), {"truncation": True, "max_length": 4, "stride": -1}, ValueError, "stride"),
        (("a",), {"truncation": True, "max_length": 4, "stride": 3}, ValueError, "less than the 2 tokens"),
        (("a",), {"truncation": True, "max_length": 1}, ValueError, "too small"),
        (("a",), {"truncation": "shortest", "max_length": 4}, ValueError, "only_second"),
        (("a" * 20,), {"truncation": "only_second", "max_length": 4}, ValueError, "text_pair"),
        (("a", "x y z v w" * 9), {"truncation": "only_first", "max_length": 6}, ValueError, "the first text"),
        (("a",), {"padding": "longst"}, ValueError, "padding is one of"),
        (("a",), {"padding": True, "pad_to_multiple_of": 0}, ValueError, "from 1 up"),
        (("a",), {"padding": True, "padding_side": "top"}, ValueError, "padding_side"),
        (("a",), {"truncation": True, "truncation_side": "top", "max_length": 4}, ValueError, "truncation_side"),
        (
            ("a",),
            {"padding": True, "truncation": True, "max_length": 6, "pad_to_multiple_of": 4},
            ValueError,
            "multiple",
        ),
        ((["a", "a b c d"],), {"return_tensors": "np"}, ValueError, "padding=True"),
        (("a",), {"return_tensors": "tf"}, ValueError, "return_tensors"),
        (([],), {}, ValueError, "empty"),
        ((["a", 3],), {}, TypeError, re.escape("text[1] is a int")),
        (([("a", "b")],), {}, TypeError, "two lists"),
        ((["a", "b"], ["c", None]), {}, TypeError, re.escape("text_pair[1]")),
        ((["a", "b"], ["c"]), {}, ValueError, "2 texts and text_pair 1"),
        ((["a"], "b"), {}, TypeError, "text_pair is a text or a list"),
        (("a", ["b"]), {}, TypeError, "text is one text"),
        ((b"a",), {}, TypeError, "bytes"),
        ((None,), {}, TypeError, "NoneType"),
    ],
)
def test_refused(arguments, options, error, message):
    ours = PLAIN.with_options(post_processor=AROUND["both"])
    with pytest.raises(error, match=message):
        ours(*arguments, **options)


def test_padding_without_a_pad_token_says_what_to_do():
    with pytest.raises(BPELabError, match="with_special_tokens"):
        PLAIN.with_options(pad_token=None)(["a", "a b"], padding=True)


def test_nothing_but_lists_needs_no_numpy():
    code = (
        "import sys; sys.modules['numpy'] = sys.modules['torch'] = None\n"
        "from bpelab import BPETokenizer, MissingDependencyError\n"
        "t = BPETokenizer.train('abab', 257)\n"
        "t(['ab', 'c'], return_offsets=True)\n"
        "for kind, package in (('np', 'numpy'), ('pt', 'torch')):\n"
        "    try: t('a', return_tensors=kind)\n"
        "    except MissingDependencyError as error: assert f'pip install {package}' in str(error)\n"
        "    else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- back to text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ("left", "right"))
def test_decoding_a_batch_skips_its_padding(side):
    texts = ["the low", "", "a harbour wall, 日本"]
    batch = PLAIN(texts, padding=True, padding_side=side, return_tensors="np")["input_ids"]
    assert PLAIN.decode_batch(batch) == texts
    assert PLAIN.decode_batch(batch, skip_padding=False)[0].count("<pad>") == batch.shape[1] - len(
        PLAIN.encode("the low")
    )
    assert PLAIN.with_options(pad_token=None).decode_batch([[S, 65]]) == ["<s>A"]
    inside = [S, PLAIN.pad_token_id, 65]
    assert PLAIN.decode_batch([inside]) == ["<s><pad>A"]


# -- chunks ------------------------------------------------------------------------------------------------------------

LOWER = PLAIN.with_options(normalizer=Lowercase())
PREFIXED = PLAIN.with_options(pre_tokenizer=ByteLevelSplit())


@given(st.text(max_size=60), st.integers(4, 12), st.integers(0, 3), st.sampled_from((PLAIN, LOWER, PREFIXED)))
@example("0" * 14, 4, 1, PLAIN)
def test_chunks(text, size, overlap, ours):
    if ours is not PLAIN:
        size += 4
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    chunks = ours.split_by_tokens(text, size)
    assert "".join(chunks) == whole and "" not in chunks
    assert all(len(ours.encode(chunk, add_special_tokens=False)) <= size for chunk in chunks)
    overlapping = ours.split_by_tokens(text, size, overlap)
    assert all(len(ours.encode(chunk, add_special_tokens=False)) <= size for chunk in overlapping)
    found = {(0, 0)}  # where the last chunk may begin and end: a text of one letter has many places for it
    for chunk in overlapping:  # each begins in the one before, or right behind it, and brings something new
        starts = [(p, end) for at, end in found for p in range(at if overlap else end, end + 1)]
        found = {(p, p + len(chunk)) for p, end in starts if whole.startswith(chunk, p) and p + len(chunk) > end}
        assert found
    assert len(whole) in {end for _, end in found}


def test_chunks_of_a_long_text_are_full():
    text = "".join(f"{n * n} {n}th tide. {CORPUS[n % 80 :][:90]}" for n in range(amount(150, 3_000)))
    for size, overlap in ((50, 0), (50, 10), (1_000, 0)):
        chunks = PLAIN.split_by_tokens(text, size, overlap)
        counts = [PLAIN.count_tokens(chunk) for chunk in chunks]
        assert max(counts) <= size and sum(counts[:-1]) > 0.9 * size * (len(counts) - 1)
        shared = [next(n for n in range(len(b), -1, -1) if a.endswith(b[:n])) for a, b in zip(chunks, chunks[1:])]
        if overlap:
            assert all(0 < PLAIN.count_tokens(b[:n]) <= overlap for b, n in zip(chunks[1:], shared))


def test_chunks_refused():
    with pytest.raises(ValueError, match="size is a whole number from 1 up"):
        PLAIN.split_by_tokens("a", 0)
    with pytest.raises(ValueError, match="less than size"):
        PLAIN.split_by_tokens("a", 3, 3)
    with pytest.raises(ValueError, match="'😀' at 3 takes more than size=2"):
        PLAIN.split_by_tokens("low😀", 2)
    assert PLAIN.split_by_tokens("", 2) == []


# -- many at once ------------------------------------------------------------------------------------------------------

TEXTS = [f"{word} {n} the low tide naïve 日本 😀" for n, word in enumerate(CORPUS.split()[:60])]


def _work(ours: BPETokenizer, number: int) -> tuple:
    texts = TEXTS[number % 50 :][:10]
    batch = ours(texts, padding=True, return_offsets=True, truncation=True, max_length=12)
    return batch, ours.decode_batch(batch["input_ids"]), ours.encode_batch(texts)


def test_threads_give_what_one_gives():
    serial = [_work(PLAIN, number) for number in range(64)]
    ours = pickle.loads(pickle.dumps(PLAIN))
    ours.pipeline.cache.clear()
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(_work, [ours] * 64, range(64))) == serial


def _child(number: int, queue) -> None:
    queue.put((number, _work(PLAIN, number)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.slow
def test_a_fork_after_use_works():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(_work, [PLAIN] * 4, range(4)))
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        children = [context.Process(target=_child, args=(number, queue)) for number in range(8)]
        for child in children:
            child.start()
        found = dict(queue.get(timeout=300) for _ in children)
        for child in children:
            child.join(300)
    assert [child.exitcode for child in children] == [0] * 8
    assert found == {number: _work(PLAIN, number) for number in range(8)}


def test_pickled_with_all_its_parts():
    ours = PLAIN.with_options(post_processor=AROUND["both"], normalizer=NFC(), padding=Padding("BatchLongest", "Left"))
    again = pickle.loads(pickle.dumps(ours))
    options = {"padding": True, "return_offsets": True, "return_special_tokens_mask": True}
    assert again(TEXTS, **options) == ours(TEXTS, **options)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_work_is_shared_out(threads):
    """In the order of the parts, whoever did them; what one of them raises ends it all."""
    assert map_in_threads(sum, [range(n) for n in range(20)], threads) == [sum(range(n)) for n in range(20)]
    assert map_in_threads(sum, [], threads) == []
    done: list[int] = []
    failed = threading.Event()

    def fails_at_five(number: int) -> None:
        if number == 5:
            failed.set()
            raise KeyError(number)
        if number > 5:  # another thread is at 5
            assert failed.wait(300)
            time.sleep(0.01)
        done.append(number)

    with pytest.raises(KeyError, match="5"):
        map_in_threads(fails_at_five, range(5_000), threads)
    assert len(done) < 4_999


def test_work_is_done_where_no_thread_can_be_started(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    assert map_in_threads(str, range(20), 8) == list(map(str, range(20)))


@pytest.mark.parametrize(
    "made",
    [
        lambda: Truncation(-1),
        lambda: Truncation(8, stride=-1),
        lambda: Truncation(8, strategy="Shortest"),
        lambda: Truncation(8, direction="Up"),
        lambda: Padding("Longest"),
        lambda: Padding({"Fixed": -1}),
        lambda: Padding({"Fixed": True}),
        lambda: Padding({"Fixed": 10**12}),
        lambda: Padding(direction="Up"),
        lambda: Padding(pad_to_multiple_of=10**12),
        lambda: Padding(pad_to_multiple_of=-1),
        lambda: Padding(pad_id=-1),
        lambda: Padding(pad_type_id=1 << 32),
    ],
)
def test_sections_that_say_nothing_sensible(made):
    with pytest.raises(ValueError, match=r"from 0|there is no truncation|strategy is|on the side|is refused"):
        made()
