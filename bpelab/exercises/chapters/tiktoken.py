"""The exercises of *Matching GPT-2 and GPT-4*."""

import base64
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...encoders import NaiveEncoder
from ...model.bpe import BPEModel
from ...notebook.messages import code
from ...unicode.byte_alphabet import from_alphabet, to_alphabet
from ..exercise import Exercise
from ..fixtures import Merges, is_merge_list, is_rank_table, merge_lists, rank_tables, trained_tokenizer
from ..limits import Limits
from .bytes import decode
from .encoding import encode_piece
from .regex import split
from .training import train


def parse_line(line):
    """Return (token, rank), bytes and int, for a line of a .tiktoken file such as b"IHQ= 256"."""
    token, rank = line.split()
    return base64.b64decode(token), int(rank)


def unused_ids(tokenizer):
    """Return the ids below tokenizer.n_vocab that have no token, ascending, as a list."""
    return [token_id for token_id in range(tokenizer.n_vocab) if tokenizer.id_to_token(token_id) is None]


def broken_tokens(written):
    """Return the tokens in `written` that are not valid UTF-8, in the same order.

    `written` are tokens in GPT-2's alphabet, such as "Ġthe".
    """
    broken = []
    for token in written:
        try:
            from_alphabet(token).decode()
        except UnicodeDecodeError:
            broken.append(token)
    return broken


def made_of(ranks, token):
    """Return the two tokens (bytes, bytes) that merging the bytes of `token` ends with.

    Only tokens that rank before `token` may be made on the way. `ranks` is token -> rank.
    Return None if it does not end with two tokens.
    """
    before = {other: rank for other, rank in ranks.items() if rank < ranks[token] or len(other) == 1}
    model = BPEModel.from_ranks(before, ignore_merges=False)
    parts = [model.tokens[part] for part in NaiveEncoder(model).encode_piece(token)]
    return tuple(parts) if len(parts) == 2 else None


def table_is_enough(merges):
    """Return True if each of `merges`, in order, is the pair that merging its token's bytes ends with.

    `merges` is a list of (bytes, bytes), no two of which make the same token. The ranks are 0 to
    255 for the bytes, and go on from there in the order of the list.
    """
    ranks = {bytes([byte]): byte for byte in range(256)}
    for left, right in merges:
        ranks[left + right] = len(ranks)
    # made_of is the answer to exercise tiktoken.4
    return all(made_of(ranks, left + right) == (left, right) for left, right in merges)


def _lines() -> Iterator[tuple[bytes]]:
    for rank, token in ((0, b"!"), (10, b"\n"), (32, b" "), (200, b"\xc8"), (256, b" t"), (100255, b" a longer token")):
        yield (base64.b64encode(token) + b" " + str(rank).encode(),)


def _tokenizers() -> Iterator[tuple[str, int, dict[str, int]]]:
    for special in ({}, {"<|end|>": 256}, {"<|end|>": 260}, {"<|end|>": 258, "<|pad|>": 262}):
        for text, size in (("", 256 + len(special)), ("abab", 257 + len(special)), ("abcabc", 258 + len(special))):
            if text:
                yield text, size, special


def _show_training(name: str, text: str, size: int, special: dict[str, int]) -> str:
    return f"{name}(BPETokenizer.train({code(text)}, {size}, special_tokens={code(special)}, progress=False))"


def _written() -> Iterator[tuple[list[str]]]:
    whole = ["the", " the", "é", "日", "\n", "😀", "a"]
    parts = [b"\xc3", b"\xa9", b" \xe6", b"\x97\xa5", b"\xf0\x9f", b"a\xcc", b"\xff", b"\xed\xa0\x80"]
    tokens = [to_alphabet(token.encode()) for token in whole] + [to_alphabet(part) for part in parts]
    yield ([],)
    for token in tokens:
        yield ([token],)
    yield (tokens,)
    yield (tokens[::-2],)


def _lists() -> Iterator[tuple[Merges]]:
    yield from merge_lists([(b"l", b"o"), (b"o", b"w"), (b"l", b"ow")])


class Tokenizer:
    """A byte-pair encoder: a vocabulary, token (bytes) -> id, and the pattern that cuts a text."""

    def __init__(self, vocab, pattern):
        self.vocab, self.pattern = vocab, pattern

    @classmethod
    def train(cls, text, vocab_size, pattern):
        """Learn a vocabulary from the pieces of a text."""
        return cls(train(Counter(piece.encode() for piece in split(pattern, text)), vocab_size), pattern)

    def encode(self, text):
        """Return the ids of a text. A piece that is a token becomes that token, whatever the merges say."""
        ids = []
        for piece in split(self.pattern, text):
            data = piece.encode()
            ids += [self.vocab[data]] if data in self.vocab else encode_piece(self.vocab, data)
        return ids

    def decode(self, ids):
        """Return the text of ids."""
        return decode(self.vocab, ids)

    def save(self, path):
        """Write tiktoken's format: for each token a line with its bytes in Base64, a space, and its id."""
        with open(path, "wb") as file:
            file.writelines(base64.b64encode(token) + b" %d\n" % i for token, i in self.vocab.items())

    @classmethod
    def load(cls, path, pattern):
        """Read what `save` wrote; the format has no pattern."""
        with open(path, "rb") as file:
            lines = [line.split() for line in file]
        return cls({base64.b64decode(token): int(i) for token, i in lines}, pattern)


