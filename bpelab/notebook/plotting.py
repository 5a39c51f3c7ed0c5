"""Plotting: the style of the book's figures, and the growth plot that every chapter about speed draws.

Colours are Okabe and Ito's, which colour-blind readers can tell apart. Figures have a white background, even on dark
pages: no grey for text and axes has a contrast of 4.5 : 1 with both a white page and a dark one.
"""

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._support.install import install_command
from ..errors import MissingDependencyError

GREY = "#5E5E5E"
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"]


class NullFigure:
    """A null object for matplotlib in a browser's Python that lacks it: accepts any call, draws nothing."""

    def __getattr__(self, name: str) -> "NullFigure":
        if name.startswith("_"):  # the hooks by which IPython displays an object
            raise AttributeError(name)
        return self

    def __call__(self, *values: Any, **options: Any) -> "NullFigure":
        return self

    def __getitem__(self, key: Any) -> "NullFigure":
        return self

    def __iter__(self) -> Iterator["NullFigure"]:
        return iter(())

    def show(self) -> None:
        """Return None, so that a cell that ends with it shows nothing."""

    def subplots(self, rows: int = 1, columns: int = 1, **options: Any) -> tuple["NullFigure", Any]:
        """Return a figure and its axes, or a list of axes if there are more."""
        return self, self if rows * columns == 1 else [self] * (rows * columns)


def pyplot() -> Any:
    """Return matplotlib.pyplot in the book's style; in a browser without it, print a note and return a NullFigure."""
    try:
        import matplotlib.pyplot as plt
        from cycler import cycler
    except ImportError as error:
        if sys.platform == "emscripten":
            print("There is no matplotlib in this browser's Python. The figure is on the chapter's page in the book.")
            return NullFigure()
        raise MissingDependencyError(f"figures need matplotlib: {install_command('chapters')}") from error
    style: dict[str, Any] = {
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.figsize": (6.4, 3.6),
        "figure.facecolor": "white",
        "axes.facecolor": "white",
        "savefig.facecolor": "white",
        "figure.dpi": 110,
        "font.size": 10,
        "legend.frameon": False,
        "grid.color": GREY,
        "grid.alpha": 0.25,
        "axes.grid": True,
        "axes.axisbelow": True,
    }
    for part in ("axes.edge", "axes.label", "axes.title", "text.", "legend.label", "xtick.", "ytick."):
        style[f"{part}color"] = GREY
    plt.rcParams.update(style)  # type: ignore[arg-type]
    return plt


def seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """Return the lowest processor time of a few runs: that of the least disturbed one.

    Garbage is collected between them.

    With the environment variable BPELAB_MEASURE_ONCE=1 it runs once, for tests that ignore the number.

    >>> seconds(lambda: sum(range(1000))) < 1
    True
    """
    best, collecting = float("inf"), gc.isenabled()
    try:
        for _ in range(1 if os.environ.get("BPELAB_MEASURE_ONCE") == "1" else repeats):
            gc.collect()
            gc.disable()  # as timeit does: in a notebook full of objects a collection can take longer than the function
            start = time.process_time()
            function()
            best = min(best, time.process_time() - start)
            if collecting:
                gc.enable()
    finally:
        if collecting:
            gc.enable()
    return best


def plot_growth(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], xlabel: str, guides: Sequence[int] = (1, 2)
) -> Any:
    """Plot time against size on logarithmic axes, where a power of n is a straight line whose slope is the power.

    `curves` maps a name to (sizes, seconds). Dotted guides show slopes to compare with, from each first point.
    Returns the axes.
    """
    plt = pyplot()
    _, axes = plt.subplots()
    for name, (sizes, times) in curves.items():
        axes.loglog(sizes, times, "o-", label=name)
    anchor_sizes, anchor_times = next(iter(curves.values()))
    for power in guides:
        times = [anchor_times[0] * (size / anchor_sizes[0]) ** power for size in anchor_sizes]
        axes.loglog(anchor_sizes, times, ":", color=GREY, linewidth=1)
        label_style = {"xytext": (6, 4), "textcoords": "offset points", "color": GREY, "fontsize": 8}
        axes.annotate(f"slope {power}", (anchor_sizes[-1], times[-1]), **label_style)
    axes.set_xlabel(xlabel)
    axes.set_ylabel("processor time (s)")
    axes.legend()
    return axes


def plot_trie(root: Mapping[int, Any], end: int = -1) -> Any:
    """Draw a trie of nested dictionaries as a tree, one byte per edge; a ring with an id marks the end of a token.

    `end` is the key under which a node has its token's id. Returns the axes.
    """
    axes = pyplot().subplots(figsize=(6.4, 2.9))[1]
    leaves = 0

    def place(node: Mapping[int, Any], depth: int) -> float:
        nonlocal leaves
        children = [(byte, child, place(child, depth + 1)) for byte, child in node.items() if byte != end]
        row = sum(at for *_, at in children) / len(children) if children else float(leaves)
        leaves += not children
        for byte, _, at in children:
            axes.plot([depth, depth + 1], [row, at], color=GREY, linewidth=1.2, zorder=1)
            letter = repr(bytes([byte]))[2:-1].replace(" ", "␣")
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            axes.text(depth + 0.5, (row + at) / 2, letter, ha="center", va="center", bbox=box, family="monospace")
        token = node.get(end)
        colour = GREY if token is None else COLOURS[0]
        size = 6 if token is None else 15
        axes.plot(depth, row, "o", color=colour, markersize=size, markerfacecolor="white", zorder=2)
        if token is not None:
            axes.text(depth, row, str(token), color=colour, ha="center", va="center_baseline", fontsize=9)
        return row

    place(root, 0)
    axes.margins(0.08, 0.15)
    axes.invert_yaxis()
    axes.set_axis_off()
    return axes


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the power of n with which times grow: the slope of a line through the last half of a log-log plot.

    >>> round(slope([1, 2, 4, 8], [1, 4, 16, 64]), 2)
    2.0
    """
    half = len(sizes) // 2
    xs, ys = [math.log(size) for size in sizes[half:]], [math.log(t) for t in times[half:]]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)
