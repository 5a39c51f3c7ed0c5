"""Plausible wrong answers to the exercises of *Matching GPT-2 and GPT-4*."""

import base64
from base64 import b64decode

from bpelab import BPEModel
from bpelab.exercises.chapters import tiktoken
from bpelab.unicode.byte_alphabet import from_alphabet


def still_in_base64(line):
    token, rank = line.split()
    return token, int(rank)


def rank_as_text(line):
    token, rank = line.decode().split()
    return b64decode(token), rank


def only_after_the_merges(tokenizer):
    return list(range(len(tokenizer), tokenizer.n_vocab))


def special_ids_too(tokenizer):
    return [i for i in range(tokenizer.n_vocab) if i not in tokenizer.model.tokens]


def without_the_alphabet(written):
    return [token for token in written if not token.isascii()]


def replacement_spaces_only(written):
    return [token for token in written if "\ufffd" in token.replace("Ġ", " ")]


def latin_bytes(written):
    return [token for token in written if from_alphabet(token)[:1] >= b"\x80"]


def longest_prefix(ranks, token):
    for cut in range(len(token) - 1, 0, -1):
        if token[:cut] in ranks and token[cut:] in ranks:
            return token[:cut], token[cut:]
    return None


def lowest_of_the_later(ranks, token):
    cuts = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
    whole = [pair for pair in cuts if pair[0] in ranks and pair[1] in ranks]
    return min(whole, key=lambda pair: max(ranks[pair[0]], ranks[pair[1]]), default=None)


def always(merges):
    return True


def no_second_way(merges):
    made = {left + right for left, right in merges} | {bytes([byte]) for byte in range(256)}
    return all(
        sum(token[:cut] in made and token[cut:] in made for cut in range(1, len(token))) == 1
        for token in (left + right for left, right in merges)
    )


def same_number(merges):
    return len(BPEModel.from_ranks(BPEModel.from_merges(merges).ids).merges) == len(merges)


class MergesOnly(tiktoken.Tokenizer):
    def encode(self, text):
        pieces = tiktoken.split(self.pattern, text)
        return [token for piece in pieces for token in tiktoken.encode_piece(self.vocab, piece.encode())]


class Uncut(tiktoken.Tokenizer):
    def encode(self, text):
        return tiktoken.encode_piece(self.vocab, text.encode())


class IdsForgotten(tiktoken.Tokenizer):
    def save(self, path):
        with open(path, "wb") as file:
            file.writelines(base64.b64encode(token) + b"\n" for token in self.vocab)


WRONG = {
    "tiktoken.1": [still_in_base64, rank_as_text],
    "tiktoken.2": [only_after_the_merges, special_ids_too],
    "tiktoken.3": [without_the_alphabet, replacement_spaces_only, latin_bytes],
    "tiktoken.4": [longest_prefix, lowest_of_the_later],
    "tiktoken.5": [always, no_second_way, same_number],
    "tiktoken.6": [MergesOnly, Uncut, IdsForgotten],
}
