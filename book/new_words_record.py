"""What further training makes of new rows: `PYTHONPATH=. python book/new_words_record.py` writes new_words_record.json.

The shipped chat model is adapted to its tokenizer with 200 tokens more, learned from the first nine tenths of the
book's text. New rows are the mean of the rows of their parts, or the average of all rows, or random. These three, the
model as it was, and the model with half of its tokens are trained further on the same texts: passages of these nine
tenths, and as many batches of conversations that the model was trained on before, so that it goes on answering. Bits
per byte are those of the last tenth. `--again 2` trains with batches drawn anew and adds how that ended, which says how
much is chance. The chapter *New words for an old model* shows the record. Needs torch, transformers and safetensors;
takes some ten minutes on one core each time, and TQDM_DISABLE=1 keeps it quiet.
"""

import argparse
import json
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import torch
import transformers

from bpelab import BPETokenizer
from bpelab.adapt import adapt_model
from bpelab.bench.machine import machine
from bpelab.chat import ChatSession
from bpelab.chat.backends import open_backend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import SHIPPED, find_model
from bpelab.chat.text_bits import passages, start_ids
from bpelab.editing import extend, prune
from bpelab.notebook import book_text
from tools.further_training import bits, encoded
from tools.make_tiny_chat.corpus import Messages, Question, make_corpus
from tools.make_tiny_chat.export import rounded
from tools.make_tiny_chat.score import score
from tools.make_tiny_chat.train import learn, make_optimizer, rate, rows, tensors

RECORD = Path(__file__).with_name("new_words_record.json")
NEW_TOKENS, HALF, EPOCHS, SEED = 200, 512, 2.0, 1
MEASURED, TOGETHER, TRAINED = 255, 16, 480
"""Bytes of a passage to measure bits on, as `bits_per_byte` has them for a context of 512 ids, how many are computed at
once, and bytes of a passage to train on."""
ROWS, CONVERSATIONS, PEAK, WARM_UP, CHECKPOINTS = 8, 16, 1e-3, 20, 6
"""Passages and conversations of a batch, highest learning rate, steps until it is reached, measures while training."""
EVERY = 8
"""Each of so many held-out questions is asked."""
VARIANTS = ("as it was", "mean", "average", "random", "half")
ASKED = (
    "What is a token?",
    'Spell "lighthouse".',
    'How many letters does "harbour" have?',
    'What is the first letter of "harbour"?',
)
BEGUN = "The harbour master"


def load(folder: Path) -> Any:
    """Return a folder's model in float32."""
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def make_folder(variant: str, tokenizer: BPETokenizer, folder: Path) -> None:
    """Write the model with new rows of a kind."""
    rule = variant if variant in ("mean", "average") else "average"  # then changed, or there are no new rows
    plan = adapt_model(SHIPPED, tokenizer, folder, rows=rule)
    if variant == "random":
        model = load(folder)
        table = model.get_input_embeddings().weight.data
        made = sorted(plan.rows.parts)
        torch.manual_seed(SEED)
        table[made] = torch.randn(len(made), table.shape[1]) * table[: len(plan.old)].std()
        write_weights(model, folder)


def write_weights(model: Any, folder: Path) -> None:
    """Write a model's weights to its folder, in float16 like the shipped ones."""
    from safetensors.numpy import save_file

    save_file(rounded(model), folder / "model.safetensors", metadata={"format": "pt"})


def batches(
    tokenizer: BPETokenizer, text: str, talks: list[Messages], steps: int, seed: int
) -> Iterator[tuple[Any, Any]]:
    """Yield a batch of passages and one of conversations in turn, the same ones for every tokenizer."""
    random = Random(seed)
    parts = list(passages(text, TRAINED))
    order: list[str] = []
    for step in range(steps):
        if step % 2:
            yield tensors(rows(tokenizer, random.sample(talks, CONVERSATIONS)))
        else:
            if len(order) < ROWS:
                order += random.sample(parts, len(parts))
            batch, order = order[:ROWS], order[ROWS:]
            yield tensors(encoded(tokenizer, batch))


