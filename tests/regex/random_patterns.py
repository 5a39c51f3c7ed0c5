"""Random regular expressions over a small alphabet, in the syntax that Python and Oniguruma share."""

import random

LOOKS = [r"(?!\S)", r"(?![ab])", "(?=[cd ])", "(?!a|c)", r"\z", "(?<=a)", "(?<![ab])", r"\A", r"\b", r"\B", "(?=a+)"]
QUANTIFIERS = ["*", "+", "?", "{1,3}", "{2}", "{0,2}", "{2,}"]


def _set(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.45:
        return rng.choice("abcd ")
    if kind < 0.65:
        return rng.choice((r"\s", r"\S"))
    members = rng.sample(["a", "b", "c", "d", " ", r"\n"], rng.choice((1, 2, 3)))
    return f"[{'^' if rng.random() < 0.3 else ''}{''.join(members)}]"


def _quantifier(rng: random.Random, of_a_set: bool) -> str:
    if rng.random() < 0.45:
        return ""
    return rng.choice(QUANTIFIERS) + rng.choice(["", "", "", "?", *(["+", "+"] if of_a_set else [])])


def _term(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.14:
        return rng.choice(LOOKS)
    if depth <= 0 or kind < 0.7:
        return _set(rng) + _quantifier(rng, True)
    opening = rng.choices(("(?:", "(", "(?i:", "(?>"), (8, 1, 1.5, 1))[0]
    return f"{opening}{random_pattern(rng, depth - 1)}){_quantifier(rng, False) if opening in ('(?:', '(') else ''}"


def random_pattern(rng: random.Random, depth: int = 2) -> str:
    """A pattern of up to three alternatives of up to three terms, nested up to `depth`."""
    counts = (1, 1, 2, 3)
    options = ["".join(_term(rng, depth) for _ in range(rng.choice(counts))) for _ in range(rng.choice(counts))]
    return "|".join(options)


def random_text(rng: random.Random) -> str:
    """A short text that such a pattern may match."""
    return "".join(rng.choice("abcd \nAB") for _ in range(rng.choice((1, 2, 4, 8, 14))))
