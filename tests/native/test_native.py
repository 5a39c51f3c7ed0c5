"""The encoder in C: the ids of Python's, whatever the model, the pattern and the text; and what it refuses."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from array import array
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer, MissingDependencyError, native
from bpelab.native.plan import split_steps_for
from bpelab.notebook import book_text
from bpelab.pretokenizers.split import Split

from ..conftest import amount, encoding, shared_text
from .fuzz import round_of, training_round

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")
PATHOLOGICAL = {"a": "a" * 300_000, "spaces": " " * 300_000, "digits": "7" * 300_000, "lines": "\n" * 300_000,
                "cjk": "日本語" * 60_000, "emoji": "\U0001f600" * 60_000, "ab": "ab" * 150_000, "marks": "!?" * 150_000,
                "accents": "e\u0301" * 100_000}  # fmt: skip


def test_random_models():
    rng = random.Random(101)
    for _ in range(amount(60, 3_000)):
        round_of(rng)


@pytest.mark.filterwarnings("ignore::bpelab.trainers.counting.corpus.PatternMatchesLittle")
def test_random_trainings():
    rng = random.Random(102)
    for _ in range(amount(60, 3_000)):
        training_round(rng)


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_published_vocabularies(name):
    theirs, text = encoding(name), book_text()
    ours = BPETokenizer.from_tiktoken(name, encoder="native")
    assert ours.encode(text) == theirs.encode(text)
    assert ours.encode_array(text).tolist() == theirs.encode(text)
    for text in PATHOLOGICAL.values():
        assert ours.encode(text[:20_000]) == theirs.encode(text[:20_000])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["english_16MB.txt.xz", "languages_12MB.txt.xz", "cjk_5MB.txt.xz"])
def test_megabytes(name):
    text = shared_text(name, 2_000_000)
    theirs = encoding("o200k_base")
    ours = BPETokenizer.from_tiktoken("o200k_base", encoder="native")
    assert np.array_equal(ours.encode_array(text), theirs.encode_to_numpy(text))


@pytest.mark.parametrize("name", PATHOLOGICAL)
@pytest.mark.parametrize("pattern", ["cl100k", None])
def test_pathological_texts_end(name, pattern):
    """Long runs, also as one piece: against the heap in Python on a part, and back to the text on all of it."""
    trained = BPETokenizer.train(book_text()[:60_000] + PATHOLOGICAL[name][:5_000], 900, pattern=pattern)
    ours, heap = trained.with_options(encoder="native"), trained.with_options(encoder="heap")
    assert ours.encode(PATHOLOGICAL[name][:3_000]) == heap.encode(PATHOLOGICAL[name][:3_000])
    assert ours.decode(ours.encode(PATHOLOGICAL[name])) == PATHOLOGICAL[name]


def test_a_pattern_that_reads_in_vain():
    """C gives up, and Python's scan, which remembers where it failed, goes on with the same ids."""
    ours = BPETokenizer.train("aab aab " * 100, 258, pattern="a*b|a", encoder="native")
    text = "a" * 30_000
    in_c = native.encoder_for(ours.model, Split("a*b|a"))
    assert in_c.encode(text) is None and in_c.encode_array(text) is None and in_c.encode_texts([text]) is None
    python = ours.with_options(encoder="heap")
    assert ours.encode(text) == python.encode(text)
    assert ours.encode_array(text).tolist() == python.encode(text)
    assert ours.encode_batch([text, "ab"]) == python.encode_batch([text, "ab"])
    assert ours.encode_batch_array([text, "ab"])[0].tolist() == [*python.encode(text), *python.encode("ab")]


