"""The exercises of *Claims, tested*."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from ...notebook.messages import code
from ..exercise import Exercise
from ..fixtures import trained_tokenizer


def shorter_when_frequent(tokenizer, counts):
    """Return (right, cases) for the claim that a more frequent word never has more tokens.

    `counts` maps words to how often they occur. A case is two words, one of them more
    frequent than the other; it is right if the more frequent one has no more tokens.
    """
    right = cases = 0
    tokens = {word: tokenizer.count_tokens(word) for word in counts}
    for one, other in combinations(counts, 2):
        if counts[one] == counts[other]:
            continue  # neither is more frequent, so the claim says nothing about them
        more, less = sorted((one, other), key=counts.get, reverse=True)
        cases += 1
        right += tokens[more] <= tokens[less]
    # Among the words that the book has ten times or more, with this chapter's tokenizer: right in 78% of the cases.
    # A word's length counts as well: a rare short word can be cheaper than a frequent long one.
    return right, cases


def counterexample(tokenizer):
    """Return (text, n) such that the first n ids of `text` decode to a text that
    doesn't have n tokens."""
    for text in ("日", "é", "😀", "日é😀", "a  b"):
        ids = tokenizer.encode(text)
        for n in range(1, len(ids)):
            if tokenizer.count_tokens(tokenizer.decode(ids[:n])) != n:
                return text, n
    raise ValueError("none of these characters is cut in two")


def heal(tokenizer, prompt):
    """Return (ids to keep, sorted ids allowed next): drop the last id of the prompt, and
    allow each id whose token starts with the bytes of the dropped one.

    All of tokenizer.model.tokens are candidates. For an empty prompt return ([], []).
    """
    ids, tokens = tokenizer.encode(prompt), tokenizer.model.tokens
    if not ids:
        return [], []
    start = tokens[ids[-1]]
    return ids[:-1], sorted(token_id for token_id, token in tokens.items() if token.startswith(start))


def cut_to_fit(count, text, limit):
    """Return the longest beginning of `text` that has at most `limit` tokens.

    `count` is a function that returns the number of tokens of a text.
    """
    # A longer beginning can have fewer tokens, since a word may become one token with its last letter. So a binary
    # search can miss the longest, and so can a search that stops at the first beginning that doesn't fit.
    for end in range(len(text), 0, -1):
        if count(text[:end]) <= limit:
            return text[:end]
    return ""


_HARBOUR = "the harbour, the harbour, the harbour at night; the ferry waits, a rat runs"


def _counts() -> Iterator[tuple[str, int, dict[str, int]]]:
    for size in (256, 262, 275):
        yield _HARBOUR, size, {}
        yield _HARBOUR, size, {"the": 4}
        yield _HARBOUR, size, {"the": 4, "ferry": 1}
        yield _HARBOUR, size, {"harbour": 3, "a": 1}
        yield _HARBOUR, size, {"a": 1, "harbour": 3}
        yield _HARBOUR, size, {"a": 1, "ferry": 1}
        yield _HARBOUR, size, {"ferry": 1, "harbour": 3, "the": 4, "rat": 1, "é": 2, "日本": 1}
        yield _HARBOUR, size, {word: word.count("a") for word in _HARBOUR.replace(",", "").split()}
    for number in range(2, 9):
        yield _HARBOUR, 275, {"the" * length: length * 7 % number for length in range(1, number + 1)}


def _is_counted(text: str, size: int, counts: Any) -> bool:
    return text == _HARBOUR and size >= 256 and isinstance(counts, dict)


_RECIPES = (
    ("abab", 257),
    ("low lower lowest", 262),
    ("日日 日日 日日", 262),
    ("日日 日日 �� �� éé éé", 270),
    ("ab ab ab 😀😀 日本 日本", 275),
)


def _tokenizers() -> Iterator[tuple[str, int]]:
    yield from _RECIPES


