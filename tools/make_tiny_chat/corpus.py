"""The corpus: conversations to train on, and questions that are held out.

Everything is drawn with one seed. About half of the items stand alone, the others follow one another in conversations
of two to six turns, so that the model learns to read the last question and to answer at any place of its context.

Cost: a few seconds. Chapter: A model answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from .characters import characters
from .dialogs import IGNORED, Turns, dialogs
from .items import Item, framed, frames_of, normal
from .numbers import numbers, rows
from .spelling import spelling
from .written import facts, small_talk, unknown

SEED = 7
PER_CATEGORY = 40
"""How many questions of each category are scored."""
Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Question:
    """A held-out question: the conversation up to it, and the answer."""

    category: str
    messages: Messages
    answer: str


@dataclass(frozen=True)
class Corpus:
    """Conversations to train on, and all held-out questions."""

    train: list[Messages]
    held: list[Question]

    def scored(self) -> list[Question]:
        """Draw at most PER_CATEGORY held-out questions of each category, with the seed."""
        by_category: dict[str, list[Question]] = {}
        for question in self.held:
            by_category.setdefault(question.category, []).append(question)
        rng = Random(SEED)
        return [
            question
            for _, questions in sorted(by_category.items())
            for question in rng.sample(questions, min(PER_CATEGORY, len(questions)))
        ]


def messages(turns: Turns, system: str = "") -> Messages:
    """Return turns as messages."""
    out = [{"role": "system", "content": system}] if system else []
    for question, answer in turns:
        out += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return out


def make_corpus() -> Corpus:
    """Return the corpus, the same on each call."""
    rng = Random(SEED)
    items = [*facts(), *small_talk(), *unknown(), *characters(), *spelling(rng), *numbers(rng), *rows(rng)]
    items = unambiguous(items)
    plain = [item for item in items if not item.held]
    asked = [Question(item.category, messages([(item.question, "")])[:-1], item.answer) for item in items if item.held]
    closed = {normal(item.question) for item in items if item.held}
    train: list[Messages] = []
    loose: list[tuple[str, str]] = []
    for item in plain:
        (train.append(messages([(item.question, item.answer)])) if rng.random() < 0.5 else loose.append(pair(item)))
        loose += [pair(item)] * (item.times - 1)
        if (frames := frames_of(item)) and rng.random() < 0.25:
            question = framed(item.question, rng.choice(frames))
            if normal(question) not in closed:
                loose.append((question, item.answer))
    rng.shuffle(loose)
    while loose:
        size = rng.choice((1, 2, 2, 3, 3, 4, 6))
        train.append(messages(loose[:size]))
        del loose[:size]
    for held, category, turns, system in dialogs(rng, plain):
        whole = messages(turns, system)
        if held:
            asked.append(Question(category, whole[:-1], whole[-1]["content"]))
        else:
            train.append(whole)
    for number in rng.sample(range(len(train)), len(train) // 10):
        if train[number][0]["role"] != "system":
            train[number] = [*messages([], rng.choice(IGNORED)), *train[number]]
    rng.shuffle(train)
    return Corpus(distinct(train), distinct(asked))


def pair(item: Item) -> tuple[str, str]:
    """Return an item as a turn."""
    return item.question, item.answer


def unambiguous(items: list[Item]) -> list[Item]:
    """Return the items, each question once. Raises ValueError if a question has two answers."""
    found: dict[str, Item] = {}
    for item in items:
        other = found.setdefault(item.question, item)
        if other.answer != item.answer:
            raise ValueError(f"{item.question!r} has two answers: {other.answer!r} and {item.answer!r}")
    return list(found.values())


def distinct(things: Iterable[Any]) -> list[Any]:
    """Return the things without duplicates, in order."""
    return list({repr(thing): thing for thing in things}.values())


def leaks(corpus: Corpus) -> list[str]:
    """Return held-out questions that occur in the training text, apart from the capital letter and the last mark.

    A follow-up such as "And the last letter?" means nothing alone: its first question is looked for, or, where that is
    any question, the whole conversation.
    """
    said = {normal(message["content"]) for talk in corpus.train for message in talk if message["role"] == "user"}
    talks = {normal(repr(talk[: place + 1])) for talk in corpus.train for place in range(len(talk))}
    found = []
    for question in corpus.held:
        users = [message["content"] for message in question.messages if message["role"] == "user"]
        whole = question.category in ("follow-up on a subject", "names", "system message")
        if normal(repr(question.messages)) in talks if whole else normal(users[0]) in said:
            found.append(users[0])
    return found
