"""A tokenizer of transformers twice, as it is and accelerated, and what a call makes of both."""

import json
import logging
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpelab

from ..conftest import fuzz_text

transformers = pytest.importorskip("transformers", minversion="5")
tokenizers = pytest.importorskip("tokenizers")

LOGGER = logging.getLogger("transformers.tokenization_utils_base")


class Twins:
    """One tokenizer.json, or the path of one, as two tokenizers; `same` calls both and compares."""

    def __init__(self, data: Any, **options: Any) -> None:
        if isinstance(data, Path):
            options["tokenizer_file"] = str(data)
        else:
            options["tokenizer_object"] = tokenizers.Tokenizer.from_str(json.dumps(data))
        self.plain, self.fast = (transformers.PreTrainedTokenizerFast(**options) for _ in range(2))
        assert bpelab.accelerate(self.fast) is self.fast

    def same(self, call: Any, *about: Any) -> Any:
        """What `call` of a tokenizer gives, which is the same for both."""
        expected = outcome(call, self.plain)
        assert expected is None or outcome(call, self.fast) == expected, about
        return expected

    def change(self, change: Any) -> None:
        """Do something to both."""
        for tokenizer in (self.plain, self.fast):
            change(tokenizer)


class _Said(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def outcome(call: Any, tokenizer: Any) -> Any:
    """What a call gives, warns of and logs; or its error. None where Rust panics, of which nothing is promised."""
    said = _Said()
    LOGGER.addHandler(said)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                value = plain(call(tokenizer))
            except Exception as error:
                value = type(error), str(error)
            except BaseException as error:
                if type(error).__name__ == "PanicException":
                    return None
                raise
        found = [(line.category, str(line.message)) for line in warned]
        return value, [line for line in found if "transformers continues without bpelab" not in line[1]], said.lines
    finally:
        LOGGER.removeHandler(said)


def plain(value: Any) -> Any:
    """Something whose `==` says whether two results are the same in all that can be asked of them."""
    if isinstance(value, transformers.BatchEncoding):
        encodings = [plain(encoding) for encoding in value.encodings]
        return type(value), [(key, plain(column)) for key, column in value.items()], encodings, value.n_sequences
    if isinstance(value, tokenizers.Encoding):
        names = ("ids", "type_ids", "tokens", "offsets", "word_ids", "sequence_ids", "attention_mask")
        return [getattr(value, name) for name in (*names, "special_tokens_mask")], [*map(plain, value.overflowing)]
    if isinstance(value, np.ndarray):
        rows = [*map(plain, value)] if value.dtype == object else value.tolist()  # rows of several lengths
        return "array", str(value.dtype), value.shape, rows
    if type(value) in (list, tuple):
        return type(value), [*map(plain, value)]
    return type(value), value


def asks(rng: random.Random) -> dict[str, Any]:
    """Options of a call at random, among them those that are handed over, that contradict each other, or are wrong."""
    rarely = (False, False, False, False, True)
    choices: dict[str, tuple[Any, ...]] = {
        "add_special_tokens": (True, False),
        "padding": (True, False, "longest", "max_length", "do_not_pad", "nonsense"),
        "truncation": (True, False, None, "longest_first", "only_first", "only_second", "do_not_truncate"),
        "max_length": (None, 0, 1, 2, 5, 8, 16, 40, np.int64(6), -1, 5.0),
        "stride": (0, 0, 0, 1, 2, None),
        "pad_to_multiple_of": (None, 0, 1, 4, 8, np.int64(3)),
        "padding_side": (None, "left", "right", "up"),
        "return_tensors": (None, "np", "np", "zz"),
        "return_token_type_ids": (None, True, False),
        "return_attention_mask": (None, True, False),
        "return_special_tokens_mask": (True, False, None),
        "return_length": (True, False),
        "return_offsets_mapping": rarely,
        "return_overflowing_tokens": rarely,
        "split_special_tokens": rarely,
        "is_split_into_words": rarely,
        "verbose": (True, False),
        "unheard_of": (1,),
    }
    probability = rng.choice((0.1, 0.3, 0.6))
    return {
        name: rng.choice(values)
        for name, values in choices.items()
        if rng.random() < (0.01 if name == "unheard_of" else probability)
    }


def inputs(rng: random.Random, names: list[str]) -> dict[str, Any]:
    """What may be encoded: a text, or several, or pairs, or words; with special tokens in them."""

    def text() -> str:
        parts = [fuzz_text(rng) for _ in range(rng.choice((0, 1, 1, 2)))]
        for name in rng.sample(names, min(len(names), rng.choice((0, 0, 1, 2)))):
            parts.insert(rng.randint(0, len(parts)), name)
        return "".join(parts)

    kind = rng.random()
    if kind < 0.4:
        return {"text": text()}
    count = rng.choice((0, 1, 2, 3, 7))
    texts: Any = [text() for _ in range(count)]
    if kind < 0.85:
        return {"text": tuple(texts) if rng.random() < 0.2 else texts}
    if kind < 0.9:
        return {"text": text(), "text_pair": rng.choice((text(), "", None))}
    if kind < 0.95:
        return {"text": texts, "text_pair": [text() for _ in range(rng.choice((count, count, 1)))]}
    return {"text": rng.choice((None, 7, b"bytes", [1, 2], [["a", "b"], ["c"]], ["a", None], {"a": 1}))}
