"""A drop-in replacement for tiktoken: `import bpelab.tiktoken as tiktoken`, and leave the rest of a program unchanged.

Ids, defaults and errors are tiktoken's: special tokens in a text raise ValueError unless they are allowed. tiktoken
loads the vocabularies, and must be installed for them (the extra `tiktoken`). `Encoding.tokenizer` is the underlying
`BPETokenizer`. `sys.modules["tiktoken"] = bpelab.tiktoken` makes other packages that import tiktoken use it. It may
import the tokenizer and everything below. Begin with `core.py`. There are three deliberate differences:

- text that the pattern doesn't match becomes a piece of its own; tiktoken drops it;
- a table of ranks that lacks one of the 256 bytes, repeats a rank, or gives a special token the id of an ordinary one
  is rejected at once (ValueError); tiktoken panics or decodes something else when it meets the byte or the id;
- an id that doesn't exist raises KeyError everywhere, even if negative; tiktoken raises OverflowError for these.

>>> import bpelab.tiktoken as tiktoken
>>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
>>> encoding = tiktoken.Encoding("mine", pat_str=r"\\S+|\\s+", mergeable_ranks=ranks, special_tokens={"<|end|>": 257})
>>> encoding.encode("ab<|end|>", allowed_special="all"), encoding.decode([256, 257])
([256, 257], 'ab<|end|>')
"""

from contextlib import suppress

from ..errors import MissingDependencyError
from ..formats.tiktoken_encoding import import_tiktoken
from .core import Encoding as Encoding
from .model import encoding_for_model as encoding_for_model, encoding_name_for_model as encoding_name_for_model
from .registry import get_encoding as get_encoding, list_encoding_names as list_encoding_names

__all__ = ["Encoding", "encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names"]

original = None
"""The module tiktoken, with its functions that load files, or None if it isn't installed."""
with suppress(MissingDependencyError):
    original = import_tiktoken()
    from . import load as load

    __version__: str = original.__version__
