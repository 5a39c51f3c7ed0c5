"""Splitting by rules, 64 bytes at a time: the pieces of the automaton, by every instruction set of this machine."""

import os
import random
import shutil
import subprocess
import sys

import pytest

from bpelab import native

from ..conftest import ROOT, SOAK, amount
from .instrumented import build

if native.extension() is None:
    pytest.skip("the extension was not built: no C compiler", allow_module_level=True)

from .block_scans import all_texts, compare, compare_random, edges, instruction_sets, tables, tables_of


@pytest.mark.parametrize("name", tables_of("gpt2", "cl100k", "o200k"))
def test_every_text_of_five_classes(name):
    """By one instruction set: all have the same rules."""
    for texts in all_texts(5):
        compare(name, texts, [native.instruction_set()])


@pytest.mark.parametrize("name", tables())
def test_every_text_of_four_classes(name):
    for texts in all_texts(4):
        compare(name, texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", tables_of("gpt2", "o200k") if not SOAK else tables())
def test_every_text_of_six_classes(name):
    """By one instruction set, and in a soak for every automaton."""
    for texts in all_texts(6):
        compare(name, texts, [native.instruction_set()])


@pytest.mark.parametrize("name", tables())
def test_every_short_text_across_the_end_of_a_block(name):
    for before in edges():
        for texts in all_texts(3, before):
            compare(name, texts)


@pytest.mark.parametrize("name", tables())
def test_random_texts_whole_and_cut(name):
    texts = amount(200, 20_000)
    assert compare_random(name, random.Random(name), texts) > 50 * texts


def run(code, **env):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )


ENCODED = """
from bpelab import native
from bpelab.notebook import book_text
from bpelab.pretokenizers.split import Split
counter = native.counter_for(Split("cl100k"))
counter.feed([book_text()[:100_000]])
print(native.instruction_set(), hash(counter.words()[0]))
"""


def test_an_instruction_set_can_be_forced():
    """By BPELAB_SIMD, when the module is imported."""
    printed = {name: run(ENCODED, BPELAB_SIMD=name, PYTHONHASHSEED="0") for name in ("", *instruction_sets())}
    words = {name: done.stdout.split() for name, done in printed.items()}
    assert [words[name][0] for name in instruction_sets()] == list(instruction_sets())
    assert words[""][0] in instruction_sets()
    assert len({found[1] for found in words.values()}) == 1


def test_an_instruction_set_that_is_not_there():
    done = run("from bpelab import native; native.extension()", BPELAB_SIMD="sse9")
    assert done.returncode == 1
    assert f"ValueError: BPELAB_SIMD is 'sse9', and this machine has {instruction_sets()!r}" in done.stderr


MISTAKES = (
    ("split_rules.h", "(rules.any_prefix ? digit : digit | space) << 1", "digit << 1"),
    ("split_rules.h", "after_three &= after_three << 2;", ""),
    ("split_rules.h", "white & ~(white << 1 & white >> 1)", "white & ~(white << 1)"),
    ("split_rules.h", "(~(white >> 1) | absorbed << 1)", "~(white >> 1)"),
    ("split_rules.h", "return starts | indents;", "return starts;"),
    ("split_rules.h", "for (; others; others &= others - 1) {", "for (; 0; others &= others - 1) {"),
    ("split_rules.h", "(one == 'v' || one == 'r')", "one == 'v'"),
    ("split_rules.h", "if (late) count = lowest_bit(late);", ""),
    ("split_rules.h", "if (at == end || !(size", "if (!(size"),
    ("split_rules.h", "if (end < 64) starts |= (uint64_t)1 << end;", ""),
    ("split_rules.h", "starts &= ~((uint64_t)2 << at);", ""),
    ("split_rules.h", "!rules.any_prefix && at + 3 > count", "0"),
    ("split_rules.h", "blank | punctuation : m.space", "m.space | punctuation : m.space"),
    ("split_rules.h", "& low_bits(last + 1)", ""),
    ("split_rules.h", "solid && last == given", "1"),
    ("split_rules.h", "SMALL_BEFORE_WORDS ? 0 : 32", "SMALL_BEFORE_WORDS ? 32 : 32"),
    ("classify_sse2.h", "in_range_16(bytes, '0', 9)", "in_range_16(bytes, '0', 8)"),
    ("byte_halves.h", "A_TO_O | IS_SLASH", "A_TO_O"),
    ("bit_gather.h", "for (int i = 5; i >= 0; i--)", "for (int i = 3; i >= 0; i--)"),
    ("beyond_ascii.h", "if (unknown) c.count = lowest_bit(unknown);", ""),
    ("beyond_ascii.h", "c.count = highest_bit(leading);", ""),
    ("block_scan.h", "*complete &= c.count == count;", ""),
)


def mistaken(folder, file, right, wrong):
    """Build the extension with one mistake in its sources, into a folder."""
    sources = shutil.copytree(ROOT / "bpelab" / "native", folder / "native", ignore=shutil.ignore_patterns("*.so"))
    text = (sources / file).read_text(encoding="utf-8")
    assert text.count(right) == 1, (file, right)
    (sources / file).write_text(text.replace(right, wrong), encoding="utf-8")
    build(folder, "-O1", "-w", sources=sources)
    return folder


def checked(folder):
    return subprocess.run(
        [sys.executable, "-m", "tests.native.block_scans", "1"], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "BPELAB_CORE": str(folder)},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES if SOAK else MISTAKES[::3])
def test_a_mistake_is_noticed(mistake, tmp_path):
    """Each builds the extension once more, for ten seconds: a third of them here, and in a soak all."""
    done = checked(mistaken(tmp_path, *mistake))
    assert done.returncode == 1
    assert "AssertionError" in done.stderr


@pytest.mark.slow
def test_no_mistake_is_noticed_where_there_is_none(tmp_path):
    done = checked(mistaken(tmp_path, "split_rules.h", "#endif", "#endif"))
    assert done.returncode == 0, done.stderr
