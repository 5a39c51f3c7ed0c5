"""What a prompt that ends anywhere costs two real models: `PYTHONPATH=. python book/byte_prompts_record.py`.

100 texts are cut at random characters, 25 of each kind: English stories, code and texts in many languages, all written
for this book, and links in the book's list of references, cut inside the address. The *rest* is at least the next 24
bytes, up to where a token of the whole text ends. How many bits does each model need for the rest, given the prompt?

- whole: the text is encoded as one, so it's known where the tokens around the cut begin and end. The bits of the rest's
  tokens; those of a token that the cut goes through are spread evenly over its bytes, and the rest's are counted.
- naive: the ids of the prompt alone, and after them those of the rest alone.
- healed: as guidance began with: the prompt's last token is dropped, and the next one is among those that begin with
  its bytes. All such tokens that the text begins with are added up, with the ids of what is left alone after each.
- exact: minus the binary logarithm of P(the ids of prompt and rest, in the whole text's encoding) / P(the text begins
  with the prompt), the latter added up over the prompt's covers (`bpelab.prefix`). This counts one spelling of the
  rest, as the others do, so that all end with the same token.
- known: as whole, but a token that the cut goes through costs its bits given that it begins with the bytes before the
  cut. So the border before it is known, which nobody knows who has the prompt alone.

Before each prompt stands the tokenizer's bos token, or else its eos token. Further, some prompts are completed as usual
and exactly, each with an empty cache, and some texts are followed byte by byte, with the calls of the model and the
processor time counted; the record has the latter of Gemma alone. *One byte at a time* shows byte_prompts_record.json.
Parts can be made one by one. Needs llama.cpp, with one thread, and 1.4 GB of downloads; takes some twenty minutes of
one core.
"""

import argparse
import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from itertools import accumulate
from math import exp, log2
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from bpelab.bench.machine import machine
from bpelab.chat import ChatSession
from bpelab.chat.text_bits import start_ids
from bpelab.notebook.live_source import passages
from bpelab.prefix.model_calls import log_probabilities
from bpelab.prefix.served import token_texts
from tests.real.catalogue import GEMMA_GGUF, QWEN_GGUF
from tests.real.download import joined_file

RECORD = Path(__file__).with_name("byte_prompts_record.json")
MODELS = {"Gemma 3 270M": GEMMA_GGUF, "Qwen2.5-Coder-1.5B-Instruct": QWEN_GGUF}
KINDS = {
    "stories": "English stories, of the book's own text",
    "code": "programs, of the book's own text",
    "languages": "texts in many languages, of the book's own text",
    "links": "the book's list of references, cut inside an address; others have its entries, too",
}
SEED, OF_A_KIND, BEFORE, AFTER, TAIL = 1, 25, 100, 24, 80
"""Prompts of a kind, their characters at most, bytes of the rest at least, and characters that are known after a cut.
"""
COMPLETED, NEW_TOKENS, FOLLOWED, BYTES = 24, 16, 8, 16
"""So many prompts, as many of each kind, are completed with so many tokens; and after so many, bytes are followed."""


class Cut(NamedTuple):
    """A text that is cut: its kind, the prompt, and what follows."""

    kind: str
    prompt: str
    rest: str


def texts() -> dict[str, str]:
    """Return kind -> text."""
    links = RECORD.with_name("references.bib").read_text(encoding="utf-8")
    return {kind: links if kind == "links" else "\n\n".join(passages(kind).values()) for kind in KINDS}


def cuts() -> list[Cut]:
    """Return the texts that are cut, of each kind in turn. A prompt begins with a word if spaces separate them."""
    random, found = Random(SEED), []
    for kind, text in texts().items():
        places = range(len(text)) if kind != "links" else [
            at for match in re.finditer(r"https://[^}\s]+", text) for at in range(match.start() + 9, match.end())
        ]  # fmt: skip
        possible = [at for at in places if BEFORE < at < len(text) - TAIL]
        for at in random.sample(possible, OF_A_KIND):
            before = text[at - BEFORE : at]
            word = re.search(r"\s\S", before[:-60])
            found.append(Cut(kind, before[word.start() + 1 if word else 0 :], text[at : at + TAIL]))
    return [cut for number in range(OF_A_KIND) for cut in found[number::OF_A_KIND]]


