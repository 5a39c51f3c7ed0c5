"""Open a tokenizer by what a person would call it: a folder, a file, or the name of a tiktoken encoding.

What a file is, its name says and its first bytes confirm; nothing in it is ever run.
"""

from codecs import BOM_UTF8
from pathlib import Path

from ..errors import BPELabError, TokenizerFileError
from ..tokenizer import BPETokenizer

NO_TOKENIZER = (
    "is not JSON, and its name is not that of another tokenizer's file (.gguf, .model, .tiktoken); is it a text?"
)


def open_tokenizer(what: str | Path, *, pattern: str | None = None, encoder: str = "auto") -> BPETokenizer:
    """The tokenizer in a folder or a file, or that of a tiktoken encoding.

    Folders: `tokenizer.json`, else `vocab.json` with `merges.txt` (or GPT-2's names), `tokenizer.model`, one `.gguf`.
    Files: `.json`, `.gguf`, `.model` (minbpe's and SentencePiece's), `.tiktoken`. A `pattern` is needed where the files
    don't say how text is split, and refused where they do.

    Raises TokenizerFileError for a file that can't be read, BPELabError for what is neither a file nor a name.
    """
    try:
        return _open(what, pattern, encoder)
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise TokenizerFileError(what, "", f"can't be read: {error.strerror or error}") from error
    except (MemoryError, RecursionError) as error:  # what no check has foreseen
        problem = "asks for more memory than there is" if isinstance(error, MemoryError) else "is nested too deeply"
        raise TokenizerFileError(what, "", problem) from error


def _open(what: str | Path, pattern: str | None, encoder: str) -> BPETokenizer:
    path = in_home(what)
    if path.is_dir():
        return _open_folder(path, pattern, encoder)
    if path.suffix == ".tiktoken":
        if pattern is None:
            raise TokenizerFileError(path, "", "holds no pattern: name the one to split with, as in --pattern cl100k")
        from .tiktoken import load_ranks

        return load_ranks(path, pattern, encoder)
    if not path.exists() and path.suffix not in (".json", ".model", ".gguf"):
        if path != Path(path.name):  # a name of an encoding has no folder
            raise TokenizerFileError(what, "", "there is no such file or folder")
        return _open_name(str(what), encoder)
    from . import gguf, huggingface, minbpe, sentencepiece, tutorial_json
    from .json_file import JSONFile, open_file, refuse_others

    with open_file(path) as opened:
        start = opened.read(tutorial_json.LOOKED_AT)
    if path.suffix == ".json" and tutorial_json.may_be(start) and tutorial_json.is_one((file := JSONFile(path)).data):
        return tutorial_json.load(file, pattern, encoder)
    if pattern is not None:
        raise TokenizerFileError(path, "", "says itself how text is split; pattern= is for files that don't")
    refuse_others(path, start)
    if start.startswith(b"GGUF") or path.suffix == ".gguf":
        return gguf.load(path, encoder)
    # SentencePiece's models begin with a byte that is no letter; minbpe's listing is refused by name
    if path.suffix == ".vocab" or (path.suffix == ".model" and start[:1].isalpha()) or minbpe.is_one(start):
        return minbpe.load(path, encoder)
    if path.suffix == ".model":
        return sentencepiece.load(path, encoder)
    if path.suffix != ".json" and start.removeprefix(BOM_UTF8).strip()[:1] not in (b"{", b""):
        raise TokenizerFileError(path, "", NO_TOKENIZER)
    return huggingface.load(path, encoder)


def in_home(what: str | Path) -> Path:
    """The path that is meant, also where it begins with the home folder's `~`."""
    try:
        return Path(what).expanduser()
    except RuntimeError:  # there is no such user
        return Path(what)


def _open_folder(folder: Path, pattern: str | None, encoder: str) -> BPETokenizer:
    from . import gpt2, huggingface

    if pattern is None and (folder / "tokenizer.json").exists():
        return huggingface.load(folder, encoder)
    if gpt2.find_files(folder) is not None:
        return gpt2.load(folder, pattern=pattern, encoder=encoder)
    files = [*folder.glob("tokenizer.model"), *folder.glob("*.gguf"), *folder.glob("*.tiktoken")]
    if not files and (folder / "tokenizer.json").exists():
        files = [folder / "tokenizer.json"]
    if not files:
        raise TokenizerFileError(
            folder, "", "has no tokenizer.json, no vocab.json with merges.txt, no tokenizer.model and no .gguf file"
        )
    if len(files) > 1 and files[0].name != "tokenizer.model":
        raise TokenizerFileError(
            folder, "", f"has {len(files)} files that could be meant; name one, such as {files[0].name}"
        )
    return open_tokenizer(files[0], pattern=pattern, encoder=encoder)


def _open_name(name: str, encoder: str) -> BPETokenizer:
    try:
        return BPETokenizer.from_tiktoken(name, encoder=encoder)
    except ValueError as error:
        if isinstance(error, BPELabError):
            raise
        _, near, meant = str(error).partition(": did you mean ")
        raise BPELabError(
            f"{name!r} is neither a tokenizer's file or folder nor the name of a tiktoken encoding{near}{meant}"
        ) from error
    except OSError as error:  # the network
        raise BPELabError(
            f"tiktoken could not fetch the vocabulary of {name!r}, which it does once ({type(error).__name__}). "
            "Connect to the network, or set TIKTOKEN_CACHE_DIR to a folder that holds it."
        ) from error
