"""Talk with two models that others trained: writes conversation_record.json, which *Chat on your hardware* shows.

`PYTHONPATH=. python book/conversation_record.py --qwen FILE --gemma FILE`, with both models as GGUF files.
Qwen2.5-Coder is asked two questions. Its first answer has other ids when its text is encoded again, so the second
prompt is timed both ways: with the ids kept, and encoded again. Gemma 3, a base model, completes a text. Every choice
is greedy, but for a second completion. Needs llama-cpp-python; takes a minute or two on two cores.
"""

import argparse
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any

from bpelab.bench.machine import MemoryMeter, load_average, machine
from bpelab.chat import ChatSession, Sampling, StreamedToken
from bpelab.chat.backends import close_backends
from bpelab.chat.backends.base import Backend
from bpelab.chat.hardware.detect import detect
from bpelab.chat.hardware.report import report
from tests.real.catalogue import GEMMA_GGUF, QWEN_GGUF

RECORD = Path(__file__).with_name("conversation_record.json")
QWEN, GEMMA = "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M", "Gemma 3 270M, Q4_K_M"
FILES = {QWEN: QWEN_GGUF.sha256, GEMMA: GEMMA_GGUF.sha256}
"""The models by name, and the SHA-256 of their files, which packages ship."""
QUESTIONS = "Write a regex for an email.", "Why does it end with two dollar signs?"
BEGUN = "Once upon a time"
SAMPLED = {"temperature": 0.8, "seed": 1}
OPTIONS = {"backend": "llama_cpp", "n_ctx": 2048, "top_tokens": 5}
REPEATS = 3
AROUND = 3
"""Tokens before and after a drifting run whose likeliest alternatives are kept."""


def described(name: str, path: Path) -> dict[str, Any]:
    """Return a file's hash and size. Exits if it's another file than the one that the chapter speaks of."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if digest != FILES[name]:
        raise SystemExit(f"{path} isn't {name}: its SHA-256 is {digest}, not {FILES[name]}")
    return {"model": name, "sha256": digest, "bytes": path.stat().st_size}


def spelled(tokens: Sequence[bytes | None]) -> list[str]:
    """Return tokens as text; bytes that are no character are escaped."""
    return [(token or b"").decode("utf-8", "backslashreplace") for token in tokens]


def answered(session: ChatSession, streamed: list[StreamedToken], top_at: range) -> dict[str, Any]:
    """Return the last answer, its tokens, and the likeliest tokens at some of its places."""
    answer = session.last
    assert answer is not None and answer.first_token_seconds is not None and answer.tokens_per_second is not None
    return {
        "text": answer.text,
        "reason": answer.reason,
        "ids": answer.ids,
        "tokens": spelled([token.token for token in streamed]),
        "probabilities": [round(token.probability, 3) for token in streamed],
        "top": {
            place: [[*spelled([one.token]), round(one.probability, 3)] for one in streamed[place].top]
            for place in top_at
        },
        "prompt_tokens": answer.prompt_tokens,
        "reused": answer.reused,
        "first_token_seconds": round(answer.first_token_seconds, 2),
        "tokens_per_second": round(answer.tokens_per_second, 1),
        "load_average": load_average(),
    }


def timed_after(backend: Backend, held: list[int], prompt: list[int]) -> dict[str, Any]:
    """Return how many ids of a prompt are evaluated after `held`, and the seconds that this takes, at least."""
    seconds = []
    for _ in range(REPEATS):
        backend.next_logits(held)
        began = time.perf_counter()
        backend.next_logits(prompt)
        seconds.append(time.perf_counter() - began)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(held, prompt)))
    return {"ids": len(prompt), "evaluated": len(prompt) - shared, "seconds": round(min(seconds), 2)}


def conversation(path: Path) -> dict[str, Any]:
    """Ask both questions, and find where the first answer's ids change when its text is encoded again."""
    memory = MemoryMeter()
    memory.restart()
    session = ChatSession(path, **OPTIONS)
    tokenizer = session.tokenizer
    streamed = list(session.stream(QUESTIONS[0]))
    held, messages = session.ids, session.messages
    assert session.parity is not None and session.last is not None
    (run,) = tokenizer.drift(session.last.ids)
    near = range(run.start - AROUND, run.start + len(run.ids) + AROUND)
    turns = [answered(session, streamed, near)]
    streamed = list(session.stream(QUESTIONS[1]))
    turns.append(answered(session, streamed, range(0)))
    kept = session.ids[: turns[1]["prompt_tokens"]]
    again = tokenizer.apply_chat_template([*messages, session.messages[-2]], add_generation_prompt=True)
    return {
        "questions": QUESTIONS,
        "prompt_ids": held[: turns[0]["prompt_tokens"]],
        "turns": turns,
        "parity": session.parity.note,
        "drift": {
            "start": run.start,
            "produced": spelled(tokenizer.convert_ids_to_tokens(run.ids)),
            "encoded": spelled(tokenizer.convert_ids_to_tokens(run.encoded)),
            "ids": [run.ids, run.encoded],
        },
        "next_prompt": {
            "ids kept": timed_after(session.backend, held, kept),
            "encoded again": timed_after(session.backend, held, again),
        },
        "peak_memory_bytes": memory.peak(),
    }


def completion(path: Path) -> dict[str, Any]:
    """Let the base model continue a text, once with the likeliest tokens and once with tokens drawn at random."""
    memory = MemoryMeter()
    memory.restart()
    session = ChatSession(path, max_new_tokens=48, **OPTIONS)
    assert session.is_base
    streamed = list(session.stream_completion(BEGUN))
    made = answered(session, streamed, range(1))
    session.sampling = Sampling(**SAMPLED)
    sampled = SAMPLED | {"text": session.complete(BEGUN).text}
    return {"begun": BEGUN, **made, "sampled": sampled, "peak_memory_bytes": memory.peak()}


def main() -> None:
    """Talk with both, and write the record."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--qwen", type=Path, required=True, metavar="FILE")
    parser.add_argument("--gemma", type=Path, required=True, metavar="FILE")
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    files = [described(QWEN, options.qwen), described(GEMMA, options.gemma)]
    record = {
        "about": "Written by `PYTHONPATH=. python book/conversation_record.py --qwen FILE --gemma FILE`",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": {name: version(name) for name in ("llama-cpp-python", "numpy")},
        "doctor": report(detect()),
        "conversation": files[0] | conversation(options.qwen),
    }
    close_backends()
    record["completion"] = files[1] | completion(options.gemma)
    options.record.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
