"""tokenizer.json files drawn at random: every part and every flag, independent of the others; and texts that try them.

A file is a function of its seed, so a seed in a failed test's message brings it back.
"""

import json
import random
from typing import Any

from bpelab._support.textio import valid_text
from bpelab.unicode.byte_alphabet import CHAR_OF_BYTE, to_alphabet

from ..conftest import fuzz_text
from . import zoo
from .zoo import JSON

CHARS = [*"aabbcdeehilnorst 1.,'-▁▁", *"éß日🙂<>_\n"]
CONTENTS = [
    "<s>", "</s>", "<unk>", "<pad>", "<a>", "<a><b>", "<b><c>", "<a><b><c>", "<|end|>", "<|end", "the", "The", "er",
    "é", "e\u0301", "É", "  ", "    ", "\n", "\n\n", " a", "a ", "▁<x>", "<日本>", "word", "wordy", "a", "[MASK]",
    "ﬁ", "1", "<0x41>", "Ġthe", "🙂", "<S>",
]  # fmt: skip


def chance(rng: random.Random, probability: float) -> bool:
    return rng.random() < probability


def draw(seed: int) -> JSON:
    """The tokenizer.json of a seed."""
    rng = random.Random(seed)
    in_bytes = chance(rng, 0.5)
    model = _made(rng, in_bytes) if chance(rng, 0.7) else _trained(rng, in_bytes)
    normalizer = None if chance(rng, 0.5) else rng.choice(zoo.NORMALIZERS)
    added = _added(rng, model, normalizer)
    pre_tokenizer = _pre_tokenizer(rng, in_bytes)
    decoder = rng.choice([zoo.byte_level(True)] * 5 + zoo.DECODERS) if in_bytes else rng.choice(zoo.DECODERS)
    return zoo.whole(
        model,
        added_tokens=added,
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizer,
        decoder=decoder,
        post_processor=None if chance(rng, 0.6) else rng.choice(zoo.POST_PROCESSORS),
        truncation=None if chance(rng, 0.7) else truncation(rng),
        padding=None if chance(rng, 0.7) else padding(rng),
    )


def truncation(rng: random.Random) -> JSON:
    direction = rng.choice(("Left", "Right"))
    return {
        "direction": direction,
        "max_length": rng.randint(4, 30),
        "strategy": "LongestFirst",
        "stride": rng.choice((0, 2)),
    }


def padding(rng: random.Random) -> JSON:
    strategy = rng.choice(("BatchLongest", {"Fixed": rng.randint(0, 40)}))
    return {
        "strategy": strategy,
        "direction": rng.choice(("Left", "Right")),
        "pad_to_multiple_of": rng.choice((None, 2, 8)),
        "pad_id": rng.randint(0, 9),
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }


def _trained(rng: random.Random, in_bytes: bool) -> JSON:
    changes: JSON = {"ignore_merges": chance(rng, 0.3), "dropout": rng.choice((None, None, 0.0, 0.5))}
    model = zoo.trained_model(
        rng.choice(("bytes", "bytes", "clip")) if in_bytes else rng.choice(("spaces", "spaces", "words", "prefix"))
    )
    if not in_bytes:
        changes |= {"fuse_unk": chance(rng, 0.5), "unk_token": rng.choice((None, "<unk>"))}
        changes["byte_fallback"] = chance(rng, 0.6)
    return {**model, **changes}


def _made(rng: random.Random, in_bytes: bool) -> JSON:
    """A model of any merges, as no training would make it: ranks that are no ids, one result of several merges."""
    prefix = rng.choice(("", "", "", "", "##", "▁")) if not in_bytes else rng.choice(("", "", "", "", "Ġ"))
    suffix = rng.choice(("", "", "", "</w>"))
    if in_bytes:
        alphabet = list(CHAR_OF_BYTE.values())
        if chance(rng, 0.3):
            alphabet = rng.sample(alphabet, rng.randint(200, 255))
        common = [char for char in map(CHAR_OF_BYTE.__getitem__, "".join(CHARS).encode()) if char in alphabet]
    else:
        common = alphabet = sorted(set(rng.sample(CHARS, rng.randint(8, len(CHARS)))))
    tokens = dict.fromkeys(alphabet)
    begins, inner = list(common), [prefix + char for char in common]
    if prefix:
        tokens |= dict.fromkeys(inner)
    if suffix:
        ends = [start + char + suffix for char in common for start in {"", prefix}]
        tokens |= dict.fromkeys(ends)
        inner += [end for end in ends if end.startswith(prefix)]
    merges: list[list[str]] = []
    for _ in range(rng.choice((0, 20, 60, 150))):
        pool = begins + (inner if prefix else [])
        left, right = rng.choice(pool), rng.choice(inner)
        new = left + right[len(prefix) :]
        if left.endswith("</w>") or len(new) > 14:
            continue
        merges.append([left, right])
        tokens[new] = None
        (inner if prefix and left.startswith(prefix) and left in inner else begins).append(new)
        if not prefix:
            inner.append(new)
    _more_merges(rng, tokens, merges, prefix)
    if chance(rng, 0.4):
        tokens |= dict.fromkeys("".join(rng.choices(common, k=rng.randint(2, 5))) for _ in range(9))  # orphans
    fallback = chance(rng, 0.4)
    if fallback:
        spelled = [f"<0x{byte:02X}>" for byte in range(256)]
        tokens |= dict.fromkeys(spelled if chance(rng, 0.5) else rng.sample(spelled, 180))
    unk = rng.choice(("<unk>", "<unk>", None))
    tokens |= dict.fromkeys(["<unk>", "<s>", "</s>"])
    if chance(rng, 0.1):  # what is unknown may merge
        merges.append(["<unk>", rng.choice(inner)])
        tokens[merges[-1][0] + merges[-1][1][len(prefix) :]] = None
    return {
        "type": "BPE", "dropout": rng.choice((None, None, 0.3)), "unk_token": unk,
        "continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None, "fuse_unk": chance(rng, 0.5),
        "byte_fallback": fallback, "ignore_merges": chance(rng, 0.3), "vocab": _numbered(rng, list(tokens)),
        "merges": _written(rng, merges),
    }  # fmt: skip


