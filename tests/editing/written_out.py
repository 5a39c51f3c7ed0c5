"""Continued training written out: after each new token all text is encoded anew by the tokenizer that there is then.

Nothing here is shared with `bpelab/editing/extending.py`: no sequences are kept and changed, no parts are left out, and
the tokenizer is put together by hand.
"""

import re
from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType

from bpelab import BPEModel, BPETokenizer
from bpelab.encoders import NaiveEncoder
from bpelab.model.rank_merges import RankMerges

SPACE = "▁".encode()


def extended(tokenizer: BPETokenizer, texts: list[str], number: int, least: int) -> BPETokenizer:
    """The tokenizer with up to `number` tokens more."""
    pieces = Counter(piece for text in texts for piece in pieces_of(tokenizer, text))
    known = sorted(tokenizer.model.tokens)
    place = {token_id: at for at, token_id in enumerate(known)}
    missing = missing_characters(tokenizer, pieces)
    halves = {char: (len(known) + 2 * at, len(known) + 2 * at + 1) for at, char in enumerate(missing)}
    may_be_made = conditions(tokenizer)
    for step in range(number):
        candidates = Counter()
        tokens = tokenizer.model.tokens
        for piece, count in pieces.items():
            for pair in pairs_of(tokenizer, piece):
                if may_be_made(tokens[pair[0]] + tokens[pair[1]], tokens.values()):
                    candidates[place[pair[0]], place[pair[1]], pair] += count
            for char in piece:
                if char in halves and may_be_made(char.encode(), tokens.values()):
                    candidates[*halves[char], char] += count
        best = min(candidates, key=lambda found: (-candidates[found], found[:2]), default=None)
        if best is None or candidates[best] < least:
            break
        new = 1 + max([*tokens, *(token.id for token in tokenizer.added_tokens)])
        place[new] = len(known) + 2 * len(missing) + step
        tokenizer = with_token(tokenizer, new, best[2])
    return tokenizer


def pieces_of(tokenizer: BPETokenizer, text: str) -> Iterator[str]:
    pipeline = tokenizer.pipeline
    for segment, token_id, first in pipeline.segments(text, frozenset(tokenizer.special_tokens)):
        if token_id is None:
            yield from pipeline.pre_tokenize(segment, first)


def pairs_of(tokenizer: BPETokenizer, piece: str) -> Iterator[tuple[int, int]]:
    """The neighbours in a piece that may merge."""
    initial_symbols, ids = tokenizer.model.initial_symbols, NaiveEncoder(tokenizer.model).encode_piece(piece.encode())
    apart = set() if initial_symbols is None else {initial_symbols.unk_id, *initial_symbols.symbols.values()}
    apart |= (
        set((initial_symbols.byte_tokens or {}).values())
        if initial_symbols is not None and initial_symbols.characters
        else set()
    )
    return (pair for pair in zip(ids, ids[1:]) if not apart & set(pair))


def missing_characters(tokenizer: BPETokenizer, pieces) -> list[str]:
    initial_symbols = tokenizer.model.initial_symbols
    if (
        initial_symbols is None
        or not initial_symbols.characters
        or initial_symbols.suffix
        or tokenizer.model.ignore_merges
    ):
        return []
    if initial_symbols.unk_id is None and initial_symbols.byte_tokens is None:
        return []
    symbols = "".join(symbol.decode() for symbol in initial_symbols.symbols)
    chars = {char for piece in pieces for char in piece if ord(char) > 127 and char not in symbols}
    return sorted(char for char in chars if char.encode() not in tokenizer.model.alphabet)


def conditions(tokenizer: BPETokenizer):
    """What a new token must not be, as the documentation of `extend` says it."""
    model, initial_symbols = tokenizer.model, tokenizer.model.initial_symbols
    added = {token.content.encode() for token in tokenizer.added_tokens}
    unreachable = {token for token_id, token in model.tokens.items() if not makes_itself(model, token_id)}
    made = [token for token in model.tokens.values() if token not in unreachable and token not in model.alphabet]
    made = [token for token in made if initial_symbols is None or token not in initial_symbols.symbols]
    split = tokenizer.pipeline.split
    words = digits = None
    colon = True
    if tokenizer.spec.pre_tokenizer is None and initial_symbols is not None and initial_symbols.characters:
        if made:
            words, digits = max(1, *map(count_words, made)), max(1, *map(count_digits, made))
    elif split is not None and not split.cuts_words and max(map(count_words, made), default=0) > 1:
        words, colon = max(map(count_words, made)), any(b": " in token for token in made)

    def may_be_made(token: bytes, existing) -> bool:
        if token in added or token in existing:
            return False
        if any(other != token and (other.startswith(token) or other.endswith(token)) for other in unreachable):
            return False
        if (words is not None and count_words(token) > words) or (digits is not None and count_digits(token) > digits):
            return False
        return colon or b": " not in token

    return may_be_made


def makes_itself(model: BPEModel, token_id: int) -> bool:
    """Whether merging the initial symbols of a token makes it; they are there from the beginning."""
    token, initial_symbols = model.tokens[token_id], model.initial_symbols
    if token_id in model.alphabet.values() or (initial_symbols is not None and token in initial_symbols.symbols):
        return True
    if initial_symbols is not None and initial_symbols.suffix and not token.endswith(initial_symbols.suffix):
        ids = [model.alphabet.get(char.encode()) for char in token.decode()]
        merges = Encoded(model, ids)
        return None not in ids and merges.encode_piece(b"") == [token_id]
    plain = BPEModel(model.tokens, model.merges, model.alphabet, initial_symbols=initial_symbols)
    piece = (
        token.removesuffix(initial_symbols.suffix) if initial_symbols is not None and initial_symbols.suffix else token
    )
    return NaiveEncoder(plain).encode_piece(piece) == [token_id]


class Encoded(NaiveEncoder):
    """The naive encoder for ids in place of a piece."""

    def __init__(self, model: BPEModel, ids: list[int]) -> None:
        class Given:
            merges = model.merges

            def whole_piece_id(self, piece):
                return None

            def initial_ids(self, piece):
                return list(ids)

        super().__init__(Given())


def count_words(token: bytes) -> int:
    return len(token.replace(SPACE, b" ").split())


def count_digits(token: bytes) -> int:
    return max(map(len, re.findall(rb"[0-9]+", token)), default=0)


def with_token(tokenizer: BPETokenizer, new: int, made_of: tuple[int, int] | str) -> BPETokenizer:
    """The tokenizer with one token more: of two tokens, or a character."""
    model = tokenizer.model
    text = made_of.encode() if isinstance(made_of, str) else model.tokens[made_of[0]] + model.tokens[made_of[1]]
    tokens, alphabet, merges = {**model.tokens, new: text}, dict(model.alphabet), model.merges
    if isinstance(made_of, str):
        alphabet[text] = new
    if isinstance(merges, RankMerges):
        bytes_of = {i: merges._tokens[i] for i in merges._tokens} | {new: text}
        ids = {**merges._ids, text: new}
        ranks = None if merges.rank_of is None else {**merges.rank_of, new: 1 + max(merges.rank_of.values())}
        merges = RankMerges(bytes_of, ids, ranks)
    elif not isinstance(made_of, str):
        merges = {**merges, made_of: (1 + max((rank for rank, _ in merges.values()), default=-1), new)}
    made = BPEModel(
        tokens,
        MappingProxyType(dict(merges)) if isinstance(merges, dict) else merges,
        alphabet,
        model.ignore_merges,
        model.initial_symbols,
    )
    return BPETokenizer(made, **{**tokenizer.spec.arguments()})
