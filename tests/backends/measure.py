"""How fast a backend is on a small chat model: `python -m tests.backends.measure NAME FOLDER` prints it as JSON.

In a process of its own, so that loading includes what the backend imports. Seconds are those of one run; tokens per
second are by the median of the times between tokens.
"""

import json
import sys
from importlib.metadata import version
from itertools import pairwise
from statistics import median
from time import perf_counter

from bpelab.chat.backends import open_backend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import find_model
from bpelab.chat_templates.apply import apply_chat_template

DISTRIBUTIONS = {
    "mlx": ("mlx", "mlx-lm"),
    "llama_cpp": ("llama-cpp-python",),
    "openvino": ("openvino", "optimum-intel"),
    "transformers": ("transformers", "torch"),
    "reference": ("numpy",),
}
NUMBER = 64


def measure(name: str, folder: str) -> dict:
    """Versions, device, seconds to load, seconds to the first token, tokens per second behind it, bytes per token."""
    files = find_model(folder)
    prompt = apply_chat_template(
        files.tokenizer(), [{"role": "user", "content": "What is a token?"}], add_generation_prompt=True
    )
    start = perf_counter()
    backend = open_backend(name, files)
    loaded = perf_counter()
    seconds = [each.seconds for each in generate(backend, prompt, max_new_tokens=NUMBER)]
    return {
        "versions": {distribution: version(distribution) for distribution in DISTRIBUTIONS[name]},
        "device": backend.device,
        "load_seconds": round(loaded - start, 3),
        "prompt_tokens": len(prompt),
        "first_token_seconds": round(seconds[0], 4),
        "tokens_per_second": round(1 / median(after - before for before, after in pairwise(seconds)), 1),
        "kv_bytes_per_token": backend.kv_bytes,
    }


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
