"""tiktoken's rank files, `.tiktoken`: one line a token, with its bytes in Base64, a space and its rank.

The pattern and the special tokens are in code, not in the file.

Chapter: Matching GPT-2 and GPT-4. Source: tiktoken `load.py`.
"""

from __future__ import annotations

from ..core.spec import TokenizerSpec
from ..errors import ModelError, TokenizerFileError
from ..model import disk_cache
from ..model.bpe import BPEModel
from ..regex.patterns import without_covering
from .tiktoken_encoding import rank_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EMPTY = b"="
"""How a file writes an empty token, such as Whisper's, whose Base64 is empty."""


def read_ranks(path: str | Path) -> dict[bytes, int]:
    """Return token -> rank from a `.tiktoken` file. Raises TokenizerFileError naming the wrong line."""
    from pathlib import Path

    from .._support.json_document import read_bytes

    return _parse_ranks(read_bytes(Path(path)), path)


def _parse_ranks(content: bytes, path: str | Path) -> dict[bytes, int]:
    """Return token -> rank from the content of a `.tiktoken` file; `path` is for errors."""
    from .base64_tokens import MAX_RANK, decode_tokens

    def not_a_token(number: int, _: bytes = b"") -> TokenizerFileError:
        problem = f"expected a token in Base64, a space and a rank, found {str(lines[number - 1][:60])[1:]}"
        return TokenizerFileError(path, f"line {number}", problem)

    def entries() -> Iterator[tuple[int, bytes, int]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                encoded, rank_text = line.split()
                rank = int(rank_text)
            except ValueError:
                raise not_a_token(number) from None
            # int() also takes "+1" and "1_0", which are no ranks
            yield number, b"" if encoded == EMPTY else encoded, rank if rank_text.isdigit() else -1

    ranks: dict[bytes, int] = {}
    line_of_rank: dict[int, int] = {}
    lines = content.split(b"\n")
    for number, token, rank in decode_tokens(entries(), not_a_token):
        if not 0 <= rank <= MAX_RANK:
            raise TokenizerFileError(path, f"line {number}", f"a token has a rank from 0 to {MAX_RANK}")
        if token in ranks or rank in line_of_rank:
            other = line_of_rank.get(rank) or line_of_rank[ranks[token]]
            raise TokenizerFileError(path, f"line {number}", f"repeats the token or the rank of line {other}")
        ranks[token], line_of_rank[rank] = rank, number
    if not ranks:
        raise TokenizerFileError(path, "", "has no tokens; a .tiktoken file has one on each line")
    return ranks


def save_ranks(spec: TokenizerSpec, path: str | Path) -> None:
    """Write a `.tiktoken` file. Raises ConversionError if tiktoken's rule would give other ids."""
    import base64
    from pathlib import Path

    from .._support.textio import write_atomically

    ranks = rank_table(spec)
    by_rank = sorted(ranks.items(), key=lambda item: item[1])
    lines = ((base64.b64encode(token) or EMPTY) + b" %d\n" % rank for token, rank in by_rank)
    write_atomically(Path(path), b"".join(lines))


def may_match(start: bytes) -> bool:
    """Return whether a file that starts with these bytes may list ranks, as Llama 3's `tokenizer.model` does.

    >>> may_match(b"IQ== 0\\nIg== 1\\n"), may_match(b"minbpe v1\\n")
    (True, False)
    """
    import re

    return re.match(rb"[A-Za-z0-9+/]{2,}={0,2} \d+\r?\n", start) is not None


def load_ranks(path: Path, pattern: str | None) -> TokenizerSpec:
    """Return the tokenizer of a `.tiktoken` file, which splits text with `pattern`.

    With None, a file with a known hash gets the pattern and normal form published with it, and a warning says so.
    Raises TokenizerFileError.
    """
    from .._support.json_document import read_bytes

    content, normalizer = read_bytes(path), None
    if pattern is None:
        pattern, normalizer = _published_with(path, content)
    pattern = without_covering(pattern)
    key = disk_cache.fingerprint(b"ranks", content)
    cached = disk_cache.fetch(key)
    if cached is not None:
        return TokenizerSpec(cached[0], pattern=pattern, normalizer=normalizer)
    try:
        model = BPEModel.from_ranks(_parse_ranks(content, path))
    except ModelError as error:
        raise TokenizerFileError(path, "", str(error)) from error
    disk_cache.store(key, model)
    return TokenizerSpec(model, pattern=pattern, normalizer=normalizer)


def _published_with(path: Path, content: bytes) -> tuple[str, str | None]:
    """Return the pattern and normal form of a published file, with a warning. Raises TokenizerFileError for others."""
    import warnings

    from .published_ranks import PatternFromHash, published_ranks

    if (published := published_ranks(content)) is None:
        raise TokenizerFileError(path, "", 'has no pattern: name the one to split with, as in pattern="cl100k"')
    text = f"text in {published.normalizer}" if published.normalizer else "text"
    warnings.warn(
        f"by its hash, {path.name} is the vocabulary of {published.name}, so {text} is split with "
        f'pattern="{published.pattern}"; pass pattern= to be sure',
        PatternFromHash,
        stacklevel=2,
    )
    return published.pattern, published.normalizer