def test_special_tokens_normalizers_and_surrogates():
    options = {"special_tokens": ["<|end|>"], "normalizer": "NFKC"}
    ours = BPETokenizer.train(book_text()[:30_000], 500, encoder="native", **options)
    python = ours.with_options(encoder="heap")
    for text in ("ﬁne <|end|> x", "a\ud800b", "<|end|><|end|>", "", "\ud83d\ude00", "é" * 9_000 + "<|end|>"):
        for allowed in ((), "all"):
            expected = python.encode(text, allowed_special=allowed)
            assert ours.encode(text, allowed_special=allowed) == expected
            assert ours.encode_array(text, allowed_special=allowed).tolist() == expected
            assert ours.encode_batch([text] * 3, allowed_special=allowed) == [expected] * 3
            assert ours.encode_batch_array([text] * 3, allowed_special=allowed)[0].tolist() == expected * 3


def test_batches_on_threads():
    ours = BPETokenizer.train(book_text()[:60_000], 900, encoder="native")
    texts = [book_text()[at : at + at % 700] for at in range(0, 200_000, 150)]
    expected = ours.with_options(encoder="heap").encode_batch(texts)
    for threads in (1, 2, 5):
        assert ours.encode_batch(texts, threads=threads) == expected
        ids, stops = ours.encode_batch_array(texts, threads=threads)
        assert [ids[a:b].tolist() for a, b in zip(stops, stops[1:])] == expected
    with ThreadPoolExecutor(8) as pool:  # calls at once, each with a workspace of its own
        for found in pool.map(lambda number: [ours.encode(text) for text in texts[number::8]], range(8)):
            assert found in [expected[number::8] for number in range(8)]


def test_auto_takes_it_for_the_first_text():
    ours = BPETokenizer.train(book_text()[:30_000], 500)
    assert "native" not in vars(ours.pipeline)
    assert ours.encode("low") and vars(ours.pipeline)["native"] is not None
    assert "encode_piece" not in vars(ours.pipeline)
    again = pickle.loads(pickle.dumps(ours))
    assert again.encode(book_text()[:3_000]) == ours.encode(book_text()[:3_000])


def test_without_the_extension(monkeypatch):
    monkeypatch.setattr(native, "extension", lambda: None)
    with pytest.raises(MissingDependencyError, match=r"was not built: it needs a C compiler .* pip install"):
        BPETokenizer.train("low low", 257, encoder="native")
    ours = BPETokenizer.train("low lower " * 99, 261)
    assert ours.encode("low lower " * 2_000) == ours.with_options(encoder="heap").encode("low lower " * 2_000)


GOOD = {
    "content": bytes(range(256)) + b"ab", "offsets": array("i", [*range(257), 258]), "ids": array("I", range(257)),
    "byte_tokens": array("I", range(256)), "alphabet_size": 256, "merges": None, "ignore_merges": False,
    "levels": split_steps_for(Split("gpt2"), BPEModel.from_merges([])),
}  # fmt: skip


