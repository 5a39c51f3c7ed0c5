"""The landing page's picture of the book: four parts, each with a drawing of the running example."""

from html import escape

from bpelab.encoders import ENCODERS
from bpelab.model.trace import trace_encode
from bpelab.widgets.running_example import NEW_TEXT, example_tokenizer


def road() -> str:
    """Return the book's four parts as a row of small drawings of its running example, each a link to its first page."""
    token = " rat"
    parts = [
        ("start", "Text", "What a model gets in place of letters.", _bytes_drawing(token)),
        (
            "training",
            "BPE, slowly",
            "Learn merges, apply them, get GPT-4's ids, keep users out of control.",
            _tree(token),
        ),
        ("heap", "BPE, fast", "The same ids from a heap, a trie and C, on streams and clusters.", _growth()),
        ("formats", "Tokenizers at work", "Open any file, measure, publish, and drive a model.", _bubbles()),
    ]
    items = "\n".join(
        f'<li><a href="{page}.html"><svg viewBox="0 0 180 110" aria-hidden="true">{drawing}</svg>'
        f"<strong>{name}</strong><span>{escape(about)}</span></a></li>"
        for page, name, about, drawing in parts
    )
    return f'<ol class="road" aria-label="The four parts of the book">\n{items}\n</ol>'


def _text(x: float, y: float, text: str, size: int = 14) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}">{escape(text)}</text>'


def _line(*points: tuple[float, float]) -> str:
    return f'<path d="M{"L".join(f"{x:.0f} {y:.0f}" for x, y in points)}"/>'


def _columns(token: str) -> list[float]:
    return [90 + 36 * (place - (len(token) - 1) / 2) for place in range(len(token))]


def _bytes_drawing(token: str) -> str:
    columns = list(zip(_columns(token), token))
    letters = (_text(x, 42, char.replace(" ", "␣"), 20) + _line((x, 52), (x, 66)) for x, char in columns)
    return "".join(letters) + "".join(_text(x, 84, str(ord(char))) for x, char in columns)


def _tree(token: str) -> str:
    """Draw the merges of a token, the first one lowest, over its letters."""
    model = example_tokenizer().model
    nodes = {token_id: (x, 78.0) for x, token_id in zip(_columns(token), token.encode())}
    drawing = [_text(x, 96, char.replace(" ", "␣")) for x, char in zip(_columns(token), token)]
    for level, step in enumerate(trace_encode(ENCODERS["naive"](model), token.encode()), start=1):
        (x1, y1), (x2, y2) = nodes[step.left], nodes[step.right]
        top = 78.0 - 20 * level
        nodes[step.token] = (x1 + x2) / 2, top
        drawing += [
            _line((x1, y1), (x1, top), (x2, top), (x2, y2)),
            _text((x1 + x2) / 2 + 8, top - 4, str(level - 1), 10),
        ]
    return "".join(drawing)


def _growth() -> str:
    sizes = [n / 10 for n in range(1, 11)]
    square = _line(*((20 + 140 * n, 92 - 80 * n * n) for n in sizes))
    straight = _line(*((20 + 140 * n, 92 - 14 * n) for n in sizes))
    return square + straight + _text(112, 24, "n²") + _text(140, 70, "n log n", 12)


def _bubbles() -> str:
    ids = " ".join(map(str, example_tokenizer().encode(NEW_TEXT)[:3]))
    box = '<rect x="{}" y="{}" width="132" height="34" rx="8"/>'
    return box.format(8, 10) + _text(74, 32, NEW_TEXT) + box.format(40, 64) + _text(106, 86, f"{ids} …")
