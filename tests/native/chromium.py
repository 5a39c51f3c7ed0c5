"""The library in JavaScript, from the package that npm makes, in a page of Chromium: what the tests of its ids share.

Texts go to the page as files, in bulk, and come back as a digest for each block of them: the SHA-256 of how many ids
each text has, and of the ids. Where a digest differs, the page is asked for the ids of that block.
"""

import hashlib
import json
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..serving import served

BLOCK = 500
OPEN = """const { Tokenizer } = await import("/bpelab.js");
  const bytes = new Uint8Array(await (await fetch(`/files/${name}`)).arrayBuffer());
  const tokenizer = await Tokenizer.fromFile(bytes, name, options);"""
DIGESTS = f"""async ({{ name, options, lists, block }}) => {{
  {OPEN}
  const digest = async (texts) => {{
    const ids = texts.map((text) => tokenizer.encode(text));
    const counted = (text, n) => (text.length > 1_000 ? ids[n].length : tokenizer.count(text));
    const counts = Uint32Array.from(texts, counted);
    const hash = await crypto.subtle.digest("SHA-256", await new Blob([counts, ...ids]).arrayBuffer());
    return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }};
  const digests = [];
  for (const list of lists) {{
    const texts = await (await fetch(`/files/${{list}}`)).json();
    for (let at = 0; at < texts.length; at += block) digests.push(await digest(texts.slice(at, at + block)));
  }}
  return digests;
}}"""
IDS = f"""async ({{ name, options, texts }}) => {{
  {OPEN}
  return texts.map((text) => [...tokenizer.encode(text)]);
}}"""


class Page:
    """A page of a server that has the package; files for it are put into `folder`."""

    def __init__(self, opened, folder: Path) -> None:
        self.opened, self.folder = opened, folder / "files"
        self.folder.mkdir()

    def put(self, name: str, texts: list[str]) -> list[str]:
        """Put texts into a file of JSON, of which the page reads them."""
        (self.folder / name).write_text(json.dumps(texts), encoding="utf-8")
        return texts

    def link(self, path: Path) -> str:
        """Let the page read a file of the disk; returns its name there."""
        target = self.folder / f"{len(list(self.folder.iterdir()))}-{path.name}"
        target.symlink_to(path)
        return target.name

    def differences(self, name: str, tokenizer, lists: dict[str, list[str]], **options) -> list[str]:
        """Return the texts whose ids in the page aren't those of a tokenizer of the same file, from files of `put`."""
        asked = {"name": name, "options": options, "lists": list(lists), "block": BLOCK}
        digests = self.opened.evaluate(DIGESTS, asked)
        blocks = [texts[at : at + BLOCK] for texts in lists.values() for at in range(0, len(texts), BLOCK)]
        assert len(digests) == len(blocks)
        wrong = [block for block, digest in zip(blocks, digests) if digest != self._digest(tokenizer, block)]
        texts = [text for block in wrong for text in block]
        if not texts:
            return []
        ids = self.opened.evaluate(IDS, {"name": name, "options": options, "texts": texts})
        wanted = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
        different = [text for text, one, other in zip(texts, ids, wanted) if one != other]
        assert different, "the counts differ, the ids do not"
        return different

    @staticmethod
    def _digest(tokenizer, texts: list[str]) -> str:
        ids, offsets = tokenizer.encode_batch_array(texts)
        return hashlib.sha256(np.diff(offsets).astype("<u4").tobytes() + ids.astype("<u4").tobytes()).hexdigest()


@contextmanager
def page_of(browser, package: Path, folder: Path):
    """A `Page` whose server has the files of a package, copied to a folder."""
    shutil.copytree(package, folder, dirs_exist_ok=True)
    (folder / "index.html").write_text("<!doctype html><title>A page</title>", encoding="utf-8")
    with served(folder) as address:
        opened = browser.new_page()
        opened.set_default_timeout(0)
        opened.goto(f"{address}/index.html")
        yield Page(opened, folder)
        opened.close()
