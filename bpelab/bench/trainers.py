"""Training by each library: `size` tokens from a UTF-8 file, byte-level, with GPT-2's pattern.

A record has the source of these functions, for readers who want to know what was timed.
"""

from pathlib import Path

from ..pretokenizers import PATTERNS
from ..tokenizer import BPETokenizer
from ..trainers.superwords import Superwords
from ..unicode.byte_alphabet import from_alphabet
from .library import Unsupported

MOST_BYTES = 100_000_000
"""The size of the largest text from which superwords are learned in Python."""


def read_chunks(path: str) -> list[str]:
    """Read a training text in chunks of 65,536 characters, since some libraries are slow on one long string."""
    text = Path(path).read_text("utf-8")
    return [text[start : start + 65_536] for start in range(0, len(text), 65_536)]


def bpelab(path: str, size: int) -> set[bytes]:
    """Learn tokens with bpelab, in C."""
    return set(BPETokenizer.train(Path(path), size, pattern="gpt2", trainer="native", progress=False).get_vocab())


def bpelab_python(path: str, size: int) -> set[bytes]:
    """Learn tokens with bpelab, in Python."""
    texts = read_chunks(path)
    return set(BPETokenizer.train(texts, size, pattern="gpt2", trainer="incremental", progress=False).get_vocab())


def superwords(path: str, size: int, trainer: str = "native") -> set[bytes]:
    """Learn words up to 100,000 of 128,000 tokens, or in proportion, and superwords then, in C."""
    kind = Superwords(transition=size * 25 // 32)
    return set(BPETokenizer.train(Path(path), size, superwords=kind, trainer=trainer, progress=False).get_vocab())


def superwords_python(path: str, size: int) -> set[bytes]:
    """Learn words and superwords in Python."""
    if Path(path).stat().st_size > MOST_BYTES:
        raise Unsupported(f"takes 1.5 s for a megabyte; measured up to {MOST_BYTES / 1e6:g} MB")
    return superwords(path, size, "incremental")


def tokenizers(path: str, size: int) -> set[bytes]:
    """Learn tokens with Hugging Face's tokenizers, whose ByteLevel has the pattern of GPT-2."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, show_progress=False, min_frequency=2, special_tokens=[]
    )
    tokenizer.train_from_iterator(read_chunks(path), trainer)
    return set(map(from_alphabet, tokenizer.get_vocab()))


def gigatoken(path: str, size: int) -> set[bytes]:
    """Learn tokens with gigatoken, which has no other pattern."""
    from gigatoken import train_bpe

    vocabulary, _ = train_bpe(Path(path).read_bytes(), size, [])
    return set(vocabulary.values())


def rustbpe(path: str, size: int) -> set[bytes]:
    """Learn tokens with rustbpe."""
    from rustbpe import Tokenizer

    tokenizer = Tokenizer()
    tokenizer.train_from_iterator(read_chunks(path), size, pattern=PATTERNS["gpt2"].regex)
    return {bytes(token) for token, _ in tokenizer.get_mergeable_ranks()}


def gigabpe(path: str, size: int) -> set[bytes]:
    """Learn tokens with gigabpe.

    It begins with the bytes of the text, not with all 256; tokens beyond `size` with all of them are left out.
    """
    from gigabpe import train_bpe

    ids, _ = train_bpe([path], size, special_tokens=[], min_frequency=2, pretokenizer="bytelevel")
    tokens = dict.fromkeys(bytes([byte]) for byte in range(256))
    tokens.update(dict.fromkeys(map(from_alphabet, sorted(ids, key=ids.__getitem__))))
    return set(list(tokens)[:size])
