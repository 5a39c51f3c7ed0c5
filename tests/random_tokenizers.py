"""Random tokenizers of every kind that can be extended and pruned, and texts for them."""

import json
import random
import tempfile
from collections import Counter
from pathlib import Path

from bpelab import BPEModel, BPETokenizer
from bpelab.formats.sentencepiece_load import SPACE, build_decoder, build_model, special_tokens
from bpelab.formats.sentencepiece_proto import Piece
from bpelab.normalizers import NormalizerSequence, Prepend, Replace
from bpelab.regex.matchers import Pattern
from bpelab.trainers.naive import replace_pair

from .conftest import fuzz_text, random_merges, random_ranks

WORDS = [
    "low",
    "lower",
    "lowest",
    "new",
    "newest",
    "wide",
    "the",
    "of",
    "naïve",
    "日本",
    "日本語",
    "😀",
    "12",
    "123",
    "a",
    "é",
    "ab",
]
LETTERS = "abcdelnorstw éïя日本語1.,"
KINDS = ("trained", "list", "own ids", "ranks", "trained ranks", "superwords", "scores", "file of characters", "suffix")


def random_text(rng: random.Random) -> str:
    """Words that repeat, so that there is something to learn, and now and then what tokenizers get wrong."""
    own = ["".join(rng.choices(LETTERS, k=rng.randint(1, 5))) for _ in range(3)]
    words = rng.sample(WORDS, 6) + own
    text = rng.choice((" ", " ", "", "  ", "\n")).join(rng.choices(words, k=rng.randint(3, 30)))
    return text + (fuzz_text(rng).encode("utf-8", "replace").decode() if rng.random() < 0.2 else "")


def random_corpus(rng: random.Random) -> list[str]:
    return [random_text(rng) for _ in range(rng.randint(1, 6))] + ["low"]


def random_tokenizer(rng: random.Random, kind: str) -> BPETokenizer:
    """A tokenizer of one of KINDS."""
    pattern = rng.choice(("gpt2", "cl100k", "llama3", None))
    special = {"<|end|>": 5_000, "<|x|>": 7_000} if rng.random() < 0.5 else None
    if kind == "trained":
        number = 256 + rng.randint(1, 60)
        names = ["<|end|>"] if special else []
        return BPETokenizer.train([*random_corpus(rng)] * 2, number + 9, pattern=pattern, special_tokens=names)
    if kind == "superwords":
        number = 256 + rng.randint(20, 60)
        return BPETokenizer.train([*random_corpus(rng)] * 2, number, superwords=rng.choice(("superbpe", "boundless")))
    if kind in ("list", "own ids"):
        merges = random_merges(rng, "lowerst nïéa".encode(), rng.randint(1, 40))
        model = BPEModel.from_merges(merges, ignore_merges=rng.random() < 0.3)
        if kind == "own ids":
            ids = rng.sample(range(3_000), len(model.tokens))
            model = BPEModel.from_vocab({ids[at]: token for at, token in model.tokens.items()}, merges)
        return BPETokenizer(model, pattern=pattern, special_tokens=special)
    if kind == "ranks":
        ranks = random_ranks(rng, "lowerst né".encode(), rng.randint(1, 40))
        model = BPEModel.from_ranks(ranks, ignore_merges=rng.random() < 0.7)
        return BPETokenizer(model, pattern=pattern, special_tokens=special)
    if kind == "trained ranks":
        learned = BPETokenizer.train(
            [*random_corpus(rng)] * 2, 256 + rng.randint(1, 60), pattern=pattern or "gpt2"
        ).model
        holes = rng.sample(range(len(learned.ids) + 9), len(learned.ids)) if rng.random() < 0.5 else None
        ranks = dict(zip(learned.ids, sorted(holes))) if holes else learned.ids
        return BPETokenizer(BPEModel.from_ranks(ranks), pattern=pattern or "gpt2", special_tokens=special)
    if kind == "scores":
        return _scores(rng)
    return _file(rng, kind)


def _learned_texts(rng: random.Random, suffix: str = "") -> tuple[list[str], list[tuple[str, str]]]:
    """Characters and merges of neighbours in random words, as in training but of random pairs."""
    words = [list(SPACE + word) for word in rng.choices([*WORDS[:9], "日本語"], k=8)]
    if suffix:
        words = [[*word[1:-1], word[-1] + suffix] for word in words]
    symbols = sorted({symbol for word in words for symbol in word if rng.random() < 0.95})
    merges: list[tuple[str, str]] = []
    for _ in range(rng.randint(0, 40)):
        pairs = Counter(p for word in words for p in zip(word, word[1:]) if set("".join(p)) <= set("".join(symbols)))
        if not pairs:
            break
        pair = rng.choice(sorted(pairs))
        if all(symbol in symbols or symbol in map("".join, merges) for symbol in pair) and "".join(pair) not in map(
            "".join, merges
        ):
            merges.append(pair)
            words = [replace_pair(word, pair, "".join(pair)) for word in words]
    return symbols, merges


def _spaces() -> NormalizerSequence:
    return NormalizerSequence((Prepend(SPACE), Replace(Pattern("String", " "), SPACE)))


def _scores(rng: random.Random) -> BPETokenizer:
    """SentencePiece's kind: scores, with or without byte fallback, perhaps with a symbol."""
    symbols, merges = _learned_texts(rng)
    fallback = rng.random() < 0.7
    pieces = [Piece("<unk>", 0.0, "UNKNOWN"), Piece("<s>", 0.0, "CONTROL")]
    pieces += [Piece(f"<0x{byte:02X}>", 0.0, "BYTE") for byte in range(256)] if fallback else []
    pieces += [Piece("<new>", 0.0, "USER_DEFINED")] if rng.random() < 0.3 else []
    made = list(dict.fromkeys(left + right for left, right in merges))
    pieces += [Piece(text, -float(at)) for at, text in enumerate(made, 1)]
    pieces += [Piece(symbol, -1_000.0 - at) for at, symbol in enumerate(symbols)]
    return BPETokenizer(
        build_model(tuple(pieces), fallback),
        pattern=None,
        special_tokens=special_tokens(tuple(pieces)),
        normalizer=_spaces(),
        decoder=build_decoder(1),
        unk_token="<unk>",
    )


def _file(rng: random.Random, kind: str) -> BPETokenizer:
    """A tokenizer.json of characters: with byte fallback, an unknown token, or neither; for "suffix" words end."""
    suffix = "</w>" if kind == "suffix" else ""
    symbols, merges = _learned_texts(rng, suffix)
    fallback, unk = rng.random() < 0.5, rng.random() < 0.7
    texts = ["<unk>"] * unk + [f"<0x{byte:02X}>" for byte in range(256) if fallback] + symbols
    texts = list(dict.fromkeys([*texts, *(left + right for left, right in merges)]))
    to_space = {"type": "Prepend", "prepend": SPACE}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
    split = (
        {"type": "Whitespace"}
        if suffix
        else rng.choice((None, {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}))
    )
    data = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 0, "content": "<unk>", "special": True}] if unk else [],
        "normalizer": None if split else {"type": "Sequence", "normalizers": [to_space, replace]},
        "pre_tokenizer": split, "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {
            "type": "BPE", "unk_token": "<unk>" if unk else None, "end_of_word_suffix": suffix or None,
            "byte_fallback": fallback, "fuse_unk": rng.random() < 0.5,
            "vocab": dict(zip(texts, range(len(texts)))), "merges": list(map(list, merges)),
        },
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tokenizer.json").write_text(json.dumps(data))
        return BPETokenizer.from_pretrained(folder)