def met(tokenizer: BPETokenizer, first: int, text: str, talks: list[Messages], steps: int) -> dict[str, int]:
    """Return how many conversations a training has, how many ids from `first` on, and in how many at most one is."""
    counts = Counter[int]()
    for step, (ids, _) in enumerate(batches(tokenizer, text, talks, steps, SEED)):
        for row in ids.tolist() if step % 2 else ():
            counts.update({token for token in row if token >= first})
    return {"conversations": steps // 2 * CONVERSATIONS, "tokens": len(counts), "most": max(counts.values(), default=0)}


def train(
    model: Any, tokenizer: BPETokenizer, text: str, unseen: str, talks: list[Messages], epochs: float, seed: int
) -> dict[str, Any]:
    """Train a model in place; return steps, tokens, processor seconds, and bits per byte while it went on."""
    steps = 2 * max(1, round(epochs * len(list(passages(text, TRAINED))) / ROWS))
    optimizer = make_optimizer(model)
    checkpoints = {round(steps * part / CHECKPOINTS) for part in range(1, CHECKPOINTS + 1)}
    curve = [{"step": 0, "bits": bits(model, tokenizer, unseen, MEASURED, TOGETHER)}]
    seen = {"text": 0, "conversations": 0}
    spent, started = 0.0, time.process_time()
    for step, (ids, labels) in enumerate(batches(tokenizer, text, talks, steps, seed)):
        learn(model, optimizer, rate(step, steps, PEAK, WARM_UP), ids, labels)
        seen["conversations" if step % 2 else "text"] += int((labels >= 0).sum())
        if step + 1 in checkpoints:
            spent += time.process_time() - started
            curve.append({"step": step + 1, "bits": bits(model, tokenizer, unseen, MEASURED, TOGETHER)})
            print(f"  step {step + 1} of {steps}: {curve[-1]['bits']:.3f} bits per byte, {spent:.0f} s", flush=True)
            started = time.process_time()
    return {"steps": steps, "tokens_learned": seen, "cpu_seconds": round(spent, 1), "curve": curve}


def asked(folder: Path, questions: list[tuple[Question, bool]]) -> dict[str, Any]:
    """Return what a folder's model answers and how it goes on with a text, greedily, and how many answers are right.

    Questions come with whether new tokens touch them or their answers; these are counted apart.
    """
    session = ChatSession(str(folder), backend="reference", max_new_tokens=64)
    answers = {}
    for question in ASKED:
        session.reset()
        answers[question] = session.ask(question).text
    tokenizer, files = session.tokenizer, find_model(folder)
    engine = open_backend("reference", files)
    prompt = [*start_ids(tokenizer), *tokenizer.encode(BEGUN)]
    going_on = [made.id for made in generate(engine, prompt, max_new_tokens=48, stop=frozenset(files.stop_ids))]
    log = score(folder, [question for question, _ in questions])["answers"]
    right = {"touched": [0, 0], "untouched": [0, 0]}
    for (_, touched), entry in zip(questions, log):
        found = right["touched" if touched else "untouched"]
        found[0] += entry["verdict"] == "exact"
        found[1] += 1
    return {"answers": answers, "goes_on": tokenizer.decode(going_on), "exact": right}


def touches(tokenizer: BPETokenizer, first: int, question: Question) -> bool:
    """Whether ids from `first` on are in a question or its answer."""
    row = [*question.messages, {"role": "assistant", "content": question.answer}]
    return any(token >= first for token in tokenizer.apply_chat_template(row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=float, default=EPOCHS, help="times through the text")
    parser.add_argument("--every", type=int, default=EVERY, help="ask each of so many held-out questions")
    parser.add_argument("--bytes", type=int, help="use so many characters of the text only, to try the script")
    parser.add_argument(
        "--again", type=int, metavar="SEED", help="train once more with other batches, and add only how it ended"
    )
    parser.add_argument("--out", type=Path, default=RECORD, help="the record; by default that of the book")
    options = parser.parse_args()
    torch.set_num_threads(1)
    text = book_text()[: options.bytes]
    known, unseen = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]
    old = BPETokenizer.from_pretrained(SHIPPED)
    new = extend(old, known, NEW_TOKENS, progress=False)
    corpus = make_corpus()
    questions = [(question, touches(new, old.n_vocab, question)) for question in corpus.scored()[:: options.every]]
    half = prune(old, corpus=known, keep=HALF, progress=False).tokenizer
    measured: dict[str, Any] = {}
    for variant in VARIANTS:
        print(variant, flush=True)
        with tempfile.TemporaryDirectory() as home:
            folder, tokenizer = Path(home) / "model", {"as it was": old, "half": half}.get(variant, new)
            if variant == "as it was":
                folder.mkdir()
                for path in SHIPPED.iterdir():
                    if path.suffix != ".gguf":
                        (folder / path.name).write_bytes(path.read_bytes())
            else:
                make_folder(variant, tokenizer, folder)
            model = load(folder)
            if options.again is not None:
                trained = train(model, tokenizer, known, unseen, corpus.train, options.epochs, options.again)
                record = json.loads(options.out.read_text(encoding="utf-8"))
                ends = record["again"].setdefault(str(options.again), {})
                ends[variant] = round(trained["curve"][-1]["bits"], 3)
                write(record, options.out)
                continue
            before = asked(folder, questions)
            trained = train(model, tokenizer, known, unseen, corpus.train, options.epochs, SEED)
            write_weights(model.eval(), folder)
            after = asked(folder, questions)
            after["bits"] = bits(load(folder), tokenizer, unseen, MEASURED, TOGETHER)
        measured[variant] = {
            "vocabulary": tokenizer.n_vocab,
            "tokens_unseen": tokenizer.count_tokens(unseen),
            "before": before,
            **trained,
            "after": after,
        }
    if options.again is not None:
        return
    record = {
        "about": "The shipped chat model with 200 new tokens, before and after further training. Written by "
        "book/new_words_record.py.",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine() | {"system": platform.system()},
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "text_sha256": sha256(text.encode()).hexdigest(),
        "bytes_known": len(known.encode()),
        "bytes_unseen": len(unseen.encode()),
        "new_tokens": new.n_vocab - old.n_vocab,
        "epochs": options.epochs,
        "met": met(new, old.n_vocab, known, corpus.train, measured["mean"]["steps"]),
        "variants": measured,
        "again": {},
    }
    write(record, options.out)


def write(record: dict[str, Any], path: Path) -> None:
    """Write a record."""
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
