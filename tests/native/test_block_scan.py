"""Splitting by rules, 64 bytes at a time: the pieces of the automaton, by each instruction set that this machine has."""

import os
import random
import subprocess
import sys

import pytest

from bpelab import native

from ..conftest import amount

if native.extension() is None:
    pytest.skip("the extension was not built: no C compiler", allow_module_level=True)

from .block_scans import all_texts, compare, compare_random, edges, instruction_sets, tables

NAMED = ("gpt2", "cl100k", "o200k", "llama3", "qwen2")
OTHERS = [name for name in tables() if name not in NAMED]


@pytest.mark.parametrize("name", NAMED)
def test_every_text_of_five_classes(name):
    for texts in all_texts(5):
        compare(name, texts)


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_of_four_classes(name):
    for texts in all_texts(4):
        compare(name, texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", tables())
def test_every_text_of_six_classes(name):
    for before in "".join(map(str, range(1))), :
        for texts in all_texts(6, before):
            compare(name, texts)


@pytest.mark.parametrize("name", tables())
def test_every_short_text_across_the_end_of_a_block(name):
    for before in edges():
        for texts in all_texts(3, before):
            compare(name, texts)


@pytest.mark.parametrize("name", tables())
def test_random_texts_whole_and_cut(name):
    texts = amount(200, 20_000)
    assert compare_random(name, random.Random(name), texts) > 50 * texts
