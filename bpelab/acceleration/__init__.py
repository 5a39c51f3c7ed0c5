"""Tokenizers of transformers whose encoding and decoding bpelab does, with results that are equal.

`accelerate` gives a tokenizer a class of its own: a subclass of the one that it had, under the same name, which
overrides what the authors of tokenizers override (`_encode_plus`, `decode`, `_decode`, `_add_tokens`). A call is served
in C where it is one that `calls.py` or `decoding.py` serves, and is the original's where it is not. Nothing of
transformers is replaced, and other tokenizers don't notice.

A tokenizer is read (`reading.py`) into what serves it (`engine.py`), compared with that (`checking.py`), and read again
when it was changed (`changes.py`). Calls that encode are in `calls.py`, with the lengths of rows (`lengths.py`), the
columns of a batch (`columns.py`), and what a `BatchEncoding` knows beside them (`encodings.py`); calls that decode are
in `decoding.py`; the class is in `classes.py`.
"""

from typing import Any, TypeVar

from ..errors import BackendError

T = TypeVar("T")
OLDEST = 5
"""The first version of transformers whose fast tokenizers encode in one method, `_encode_plus`."""
FAST = "accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it"


def accelerate(tokenizer: T) -> T:
    """Have bpelab encode and decode for a fast tokenizer of transformers, and return it: the same object.

    Whatever it is asked, it returns what it returned before: ids, masks, tensors, errors, warnings. What bpelab reads
    is compared with the original on a sample and on every added token, here and after each change.

    Served in C: one text, or a list of texts, through `tokenizer(...)`, `encode` and `apply_chat_template`, with
    any padding, truncation, tensors, token type ids and masks; `decode` and `batch_decode` of byte-level models.

    Handed to the original: `tokenize`, pairs of texts, words (`is_split_into_words`), `return_offsets_mapping`,
    `return_overflowing_tokens`, `stride`, `split_special_tokens`, texts with lone surrogates, arguments that are not
    known here, a dozen ids to decode, and decoding for models whose tokens are not bytes. What is asked of a
    `BatchEncoding` about characters and words (`char_to_token`, `word_ids`, `tokens`) is worked out by the original's
    backend when it is asked.

    The tokenizer may be changed (`add_tokens`, `backend_tokenizer.post_processor = ...`, `padding_side`), copied,
    pickled, saved, and used by several threads and after a fork, as before: its parts are compared at every call. Two
    changes may pass unnoticed if they are made through a backend that was taken before, or through the private
    `_tokenizer`: a token of the vocabulary is made an added token, or another model of the same size is put in place of
    the model. Accelerate the tokenizer again after those. `bpelab.acceleration.undo` makes it what it was.

    Args:
        tokenizer: what `AutoTokenizer.from_pretrained` returns, with a BPE model.

    Raises TypeError for what is no fast tokenizer of transformers; BackendError, which names the reason, for one that
    isn't served, such as one with a WordPiece or a Unigram model, and for transformers 4; MissingDependencyError where
    bpelab's extension in C was not built. The tokenizer is then as it was. One that is changed later into one that
    isn't served works as before, after a RuntimeWarning.

    Cost: reading the tokenizer, about a second for 150,000 tokens, and some tenths after a change.

    >>> accelerate("gpt2")
    Traceback (most recent call last):
      ...
    TypeError: accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it, not a str
    """
    given: Any = tokenizer
    _check(given)
    from .changes import KEPT, State
    from .classes import accelerated, original_of

    kind: Any = type(given)
    if original_of(kind) is not None:
        given._bpelab_read()
        return tokenizer
    made, state = accelerated(kind), State()
    state.read(given.backend_tokenizer)
    given.__dict__[KEPT] = state
    given.__class__ = made
    return tokenizer


def undo(tokenizer: T) -> T:
    """Return an accelerated tokenizer as it was before: the same object, with what was changed in it since.

    Raises TypeError for what is no fast tokenizer of transformers.
    """
    given: Any = tokenizer
    _check(given)
    from .changes import KEPT
    from .classes import original_of

    if (original := original_of(type(given))) is not None:
        given.__class__ = original
        given.__dict__.pop(KEPT, None)
    return tokenizer


def _check(tokenizer: object) -> None:
    """Raise TypeError for what is no fast tokenizer, BackendError for one of an old version."""
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
        raise TypeError(f"{FAST}; a {name} is written in Python, and does without a tokenizer.json")
    if int(transformers.__version__.partition(".")[0]) < OLDEST:
        raise BackendError(f"accelerate needs transformers {OLDEST} or newer; this is {transformers.__version__}")
