"""The shipped model at work: a question's tokens, their rows, where attention looks, and what could come next.

The page holds a recording of one answer, computed with the reference backend. When a reader asks something else, or
chooses another token, the weights are loaded (`js/page.js`, or by a message to the kernel), and `js/language_model.js`
runs the model there. Chapter: A language model in one page. Size: about 2 kB for each token of the recording.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..tokenizer import BPETokenizer
from .base import Figure
from .trained_data import trained_data
from .visible import chips, plain_label, pluralize

if TYPE_CHECKING:
    from ..chat.backends.llama_weights import Array
    from ..chat.backends.reference import ReferenceBackend
    from ..chat.models.find import ModelFiles

EXAMPLES = ['How many r are in "strawberry"?', "What is a token?", "What comes after 41?", 'Spell "lamp" backwards.']
PLACE = "\ufffc"
"""Stands for the question in the prompt: what a template puts around a message is the same for all."""
BEST = 8
"""How many tokens are shown that could come next."""
MAX_NEW_TOKENS = 64
"""How long an answer to a reader may be."""


class ModelFigure(Figure):
    """A figure whose front end runs the shipped model, once it has asked the kernel for the weights."""

    _files: "ModelFiles"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.on_msg(self._on_message)

    def _on_message(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and content.get("kind") == "weights":
            self.send({"kind": "weights"}, [self._files.safetensors[0].read_bytes()])


class ModelView(ModelFigure):
    """The model that comes with bpelab answers `text`, token by token, with all that leads to each token.

    The model answers greedily, with at most `max_new_tokens` tokens. Records the answer to the first 80 bytes; a reader
    may ask longer questions. Needs numpy.

    >>> view = ModelView("What comes after 41?", max_new_tokens=3)
    >>> view.data["ids"][view.data["asked"] :], view.data["best"][view.data["asked"] - 1][0][0]
    ([454, 383, 387], 454)
    """

    name = "model_view"
    limit = 80
    unit: ClassVar[Literal["byte", "character"]] = "byte"

    def __init__(self, text: str, *, max_new_tokens: int = 40) -> None:
        self._files, self._tokenizer, self._constant = shipped_model()
        self._most = max_new_tokens
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the tokens of question and answer, and for each the numbers that the model computed."""
        from ..chat.backends import open_backend
        from ..chat.backends.reference import ReferenceBackend
        from ..chat.generation import generate

        model, stop = open_backend("reference", self._files), frozenset(self._files.stop_ids)
        assert isinstance(model, ReferenceBackend)
        prompt = self._tokenizer.apply_chat_template(_message(text), add_generation_prompt=True)
        answer = [made.id for made in generate(model, prompt, max_new_tokens=self._most, stop=stop)]
        steps = trace(model, [*prompt, *answer])
        said = self._tokenizer.decode(answer)
        return {
            "question": text,
            "asked": len(prompt),
            "ids": [*prompt, *answer],
            "best": [[[token, round(float(shares[token]), 4)] for token in _best(shares)] for shares, _, _ in steps],
            "came": [round(float(shares[token]), 4) for (shares, _, _), token in zip(steps, [*prompt, *answer][1:])],
            "attention": _packed(255 * weights for _, _, seen in steps for weights in seen),
            "rows": _packed(127 * row / abs(row).max() for _, rows, _ in steps for row in rows),
            "most": self._most,
            "say": f"The model answers with {pluralize(len(answer), 'token')}: “{plain_label(said.encode())}”.",
            **self._constant,
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens of question and answer, and what the model expected before the answer."""
        tokens = self._tokenizer.convert_ids_to_tokens(data["ids"])
        rows = "".join(
            f"<tr><td>{token}</td><td><code>{escape(plain_label(self._tokenizer.convert_ids_to_tokens([token])[0]))}</code></td>"
            f"<td>{share:.3f}</td></tr>\n"
            for token, share in data["best"][data["asked"] - 1]
        )
        return (
            f"<p>The model reads {chips(tokens[: data['asked']])}</p>\n"
            f"<p>It says {chips(tokens[data['asked'] :])}</p>\n"
            f"<p>{escape(data['say'])} Before its first token it expected</p>\n"
            f"<table>\n<tr><th>id</th><th>token</th><th>probability</th></tr>\n{rows}</table>"
        )


@lru_cache(1)
def shipped_model() -> "tuple[ModelFiles, BPETokenizer, dict[str, Any]]":
    """Return the files of the shipped model, its tokenizer, and what the front end knows of both."""
    from ..chat.models.find import find_model

    files = find_model()
    tokenizer, config = files.tokenizer(), dict(files.config)
    sizes = {"layers": "num_hidden_layers", "heads": "num_attention_heads", "width": "hidden_size"}
    return (
        files,
        tokenizer,
        {
            "shape": {name: config[key] for name, key in sizes.items()},
            "tokenizer": trained_data("the model's tokenizer", tokenizer),
            "prompt": prompt_parts(tokenizer),
            "config": config,
            "stop": [*files.stop_ids],
            "max_new_tokens": MAX_NEW_TOKENS,
            "examples": EXAMPLES,
        },
    )


Step = tuple["Array", list["Array"], list["Array"]]


def trace(model: "ReferenceBackend", ids: list[int]) -> list[Step]:
    """Return three things for each id: the next token's probabilities, of shape (vocabulary,); the id's row as it is
    looked up, and as each layer leaves it; and each layer's attention weights, of shape (heads, ids so far)."""
    steps, rows, seen = [], list["Array"](), list["Array"]()

    def record(weights: "Array", row: "Array") -> None:
        seen.append(weights[:, -1])
        rows.append(row[-1])

    model.record = record
    try:
        for size in range(1, len(ids) + 1):
            rows, seen = [model.weights.embedding[ids[size - 1]]], []
            logits = model.next_logits(ids[:size])
            steps.append((_softmax(logits), rows, seen))
    finally:
        model.record = None
    return steps


def _softmax(logits: "Array") -> "Array":
    import numpy as np

    powers: Array = np.exp(logits - logits.max())
    powers /= powers.sum()
    return powers


def _best(shares: "Array") -> list[int]:
    """Return the ids of the most probable tokens, the lowest first among equals."""
    return [int(token) for token in (-shares).argsort(kind="stable")[:BEST]]


def _packed(parts: "Iterable[Array]") -> str:
    """Return numbers from -128 to 255 as bytes in base64."""
    import numpy as np

    return b64encode(b"".join(np.rint(part).astype(np.int16).astype(np.uint8).tobytes() for part in parts)).decode()


def prompt_parts(tokenizer: BPETokenizer) -> list[int | str]:
    """Return what the template makes of a question: ids of control tokens, and texts, with PLACE for the question.

    >>> from bpelab.chat import ChatSession
    >>> prompt_parts(ChatSession().tokenizer)
    [1022, 'user\\n\ufffc', 1023, '\\n', 1022, 'assistant\\n']
    """
    text = tokenizer.apply_chat_template(_message(PLACE), add_generation_prompt=True, tokenize=False)
    names = tokenizer.special_tokens
    parts = re.split(f"({'|'.join(map(re.escape, names))})", text)
    return [names.get(part, part) for part in parts if part]


def _message(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]
