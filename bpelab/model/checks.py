"""The checks of a model: its ids, its alphabet and its merges fit its tokens.

Cost: linear in the tokens and the merges; the merges of a rank table fit by definition.
"""

from __future__ import annotations

from ..errors import ModelError
from .rank_merges import RankMerges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bpe import BPEModel


def check_model(model: BPEModel) -> None:
    """Raise ModelError for a negative id, a byte without a token, and merges that don't fit the tokens."""
    if not model.tokens:
        raise ModelError("there is no token that text could become")
    for token_id, token in model.tokens.items():
        if token_id < 0:
            raise ModelError(f"token {token!r} with id {token_id}: ids begin at 0")
    missing = [byte for byte in range(256) if bytes([byte]) not in model.alphabet]
    if missing and model.initial_symbols is None:
        raise ModelError(
            f"no token for {len(missing)} single bytes, {missing[0]:#04x} among them: text with such a byte could "
            "not be encoded"
        )
    for symbol, symbol_id in model.alphabet.items():
        if (other := model.tokens.get(symbol_id)) != symbol:
            raise ModelError(f"the alphabet gives {symbol!r} the id {symbol_id}, but that token is {other!r}")
    if not isinstance(model.merges, RankMerges):
        _check_merges(model)


def _check_merges(model: BPEModel) -> None:
    tokens, prefix = model.tokens, b"" if model.initial_symbols is None else model.initial_symbols.prefix
    for (left, right), (rank, new) in model.merges.items():
        try:
            joined = tokens[left] + tokens[right].removeprefix(prefix)
            if joined == tokens[new]:
                continue
        except KeyError as error:
            raise ModelError(f"merge {rank}, ({left}, {right}) -> {new}: there is no token {error}") from None
        raise ModelError(f"merge {rank}: {tokens[left]!r} and {tokens[right]!r} can't become {tokens[new]!r}")
