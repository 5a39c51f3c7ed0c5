"""Numbers and rows: counting up and down, what comes next, small sums, words in a row, the alphabet, one merge."""

from collections.abc import Iterator
from random import Random

from .items import Item, held_out
from .spelling import kept_from_spelling, plural, words

UP = (
    "Count from {} to {}.", "Please count from {} to {}.", "Can you count from {} to {}?", "List the numbers from {} to {}.",
    "Which numbers are from {} to {}?", "Say the numbers from {} to {}.",
)  # fmt: skip
DOWN = ("Count down from {} to {}.", "Count backwards from {} to {}.", "Please count down from {} to {}.")
AFTER = ("What comes after {}?", "Which number comes after {}?", "What is the next number after {}?")
BEFORE = ("What comes before {}?", "Which number comes before {}?", "What is the number before {}?")
PLUS = ("What is {} plus {}?", "What is {} + {}?", "How much is {} and {}?", "Add {} and {}.", "What is {}+{}?")
LARGER = ("Which is larger, {} or {}?", "Which number is larger, {} or {}?", "What is more, {} or {}?")
WORDS = (
    'How many words are in "{}"?', 'Count the words in "{}".', 'How many words does "{}" have?',
    'How many words is "{}"?',
)  # fmt: skip
LETTER_AFTER = ("Which letter comes after {}?", "What letter is after {}?", "What is the next letter after {}?")
LETTER_BEFORE = ("Which letter comes before {}?", "What letter is before {}?", "What is the letter before {}?")
MERGE = (
    "Apply the merge {0} {1} to {2}.", "Merge {0} and {1} in {2}.", "Apply the merge of {0} and {1} to {2}.",
    "What is {2} after the merge {0} {1}?",
)  # fmt: skip
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def row(numbers: range) -> str:
    """Write numbers with commas between them, and a space before each: so a number is the same token everywhere.

    >>> row(range(3, 6))
    'Here you are: 3, 4, 5.'
    """
    return f"Here you are: {', '.join(map(str, numbers))}."


def after(number: int) -> str:
    """Return the answer to "what comes after"."""
    return f"After {number} comes {number + 1}."


def merged(pair: tuple[str, str], symbols: list[str]) -> list[str]:
    """Return the symbols after one merge, from the left.

    >>> merged(("a", "b"), list("cabab"))
    ['c', 'ab', 'ab']
    """
    out: list[str] = []
    place = 0
    while place < len(symbols):
        whole = tuple(symbols[place : place + 2]) == pair
        out.append("".join(pair) if whole else symbols[place])
        place += 1 + whole
    return out


def numbers(rng: Random) -> Iterator[Item]:
    """Yield all questions about numbers. A held-out pair of numbers is held out from all wordings."""
    for start in range(39):
        for end in range(start + 2, min(start + 12, 41)):
            held = held_out(f"{start} to {end}", 12)
            for wording in UP[:2] if held else rng.sample(UP, 4):
                yield Item("counting up", wording.format(start, end), row(range(start, end + 1)), held, times=4)
            for wording in DOWN[:1] if held else DOWN:
                yield Item("counting down", wording.format(end, start), row(range(end, start - 1, -1)), held, times=4)
    for number in range(1, 40):
        for wordings, answer in ((AFTER, after(number)), (BEFORE, f"Before {number} comes {number - 1}.")):
            for wording in wordings:
                question = wording.format(number)
                yield Item("next number", question, answer, held_out(question, 9), times=5)
    for one in range(13):
        for two in range(13):
            for wording in PLUS:
                question = wording.format(one, two)
                yield Item(
                    "small sums",
                    question,
                    f"The sum of {one} and {two} is {one + two}.",
                    held_out(question, 9),
                    times=3,
                )
    for _ in range(2_000):
        one, two = rng.sample(range(41), 2)
        answer = f"The larger one is {max(one, two)}."
        yield Item("larger number", rng.choice(LARGER).format(one, two), answer, held_out(f"{one}, {two}", 15))


def rows(rng: Random) -> Iterator[Item]:
    """Yield all questions about rows of words and letters."""
    known = [word for word in words() if len(word) < 8 and not kept_from_spelling(word)]
    for _ in range(3_500):
        some = rng.sample(known, rng.choice((1, 2, 2, 3, 3, 4, 4, 5)))
        text = " ".join(some)
        answer = f"{', '.join(some)}: that makes {plural(len(some), 'word')}."
        yield Item("counting words", rng.choice(WORDS).format(text), answer, held_out(text, 30))
    for one, two in zip(ALPHABET, ALPHABET[1:]):
        for wording in LETTER_AFTER:
            question = wording.format(one)
            yield Item("the alphabet", question, f"After {one} comes {two}.", held_out(question, 6), times=7)
        for wording in LETTER_BEFORE:
            question = wording.format(two)
            yield Item("the alphabet", question, f"Before {two} comes {one}.", held_out(question, 6), times=7)
    for _ in range(6_000):
        some = rng.sample("abcd", 3)
        symbols = rng.choices(some, k=rng.randint(2, 5))
        pair = rng.choice(list(zip(symbols, symbols[1:]))) if rng.random() < 0.85 else (some[0], some[1])
        before, after = "-".join(symbols), "-".join(merged(pair, symbols))
        question = rng.choice(MERGE).format(*pair, before)
        yield Item("one merge", question, f"It becomes {after}.", held_out(f"{pair} {before}", 30))
