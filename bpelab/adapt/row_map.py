"""The row map of a new embedding matrix: which old row each new row copies, and what the other rows are made from.

An embedding matrix has a row of numbers for each id. A token that both tokenizers have is the same text for the model,
so its row is copied, whatever its new id. The row of a token that only the new tokenizer has is made from the rows of
its parts: the tokens into which the old tokenizer encodes the same bytes. Rows without a token are padding.

Tokens are identified by their bytes, added tokens by their names: the ordinary text `<s>` isn't the special token. A
SentencePiece symbol counts as an added token, which it is in a GGUF file.

Chapter: New words for an old model. Cost: one look at each token, and encoding the new ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._support.validate import whole_number
from ..tokenizer import BPETokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MADE, PADDING = -1, -2
"""The values in `RowMap.source` for a row made from parts, and for a row without a token."""
LARGEST_BLOCK = 1024
"""The largest multiple to which a number of rows is assumed to be padded."""
SPACE = "\u2581".encode()
"""SentencePiece's space, in tokens that are characters."""
Key = tuple[str, bytes]
"""("token", its bytes), ("added", its name), or ("byte", a byte that a character's token also has)."""


@dataclass(frozen=True, eq=False)
class RowMap:
    """Where the rows of a new matrix come from.

    Attributes:
        source: for each row of the new matrix, the old row it copies, or MADE, or PADDING; int64.
        parts: id of a new token -> the old ids that its row is made from; () if the old tokenizer has none.
        ids: old id -> new id of every shared token.
        removed: the old ids of tokens that the new tokenizer lacks, sorted.
        rows_with_token: the old rows that have a token, over which averages are computed; sorted, int64.
    """

    source: "NDArray[np.int64]"
    parts: Mapping[int, tuple[int, ...]]
    ids: Mapping[int, int]
    removed: tuple[int, ...]
    rows_with_token: "NDArray[np.int64]"

    @property
    def keeps_ids(self) -> bool:
        """True if the new tokenizer has every old token, with the same id."""
        return not self.removed and all(old == new for old, new in self.ids.items())


def map_rows(
    old: BPETokenizer,
    new: BPETokenizer,
    old_rows: int,
    *,
    ids: Mapping[int, int] | None = None,
    pad_to_multiple_of: int | None = None,
) -> RowMap:
    """Return the row map from a matrix of `old_rows` rows for one tokenizer to a matrix for another.

    Args:
        ids: old id -> new id of the tokens whose rows are copied, such as `prune` returns; by default the shared
            tokens.
        pad_to_multiple_of: as for `row_count`.

    Raises ValueError for ids that don't exist, and for a new id with two old ids.

    >>> old = BPETokenizer.train("low lower " * 9, 258)
    >>> new = old.with_special_tokens(["low low"])
    >>> rows = map_rows(old, new, 258)
    >>> len(rows.source), rows.parts[258], [old.id_to_token(part) for part in rows.parts[258]]
    (259, (257, 32, 257), [b'low', b' ', b'low'])
    """
    import numpy as np

    alike = old.spec.is_byte_level == new.spec.is_byte_level
    old_keys, new_keys = token_keys(old, as_text=not alike), token_keys(new, as_text=not alike)
    kept = _shared(old_keys, new_keys) if ids is None else _checked(ids, old_keys, new_keys)
    rows = row_count(old.n_vocab, new.n_vocab, old_rows, pad_to_multiple_of)
    source = np.full(rows, PADDING, np.int64)
    untouched = [row for row in range(min(rows, old_rows)) if row not in new_keys and row not in old_keys]
    source[untouched] = untouched
    source[list(new_keys)] = MADE
    for old_id, new_id in kept.items():
        if old_id < old_rows:  # some tokenizers have ids without a row in their models
            source[new_id] = old_id
    parts = {
        token_id: tuple(part for part in parts_of(old, key) if part < old_rows)
        for token_id, key in sorted(new_keys.items())
        if source[token_id] == MADE
    }
    rows_with_token = np.array(sorted(row for row in old_keys if row < old_rows), np.int64)
    if not len(rows_with_token):
        raise ValueError("no token of the old tokenizer has a row")
    return RowMap(source, parts, kept, tuple(sorted(old_keys.keys() - kept.keys())), rows_with_token)