# -- losses ------------------------------------------------------------------------------------------------------------


class Losses:
    """A model that is asked for the bits of texts."""

    def __init__(self, session: ChatSession) -> None:
        self.session, self.before = session, start_ids(session.tokenizer)
        self.model = session.byte_model()
        self.texts = token_texts(session.tokenizer).texts
        named = {token: name for token, name in self.texts.items() if name}
        self.named, self.first = np.array([*named]), np.array([name[0] for name in named.values()])

    def encode(self, text: str | bytes) -> list[int]:
        """Return the ids of a text alone."""
        text = text if isinstance(text, str) else text.decode()
        return self.session.tokenizer.encode(text, add_special_tokens=False)

    def bits(self, before: Sequence[int], ids: Sequence[int]) -> float:
        """Return the bits of ids after others, computed at once."""
        if not ids:
            return 0.0
        rows = self.session.backend.last_logits([*self.before, *before, *ids[:-1]], len(ids))
        return -sum(float(log_probabilities(row)[token]) for row, token in zip(rows, ids)) / np.log(2)

    def begun(self, ids: Sequence[int], typed: bytes) -> tuple[dict[int, float], float]:
        """Return the probabilities after ids of tokens that begin with some bytes, and their sum."""
        row = self.model.calls.row(tuple(ids))
        fits = {token: exp(row[token]) for token, name in self.texts.items() if name.startswith(typed)}
        return fits, sum(fits.values())

    def healed(self, prompt: str, data: bytes) -> float:
        """Return the bits of what follows a prompt in `data`, if its last token is dropped and the next begins so."""
        *kept, dropped = self.encode(prompt)
        typed = self.texts[dropped]
        at = len(prompt.encode()) - len(typed)
        fits, total = self.begun(kept, typed)
        found = 0.0
        for token, likely in fits.items():
            left = data[at + len(self.texts[token]) :]
            if data.startswith(self.texts[token], at) and not (left and left[0] & 0xC0 == 0x80):
                found += likely / total * 2 ** -self.bits([*kept, token], self.encode(left))
        return -log2(found)

    def of(self, cut: Cut) -> dict[str, Any]:
        """Return the bits of what follows a prompt in each way, and how it was computed."""
        text, start = cut.prompt + cut.rest, len(cut.prompt.encode())
        ids, characters = self.encode(text), {*accumulate(len(each.encode()) for each in text)}
        ends = [*accumulate(len(self.texts[token]) for token in ids)]
        at = next(number for number, end in enumerate(ends) if end >= start)
        last = next(number for number, end in enumerate(ends) if end >= start + AFTER and end in characters)
        data, end, prompt_ids = text.encode()[: ends[last]], ends[at], self.encode(cut.prompt)
        covers = self.model.covers(cut.prompt)
        begins = end - len(self.texts[ids[at]])
        fits, total = self.begun(ids[:at], data[begins:start])
        own, after = fits[ids[at]], self.bits(ids[: at + 1], ids[at + 1 : last + 1])
        naive_row = np.exp(self.model.calls.row(tuple(prompt_ids))[self.named])
        likeliest = self.model.next_bytes(cut.prompt).probabilities
        return {
            "bytes": len(data) - start,
            "inside_token": end > start,
            "other_ids": prompt_ids != ids[: len(prompt_ids)],
            "whole": after - log2(own) * (end - start) / (end - begins),
            "naive": self.bits(prompt_ids, self.encode(data[start:])),
            "healed": self.healed(cut.prompt, data),
            "exact": after - log2(covers.shares[(*ids[: at + 1],)]),
            "known": after - (log2(own / total) if end > start else 0.0),
            "naive_right": int(np.bincount(self.first, naive_row).argmax()) == data[start],
            "exact_right": max(likeliest, key=lambda byte: likeliest[byte]) == data[start],
            "covers": len(covers.shares),
            "evaluations": covers.evaluations,
            "missing": covers.missing,
        }


