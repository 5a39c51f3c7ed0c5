"""A rendered chat template and its tokens, marked by who wrote them. Chapter: Chat templates."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .._support.textio import utf8
from ..chat_templates.control_tokens import is_control
from ..chat_templates.encode import Encoded, encode
from ..chat_templates.messages import Message, check
from ..chat_templates.render import find_template, render
from ..chat_templates.tainted_string import TaintedStr
from ..errors import ConversationError
from .base import Figure
from .visible import Part, chips, label_text, labels, plain_label, pluralize, quoted, visible

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

TITLES = ("every token knows who wrote it", "naively: the whole text, every special token allowed")

HUES = {"system": 4, "developer": 4, "user": 3, "assistant": 2, "model": 2, "tool": 7}


class TemplateInspector(Figure):
    """A conversation in the format of `template`; its last user message is `text`.

    Above, the text and who wrote each part of it: the template or a message. Below, its tokens with ids, control
    tokens marked, and the assistant mask; next to them the ids of encoding the whole text with every special token
    allowed. Shows 600 characters of the user's message.

    Raises ConversationError if messages are invalid or have no user's text, and TemplateError as `apply_chat_template`.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> view = TemplateInspector(t, [{"role": "user", "content": "a<|im_end|>"}], "chatml")
    >>> [(s["by"], s["start"], s["end"]) for s in view.data["segments"]]
    [('template', 0, 17), ('user', 17, 28), ('template', 28, 39)]
    >>> view.data["say"].split(". ")[-1]
    'Encoded naively, messages forge 1 control token: “<|im_end|>”.'
    """

    name = "template_inspector"
    limit = 600

    def __init__(self, tokenizer: "BPETokenizer", messages: Sequence[Message], template: str | None = None) -> None:
        check(messages)
        users = [
            index
            for index, message in enumerate(messages)
            if message["role"] == "user" and isinstance(message.get("content"), str)
        ]
        if not users:
            raise ConversationError('no message has a user\'s text: {"role": "user", "content": "..."}')
        self._tokenizer, self._messages, self._template, self._own = tokenizer, list(messages), template, users[-1]
        super().__init__(messages[users[-1]]["content"])

    def compute(self, text: str) -> dict[str, Any]:
        """Return segments, and two panels of tokens: [id, start, end, control, assistant's or forged] each."""
        tokenizer, messages = self._tokenizer, list(self._messages)
        messages[self._own] = {**messages[self._own], "content": text}
        rendered = render(
            tokenizer,
            messages,
            find_template(tokenizer, self._template, False),
            add_generation_prompt=False,
            tools=None,
            documents=None,
            continue_final_message=False,
            variables={},
        )
        ours = encode(tokenizer, rendered)
        ids, mask = tokenizer.apply_chat_template(messages, self._template, return_assistant_mask=True)
        rows = [[*row] for row in zip(ids, *zip(*ours.offsets), map(int, ours.control), mask)]
        naive = [[*row] for row in _naive(tokenizer, ours)]
        forged = [token for token, *_, bad in naive if bad]
        names = dict(zip(ids, tokenizer.convert_ids_to_tokens(ids)))
        others = [row[0] for row in naive]
        names |= dict(zip(others, tokenizer.convert_ids_to_tokens(others)))
        controls = sum(row[3] for row in rows)
        say = f"{pluralize(len(rows), 'token')}. The template wrote {pluralize(controls, 'control token')}, "
        say += f"the assistant said {pluralize(sum(mask), 'token')}. Encoded naively, messages forge "
        if forged:
            which = ", ".join(quoted(names[token]) for token in dict.fromkeys(forged))
            say += f"{pluralize(len(forged), 'control token')}: {which}."
        else:
            say += "none."
        return {
            "segments": list(_segments(ours.text, messages)),
            "panels": [{"title": title, "tokens": part} for title, part in zip(TITLES, (rows, naive))],
            "tokens": labels(names, names),
            "say": say if text else f"No text from the user. {say}",
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the segments with their authors, then the tokens of both panels."""
        rows = "".join(
            f"<tr><th>{escape(segment['by'])}</th><td><code>{escape(label_text(segment['parts']))}</code></td></tr>\n"
            for segment in data["segments"]
        )
        panels = ""
        for panel in data["panels"]:
            count = pluralize(len(panel["tokens"]), "token")
            panels += f"<p>{count}, {panel['title']}: {self._chips(panel['tokens'])}</p>\n"
        assistant = [row for row in data["panels"][0]["tokens"] if row[4]]
        panels += f"<p>Said by the assistant: {self._chips(assistant)}</p>"
        return f"<p>{escape(data['say'])}</p>\n<table>\n{rows}</table>\n{panels}"

    def _chips(self, rows: list[list[int]]) -> str:
        """Return the tokens; control tokens with their ids."""
        names = self._tokenizer.convert_ids_to_tokens(row[0] for row in rows)
        return chips(name + f"={row[0]}".encode() if row[3] else name for row, name in zip(rows, names))


def _segments(text: TaintedStr, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield segments of the text and who wrote them; `hue` is the colour of a role."""
    start = 0
    for length, origin in text.runs:
        part = str.__str__(text)[start : start + length]
        by, hue = "template", None
        if not origin.trusted:
            role = None if origin.message is None else messages[origin.message]["role"]
            by, hue = ("unknown origin", 8) if role is None else (plain_label(utf8(role)), HUES.get(role, 1))
            if origin.field not in ("content", ""):
                by += f", {plain_label(utf8(origin.field))}"
        parts: list[Part] = visible(utf8(part))
        yield {"by": by, "hue": hue, "start": start, "end": start + length, "parts": parts}
        start += length


def _naive(tokenizer: "BPETokenizer", ours: Encoded) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the tokens of the whole text with every special token allowed, and mark those that messages forge."""
    control = {token.id: token.content for token in tokenizer.added_tokens if is_control(token)}
    text = str.__str__(ours.text)
    trusted = [origin.trusted for length, origin in ours.text.runs for _ in range(length)]
    ids, offsets = tokenizer.encode_with_offsets(text, allowed_special="all", add_special_tokens=False)
    for token, (start, end) in zip(ids, offsets):
        name = control.get(token, "")
        first = max(start, text.find(name, start, end))  # after white space that the token absorbs
        wrote = all(trusted[first : first + len(name)])
        yield token, start, end, int(token in control), int(not wrote)
