"""Acceleration of transformers' fast tokenizers: bpelab encodes and decodes for them, with equal results.

`accelerate` changes the class of a tokenizer to a subclass of the one that it had, under the same name, which overrides
what the authors of tokenizers override (`_encode_plus`, `decode`, `_decode`, `_add_tokens`). Calls that `calls.py` or
`decoding.py` supports are served in C, and all others by the original. Nothing in transformers is replaced, and other
tokenizers are not affected. It may import everything that a tokenizer is made of, and transformers. Begin with
`classes.py`.

A tokenizer is read (`reading.py`) into an engine (`engine.py`), compared with it (`checking.py`), and read again after
a change (`changes.py`). Calls that encode are in `calls.py`, with the lengths of rows (`lengths.py`), the columns of a
batch (`columns.py`), and the other information of a `BatchEncoding` (`encodings.py`); calls that decode are in
`decoding.py`; the class is in `classes.py`.
"""

from typing import Any, TypeVar

from ..errors import BackendError

T = TypeVar("T")
MIN_TRANSFORMERS = 5
"""The first version of transformers whose fast tokenizers encode in one method, `_encode_plus`."""
FAST = "accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it"


def accelerate(tokenizer: T) -> T:
    """Have bpelab encode and decode for a fast tokenizer of transformers, and return it: the same object.

    Every call returns what it returned before: ids, masks, tensors, errors, warnings. bpelab's results are compared
    with the original's on a sample and on every added token, here and after each change.

    Served in C: one text, or a list of texts, through `tokenizer(...)`, `encode` and `apply_chat_template`, with
    any padding, truncation, tensors, token type ids and masks; `decode` and `batch_decode` of byte-level models.

    Left to the original: `tokenize`, pairs of texts, words (`is_split_into_words`), `return_offsets_mapping`,
    `return_overflowing_tokens`, `stride`, `split_special_tokens`, texts with lone surrogates, arguments that are not
    known here, a dozen ids to decode, and decoding for models whose tokens are not bytes. What is asked of a
    `BatchEncoding` about characters and words (`char_to_token`, `word_ids`, `tokens`) is computed by the original's
    backend when it is asked.

    The tokenizer may be changed (`add_tokens`, `backend_tokenizer.post_processor = ...`, `padding_side`), copied,
    pickled, saved, and used by several threads and after a fork, as before: its parts are compared at every call. Two
    changes may pass unnoticed if they are made through a backend that was taken before, or through the private
    `_tokenizer`: a token of the vocabulary is made an added token, or another model of the same size is put in place of
    the model. Accelerate the tokenizer again after those. `bpelab.acceleration.undo` reverts it.

    Args:
        tokenizer: what `AutoTokenizer.from_pretrained` returns, with a BPE model.

    Raises TypeError for anything but a fast tokenizer of transformers; BackendError, which names the reason, for one
    that isn't served, such as one with a WordPiece or a Unigram model, and for transformers 4; MissingDependencyError
    where bpelab's C extension was not built. The tokenizer is then unchanged. One that is later changed so that it is
    no longer served works as before, after a RuntimeWarning.

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

    kind: Any = type(given)
    if original_of(kind) is not None:
        given._bpelab_read()  # noqa: SLF001 - a method of our own class, named so that it hides nothing of theirs
        return tokenizer
    subclass, state = accelerated_class(kind), State()
    state.read(given.backend_tokenizer)
    given.__dict__[STATE_ATTRIBUTE] = state
    given.__class__ = subclass
    return tokenizer


def undo(tokenizer: T) -> T:
    """Return an accelerated tokenizer to its original class: the same object, with the changes made since.

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
    """Raise TypeError for anything but a fast tokenizer, BackendError for one of an old version."""
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
