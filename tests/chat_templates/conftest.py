"""Tokenizers with the special tokens of the formats, and transformers' reading of the same files."""

import json
import os
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest

from bpelab import BPETokenizer
from bpelab.chat import NAMED
from bpelab.notebook import book_text
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from .templates import REAL

os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
# What the templates of these tests write. The last ones are control tokens that their makers don't call special.
SPECIAL = sorted(
    {token for template in NAMED.values() for token in template.tokens}
    | {"<|endoftext|>", "<|end_of_text|>", "<|eom_id|>", "<|python_tag|>", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]"}
    | {
        "[/AVAILABLE_TOOLS]",
        "[TOOL_RESULTS]",
        "[/TOOL_RESULTS]",
        "<｜User｜>",
        "<｜Assistant｜>",
        "<｜end▁of▁sentence｜>",
    }
)
MARKUP = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
SPACES = ["  ", "    "]
RSTRIP = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>")  # as in Phi-3's files
LATE = ("<tool_response>", "</tool_response>", "    ")


@lru_cache(1)
def tokenizer() -> BPETokenizer:
    """A tokenizer trained here, with special tokens, others that look like it, and runs of spaces."""
    plain = BPETokenizer.train(book_text()[:60_000], 900, pattern="gpt2")
    added = [AddedToken(name, plain.n_vocab + n, rstrip=name in RSTRIP) for n, name in enumerate(SPECIAL)]
    added += [
        AddedToken(name, plain.n_vocab + len(added) + n, special=False, normalized=name in LATE)
        for n, name in enumerate(MARKUP + SPACES)
    ]
    return plain.with_options(special_tokens=SpecialTokens(added), bos_token="<s>", eos_token="</s>")


@lru_cache(1)
def characters() -> BPETokenizer:
    """A tokenizer like SentencePiece's: characters, `▁` for spaces and one put in front, bytes for the rest."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    theirs.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    )
    steps = tokenizers.decoders
    theirs.decoder = steps.Sequence(
        [steps.Replace("▁", " "), steps.ByteFallback(), steps.Fuse(), steps.Strip(" ", 1, 0)]
    )
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=800, special_tokens=names, show_progress=False)
    theirs.train_from_iterator([word + " " for word in book_text()[:20_000].split()], trainer)
    data = json.loads(theirs.to_str())
    data["added_tokens"] = data["added_tokens"][:1]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
    theirs.add_special_tokens(
        [tokenizers.AddedToken(name, rstrip=name in RSTRIP, normalized=False) for name in SPECIAL]
    )
    theirs.add_tokens([tokenizers.AddedToken(name, normalized=name in LATE) for name in MARKUP])
    with tempfile.TemporaryDirectory() as folder:
        theirs.save(f"{folder}/tokenizer.json")
        return BPETokenizer.from_pretrained(folder).with_options(bos_token="<s>", eos_token="</s>")


@pytest.fixture(scope="session")
def theirs(tmp_path_factory):
    """The same tokenizer in transformers."""
    transformers = pytest.importorskip("transformers")
    folder: Path = tmp_path_factory.mktemp("chat")
    tokenizer().save(folder)
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder)


def sources() -> dict[str, str]:
    """Every template of these tests, by name."""
    return {**{name: template.source for name, template in NAMED.items()}, **REAL}
