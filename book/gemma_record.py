"""New words for a real model: `PYTHONPATH=. python book/gemma_record.py FILES` writes gemma_record.json.

Gemma 3 270M, a base model, is adapted from its GGUF file three times: with up to 4,000 tokens more, learned from the
language that it reads worst among those below; with 4,000 more, learned from Python's standard library; and with
64,000 tokens, the others being those that English and Python use least. Bits per byte are those of text that was held
out, as llama.cpp computes them, whose speed is measured as well. Then each model can be trained further for so many
minutes of processor time: the new rows alone, and then everything. The model as it was is trained on the same texts for
as long. There bits are computed by torch in float32 on dequantized weights, and training multiplies in bfloat16. What
is in the record already is kept, so the parts can be made one by one (`--only`).

The languages are those of lines that have one script which one language writes. The lines of a file with many languages
are sorted by that. The chapter *New words for an old model* shows the record. Needs torch, transformers, accelerate,
gguf and llama-cpp-python, 8 GB of memory, and half an hour of a core. The record was made with
MALLOC_MMAP_THRESHOLD_=8589934592 and MALLOC_TRIM_THRESHOLD_=17179869184, so that glibc keeps memory between steps. With
these a process grew to 22 GB while it trained one model after another: name one at a time there (`--only`).
"""

import argparse
import json
import sysconfig
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
import transformers
from torch.nn.functional import cross_entropy, embedding

from bpelab import BPETokenizer
from bpelab.adapt import adapt_model
from bpelab.adapt.quantized import dequantize
from bpelab.adapt.tensor_files import stored_bytes
from bpelab.bench.machine import machine
from bpelab.chat.backends import llama_cpp
from bpelab.chat.generation import generate
from bpelab.chat.models.find import find_model
from bpelab.chat.models.tensor_headers import gguf_tensors
from bpelab.chat.text_bits import bits_per_byte, passages
from bpelab.editing import extend, prune
from tools.further_training import AT_ONCE, bits, encoded
from tools.make_tiny_chat.train import tensors

RECORD = Path(__file__).with_name("gemma_record.json")
NEW_TOKENS, KEPT = 4_000, 64_000
LANGUAGES = {
    "GEORGIAN": "Georgian", "GREEK": "Greek", "GUJARATI": "Gujarati", "GURMUKHI": "Punjabi", "HANGUL": "Korean",
    "KANNADA": "Kannada", "MALAYALAM": "Malayalam", "TAMIL": "Tamil", "TELUGU": "Telugu", "THAI": "Thai",
}  # fmt: skip
SAMPLE, LARGEST, MEASURED, MINUTES = 60_000, 1_000_000, 4_000, 1
"""Bytes of a language to compare, of a text to learn tokens from and to train on, and of one to measure bits on; and
minutes of processor time for a stage of training."""
PASSAGE, ROWS, WARM_UP, ROW_RATE, RATE = 1_000, 2, 4, 1e-4, 3e-5
"""Bytes of a passage, passages of a batch, steps until the highest rate of learning, and that rate for rows alone and
for everything."""
GENERATED, ROUNDS, PROMPT, READ = 48, 5, "The history of the harbour begins", 500
"""Tokens to generate, how often, after what; and ids of a text to read."""


def by_language(path: Path) -> dict[str, str]:
    """Return language -> those lines of a file, each once, in which most letters are of the language's script."""
    found: dict[str, dict[str, None]] = {language: {} for language in LANGUAGES.values()}
    for line in path.read_text(encoding="utf-8", errors="ignore").splitlines(keepends=True):
        scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in line if letter.isalpha())
        script, count = scripts.most_common(1)[0] if scripts else ("", 0)
        if script in LANGUAGES and count >= 0.6 * scripts.total():
            found[LANGUAGES[script]][line] = None
    return {language: "".join(lines) for language, lines in found.items()}


