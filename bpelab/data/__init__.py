"""The files that come with the library, in `FOLDER`: importlib.resources would import more, amid whatever forks."""

from pathlib import Path

FOLDER = Path(__file__).parent
