"""The exercises of *Chat on your hardware*."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..exercise import Exercise


def chosen(preference, listed, refuses):
    """Return the (backend, device) that a model runs on, or None.

    `preference` is a list of (backend, kinds), the best first. `listed` is backend -> the kinds of devices that it can
    use here; a backend that isn't installed has no entry. `refuses` is the set of backends that can't open the model's
    files. The first pair wins whose backend doesn't refuse and lists one of the kinds: the first such kind in `listed`.
    """
    for backend, kinds in preference:
        if backend not in refuses:
            for kind in listed.get(backend, []):
                if kind in kinds:
                    return backend, kind
    return None


def first_difference(ours, theirs):
    """Return the index of the first id in which two lists differ, or None if they're equal.

    If one list is the beginning of the other, they differ where it ends.
    """
    for index, (one, two) in enumerate(zip(ours, theirs)):
        if one != two:
            return index
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def kv_cache_bytes(config, tokens, number_bytes):
    """Return the size in bytes of a Llama's KV cache for `tokens` tokens.

    `config` is a dict like config.json, and one number takes `number_bytes` bytes. Without
    "num_key_value_heads" there are as many as "num_attention_heads". Without "head_dim",
    the size of a head is "hidden_size" divided by "num_attention_heads".
    """
    heads = config["num_attention_heads"]
    size = config.get("head_dim", config["hidden_size"] // heads)
    numbers = 2 * config["num_hidden_layers"] * config.get("num_key_value_heads", heads) * size
    return numbers * number_bytes * tokens


def _machines() -> Iterator[tuple[list[tuple[str, set[str]]], dict[str, list[str]], set[str]]]:
    preference: list[tuple[str, set[str]]] = [
        ("mlx", {"metal"}),
        ("llama_cpp", {"cuda", "metal"}),
        ("transformers", {"cuda"}),
        ("llama_cpp", {"cpu"}),
        ("transformers", {"cpu"}),
    ]
    machines: list[dict[str, list[str]]] = [
        {"llama_cpp": ["cuda", "cpu"], "transformers": ["cpu"]},
        {"llama_cpp": ["cpu"], "transformers": ["cuda", "cpu"]},
        {"transformers": ["cpu"], "llama_cpp": ["cpu"]},
        {"mlx": ["metal", "cpu"], "llama_cpp": ["metal", "cpu"]},
        {"mlx": ["cpu"], "transformers": ["cpu"]},
        {"mlx": ["cpu"]},
        {},
    ]
    refusals: list[set[str]] = [set(), {"llama_cpp"}, {"mlx", "transformers"}]
    yield from product([preference, preference[3:]], machines, refusals)


def _id_lists() -> Iterator[tuple[list[int], list[int]]]:
    rows = [[], [5], [6], [5, 6], [5, 6, 7], [5, 7, 6], [6, 5, 7], [5, 6, 7, 7]]
    yield from product(rows, rows)


def _configs() -> Iterator[tuple[dict[str, int], int, int]]:
    small = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2}
    grouped = {"num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2}
    wide = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "head_dim": 32}
    yield from product((small, grouped, wide, {**grouped, "head_dim": 128}), (1, 100), (4, 2))


def _whole(value: Any) -> bool:
    return type(value) is int and value > 0


EXERCISES = [
    Exercise(
        "chat.1",
        "Which backend",
        chosen,
        _machines,
        (
            "Go through `preference` in its order, not through the backends that are there.",
            "A backend can stand in the list twice: once for its GPUs, and further down for the processor.",
        ),
        level="medium",
        next_step="`Machine.choose` does this. Which lines of its order could your machine ever use?",
    ),
    Exercise(
        "chat.2",
        "Where two tokenizers part",
        first_difference,
        _id_lists,
        (
            "`zip` ends with the shorter list.",
            "Two lists without a difference up to there are equal only if they have the same length.",
        ),
        level="easy",
        next_step="A session looks at its first prompt in this way, and keeps the result in `parity`.",
    ),
    Exercise(
        "chat.3",
        "What a context costs",
        kv_cache_bytes,
        _configs,
        (
            "Each layer keeps two arrays, one of keys and one of values.",
            "For each token, an array has a row of head_dim numbers for each head of keys and values.",
        ),
        level="easy",
        next_step="Double the context. What share of your memory is left for the weights?",
        is_valid=lambda config, tokens, number_bytes: (
            all(map(_whole, (*config.values(), tokens, number_bytes)))
            and {"num_hidden_layers", "hidden_size", "num_attention_heads"} <= config.keys()
            and config["hidden_size"] % config["num_attention_heads"] == 0
        ),
    ),
]