def python_files() -> str:
    """Return files of the standard library one after another, in an order drawn once, as many as are used."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    paths = [path for path in paths if "site-packages" not in path.parts and "test" not in path.parts]
    Random(0).shuffle(paths)
    texts: list[str] = []
    for path in paths:
        if sum(map(len, texts)) > LARGEST * 1.2:
            break
        texts.append(path.read_text(encoding="utf-8", errors="ignore"))
    return "".join(texts)


def cut(text: str) -> tuple[str, str]:
    """Return the text to learn from and the text to measure on: the last tenth."""
    place = text.rfind("\n", 0, len(text) * 9 // 10) + 1
    return text[:place][:LARGEST], text[place:]


def part_of(text: str, size: int) -> str:
    """Return the first lines of a text, of at most so many bytes."""
    part = text.encode()[:size].decode(errors="ignore")
    return part[: part.rfind("\n") + 1] or part


# -- a model in torch --------------------------------------------------------------------------------------------------


def load(path: Path) -> Any:
    """Return a GGUF file's model in float32, dequantized by transformers, which takes minutes."""
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return model.eval()


def with_rows(model: Any, path: Path) -> Any:
    """Return a copy of a model with the one matrix that has a row per token as an adapted GGUF file has it."""
    tensor = next(tensor for tensor in gguf_tensors(path)[1] if tensor.name == "token_embd.weight")
    with path.open("rb") as file:
        stored = np.frombuffer(b"".join(stored_bytes(file, tensor)), np.uint8).reshape(tensor.shape[0], -1)
    copied = deepcopy(model)
    copied.get_input_embeddings().weight.data = torch.tensor(dequantize(stored, tensor.type), dtype=torch.float32)
    return copied.eval()


def batches(tokenizer: BPETokenizer, text: str) -> Iterator[tuple[Any, Any]]:
    """Yield batches of passages, the same ones for every tokenizer, without an end."""
    random, parts = Random(1), list(passages(text, PASSAGE))
    while True:
        random.shuffle(parts)
        for start in range(0, len(parts) - ROWS + 1, ROWS):
            yield tensors(encoded(tokenizer, parts[start : start + ROWS]))


def train(model: Any, batches: Iterator[tuple[Any, Any]], seconds: float, first_new: int | None) -> dict[str, Any]:
    """Train a model in place for so many seconds of processor time: rows from `first_new` on, or everything."""
    table = model.get_input_embeddings().weight
    model.requires_grad_(first_new is None)
    fresh = None if first_new is None else torch.nn.Parameter(table.data[first_new:].clone())
    optimizer = torch.optim.AdamW(model.parameters() if fresh is None else [fresh], weight_decay=0.0)
    started, spent, step, tokens = time.process_time(), 0.0, 0, 0
    while spent < seconds:
        share = min(1.0, 1.1 - spent / seconds, (step + 1) / WARM_UP)
        for group in optimizer.param_groups:
            group["lr"] = share * (RATE if fresh is None else ROW_RATE)
        ids, labels = next(batches)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16):
            loss = backward(model, fresh, ids, labels)
        optimizer.step()
        step, tokens = step + 1, tokens + int((labels >= 0).sum())
        spent = time.process_time() - started
        print(f"  step {step}: loss {loss:.3f}, {spent:.0f} s", flush=True)
    if fresh is not None:
        table.data[first_new:] = fresh.data
    return {"steps": step, "tokens": tokens, "cpu_seconds": round(spent)}


