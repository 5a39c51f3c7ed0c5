"""Superwords in a vocabulary and in a text: how many there are, and how many tokens they save.

A superword is a token that continues over the end of a word. The word pattern says where words end, but a file has only
the pattern of the last training stage. Without the word pattern, a token counts as a superword if it has white space
between two words, as ` of the` does, and the pattern of o200k_base, which keeps the most together, splits it.

What superwords save at a given vocabulary size can't be computed from one tokenizer: that needs another, trained on the
same text to the same size without them. Instead, the text is encoded with the word merges alone, and the size of that
vocabulary is reported. If words were learned first, as in SuperBPE, these are the merges before the first superword; if
both were learned together, as in BoundlessBPE, those that make no superword.

Chapter: Superwords. Cost: encoding the text twice, and building a model: a second for 100,000 tokens.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import ConversionError
from ..model.bpe import BPEModel
from ..model.merge_recovery import merge_pairs
from ..pretokenizers.split import Split
from ..regex.patterns import find_pattern
from ..tokenizer import BPETokenizer
from .compression import compression, ratio

WIDEST = "o200k"
"""The word pattern that keeps the most together: `can't`, and line breaks and slashes after punctuation."""


def superwords(tokenizer: BPETokenizer, word_pattern: str | None = None) -> list[int]:
    """Return the ids of the superwords, the lowest first. Empty if the tokenizer's own pattern cuts words.

    `word_pattern` is the word pattern, if known; any token that it cuts is a superword, as `我。` is.
    Cost: one check of every token, 0.5 s for 200,000.

    >>> from bpelab import Superwords
    >>> text, chosen = "one of the best of the rest " * 9, Superwords(transition=268)
    >>> tokenizer = BPETokenizer.train(text, 270, superwords=chosen)
    >>> [tokenizer.id_to_token(token_id) for token_id in superwords(tokenizer)]
    [b' of the', b'ne of the']
    >>> superwords(BPETokenizer.train(text, 268))
    []
    """
    own_pattern = find_pattern(tokenizer.pattern) if tokenizer.pattern else None
    if word_pattern is None and own_pattern is not None and own_pattern.cuts_words:
        return []
    word = Split(word_pattern or WIDEST)
    tokens = tokenizer.model.tokens
    decoded = (token.decode("utf-8", "ignore") for token in tokens.values())
    texts = (text.replace("\u2581", " ") for text in decoded)  # SentencePiece's space
    return sorted(
        token_id
        for token_id, text in zip(tokens, texts)
        if (word_pattern is not None or len(text.split()) > 1) and len(word.split(text)) > 1
    )


def words_alone(tokenizer: BPETokenizer, ids: Collection[int]) -> BPETokenizer | None:
    """Return a tokenizer with the word merges only and the same ids; `ids` are the superwords' ids.

    The word merges are those before the first superword, if most tokens from there on are superwords; otherwise all
    merges that neither make nor join one. Returns None if no list of merges gives the tokenizer's ids, or if tokens are
    characters.

    >>> from bpelab import Superwords
    >>> text, chosen = "one of the best of the rest " * 9, Superwords(transition=268)
    >>> tokenizer = BPETokenizer.train(text, 270, superwords=chosen)
    >>> words_alone(tokenizer, superwords(tokenizer)).tokenize("one of the best")
    [b'o', b'ne', b' of', b' the', b' best']
    """
    model = tokenizer.model
    if not model.covers_utf8 or (model.ignore_merges and model.recovered_merges.unreachable):
        return None
    try:
        pairs = merge_pairs(model)
    except ConversionError:
        return None
    products = {pair: model.ids[model.tokens[pair[0]] + model.tokens[pair[1]]] for pair in pairs}
    new_ids = list(dict.fromkeys(products.values()))
    removed_ids = set(ids)
    later = new_ids[next((at for at, new in enumerate(new_ids) if new in removed_ids), len(new_ids)) :]
    if len(removed_ids) > len(later) / 2:
        removed_ids.update(later)
    tokens = {token_id: token for token_id, token in model.tokens.items() if token_id not in removed_ids}
    word_pairs = ((rank, pair) for rank, pair in enumerate(pairs) if removed_ids.isdisjoint((*pair, products[pair])))
    merges = {pair: (rank, products[pair]) for rank, pair in word_pairs}
    words = BPEModel(MappingProxyType(tokens), MappingProxyType(merges), model.alphabet, False, model.initial_symbols)
    return BPETokenizer(words, **tokenizer.spec.arguments())


@dataclass(frozen=True)
class SuperwordUse:
    """A tokenizer's superwords, and their use in one text.

    Attributes:
        superwords: the number in the vocabulary.
        vocabulary: its number of tokens in all.
        most_words: the number of words in the superword that has the most.
        uses: the number of superwords among the text's tokens.
        tokens: the text's number of tokens.
        words: the text's number of words, runs of non-space characters.
        words_vocabulary: the number of tokens of `words_alone`; None if that returns None.
        tokens_of_words_alone: the text's number of tokens under `words_alone`, or None.
    """

    superwords: int
    vocabulary: int
    most_words: int
    uses: int
    tokens: int
    words: int
    words_vocabulary: int | None
    tokens_of_words_alone: int | None

    @property
    def share(self) -> float:
        """The fraction of the vocabulary that is superwords, 0 to 1."""
        return ratio(self.superwords, self.vocabulary)

    @property
    def share_of_text(self) -> float:
        """The fraction of the text's tokens that is superwords, 0 to 1."""
        return ratio(self.uses, self.tokens)

    @property
    def words_per_token(self) -> float:
        """Words per token in the text."""
        return ratio(self.words, self.tokens)

    @property
    def saving(self) -> float:
        """The fraction of tokens saved, compared with `words_alone`; NaN if that returns None."""
        alone = self.tokens_of_words_alone
        return float("nan") if alone is None else 1 - ratio(self.tokens, alone)


def superword_uses(tokenizer: BPETokenizer, texts: Mapping[str, str]) -> dict[str, SuperwordUse]:
    """Measure a tokenizer's superwords on each text, by name. Empty for a tokenizer without superwords.

    >>> from bpelab import Superwords
    >>> text, chosen = "one of the best of the rest " * 9, Superwords(transition=268)
    >>> tokenizer = BPETokenizer.train(text, 270, superwords=chosen)
    >>> use = superword_uses(tokenizer, {"a line": "one of the best"})["a line"]
    >>> use.superwords, use.uses, use.tokens, use.words_vocabulary, use.tokens_of_words_alone, use.saving
    (2, 1, 3, 268, 5, 0.4)
    """
    ids = superwords(tokenizer)
    if not ids:
        return {}
    alone, superword_ids, tokens = words_alone(tokenizer, ids), set(ids), tokenizer.model.tokens
    most = max(len(tokens[token_id].split()) for token_id in ids)
    uses_by_text = {}
    for name, text in texts.items():
        measures = compression(tokenizer, text)
        uses = sum(count for token_id, count in measures.uses.items() if token_id in superword_ids)
        number = None if alone is None else alone.count_tokens(text, add_special_tokens=False)
        sizes = None if alone is None else len(alone), number
        uses_by_text[name] = SuperwordUse(len(ids), len(tokenizer), most, uses, measures.tokens, measures.words, *sizes)
    return uses_by_text
