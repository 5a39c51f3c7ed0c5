"""Tokenizers to adapt to, made by hand: more merges at the end, learned as the textbook does; fewer; other ids."""

from collections import Counter
from collections.abc import Collection

from bpelab import BPEModel, BPETokenizer
from bpelab.formats.huggingface import merge_pairs


def extended(tokenizer: BPETokenizer, text: str, number: int) -> BPETokenizer:
    """The tokenizer with `number` merges more, the most frequent pairs of its own tokens in a text, ids at the end."""
    model = tokenizer.model
    words = Counter(tuple(tokenizer.encode_piece(piece.encode())) for piece in tokenizer.pieces(text))
    vocab = dict(model.tokens)
    merges = [(vocab[left], vocab[right]) for left, right in merge_pairs(model)]
    first = tokenizer.n_vocab
    ids = {token: token_id for token_id, token in vocab.items()}
    while len(vocab) < len(model.tokens) + number:
        pairs: Counter = Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        (left, right), _ = max(pairs.items(), key=lambda item: (item[1], item[0]))
        merges.append((vocab[left], vocab[right]))
        token = vocab[left] + vocab[right]
        if token not in ids:
            ids[token] = first + len(vocab) - len(model.tokens)
            vocab[ids[token]] = token
        words = Counter({_merged(word, (left, right), ids[token]): times for word, times in words.items()})
    return rebuilt(tokenizer, vocab, merges)


def _merged(word: tuple[int, ...], pair: tuple[int, int], new: int) -> tuple[int, ...]:
    out: list[int] = []
    at = 0
    while at < len(word):
        merges = word[at : at + 2] == pair
        out.append(new if merges else word[at])
        at += 1 + merges
    return tuple(out)


def rebuilt(tokenizer: BPETokenizer, vocab: dict[int, bytes], merges: list[tuple[bytes, bytes]]) -> BPETokenizer:
    """A tokenizer with another model and the same of all else."""
    spec = tokenizer.spec
    arguments = {name: value for name, value in spec.arguments().items() if name != "pattern"}
    return BPETokenizer(BPEModel.from_vocab(vocab, merges), pattern=None, **arguments)


def pruned(tokenizer: BPETokenizer, remove: Collection[bytes]) -> tuple[BPETokenizer, dict[int, int]]:
    """The tokenizer without some tokens that no merge needs, its ids closed up, and old id -> new id."""
    from bpelab.vocab.added_tokens import AddedToken
    from bpelab.vocab.special_tokens import SpecialTokens

    model = tokenizer.model
    merges = [(model.tokens[left], model.tokens[right]) for left, right in merge_pairs(model)]
    kept = [pair for pair in merges if pair[0] + pair[1] not in remove]
    stay = sorted(i for i in tokenizer.get_vocab().values() if tokenizer.id_to_token(i) not in remove)
    ids = {old: new for new, old in enumerate(stay)}
    vocab = {ids[old]: token for old, token in model.tokens.items() if old in ids}
    special = SpecialTokens([AddedToken(*token)._replace(id=ids[token.id]) for token in tokenizer.added_tokens])
    arguments = {name: value for name, value in tokenizer.spec.arguments().items() if name != "pattern"}
    arguments["special_tokens"] = special
    return BPETokenizer(BPEModel.from_vocab(vocab, kept), pattern=None, **arguments), ids
