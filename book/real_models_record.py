"""Three claims, measured on models that others trained: `PYTHONPATH=. python book/real_models_record.py`.

Does a space at the end of a prompt harm? Do separators between groups of digits help with sums, and which groups? Does
a model count letters better when each is a token, or when it writes them first? The book's toy answers each; here two
models from packages of PyPI do, and every variant is asked the same. Gemma 3 270M, a base model, gets examples and
completes; Qwen2.5-Coder-1.5B-Instruct gets the same examples as turns of a chat, by its template, and completes in the
first measurement alone. All answers are greedy. *Claims: the evidence* and *A language model in one page* show
real_models_record.json. Needs llama.cpp and 1.4 GB of downloads; takes some twenty minutes on one core.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from math import log2
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bpelab.bench.machine import machine
from bpelab.chat import ChatSession
from bpelab.notebook import book_text
from tests.real.catalogue import GEMMA_GGUF, QWEN_GGUF
from tests.real.download import joined_file
from tools.make_tiny_chat.spelling import words

RECORD = Path(__file__).with_name("real_models_record.json")
MODELS = {"Gemma 3 270M": GEMMA_GGUF, "Qwen2.5-Coder-1.5B-Instruct": QWEN_GGUF}
SEED = 1
PROMPTS, BEFORE = 100, 100
"""How many prompts are cut from the book's text, and how many characters each has at most."""
LENGTHS, SUMS = (4, 5, 7, 8), 25
"""Numbers of as many digits, which threes from the left and from the right cut differently; sums of each length."""
WORDS = 34
"""Words with the letter once, as many with it twice, and as many with it three times."""

Example = tuple[str, str]
Ask = Callable[[Sequence[Example], str, int], str]


def asker(session: ChatSession) -> Ask:
    """Return the function that asks a question after examples: a chat model by its template, a base model as text."""

    def ask(examples: Sequence[Example], question: str, tokens: int) -> str:
        session.max_new_tokens = tokens
        if session.is_base:
            shown = "".join(f"Question: {asked}\nAnswer: {answer}\n\n" for asked, answer in examples)
            return until_line_break(session, f"{shown}Question: {question}\nAnswer:")
        session.reset()
        pairs = [zip(("user", "assistant"), example) for example in examples]
        turns = [{"role": role, "content": text} for pair in pairs for role, text in pair]
        return session.ask([*turns, {"role": "user", "content": question}]).text.strip()

    return ask


def until_line_break(session: ChatSession, text: str) -> str:
    """Return how the model continues a text, up to the end of the line."""
    said = ""
    for token in session.stream_completion(text):
        said += token.text
        if "\n" in said:
            break
    return said.partition("\n")[0].strip()


def paired(right: dict[str, list[bool]]) -> dict[str, Any]:
    """Return the right answers of each variant, and of each pair how many questions only one of both got right."""
    names = [*right]
    alone = {
        f"{one}, not {other}": sum(a and not b for a, b in zip(right[one], right[other]))
        for one in names
        for other in names
        if one != other
    }
    return {"right": {name: sum(row) for name, row in right.items()}, "asked": len(right[names[0]]), "alone": alone}


# -- a space at the end of a prompt ----------------------------------------------------------------------------------


def prompts() -> list[tuple[str, str]]:
    """Return beginnings of the book's text, each with the word that follows after a space."""
    text = book_text()
    places = [match for match in re.finditer(r"(?<=[a-z,]) ([a-z]{3,12})\b", text) if match.start() > BEFORE]
    chosen = Random(SEED).sample(places, PROMPTS)
    return [(text[at.start() - BEFORE : at.start()].partition(" ")[2], at[1]) for at in chosen]


def bits(session: ChatSession, before: list[int], ids: list[int]) -> float:
    """Return the bits that the model needs for some ids after others."""
    total = 0.0
    for at, token in enumerate(ids):
        logits = session.backend.next_logits(before + ids[:at]).astype(np.float64)
        total += float((logits.max() + np.log(np.exp(logits - logits.max()).sum()) - logits[token]) * log2(np.e))
    return total


def measure_space(session: ChatSession) -> dict[str, Any]:
    """Measure the next word's bits and the greedy next word, for prompts without and with a space at their end."""
    encode, session.max_new_tokens = session.tokenizer.encode, 5
    cost: dict[str, list[float]] = {"without": [], "with": []}
    right: dict[str, list[bool]] = {"without": [], "with": []}
    other = 0
    for text, word in prompts():
        other += encode(f"{text} {word}")[: len(encode(f"{text} "))] != encode(f"{text} ")
        for name, prompt, rest in (("without", text, f" {word}"), ("with", f"{text} ", word)):
            cost[name].append(bits(session, encode(prompt), encode(rest, add_special_tokens=False)))
            said = re.match(r"\s*(\w*)", session.complete(prompt).text)
            right[name].append(said is not None and said[1] == word)
    worse = sum(after > before for before, after in zip(*cost.values()))
    means = {name: round(sum(row) / len(row), 3) for name, row in cost.items()}
    return {**paired(right), "bits_a_word": means, "worse_with": worse, "other_ids_with": other}


