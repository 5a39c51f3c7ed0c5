"""Prefix check: whether a template only appends, so that a conversation's earlier ids are a prefix of its later ones.

If it does, the KV cache of the earlier ids stays valid, and a model is trained on exactly what it generated. If it
doesn't, a short conversation shows it. Either its text changes: the template removes thinking from earlier answers,
moves a system message to the start, trims white space, writes a date, or starts answers differently from the generation
prompt. Or only its ids do: the text grows, and the end of the generation prompt and the start of an answer, such as two
line breaks, become one token. This search only tries examples. That a template writes its text in order can be proved:
`template_order` reads its source.

Chapter: The ids that were never yours. Cost: a few hundred renderings of short conversations, less than a second for
most templates.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConversationError, TemplateError
from .apply import apply_chat_template
from .divergence import Divergence, divergence
from .messages import SPEAKERS, Message
from .render import find_template
from .template_order import writes_in_order

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

QUESTIONS = ("Is it?", " Is it?\n")
ANSWERS: tuple[Mapping[str, Any], ...] = (
    {"content": "It is."},
    {"content": " It is.\n"},
    {"content": "\nIt is."},
    {"content": ""},
    {"content": "<think>\nWell.\n</think>\n\nIt is."},
    {"content": "It is.", "reasoning_content": "Well."},
    {
        "content": "",
        "tool_calls": [{"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {}}}],
    },
)


class PrefixCheck(NamedTuple):
    """The result of the check.

    Attributes:
        preserving: whether no counterexample was found.
        preserves_text: whether none was found in which the text changes. A `Conversation` is then right about the
            text, and its ids differ from the template's only where a token would cross from the prompt into an answer.
        proved: whether the template's source proves that it always writes the messages in order. Tokens and the start
            of an answer are only checked by example.
        conversations: how many were tried.
        counterexample: the messages of the first conversation whose text changes; if there is none, of the first whose
            ids do; or None.
        divergence: where the ids of all its messages, or of its last prompt, differ from the ids before; or None.
    """

    preserving: bool
    preserves_text: bool
    proved: bool
    conversations: int
    counterexample: list[Message] | None
    divergence: Divergence | None

    def __str__(self) -> str:
        if self.divergence is not None and self.counterexample is not None:
            what = "prefix-preserving as text, but not as ids" if self.preserves_text else "not prefix-preserving"
            place, reason = self.divergence.place, self.divergence.reason
            return f"{what}: message {len(self.counterexample)} changes id {place}: {reason}"
        ground = "its source writes messages in order, and " if self.proved else ""
        return f"prefix-preserving: {ground}ids only grow in {self.conversations:,} conversations"


def check_prefixes(
    tokenizer: "Tokenizer",
    template: str | None = None,
    *,
    conversations: Iterable[Sequence[Message]] | None = None,
    **options: Any,
) -> PrefixCheck:
    """Look for a conversation whose ids don't begin with the ids of its first messages.

    Args:
        template: as for `apply_chat_template`.
        conversations: what to try; by default short ones with content that some templates treat specially.
        options: tools, documents and variables, as for `apply_chat_template`.

    The generation prompt before an answer is a step of its own: the ids without it are the first of those with it, and
    these, the model's input, are the first of those with the answer. Conversations that the template refuses are
    skipped. Raises what `apply_chat_template` raises for the options.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user assistant", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> print(check_prefixes(t, "chatml"))
    prefix-preserving: its source writes messages in order, and ids only grow in 254 conversations
    """
    proved = writes_in_order(find_template(tokenizer, template, options.get("tools") is not None))
    rendered: dict[str, list[int] | None] = {}

    def render(messages: Sequence[Message], prompt: bool) -> list[int] | None:
        """Return the ids, or None if the template refuses; cached, since conversations share their beginnings."""
        key = json.dumps([messages, prompt])
        if key not in rendered:
            try:
                rendered[key] = apply_chat_template(
                    tokenizer, messages, template, add_generation_prompt=prompt, **options
                )
            except (ConversationError, TemplateError):
                rendered[key] = None
        return rendered[key]

    def text_of(messages: Sequence[Message], prompt: bool) -> str:
        return apply_chat_template(  # type: ignore[no-any-return]
            tokenizer, messages, template, add_generation_prompt=prompt, tokenize=False, **options
        )

    tried, by_ids_alone = 0, None
    for messages in short_conversations() if conversations is None else conversations:
        accepted = False
        for number in range(1, len(messages)):
            prompt = [(messages[:number], True)] if messages[number]["role"] in SPEAKERS else []
            for step in pairwise([(messages[:number], False), *prompt, (messages[: number + 1], False)]):
                before, after = (render(*each) for each in step)
                if before is None or after is None:
                    continue
                accepted = True
                if (difference := divergence(tokenizer, before, after)) is not None:
                    counterexample = list(messages[: number + 1])
                    text, longer = (text_of(*each) for each in step)
                    if not longer.startswith(text):
                        return PrefixCheck(False, False, proved, tried + 1, counterexample, difference)
                    by_ids_alone = by_ids_alone or (counterexample, difference)
        tried += accepted
    return PrefixCheck(by_ids_alone is None, True, proved, tried, *(by_ids_alone or (None, None)))


def short_conversations() -> Iterator[list[Message]]:
    """Yield conversations of one and of two turns, with and without a system message; then with one after an answer."""
    rounds = [[*_turn(question, answer)] for answer, question in product(ANSWERS, QUESTIONS)]
    systems: tuple[list[Message], ...] = ([], [{"role": "system", "content": "Be brief."}])
    follow_up: Message = {"role": "user", "content": "And now?"}
    late: Message = {"role": "system", "content": "Be kind."}
    for system, first in product(systems, rounds):
        yield [*system, *first]
    for system, first in product(systems, rounds):
        yield [*system, *first, follow_up]
    for system, first, second in product(systems, rounds, rounds[::2]):
        yield [*system, *first, *second]
    for system in systems:
        yield [*system, *rounds[0], late, *rounds[0]]


def _turn(question: str, answer: Mapping[str, Any]) -> Iterator[Message]:
    yield {"role": "user", "content": question}
    yield {"role": "assistant", **answer}
    if "tool_calls" in answer:
        yield {"role": "tool", "name": "f", "tool_call_id": "abcdefghi", "content": "1"}
        yield {"role": "assistant", "content": "It is 1."}
