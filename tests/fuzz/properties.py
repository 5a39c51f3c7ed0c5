"""What has to hold for any model, text, ids and file: checks that raise where it doesn't.

A check takes the input that `inputs.py` draws, as keyword arguments. What a program of the user's could meet as an
error is compared as an error: see `outcome`.
"""

import json
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from hypothesis import strategies as st

from bpelab import BPELabError, BPEModel, BPETokenizer, StreamDecoder, StreamEncoder, native
from bpelab._support.textio import valid_text
from bpelab.encoders import ENCODERS, make_encoder
from bpelab.notebook import book_text
from bpelab.pretokenizers import Split
from bpelab.trainers.counting import corpus
from bpelab.trainers.counting.corpus import count_pre_tokens
from bpelab.vocab.special_tokens import SpecialTokens

from ..encoders.test_encoders import defined
from ..formats import random_zoo
from ..formats.hostile_files import Case
from ..formats.test_hostile import Child, complaint
from . import inputs

IN_C = "native" if native.extension() else "auto"
SECONDS = 20.0
"""Of processor time that one check may take; most take a few thousandths."""


@contextmanager
def in_time() -> Iterator[None]:
    """Raises AssertionError in what takes longer than SECONDS."""

    def alarm(*_: object) -> None:
        raise AssertionError(f"takes more than {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, alarm)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(run: Callable[[], Any]) -> Any:
    """What `run` returns, or the kind of the error of the library's family or TypeError that it raises."""
    try:
        return run()
    except (BPELabError, TypeError) as error:
        return type(error).__name__


def parts(items: Any, sizes: list[int]) -> Iterator[Any]:
    """`items`, a text or a list, in parts of these sizes, again and again."""
    at = 0
    for size in cycle(sizes):
        if at >= len(items):
            return
        yield items[at : at + size]
        at += size


def check_model(table: dict[str, Any], ignore_merges: bool, piece: str) -> None:
    """Every encoder gives what the definition of BPE gives."""
    data = piece.encode()
    if "merges" in table:
        tokens, merges = [b"a", b"b", b"c"], list[tuple[bytes, bytes]]()
        for left, right in table["merges"]:
            pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
            if pair not in merges:
                merges.append(pair)
                tokens.append(pair[0] + pair[1])
        model = BPEModel.from_merges(merges, ignore_merges=ignore_merges)
    else:
        order = [text.encode() for text in table["ranks"]]
        order[table["bytes_from"] : table["bytes_from"]] = [bytes([byte]) for byte in range(256)]
        model = BPEModel.from_ranks({token: rank for rank, token in enumerate(order)}, ignore_merges=ignore_merges)
    expected = defined(model, data)
    for name in ENCODERS:
        assert make_encoder(name, model).encode_piece(data) == expected, name
    for name in ("auto", IN_C):
        assert BPETokenizer(model, pattern=None, encoder=name).encode(piece) == expected, name


@lru_cache(None)
def trained(pattern: str | None, encoder: str) -> BPETokenizer:
    """A tokenizer of 600 tokens from the book's text, with special tokens."""
    if encoder != "heap":
        return trained(pattern, "heap").with_options(encoder=encoder)
    text = book_text()[: 8_000 if pattern is None else 60_000]
    model = BPETokenizer.train(text, 600, pattern=pattern, min_frequency=1).model
    special = {name: 600 + number for number, name in enumerate(inputs.SPECIAL)}
    return BPETokenizer(model, pattern=pattern, special_tokens=special, encoder=encoder)


def check_ways(tokenizer: BPETokenizer, text: str, sizes: list[int], expected: Any, **options: Any) -> None:
    """Lists, arrays, batches, offsets, counts and streams agree."""
    plain = dict(options, add_special_tokens=False)
    bare = outcome(lambda: tokenizer.encode(text, **plain))
    assert outcome(lambda: tokenizer.encode(text, **options)) == expected, "encode"
    assert outcome(lambda: tokenizer.encode_array(text, **options).tolist()) == bare, "encode_array"
    for threads in (1, 2):
        batch = outcome(lambda: tokenizer.encode_batch([text, "", text], threads=threads, **plain))  # noqa: B023
        assert batch == (bare if isinstance(bare, str) else [bare, [], bare]), "encode_batch"
    with_offsets = outcome(lambda: tokenizer.encode_with_offsets(text, **options))
    assert (with_offsets if isinstance(with_offsets, str) else with_offsets[0]) == expected, "encode_with_offsets"
    for start, end in () if isinstance(with_offsets, str) else with_offsets[1]:
        assert 0 <= start <= end <= len(text), "offsets outside of the text"
    encoder = StreamEncoder(tokenizer, **options)
    streamed = outcome(lambda: [token_id for ids in encoder.stream(parts(text, sizes)) for token_id in ids])
    assert streamed == expected, "StreamEncoder"
    if not isinstance(expected, str):
        assert tokenizer.count_tokens(text, **options) == len(expected), "count_tokens"
        for limit in (0, len(expected) // 2, len(expected)):
            assert tokenizer.count_tokens(text, limit, **options) == min(limit + 1, len(expected)), "limited"
        decoder = StreamDecoder(tokenizer)
        assert "".join(decoder.stream(parts(expected, sizes))) == tokenizer.decode(expected), "StreamDecoder"


def check_encoding(pattern: str | None, text: str, sizes: list[int], allowed: str) -> None:
    """Nothing is lost, whatever the encoder and the way."""
    options = {"allowed_special": allowed or ()}
    valid, reference = valid_text(text), trained(pattern, "heap")
    expected = reference.encode(text, **options)
    for name in ("buckets", "trie", "auto", *(["naive"] if len(text) < 300 else [])):
        assert trained(pattern, name).encode(text, **options) == expected, name
    for name in ("heap", IN_C):
        tokenizer = trained(pattern, name)
        check_ways(tokenizer, text, sizes, expected, **options)
        assert tokenizer.decode(expected) == valid, name
        assert tokenizer.decode_bytes(expected) == valid.encode(), name
    end = 0
    for start, stop in reference.encode_with_offsets(text, **options)[1]:
        assert start <= end <= stop or start == end, "offsets with a gap"
        end = stop
    assert end == len(text), "offsets that don't reach the end"
    assert reference.encode(text, disallowed_special=()) == reference.encode_ordinary(text)
    room = len(reference.encode_ordinary(text)) // 2
    if len(text) < 300:
        short = reference.truncate(text, room)
        assert valid.startswith(short) and reference.count_tokens(short) <= room, "truncate"


def check_decoding(ids: list[int], sizes: list[int], skip: bool, unknown: Any) -> None:
    """One text, whatever the way, with bytes that are no UTF-8 and ids that don't exist."""
    options = {"skip_special_tokens": skip, "unknown": unknown}
    found = outcome(lambda: trained("gpt2", "heap").decode_bytes(ids, **options))
    text = found if isinstance(found, str) else found.decode("utf-8", "replace")
    for name in ("heap", IN_C):
        tokenizer = trained("gpt2", name)
        assert outcome(lambda: tokenizer.decode_bytes(ids, **options)) == found, name  # noqa: B023
        assert outcome(lambda: tokenizer.decode(ids, **options)) == text, name  # noqa: B023
        assert outcome(lambda: tokenizer.decode_batch([ids, ids], **options)) in (found, [text, text]), name  # noqa: B023
        decoder = StreamDecoder(tokenizer, **options)
        for given in (ids, parts(ids, sizes)):
            assert outcome(lambda: "".join(decoder.stream(given))) == text, name  # noqa: B023
            decoder = StreamDecoder(tokenizer, **options)
    if not isinstance(found, str) and unknown == "error" and not skip:
        assert trained("gpt2", "heap").decode_with_offsets(ids)[0] == text


def check_counting(names: list[str], parts: list[str], pattern: str, block: int) -> None:
    """Words are counted alike, however a text is read, and whatever special tokens are in it."""
    special, split = SpecialTokens({name: number for number, name in enumerate(names)}), Split(pattern)
    text = "".join(parts)
    whole = count_pre_tokens(text, split, special)
    with patch.object(corpus, "BLOCK", block):
        assert count_pre_tokens(text, split, special) == whole


@lru_cache(50)
def opened(seed: int, encoder: str) -> BPETokenizer:
    """A tokenizer of the random zoo."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tokenizer.json").write_text(json.dumps(random_zoo.draw(seed)), encoding="utf-8")
        return BPETokenizer.from_pretrained(folder, encoder=encoder)


def check_zoo(seed: int, text: str, sizes: list[int], allowed: str) -> None:
    """Whatever a file is made of, all ways and encoders agree."""
    options = {"allowed_special": allowed or ()}
    expected = outcome(lambda: opened(seed, "heap").encode(text, **options))
    for name in ("heap", IN_C):
        check_ways(opened(seed, name), text, sizes, expected, **options)


class Opener:
    """The process in which files are opened, replaced when it is broken or full."""

    def __init__(self) -> None:
        self.child: Child | None = None

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        if self.child is None or self.child.tired:
            self.close()
            self.child = Child()
        return self.child.ask(question)

    def close(self) -> None:
        if self.child is not None:
            self.child.close()
            self.child = None


OPENER = Opener()


def check_file(content: dict[str, str], opened: str, pattern: str | None, thorough: bool) -> None:
    """It opens and encodes, or is refused in a sentence, with little memory and time."""
    case = Case("", {name: data.encode("latin-1") for name, data in content.items()}, "either", opened, pattern)
    case.thorough = thorough
    with tempfile.TemporaryDirectory() as folder:
        question = case.build(Path(folder) / "case")
        result = OPENER.ask(question)
        if result["kind"] == "broken":  # what others have left in the process shall not count
            OPENER.close()
            result = OPENER.ask(question)
    assert (wrong := complaint(case, result)) is None, wrong


class Property(NamedTuple):
    """How inputs are drawn, and what has to hold for them."""

    strategy: st.SearchStrategy[dict[str, Any]]
    check: Callable[..., None]


PROPERTIES = {
    "model": Property(inputs.models(), check_model),
    "encoding": Property(inputs.encodings(), check_encoding),
    "decoding": Property(inputs.decodings(), check_decoding),
    "counting": Property(inputs.countings(), check_counting),
    "zoo": Property(inputs.zoo(), check_zoo),
    "file": Property(inputs.files(), check_file),
}
