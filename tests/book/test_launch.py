"""Launch buttons come from one setting, the repository's address, and are absent while it is empty."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..conftest import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("address", ["", "https://github.com/somebody/bpelab"])
def test_launch_buttons(address, tmp_path):
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config = config.replace('url: ""', f'url: "{address}"').replace(
        "execute_notebooks: cache", 'execute_notebooks: "off"'
    )
    (tmp_path / "_config.yml").write_text(config, encoding="utf-8")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n", encoding="utf-8")
    (tmp_path / "book").symlink_to(ROOT / "book", target_is_directory=True)
    (tmp_path / "_build" / "vendor").mkdir(parents=True)
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Page"), new_code_cell("1")]), tmp_path / "page.ipynb")
    words = [Path(sys.executable).with_name("jupyter-book"), "build", str(tmp_path), "--quiet"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PATH": path})
    html = (tmp_path / "_build" / "html" / "page.html").read_text(encoding="utf-8")
    for host in ("mybinder.org", "colab.research.google.com"):
        assert (host in html) == bool(address)