def _more_merges(rng: random.Random, tokens: dict[str, Any], merges: list[list[str]], prefix: str) -> None:
    """Further ways to tokens that are there already, and merges that are there twice."""
    if not prefix and chance(rng, 0.5):
        for token in [*tokens]:
            for cut in range(1, len(token)):
                if token[:cut] in tokens and token[cut:] in tokens and chance(rng, 0.5):
                    merges.append([token[:cut], token[cut:]])
    if chance(rng, 0.5):
        rng.shuffle(merges)
    if merges and chance(rng, 0.3):
        merges += rng.choices(merges, k=5)


def _numbered(rng: random.Random, tokens: list[str]) -> dict[str, int]:
    """Ids from 0 on in any order; a few far away, as reserved rows leave it."""
    if chance(rng, 0.6):
        rng.shuffle(tokens)
    vocab = {token: number for number, token in enumerate(tokens)}
    if chance(rng, 0.15):
        for number, token in enumerate(rng.sample(tokens, 3)):
            vocab[token] = 5_000 + 1_000 * number
    return vocab


def _written(rng: random.Random, merges: list[list[str]]) -> list[Any]:
    if any(" " in token for pair in merges for token in pair) or chance(rng, 0.5):
        return merges
    return ["#version: 0.2"] * chance(rng, 0.2) + [" ".join(pair) for pair in merges]


def _added(rng: random.Random, model: JSON, normalizer: JSON | None) -> list[JSON]:
    vocab, entries = model["vocab"], []
    normalize = zoo.normalize(normalizer)
    contents = rng.sample(CONTENTS, rng.choice((0, 1, 3, 6, 15)))
    if chance(rng, 0.3):
        contents += rng.sample(list(vocab), 3)
    if chance(rng, 0.5):
        contents += ["<s>", "</s>", "<unk>"]
    following = len(vocab)
    for content in dict.fromkeys(contents):
        flags = {key: chance(rng, 0.25) for key in ("single_word", "lstrip", "rstrip", "normalized")}
        flags["normalized"] &= normalize(content) != ""  # such a one is found between all characters, and nowhere
        special = chance(rng, 0.5) and not content.startswith("<0x")
        entries.append(zoo.added(content, vocab.get(content, following), **flags, special=special))
        following += content not in vocab
    return entries


def _pre_tokenizer(rng: random.Random, in_bytes: bool) -> JSON | None:
    plain = [part for part in zoo.PRE_TOKENIZERS if "ByteLevel" not in json.dumps(part)]
    if not in_bytes:
        return None if chance(rng, 0.3) else rng.choice(zoo.PRE_TOKENIZERS)
    kind = rng.random()
    if kind < 0.4:
        return rng.choice([part for part in zoo.PRE_TOKENIZERS if part["type"] == "ByteLevel"])
    steps = [*rng.choices(plain, k=rng.choice((0, 1, 1, 2))), zoo.byte_level(chance(rng, 0.4), chance(rng, 0.2))]
    return zoo.sequence("pretokenizers", *steps, *rng.choices(plain, k=rng.choice((0, 0, 0, 1, 2))))


def texts(rng: random.Random, data: JSON, number: int) -> list[str]:
    """Texts rich in what `data` has: fuzz, its tokens, its added tokens and pieces of them."""
    contents = [entry["content"] for entry in data["added_tokens"]] or ["<s>"]
    tokens = list(data["model"]["vocab"])[-400:]
    return [valid_text(_text(rng, contents, tokens)) for _ in range(number)]


def _text(rng: random.Random, contents: list[str], tokens: list[str]) -> str:
    parts: list[str] = []
    for _ in range(rng.choice((1, 1, 2, 3, 5, 9))):
        kind = rng.random()
        if kind < 0.3:
            parts.append(fuzz_text(rng))
        elif kind < 0.6:
            content = rng.choice(contents)
            start = rng.choice((0, 0, 0, rng.randrange(len(content))))
            parts.append(rng.choice(("", "", " ", "\n", "x", "Ω")) + content[start : rng.choice((None, None, -1))])
            parts[-1] = rng.choice((parts[-1], parts[-1], parts[-1].upper(), parts[-1] + parts[-1]))
        elif kind < 0.8:
            text = "".join(rng.choices(tokens, k=rng.randint(1, 5)))
            parts.append(text.replace("▁", " ").replace("Ġ", " ").removesuffix("</w>"))
        else:
            parts.append("".join(rng.choices(CHARS, k=rng.randint(1, 30))))
    return "".join(parts)


def random_ids(rng: random.Random, data: JSON) -> list[int]:
    """Any ids, added ones and bytes that make no character often among them."""
    vocab = data["model"]["vocab"]
    bytes_ = [
        vocab[char]
        for char in map(to_alphabet, (b"\xc3", b"\xa9", b"\x80", b"\xe2", b"\xf0", b"\x9f"))
        if char in vocab
    ]
    spelled = [vocab[token] for token in ("<0xC3>", "<0xA9>", "<0xE2>", "<0x41>", "<0xFF>") if token in vocab]
    added = [entry["id"] for entry in data["added_tokens"]]
    pools = [pool for pool in (bytes_, spelled, added, list(vocab.values())) if pool]
    return [rng.choice(rng.choice(pools)) for _ in range(rng.randint(0, 12))]
