"""Random tokenizer.json files, broken ones among them, read in C and in Python; and the merges of random models."""

import json
import random
from array import array
from pathlib import Path

from bpelab import BPELabError, BPEModel, native
from bpelab._support.json_document import JSONFile
from bpelab.core.derivations import base_ids, derive_tokens
from bpelab.encoders.heap import HeapEncoder
from bpelab.encoders.naive import NaiveEncoder
from bpelab.formats import model_json, tokenizer_json
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.model.lazy_model import LazyModel, ModelColumns, merge_columns
from bpelab.model.merge_recovery import recover_merges
from bpelab.model.trace import MergeStep

LETTERS = 'ab"\\/\n\x08\x7f é日😀\0\ud83d'
DAMAGE = (
    b'"',
    b"\\",
    b",",
    b"]",
    b"}",
    b"{",
    b"[",
    b" ",
    b"0",
    b"\xff",
    b"\\u",
    b"\\ud83d",
    b'"model"',
    b"null",
    b"-1",
)


def random_content(rng: random.Random) -> bytes:
    """A tokenizer.json of a few tokens of odd characters, spelled in any way; some are damaged."""
    letters = rng.sample(LETTERS[:-1], rng.randint(1, 6))
    names = list(letters)
    for _ in range(rng.randint(0, 12)):
        names.append(rng.choice(names) + rng.choice(names))
    names = list(dict.fromkeys([*names, *rng.choices(["", "#version: 0.2", "\ud83d"], k=rng.choice((0, 0, 0, 1)))]))
    first = rng.choice((0, 0, 5, 2**32 - len(names)))
    vocab = {name: first + at for at, name in enumerate(names)}
    pairs = [(left, right) for left in names for right in names if left + right in vocab]
    rng.shuffle(pairs)
    pairs += rng.choices(pairs, k=rng.choice((0, 0, 0, 1))) if pairs else []
    joined = rng.random() < 0.4
    model = {"type": "BPE", "vocab": vocab, "merges": [" ".join(pair) if joined else list(pair) for pair in pairs]}
    if rng.random() < 0.2:
        model["continuing_subword_prefix"] = rng.choice(("", "a"))
    if rng.random() < 0.3:
        model = dict(reversed(model.items()))
    data = {"version": "1.0", "added_tokens": [{"id": first, "content": names[0], "special": False}], "model": model}
    text = json.dumps(data, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1)))
    content = text.encode("utf-8", "surrogatepass")
    for _ in range(rng.choice((0, 0, 1, 3))):
        at = rng.randrange(len(content))
        content = content[:at] + rng.choice(DAMAGE) * rng.randint(0, 1) + content[at + rng.randint(0, 2) :]
    return content


def outcome(content: bytes, in_c: bool) -> object:
    """The model that is read, or the error in words."""
    path = Path("tokenizer.json")
    try:
        file, merges = model_json.open_json(path, content) if in_c else (JSONFile(path, content), None)
        model = tokenizer_json.read_tokenizer(file, {}, merges=merges).model
    except BPELabError as error:
        return str(error)
    rows = list(zip(*merge_columns(model.merges)))
    return dict(model.tokens), rows, dict(model.alphabet), model.initial_symbols, list(model.tokens)


def files_round(rng: random.Random) -> bool:
    """Compare one file; returns whether C read it."""
    from bpelab.native._core import model_json as in_c

    content = random_content(rng)
    assert outcome(content, True) == outcome(content, False), content
    parts = in_c(content)
    if parts is not None:
        (vocab, *columns), (start, stop), (begin, end) = parts
        pairs = [entry.split(" ") if isinstance(entry, str) else entry for entry in json.loads(content[begin:end])]
        assert list(vocab.items()) == list(json.loads(content[start:stop]).items())
        ids = ([vocab[left], vocab[right], vocab[left + right]] for left, right in pairs)
        assert list(map(list, zip(*(array("I", column) for column in columns)))) == list(ids), content
    return parts is not None


def random_list(rng: random.Random) -> BPEModel:
    """A model of characters with a list of merges: made from ranks, or in any order, with some left out."""
    letters = [bytes([byte]) for byte in b"abc"[: rng.randint(1, 3)]]
    tokens = list(letters)
    for _ in range(rng.randint(0, 14)):
        tokens.append(rng.choice(tokens) + rng.choice(tokens))
    ids = {token: token_id for token_id, token in enumerate(dict.fromkeys(tokens))}
    pairs = [(left, right) for left in ids for right in ids if left + right in ids]
    if rng.random() < 0.5:
        pairs.sort(key=lambda pair: ids[pair[0] + pair[1]])
    else:
        rng.shuffle(pairs)
        pairs.sort(key=lambda pair: len(pair[0] + pair[1]) if rng.random() < 0.5 else 0)
    share = rng.choice((0.3, 0.8, 1))
    pairs = [pair for pair in pairs if rng.random() < share]
    merges = {(ids[left], ids[right]): (rank, ids[left + right]) for rank, (left, right) in enumerate(pairs)}
    columns = ModelColumns.of_tokens(list(ids.values()), list(ids), merge_columns(merges))
    return LazyModel(columns, False, InitialSymbols(characters=True))


def merges_round(rng: random.Random) -> int:
    """Compare what makes each token, in C, in Python, and by merging; returns how many rank before a part."""
    model = random_list(rng)
    plain = BPEModel(model.tokens, model.merges, model.alphabet, False, model.initial_symbols)
    known = recover_merges(plain)
    assert native.recovered_merges(model) == known, plain
    unmade = base_ids(plain)
    pairs = ((token_id, last_merged(plain, token_id)) for token_id in plain.tokens if token_id not in unmade)
    merged = {token_id: pair for token_id, pair in pairs if pair is not None}
    assert merged == derive_tokens(plain).parts == derive_tokens(model).parts, plain
    alone = {pair: (known.rank_of[token_id], token_id) for token_id, pair in known.splits.items()}
    fewer = HeapEncoder(BPEModel(plain.tokens, alone, plain.alphabet, False, plain.initial_symbols))
    for _ in range(10):
        piece = bytes(rng.choices(b"abc", k=rng.randint(1, 12)))
        assert HeapEncoder(plain).encode_piece(piece) == fewer.encode_piece(piece), (plain, piece)
    return known.early


def last_merged(model: BPEModel, token_id: int) -> tuple[int, int] | None:
    """The last pair that merging a token's symbols merges, if that makes the token."""
    steps: list[MergeStep] = []

    def record(step: object) -> None:
        if isinstance(step, MergeStep):
            steps.append(step)

    ids = NaiveEncoder(model).encode_piece(model.tokens[token_id], record)
    return (steps[-1].left, steps[-1].right) if ids == [token_id] and steps else None
