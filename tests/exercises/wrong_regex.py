"""Plausible wrong answers to the exercises of *Regex pre-tokenization*."""

import regex

from bpelab import PATTERNS, Split


def llama_instead():
    return PATTERNS["llama3"].regex.replace("{1,3}", "{1,2}")


def gpt2_instead():
    return PATTERNS["gpt2"].regex.replace(r"\p{N}++", r"\p{N}{1,2}+")


def no_match_at_all(pattern, text):
    return regex.search(pattern, text) is None


def not_fullmatch(pattern, text):
    return regex.fullmatch(pattern, text) is None


def counts_pieces(one, other, text):
    for place, (a, b) in enumerate(zip(Split(one).split(text), Split(other).split(text))):
        if a != b:
            return place, a, b
    return None


def only_the_set(one, other, text):
    theirs = set(Split(other).split(text))
    for piece in Split(one).split(text):
        if piece not in theirs:
            return text.index(piece), piece, ""
    return None


def from_the_left():
    return r"\d{1,3}|\D"


def gaps_stay_together():
    return r"\d{1,3}(?=(?:\d{3})*(?!\d))"


def lazy_look_ahead():
    return r"\d{1,3}?(?=(?:\d{3})*(?!\d))|\D+"


def block_by_block(blocks, name):
    for block in blocks:
        yield from Split(name).split(block)


def keeps_one_piece(blocks, name):
    kept = ""
    for block in blocks:
        *whole, kept = Split(name).split(kept + block) or [""]
        yield from whole
    if kept:
        yield kept


def matches_only(pattern, text):
    import regex

    return [match.group() for match in regex.finditer(pattern, text) if match.group()]


def cut_at_matches(pattern, text):
    import regex

    return [piece for piece in regex.split(pattern, text) if piece]


WRONG = {
    "regex.1": [llama_instead, gpt2_instead],
    "regex.2": [no_match_at_all, not_fullmatch],
    "regex.3": [counts_pieces, only_the_set],
    "regex.4": [from_the_left, gaps_stay_together, lazy_look_ahead],
    "regex.5": [block_by_block, keeps_one_piece],
    "regex.6": [matches_only, cut_at_matches],
}
