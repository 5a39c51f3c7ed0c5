"""The JSON files of tiktoken's packages for JavaScript: a pattern, special tokens, and the ranks as one string.

`bpe_ranks` has lines of `! FIRST TOKEN TOKEN ...`: the rank of the first token, and the tokens in Base64, each one rank
above the previous. npm's `tiktoken` ships OpenAI's encodings in this form, and `@anthropic-ai/tokenizer` Claude 2's, as
`claude.json`. Any preprocessing is in a package's code, not in the file: Anthropic's `countTokens` first converts text
to NFKC, which `with_options(normalizer="NFKC")` does here. `explicit_n_vocab` isn't read: the packages don't read it
either, and Claude's isn't the number of its tokens.

Chapter: File formats. Source: dqbd/tiktoken `wasm/src/lib.rs`.
"""

from collections.abc import Iterator
from pathlib import Path

from .._support.json_document import JSONFile, read_bytes, short_repr
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, TokenizerFileError
from ..model.bpe import BPEModel
from .base64_tokens import MAX_RANK, decode_tokens
from .json_components import read_id
from .tiktoken_encoding import spec_of_ranks


def may_match(start: bytes) -> bool:
    """Return whether a file that starts with these bytes may be one of tiktoken's for JavaScript."""
    return b'"pat_str"' in start or b'"bpe_ranks"' in start


def load(path: Path) -> TokenizerSpec:
    """Return the tokenizer of such a file. Raises TokenizerFileError naming the wrong entry."""
    file = JSONFile(path, read_bytes(path))
    pattern = file.expect(file.data.get("pat_str"), str, "pat_str")
    special = file.expect(file.data.get("special_tokens"), dict, "special_tokens")
    for name, token_id in special.items():
        read_id(file, token_id, f"special_tokens[{name[:60]!r}]")
    try:
        return spec_of_ranks(BPEModel.from_ranks(_ranks(file)), pattern, special)
    except BPELabError as error:
        raise error if isinstance(error, TokenizerFileError) else file.wrong("", str(error)) from error


def _ranks(file: JSONFile) -> dict[bytes, int]:
    def not_base64(where: str, encoded: str) -> TokenizerFileError:
        return file.wrong(where, f"{short_repr(encoded)} is not Base64")

    ranks: dict[bytes, int] = {}
    for where, token, rank in decode_tokens(_entries(file), not_base64):
        if not token or rank > MAX_RANK:
            raise file.wrong(where, f"a token has at least one byte, and a rank from 0 to {MAX_RANK}")
        if ranks.setdefault(token, rank) != rank:
            raise file.wrong(where, f"{token!r} has the ranks {ranks[token]} and {rank}")
    return ranks


def _entries(file: JSONFile) -> Iterator[tuple[str, str, int]]:
    """Yield (position, token in Base64, rank)."""
    for number, line in enumerate(file.expect(file.data.get("bpe_ranks"), str, "bpe_ranks").splitlines(), 1):
        where = f"bpe_ranks, line {number}"
        mark, first, *tokens = line.split(" ") if line.count(" ") > 1 else ("", "", "")
        if mark != "!" or not (first.isascii() and first.isdigit() and len(first) < 11):
            raise file.wrong(where, f"expected `!`, a rank and tokens in Base64, found {short_repr(line)}")
        for rank, encoded in enumerate(tokens, int(first)):
            yield where, encoded, rank
