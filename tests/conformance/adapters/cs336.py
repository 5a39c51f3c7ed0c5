"""The two functions that assignment 1 of Stanford's CS336 asks for, with bpelab underneath."""

from pathlib import Path

from bpelab import BPEModel, BPETokenizer
from bpelab.streaming import encode_iterable

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def get_tokenizer(vocab, merges, special_tokens=None):
    """A tokenizer of a vocabulary with ids (id -> bytes), merges, and special tokens that are found in every text."""
    named = {token.encode(): token for token in special_tokens or ()}
    ids = {named[token]: token_id for token_id, token in vocab.items() if token in named}
    free = max(vocab) + 1
    for name in special_tokens or ():
        if name not in ids:
            ids[name], free = free, free + 1
    model = BPEModel.from_vocab({n: token for n, token in vocab.items() if token not in named}, merges)
    return Tokenizer(BPETokenizer(model, pattern="gpt2", special_tokens=ids))


class Tokenizer:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def encode(self, text):
        return self.tokenizer.encode(text, allowed_special="all")

    def encode_iterable(self, texts):
        return encode_iterable(self.tokenizer, texts, allowed_special="all")

    def decode(self, ids):
        return self.tokenizer.decode(ids)


def train_bpe(input_path, vocab_size, special_tokens, **kwargs):
    """The vocabulary, id -> bytes, and the merges as pairs of bytes."""
    options = {"pattern": PATTERN, "ties": "cs336", "min_frequency": 1, "special_tokens": special_tokens}
    tokenizer = BPETokenizer.train(Path(input_path), vocab_size, **options)
    tokens = tokenizer.model.tokens
    vocab = dict(tokens) | {token_id: name.encode() for name, token_id in tokenizer.special_tokens.items()}
    return vocab, [(tokens[left], tokens[right]) for left, right in tokenizer.model.merges]
