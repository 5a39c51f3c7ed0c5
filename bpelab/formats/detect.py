"""Format detection: open a tokenizer, given a folder, a file, or the name of a tiktoken encoding.

The first bytes of a file tell its format, or its name if they don't; nothing in a file is ever run.
"""

from codecs import BOM_UTF8
from pathlib import Path

from .._support.textio import expand_user
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, TokenizerFileError

NO_TOKENIZER = "is not JSON, and isn't named like another tokenizer file (.gguf, .model, .tiktoken); is it a text?"


def open_spec(source: str | Path, *, pattern: str | None = None) -> TokenizerSpec:
    """Return the specification of the tokenizer in a folder or a file, or of a tiktoken encoding.

    Folders: `tokenizer.json`, else `vocab.json` with `merges.txt` (or GPT-2's names), `tekken.json`, `tokenizer.model`,
    one `.gguf`. Files: `.json` (Hugging Face's, Mistral's, tiktoken's for JavaScript), `.gguf`, `.tiktoken`, minbpe's
    and Llama 3's `.model`, and SentencePiece's under any name. A `pattern` is needed if the files don't say how to
    split text, unless the file's hash is known; it is refused if they do.

    Raises TokenizerFileError for a file that can't be read, BPELabError if `source` is neither a file nor a known name.
    """
    try:
        return _open(source, pattern)
    except OSError as error:  # a name that is too long, a folder without permission
        raise TokenizerFileError(source, "", f"can't be read: {error.strerror or error}") from error
    except (MemoryError, RecursionError) as error:  # which no check prevented
        problem = "asks for more memory than there is" if isinstance(error, MemoryError) else "is nested too deeply"
        raise TokenizerFileError(source, "", problem) from error


def _open(source: str | Path, pattern: str | None) -> TokenizerSpec:
    path = expand_user(source)
    if path.is_dir():
        return _open_folder(path, pattern)
    if path.suffix == ".tiktoken":
        from .tiktoken_file import load_ranks

        return load_ranks(path, pattern)
    if not path.exists() and path.suffix not in (".json", ".model", ".gguf"):
        if path != Path(path.name):  # names of encodings have no folder
            raise TokenizerFileError(source, "", "there is no such file or folder")
        return _open_name(str(source))
    from .._support.json_document import JSONFile, open_file, refuse_foreign_file
    from . import minbpe, sentencepiece_proto, tekken, tiktoken_file, tiktoken_js, tutorial_json

    with open_file(path) as opened:
        start = opened.read(tutorial_json.SNIFFED_BYTES)
    if (
        path.suffix == ".json"
        and tutorial_json.may_match(start)
        and tutorial_json.matches((file := JSONFile(path)).data)
    ):
        return tutorial_json.load(file, pattern)
    if path.suffix == ".model" and tiktoken_file.may_match(start):
        return tiktoken_file.load_ranks(path, pattern)
    if pattern is not None:
        raise TokenizerFileError(path, "", "already says how text is split; pattern= is for files that don't")
    refuse_foreign_file(path, start)
    if start.startswith(b"GGUF") or path.suffix == ".gguf":
        from . import gguf_load

        return gguf_load.load(path)
    if start.removeprefix(BOM_UTF8).lstrip()[:1] == b"{":
        if tekken.may_match(start):
            return tekken.load(path)
        if tiktoken_js.may_match(start):
            return tiktoken_js.load(path)
    # SentencePiece's models start with a byte that isn't a letter; minbpe's listing is rejected by name
    if path.suffix == ".vocab" or (path.suffix == ".model" and start[:1].isalpha()) or minbpe.matches(start):
        return minbpe.load(path)
    if path.suffix == ".model" or sentencepiece_proto.may_match(start):
        from . import sentencepiece_load

        return sentencepiece_load.load(path)
    if path.suffix != ".json" and start.removeprefix(BOM_UTF8).strip()[:1] not in (b"{", b""):
        raise TokenizerFileError(path, "", NO_TOKENIZER)
    from . import huggingface

    return huggingface.load(path)


def _open_folder(folder: Path, pattern: str | None) -> TokenizerSpec:
    from . import gpt2, huggingface, tekken

    if pattern is None and (folder / "tokenizer.json").exists():
        return huggingface.load(folder)
    if gpt2.find_files(folder) is not None:
        return gpt2.load(folder, pattern=pattern)
    if pattern is None and (folder / "tekken.json").exists():
        return tekken.load(folder / "tekken.json")
    files = [*sorted(folder.glob("tokenizer.model*")), *folder.glob("*.gguf"), *folder.glob("*.tiktoken")]
    if not files and (folder / "tokenizer.json").exists():
        files = [folder / "tokenizer.json"]
    if not files:
        raise TokenizerFileError(
            folder,
            "",
            "has no tokenizer.json, no vocab.json with merges.txt, no tekken.json, no tokenizer.model and no .gguf",
        )
    if len(files) > 1 and files[0].name != "tokenizer.model":
        raise TokenizerFileError(
            folder, "", f"has {len(files)} files that could be meant; name one, such as {files[0].name}"
        )
    return open_spec(files[0], pattern=pattern)


def _open_name(name: str) -> TokenizerSpec:
    from .tiktoken_registry import from_tiktoken

    try:
        return from_tiktoken(name)
    except ValueError as error:
        if isinstance(error, BPELabError):
            raise
        _, separator, suggestion = str(error).partition(": did you mean ")
        raise BPELabError(
            f"{name!r} is neither a tokenizer's file or folder nor the name of a tiktoken encoding"
            f"{separator}{suggestion}"
        ) from error
    except OSError as error:  # the network
        raise BPELabError(
            f"tiktoken couldn't download the vocabulary of {name!r} ({type(error).__name__}). Connect to the network "
            "once, or set TIKTOKEN_CACHE_DIR to a folder that holds it."
        ) from error
