"""Tokenizers of transformers whose encoding and decoding bpelab does, with results that are equal.

`accelerate` gives a tokenizer a class of its own: a subclass of the one that it had, under the same name, in which
`_encode_plus`, `decode` and `_decode` are served in C where the call is one that they serve, and are the original's
where it is not (`calls.py` has the table). Nothing of transformers is replaced, and other tokenizers don't notice.

One file a part: what a tokenizer is read into (`engine.py`), whether it was changed since (`changes.py`), the columns
of a batch (`columns.py`), what a `BatchEncoding` knows beside them (`encodings.py`), calls (`calls.py`), and the class
(`classes.py`).
"""

from typing import TypeVar

from ..errors import BackendError

T = TypeVar("T")
OLDEST = 5
"""The first version of transformers whose fast tokenizers encode in one method, `_encode_plus`."""


def accelerate(tokenizer: T) -> T:
    """Have bpelab encode and decode for a fast tokenizer of transformers, and return it: the same object.

    All that it returns is equal to what it returned before: ids, masks, tensors, errors, warnings. What isn't served
    here is done as before: pairs, words (`is_split_into_words`), offsets, overflowing tokens, `stride`,
    `split_special_tokens`, and decoding for models whose tokens are not bytes. The tokenizer may be changed
    (`add_tokens`, `backend_tokenizer.post_processor = ...`), copied, pickled, saved, and used by several threads and
    after a fork, as before; `bpelab.acceleration.undo` makes it what it was. To accelerate it twice changes nothing.

    Args:
        tokenizer: what `AutoTokenizer.from_pretrained` returns, with a BPE model.

    Raises TypeError for what is no fast tokenizer of transformers 5 or newer, BackendError, which names the reason, for
    one that isn't served, such as one with a WordPiece or a Unigram model, and MissingDependencyError where bpelab's
    extension in C was not built; the tokenizer is then as it was. One that is changed later into one that isn't served
    works as before, after a RuntimeWarning.

    Cost: reading the tokenizer, about a second for 150,000 tokens, here and with the first call after a change. One
    change isn't noticed: a token of the vocabulary that is made an added token through the private `_tokenizer`.

    >>> accelerate("gpt2")
    Traceback (most recent call last):
      ...
    TypeError: accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it, not a str
    """
    _check(tokenizer)
    from .changes import KEPT, State
    from .classes import accelerated, accelerates

    if accelerates(type(tokenizer)) is None:
        made = accelerated(type(tokenizer))
        state = State()
        state.read(tokenizer.backend_tokenizer)  # type: ignore[attr-defined]
        vars(tokenizer)[KEPT] = state
        tokenizer.__class__ = made
    return tokenizer


def undo(tokenizer: T) -> T:
    """Return an accelerated tokenizer as it was before: the same object, with what was changed in it since.

    Raises TypeError for what is no fast tokenizer of transformers.
    """
    _check(tokenizer)
    from .changes import KEPT
    from .classes import accelerates

    if (original := accelerates(type(tokenizer))) is not None:
        tokenizer.__class__ = original
        vars(tokenizer).pop(KEPT, None)
    return tokenizer


def _check(tokenizer: object) -> None:
    """Raise TypeError for what is no fast tokenizer, BackendError for one of an old version."""
    name = type(tokenizer).__name__
    if (module := type(tokenizer).__module__).partition(".")[0] == "tokenizers":
        raise TypeError(
            f"accelerate takes a tokenizer of transformers: PreTrainedTokenizerFast(tokenizer_object=...), "
            f"made of this {name}, is one"
        )
    try:
        import transformers
    except ImportError:
        transformers = None
    if transformers is None or not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        raise TypeError(
            f"accelerate takes a fast tokenizer of transformers, as AutoTokenizer.from_pretrained returns it, not a {name}"
        )
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerFast):
        raise TypeError(f"{name} is no fast tokenizer: it is written in Python, and does without a tokenizer.json")
    if int(transformers.__version__.partition(".")[0]) < OLDEST:
        raise BackendError(f"accelerate needs transformers {OLDEST} or newer; this is {transformers.__version__}")
