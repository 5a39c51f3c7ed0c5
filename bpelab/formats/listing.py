"""A listing of a tokenizer for people: every token with its id, its rank and what it is made of."""

import unicodedata
from pathlib import Path

from ..textio import write_atomically
from ..tokenizer import BPETokenizer


def visible(token: bytes) -> str:
    """A token for the eye: text, with control characters as \\uXXXX and bytes that are no UTF-8 as U+FFFD.

    >>> visible(b" a\\n"), visible(b"\\xe2\\x82")
    (' a\\\\u000a', '\ufffd')
    """
    text = token.decode("utf-8", "replace")
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c)[0] == "C" else c for c in text)


def listing(tokenizer: BPETokenizer) -> str:
    """One line a token: id, rank ("-" for what no merge makes), the exact bytes, and its two parts.

    >>> from bpelab import BPETokenizer
    >>> print(listing(BPETokenizer.train("abab", 257)).splitlines()[-1])
       256       0  b'ab' = b'a' + b'b'
    """
    model, recovered = tokenizer.model, tokenizer.model.recovered
    lines = []
    for token_id, token in sorted(model.tokens.items()):
        line = f"{token_id:6} {recovered.rank_of.get(token_id, '-'):>7}  {token!r}"
        if token_id in recovered.splits:
            line += " = " + " + ".join(repr(model.tokens[part]) for part in recovered.splits[token_id])
        lines.append(line)
    lines += [f"{token_id:6} special  {name!r}" for name, token_id in tokenizer.special_tokens.items()]
    return "\n".join(lines) + "\n"


def save_listing(tokenizer: BPETokenizer, path: str | Path) -> None:
    """Write the listing to a file."""
    write_atomically(Path(path), listing(tokenizer).encode())