def _used(tokenizer: Any, vocab: dict[bytes, int], pattern: str, text: str) -> Any:
    """Train, encode, decode, save and load with a class, and return everything observable."""
    own = tokenizer(vocab, pattern)
    ids = None if own is None else own.encode(text)
    trained: Any = None if own is None else tokenizer.train(text * 3, 270, pattern)
    if ids is None and trained is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ranks.tiktoken")
        own.save(path)
        with open(path, "rb") as file:
            data = file.read()
        again = tokenizer.load(path, pattern)
    return {
        "encode": ids,
        "decode": own.decode(ids),
        "train": [*trained.vocab.items()][256:],
        "save": sorted(data.splitlines())[:300],
        "encode, after load": again.encode(text),
    }


def _vocabularies_and_texts() -> Iterator[tuple[dict[bytes, int], str, str]]:
    single = {bytes([byte]): byte for byte in range(256)}
    whole = {**single, b"low": 256, b"er": 257}  # no merge makes `low`: it is taken whole
    trained = dict(trained_tokenizer("newest lowest widest slow low slower " * 9, 266).model.ids)
    for vocab in (single, trained, whole):
        for text in ("", "low", "the slowest, newest café", "日本 low lower  lowest"):
            yield vocab, r"\w+|\s+|[^\w\s]+", text


STUB = '''from collections import Counter
import base64

from bpelab.exercises import my_tokenizer

mine = my_tokenizer("regex")
decode, encode_piece, split, train = mine.decode, mine.encode_piece, mine.split, mine.train


class Tokenizer:
    """A byte-pair encoder: a vocabulary, token (bytes) -> id, and the pattern that cuts a text."""

    def __init__(self, vocab, pattern):
        self.vocab, self.pattern = vocab, pattern

    @classmethod
    def train(cls, text, vocab_size, pattern):
        """Learn a vocabulary from the pieces of a text."""
        ...  # your code here

    def encode(self, text):
        """Return the ids of a text. A piece that is a token becomes that token, whatever the merges say."""
        ...  # your code here

    def decode(self, ids):
        """Return the text of ids."""
        ...  # your code here

    def save(self, path):
        """Write tiktoken's format: for each token a line with its bytes in Base64, a space, and its id."""
        ...  # your code here

    @classmethod
    def load(cls, path, pattern):
        """Read what `save` wrote; the format has no pattern."""
        ...  # your code here'''

EXERCISES = [
    Exercise(
        "tiktoken.1",
        "One line",
        parse_line,
        _lines,
        ("There is a space between the two: line.split().", "base64.b64decode returns the bytes, int the rank."),
        level="easy",
        next_step="One more line of Python reads a whole file with it.",
        is_valid=lambda line: False,
    ),
    Exercise(
        "tiktoken.2",
        "Which ids are holes?",
        unused_ids,
        _tokenizers,
        ("n_vocab is the highest id plus one.", "tokenizer.id_to_token(i) is None where there is no token."),
        level="easy",
        next_step="What does `decode` do with such an id? Try it.",
        call=lambda answer, *recipe: answer(trained_tokenizer(*recipe)),
        format_call=_show_training,
        is_valid=lambda *recipe: False,
    ),
    Exercise(
        "tiktoken.3",
        "Tokens that are not text",
        broken_tokens,
        _written,
        (
            "Turn each one back into bytes first, with from_alphabet.",
            "bytes.decode() raises UnicodeDecodeError for bytes that are not valid UTF-8.",
        ),
        level="easy",
        next_step='A model may still say one of them. "Streaming" is about what to show then.',
        is_valid=all,
    ),
    Exercise(
        "tiktoken.4",
        "What is it made of?",
        made_of,
        rank_tables,
        (
            "The merges before that of `token` make tokens of a lower rank. So drop all others from the table.",
            "BPEModel.from_ranks(those, ignore_merges=False) is the model of it. Keep the 256 bytes in.",
            "Encode the bytes of `token` with it. What is left over are its parts; if there aren't two, the answer is "
            "None.",
        ),
        level="medium",
        next_step="Do it for every token of GPT-4's table, and you have the merge list that was never published.",
        is_valid=is_rank_table,
    ),
    Exercise(
        "tiktoken.5",
        "Can a table hold it?",
        table_is_enough,
        _lists,
        (
            "Build the table: the 256 bytes, then the token of each merge, in order.",
            "Exercise tiktoken.4 finds the pair that a token is made of. Compare it with the pair in the list.",
        ),
        level="medium",
        next_step="Build the shortest list for which the answer is False.",
        is_valid=lambda merges: is_merge_list(merges, distinct=True),
    ),
    Exercise(
        "tiktoken.6",
        "Your tokenizer: one class",
        Tokenizer,
        _vocabularies_and_texts,
        (
            "Every method is a line or a few: `split`, `train`, `encode_piece` and `decode` do the work. Pieces are "
            "strings, and tokens bytes.",
            "`encode` looks each piece up first, as tiktoken does, and only then merges.",
            "`save` writes base64.b64encode(token) + b' %d\\n' % id for each token, and `load` undoes it.",
        ),
        level="hard",
        next_step="Compare your class with tiktoken on a text of your own, and on a file of code.",
        call=_used,
        is_valid=lambda vocab, pattern, text: False,
        stub_cell=STUB,
        limits=Limits(seconds=20.0),
    ),
]
