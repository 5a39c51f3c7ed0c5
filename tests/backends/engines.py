"""What the tests of the engines share: each backend on one small model, and rows of ids compared up to rounding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from bpelab.chat.backends import BACKENDS
from bpelab.chat.backends.base import Backend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import ModelFiles

from .conftest import need

PACKAGES = {
    "mlx": ("mlx.core", "mlx_lm"),
    "llama_cpp": ("llama_cpp",),
    "openvino": ("openvino", "optimum.intel"),
    "transformers": ("torch", "transformers"),
    "reference": ("numpy",),
}
ENGINES = tuple(name for name in BACKENDS if name != "reference")
CLOSE = 1e-3
"""Two logits that are nearer than this may change places by rounding."""


def open_engine(name: str, files: ModelFiles, *, context: int = 512, **options) -> Backend:
    """A backend for a test, or a skip that names the package that is missing. On one core of the CPU, so exact."""
    for package in PACKAGES[name]:
        need(package)
    options = {"gpu_layers": 0, "device": None, "threads": 1} | options
    return import_module(f"bpelab.chat.backends.{name}").open(files, context=context, **options)


def greedy(backend: Backend, prompt: Sequence[int], number: int) -> list[int]:
    """The most likely ids after a prompt, stop ids being tokens like all others."""
    return [each.id for each in generate(backend, prompt, max_new_tokens=number)]


@dataclass(frozen=True)
class Rounding:
    """A place where two backends chose differently between two tokens that are as good as equally likely."""

    prompt: int
    place: int
    chosen: int
    expected: int
    gap: float

    def __str__(self) -> str:
        return (
            f"prompt {self.prompt}, token {self.place}: {self.chosen} for {self.expected}, {self.gap:.1e} between them"
        )


def differences(
    backend: Backend, reference: Backend, number: int, prompt: Sequence[int], expected: Sequence[int]
) -> Iterator[Rounding]:
    """Where `backend`, on the reference's way through prompt `number`, would have gone another.

    Every token is compared, those behind a difference too. A difference is rounding, or an AssertionError: on both
    backends the two logits must be within CLOSE of each other.
    """
    ours = greedy(backend, prompt, len(expected))
    if ours == expected:
        return
    for place, token in enumerate(expected):
        row = [*prompt, *expected[:place]]
        logits = backend.next_logits(row)
        chosen = int(logits.argmax())
        if chosen != token:
            rows = logits, reference.next_logits(row)
            gap = max(abs(float(each[chosen] - each[token])) for each in rows)
            assert gap <= CLOSE, f"{backend.name}, prompt {number}, token {place}: {chosen} for {token}, {gap} apart"
            yield Rounding(number, place, chosen, token, gap)


def random_ids(random: np.random.Generator, backend: Backend, length: int) -> list[int]:
    return [int(each) for each in random.integers(0, backend.vocab_size, length)]
