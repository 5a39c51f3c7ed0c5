"""A parameter sweep: a slider with a kernel, and a table of all its values without one.

For questions whose answer has to be recomputed for each setting, such as training with another vocabulary size. In a
notebook the slider is ipywidgets' own; a rendered page has no kernel to answer it, so it shows the table instead of a
dead control.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from .._support.install import install_command
from ..errors import MissingDependencyError


class Sweep:
    """Results of `compute` for the value that a slider chooses, or for all `values`: a row of named cells each.

    >>> sweep = Sweep("n", [1, 2], lambda n: {"square": n * n})
    >>> print(sweep)
    n  square
    1  1
    2  4

    Raises ValueError without values. Cost: one `compute` for each value when it is displayed, and one for each move.
    """

    def __init__(self, label: str, values: Sequence[Any], compute: Callable[[Any], Mapping[str, Any]]) -> None:
        if not values:
            raise ValueError("a sweep needs at least one value")
        self.label, self.values, self.compute = label, list(values), compute
        self._rows: list[list[str]] | None = None

    def rows(self) -> list[list[str]]:
        """Return the table, including its header, as text."""
        if self._rows is None:
            results = [self.compute(value) for value in self.values]
            body = [[str(value), *map(str, result.values())] for value, result in zip(self.values, results)]
            self._rows = [[self.label, *results[0]], *body]
        return self._rows

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.rows())]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in self.rows())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self.rows()
        rows = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body]
        names = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        return f'<table class="bpelab-sweep"><thead><tr>{names}</tr></thead><tbody>{"".join(rows)}</tbody></table>'

    def control(self) -> Any:
        """Return the slider and, below it, the row for the value that it chooses: an ipywidgets VBox."""
        try:
            import ipywidgets
        except ImportError as error:
            raise MissingDependencyError(f"a slider needs ipywidgets: {install_command('chapters')}") from error
        slider = ipywidgets.SelectionSlider(options=self.values, description=self.label, continuous_update=False)
        shown = ipywidgets.HTML()

        def update(change: Any = None) -> None:
            result = self.compute(slider.value)
            shown.value = "<br>".join(f"{escape(name)}: {escape(str(cell))}" for name, cell in result.items())

        slider.observe(update, "value")
        update()
        return ipywidgets.VBox([slider, shown])

    def _repr_mimebundle_(self, **options: Any) -> Any:
        static = {"text/plain": repr(self), "text/html": self._repr_html_()}
        try:
            bundle = self.control()._repr_mimebundle_(**options)
        except MissingDependencyError:
            return static
        views = bundle[0] if isinstance(bundle, tuple) else bundle or {}
        views |= static
        return bundle or views