LEVELS = GOOD["levels"]
NONE = 0xFFFFFFFF
BLANK = array("I", [NONE] * 256)
SYMBOLS = (array("H", bytes(1 << 16)), array("I", range(256)), True, NONE, False, 0)
"""The 256 bytes as characters: the first block of code points in a row of its own, with or without a suffix."""


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"content": b"ab"}, "impossible size"),
        ({"offsets": array("i", [0])}, "impossible size"),
        ({"offsets": array("i", [*range(256), 255, 258])}, "no bytes"),
        ({"offsets": array("i", [*range(256), -7, 258])}, "no bytes"),
        ({"ids": array("I")}, "impossible size"),
        ({"ids": array("I", [*range(256), 1 << 28])}, r"an id is 2\^28 or more"),
        ({"alphabet_size": 300}, "impossible size"),
        ({"alphabet_size": -1}, "impossible size"),
        ({"byte_tokens": array("I", [400] * 256)}, "byte has a token that does not exist"),
        ({"byte_tokens": array("I", [0] * 255)}, "impossible size"),
        ({"merges": (array("i", [97, 98, 1]), array("I", [256]), True)}, "merge has a token that does not exist"),
        ({"merges": (array("i", [97, 900, 0]), array("I", [256]), True)}, "merge has a token that does not exist"),
        ({"merges": (array("i", [-1, 98, 0]), array("I", [256]), True)}, "merge has a token that does not exist"),
        ({"merges": (array("i", [97, 98, 0]), array("I", [900]), True)}, "merge has a token that does not exist"),
        ({"ids": array("I", range(258))}, "impossible size"),
        ({"byte_tokens": array("I", [NONE] * 256)}, "byte has a token that does not exist"),
        ({"initial_symbols": (SYMBOLS[0][:-1], *SYMBOLS[1:])}, "initial symbols have a table"),
        ({"initial_symbols": (array("H", [1] * (1 << 15)), *SYMBOLS[1:])}, "initial symbols have a table"),
        ({"initial_symbols": (SYMBOLS[0], SYMBOLS[1][:-1], *SYMBOLS[2:])}, "initial symbols have a table"),
        ({"initial_symbols": (SYMBOLS[0], array("I"), *SYMBOLS[2:])}, "initial symbols have a table"),
        ({"initial_symbols": (SYMBOLS[0], array("I", [257] * 256), *SYMBOLS[2:])}, "initial symbols have a table"),
        ({"initial_symbols": (*SYMBOLS[:3], 257, False, 0)}, "initial symbols have a table"),
        ({"initial_symbols": (*SYMBOLS[:5], 4)}, "initial symbols have a table"),
        ({"initial_symbols": (*SYMBOLS[:5], -1)}, "initial symbols have a table"),
        ({"initial_symbols": (*SYMBOLS[:2], False, NONE, False, 1)}, "initial symbols have a table"),
        ({"initial_symbols": SYMBOLS, "byte_tokens": array("I", [257] * 256)}, "byte has a token that does not exist"),
        ({"levels": ((3, b"", LEVELS[0][2]),)}, "must keep all, matches or gaps"),
        ({"levels": ((-1, b"", LEVELS[0][2]),)}, "must keep all, matches or gaps"),
        ({"levels": LEVELS * 17}, "more patterns than"),
        ({"levels": LEVELS * 16, "initial_symbols": (*SYMBOLS[:5], 1)}, "more patterns than"),
        ({"levels": (None,)}, "a level must be a tuple"),
    ],
)
def test_tables_that_are_wrong(changes, problem):
    """Whatever is handed to C is looked at first: no index leads out of a table."""
    core = native.extension()
    assert core(**GOOD).encode("ab") == [256]
    with pytest.raises(ValueError, match=problem):
        core(**GOOD | changes)


def test_initial_symbols_that_are_right():
    core = native.extension()
    for cuts in range(4):
        in_c = core(
            **GOOD | {"merges": (array("i", [97, 98, 0]), array("I", [256]), True)},
            initial_symbols=(*SYMBOLS[:5], cuts),
        )
        assert in_c.encode("ab") == in_c.encode_piece(b"ab") == [256]
        assert in_c.encode("é") == [0xE9] and in_c.encode_piece(b"\xe9") is None
    with pytest.raises(TypeError, match="initial_symbols must be a tuple"):
        core(**GOOD, initial_symbols=[])
    for wrong in ((), SYMBOLS[:5], (*SYMBOLS, 1)):
        with pytest.raises(TypeError):
            core(**GOOD, initial_symbols=wrong)
    for wrong in (((0, b"", 5),), ((0, "", LEVELS[0][2]),), ((0, b""),)):
        with pytest.raises(TypeError):
            core(**GOOD | {"levels": wrong})


