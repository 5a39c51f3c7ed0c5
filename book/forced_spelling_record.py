"""What a forced spelling costs, and what other spellings have: `PYTHONPATH=. python book/forced_spelling_record.py`.

Qwen2.5-Coder-1.5B-Instruct answers short questions in three forms, each under three masks that allow the same texts.
One mask allows canonical ids alone. The usual one allows every token that keeps a match possible. The third allows of
these only the tokens of a single byte, so that the model has to spell letter by letter, which it has hardly seen in
training. All answers are greedy. For beginnings of paragraphs, Gemma 3 270M, a base model, tells how much of their
probability is that of spellings which aren't the tokenizer's. *One byte at a time* shows forced_spelling_record.json.
Needs llama.cpp and 1.4 GB of downloads; takes some ten minutes on one core.
"""

import argparse
import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from math import exp
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bpelab.bench.machine import machine
from bpelab.chat import ChatSession
from bpelab.constraints import Constraint
from bpelab.notebook import book_text
from tests.real.catalogue import GEMMA_GGUF, QWEN_GGUF, JoinedFile
from tests.real.download import joined_file

RECORD = Path(__file__).with_name("forced_spelling_record.json")
SUMS = ((17, 25), (38, 47), (56, 19), (64, 88), (123, 45), (150, 275), (219, 64), (333, 148), (407, 96), (512, 389))
CAPITALS = {
    "Peru": "Lima",
    "Norway": "Oslo",
    "Egypt": "Cairo",
    "Kenya": "Nairobi",
    "Hungary": "Budapest",
    "Portugal": "Lisbon",
    "Thailand": "Bangkok",
    "Canada": "Ottawa",
    "Australia": "Canberra",
    "Morocco": "Rabat",
    "Finland": "Helsinki",
    "Uruguay": "Montevideo",
}
CHOICES = {
    "a fruit: hammer, apple, cloud": "apple",
    "an animal: table, river, tiger": "tiger",
    "a colour: purple, spoon, seven": "purple",
    "a metal: cotton, copper, candle": "copper",
    "a month: Monday, August, winter": "August",
    "a planet: Saturn, Sirius, Sahara": "Saturn",
    "a verb: quickly, bottle, arrive": "arrive",
    "a tool: screwdriver, lemon, violet": "screwdriver",
    "a musical instrument: trumpet, carpet, pocket": "trumpet",
    "a vegetable: granite, spinach, leather": "spinach",
    "a language: Python, Jupiter, Atlantic": "Python",
    "the opposite of hot: warm, cold, loud": "cold",
}
CODE = {
    'len("banana")': "6",
    '"abc".upper()': "ABC",
    "7 * 8": "56",
    "2 ** 10": "1024",
    '"a" * 5': "aaaaa",
    "sum([3, 4, 5])": "12",
    "17 // 5": "3",
    '"token"[::-1]': "nekot",
    "max(4, 19, 7)": "19",
    '"hello".replace("l", "p")': "heppo",
    "sorted([3, 1, 2])[0]": "1",
    '"one two".split()[1]': "two",
    "len(range(3, 30))": "27",
    'ord("A")': "65",
}
JSON = ('{"answer": "', '"}')
FORMS = {
    "words": (("The answer is ", "."), ""),
    "JSON": (JSON, ""),
    "JSON, asked for": (JSON, ' Reply only with JSON like {"answer": "x"}.'),
}
"""What stands before and after an answer, and what is added to the question."""
ANSWER = "[A-Za-z0-9]{1,16}"
WAYS = ("canonical", "usual", "bytes")
TEXTS, CALLS = 20, 200
"""How many beginnings of paragraphs, and how many sequences that aren't the beginning of the likeliest cover."""


def questions() -> list[tuple[str, str]]:
    """Return the questions, with their answers."""
    return [
        *((f"What is {a} + {b}?", str(a + b)) for a, b in SUMS),
        *((f"What is the capital of {country}?", city) for country, city in CAPITALS.items()),
        *((f"Which of these words is {choice}?", word) for choice, word in CHOICES.items()),
        *((f"What does print({code}) print in Python?", printed) for code, printed in CODE.items()),
    ]