def measure_losses(session: ChatSession) -> dict[str, Any]:
    """Measure the bits of what follows each prompt."""
    losses = Losses(session)
    rows = [losses.of(cut) for cut in cuts()]
    return {name: [round(row[name], 4) for row in rows] for name in rows[0]}


# -- speed -------------------------------------------------------------------------------------------------------------


class Counted:
    """A backend's function that is called, with its calls counted."""

    def __init__(self, backend: Any) -> None:
        self.calls, self.ask = 0, backend.next_logits
        backend.next_logits = self

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return self.ask(*arguments)


def measure_completions(session: ChatSession) -> dict[str, Any]:
    """Measure completions as usual and exact ones, each with an empty cache: tokens, bytes, calls, processor time."""
    counted, session.max_new_tokens = Counted(session.backend), NEW_TOKENS
    found: dict[str, Any] = {}
    for name, exact in (("usual", False), ("exact", True)):
        made = dict.fromkeys(("prompts", "tokens", "bytes", "evaluations", "bounded", "cpu_seconds"), 0.0)
        for cut in cuts()[:COMPLETED]:
            counted.ask(start_ids(session.tokenizer))  # nothing of the prompt is cached
            calls, started = counted.calls, time.process_time()
            answer = session.complete(cut.prompt, exact=exact)
            made["cpu_seconds"] += time.process_time() - started
            made["prompts"] += 1
            made["tokens"] += len(answer.ids)
            made["bytes"] += len(answer.text.encode())
            made["evaluations"] += counted.calls - calls
            made["bounded"] += answer.exact is not None and answer.exact.missing > 0
        found[name] = {what: round(number, 2) for what, number in made.items()}
    return found


def measure_bytes(session: ChatSession) -> dict[str, Any]:
    """Measure what the next byte's probabilities cost where a text is followed byte by byte."""
    model = session.byte_model(cache_size=64)  # the usual size, but a new model, which has nothing cached
    made = dict.fromkeys(("texts", "bytes", "evaluations", "bounded"), 0)
    started = time.process_time()
    for cut in cuts()[:FOLLOWED]:
        start, data = len(cut.prompt.encode()), (cut.prompt + cut.rest).encode()
        made["texts"] += 1
        for at in range(start, start + BYTES):
            after = model.next_bytes(data[:at])
            made["bytes"] += 1
            made["evaluations"] += after.evaluations
            made["bounded"] += after.missing > 0
    return {**made, "cpu_seconds": round(time.process_time() - started, 2)}


PARTS = {"losses": measure_losses, "completions": measure_completions, "bytes": measure_bytes}


def main() -> None:
    """Measure on each model, and write the record after each part."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS], help="the others stay as they are")
    options = parser.parse_args()
    models = json.loads(options.record.read_text(encoding="utf-8"))["models"] if options.record.exists() else {}
    for name in options.models:
        session = ChatSession(joined_file(MODELS[name]), backend="llama_cpp", threads=1, device="cpu", n_ctx=512)
        models[name] = models.get(name, {}) | {"file": MODELS[name].name, "sha256": MODELS[name].sha256}
        started = time.process_time()
        session.tokenizer.covers("a")  # the first covers of a tokenizer take longest
        models[name]["prepared_cpu_seconds"] = round(time.process_time() - started, 1)
        for part in options.parts:
            started = time.process_time()
            models[name][part] = PARTS[part](session)
            print(name, part, f"{time.process_time() - started:.0f} s of processor time", flush=True)
            record = {
                "about": "Written by `PYTHONPATH=. python book/byte_prompts_record.py`",
                "date": f"{datetime.now(UTC):%Y-%m-%d}",
                "machine": machine() | {"threads": 1, "shared": "others used the machine at the same time"},
                "versions": {name: version(name) for name in ("llama-cpp-python", "numpy")},
                "texts": {
                    kind: {"what": KINDS[kind], "sha256": sha256(text.encode()).hexdigest()}
                    for kind, text in texts().items()
                },
                "prompts": [cut._asdict() for cut in cuts()],
                "models": models,
            }
            options.record.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