def test_patterns_that_are_wrong():
    core, ((_, _, (transitions, width, start, stage1, stage2, rules)),) = native.extension(), LEVELS
    for scan in (
        (array("i", [1 << 20] * len(transitions)), width, start, stage1, stage2, rules),
        (array("i", [-2] * len(transitions)), width, start, stage1, stage2, rules),
        (transitions[:-1], width, start, stage1, stage2, rules),
        (transitions, 0, start, stage1, stage2, rules),
        (transitions, -1, start, stage1, stage2, rules),
        (transitions, width, 9_999, stage1, stage2, rules),
        (transitions, width, -1, stage1, stage2, rules),
        (transitions, width, start, stage1[:-1], stage2, rules),
        (transitions, width, start, array("H", [60_000] * len(stage1)), stage2, rules),
        (transitions, width, start, stage1, b"\xff" * len(stage2), rules),
        *[(transitions, width, start, stage1, stage2, wrong) for wrong in ([], (1, 2, 1, 1, 2, 0), (1, 3, 1, 1, 4, 0))],
    ):
        with pytest.raises(ValueError):
            core(**GOOD | {"levels": ((0, b"", scan),)})
        with pytest.raises(ValueError):
            core(**GOOD | {"levels": (*LEVELS, (1, b" ", scan))})
    for wrong in (((0, b"", (1, 2)),), ((0, b"", ()),), ((0, b"", None),), None):
        with pytest.raises(TypeError):
            core(**GOOD | {"levels": wrong})
    with pytest.raises(TypeError):
        core(**GOOD | {"levels": ((0, b"", (transitions, width, start, stage1, stage2, (1, 3))),)})


def test_blocks_of_tables_that_are_wrong():
    """What is no block of this version is refused, wherever it is cut off; other damage is for the hash to find."""
    core = native.extension()
    block = core(**GOOD).tables()
    assert core.from_tables(block, LEVELS).encode("ab") == [256]
    for size in (0, 7, 8, 100, 1_199, 1_200, len(block) - 1):
        with pytest.raises(ValueError, match="not tables of this version"):
            core.from_tables(block[:size], LEVELS)
    with pytest.raises(ValueError, match="not tables of this version"):
        core.from_tables(block + b"more", LEVELS)
    rng = random.Random(7)
    for _ in range(amount(300, 20_000)):  # sizes in the header
        damaged = bytearray(block)
        for place in rng.sample(range(136), rng.randint(1, 4)):
            damaged[place] ^= 1 << rng.randrange(8)
        if damaged[8:32] != block[8:32] or damaged[56:128] != block[56:128]:
            try:
                core.from_tables(bytes(damaged), LEVELS)
            except ValueError:
                continue
    with pytest.raises(TypeError):
        core.from_tables("text", LEVELS)


def test_tables_are_kept(tmp_path, monkeypatch):
    """Written once, mapped from then on; what is damaged is made anew, and where nothing can be kept nothing is."""
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))
    theirs = encoding("r50k_base")
    ids, sizes = theirs.encode(book_text()), []
    for damage in (None, None, "flip", "cut", "empty", None):
        ours = BPETokenizer.from_tiktoken("r50k_base", encoder="native")
        assert ours.encode(book_text()) == ids
        (file,) = (tmp_path / "native").iterdir()
        sizes.append(file.stat().st_ino)
        content = bytearray(file.read_bytes())
        if damage == "flip":
            content[len(content) // 2] ^= 4
            file.write_bytes(content)
        elif damage:
            file.write_bytes(content[: 1_000 if damage == "cut" else 0])
    assert sizes[0] == sizes[1] == sizes[2] != sizes[3]
    again = BPETokenizer.from_tiktoken("r50k_base")  # auto: at the first text, since tables are there
    assert again.encode("low") == theirs.encode("low")
    assert "native" in vars(again.pipeline) and "tokens" not in vars(again.model)
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path / "native" / file.name / "below a file"))
    assert BPETokenizer.from_tiktoken("r50k_base", encoder="native").encode("low") == theirs.encode("low")


def test_arguments_that_are_wrong():
    encoder = native.extension()(**GOOD)
    for wrong in (b"ab", None, 5, ["ab"]):
        for method in (encoder.encode, encoder.encode_array):
            with pytest.raises(TypeError, match="must be a str"):
                method(wrong)
    for wrong in ("ab", ("ab",), [b"ab"], [None]):
        with pytest.raises(TypeError):
            encoder.encode_texts(wrong)
    ids, _ = encoder.encode_texts(["ab", ""])
    for wrong in ([-1, 1], [0, 2], [1, 0], []):
        with pytest.raises(ValueError, match=r"beyond the ids|no offsets"):
            encoder.lists(ids, bytearray(array("q", wrong).tobytes()))


