"""What chapters draw and show with: the figure of speed, a browser without matplotlib, sources, vocabularies."""

import json
import sys

import pytest

from bpelab import MissingDependencyError
from bpelab.encoders import HeapEncoder
from bpelab.encoders.trie import build_trie
from bpelab.notebook import live_source as notebook, plotting
from bpelab.widgets import sphinx


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context():
        matplotlib.use("agg")
        plt = plotting.pyplot()
        yield plt
        plt.close("all")


def test_seconds(monkeypatch):
    """As many runs as are asked for, and one where nobody looks at the number."""
    monkeypatch.delenv("BPELAB_MEASURE_ONCE", raising=False)
    runs = []
    assert 0 <= plotting.seconds(lambda: runs.append(0), 5) < 1
    assert len(runs) == 5
    monkeypatch.setenv("BPELAB_MEASURE_ONCE", "1")
    plotting.seconds(lambda: runs.append(0), 5)
    assert len(runs) == 6


def test_growth(plt):
    """The curves as they are, guides with the slopes that they name, both axes labelled and logarithmic."""
    axes = plotting.plot_growth({"one": ([1, 10, 100], [1.0, 10.0, 100.0]), "two": ([1, 10], [2.0, 3.0])}, "bytes")
    first, second, *guides = axes.get_lines()
    assert [line.get_label() for line in (first, second)] == ["one", "two"]
    assert list(second.get_ydata()) == [2.0, 3.0]
    assert [plotting.slope(line.get_xdata(), line.get_ydata()) for line in guides] == pytest.approx([1, 2])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("bytes", "processor time (s)")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for colour in axes.get_facecolor(), axes.figure.get_facecolor():
        assert colour == (1, 1, 1, 1)  # white, and nothing shines through: for light pages and for dark ones


def test_a_trie_is_drawn_as_a_tree(plt):
    """An edge a byte, a ring and an id for each token, and no two nodes in one place."""
    trie, _ = build_trie({b"so": 1, b"some": 2, b"song": 3, b"met": 4})
    axes = plotting.plot_trie(trie)
    assert sorted(text.get_text() for text in axes.texts) == sorted("somengmet1234")
    nodes = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.get_lines() if line.get_marker() == "o"]
    assert len(nodes) == len(set(nodes)) == 1 + len("somengmet")
    assert plotting.plot_trie({}) is not None


def test_text_can_be_read(plt):
    """A contrast of at least 4.5 : 1, as WCAG 2 defines it, between each colour of text and the figure's white."""
    from matplotlib.colors import to_rgb

    for name in ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color", "legend.labelcolor"):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(plt.rcParams[name])]
        luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))
        assert 1.05 / (luminance + 0.05) >= 4.5, name


def test_a_browser_without_matplotlib(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match="figures need matplotlib"):
        plotting.pyplot()
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert plotting.plot_growth({"one": ([1, 2], [1.0, 2.0])}, "bytes") is not None
    assert plotting.plot_trie({97: {-1: 1}}) is not None
    assert capsys.readouterr().out.startswith("There is no matplotlib in this browser's Python.")
    plt = plotting.pyplot()
    figure, axes = plt.subplots(2, 2)
    assert len(axes) == 4 and figure.tight_layout().anything[3](1) is figure and list(figure) == []
    assert plt.show() is None
    with pytest.raises(AttributeError):
        plt._repr_html_()


def test_sources_are_those_that_run(monkeypatch):
    pytest.importorskip("IPython")
    shown = notebook.show_source(HeapEncoder.encode_piece, notebook.passages).data
    assert shown.startswith("`bpelab/encoders/heap.py`\n\n```python\ndef encode_piece(self")
    assert "`bpelab/notebook/live_source.py`\n\n```python\ndef passages(" in shown.replace("@lru_cache(None)\n", "")
    shown = notebook.show_c("replace.h", "add_neighbour", "apply_merge").data
    assert shown.startswith("`bpelab/native/replace.h`\n\n```c\n/* Add a neighbour of the new token; returns")
    assert (
        shown.count("```c\n") == 2
        and "\nINLINE int64_t add_neighbour(Words *w" in shown
        and shown.endswith("return 0;\n}\n```")
    )
    shown = notebook.show_c("piece_cache.h", "Table", "Cache").data
    assert "```c\ntypedef struct {\n    uint64_t *rows; /*" in shown and "\n} Table;\n```\n\n`bpelab/native/pi" in shown
    assert shown.endswith("picks the row to replace */\n} Cache;\n```") and shown.count("typedef") == 2
    with pytest.raises(ValueError, match=r"there is no function and no structure replace_none in replace\.h"):
        notebook.show_c("replace.h", "replace_none")
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    for show in (lambda: notebook.show_source(HeapEncoder), lambda: notebook.show_c("replace.h", "add_neighbour")):
        with pytest.raises(MissingDependencyError, match="showing source needs IPython"):
            show()


def test_a_vocabulary_that_cannot_be_had_is_said(monkeypatch, capsys):
    tiktoken = pytest.importorskip("tiktoken")

    def unreachable(name):
        raise ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", unreachable)
    assert notebook.tiktoken_encoding("cl100k_base") is None
    assert "cl100k_base (ConnectionError). It needs the network once" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert notebook.tiktoken_encoding("cl100k_base") is None
    assert "pip install" in capsys.readouterr().out


class App:
    """As much of Sphinx as the extension asks for."""

    def __init__(self, folder, form):
        self.outdir, self.connected, self.files = folder, {}, []
        self.builder = type("Builder", (), {"format": form})
        self.env = type("Env", (), {"nb_metadata": {"page": {"js_files": {"ipywidgets_state": 1, "other": 2}}}})

    def connect(self, event, call, priority=0):
        self.connected[event] = call

    def add_js_file(self, name, **options):
        self.files.append(name)

    add_css_file = add_js_file


def test_what_the_book_gets_of_the_figures(tmp_path):
    app = App(tmp_path, "html")
    assert sphinx.setup(app)["parallel_read_safe"]
    app.connected["builder-inited"](app)
    written = {path.name for path in (tmp_path / "_static").iterdir()}
    asked_for = {sphinx.LIBRARY, sphinx.WEIGHTS}  # a page loads one if it tokenizes, one if a reader asks the model
    assert written == {*app.files, *asked_for}
    assert not asked_for & set(app.files)
    script = (tmp_path / "_static" / sphinx.SCRIPT).read_text(encoding="utf-8")
    assert all(f"figures.{name} = " in script for name in sphinx.NAMES) and "export default" not in script
    app.connected["html-page-context"](app, "page", "", {}, None)
    assert json.dumps(app.env.nb_metadata) == '{"page": {"js_files": {"other": 2}}}'
    paper = App(tmp_path / "paper", "latex")
    sphinx.write_assets(paper)
    assert not (tmp_path / "paper").exists()
