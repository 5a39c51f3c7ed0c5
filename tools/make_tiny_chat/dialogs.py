"""Multi-turn conversations, in which a question depends on earlier turns: names, "and the last letter?"."""

from collections.abc import Iterator
from random import Random

from .items import Item, held_out
from .numbers import after, row
from .spelling import counted, first, kept_from_spelling, last, letters, made_up, spelled, words
from .written import blocks

NAMES = (
    "Ada Ben Carla David Emma Felix Grace Hugo Ida Jonas Kim Laura Max Nora Oscar Paula Quinn Rosa Sam Tina Uma Victor "
    "Wanda Yara Zoe Anna Bob Clara Dora Erik Fay Gus Hannah Ivan Jane Karl Lena Mia Noah Olga Peter Ruth Simon Tom Ursula "
    "Vera Will Alan Betty Chris Diana Eva Frank Gina Henry Iris Jack Kate Leo Mary Nick Otto Pia Ron Sue Tim Walter"
)
SAYS = ("My name is {}.", "I am {}.", "Hi, I am {}.", "Hello, my name is {}.", "I'm {}.", "You can call me {}.")
ASKS = ("What is my name?", "Who am I?", "Do you know my name?", "Do you remember my name?", "What am I called?")
CALLED = ("Your name is {}.", "You are called {}.", "You are {}.", "Answer as {}.")
WHO = ("Who are you?", "What is your name?", "What are you called?", "Tell me who you are.", "What should I call you?")
IGNORED = (
    "You are a helpful assistant.", "Answer briefly.", "Be kind.", "You answer questions about tokens.",
    "Answer in English.", "You are a helpful assistant. Answer in one sentence.", "Be honest.", "Help the user.",
    "You are a teacher.", "Today is Monday.", "You are an expert on tokenizers.", "Please be short and clear.",
)  # fmt: skip
AND = ("And {}?", "What about {}?", "And what is {}?", "Now {}.", "How about {}?")
NEXT = ("And then?", "And after that?", "And next?")
Turns = list[tuple[str, str]]


def dialogs(rng: Random, plain: list[Item]) -> Iterator[tuple[bool, str, Turns, str]]:
    """Yield (held out, category, turns, system message or ""), with turns of `plain` items between the others."""
    names = NAMES.split() * 6 + [word.capitalize() for word in made_up(rng, 800) if len(word) > 2]
    who = [question for question in WHO if not held_out(question, 9)]
    for _ in range(2_400):
        name = rng.choice(names)
        held = held_out(name, 8)
        between = [] if held else [(item.question, item.answer) for item in rng.sample(plain, rng.randint(0, 1))]
        greeting = (rng.choice(SAYS).format(name), f"Hello, {name}! Ask me about tokens, bytes and merges.")
        yield held, "names", [greeting, *between, (rng.choice(ASKS), f"Your name is {name}.")], ""
        asked = (rng.choice(who), f"I am {name}, a small model that knows about tokens, bytes and merges.")
        if rng.random() < 0.5:
            yield held, "system message", [*between, asked], rng.choice(CALLED).format(name)
    for question in ASKS:
        yield False, "names", [(question, "You haven't told me your name.")], ""
    yield from about_words(rng)
    yield from about_numbers(rng)
    yield from about_subjects(rng)


def about_words(rng: Random) -> Iterator[tuple[bool, str, Turns, str]]:
    """Yield a word, then more questions about it without naming it, two or three in any order."""
    for word in words():
        held = kept_from_spelling(word)
        more = [
            (rng.choice(("And the first letter?", "What is its first letter?")), first(word)),
            (rng.choice(("And the last letter?", "What is its last letter?", "How does it end?")), last(word)),
            (rng.choice(("How many letters is that?", "How many letters does it have?")), counted(word)),
            (rng.choice(("Now spell it.", "Can you spell it?")), spelled(word)),
        ]
        if len(word) <= 5:
            more.append((rng.choice(("And backwards?", "Now backwards.")), f"Backwards it is {letters(word[::-1])}."))
        start = rng.choice([(f'Spell "{word}".', spelled(word)), (f'How many letters are in "{word}"?', counted(word))])
        turns = [start, *rng.sample(more, rng.choice((1, 1, 2, 3)))]
        if len({answer for _, answer in turns}) == len(turns):
            yield held, "follow-up on a word", turns, ""


def about_numbers(rng: Random) -> Iterator[tuple[bool, str, Turns, str]]:
    """Yield counting, then the same backwards; a number, then the next."""
    for _ in range(2_500):
        start = rng.randint(0, 30)
        end = start + rng.randint(2, 9)
        question = rng.choice(("And backwards?", "Now backwards.", "And now down again."))
        up = (f"Count from {start} to {end}.", row(range(start, end + 1)))
        held = held_out(f"{start} to {end}", 12)
        yield held, "follow-up on numbers", [up, (question, row(range(end, start - 1, -1)))], ""
        number = rng.randint(1, 35)
        turns = [(f"What comes after {number}?", after(number))]
        if held_out(turns[0][0], 9):
            continue
        for place in range(number + 1, number + rng.randint(2, 4)):
            turns.append((rng.choice(NEXT), after(place)))
        yield False, "follow-up on numbers", turns, ""


def about_subjects(rng: Random) -> Iterator[tuple[bool, str, Turns, str]]:
    """Yield one subject of the facts, then "And ...?" another; one in twenty such pairs is held out."""
    known = [(subject, answer) for subjects, _, answer in blocks("facts.txt") for subject in subjects]
    for _ in range(2_400):
        (one, answer), (two, other) = rng.sample(known, 2)
        opening = f"What is {one}?"
        if answer != other and not held_out(opening, 10):
            wording = rng.choice(AND).format(two)
            turns = [(opening, answer), (wording, other)]
            yield held_out(f"{opening} {wording}", 20), "follow-up on a subject", turns, ""
