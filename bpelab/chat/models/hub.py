"""Download a model from the Hugging Face Hub into huggingface_hub's own cache with its progress bars.

From a repository it fetches either one GGUF file with all its parts, or safetensors with their configuration and
tokenizer, the weights last: never a pickle, never code, never a folder. A broken download resumes. Cost: the download.
Chapter: Chat on your hardware. Source: `bpelab.formats.hub`, which does the download.
"""

import os
import re
from pathlib import Path
from typing import Any

from ...errors import ModelFileError
from ...formats.hub import COMPANIONS, VOCABULARIES, Repository, download, is_path, select
from .files import INDEX, is_first_part, parts_of

CONFIGURATION = ("config.json", "generation_config.json", *COMPANIONS, *VOCABULARIES)


def fetch_model(
    name: str,
    *,
    gguf_file: str | None = None,
    revision: str | None = None,
    token: str | bool | None = None,
    cache_dir: str | Path | None = None,
) -> tuple[Path, str | None]:
    """Download a model. Return its folder in the cache, and the name of its GGUF file (None for safetensors).

    Args:
        name: "organization/name", or "organization/name:Q4_K_M" for one GGUF file by its quantization.
        gguf_file: the GGUF file's name, instead of its quantization.

    The other arguments, and the errors, are those of `bpelab.formats.hub.fetch`.
    """
    if is_path(name):
        raise ModelFileError(f"{name}: there is no such file or folder")
    repo, _, quantization = name.partition(":")
    choice = gguf_file or quantization or None
    folder = download(ModelRepository, repo, revision, token, cache_dir, choice=choice)
    chosen = choose_files(os.listdir(folder), repo, choice)[-1]
    return folder, next(iter(parts_of(chosen))) if chosen.endswith(".gguf") else None


class ModelRepository(Repository):
    """A repository to download a model from."""

    wanted = "model"

    def __init__(self, *arguments: Any, choice: str | None) -> None:
        super().__init__(*arguments)
        self.choice = choice

    def choose(self, listed: list[str]) -> list[str]:
        return choose_files(listed, self.repo, self.choice)


def choose_files(listed: list[str], repo: str, choice: str | None) -> list[str]:
    """Return a model's files from a repository's list, the weights last.

    `choice` is a GGUF file's name or quantization. Without one, safetensors are chosen, or else the only GGUF file.
    Raises ModelFileError if there is no such model, or several match.

    >>> choose_files(["a-Q4_0.gguf", "a-Q8_0.gguf", "README.md"], "me/a", "q8_0")
    ['a-Q8_0.gguf']
    >>> choose_files(["model.safetensors", "a-Q8_0.gguf", "config.json", "pytorch_model.bin"], "me/a", None)
    ['config.json', 'model.safetensors']
    """
    models = [file for file in select(listed, ("*.gguf",)) if is_first_part(file) and not file.startswith("mmproj")]
    fits = models if choice is None else [file for file in models if _fits(file, choice)]
    weights = select(listed, ("model.safetensors",)) or select(listed, (INDEX, "model-*-of-*.safetensors"))
    if choice is None and weights:
        return select(listed, CONFIGURATION) + weights
    if len(fits) == 1:
        parts = parts_of(fits[0])
        if missing := sorted(set(parts) - set(listed)):
            raise ModelFileError(f"{repo!r} has {fits[0]}, but not {missing[0]}, which belongs to it")
        return parts
    there = ", ".join(models)
    if len(fits) > 1:
        raise ModelFileError(f"{repo!r} has several models, {there}: name one, as in {repo}:Q4_K_M, or pass gguf_file=")
    if choice is not None:
        raise ModelFileError(f"{repo!r} has no GGUF file {choice!r}; it has {there or 'none at all'}")
    pickled = select(listed, ("pytorch_model*.bin", "*.pt", "*.pth"))
    only = f"only {pickled[0]}, which can contain code and is never opened" if pickled else "at least not in its root"
    raise ModelFileError(f"{repo!r} has no model.safetensors and no GGUF file, {only}: choose another repository")


def _fits(file: str, choice: str) -> bool:
    """Return whether a GGUF file has that name or quantization; Q4_K doesn't match a file of Q4_K_M."""
    if choice.endswith(".gguf"):
        return file == choice
    return re.search(rf"(?<![a-z0-9]){re.escape(choice)}(?![a-z0-9_])", file, re.IGNORECASE) is not None