@pytest.mark.slow
def test_ctrl_c_ends_a_long_text():
    """A piece of 30 million letters that goes to the heap, as not all are equal, and 100 MB of words: both end soon."""
    program = """
import os, signal, threading, time
from bpelab import BPEModel, BPETokenizer
ranks = {bytes([n]): n for n in range(256)} | {b"bc": 300, b"abc": 299, b"aa": 301}
one = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False), pattern=None, encoder="native")
many = BPETokenizer.train("low lower " * 99, 261, encoder="native")
for tokenizer, text in ((one, "a" * 30_000_000 + "b"), (many, "low lower newest " * 6_000_000)):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        tokenizer.encode_array(text)
        print("not interrupted", time.monotonic() - begun)
    except KeyboardInterrupt:
        print("interrupted")
    time.sleep(0.5 if time.monotonic() - begun < 0.4 else 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split("\n")[0] == "interrupted", done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer of processor time")
@pytest.mark.parametrize("text", ["abcacbbacb", "ab", "é", "人中", "1 ", " "])
def test_signals_are_looked_for_within_a_piece(text):
    """A signal comes every 10 ms of processor time; its handler runs many times while one long piece is encoded."""
    ranks = {bytes([n]): n for n in range(256)} | {b"bc": 300, b"abc": 299, b"aa": 301, "人中".encode(): 302}
    tokenizer = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False), pattern=None, encoder="native")
    size, spent, calls = 1_000_000, 0.0, []
    before = signal.signal(signal.SIGVTALRM, lambda *_: calls.append(time.process_time()))
    try:
        while spent < 0.3 and size < 2e8:
            size, calls[:] = 4 * size, []
            piece = (text * size)[:size]
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)
            begun = time.process_time()
            tokenizer.encode_array(piece)
            spent = time.process_time() - begun
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert len(calls) >= 5, (len(calls), spent)


@pytest.mark.slow
def test_forks_while_threads_encode():
    program = """
import multiprocessing, threading
from bpelab import BPETokenizer
from bpelab.notebook import book_text
tokenizer = BPETokenizer.train(book_text()[:30_000], 500, encoder="native")
expected, done = tokenizer.encode(book_text()), threading.Event()
def work():
    while not done.is_set():
        assert tokenizer.encode(book_text()) == expected
def child():
    assert tokenizer.encode(book_text()) == expected
thread = threading.Thread(target=work)
thread.start()
context = multiprocessing.get_context("fork")
for _ in range(20):
    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0, process.exitcode
