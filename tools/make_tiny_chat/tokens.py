"""The model's tokenizer: trained by this library on the corpus, split as GPT-2 splits, ChatML's three control tokens.

Chapter: A model answers.
"""

from collections.abc import Iterable

from bpelab.chat_templates.builtin import NAMED
from bpelab.tokenizer import BPETokenizer

VOCABULARY = 1024
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def make_tokenizer(texts: Iterable[str]) -> BPETokenizer:
    """Return the tokenizer: 256 bytes, the merges that `texts` teach, and the control tokens last."""
    return BPETokenizer.train(
        texts,
        VOCABULARY,
        pattern="gpt2",  # which llama.cpp has under this name too
        special_tokens=SPECIAL,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        metadata={"chat_template": NAMED["chatml"].source, "model_max_length": 512},
    )