# -- sums ------------------------------------------------------------------------------------------------------------


def by_threes_from_left(number: int) -> str:
    """Write a number with a comma after each three digits from the left."""
    return ",".join(re.findall(r"\d{1,3}", str(number)))


WRITTEN: dict[str, Callable[[int], str]] = {"plain": str, "right": "{:,}".format, "left": by_threes_from_left}
"""How the numbers of a sum are written: plain, or with commas, by threes from the right or from the left."""


def measure_sums(session: ChatSession) -> dict[str, Any]:
    """Measure sums of two numbers of equal length, written in each way, after four examples of the same length."""
    ask, result = asker(session), {}
    for length in LENGTHS:
        random = Random(f"{SEED} {length}")
        pairs = [[random.randrange(10 ** (length - 1), 10**length) for _ in range(2)] for _ in range(SUMS + 4)]
        right: dict[str, list[bool]] = {name: [] for name in WRITTEN}
        for name, write in WRITTEN.items():
            rows = [(f"{write(a)} + {write(b)}", write(a + b)) for a, b in pairs]
            for asked, answer in rows[4:]:
                said = ask(rows[:4], asked, len(answer) + 2)
                right[name].append(said.replace(",", "") == answer.replace(",", ""))
        result[f"{length} digits"] = paired(right)
    return {"by_length": result}


# -- letters ---------------------------------------------------------------------------------------------------------

SHOWN = (("tomorrow", "r"), ("lantern", "t"), ("banana", "a"), ("letter", "e"), ("harvest", "a"), ("needless", "e"))
"""The examples: words with a letter that they have once, twice, or three times."""


def letter_questions() -> list[Example]:
    """Return words and letters, as many for each answer: a constant one is right for a third."""
    random, kinds = Random(SEED), dict[int, list[Example]]({1: [], 2: [], 3: []})
    known = {word for word, _ in SHOWN}
    for word in words():
        for letter in sorted({*word}):
            if word.count(letter) in kinds and word not in known:
                kinds[word.count(letter)].append((word, letter))
    return [question for kind in kinds.values() for question in random.sample(kind, WORDS)]


def measure_letters(session: ChatSession) -> dict[str, Any]:
    """Measure counting: the word as it is, with hyphens between its letters, and spelled in the answer first."""
    ask, questions = asker(session), letter_questions()
    right: dict[str, list[bool]] = {"word": [], "hyphens": [], "spelled": []}
    spelled = 0
    for name, row in right.items():

        def asked(word: str, letter: str, name: str = name) -> str:
            return f'How many {letter} are in "{"-".join(word) if name == "hyphens" else word}"?'

        start = {word: "-".join(word) + ": " if name == "spelled" else "" for word, _ in (*SHOWN, *questions)}
        shown = [(asked(word, letter), start[word] + str(word.count(letter))) for word, letter in SHOWN]
        for word, letter in questions:
            said = ask(shown, asked(word, letter), 3 * len(word) if start[word] else 2)
            row.append(said.rpartition(":")[2].strip() == str(word.count(letter)))
            spelled += bool(start[word]) and said.startswith(start[word])
    pieces = [session.tokenizer.count_tokens(word, add_special_tokens=False) for word, _ in questions]
    return {**paired(right), "spelled_right": spelled, "tokens_a_word": round(sum(pieces) / len(pieces), 2)}


def digits(session: ChatSession) -> int:
    """Return how many tokens of a vocabulary are several digits, with or without a space before them."""
    tokens = session.tokenizer.model.tokens.values()
    return sum(bool(re.fullmatch(rb"(\xe2\x96\x81| )?[0-9]{2,}", token)) for token in tokens)


PARTS = {"space": measure_space, "sums": measure_sums, "letters": measure_letters}


def main() -> None:
    """Measure on each model, and write the record after each part."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS], help="the others stay as they are")
    options = parser.parse_args()
    models = json.loads(options.record.read_text(encoding="utf-8"))["models"] if options.record.exists() else {}
    for name in options.models:
        session = ChatSession(joined_file(MODELS[name]), backend="llama_cpp", threads=1, n_ctx=1024)
        about = {"file": MODELS[name].name, "sha256": MODELS[name].sha256, "tokens_of_digits": digits(session)}
        models[name] = models.get(name, {}) | about
        for part in options.parts:
            if part == "sums" and session.is_base:  # in a trial it got none of 36 right, however they were written
                continue
            started = time.process_time()
            models[name][part] = PARTS[part](session)
            models[name][part]["cpu_seconds"] = round(time.process_time() - started)
            record = {
                "about": "Written by `PYTHONPATH=. python book/real_models_record.py`",
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": machine()["cpu"],
                "llama-cpp-python": version("llama-cpp-python"),
                "models": models,
            }
            options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            print(name, part, models[name][part], flush=True)


if __name__ == "__main__":
    main()
