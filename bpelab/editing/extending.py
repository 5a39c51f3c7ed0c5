"""Extend a tokenizer: continue training from its own merges, on text cut by its own pre-tokenizer.

The tokenizer encodes the corpus's pieces; then the most frequent pair of adjacent tokens is merged, again and again,
the textbook way (`trainers/continue_naive.py`). The new merges rank after all others and make new tokens, so a text
without new tokens keeps its ids. Ids follow the highest one in use, special tokens included. Nothing is renumbered, and
ids that a file leaves free or reserves aren't used, since files don't say what they are for.

For this to hold, a new token must not be:

- an existing token or added token. No merge makes such a token now, or its parts wouldn't be adjacent.
- the beginning or the end of a token that no merge makes. In a rank table any two neighbours merge if their
concatenation is a token, so such a token could become reachable; and lists of merges are converted to rank tables.

If nothing cuts text into words (models like SentencePiece's, superwords), new tokens obey the limits of the old: see
`token_constraints.py`. If initial symbols are characters, a character that the vocabulary lacks becomes a token once it
is more frequent than any pair: it is written as two halves that merge with nothing else, so it is counted as a pair.

Chapter: New words for an old model. Cost: 5 to 9 s of processor time for 10 MB in forty languages and 8,000 tokens.
Memory for the distinct pieces and their ids.
Source: Purason et al. 2025, arXiv 2512.03989 ("continued BPE training"), and their toolkit,
github.com/taidopurason/tokenizer-extension, which also merges pairs whose token exists, and breaks ties by the tokens'
text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from .._support.progress import progress_bar
from .._support.textio import from_utf8, utf8
from ..core.derivations import Derivations, derive_tokens
from ..core.spec import TokenizerSpec
from ..core.tokenizer import Tokenizer, with_spec
from ..errors import TrainingError
from ..trainers.continue_training import continue_training
from ..trainers.counted_sequences import CountedSequences, split_at_none
from ..trainers.counting.by_tokenizer import count_by_tokenizer, pre_token_encoder
from ..trainers.counting.corpus import Corpus
from ..trainers.learned_merge import named_merges
from ..trainers.train import at_least_one, warn_stopped
from ..unicode.byte_alphabet import BYTE_OF_CHAR, from_alphabet
from .append_merges import append_merges
from .token_constraints import TokenConstraints

Edited = TypeVar("Edited", bound=Tokenizer)


def extend(
    tokenizer: Edited,
    corpus: Corpus,
    new_tokens: int = 8000,
    *,
    min_frequency: int = 2,
    max_words: int | None = None,
    input_format: str | None = None,
    field: str = "text",
    progress: bool | None = None,
) -> Edited:
    """Return a tokenizer with more tokens: continue training from its merges, on text cut by its own pre-tokenizer.

    Every id, merge and special token is kept. New merges rank after all others, and new ids follow the highest one
    in use, special tokens included; free and reserved ids stay so. Text in which no new token occurs keeps its ids.

    Args:
        corpus, min_frequency, input_format, field, progress: as for `BPETokenizer.train`.
        new_tokens: how many tokens to add; fewer, with the warning TrainingStopped, if no pair is frequent enough.
        max_words: the most words that a new token may have. By default, if nothing cuts text into words (models like
            SentencePiece's, superwords), the most that an old token has.

    Among equally frequent pairs, the one with the lowest ids is merged. A pair is skipped if its token exists already
    (made by no merge), or starts or ends such a token. If tokens are made of characters, frequent characters that are
    missing become tokens too.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 260, special_tokens=["<|end|>"])
    >>> more = extend(t, "newest newer new " * 9, 2)
    >>> more.tokenize("newest"), more.encode("lowest<|end|>") == t.encode("lowest<|end|>"), more.model.tokens[261]
    ([b'new', b'e', b's', b't'], True, b'new')

    Raises TrainingError for a number below 1, an empty corpus, and a tokenizer with a prefix for word continuations;
    otherwise, for the corpus, the errors of `BPETokenizer.train`.
    Cost: for 10 MB and 8,000 tokens 5 to 9 s.
    """
    spec, model = tokenizer.spec, tokenizer.spec.model
    at_least_one("new_tokens", new_tokens)
    at_least_one("min_frequency", min_frequency)
    prefix = "" if model.initial_symbols is None else model.initial_symbols.prefix.decode("utf-8", "replace")
    if prefix:
        raise TrainingError(
            f"this tokenizer marks what continues a word with {prefix!r}, and merges that put such tokens together are "
            "not learned here"
        )
    derived = derive_tokens(model)
    limits = NewTokens(spec, derived, TokenConstraints.of(spec, derived, max_words))
    counts = count_by_tokenizer(spec, corpus, input_format=input_format, field=field, progress=progress)
    with progress_bar(progress, None, "encoding and merging", " merges") as advance:
        numbered = _Numbered(spec, counts)
        steps = continue_training(
            CountedSequences(numbered.sequences, numbered.tokens), new_tokens, limits, min_frequency
        )
        advance(len(steps))
    if len(steps) < new_tokens:
        size = len(tokenizer)
        warn_stopped(size + len(steps), size + new_tokens, min_frequency, stacklevel=3)
    found = named_merges(steps, numbered.tokens)
    next_id = 1 + max(chain(model.tokens, (token.id for token in spec.special_tokens.tokens)))
    extended = append_merges(model, found, next_id, numbered.missing)
    return with_spec(tokenizer, TokenizerSpec(extended, **spec.arguments()))


class NewTokens:
    """The set of tokens that a merge may make.

    Attributes:
        monotone: that "ab" is a token already says nothing about "abc".
    """

    monotone = False

    def __init__(self, spec: TokenizerSpec, derived: Derivations, constraints: TokenConstraints) -> None:
        model = spec.model
        taken = set(model.tokens.values())
        for name in spec.special_tokens.contents.values():
            taken.add(utf8(name))
            if spec.is_byte_level and BYTE_OF_CHAR.keys() >= set(name):
                taken.add(from_alphabet(name))  # files write both the same way
        spelled = () if model.initial_symbols is None else (model.initial_symbols.byte_tokens or {}).values()
        for token_id in (*derived.unreachable, *(i for i in spelled if i not in model.alphabet.values())):
            token = model.tokens[token_id]
            taken.update(part for cut in range(1, len(token)) for part in (token[:cut], token[cut:]))
        self._taken, self._constraints, self._utf8_only = taken, constraints, not spec.is_byte_level

    def allows(self, token: bytes) -> bool:
        """Return whether a merge may make this token."""
        return (
            token not in self._taken
            and self._constraints.allow(token)
            and not (self._utf8_only and from_utf8(token) is None)
        )


class _Numbered:
    """Counted pieces as sequences of indices into `tokens`: the model's, by id, and two per missing character."""

    def __init__(self, spec: TokenizerSpec, counts: Mapping[str, int]) -> None:
        model, initial_symbols, self._encode = spec.model, spec.model.initial_symbols, pre_token_encoder(spec)
        ids = sorted(model.tokens)
        self._number = {token_id: index for index, token_id in enumerate(ids)}
        self.tokens = [model.tokens[token_id] for token_id in ids]
        if initial_symbols is not None:  # nothing merges with these
            spelled = (initial_symbols.byte_tokens or {}).values() if initial_symbols.characters else ()
            for token_id in self._number.keys() & {initial_symbols.unk_id, *initial_symbols.symbols.values(), *spelled}:
                del self._number[token_id]
        missing = missing_characters(spec, chain.from_iterable(counts))
        self.missing = frozenset(map(str.encode, missing))
        self._cut = re.compile(f"([{''.join(map(re.escape, missing))}])") if missing else None
        self._halves = {char: [len(ids) + 2 * at, len(ids) + 2 * at + 1] for at, char in enumerate(missing)}
        for char in map(str.encode, missing):
            self.tokens += [char[:1], char[1:]]
        by_count: dict[int, list[str]] = {}
        for piece, count in counts.items():
            by_count.setdefault(count, []).append(piece)
        self._sequences = [(count, list(self._encoded(pieces))) for count, pieces in by_count.items()]

    def sequences(self) -> Iterable[tuple[int, Iterable[Sequence[int]]]]:
        """Return piece frequencies, and for each the sequences of the pieces with that frequency."""
        return self._sequences

    def _encoded(self, pieces: list[str]) -> Iterator[list[int]]:
        """Yield the pieces' sequences of two or more tokens, cut at tokens that merge with nothing."""
        cut = [[piece] for piece in pieces] if self._cut is None else list(map(self._cut.split, pieces))
        encoded = self._encode(part for parts in cut for part in parts[::2])
        find = self._number.get
        for parts in cut:
            numbers = list(map(find, next(encoded)))
            for at in range(1, len(parts), 2):
                numbers += self._halves[parts[at]]
                numbers += map(find, next(encoded))
            merging = split_at_none(numbers) if None in numbers else [numbers]
            yield from (part for part in merging if len(part) > 1)  # type: ignore[misc]


def missing_characters(spec: TokenizerSpec, characters: Iterable[str]) -> list[str]:
    """Return the characters, in order, that can become tokens: symbols that the vocabulary lacks.

    A one-byte character gains nothing. In a piece that ignore_merges may take whole, or that ends in a mark, characters
    aren't what they are alone.
    """
    model, initial_symbols, pre_tokenizer = spec.model, spec.model.initial_symbols, spec.pre_tokenizer
    if initial_symbols is None or not initial_symbols.characters or initial_symbols.suffix or model.ignore_merges:
        return []
    if pre_tokenizer is not None and (pre_tokenizer.emits_byte_alphabet or pre_tokenizer.byte_level):
        return []
    if (
        initial_symbols.unk_id is None and len(initial_symbols.byte_tokens or {}) < 256
    ):  # they vanish, and their neighbours may merge
        return []
    known = {symbol.decode() for symbol in model.alphabet}.union(
        *(symbol.decode() for symbol in initial_symbols.symbols)
    )
    return sorted(char for char in set(characters) - known if not char.isascii())
