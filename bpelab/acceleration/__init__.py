"""Acceleration of transformers' fast tokenizers: bpelab encodes and decodes for them, with equal results.

`accelerate` changes a tokenizer's class to a subclass with the same name, which overrides the methods that tokenizer
authors override (`_encode_plus`, `decode`, `_decode`, `_add_tokens`). Calls that `calls.py` or `decoding.py` supports
are served in C, and all others by the original. Nothing in transformers is replaced, and other tokenizers aren't
affected. This room may import all the components of a tokenizer, and transformers. Begin with `classes.py`.

A tokenizer is read (`reading.py`) into an engine (`engine.py`), compared with it (`checking.py`) and with its file
(`replaced_parts.py`), and read again after a change (`changes.py`). Encoding calls are in `calls.py`, with the lengths
of rows (`lengths.py`), the columns of a batch (`columns.py`), and the other information of a `BatchEncoding`
(`encodings.py`). Decoding calls are in `decoding.py`, and the class is in `classes.py`.
"""

from typing import Any, TypeVar

from ..errors import BackendError

__all__ = ["accelerate", "undo"]

T = TypeVar("T")
MIN_TRANSFORMERS = 5
"""The first version of transformers whose fast tokenizers encode in one method, `_encode_plus`."""
FAST = "accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it"


def accelerate(tokenizer: T) -> T:
    """Have bpelab encode and decode for a fast tokenizer of transformers; return the same object.

    Every call gives the same results as before: ids, masks, tensors, errors, warnings. bpelab's results are compared
    with the original's on a sample and on every added token, here and after each change.

    Served in C: one text, or a list of texts, through `tokenizer(...)`, `encode` and `apply_chat_template`, with
    any padding, truncation, tensors, token type ids and masks; `decode` and `batch_decode` of byte-level models.

    Left to the original: `tokenize`, pairs of texts, words (`is_split_into_words`), `return_offsets_mapping`,
    `return_overflowing_tokens`, `stride`, `split_special_tokens`, texts with lone surrogates, unknown arguments,
    decoding a dozen ids, and decoding for models whose tokens aren't bytes. The methods of a `BatchEncoding` about
    characters and words (`char_to_token`, `word_ids`, `tokens`) are computed by the original's backend on first use.

    The tokenizer may be changed (`add_tokens`, `backend_tokenizer.post_processor = ...`, `padding_side`), copied,
    pickled, saved, and used by several threads and after a fork, as before: its parts are compared at every call. Two
    changes may go unnoticed if they are made through a backend obtained earlier, or through the private `_tokenizer`:
    making a token of the vocabulary an added token, and replacing the model by another of the same size. Accelerate
    the tokenizer again after those. `bpelab.acceleration.undo` reverts it.

    Args:
        tokenizer: what `AutoTokenizer.from_pretrained` returns, with a BPE model.

    Raises TypeError for anything but a fast tokenizer of transformers; BackendError, which names the reason, for an
    unsupported tokenizer, such as one with a WordPiece or a Unigram model, and for transformers 4;
    MissingDependencyError if bpelab's C extension isn't built. The tokenizer is then unchanged. If a later change
    makes a tokenizer unsupported, it works as the original does, after a RuntimeWarning. Another RuntimeWarning says if
    transformers replaced a part, as 5.5 does in DeepSeek V3's, so that its ids differ from those of the tokenizer.json.

    Cost: reading the tokenizer, about a second for 150,000 tokens, and some tenths after a change.

    >>> accelerate("gpt2")
    Traceback (most recent call last):
      ...
    TypeError: accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it, not a str
    """
    given: Any = tokenizer
    _check(given)
    from .changes import STATE_ATTRIBUTE, State
    from .classes import accelerated_class, original_of
    from .replaced_parts import warn_if_replaced

    kind: Any = type(given)
    if original_of(kind) is not None:
        given._bpelab_read()  # noqa: SLF001 - a method of our own class, named so that it hides nothing of theirs
        return tokenizer
    subclass, state = accelerated_class(kind), State()
    warn_if_replaced(given, state.read(given.backend_tokenizer))
    given.__dict__[STATE_ATTRIBUTE] = state
    given.__class__ = subclass
    return tokenizer


def undo(tokenizer: T) -> T:
    """Give an accelerated tokenizer its original class back; return the same object, with all changes made since.

    Raises TypeError for anything but a fast tokenizer of transformers.
    """
    given: Any = tokenizer
    _check(given)
    from .changes import STATE_ATTRIBUTE
    from .classes import original_of

    if (original := original_of(type(given))) is not None:
        given.__class__ = original
        given.__dict__.pop(STATE_ATTRIBUTE, None)
    return tokenizer


def _check(tokenizer: object) -> None:
    """Raise TypeError for anything but a fast tokenizer, BackendError for an old version of transformers."""
    name = type(tokenizer).__name__
    if type(tokenizer).__module__.partition(".")[0] == "tokenizers":
        raise TypeError(
            "accelerate takes a tokenizer of transformers: PreTrainedTokenizerFast(tokenizer_object=...), made of this "
            f"{name}, is one"
        )
    try:
        import transformers
    except ImportError:
        raise TypeError(f"{FAST}, not a {name}") from None
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        raise TypeError(f"{FAST}, not a {name}")
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerFast):
        raise TypeError(f"{FAST}; a {name} is written in Python and has no tokenizer.json")
    if int(transformers.__version__.partition(".")[0]) < MIN_TRANSFORMERS:
        raise BackendError(
            f"accelerate needs transformers {MIN_TRANSFORMERS} or newer; this is {transformers.__version__}"
        )
