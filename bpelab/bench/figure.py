"""The figure of a record: how fast each library encodes unseen text, and how much of that time goes into the list."""

from typing import Any

from ..errors import BPELabError
from ..notebook.plotting import COLOURS, GREY, pyplot
from .record import Record
from .summary import Row, Speed, speeds


def bench_figure(record: Record, encoding: str | None = None) -> Any:
    """Draw a matplotlib figure: a panel for each text, a bar for each library, and a second one for arrays.

    `encoding` is the record's first by default. The bars are MB per second of processor time on unseen text; the
    number beside a bar is how many times as fast as the baseline that is. Raises BPELabError if there is nothing to
    draw.
    """
    rows = speeds(record)
    unseen = {row: found for row, found in rows.items() if row.measure == "unseen"}
    encoding = encoding or next((row.encoding for row in unseen), None)
    texts = list(dict.fromkeys(row.text for row in unseen if row.encoding == encoding))
    if encoding is None or not texts:
        raise BPELabError("this record has no speeds of encoding to draw; `bpelab bench --only encode` measures them")
    plt = pyplot()
    outputs = {
        out: {text: unseen.get(Row(encoding, "unseen", text, out, 1), {}) for text in texts}
        for out in ("list", "array")
    }
    names = _slowest_first(record, outputs["list"][texts[0]])
    columns = min(2, len(texts))
    lines = -(-len(texts) // columns)
    figure, panels = plt.subplots(
        lines, columns, sharey=True, sharex=True, squeeze=False, figsize=(8, lines * (0.5 + 0.3 * len(names)))
    )
    for panel, text in zip(panels.flat, texts):
        for offset, (output, found), colour in zip((0.2, -0.2), outputs.items(), COLOURS):
            _bars(panel, names, found[text], offset, colour, f"as {'a list' if output == 'list' else 'an array'}")
        panel.set_title(f"{text}, {encoding}", fontsize=10)
        panel.grid(axis="y", visible=False)
    for panel in panels.flat[len(texts) :]:
        panel.set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("MB per second of processor time")
    panels[0, 0].set_yticks(range(len(names)), names)
    panels[0, 0].legend(loc="lower right", fontsize=8)
    machine = record["machine"]
    figure.text(0.01, 0, f"unseen text; {machine['cpu']}; {record['date'][:10]}", fontsize=7, color=GREY)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return figure


def _slowest_first(record: Record, speed: dict[str, Speed]) -> list[str]:
    return sorted(speed, key=lambda name: speed[name].rate)


def _bars(panel: Any, names: list[str], speed: dict[str, Speed], offset: float, colour: str, label: str) -> None:
    positions = [index + offset for index, name in enumerate(names) if name in speed]
    rates = [speed[name].rate for name in names if name in speed]
    panel.barh(positions, rates, height=0.36, color=colour, label=label)
    for y, name in zip(positions, (name for name in names if name in speed)):
        times = speed[name].times
        if times is not None:
            style = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 7, "color": GREY}
            panel.annotate(f"{times.median:.1f}x", (speed[name].rate, y), **style)
