"""The base class of figures: data computed in Python, front-end code that draws it, and a still image in HTML.

In Jupyter a figure is an anywidget. A reader's own text arrives through the trait `text`, the data is recomputed, and
an error becomes a sentence in the figure. The same object also has a `text/html` representation: the still, shown where
no code runs, and the data as JSON. The book's pages contain that, and one script per page makes it interactive. There
the data of a reader's own text is computed in the page, if the library in JavaScript can (`for_own_text`).
"""

import json
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import Any, ClassVar, Literal

from .._support.install import install_command
from .._support.textio import valid_text
from ..errors import BPELabError, MissingDependencyError
from .library import library_parts
from .visible import pluralize

try:
    import traitlets
    from anywidget import AnyWidget
except ImportError as error:
    raise MissingDependencyError(f"interactive figures need anywidget: {install_command('chapters')}") from error

SHARED = ("elements.js", "shared.js", "columns.js")
"""Front-end code that comes before every figure's own."""
TOKENIZERS = ("labels.js", "tokenizers.js")
"""The library in JavaScript, for the figures that tokenize: they wait until `startLibrary` has its parts."""
BOX = ("merge_steps.js", "token_panel.js", "kept_files.js", "vocabularies.js", "vocabulary_side.js", "text_link.js")
"""The parts of the box to type in."""
OWN_TEXT = ("own_merges.js", "own_pieces.js", "own_pushes.js", "own_tokens.js", "own_cuts.js", "own_text.js")
"""What computes the data of a reader's own text on a page, as `compute` does in Python, which defines it."""
MODEL = ("safetensors.js", "language_model.js", "sampling.js", "model_steps.js", "generation.js")
"""A language model in JavaScript, for the figures that run one. It needs nothing of a page."""
TOKENIZING = {
    "ask_model": (*TOKENIZERS, *MODEL),
    "model_view": (*TOKENIZERS, *MODEL),
    "playground": (*TOKENIZERS, *BOX),
}
"""The figures that tokenize in the page, and the code that they need."""


@lru_cache(None)
def resource(name: str) -> str:
    """Return the text of a file of this package, such as "js/shared.js"."""
    return (files("bpelab.widgets") / name).read_text(encoding="utf-8")


def front_end(name: str) -> str:
    """Return the JavaScript module of one figure."""
    parts = [*SHARED, *TOKENIZING.get(name, ()), f"{name}.js"]
    code = "\n".join(resource(f"js/{part}") for part in parts)
    start = f"await startLibrary({library_parts()});\n" if name in TOKENIZING else ""
    return f"{code}\n{start}export default {{ render }};\n"


class Figure(AnyWidget):
    """An interactive figure about one text.

    A subclass has a `name` (that of its front-end file) and a maximum text size (`limit`, counted in `unit`). It
    computes `data` from a text (`compute`) and writes its last step as HTML (`still`). `data` must be valid JSON, and
    `data["say"]` is the still's sentence.

    Attributes:
        text: the text shown; setting it computes `data` again. Longer text is truncated, and `data["note"]` says so.
        data: the data that the front end draws.
        error: why the last text could not be shown, or "".
        live: true in Jupyter; false on a page, where there is no kernel.
    """

    name: ClassVar[str]
    limit: ClassVar[int]
    unit: ClassVar[Literal["byte", "character"]] = "character"

    text = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    live = traitlets.Bool(True).tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)

    def __init_subclass__(cls, **options: Any) -> None:
        if "name" in cls.__dict__:  # not in the subclass that traitlets itself makes of this one
            cls._esm = front_end(cls.name)
            cls._css = resource("css/figures.css")
        super().__init_subclass__(**options)

    def __init__(self, text: str) -> None:
        self._note = ""
        super().__init__(text=text)
        self.data = self._compute_data()
        self.observe(self._recompute, "text")

    def compute(self, text: str) -> dict[str, Any]:
        """Return the data of the figure for a text that is valid and short enough."""
        raise NotImplementedError

    def still(self, data: dict[str, Any]) -> str:
        """Return the last step as HTML, with all outside text escaped."""
        raise NotImplementedError

    def for_own_text(self) -> dict[str, Any] | None:
        """Return what a page needs to compute the data of a reader's own text, or None if it can't.

        `tokenizers` are as `trained_data` returns them; what else there is, a figure's own function in `js/` reads.
        """
        return None

    @traitlets.validate("text")
    def _validate_text(self, proposal: Any) -> str:
        text = valid_text(proposal["value"])
        shown = self.truncate(text)
        note = ""
        if len(shown) < len(text):
            sizes = [len(part.encode()) if self.unit == "byte" else len(part) for part in (shown, text)]
            note = f"Only the first {sizes[0]:,} of {pluralize(sizes[1], self.unit)} are shown."
        if note != self._note:
            self._note = note
            if self.data and shown == self.text:  # the text doesn't change, so `data` would not be recomputed
                self.data = {**self.data, "note": note}
        return shown

    def truncate(self, text: str) -> str:
        """Return the part of `text` that the figure shows: whole characters up to the limit."""
        if self.unit == "byte":
            return text[: self.limit].encode()[: self.limit].decode("utf-8", "ignore")
        return text[: self.limit]

    def _compute_data(self) -> dict[str, Any]:
        return {**self.compute(self.text), "note": self._note}

    def _recompute(self, change: Any) -> None:
        try:
            data, error = self._compute_data(), ""
        except BPELabError as exception:
            data, error = self.data, str(exception)
        except Exception as exception:  # a reader gets a sentence, never a traceback
            data, error = self.data, f"This text can't be shown: {type(exception).__name__}: {exception}"
        with self.hold_sync():
            self.data, self.error = data, error

    def static_html(self) -> str:
        """Return the still and the data for a page's script, as HTML without code that depends only on the text."""
        data = self.data
        if (own := self.for_own_text()) is not None:
            data = {**data, "own_text": {"text": self.text, "limit": self.limit, "unit": self.unit, **own}}
        # These characters are written as JSON escapes, so that no text can close the element around it.
        escapes = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
        payload = json.dumps(data, separators=(",", ":")).translate(escapes)
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
