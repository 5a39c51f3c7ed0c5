"""What lets a model count letters: `PYTHONPATH=. python book/letters_record.py` writes letters_record.json.

The same small network learns from nothing to say how often a letter is in a word, four times. It's given the word as
the shipped tokenizer's tokens, or as single letters; and it answers with the number at once, or spells the word
first. All four see the same words and letters in the same order, and are asked about words that none of them has seen.
*A language model in one page* shows the record. Needs torch and transformers; takes some twenty minutes on one core,
and TQDM_DISABLE=1 keeps it quiet.
"""

import argparse
import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
import transformers
from tqdm import tqdm

from bpelab import BPETokenizer
from bpelab.bench.machine import machine
from bpelab.chat.models.find import SHIPPED
from tools.make_tiny_chat.items import held_out
from tools.make_tiny_chat.network import network
from tools.make_tiny_chat.spelling import words

RECORD = Path(__file__).with_name("letters_record.json")
STEPS, BATCH, PEAK, WARM_UP, SEED = 1_500, 128, 2e-3, 100, 1
SHAPE = {"hidden_size": 128, "intermediate_size": 336, "num_hidden_layers": 3}
ONE_IN = 8
"""One word in so many is kept from training."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Question(NamedTuple):
    """How often is `letter` in `word`?"""

    word: str
    letter: str

    @property
    def answer(self) -> int:
        """The right answer."""
        return self.word.count(self.letter)


class Variant(NamedTuple):
    """What the model is given, and what it writes before the number."""

    letters_in: bool
    spells: bool


VARIANTS = {
    "tokens": Variant(letters_in=False, spells=False),
    "letters": Variant(letters_in=True, spells=False),
    "tokens, spelled": Variant(letters_in=False, spells=True),
    "letters, spelled": Variant(letters_in=True, spells=True),
}


def split_words() -> tuple[list[str], list[str]]:
    """Return the words to train on and those that are held out."""
    known = [word for word in words() if not held_out(word, ONE_IN)]
    return known, [word for word in words() if held_out(word, ONE_IN)]


def draw(known: list[str], random: Random) -> Question:
    """Draw a question: a letter of the word in three cases of four, and else any letter."""
    word = random.choice(known)
    return Question(word, random.choice(word if random.random() < 0.75 else LETTERS))


def held_out_questions(unseen: list[str]) -> list[Question]:
    """Return as many questions for each answer, 0, 1 and 2 or more, so that a constant answer is right for a third."""
    random = Random(SEED)
    kinds: dict[int, list[Question]] = {0: [], 1: [], 2: []}
    for word in unseen:
        for letter in LETTERS:
            question = Question(word, letter)
            kinds[min(question.answer, 2)].append(question)
    size = min(map(len, kinds.values()))
    return [question for kind in kinds.values() for question in random.sample(kind, size)]


def encode(tokenizer: BPETokenizer, question: Question, variant: Variant) -> tuple[list[int], list[int]]:
    """Return the ids of the question, and those of its answer with the end."""
    spelled = [tokenizer.encode(char)[0] for char in question.word]
    given = spelled if variant.letters_in else tokenizer.encode(question.word)
    asked = [*given, *tokenizer.encode(f" {question.letter}"), *tokenizer.encode("?")]
    assert tokenizer.eos_token_id is not None
    answer = [*tokenizer.encode(str(question.answer)), tokenizer.eos_token_id]
    return asked, [*spelled, *tokenizer.encode(":"), *answer] if variant.spells else answer


def batch_of(encoded: list[tuple[list[int], list[int]]]) -> tuple[Any, Any]:
    """Return ids padded on the right, and for each answer's id the place before it as what it is learned from."""
    length = max(len(asked) + len(answer) for asked, answer in encoded) - 1
    ids = torch.zeros((len(encoded), length), dtype=torch.long)
    labels = torch.full_like(ids, -100)
    for row, (asked, answer) in enumerate(encoded):
        whole = torch.tensor([*asked, *answer])
        ids[row, : len(whole) - 1] = whole[:-1]
        labels[row, len(asked) - 1 : len(whole) - 1] = whole[len(asked) :]
    return ids, labels


def train(tokenizer: BPETokenizer, variant: Variant, known: list[str], steps: int) -> tuple[Any, float]:
    """Train a network for a number of batches; return it with the processor's seconds."""
    torch.set_num_threads(1)
    model, random, started = network(tokenizer, SEED, **SHAPE), Random(SEED), time.process_time()
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), weight_decay=0.05)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK, total_steps=steps, pct_start=min(0.3, WARM_UP / steps))
    model.train()
    for _ in tqdm(range(steps), desc="training", unit=" steps", mininterval=5):
        ids, labels = batch_of([encode(tokenizer, draw(known, random), variant) for _ in range(BATCH)])
        hidden, learned = model.model(input_ids=ids).last_hidden_state, labels >= 0
        loss = torch.nn.functional.cross_entropy(model.lm_head(hidden[learned]), labels[learned])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rates.step()
    return model.eval(), time.process_time() - started


def answers(model: Any, tokenizer: BPETokenizer, variant: Variant, questions: list[Question]) -> list[str]:
    """Return what the model answers, token after token, each the likeliest."""
    said = []
    for question in tqdm(questions, desc="asking", unit=" questions", mininterval=5):
        ids, _ = encode(tokenizer, question, variant)
        start = len(ids)
        while len(ids) < start + 16 and (len(ids) == start or ids[-1] != tokenizer.eos_token_id):
            with torch.inference_mode():
                ids.append(int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
        said.append(tokenizer.decode(ids[start:], skip_special_tokens=True))
    return said


def scores(tokenizer: BPETokenizer, questions: list[Question], said: list[str]) -> dict[str, Any]:
    """Return how many numbers are right, by tokens a word and by answer, and how many words are spelled right."""
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question, text in zip(questions, said):
        for kind in (f"{len(tokenizer.encode(question.word))} tokens", f"{question.answer} times", "all"):
            asked[kind] += 1
            right[kind] += text.split(":")[-1] == str(question.answer)
    spelled = sum(text.split(":")[0] == question.word for question, text in zip(questions, said))
    return {"right": {kind: [right[kind], asked[kind]] for kind in sorted(asked)}, "spelled": spelled}


def main() -> None:
    """Train all four, and write the record."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    tokenizer, (known, unseen) = BPETokenizer.from_pretrained(SHIPPED), split_words()
    questions, variants = held_out_questions(unseen), {}
    for name, variant in VARIANTS.items():
        model, seconds = train(tokenizer, variant, known, options.steps)
        said = answers(model, tokenizer, variant, questions)
        variants[name] = {**scores(tokenizer, questions, said), "cpu_seconds": round(seconds, 1)}
        variants[name]["strawberry"] = answers(model, tokenizer, variant, [Question("strawberry", "r")])[0]
        print(name, variants[name], flush=True)
    record = {
        "about": "Written by `PYTHONPATH=. python book/letters_record.py`",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "machine": machine()["cpu"],
        "weights": sum(weight.numel() for weight in network(tokenizer, SEED, **SHAPE).parameters()),
        "steps": options.steps,
        "batch": BATCH,
        "words": len(known),
        "held_out": len(unseen),
        "questions": len(questions),
        "strawberry_held_out": "strawberry" not in known,
        "variants": variants,
    }
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