done.set()
thread.join()
print("done")
"""
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
def test_memory_is_given_back():
    import resource

    rng = random.Random(5)
    for _ in range(30):
        round_of(rng)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = BPETokenizer.train(book_text()[:60_000], 2_000).model
    for _ in range(300):
        native.encoder_for(model, Split("cl100k")).encode(book_text()[:5_000])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kB; leaked tables would take a GB


def test_joining_tokens():
    """The bytes of ids from lists and arrays, as defined; None where Python has to say what is wrong."""
    rng = random.Random(8)
    for _ in range(amount(60, 3_000)):
        ids = rng.sample(range(300), rng.randint(1, 60))
        tokens = {n: bytes(rng.choices(range(256), k=rng.choice((0, 1, 3, 14, 15, 16, 17, 40)))) for n in ids}
        native_one = native.decoder_for(tokens)
        asked = rng.choices(ids, k=rng.randint(0, 90))
        expected = b"".join(tokens[n] for n in asked)
        assert native_one.join(asked) == expected
        for kind in ("uint16", "int16", "uint32", "int32", "uint64", "int64"):
            assert native_one.join(np.array(asked, kind)) == expected
        assert native_one.join(array("I", asked)) == expected
        wrong = [[*asked, item] for item in (300, -1, True, 1.0, 1 << 70, None)]
        wrong += [tuple(asked), "1", None, *map(np.array, ([0.5], [True], [[1]], [300], [-1]))]
        for given in wrong:
            assert native_one.join(given) is None
    assert native.decoder_for({5: b"a", 1 << 30: b"b"}) is None


def test_decoding_long_lists():
    ours = BPETokenizer.train(book_text()[:30_000], 500, special_tokens=["<|end|>"])
    ids = ours.encode(book_text()[:200_000] + "<|end|>", allowed_special="all")
    assert ours.decode(ids) == book_text()[:200_000] + "<|end|>"
    assert ours.decode(ids) == ours.decode(np.array(ids)) == book_text()[:200_000] + "<|end|>"
    assert vars(ours.decode_pipeline.join.__self__)["_native"] is not None
    assert ours.decode(ids, skip_special_tokens=True) == book_text()[:200_000]
    with pytest.raises(KeyError, match="no token with the id 9999"):
        ours.decode([*ids, 9999])
    assert ours.decode([*ids, 9999], unknown="replace").endswith("\ufffd")
    with pytest.raises(TypeError, match="not an integer"):
        ours.decode([*ids, True])


@pytest.mark.parametrize(
    "given",
    [
        {"content": b"abc", "ends": array("I", [1]), "ids": array("I", [0])},
        {"content": b"abc", "ends": array("I", [4]), "ids": array("I", [0])},
        {"content": b"abc", "ends": array("I", [3]), "ids": array("I", [0, 1])},
        {"content": b"abc", "ends": array("I", [2, 1, 3]), "ids": array("I", [0, 1, 2])},
        {"content": b"abc", "ends": array("I", [3]), "ids": array("I", [1 << 31])},
        {"content": b"", "ends": array("I"), "ids": array("I")},
    ],
)
def test_tokens_that_are_wrong(given):
    from bpelab.native._core import Decoder

    with pytest.raises(ValueError, match="impossible size"):
        Decoder(**given)


def test_hostile_vocabularies_are_left_to_python():
    """Tokens that are long and alike: making tables ends soon, or isn't tried, and ids are those of Python."""
    for tokens in ([b"a" * n for n in range(2, 3_000)], [b"a" * 2_000_000], [b"ab" * n for n in (1, 2, 500_000)]):
        ranks = {bytes([n]): n for n in range(256)} | {token: 256 + n for n, token in enumerate(tokens)}
        model = BPEModel.from_ranks(ranks)
        begun = time.process_time()
        native.encoder_for(model, Split("gpt2"))
        assert time.process_time() - begun < 30
        ours = BPETokenizer(model, pattern="gpt2", encoder="native")
        for text in ("a" * 700, "ab" * 300, "b a"):
            assert ours.encode(text) == BPETokenizer(model, pattern="gpt2", encoder="heap").encode(text)


@pytest.mark.parametrize("merges", [[["a", "b"], ["", "ab"]], [["a", ""], ["a", "b"]]])
def test_merges_with_the_empty_token_happen_nowhere(tmp_path, merges):
    """No text becomes the empty token, so C, whose tables don't have it, leaves such a model to Python."""
    model = {"type": "BPE", "vocab": {"": 0, "a": 1, "b": 2, "ab": 3}, "merges": merges}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": model}))
    ours = BPETokenizer.from_pretrained(tmp_path)
    assert [ours.encode(text) for text in ("aab", "abab")] == [[1, 3], [3, 3]]


def test_positions():
    positions = pytest.importorskip("bpelab.native._core").positions
    order = array("I", [7, 0, 3])
    assert array("I", positions(order, array("I", [3, 7, 7]))).tolist() == [2, 0, 0]
    for missing in (1, 8, 1 << 31):
        with pytest.raises(KeyError, match="isn't in the list"):
            positions(order, array("I", [missing]))
    with pytest.raises(ValueError, match="2\\^28"):
        positions(array("I", [1 << 28]), order)
    with pytest.raises(KeyError):
        positions(array("I"), order)