def backward(model: Any, fresh: Any, ids: Any, labels: Any) -> float:
    """Compute the gradients of a batch and return its loss; `fresh` stands for the last rows if it isn't None.

    The logits of all tokens would be a gigabyte, so the output matrix sees some tokens at a time.
    """
    layer = model.get_input_embeddings()
    tables = [layer.weight] if fresh is None else [layer.weight[: -len(fresh)], fresh]
    old = len(tables[0])
    vectors = embedding(ids.clamp(max=old - 1), tables[0])
    if fresh is not None:
        vectors = torch.where((ids < old)[..., None], vectors, embedding((ids - old).clamp(min=0), fresh))
    hidden = model.model(inputs_embeds=vectors * layer.embed_scale).last_hidden_state[labels >= 0]
    wanted, above, total = labels[labels >= 0], hidden.detach().requires_grad_(), 0.0
    for start in range(0, len(wanted), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        logits = torch.cat([above[part] @ table.T for table in tables], dim=-1)
        loss = cross_entropy(logits.float(), wanted[part], reduction="sum") / len(wanted)
        loss.backward()
        total += loss.item()
    hidden.backward(above.grad)
    return total


# -- the variants ------------------------------------------------------------------------------------------------------


def trained(model: Any, tokenizer: BPETokenizer, text: str, unseen: str, stages: list[tuple[float, int | None]]) -> Any:
    """Return bits per byte before and after each stage of training, with its steps and tokens."""
    found: dict[str, Any] = {"bits": [round(bits(model, tokenizer, unseen, PASSAGE), 4)], "stages": []}
    endless = batches(tokenizer, text)
    for seconds, first_new in stages:
        what = {"trained": "everything" if first_new is None else "new rows"}
        print(what, flush=True)
        found["stages"].append(what | train(model.train(), endless, seconds, first_new))
        found["bits"].append(round(bits(model.eval(), tokenizer, unseen, PASSAGE), 4))
    return found


def adapted(
    files: Any, old: BPETokenizer, new: BPETokenizer, path: Path, texts: dict[str, str], measured: str
) -> dict[str, Any]:
    """Write an adapted model; return its sizes, tokens per byte of texts and llama.cpp's bits per byte of one."""
    plan = adapt_model(files, new, path, old_tokenizer=old)
    per_byte = {
        name: [round(which.count_tokens(text) / len(text.encode()), 4) for which in (old, new)]
        for name, text in texts.items()
    }
    before, after = (
        round(bits_per_byte(model, measured, tokenizer=tokenizer, backend="llama_cpp"), 4)
        for model, tokenizer in ((files, old), (path, new))
    )
    return {**plan.facts, "file_bytes": path.stat().st_size, "tokens_per_byte": per_byte, "bits": [before, after]}


def speed(paths: dict[str, Path], text: str) -> dict[str, dict[str, float]]:
    """Return the ids of a text that llama.cpp reads in a second of processor time, and the tokens that it generates.

    With one thread, the best of rounds.
    """
    options: dict[str, Any] = {"context": 2 * READ, "gpu_layers": 0, "device": None, "threads": 1}
    opened = {}
    for name, path in paths.items():
        tokenizer = find_model(path).tokenizer()
        ids = tokenizer.encode(text, add_special_tokens=False)[:READ]
        opened[name] = llama_cpp.open(find_model(path), **options), ids, tokenizer.encode(PROMPT)
    best = {name: {"reads": 0.0, "generates": 0.0} for name in paths}
    for name in list(paths) * ROUNDS:
        engine, ids, prompt = opened[name]
        times = [time.process_time()]
        engine.next_logits(ids)  # computes all, since a prompt begins with another id
        times.append(time.process_time())
        engine.next_logits(prompt)
        times.append(time.process_time())
        made = sum(1 for _ in generate(engine, prompt, max_new_tokens=GENERATED))
        times.append(time.process_time())
        rates = {"reads": READ / (times[1] - times[0]), "generates": made / (times[3] - times[2])}
        best[name] = {what: round(max(rate, best[name][what]), 1) for what, rate in rates.items()}
    return best


def about(text: str, what: str) -> dict[str, Any]:
    """Return what a text is, its size and its hash."""
    return {"what": what, "bytes": len(text.encode()), "sha256": sha256(text.encode()).hexdigest()}


def arguments() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="Gemma 3 270M, base, as GGUF")
    parser.add_argument("--languages", type=Path, required=True, help="a UTF-8 text with lines in many languages")
    parser.add_argument("--languages-are", required=True, help="what that text is, for the record")
    parser.add_argument("--english", type=Path, required=True, help="an English text of some MB")
    parser.add_argument("--english-is", required=True, help="what that text is, for the record")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="of processor time for each stage of training, or 0"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--measured", type=int, default=MEASURED, help="bytes to measure bits on, to try the script")
    parser.add_argument("--folder", type=Path, required=True, help="for adapted models; those that it has are used")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="make and train these alone: a language, Python ...")
    parser.add_argument("--out", type=Path, default=RECORD, help="the record; parts that it has already are kept")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    seconds, files = options.minutes * 60, find_model(options.model)
    old = files.tokenizer()
    languages = by_language(options.languages)
    badly = {name: part_of(text, SAMPLE) for name, text in languages.items()}
    badly = {name: round(old.count_tokens(text) / len(text), 4) for name, text in badly.items()}
    language = max(badly, key=lambda name: badly[name])
    texts = {language: languages[language], "Python": python_files(), "English": options.english.read_text("utf-8")}
    known, unseen = ({name: cut(text)[place] for name, text in texts.items()} for place in (0, 1))
    small = {name: part_of(text, options.measured) for name, text in unseen.items()}
    read_by = {language: language, "pruned": "English", "Python": "Python"}
    wanted = options.only or [*read_by, "as it was"]
    are = {language: f"the lines in {language} of {options.languages_are}", "English": options.english_is}
    are["Python"] = "files of Python's standard library"
    record = {
        "about": "Gemma 3 270M (base, Q4_K_M) with up to 4,000 tokens more or with 64,000, before and after a little "
        "training. Written by book/gemma_record.py.",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine() | {"threads": options.threads, "shared": "others used the machine at the same time"},
        "versions": {name: version(name) for name in ("torch", "transformers", "gguf", "llama-cpp-python")},
        "model": {"name": "Gemma 3 270M", "sha256": sha256(options.model.read_bytes()).hexdigest()},
        "texts": {name: about(text, are[name]) for name, text in texts.items()},
        "language": language,
        "tokens_per_character": badly,
        "measured_bytes": {name: len(text.encode()) for name, text in small.items()},
        "cpu_minutes_of_a_stage": options.minutes,
        "variants": {},
        "trained": {},
    }
    if options.out.exists():
        record = json.loads(options.out.read_text(encoding="utf-8"))

    def save() -> None:
        options.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    paths = {"as it was": options.model}
    for name, read in read_by.items():
        paths[name] = options.folder / f"{name}.gguf"
        if name not in wanted or paths[name].exists():
            continue
        print(name, flush=True)
        if name == "pruned":
            new = prune(old, corpus=[known["English"], known["Python"]], keep=KEPT, progress=False).tokenizer
        else:
            new = extend(old, known[name], NEW_TOKENS, progress=False)
        record["variants"][name] = adapted(files, old, new, paths[name], unseen, small[read])
        save()
    if not options.only and "tokens_per_cpu_second" not in record:
        record["tokens_per_cpu_second"] = speed(paths, part_of(unseen["English"], SAMPLE))
        save()
    if options.minutes:
        model = load(options.model)
    for changed, read in read_by.items() if options.minutes else ():
        stages = [(seconds, None)] if changed == "pruned" else [(seconds, old.n_vocab), (seconds, None)]
        runs = record["trained"].setdefault(read, {})
        for name, planned in ((changed, stages), ("as it was", [(seconds * len(stages), None)])):
            if name in wanted and name not in runs:
                print(name, read, flush=True)
                tokenizer = find_model(paths[name]).tokenizer()
                start = deepcopy(model) if name == "as it was" else with_rows(model, paths[name])
                runs[name] = trained(start, tokenizer, known[read], small[read], planned)
                save()


if __name__ == "__main__":
    main()
