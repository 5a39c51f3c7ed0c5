"""Take the README's screenshot from the built book: a word, half merged. `make picture`; it needs Chromium."""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "encoding.html"
PICTURE = ROOT / "book" / "images" / "page.png"
MERGES = 6


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1240, "height": 780}, color_scheme="light", reduced_motion="reduce")
        page.goto(PAGE.as_uri())
        following = page.get_by_role("button", name="Next").first
        for _ in range(MERGES):
            following.click()
        following.evaluate("button => window.scrollTo(0, button.getBoundingClientRect().top + scrollY - 430)")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