def row_count(old_ids: int, new_ids: int, old_rows: int, pad_to_multiple_of: int | None = None) -> int:
    """Return the number of rows for `new_ids` ids, if the matrix for `old_ids` ids had `old_rows`.

    Args:
        pad_to_multiple_of: the number is rounded up to a multiple of it. By default, the new matrix is padded as the
            old one was: not at all, or to the largest power of two that divides its rows. Rows are removed only if ids
            were.

    >>> row_count(1000, 1100, 1000), row_count(1000, 1100, 1024), row_count(1000, 1010, 1088), row_count(1000, 70, 1088)
    (1100, 2048, 1088, 128)
    >>> row_count(151_669, 159_669, 151_936), row_count(1000, 1100, 1000, pad_to_multiple_of=64)
    (159744, 1152)
    """
    if pad_to_multiple_of is None:
        block = min(old_rows & -old_rows, LARGEST_BLOCK) if old_rows > old_ids else 1
        fewest = old_rows if new_ids >= old_ids and old_rows > old_ids else 0
    else:
        block, fewest = whole_number("pad_to_multiple_of", pad_to_multiple_of), 0
        if block < 1:
            raise ValueError(f"pad_to_multiple_of is a number from 1 up, not {block}")
    return max(fewest, new_ids + -new_ids % block)


def token_keys(tokenizer: BPETokenizer, as_text: bool = False) -> dict[int, Key]:
    """Return id -> a key that identifies its token.

    Args:
        as_text: write tokens that are characters as the bytes they stand for, to compare them with tokens that are
            bytes.

    >>> keys = token_keys(BPETokenizer.train("abab", 258, special_tokens=["<end>"]))
    >>> keys[256], keys[257]
    (('token', b'ab'), ('added', b'<end>'))
    """
    initial_symbols = tokenizer.model.initial_symbols
    symbols = set(initial_symbols.symbols.values()) if initial_symbols is not None else set()
    keys = {
        token_id: ("added" if token_id in symbols else "token", token)
        for token_id, token in tokenizer.model.tokens.items()
    }
    if as_text and initial_symbols is not None and initial_symbols.characters:
        keys = {token_id: (kind, token.replace(SPACE, b" ")) for token_id, (kind, token) in keys.items()}
        for byte, token_id in (initial_symbols.byte_tokens or {}).items():
            keys[token_id] = ("byte" if byte < 0x80 else "token", bytes([byte]))
    return keys | {token.id: ("added", token.content.encode()) for token in tokenizer.added_tokens}


def parts_of(old: BPETokenizer, key: Key) -> list[int]:
    """Return the old tokenizer's ids for another tokenizer's token, without a post-processor's tokens.

    The pre-tokenizer cuts a token as it cuts text. A token that isn't valid text, such as half a character, is merged
    as one piece. Word marks (`</w>`) are removed first.

    >>> old = BPETokenizer.train("low lower " * 9, 258)
    >>> parts_of(old, ("token", b"lowlow")), parts_of(old, ("token", b"lo\\xc3"))
    ([257, 257], [256, 195])
    """
    _, token = key
    initial_symbols, pre_tokenizer = old.model.initial_symbols, old.spec.pre_tokenizer
    if initial_symbols is not None:
        token = token.removeprefix(initial_symbols.prefix).removesuffix(initial_symbols.suffix)
        if initial_symbols.characters and SPACE in old.model.ids:
            token = token.replace(b" ", SPACE)
    pieces = None
    if pre_tokenizer is not None and not (old.model.is_char_level and pre_tokenizer.byte_level):
        try:
            pieces = pre_tokenizer.without_prefix().split(token.decode(), False)
        except UnicodeDecodeError:
            pieces = None
    return old.encode_piece(token) if pieces is None else old.pipeline.encode_pieces(pieces)


def _shared(old: Mapping[int, Key], new: Mapping[int, Key]) -> dict[int, int]:
    """Return old id -> new id of the shared tokens; a token whose id is the same in both keeps it."""
    ids = {key: token_id for token_id, key in sorted(new.items(), reverse=True)}
    return {
        token_id: token_id if new.get(token_id) == key else ids[key]
        for token_id, key in sorted(old.items())
        if key in ids
    }


def _checked(ids: Mapping[int, int], old: Mapping[int, Key], new: Mapping[int, Key]) -> dict[int, int]:
    taken: dict[int, int] = {}
    for old_id, new_id in ids.items():
        if old_id not in old or new_id not in new:
            which, missing = ("old", old_id) if old_id not in old else ("new", new_id)
            raise ValueError(f"ids maps {old_id!r} to {new_id!r}, and the {which} tokenizer has no id {missing!r}")
        if taken.setdefault(new_id, old_id) != old_id:
            raise ValueError(f"ids maps both {taken[new_id]} and {old_id} to {new_id}, and a row is a copy of one")
    return dict(ids)
