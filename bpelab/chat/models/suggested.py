"""Models to start with, as `bpelab doctor` and `bpelab chat --help` list them; "Small models" in the book has more."""

MODELS = (
    ("HuggingFaceTB/SmolLM2-360M-Instruct-GGUF", "0.4 GB, for llama.cpp"),
    ("bartowski/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M", "0.4 GB, for llama.cpp"),
    ("HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF:Q4_K_M", "1.1 GB, for llama.cpp"),
    ("Qwen/Qwen3-4B-GGUF:Q4_K_M", "2.5 GB, for llama.cpp"),
    ("mlx-community/Qwen2.5-0.5B-Instruct-4bit", "for MLX, on a Mac"),
    ("Qwen/Qwen2.5-0.5B-Instruct", "for transformers and OpenVINO"),
)
"""Ids on the Hugging Face Hub and descriptions, from its pages in November 2026."""


def to_try() -> str:
    """Return the models and how to get them, in lines of at most 96 columns.

    >>> to_try().splitlines()[1]
    '  HuggingFaceTB/SmolLM2-360M-Instruct-GGUF         0.4 GB, for llama.cpp'
    """
    width = max(len(name) for name, _ in MODELS)
    lines = [f"  {name:{width}}  {what}" for name, what in MODELS]
    end = "Each is downloaded once from the Hub (this needs huggingface_hub); HF_HUB_OFFLINE=1 forbids it."
    return "\n".join(["models to try, as in bpelab chat NAME:", *lines, end, ""])
