"""Template pieces of a post-processor, as strings and as JSON.

`$A` and `$B` are the texts, anything else names a special token; `:1` after it is a type id, 0 by default. These
are Hugging Face's strings, with one addition: a name may have a colon. Cost: constant.

Chapter: Chat templates. Source: tokenizers/src/processors/template.rs.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import SpecialTokenError

_TYPED = re.compile(r"(.*):\+?(0*[0-9]{1,10})", re.DOTALL)
_TEXT = re.compile(r"\$(?:([AaBb]?)|\+?(0*[0-9]{1,10}))")
MAX_TYPE_ID = 2**32 - 1


class TemplatePiece(NamedTuple):
    """A text (0 for `$A`, 1 for `$B`) or, where `text` is None, the special token `name`."""

    text: int | None
    name: str
    type_id: int

    @classmethod
    def parse(cls, form: str) -> "TemplatePiece":
        """Return the piece that a string spells.

        >>> TemplatePiece.parse("$B:1"), TemplatePiece.parse("[SEP]")
        (TemplatePiece(text=1, name='', type_id=1), TemplatePiece(text=None, name='[SEP]', type_id=0))

        Raises SpecialTokenError for anything but a string, and for a type id that is too large.
        """
        if not isinstance(form, str):
            raise SpecialTokenError(f"a piece of a template is a string such as $A or [SEP]:1, not {str(form)[:40]!r}")
        typed = _TYPED.fullmatch(form)
        name, type_id = (typed[1], int(typed[2])) if typed else (form, 0)
        text = _TEXT.fullmatch(name)
        if text and text[2] and not typed:
            type_id = int(text[2])
        if type_id > MAX_TYPE_ID:
            raise SpecialTokenError(f"the type id in {form!r} is too large: {MAX_TYPE_ID} is the last one")
        return cls(int((text[1] or "A") in "Bb"), "", type_id) if text else cls(None, name, type_id)

    @classmethod
    def from_json(cls, data: Any) -> "TemplatePiece":
        """Return the piece of `{"Sequence": {"id": "A", "type_id": 0}}` or `{"SpecialToken": …}`.

        Raises SpecialTokenError for what is neither, and for a special token with the name of a text.
        """
        kind, entry = next(iter(data.items())) if isinstance(data, Mapping) and len(data) == 1 else ("", None)
        name, type_id = (entry.get("id"), entry.get("type_id")) if isinstance(entry, Mapping) else (None, None)
        if (
            kind not in ("Sequence", "SpecialToken")
            or not isinstance(name, str)
            or not isinstance(type_id, int)
            or isinstance(type_id, bool)
            or not 0 <= type_id <= MAX_TYPE_ID
            or (kind == "Sequence" and name not in ("A", "B"))
        ):
            raise SpecialTokenError(
                'a piece of a template is {"Sequence": {"id": "A" or "B", "type_id": 0}} or {"SpecialToken": {"id": '
                f'a name, "type_id": 0}}}}, not {str(data)[:60]}'
            )
        if kind == "SpecialToken" and _TEXT.fullmatch(name):
            raise SpecialTokenError(f"a special token named {name!r} can't be told from the text in a template")
        return cls("AB".index(name), "", type_id) if kind == "Sequence" else cls(None, name, type_id)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        if self.text is not None:
            return {"Sequence": {"id": "AB"[self.text], "type_id": self.type_id}}
        return {"SpecialToken": {"id": self.name, "type_id": self.type_id}}

    def __str__(self) -> str:
        """Return the string that `parse` reads, without the type id if it is 0 and the name can't be misread."""
        name = self.name if self.text is None else "$" + "AB"[self.text]
        return f"{name}:{self.type_id}" if self.type_id or _TYPED.fullmatch(name) else name


class TemplateToken(NamedTuple):
    """The ids that a special token's name in a template stands for, with their tokens."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, name: str, value: Any) -> "TemplateToken":
        """Make a TemplateToken of an id, another TemplateToken, or `{"ids": [...], "tokens": [...]}`.

        Raises SpecialTokenError for anything else.
        """
        if isinstance(value, int):
            value = {"ids": [value], "tokens": [name]}
        ids, tokens = (value.get("ids"), value.get("tokens")) if isinstance(value, Mapping) else (None, None)
        if isinstance(value, TemplateToken):
            ids, tokens = list(value.ids), list(value.tokens)
        if not isinstance(ids, list) or not all(
            isinstance(token_id, int) and not isinstance(token_id, bool) and 0 <= token_id <= MAX_TYPE_ID
            for token_id in ids
        ):
            raise SpecialTokenError(f"the special token {name!r} of a template needs ids, numbers from 0 up")
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise SpecialTokenError(f"the special token {name!r} of a template needs tokens, a list of strings")
        return cls(tuple(ids), tuple(tokens))