def _prompts() -> Iterator[tuple[str, int, str]]:
    yield "abab", 257, ""
    for text, size in _RECIPES:
        for prompt in ("a", "ab", "low", "lowe", "a low", "a ", "日", "日本", "x\n", "é"):
            yield text, size, prompt


def _no_counterexample(got: Any, text: str, size: int) -> str | None:
    sample, n = got
    if not isinstance(sample, str) or type(n) is not int:
        return "The answer is a pair: a text (str) and a number of ids (int)."
    tokenizer = trained_tokenizer(text, size)
    ids = tokenizer.encode(sample)
    if not 0 < n <= len(ids):
        return f"The text has {len(ids):,} ids, so n is from 1 to {len(ids):,}."
    again = tokenizer.count_tokens(tokenizer.decode(ids[:n]))
    return f"The first {n:,} of its ids decode to a text of {n:,} tokens, as the claim says." if again == n else None


def _shown(name: str, text: str, size: int, *more: Any, of: str = "") -> str:
    arguments = ", ".join([f"BPETokenizer.train({code(text)}, {size}, progress=False){of}", *map(code, more)])
    return f"{name}({arguments})"


def _texts_to_cut() -> Iterator[tuple[str, int, str, int]]:
    yield "abab", 257, "", 0
    yield "abab", 257, "ab", 0
    for text, size in (("low lower lowest", 262), (_HARBOUR, 275), ("日日 日日 日日", 262)):
        for sample in ("low", "a lowest", "the harbour, the lower harbour", "日日 日本", "x\n  low"):
            for limit in (1, 2, 3, 5, 99):
                yield text, size, sample, limit


EXERCISES = [
    Exercise(
        "claims.1",
        "A claim of your own",
        shorter_when_frequent,
        _counts,
        (
            "itertools.combinations(counts, 2) yields every two words once, in either order of frequency.",
            "Two equally frequent words aren't a case: the claim says nothing about them.",
            "Compare tokenizer.count_tokens of the more frequent word with that of the other. Equal is right as well.",
        ),
        level="medium",
        next_step="Find the words that break the claim. What do they have in common?",
        call=lambda answer, text, size, counts: answer(trained_tokenizer(text, size), counts),
        is_valid=_is_counted,
        format_call=_shown,
    ),
    Exercise(
        "claims.2",
        "A counterexample",
        counterexample,
        _tokenizers,
        (
            "Cut a character in two. What do its first bytes decode to, and how many tokens is that?",
            "Which characters have several tokens depends on the tokenizer: try some, at every n.",
        ),
        level="hard",
        next_step="So count the tokens of the text that you send, and not the ids that you cut it from.",
        call=lambda answer, *recipe: answer(trained_tokenizer(*recipe)),
        problem=_no_counterexample,
        is_valid=lambda *recipe: False,
        format_call=_shown,
    ),
    Exercise(
        "claims.3",
        "Token healing",
        heal,
        _prompts,
        (
            "The bytes of the id that is left out are tokenizer.model.tokens[id]. Compare bytes, not text.",
            "The id that was left out is allowed itself: bytes.startswith says so.",
        ),
        level="medium",
        next_step="The library guidance does this, under the same name.",
        call=lambda answer, text, size, prompt: answer(trained_tokenizer(text, size), prompt),
        is_valid=lambda *recipe: False,
        format_call=_shown,
    ),
    Exercise(
        "claims.4",
        "Cut to fit",
        cut_to_fit,
        _texts_to_cut,
        (
            "Compare count('harbou') with count('harbour'), for a tokenizer that has learned the word.",
            "The counts rise and fall, so a beginning that doesn't fit says nothing about longer ones. Which beginning "
            "do you try first?",
        ),
        level="medium",
        next_step="For a text of a million characters that is a million counts. Where could you start instead?",
        call=lambda answer, text, size, *more: answer(trained_tokenizer(text, size).count_tokens, *more),
        is_valid=lambda *recipe: False,
        format_call=lambda name, text, size, *more: _shown(name, text, size, *more, of=".count_tokens"),
    ),
]
