"""Training: AdamW on the assistant's tokens, batches of conversations of about the same length.

Cost: about 20 minutes on one core. Chapter: A model answers.
"""

import math
import time
from array import array
from random import Random
from typing import Any, NamedTuple

from tqdm import tqdm

from bpelab.tokenizer import BPETokenizer

from .corpus import Messages

TOKENS, PEAK, WARM_UP, DECAY, EPOCHS, SEED, THREADS = 2_048, 3e-3, 200, 0.05, 2.2, 1, 1
"""Tokens of a batch, highest learning rate, steps until it is reached, weight decay, times through the text, seed,
threads."""


class Row(NamedTuple):
    """A conversation as ids, and the loss mask: a 1 for each id that is learned."""

    ids: "array[int]"
    mask: "array[int]"


class Trained(NamedTuple):
    """The cost of a training run."""

    steps: int
    tokens: int
    loss: float
    seconds: float
    cpu_seconds: float


def rows(tokenizer: BPETokenizer, talks: list[Messages]) -> list[Row]:
    """Return the conversations in the model's template, with the library's own assistant mask."""
    found = []
    for talk in tqdm(talks, desc="encoding", unit=" conversations"):
        ids, mask = tokenizer.apply_chat_template(talk, return_assistant_mask=True)
        found.append(Row(array("H", ids), array("b", mask)))
    return found


def batches(data: list[Row], rng: Random) -> list[list[Row]]:
    """Return the rows in batches of about TOKENS ids, rows of about the same length together, in random order."""
    order = sorted(data, key=lambda row: len(row.ids) + rng.uniform(-4, 4))
    found: list[list[Row]] = [[]]
    longest = 0
    for row in order:
        longest = max(longest, len(row.ids))
        if longest * (len(found[-1]) + 1) > TOKENS and found[-1]:
            found.append([])
            longest = len(row.ids)
        found[-1].append(row)
    rng.shuffle(found)
    return found


def tensors(batch: list[Row]) -> tuple[Any, Any]:
    """Return the ids of a batch, padded with zeros on the right, and the labels, -100 where nothing is learned.

    Attention looks back only, so that what stands on the right changes nothing.
    """
    import torch

    length = max(len(row.ids) for row in batch)
    ids = torch.zeros((len(batch), length), dtype=torch.long)
    labels = torch.full((len(batch), length), -100, dtype=torch.long)
    for number, row in enumerate(batch):
        here = torch.tensor(row.ids.tolist())
        ids[number, : len(here)] = here
        labels[number, : len(here) - 1] = torch.where(torch.tensor(row.mask.tolist()) > 0, here, -100)[1:]
    return ids, labels


def rate(step: int, steps: int, peak: float = PEAK, warm_up: int = WARM_UP) -> float:
    """Return the learning rate: a linear warm-up, then half a cosine down to a hundredth of the peak.

    >>> [f"{rate(step, 1_000):.5f}" for step in (0, 199, 1_000)]
    ['0.00002', '0.00300', '0.00003']
    """
    if step < warm_up:
        return peak * (step + 1) / warm_up
    along = (step - warm_up) / max(1, steps - warm_up)
    return peak * (0.01 + 0.99 * (1 + math.cos(math.pi * min(along, 1.0))) / 2)


def make_optimizer(model: Any) -> Any:
    """Return AdamW for a model's weights, whose matrices decay."""
    import torch

    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    others = [weight for weight in model.parameters() if weight.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.98), eps=1e-9)


def learn(model: Any, optimizer: Any, rate: float, ids: Any, labels: Any) -> float:
    """Train a model by one step and return its loss before that."""
    import torch

    for group in optimizer.param_groups:
        group["lr"] = rate
    hidden = model.model(input_ids=ids).last_hidden_state
    learned = labels >= 0
    logits = model.lm_head(hidden[learned])  # those of other tokens would not be used
    loss = torch.nn.functional.cross_entropy(logits, labels[learned])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def train(model: Any, data: list[Row], epochs: float, threads: int = THREADS) -> Trained:
    """Train a model in place for a number of epochs, which may be a fraction."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(SEED)
    rng = Random(SEED)
    plan = batches(data, rng)
    steps = max(1, round(epochs * len(plan)))
    while len(plan) < steps:
        plan += batches(data, rng)
    del plan[steps:]
    optimizer = make_optimizer(model)
    model.train()
    started, started_cpu, seen, mean = time.perf_counter(), time.process_time(), 0, 0.0
    bar = tqdm(plan, desc="training", unit=" steps", mininterval=5)
    for step, batch in enumerate(bar):
        loss = learn(model, optimizer, rate(step, steps), *tensors(batch))
        seen += sum(len(row.ids) for row in batch)
        mean += (loss - mean) / min(step + 1, 100)
        bar.set_postfix(loss=f"{mean:.4f}", refresh=False)
    model.eval()
    return Trained(steps, seen, mean, time.perf_counter() - started, time.process_time() - started_cpu)
