"""Open a tokenizer by what a person would call it: a folder, a file, or the name of a tiktoken encoding."""

from pathlib import Path

from ..errors import BPELabError
from ..model import BPEModel
from ..tokenizer import BPETokenizer
from . import huggingface, minbpe, tiktoken


def open_tokenizer(what: str, *, pattern: str | None = None, encoder: str = "auto") -> BPETokenizer:
    """A folder, a `tokenizer.json`, a minbpe `.model`, a `.tiktoken` file (with `pattern`), or a name tiktoken has.

    Raises TokenizerFileError for a file that can't be read, BPELabError for what is neither a file nor a name.
    """
    path = Path(what)
    if path.is_dir() or path.suffix == ".json":
        return huggingface.load(path, encoder)
    if path.suffix == ".model":
        return minbpe.load(path, encoder)
    if path.suffix == ".tiktoken":
        ranks = tiktoken.read_ranks(path)
        if pattern is None:
            raise BPELabError(f"{path} holds no pattern: name the one to split with, as in --pattern cl100k")
        return BPETokenizer(BPEModel.from_ranks(ranks), pattern=pattern, encoder=encoder)
    try:
        return BPETokenizer.from_tiktoken(what, encoder=encoder)
    except ValueError as error:
        if isinstance(error, BPELabError):
            raise
        raise BPELabError(
            f"{what!r} is neither a tokenizer's file or folder nor the name of a tiktoken encoding"
        ) from error
    except OSError as error:  # the network
        raise BPELabError(
            f"tiktoken could not fetch the vocabulary of {what!r}, which it does once ({type(error).__name__}). "
            "Connect to the network, or set TIKTOKEN_CACHE_DIR to a folder that holds it."
        ) from error