def answerer(session: ChatSession, form: str, way: str) -> Callable[[str], list[int]]:
    """Return the function that answers a question in a form, under a mask, with ids."""
    tokenizer, ((before, after), added) = session.tokenizer, FORMS[form]
    expression = re.escape(before) + ANSWER + re.escape(after)
    constraint = Constraint.regex(tokenizer, expression, canonical=way == "canonical")
    single = [token for token, spelled in tokenizer.model.tokens.items() if len(spelled) == 1]

    def answer(question: str) -> list[int]:
        asked, matcher, ids = session.byte_model(question + added).before, constraint.matcher(), list[int]()
        while not matcher.can_end:
            allowed = matcher.allowed()
            if way == "bytes":
                allowed = np.intersect1d(allowed, single)
            row = session.backend.next_logits(asked + ids)
            ids.append(int(allowed[np.argmax(row[allowed])]))
            matcher.advance(ids[-1])
        return ids

    return answer


def measure(session: ChatSession, form: str) -> dict[str, Any]:
    """Ask everything in one form.

    Returns the answers under each mask, how many of them are right and have other ids, and how many tokens all have.
    """
    tokenizer, (before, after) = session.tokenizer, FORMS[form][0]
    ways = {way: answerer(session, form, way) for way in WAYS}
    found: dict[str, Any] = {way: {"answers": [], "right": 0, "other_ids": 0, "tokens": 0} for way in WAYS}
    for question, right in questions():  # the masks in turn, since llama.cpp keeps what it has read of a question
        for way, answer in ways.items():
            ids = answer(question)
            text = tokenizer.decode(ids)
            found[way]["answers"].append(text.removeprefix(before).removesuffix(after))
            found[way]["right"] += text == before + right + after
            found[way]["other_ids"] += tokenizer.encode(text, add_special_tokens=False) != ids
            found[way]["tokens"] += len(ids)
    return found


def opened(file: JoinedFile) -> ChatSession:
    """Return a session with a model, on one thread."""
    return ChatSession(joined_file(file), backend="llama_cpp", threads=1, n_ctx=512)


def measure_answers() -> dict[str, Any]:
    """Ask everything in every form."""
    session = opened(QWEN_GGUF)
    return {
        "file": QWEN_GGUF.name,
        "sha256": QWEN_GGUF.sha256,
        "forms": {form: measure(session, form) for form in FORMS},
    }


def beginnings() -> list[str]:
    """Return the first 10 to 40 characters of some of the book's paragraphs, which may end anywhere."""
    random = Random(1)
    paragraphs = random.sample(re.findall(r"\n\n([A-Z][^\n]{60,})", book_text()), TEXTS)
    return [paragraph[: random.randrange(10, 40)] for paragraph in paragraphs]


def measure_others() -> dict[str, Any]:
    """Measure which share of each text's probability is that of other spellings, at least."""
    model, shares = opened(GEMMA_GGUF).byte_model(max_evaluations=CALLS), []
    for text in beginnings():
        found = model.probability(text, spellings=True)
        assert found.log_spellings is not None
        shares.append(round(1 - exp(found.log_covers - found.log_spellings), 6))
    return {"file": GEMMA_GGUF.name, "sha256": GEMMA_GGUF.sha256, "calls": CALLS, "shares": shares}


PARTS = {"answers": measure_answers, "others": measure_others}


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS], help="the others stay as they are")
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    record |= {
        "about": "Written by `PYTHONPATH=. python book/forced_spelling_record.py`",
        "machine": machine()["cpu"],
        "llama-cpp-python": version("llama-cpp-python"),
    }
    for part in parser.parse_args().parts:
        started = time.process_time()
        date = datetime.now(UTC).isoformat(timespec="seconds")
        record[part] = {"date": date, **PARTS[part](), "cpu_seconds": round(time.process_time() - started)}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
