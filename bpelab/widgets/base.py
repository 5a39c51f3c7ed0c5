"""What every figure is: data computed in Python, front-end code that draws it, and a still where nothing runs.

In Jupyter a figure is an anywidget. A reader's own text comes back through the trait `text`, the data is computed
again, and what can't be computed becomes a sentence in the figure. The same object also says `text/html`: the still
and the data as JSON, without code. The book's pages hold that, and their one script brings it to life.
"""

import json
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any, ClassVar, Literal

from ..errors import BPELabError, MissingDependencyError
from ..install import install_command
from ..textio import valid_text
from .visible import number

try:
    import traitlets
    from anywidget import AnyWidget
except ImportError as error:
    raise MissingDependencyError(f"interactive figures need anywidget: {install_command('chapters')}") from error

SHARED = ("shared.js", "columns.js")
"""Front-end code that stands before that of every figure."""


@lru_cache(None)
def resource(name: str) -> str:
    """The text of a file beside this one: "js/shared.js", say."""
    return (files("bpelab.widgets") / name).read_text(encoding="utf-8")


def front_end(name: str) -> str:
    """The JavaScript module of one figure."""
    return "\n".join(resource(f"js/{part}") for part in (*SHARED, f"{name}.js"))


class Figure(AnyWidget):
    """An interactive figure about one text.

    A subclass names itself (`name`, the front-end file), says how much text it shows (`limit` of `unit`), computes
    `data` from a text (`compute`) and writes the last step of it as HTML (`still`). `data` is JSON-able, and `say` in
    it is the still's sentence.

    Attributes:
        text: what is shown; setting it computes `data` again. Longer text is cut, and `data["note"]` says so.
        data: what the front end draws.
        error: why the last text could not be shown, or "".
        live: true in Jupyter; false in a page, where no kernel could answer.
    """

    name: ClassVar[str]
    limit: ClassVar[int]
    unit: ClassVar[Literal["byte", "character"]] = "character"

    text = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    live = traitlets.Bool(True).tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)

    def __init_subclass__(cls, **options: Any) -> None:
        if "name" in cls.__dict__:  # not where traitlets makes a class of its own from this one
            cls._esm = front_end(cls.name)
            cls._css = resource("css/figures.css")
        super().__init_subclass__(**options)

    def __init__(self, text: str) -> None:
        self._note = ""
        super().__init__(text=text)
        self.data = self._computed()
        self.observe(self._recompute, "text")

    def compute(self, text: str) -> dict[str, Any]:
        """The data of the figure for a text that is valid and short enough."""
        raise NotImplementedError

    def still(self, data: dict[str, Any]) -> str:
        """The last step as HTML, everything from outside escaped."""
        raise NotImplementedError

    @traitlets.validate("text")
    def _valid(self, proposal: Any) -> str:
        text = valid_text(proposal["value"])
        shown = self.cut(text)
        note = ""
        if len(shown) < len(text):
            sizes = [len(part.encode()) if self.unit == "byte" else len(part) for part in (shown, text)]
            note = f"Only the first {sizes[0]:,} of {number(sizes[1], self.unit)} are shown."
        if note != self._note:
            self._note = note
            if self.data and shown == self.text:  # nothing else changes, so nothing else would say it
                self.data = {**self.data, "note": note}
        return shown

    def cut(self, text: str) -> str:
        """The part of `text` that the figure shows: whole characters up to the limit."""
        if self.unit == "byte":
            return text[: self.limit].encode()[: self.limit].decode("utf-8", "ignore")
        return text[: self.limit]

    def _computed(self) -> dict[str, Any]:
        return {**self.compute(self.text), "note": self._note}

    def _recompute(self, change: Any) -> None:
        try:
            data, error = self._computed(), ""
        except BPELabError as problem:
            data, error = self.data, str(problem)
        except Exception as problem:  # a reader gets a sentence, never a traceback
            data, error = self.data, f"This text can't be shown: {type(problem).__name__}: {problem}"
        with self.hold_sync():
            self.data, self.error = data, error

    def static_html(self) -> str:
        """The still, and the data for a page's script: HTML without code, the same for the same text."""
        # In JSON these characters can be written as escapes, so that no text ends the element that holds it.
        escapes = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
        payload = json.dumps(self.data, separators=(",", ":")).translate(escapes)
        note = f'\n<p class="bpelab-note">{escape(self.data["note"])}</p>' if self.data["note"] else ""
        return (
            f'<div class="bpelab-figure" data-figure="{self.name}">\n'
            f'<div class="bpelab-still">\n{self.still(self.data)}{note}\n</div>\n'
            f'<script type="application/json">{payload}</script>\n</div>'
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = super()._repr_mimebundle_(**options)
        views = bundle[0] if isinstance(bundle, tuple) else bundle or {}
        views |= {"text/plain": f"{type(self).__name__}: {self.data['say']}", "text/html": self.static_html()}
        return bundle or views
