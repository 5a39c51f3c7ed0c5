"""Stop tokens: the end-of-text and end-of-turn ids at which an answer ends.

They are collected from every source that may name them, since none is certain to: the model's files, the tokenizer's
end-of-text token, and the template, which writes a control token right after an assistant's text. They are ids, never
strings: a text that spells a control token doesn't end an answer.

Chapter: A model answers. Cost: one rendering of three short messages.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..chat_templates.apply import apply_chat_template
from ..chat_templates.control_tokens import is_control
from ..errors import ConversationError, TemplateError

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

PROBE = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"},
    {"role": "user", "content": "c"},
]


def stop_ids(
    tokenizer: "BPETokenizer",
    template: str | None = None,
    of_model: Iterable[int] = (),
    variables: Mapping[str, Any] | None = None,
) -> frozenset[int]:
    """Return the ids at which an answer ends: `of_model`, from the model's files, and the tokenizer's and template's.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("a", 259, special_tokens=["<|im_start|>", "<|im_end|>", "<|eos|>"], eos_token="<|eos|>")
    >>> sorted(t.id_to_token(i) for i in stop_ids(t, "chatml"))
    [b'<|eos|>', b'<|im_end|>']
    """
    found = {*of_model, tokenizer.eos_token_id, _end_of_turn_token(tokenizer, template, variables or {})}
    return frozenset(token for token in found if token is not None)


def _end_of_turn_token(tokenizer: "BPETokenizer", template: str | None, variables: Mapping[str, Any]) -> int | None:
    """Return the control token that the template writes right after an assistant's text, or None.

    The assistant mask, as used in training, ends with that token. None also for a template that refuses the three
    messages, such as one for completions.
    """
    try:
        ids, mask = apply_chat_template(
            tokenizer, PROBE, template, return_assistant_mask=True, template_variables=variables
        )
    except (ConversationError, TemplateError):
        return None
    generated = [token for token, own in zip(ids, mask) if own]
    controls = {token.id for token in tokenizer.added_tokens if is_control(token)}
    return generated[-1] if generated and generated[-1] in controls else None
