"""How hypothesis draws the inputs of the fuzzer. Each is plain JSON, so that one that failed can be kept as a file."""

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from bpelab.pretokenizers import PATTERNS as NAMED

from ..conftest import SPICE, boundary_characters
from ..formats import random_zoo
from ..formats.hostile_files import Case, changed_case, changed_entries, good_contents

PATTERNS = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "[a-z]+", r"(?<=a)b|\w+|\s(?!\S)", None]
SPECIAL = ["<|end|>", "<|end|><|of|>", "<|start|>", " \t ", "é|>"]
LOOKALIKES = ["<|", "|>", "<|end", "<|end|", "end|>", "<|end|><|", "<|of|>", "<|END|>", "<|end |>", "<\u200b|end|>"]
ZOO = 2_000


def _runs(unit: st.SearchStrategy[str], longest: int) -> st.SearchStrategy[str]:
    return st.builds(lambda text, times: text * times, unit, st.integers(2, longest))


def texts(longest_run: int = 600) -> st.SearchStrategy[str]:
    """Hostile texts: what tokenizers get wrong, special tokens and their look-alikes, surrogates, long runs."""
    unit = st.one_of(
        st.sampled_from([*SPICE, *SPECIAL, *LOOKALIKES, *random_zoo.CONTENTS]),
        st.text("abelorstw '1\n", max_size=12),
        st.text(st.deferred(lambda: st.sampled_from(boundary_characters())), max_size=4),
        st.text(st.characters(), max_size=6),
        st.text(st.sampled_from(["\ud800", "\udbff", "\udc00", "\udfff", "\ud83d", "\ude00", "a", "é"]), max_size=5),
    )
    parts = st.lists(st.one_of(unit, unit, unit, _runs(unit, 40), _runs(unit, longest_run)), max_size=12)
    return parts.map(lambda found: "".join(found)[:3_000])


SIZES = st.lists(st.integers(0, 12), min_size=1, max_size=6).filter(any)
"""Lengths of parts, gone through again and again."""


def models() -> st.SearchStrategy[dict[str, Any]]:
    """Merges of any two tokens there are, or tokens in any order of ranks; and pieces of their letters."""
    pairs = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=16)
    ranks = st.tuples(st.lists(st.text("abc", min_size=2, max_size=6), unique=True, max_size=20), st.integers(0, 20))
    tables = st.one_of(
        pairs.map(lambda found: {"merges": found}), ranks.map(lambda found: {"ranks": found[0], "bytes_from": found[1]})
    )
    pieces = st.one_of(st.text("abcd", max_size=30), _runs(st.text("abc", max_size=6), 100))
    return st.fixed_dictionaries({"table": tables, "ignore_merges": st.booleans(), "piece": pieces})


def encodings() -> st.SearchStrategy[dict[str, Any]]:
    """A text for one of the trained tokenizers, and how a stream of it is cut."""
    return st.fixed_dictionaries(
        {"pattern": st.sampled_from(PATTERNS), "text": texts(), "sizes": SIZES, "allowed": st.sampled_from(["all", ""])}
    )


def decodings() -> st.SearchStrategy[dict[str, Any]]:
    """Ids, most of which exist; often bytes that make no character."""
    ids = st.one_of(
        st.integers(0, 610),
        st.integers(0x80, 0xFF),
        st.sampled_from([-1, -(2**63), 2**31, 2**32, 2**63, 2**64, 10**30]),
    )
    good = st.lists(st.one_of(st.integers(0, 604), st.integers(0x80, 0xFF)), max_size=40)
    return st.fixed_dictionaries(
        {"ids": st.one_of(good, good, st.lists(ids, max_size=12)), "sizes": SIZES, "skip": st.booleans(),
         "unknown": st.sampled_from(["error", "replace", "skip"])}
    )  # fmt: skip


def zoo() -> st.SearchStrategy[dict[str, Any]]:
    """A tokenizer.json of the random zoo, and a text."""
    return st.fixed_dictionaries(
        {"seed": st.integers(0, ZOO), "text": texts(60), "sizes": SIZES, "allowed": st.sampled_from(["all", ""])}
    )


def countings() -> st.SearchStrategy[dict[str, Any]]:
    """A text with special tokens that overlap, to be read in blocks of a few characters."""
    short = st.text("ab ", min_size=1, max_size=5)
    return st.fixed_dictionaries(
        {"names": st.lists(short, unique=True, max_size=5), "parts": st.lists(short, max_size=8),
         "pattern": st.sampled_from([name for name in PATTERNS if name in NAMED]), "block": st.integers(1, 12)}
    )  # fmt: skip


@lru_cache(1)
def _good() -> list[tuple[Case, dict[str, bytes]]]:
    with tempfile.TemporaryDirectory() as folder:
        return good_contents(Path(folder))


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """A broken file of any format; its bytes are written as the characters U+0000 to U+00FF."""
    rng = draw(st.randoms(use_true_random=False))
    if draw(st.integers(0, 3)) == 0:
        data = random_zoo.draw(draw(st.integers(0, ZOO)))
        case = Case("zoo", {"tokenizer.json": changed_entries(rng, data)}, "either", thorough=False)
    else:
        case = changed_case(rng, *draw(st.sampled_from(_good())), "")
    with tempfile.TemporaryDirectory() as folder:
        case.build(Path(folder) / "case")
        content = {name: (Path(folder) / "case" / name).read_bytes().decode("latin-1") for name in case.files}
    return {"content": content, "opened": case.opened, "pattern": case.pattern, "thorough": case.thorough}
