"""A human-readable listing of a vocabulary: every token with its id, its rank and its two parts."""

import unicodedata

from ..core.spec import TokenizerSpec


def printable(token: bytes) -> str:
    """Return a token as printable text: control characters as \\uXXXX, and bytes that are not UTF-8 as U+FFFD.

    >>> printable(b" a\\n"), printable(b"\\xe2\\x82")
    (' a\\\\u000a', '\ufffd')
    """
    text = token.decode("utf-8", "replace")
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c)[0] == "C" else c for c in text)


def listing(spec: TokenizerSpec) -> str:
    """Return one line for each token: id, rank ("-" if no merge makes it), the exact bytes, and its two parts.

    >>> from bpelab import BPETokenizer
    >>> print(listing(BPETokenizer.train("abab", 257).spec).splitlines()[-1])
       256       0  b'ab' = b'a' + b'b'
    """
    model, recovered_merges = spec.model, spec.model.recovered_merges
    lines = []
    for token_id, token in sorted(model.tokens.items()):
        line = f"{token_id:6} {recovered_merges.rank_of.get(token_id, '-'):>7}  {token!r}"
        if token_id in recovered_merges.splits:
            line += " = " + " + ".join(repr(model.tokens[part]) for part in recovered_merges.splits[token_id])
        lines.append(line)
    lines += [f"{token_id:6} special  {name!r}" for name, token_id in spec.special_tokens.ids.items()]
    return "\n".join(lines) + "\n"
