"""Random regular expressions that match texts of a few characters of an alphabet, and no others."""

import random

import regex


def expression(rng: random.Random, alphabet: str, longest: int) -> str:
    """An expression that matches no text of more than `longest` characters."""
    if longest < 1 or rng.random() < 0.1:
        return ""
    kind = rng.random()
    if longest == 1 or kind < 0.3:
        return look(rng, alphabet) + atom(rng, alphabet)
    if kind < 0.6:
        first = rng.randint(1, longest - 1)
        return expression(rng, alphabet, first) + expression(rng, alphabet, longest - first)
    if kind < 0.8:
        return f"(?:{'|'.join(expression(rng, alphabet, longest) for _ in range(rng.randint(2, 3)))})"
    most = rng.randint(1, longest)
    body = expression(rng, alphabet, longest // most)
    return f"(?:{body or atom(rng, alphabet)}){{{rng.randint(0, most)},{most}}}"


def atom(rng: random.Random, alphabet: str) -> str:
    chosen = rng.sample(sorted(set(alphabet)), rng.randint(1, len(set(alphabet))))
    return regex.escape(chosen[0]) if rng.random() < 0.4 else f"[{''.join(map(regex.escape, chosen))}]"


def look(rng: random.Random, alphabet: str) -> str:
    """Now and then something that looks one character ahead or behind."""
    kinds = [r"\b", r"\B", "^", f"(?<={atom(rng, alphabet)})", f"(?<!{atom(rng, alphabet)})"]
    return rng.choice([*kinds, f"(?!{atom(rng, alphabet)})"]) if rng.random() < 0.15 else ""


def long_expression(rng: random.Random, depth: int = 3) -> str:
    """An expression over all characters, with repetitions that have no end."""
    kind = rng.random() if depth else 0
    if kind < 0.35:
        return rng.choice(ATOMS)
    if kind < 0.65:
        return "".join(long_expression(rng, depth - 1) for _ in range(rng.randint(2, 3)))
    if kind < 0.8:
        return f"(?:{'|'.join(long_expression(rng, depth - 1) for _ in range(rng.randint(2, 3)))})"
    return f"(?:{long_expression(rng, depth - 1)})" + rng.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}"])


ATOMS = [
    *("low", "new", "x", " ", "é", "日本", "😀", "'s", r"\n", "12", "[a-f]", "[^a-y]", "(?i:Low)", "."),
    *(r"\d", r"\w", r"\W", r"\s", r"\S", r"\p{L}", r"\p{Lu}", r"[^\s\d]", r"[ \n]", r"\bo", "(?<!a)[a-z ]", r"(?! )\W"),
]
