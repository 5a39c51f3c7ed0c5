"""The exercises of *Characters, words, subwords*."""

import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ...baselines import BASELINES
from ...baselines.common import Baseline
from ...notebook.messages import code
from ..exercise import Exercise
from ..fixtures import call_with_set, is_close, show_with_set

CORPUS = "the baker saw the fishing boat, the boat saw the baker; baking and fishing and the boat, the baker and a boat"
SIZES = {"characters": 15, "words": 6, "schoolbook": 40, "wordpiece": 45, "unigram": 35}


def unknown_share(tokenizer, text):
    """Return the share of the tokens of `text` that are unknown; 0.0 if it has no tokens.

    unknown_share(words, "the kayak") is 0.5.
    """
    # The worst for `words`: seven paragraphs of `unseen`, most of them titles, are entirely unknown. Of those with
    # twenty tokens or more, the worst is the one in Arabic, with 84% unknown.
    count = len(tokenizer.encode(text))
    return tokenizer.unknown_count(text) / count if count else 0.0


def longest_pieces(word, pieces):
    """Return (pieces, rest of the word), always taking the longest piece that fits.

    longest_pieces("unhappy", {"un", "hap", "unha"}) is (["unha"], "ppy").
    """
    found = []
    while fitting := [piece for piece in pieces if piece and word.startswith(piece)]:
        found.append(max(fitting, key=len))
        word = word[len(found[-1]) :]
    return found, word


def forged(tokenizer, names):
    """Return the `names` that encode to a single token, which `tokens` shows under the same name.

    forged(words, ["<unk>", "baker"]) is ["baker"].
    """
    return [name for name in names if tokenizer.tokens(name) == [name]]


@lru_cache(None)
def _train(kind: str) -> Baseline:
    return BASELINES[kind].train(CORPUS, SIZES[kind])


def _call(answer: Any, kind: str, argument: Any) -> Any:
    return answer(copy.deepcopy(_train(kind)), argument)


def _show(name: str, kind: str, argument: Any) -> str:
    return f"{name}(BASELINES[{kind!r}].train({code(CORPUS)}, {SIZES[kind]}), {code(argument)})"


def _texts() -> Iterator[tuple[str, str]]:
    for text in (
        "",
        " ",
        "the",
        "the kayak",
        "kayak",
        "z",
        "the boat",
        "the baker and the kayak",
        "日本",
        "fishing, fishing",
    ):
        for kind in BASELINES:
            yield kind, text


def _words() -> Iterator[tuple[str, list[str]]]:
    lists: tuple[list[str], ...] = ([], ["a"], ["a", "ab"], ["a", "b", "abc"], ["a", "aab", "b", "aa"])
    for word in ("", "a", "b", "ab", "ba", "aab", "aabab", "abcab"):
        for pieces in lists:
            yield word, pieces
    for word in ("happy", "unhappy", "happyun", "unhappyhap"):
        yield word, ["un", "hap", "unha", "p", "py", "happy"]


def _names() -> Iterator[tuple[str, list[str]]]:
    special = ["<unk>", "[UNK]", "</w>", "##ing"]
    for kind in BASELINES:
        yield kind, []
        for name in (*special, "baker", "the", "b", "kayak"):
            yield kind, [name]
        yield kind, ["baker", *special, "the", "a"]


EXERCISES = [
    Exercise(
        "subwords.1",
        "Heard and not known",
        unknown_share,
        _texts,
        (
            "tokenizer.unknown_count(text) is the one number, len(tokenizer.encode(text)) the other.",
            "Don't divide by 0.",
        ),
        level="easy",
        next_step="A share of 0 says nothing about length: count the tokens as well.",
        equal=is_close,
        call=_call,
        format_call=_show,
        is_valid=lambda kind, text: kind in BASELINES,
    ),
    Exercise(
        "subwords.2",
        "Longest match",
        longest_pieces,
        _words,
        (
            "Of the pieces that the word starts with, take the longest, and go on with what is left of the word.",
            "Stop when no piece fits. The word that is left then may be empty.",
        ),
        level="easy",
        next_step='In "Encoding" the same idea meets the merges of BPE, and loses.',
        call=call_with_set,
        format_call=show_with_set,
        is_valid=lambda word, pieces: all(pieces),
    ),
    Exercise(
        "subwords.3",
        "Forgery",
        forged,
        _names,
        (
            "tokenizer.tokens(name) shows the tokens of a text.",
            "A name is forged if that list has one item, the name itself.",
            "None of the four names forges a token here. Words and WordPiece cut at punctuation before they look "
            "anything up; the others find tokens by their characters, and a reserved token has none.",
        ),
        level="easy",
        next_step='"Special tokens" shows what such a forgery does in a conversation.',
        call=_call,
        format_call=_show,
        is_valid=lambda kind, names: kind in BASELINES,
    ),
]
