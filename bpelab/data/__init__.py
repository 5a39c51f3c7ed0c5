"""The files that come with the library: published patterns as tables, Unicode, a tiny chat model, the book's text.

There is no code here, and nothing to import; scripts in `tools/` write the files. Begin with `FOLDER`, their path:
importlib.resources would import more, amid whatever forks.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
