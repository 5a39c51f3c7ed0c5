"""A question for the model that comes with bpelab: what it is given, what it says, and what would be right.

On a page nothing is answered before a reader asks. Then the weights are loaded (`js/page.js`, or by a message to the
kernel), and `js/language_model.js` runs the model. With other tokenizers beside the model's own it shows what becomes
of their ids; with constraints, which tokens an answer has under each. Chapters: A language model in one page; A model
answers; One byte at a time. Size: 8 kB for a tokenizer of 1,024 tokens, and a constraint's automaton of tokens.
"""

from collections.abc import Mapping
from html import escape
from typing import Any, ClassVar, Literal

from .._support.textio import valid_text
from ..constraints import Constraint
from ..constraints.automaton import token_automaton
from ..errors import BPELabError
from ..tokenizer import BPETokenizer
from .model_view import MAX_NEW_TOKENS, ModelFigure, shipped_model
from .trained_data import trained_data
from .visible import chips, plain_label, pluralize, quoted

OWN, ANY = "the model's own tokenizer", "any text"


class AskModel(ModelFigure):
    """A question, and the shipped model's answer to it when a reader presses the button.

    Each of `others` (title -> tokenizer) can be chosen to make the ids instead of the model's own tokenizer. They must
    be as `Playground` wants them, and have the model's control tokens with its ids; others raise BPELabError.
    With `own_file` a reader may choose a tokenizer's file too, of any size: the figure shows which of its ids the model
    has, and asks it if it has all of them. Instead, each of `constraints` (title -> constraint) can be chosen for the
    answer; they are for the model's tokenizer, and small (`token_automaton`). Takes the first 200 bytes of a text; an
    answer has at most `max_new_tokens` tokens. Needs numpy.

    >>> AskModel("What comes after 41?").data["say"]
    'The model is given 16 numbers, and says “After·4·comes·5.”.'
    """

    name = "ask_model"
    limit = 200
    unit: ClassVar[Literal["byte", "character"]] = "byte"

    def __init__(
        self,
        text: str,
        others: Mapping[str, BPETokenizer] | None = None,
        *,
        constraints: Mapping[str, Constraint] | None = None,
        own_file: bool = False,
        max_new_tokens: int = MAX_NEW_TOKENS,
    ) -> None:
        self._files, own, self._constant = shipped_model()
        self._tokenizers = {OWN: own, **(others or {})}
        for title, tokenizer in self._tokenizers.items():
            if tokenizer.special_tokens != own.special_tokens:
                raise BPELabError(f"{title}: its control tokens are not the model's, with the model's ids")
        self._constraints = constraints or {}
        if self._constraints and (others or own_file):
            raise BPELabError("constraints are for the model's own tokenizer: they go without others and own_file")
        for title, constraint in self._constraints.items():
            if constraint.tokenizer != own:
                raise BPELabError(f"{title}: the constraint is for another tokenizer than the model's")
        self._own_file, self._most = own_file, max_new_tokens
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return what the page needs to ask the model, and a sentence with the answer to the text."""
        own = self._tokenizers[OWN]
        prompt, answer = self._answer(own, text)
        keys = ("prompt", "config", "stop")
        return {
            "question": text,
            "vocabularies": [
                {"title": ANY if self._constraints else valid_text(title), "tokenizer": trained_data(title, each)}
                for title, each in self._tokenizers.items()
            ],
            "constraints": [_constraint_data(title, each) for title, each in self._constraints.items()],
            "own_file": self._own_file,
            "max_new_tokens": self._most,
            "say": (
                f"The model is given {pluralize(len(prompt), 'number')}, "
                f"and says {quoted(own.decode_bytes(answer), 200)}."
            ),
            **{key: self._constant[key] for key in keys},
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return for each tokenizer the tokens of the prompt with their ids, and the answer; that under constraints."""
        own, parts = self._tokenizers[OWN], []
        for title, tokenizer in self._tokenizers.items():
            prompt, answer = self._answer(tokenizer, data["question"])
            tokens = chips(tokenizer.convert_ids_to_tokens(prompt))
            parts.append(
                f"<p>With {escape(title)} the model is given {tokens}, that is {' '.join(map(str, prompt))}</p>\n"
                f"<p>It says {escape(plain_label(own.decode_bytes(answer)))}</p>"
            )
        for title, constraint in self._constraints.items():
            answer = self._answer(own, data["question"], constraint)[1]
            parts.append(f"<p>If the answer is {escape(title)}: {chips(own.convert_ids_to_tokens(answer))}</p>")
        return "\n".join(parts)

    def _answer(
        self, tokenizer: BPETokenizer, text: str, constraint: Constraint | None = None
    ) -> tuple[list[int], list[int]]:
        """Return the prompt's ids by a tokenizer, and those of the model's answer."""
        from ..chat.backends import open_backend
        from ..chat.generation import generate

        template = self._tokenizers[OWN].spec.metadata["chat_template"]
        message = [{"role": "user", "content": text}]
        prompt = tokenizer.apply_chat_template(message, template, add_generation_prompt=True)
        model, stop = open_backend("reference", self._files), frozenset(self._files.stop_ids)
        matcher = None if constraint is None else constraint.matcher()
        answer = generate(model, prompt, max_new_tokens=self._most, stop=stop, matcher=matcher)
        return prompt, [made.id for made in answer]


def _constraint_data(title: str, constraint: Constraint) -> dict[str, Any]:
    transitions, finals = token_automaton(constraint)
    return {"title": valid_text(title), "transitions": transitions, "finals": sorted(finals)}
