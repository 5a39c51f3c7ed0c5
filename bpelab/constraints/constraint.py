"""Constraints: which ids a model may choose, so that its text matches, in the ids to which the tokenizer encodes it.

The usual mask allows every token whose bytes keep a match possible. So it also allows spellings that a model has never
seen in training: `1`, `9` for the token `19`. Here a sequence of ids is allowed if it is the beginning of the encoding
of some text that matches, and only then (`product.py`). No choice leads into a dead end.

Cost: where the text may go on freely, the first mask takes a walk through the vocabulary; others are look-ups. Sources:
Willard and Louf 2023, "Efficient Guided Generation for Large Language Models" (masks from automata); Koo, Liu and He
2024, "Automata-based constraints for language model decoding" (the product of two automata); for compatible neighbours
those of `encoders/trie.py`.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._support.numpy_import import np
from .._support.validate import check_flags, check_size
from ..core.tokenizer import Tokenizer, check_tokenizer
from ..errors import PatternError
from ..regex.ast import Node, choice, sequence
from ..regex.charsets import literal
from ..regex.parser import parse
from .language import Language
from .product import Product, union
from .spellings import spelling_of

if TYPE_CHECKING:
    from .logits import LogitsProcessor
    from .state_table import Numbers


class Constraint:
    """Texts that a model may write: those that match an expression from end to end.

    Made by `regex`, `choices` or `json_schema`. It can be used for many texts, by one thread at a time, and keeps the
    masks that it has computed.

    Attributes:
        tokenizer: the model's.
        canonical: whether only the ids are allowed to which the tokenizer encodes the text, by itself. Texts that
            contain an added token, special or not, are left out.

    >>> from bpelab import BPETokenizer
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> matcher = Constraint.regex(tokenizer, "low(er)?").matcher()
    >>> [tokenizer.id_to_token(token) for token in matcher.allowed()]  # neither "l" nor "lo", since "low" is a token
    [b'low']
    >>> matcher.advance(tokenizer.token_to_id("low"))
    >>> [tokenizer.id_to_token(token) for token in matcher.allowed()], matcher.can_end
    ([b'e'], True)

    Raises ModelError for a tokenizer that can't be served, as `BPETokenizer.covers` does; PatternError for an
    expression that no automaton runs, that nothing matches, or that needs more steps or states than the limits, which
    the error names; this may happen later, when the texts that need them are reached.
    """

    def __init__(self, tokenizer: Tokenizer, node: Node, canonical: bool) -> None:
        check_tokenizer(tokenizer)
        check_flags(canonical=canonical)
        self.tokenizer, self.canonical = tokenizer, canonical
        self._product = Product(Language(node), spelling_of(tokenizer, canonical))
        if not self._product.can_begin():
            raise PatternError("no text matches this constraint")

    @classmethod
    def regex(cls, tokenizer: Tokenizer, pattern: str, *, canonical: bool = True) -> "Constraint":
        """Return the constraint to texts that a regular expression matches from end to end.

        Args:
            pattern: in the syntax of split patterns (`bpelab.regex`), which is that of Rust; it may look one character
                ahead or behind, and has no backreferences.
            canonical: False allows every sequence of tokens that spells such a text.
        """
        if not isinstance(pattern, str):
            raise TypeError(f"pattern is a str, not {type(pattern).__name__}")
        return cls(tokenizer, parse(pattern, "rust"), canonical)

    @classmethod
    def choices(cls, tokenizer: Tokenizer, texts: Iterable[str], *, canonical: bool = True) -> "Constraint":
        """Return the constraint to one of several texts."""
        if isinstance(texts, str | bytes):
            raise TypeError(f"texts is a list of texts, not one {type(texts).__name__}")
        given = list(texts)
        if not given or not all(isinstance(text, str) for text in given):
            raise ValueError(f"texts has to be one or more texts, not {given!r:.200}")
        return cls(tokenizer, choice([literal_text(text) for text in given]), canonical)

    @classmethod
    def json_schema(
        cls, tokenizer: Tokenizer, schema: Mapping[str, Any] | bool, *, canonical: bool = True, max_depth: int = 3
    ) -> "Constraint":
        """Return the constraint to JSON texts that a schema allows.

        Every text is valid, but there are valid texts that aren't allowed: members come in the order of `properties`,
        without others, and there is at most a space after a comma or a colon. Raises PatternError for what isn't
        served, with its JSON pointer.

        Args:
            max_depth: how often a reference may lead to itself, and how deeply values without a schema are nested.
        """
        check_size(max_depth, "max_depth", 1)
        if not isinstance(schema, Mapping | bool):
            raise TypeError(f"schema is a dict, not {type(schema).__name__}: read JSON with json.loads")
        from .json_schema import SchemaReader

        return cls(tokenizer, SchemaReader(schema, max_depth).node, canonical)

    def matcher(self) -> "Matcher":
        """Return a matcher at the start of a text."""
        return Matcher(self._product, self.tokenizer)

    def logits_processor(self, stop_ids: Iterable[int]) -> "LogitsProcessor":
        """Return a logits processor for one call of transformers' `generate`, or of llama-cpp-python.

        Args:
            stop_ids: ids that end a text; they are allowed where it may end.

        The text begins after the ids of the first call.
        """
        from .logits import LogitsProcessor

        return LogitsProcessor(self.matcher(), stop_ids)


class Matcher:
    """A text on its way through a constraint."""

    def __init__(self, product: Product, tokenizer: Tokenizer) -> None:
        self._product, self._tokens = product, tokenizer.model.tokens
        self._text, self._places = product.texts.start, product.spelling.start

    def allowed(self, stop_ids: Iterable[int] = ()) -> "Numbers":
        """Return the ids that can come next, in order, as a NumPy array; none if the text has to end here.

        Where the text may end, `stop_ids` are among them. Don't change the array: it is kept. Cost: a look-up for a
        state that was reached before. Otherwise, for a vocabulary of 100,000 tokens, up to some milliseconds where the
        text may go on freely.
        """
        found = self._product.allowed(self._text, self._places)
        return union([found, np.array(sorted(stop_ids), found.dtype)]) if self.can_end else found

    @property
    def can_end(self) -> bool:
        """Whether the text may end here."""
        return self._product.can_end(self._text, self._places)

    @property
    def state(self) -> Hashable:
        """Where the text is: matchers of one constraint whose states are equal allow the same from here on."""
        return self._text, self._places

    def advance(self, token: int) -> None:
        """Go on by one id. Raises ValueError if it isn't allowed."""
        text, places = self._product.follow(self._text, self._places, token, self._tokens.get(token, b""))
        if not places:
            raise ValueError(f"the id {token} isn't allowed here: it would make a match, or its encoding, impossible")
        self._text, self._places = text, places

    def copy(self) -> "Matcher":
        """Return another matcher at the same place, which goes on by itself."""
        new = object.__new__(Matcher)
        new.__dict__.update(self.__dict__)
        return new


def literal_text(text: str) -> Node:
    """Return the expression that matches one text."""
    return sequence([literal(ord(char), False) for char in text])
