"""Draw README's picture from the built book: a figure of a page, all its steps in one SVG that plays them.

`make picture`; it needs Chromium. Shapes, words and colours are those of the page, as the browser computed them.
What stays the same for several steps is written once, and a rule of CSS shows it for as long. Who asks for less
motion sees the last step. `words` returns what can be read at each step, by which a test compares picture and page.
"""

import re
import shutil
import sys
import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html" / "book" / "encoding.html"
PICTURE = ROOT / "book" / "images" / "merges.svg"
FIGURE = ".bl[aria-label='Merges of a text, step by step']"
MARGIN, HEAD, SECONDS, HOLD = 16, 44, 1.1, 3
"""Pixels around the figure and above it for the sentence; seconds for a step, and more for the last."""

READ = """(root) => {
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function paint(name, colour) {
    if (colour === "none") return { [name]: colour };
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
    const hex = "#" + [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
    return alpha === 255 ? { [name]: hex } : { [name]: hex, [`${name}-opacity`]: (alpha / 255).toFixed(2) };
  }
  function read(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const style = getComputedStyle(node), tag = node.tagName, looks = {};
    if (tag === "title" || style.visibility === "hidden") return null;
    const own = ["x", "y", "width", "height", "rx", "d", "textLength", "lengthAdjust"];
    const given = own.filter((name) => node.hasAttribute(name));
    const place = Object.fromEntries(given.map((name) => [name, node.getAttribute(name)]));
    if (tag !== "g") Object.assign(looks, paint("fill", style.fill), paint("stroke", style.stroke));
    if (style.stroke !== "none" && tag !== "g") looks["stroke-width"] = parseFloat(style.strokeWidth);
    if (style.strokeOpacity !== "1") looks["stroke-opacity"] = style.strokeOpacity;
    if (tag === "text" || tag === "tspan") looks["font-size"] = style.fontSize;
    return { tag, place, looks, inside: [...node.childNodes].map(read).filter((part) => part !== null) };
  }
  const shapes = [...root.querySelectorAll(".bl-branch, .bl-box")].map(read).filter((shape) => shape !== null);
  return { sentence: root.querySelector(".bl-say").textContent, shapes };
}"""


def steps(tab: Any) -> tuple[list[dict[str, Any]], tuple[float, float]]:
    """Return the sentence and the shapes of each step of the figure on an open page, and the figure's size."""
    figure = tab.locator(FIGURE).first
    slider = figure.locator("input[type=range]")
    found = []
    for step in range(int(slider.get_attribute("max")) + 1):
        slider.fill(str(step))
        found.append(figure.evaluate(READ))
    drawing = figure.locator("svg").first
    return found, (float(drawing.get_attribute("width")), float(drawing.get_attribute("height")))


class Looks:
    """Classes of CSS for the colours, lines and letters that occur."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def of(self, looks: dict[str, Any]) -> str:
        rule = ";".join(f"{name}:{value}" for name, value in sorted(looks.items()))
        return self._classes.setdefault(rule, f"c{len(self._classes)}")

    def css(self) -> str:
        return "".join(f".{name}{{{rule}}}" for rule, name in self._classes.items())


def markup(shape: Any, looks: Looks) -> str:
    if isinstance(shape, str):
        return escape(shape, quote=False)
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in shape["place"].items())
    if shape["looks"]:
        attributes += f' class="{looks.of(shape["looks"])}"'
    return f"<{shape['tag']}{attributes}>{''.join(markup(part, looks) for part in shape['inside'])}</{shape['tag']}>"


def sentence(text: str) -> str:
    """Return a sentence in two lines, the first of which says how far the merging has come."""
    lines = re.split(r"(?<=[:.]) ", text, maxsplit=1)
    rows = (f'<tspan x="0" dy="{20 * min(row, 1)}">{escape(line)}</tspan>' for row, line in enumerate(lines))
    return f'<text class="say" y="-34">{" ".join(rows)}</text>'


def picture(found: list[dict[str, Any]], size: tuple[float, float]) -> str:
    """Return the steps as one SVG."""
    looks, seen = Looks(), dict[str, list[int]]()
    for step, shown in enumerate(found):
        for shape in (*(markup(shape, looks) for shape in shown["shapes"]), sentence(shown["sentence"])):
            seen.setdefault(shape, []).append(step)
    last = len(found) - 1
    whole = SECONDS * last + HOLD
    groups, spans = [], dict[str, str]()
    for shape, at in sorted(seen.items(), key=lambda item: -item[1][0]):  # as on the page, ranks lie over later lines
        assert at == [*range(at[0], at[-1] + 1)], "a shape comes back after it was gone"
        name = f"s{at[0]}-{at[-1]}"
        hidden = "" if at[-1] == last else ' visibility="hidden"'
        groups.append(f'<g class="{name}"{hidden}>{shape}</g>')
        begin, end = (100 * SECONDS * step / whole for step in (at[0], at[-1] + 1))
        frames = "0%{visibility:hidden}" if at[0] else ""
        frames += f"{begin:.2f}%{{visibility:visible}}"
        frames += f"{end:.2f}%{{visibility:hidden}}" if at[-1] != last else ""
        spans[name] = f"@keyframes {name}{{{frames}}}.{name}{{animation:{name} {whole:g}s step-end infinite}}"
    width, height = size[0] + 2 * MARGIN, size[1] + HEAD + 2 * MARGIN
    title = f"The merges that encode a text, step by step. {found[-1]['sentence']}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            "<style>text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;text-anchor:middle;"
            "white-space:pre}.say{font:14px system-ui,'Segoe UI','DejaVu Sans',sans-serif;text-anchor:start;"
            f"fill:#222832}}{looks.css()}",
            f"@media (prefers-reduced-motion:no-preference){{{''.join(spans.values())}}}</style>",
            f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="6" fill="#fff" stroke="#d0d4d9"/>',
            f'<g transform="translate({MARGIN} {MARGIN + HEAD})">',
            *groups,
            "</g>",
            "</svg>",
            "",
        ]
    )


def words(svg: str) -> list[list[str]]:
    """Return the words of a picture at each step: the sentence, then the ranks, tokens and ids, sorted."""
    named = "{http://www.w3.org/2000/svg}"
    shown: dict[int, list[str]] = {}
    for group in ET.fromstring(svg).iter(f"{named}g"):
        if span := re.fullmatch(r"s(\d+)-(\d+)", group.get("class", "")):
            for step in range(int(span[1]), int(span[2]) + 1):
                shown.setdefault(step, []).extend("".join(text.itertext()) for text in group.iter(f"{named}text"))
    return [sorted(shown[step]) for step in sorted(shown)]


def main() -> None:
    from playwright.sync_api import sync_playwright

    if not HTML.exists():
        sys.exit("there is no page to draw: run `make book` first")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light", reduced_motion="reduce")
        tab.goto(HTML.as_uri())
        PICTURE.write_text(picture(*steps(tab)), encoding="utf-8", newline="\n")
        browser.close()


if __name__ == "__main__":
    main()
