"""The model card, README.md: generated from measured numbers, so that it can't say anything else."""

import json
from pathlib import Path
from typing import Any

from .corpus import Corpus
from .score import COUNTS
from .train import PEAK, TOKENS, Row, Trained

TEXT = """\
# Tiny, the chat model of bpelab

A Llama of {parameters:,} weights that answers questions about tokens, bytes and merges, spells words, counts a little
and makes small talk. It is an example: small enough to be read, run and made again by anyone, on any machine, and the
model that `bpelab chat` starts with.

It is not an assistant. It knows about {facts} facts and nothing else, makes mistakes also there (the table says how
often), and invents answers to questions that look like those it knows. It only knows English. Don't rely on it.

| | |
| --- | --- |
| architecture | Llama: {layers} layers of width {width}, {heads} heads of {head}, feed-forward {inner}, embeddings and output tied |
| context | {context} tokens |
| vocabulary | {vocabulary:,} tokens, byte-level BPE, GPT-2's pattern; trained by bpelab on the model's own text |
| format of a chat | ChatML; an answer ends with `<|im_end|>` |
| files | `model.safetensors` (float16, {safetensors:.1f} MB), `model.gguf` (the same values in float32, {gguf:.1f} MB) |
| licence | MIT |

## Text
{talks:,} conversations, {tokens:,} tokens, of which the assistant says {said:,}. All of it was written for this
project: facts and small talk by hand, each question in many wordings, and questions with computed answers (letters,
numbers, bytes) over the words of the book's text and made-up ones. `tools/make_tiny_chat` makes it from a seed.

## Training
AdamW, learning rate up to {peak}, down in half a cosine, batches of about
{batch:,} tokens, {steps:,} steps ({epochs:.1f} times through the text), loss on the assistant's tokens only; last loss
{loss:.3f}. Then every weight was rounded to a float16. It took {minutes:.0f} minutes, {cpu:.0f} of them CPU time, on one
thread. To make it again (with torch, transformers, safetensors and gguf):

    python -m tools.make_tiny_chat

Another processor or version of torch rounds sums in another order, and gives weights and scores that differ a little.

## Scores
Greedy answers of the files here to {questions:,} questions that are not in the training text: a word, a pair of numbers,
a wording of a question or its frame that training never had. "exact" is the expected answer to the character; "near",
only for prose, has nine in ten of its words; "stopped" ended with `<|im_end|>` within 96 tokens. `scores.json` has every
answer.

| | questions | exact | near | stopped |
| --- | ---: | ---: | ---: | ---: |
{table}

"in new words" is the hard test: wordings that training has nowhere. In the other categories the wording is known, and
new is the word, the number, the name, the subject or the frame that it is put together with.

Not a blind test: the text was changed twice after two earlier models had been scored on questions held out in the same
way, and some questions became easier by it (smaller numbers, shorter merges, no held-out word that begins with "token").
The two answered 62.7 % and 80.1 % of theirs, which were not the same questions.
"""


def write_card(folder: Path, corpus: Corpus, data: list[Row], took: Trained, scores: dict[str, Any]) -> None:
    """Write README.md."""
    from .written import blocks

    config = json.loads((folder / "config.json").read_text("utf-8"))
    width, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    each = 4 * width * width + 3 * width * inner + 2 * width
    tokens = sum(len(row.ids) for row in data)
    text = TEXT.format(
        parameters=layers * each + config["vocab_size"] * width + width,
        facts=len(list(blocks("facts.txt"))),
        layers=layers,
        width=width,
        heads=config["num_attention_heads"],
        head=config["head_dim"],
        inner=inner,
        context=config["max_position_embeddings"],
        vocabulary=config["vocab_size"],
        safetensors=(folder / "model.safetensors").stat().st_size / 1e6,
        gguf=(folder / "model.gguf").stat().st_size / 1e6,
        talks=len(corpus.train),
        tokens=tokens,
        said=sum(sum(row.mask) for row in data),
        peak=PEAK,
        batch=TOKENS,
        steps=took.steps,
        epochs=took.tokens / tokens,
        loss=took.loss,
        minutes=took.seconds / 60,
        cpu=took.cpu_seconds / 60,
        questions=scores["total"]["questions"],
        table=table(scores),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def table(scores: dict[str, Any]) -> str:
    """Return the rows of the table of scores, as Markdown: counts, and in the last row also shares."""
    named = sorted(scores["categories"].items())
    lines = ["| " + " | ".join([name, *(str(counts[key]) for key in COUNTS)]) + " |" for name, counts in named]
    total = scores["total"]
    shares = [f"**{total[key]} ({total[key] / total['questions']:.1%})**" for key in COUNTS[1:]]
    return "\n".join([*lines, f"| **all** | **{total['questions']}** | " + " | ".join(shares) + " |"])
