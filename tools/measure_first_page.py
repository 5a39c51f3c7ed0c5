"""Measure how soon the built book's first page shows its box, and write the record: python -m tools.measure_first_page

Chromium opens the page from the disk, in a new profile each time, so that nothing is cached; then once more while as
many processes as there are cores do nothing but count. Times are milliseconds after the navigation began: the first
paint, in which the box is a still, and the moment at which the box has shown the tokens of its text by itself.
"""

import json
import multiprocessing
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "index.html"
RECORD = ROOT / "book" / "first_page_record.json"
RUNS = 7
WATCH = """new MutationObserver(() => {
  if (globalThis.shownAt === undefined && document.querySelector('.bl[aria-busy="false"]'))
    globalThis.shownAt = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["aria-busy"] });"""


def measure(browser: Browser) -> dict[str, int]:
    """Return the medians of several visits."""
    paints, boxes = [], []
    for _ in range(RUNS):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(PAGE.as_uri(), wait_until="load")
        page.wait_for_function("globalThis.shownAt !== undefined", timeout=0)
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        boxes.append(page.evaluate("globalThis.shownAt"))
        context.close()
    return {"first_paint_ms": round(median(paints)), "box_ms": round(median(boxes))}


def count() -> None:
    """Keep a core busy."""
    while True:
        pass


@contextmanager
def busy_cores():
    """Keep all cores busy."""
    processes = [multiprocessing.Process(target=count, daemon=True) for _ in range(os.cpu_count() or 1)]
    for process in processes:
        process.start()
    yield
    for process in processes:
        process.terminate()


def main() -> None:
    load = round(os.getloadavg()[0], 1)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        quiet = measure(browser)
        with busy_cores():
            busy = measure(browser)
        conditions = {"chromium": browser.version, "cores": os.cpu_count(), "load_before": load, "runs": RUNS}
        browser.close()
    record = {**conditions, "as_it_was": quiet, "all_cores_busy": busy}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(RECORD.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
