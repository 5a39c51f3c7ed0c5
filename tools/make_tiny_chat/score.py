"""Scores: greedy answers of the exported model to questions that its training never had.

exact: the answer is the expected one, character for character. near: in prose (CATEGORIES of facts, small talk, other
subjects), at least nine in ten words are the same in the same order, by edit distance; what is computed (spelling,
numbers, bytes, names) has no "near". stopped: the answer ended with <|im_end|> within LIMIT tokens.

Cost: a minute. Chapter: A model answers.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bpelab.tokenizer import BPETokenizer

from .corpus import Question

LIMIT = 96
COUNTS = ("questions", "exact", "near", "stopped")
PROSE = ("definitions", "facts", "small talk", "other subjects", "follow-up on a subject")


def edit_distance(one: list[str], two: list[str]) -> int:
    """Return the edit distance in words: how many must be inserted, deleted or changed.

    >>> edit_distance("a token is a number".split(), "a token has a long number".split())
    2
    """
    row = list(range(len(two) + 1))
    for place, word in enumerate(one, 1):
        above, row[0] = row[0], place
        for column, other in enumerate(two, 1):
            above, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, above + (word != other))
    return row[-1]


def judge(category: str, answer: str, expected: str) -> str:
    """Judge an answer as "exact", "near" or "wrong".

    >>> judge("spelling", "It is spelled a-b.", "It is spelled a-c.")
    'wrong'
    """
    if answer == expected:
        return "exact"
    one, two = answer.split(), expected.split()
    similar = category.startswith(PROSE) and edit_distance(one, two) <= 0.1 * max(len(one), len(two))
    return "near" if similar else "wrong"


def answers(folder: Path, questions: list[Question]) -> list[tuple[str, bool]]:
    """Return the model's greedy answer to each question, and whether it stopped. Prompts of one length run together."""
    import torch
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.eval()
    tokenizer = BPETokenizer.from_pretrained(folder)
    end = tokenizer.eos_token_id
    alike: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
    for number, question in enumerate(questions):
        ids = tokenizer.apply_chat_template(question.messages, add_generation_prompt=True)
        alike[len(ids)].append((number, ids))
    found: dict[int, tuple[str, bool]] = {}
    for _, group in tqdm(sorted(alike.items()), desc="answering", unit=" lengths"):
        rows = torch.tensor([ids for _, ids in group])
        options = {"attention_mask": torch.ones_like(rows), "do_sample": False, "pad_token_id": end}
        out = model.generate(input_ids=rows, max_new_tokens=LIMIT, **options)
        for (number, ids), row in zip(group, out.tolist()):
            said = row[len(ids) :]
            stopped = end in said
            found[number] = tokenizer.decode(said[: said.index(end)] if stopped else said), stopped
    return [found[number] for number in range(len(questions))]


def score(folder: Path, questions: list[Question]) -> dict[str, Any]:
    """Return the counts of each category and in total, and the answer to each question, as in scores.json."""
    categories: dict[str, dict[str, int]] = {}
    log = []
    for question, (answer, stopped) in zip(questions, answers(folder, questions)):
        verdict = judge(question.category, answer, question.answer)
        counts = categories.setdefault(question.category, dict.fromkeys(COUNTS, 0))
        counts["questions"] += 1
        counts["stopped"] += stopped
        if verdict != "wrong":
            counts[verdict] += 1
        said = [message["content"] for message in question.messages]
        log.append({"category": question.category, "said": said, "answer": answer, "verdict": verdict})
        if verdict != "exact":
            log[-1]["expected"] = question.answer
    total = {key: sum(counts[key] for counts in categories.values()) for key in COUNTS}
    return {"total": total, "categories": categories, "answers": log}


def write_scores(folder: Path, scores: dict[str, Any]) -> None:
    """Write scores.json."""
    (folder / "scores.json").write_text(json.dumps(scores, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
