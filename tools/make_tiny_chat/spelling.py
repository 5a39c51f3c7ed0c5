"""Words and their letters: spelling, first and last letter, backwards, counting.

The words are those of the book's text and of the facts, and made-up ones. One in fifteen is held out from all of it.
"""

import re
from collections.abc import Iterator
from random import Random

from bpelab.data import FOLDER

from .items import HERE, Item, held_out

SPELL = (
    'Spell "{}".', 'How do you spell "{}"?', 'Please spell "{}".', 'Can you spell "{}"?', 'Spell the word "{}".',
    'What are the letters of "{}"?', 'Write "{}" letter by letter.', 'Which letters are in "{}"?', "Spell {}.",
    "How is {} spelled?", "How do you spell {}?",
)  # fmt: skip
COUNT = (
    'How many letters are in "{}"?', 'How many letters does "{}" have?', 'Count the letters of "{}".', 'How long is "{}"?',
    'Count the letters in "{}".', 'What is the number of letters in "{}"?', "How many letters are in {}?",
)  # fmt: skip
FIRST = (
    'What is the first letter of "{}"?', 'Which letter does "{}" start with?', 'How does "{}" begin?',
    "What is the first letter of {}?",
)  # fmt: skip
LAST = (
    'What is the last letter of "{}"?', 'Which letter does "{}" end with?', 'How does "{}" end?',
    "What is the last letter of {}?",
)  # fmt: skip
BACK = ('Spell "{}" backwards.', 'What is "{}" backwards?', 'Reverse "{}".', 'Write "{}" backwards.')
WITHIN = (
    'How many times is {1} in "{0}"?', 'How often does {1} occur in "{0}"?', 'How many {1} are in "{0}"?',
    'Count the letter {1} in "{0}".', "How many {1} are in {0}?", "How many {1}'s are in {0}?",
)  # fmt: skip
MADE_UP = 1_000
BYTES = ('How many bytes is "{}" in UTF-8?', 'How many bytes does "{}" take?', 'How many bytes are in "{}"?')


def words() -> list[str]:
    """Return the words of three to ten small letters that the book's text and the facts have, sorted."""
    text = (FOLDER / "book.txt").read_text("utf-8") + (HERE / "facts.txt").read_text("utf-8")
    return sorted(set(re.findall(r"(?<![A-Za-z'-])[a-z]{3,10}(?![A-Za-z'-])", text)))


def made_up(rng: Random, count: int) -> list[str]:
    """Return invented words, from syllables or any letters, so that letters are learned and not only words."""
    found: set[str] = set()
    while len(found) < count:
        if rng.random() < 0.7:
            parts = [rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") + rng.choice("nrstlm ") for _ in range(3)]
            word = "".join(parts[: rng.randint(1, 3)]).replace(" ", "")
        else:
            word = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 6)))
        found.add(word)
    return sorted(found)


def kept_from_spelling(word: str) -> bool:
    """Whether a word is held out.

    >>> [kept_from_spelling(word) for word in ("token", "strawberry", "wife")]
    [False, False, True]
    """
    return held_out(word, 15) and not word.startswith("token")


def letters(word: str) -> str:
    """Return a word's letters with hyphens between them."""
    return "-".join(word)


def plural(number: int, thing: str) -> str:
    """Write a number with its noun.

    >>> plural(1, "letter"), plural(3, "letter")
    ('1 letter', '3 letters')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def spelled(word: str) -> str:
    """Return the answer to "spell it"."""
    return f"It is spelled {letters(word)}."


def counted(word: str) -> str:
    """Return the answer to "how many letters"."""
    return f"{letters(word)}: that makes {plural(len(word), 'letter')}."


def first(word: str) -> str:
    """Return the answer to "the first letter"."""
    return f'"{word}" begins with {word[0]}.'


def last(word: str) -> str:
    """Return the answer to "the last letter"."""
    return f'"{word}" ends with {word[-1]}.'


def spelling(rng: Random) -> Iterator[Item]:
    """Yield all kinds of questions about each word, in one wording each; two for spelling."""
    real = words()
    for word in real + made_up(rng, MADE_UP):
        held = kept_from_spelling(word)
        for wording in rng.sample(SPELL, 2):
            yield Item("spelling", wording.format(word), spelled(word), held)
        yield Item("counting letters", rng.choice(COUNT).format(word), counted(word), held)
        wordings, answer = rng.choice(((FIRST, first(word)), (LAST, last(word))))
        yield Item("first and last letter", rng.choice(wordings).format(word), answer, held)
        if len(word) <= 5:
            answer = f"Backwards it is {letters(word[::-1])}."
            for wording in rng.sample(BACK, 2):
                yield Item("spelling backwards", wording.format(word), answer, held)
        often = [letter for letter in word if word.count(letter) > 1] or list(word)
        for some in (word, often):
            letter = rng.choice(some) if rng.random() < 0.9 else rng.choice("aeiorst")
            answer = f"{letters(word)}: {letter} is there {plural(word.count(letter), 'time')}."
            yield Item("one letter in a word", rng.choice(WITHIN).format(word, letter), answer, held)
        if rng.random() < 0.3:
            answer = f"{letters(word)}: each letter is one byte, that makes {len(word)} bytes."
            yield Item("bytes of a word", rng.choice(BYTES).format(word), answer, held)
