"""A Sphinx extension that adds the script and the style sheet of interactive figures to a book.

The script is a classic one, since browsers refuse modules on pages opened from a disk. It wraps each figure's module
in a function, finds the figures of a page, and passes each the data embedded next to it, instead of a kernel's.

The library in JavaScript (`library.py`) and the weights of the model that comes with bpelab are scripts as well, for
the same reason. A page loads the one if it has a figure that tokenizes, or when a reader first types into another
figure, and the other when a figure first asks for it.
"""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from .. import __version__
from ..data import FOLDER
from .library import library_parts

NAMES = (
    "ask_model",
    "batch_sizes",
    "byte_inspector",
    "cache_stepper",
    "chat_box",
    "claim_table",
    "cluster_stepper",
    "cost_calculator",
    "cover_tree",
    "heap_stepper",
    "longest_match",
    "mask_stepper",
    "merge_player",
    "model_view",
    "playground",
    "pre_token_view",
    "reachable_tokens",
    "stream_buffer",
    "template_inspector",
    "token_view",
    "train_scrubber",
    "transition_point",
    "trie_walker",
)
SCRIPT, STYLE = "bpelab-figures.js", "bpelab-figures.css"
LIBRARY, WEIGHTS = "bpelab-library.js", "bpelab-weights.js"


def page_script() -> str:
    """Return the classic script: shared code, one function for each figure, and the code that starts them."""
    from .base import BOX, MODEL, OWN_TEXT, SHARED, TOKENIZERS, TOKENIZING, resource

    figures = "".join(
        f"figures.{name} = (() => {{\n{resource(f'js/{name}.js')}return {{ render }};\n}})();\n" for name in NAMES
    )
    shared = "\n".join(resource(f"js/{part}") for part in (*SHARED, *TOKENIZERS, *BOX, *OWN_TEXT, *MODEL))
    beside = f"const LIBRARY = {json.dumps(LIBRARY)}, WEIGHTS = {json.dumps(WEIGHTS)};"
    needs = f"const TOKENIZING = {json.dumps([*TOKENIZING])};"
    parts = (shared, "const figures = {};", figures, beside, needs, resource("js/page.js"))
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def library_script() -> str:
    """Return the script with the library in JavaScript."""
    return f'"use strict";\nglobalThis.bpelabLibrary = {library_parts()};\n'


def weights_script() -> str:
    """Return the script with the shipped model's weights: model.safetensors in base64, a third longer than the file."""
    data = b64encode((FOLDER / "tiny_chat" / "model.safetensors").read_bytes()).decode()
    return f'globalThis.bpelabWeights = "{data}";\n'


def write_assets(app: Any) -> None:
    """Write the scripts and the style sheet into the build, before Sphinx computes their checksums."""
    if app.builder.format != "html":
        return
    from .base import resource

    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCRIPT).write_text(page_script(), encoding="utf-8")
    (folder / LIBRARY).write_text(library_script(), encoding="utf-8")
    (folder / WEIGHTS).write_text(weights_script(), encoding="ascii")
    (folder / STYLE).write_text(resource("css/figures.css"), encoding="utf-8")


def drop_widget_state(app: Any, page: str, template: str, context: Any, doctree: Any) -> None:
    """Remove the widget state that a kernel left in the notebook: the figures carry their own data."""
    files = getattr(app.env, "nb_metadata", {}).get(page, {}).get("js_files", {})
    for key in [key for key in files if key.startswith("ipywidgets")]:
        del files[key]


def setup(app: Any) -> dict[str, Any]:
    """Register the extension; Sphinx calls it."""
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", drop_widget_state, priority=100)  # before myst-nb adds the state that it finds
    app.add_js_file(SCRIPT, loading_method="defer")
    app.add_css_file(STYLE)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
