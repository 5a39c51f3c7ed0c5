"""Bits per byte: how well a model predicts a text, in a unit that doesn't depend on its tokenizer.

A model gives each next token a probability. The negative base-2 logarithms of these add up to the bits that the text
would take if it were compressed with the model. Divided by the text's bytes, they compare models whose tokens differ in
length. Less is better; bytes that can't be predicted take 8 bits each.

The text is cut into passages by bytes, independently of the tokenizer, so that two models see the same text before each
token. Only one tokenization of a passage is counted, the tokenizer's own.

Many tokens are evaluated at once, which rounds otherwise than one by one. In the reference backend that changes bits
by less than a millionth. llama.cpp computes with quantized weights differently for many tokens and for one: for Gemma
3 270M in 4 bits it gives 1.3325 bits a byte instead of 1.3304 on 3,000 bytes of this project's own text.

Chapter: New words for an old model. Cost: one call of the model for 64 tokens.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.progress import progress_bar
from .._support.textio import utf8
from ..errors import ConversationError
from .backends.base import Backend
from .opening import choose, open_with_fallback

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .models.find import ModelFiles

LONGEST_PASSAGE = 1_024
"""The most bytes in a passage; fewer if the model's context holds less than twice as many tokens."""
AT_ONCE = 64
"""The most tokens that a model evaluates at once. More aren't faster, and their logits take memory: 1 MB a token for
a vocabulary of 262,144."""


def bits_per_byte(
    model: "str | Path | ModelFiles | Backend | None",
    text: str,
    *,
    tokenizer: "BPETokenizer | None" = None,
    start: Sequence[int] | None = None,
    backend: str = "auto",
    progress: bool | None = False,
    **options: Any,
) -> float:
    """Return the bits that a model needs per byte of a text.

    Args:
        model: as for `ChatSession`; an opened backend also needs `tokenizer`.
        tokenizer: by default the model's own.
        start: the ids before each passage, such as those of a question whose answer is measured; by default the
            tokenizer's bos token, or else its eos token.
        backend: one of BACKENDS, or "auto".
        progress: whether to show a progress bar of the tokens: True, False, or None to show one only in a terminal.
        options: n_ctx, n_gpu_layers, threads, device, as for `open_backend`.

    Raises ConversationError for an empty text, or if there is no token to start with; ModelFileError,
    BackendError and MissingDependencyError as `ChatSession` does.

    >>> from bpelab.chat import ChatSession
    >>> question = [{"role": "user", "content": "What is a token?"}]
    >>> asked = ChatSession().tokenizer.apply_chat_template(question, add_generation_prompt=True)
    >>> answer = "A token is a piece of text that a model reads as one unit"
    >>> round(bits_per_byte(None, answer, start=asked), 2), round(bits_per_byte(None, answer[::-1], start=asked), 1) > 8
    (0.0, True)
    """
    unknown = sorted(options.keys() - {"n_ctx", "n_gpu_layers", "threads", "device"})
    if unknown:
        raise TypeError(f"bits_per_byte has no option {unknown[0]!r}")
    if isinstance(model, Backend):
        opened = model
        if tokenizer is None:
            raise TypeError("an opened backend comes without a tokenizer: pass one as tokenizer")
    else:
        from .models.find import ModelFiles, find_model

        files = model if isinstance(model, ModelFiles) else find_model(model)
        tokenizer = files.tokenizer() if tokenizer is None else tokenizer
        asked = {"n_ctx": None, "n_gpu_layers": None, "threads": None, "device": None, **options}
        opened = open_with_fallback(choose(backend, files).backend, files, asked)
    before = start_ids(tokenizer) if start is None else list(start)
    if not before:
        raise ConversationError("start is empty, but the first token needs one before it")
    size = min(LONGEST_PASSAGE, (opened.context - len(before)) // 2)
    if size < 4:
        raise ConversationError(f"a context of {opened.context:,} ids has no room for text after {len(before):,}")
    if not text:
        raise ConversationError("the text is empty, so there is nothing to measure")
    rows = [tokenizer.encode(passage, add_special_tokens=False) for passage in passages(text, size)]
    bits = 0.0
    with progress_bar(progress, sum(map(len, rows)), "measuring", " tokens") as advance:
        for row in rows:
            for at in range(0, len(row), AT_ONCE):
                part = row[at : at + AT_ONCE]
                logits = opened.last_logits([*before, *row[: at + len(part) - 1]], len(part))
                bits += sum(map(_bits, logits, part))
                advance(len(part))
    return bits / len(utf8(text))


def passages(text: str, size: int) -> Iterator[str]:
    """Yield a text in parts of at most `size` bytes each, cut before a space if the second half has one.

    >>> list(passages("one two three four", 8)), list(passages("ééé", 4))
    (['one two', ' three', ' four'], ['éé', 'é'])
    """
    data = utf8(text)
    while len(data) > size:
        cut = data.rfind(b" ", size // 2, size + 1)
        if cut < 1:
            cut = size
            while data[cut] & 0xC0 == 0x80:
                cut -= 1
        yield data[:cut].decode()
        data = data[cut:]
    yield data.decode()


def start_ids(tokenizer: "BPETokenizer") -> list[int]:
    """Return the ids before a text: the bos token, or else the eos token. Raises ConversationError for neither."""
    found = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    if found is None:
        raise ConversationError("the tokenizer has neither a bos nor an eos token: pass the ids to start with as start")
    return [found]


def _bits(logits: Any, token: int) -> float:
    """Return the bits of one token: minus the logarithm of its probability."""
    import numpy as np

    exact = logits.astype(np.float64)
    highest = exact.max()
    return float((np.log(np.exp(exact - highest).sum()) + highest - exact[token]) / np.log(2))
