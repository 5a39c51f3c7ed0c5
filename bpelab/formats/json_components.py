"""Components in a tokenizer.json: convert between JSON objects and the library's components.

A component is a frozen dataclass whose fields are the keys of its JSON object, so one reader and one writer serve all
normalizers, pre-tokenizers, post-processors and decoders. Unsupported components are rejected by name. Unknown keys are
rejected too, because they could change ids.

Chapter: File formats.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from .._support.json_document import JSONFile, short_repr
from ..decoders import DECODERS
from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..normalizers import NORMALIZERS
from ..postprocessors import POST_PROCESSORS
from ..pretokenizers import PRE_TOKENIZERS
from ..regex.matchers import Pattern
from ..vocab.special_tokens import HIGHEST_ID

KINDS: dict[str, Mapping[str, type]] = {
    "normalizer": NORMALIZERS,
    "pre_tokenizer": PRE_TOKENIZERS,
    "post_processor": POST_PROCESSORS,
    "decoder": DECODERS,
}
MAX_DEPTH, MAX_INTEGER = 32, (1 << 64) - 1
T = TypeVar("T")
PORTABLE_END = r"(?![\s\S])"
"""A regular expression for the end of a text, which every engine supports."""
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]])*\]", re.DOTALL)
"""An escape, or a character class."""


def read_component(file: JSONFile, section: str) -> Any:
    """Return the component in a section of a file, or None if the section is empty. Raises TokenizerFileError."""
    return _read_component(file, file.data.get(section), section, KINDS[section], 0)


def _read_component(file: JSONFile, data: Any, where: str, kinds: Mapping[str, type], depth: int) -> Any:
    if data is None:
        return None
    if depth > MAX_DEPTH:
        raise file.wrong(where, f"is nested more than {MAX_DEPTH} deep")
    name = file.expect(file.expect(data, dict, where).get("type"), str, f"{where}.type")
    if name not in kinds:
        raise file.wrong(f"{where}.type", f"{name[:60]!r} is not supported; supported are {', '.join(kinds)}")
    return _build(file, {key: value for key, value in data.items() if key != "type"}, where, kinds[name], kinds, depth)


def read_section(file: JSONFile, section: str, kind: type[T]) -> T | None:
    """Return a section that is an object without a "type", or None if it is empty. Raises TokenizerFileError."""
    data = file.data.get(section)
    if data is None:
        return None
    return cast(T, _build(file, file.expect(data, dict, section), section, kind, {}, 0))


def _build(file: JSONFile, data: dict[str, Any], where: str, kind: type, kinds: Mapping[str, type], depth: int) -> Any:
    try:
        if hasattr(kind, "from_json"):
            return kind.from_json(data)
        if hasattr(kind, "from_pair_config"):
            kind, data = kind.from_pair_config(data)
        hints, values = get_type_hints(kind), {}
        field_of_key = {field.name: field for field in fields(kind)}
        for key, value in data.items():
            if key not in field_of_key:
                raise file.wrong(f"{where}.{key}", f"{kind.__name__} has no such key")
            values[key] = _value(file, value, hints[key], f"{where}.{key}", kinds, depth)
        for key, field in field_of_key.items():
            if key not in values and field.default is MISSING:
                raise file.wrong(where, f"{kind.__name__} needs {key!r}")
        return kind(**values)
    except TokenizerFileError:
        raise
    except (BPELabError, ValueError, TypeError, KeyError) as error:
        raise file.wrong(where, str(error)) from error


def _value(file: JSONFile, value: Any, hint: Any, where: str, kinds: Mapping[str, type], depth: int) -> Any:
    if hint is Pattern:
        entry = file.expect(value, dict, where)
        if len(entry) != 1 or not entry.keys() <= {"String", "Regex"}:
            raise file.wrong(where, f"expected a String or a Regex, found {short_repr(value)}")
        ((kind, text),) = entry.items()
        file.expect(text, str, f"{where}.{kind}")
        return Pattern(kind, text.replace(PORTABLE_END, r"\z") if kind == "Regex" else text)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is UnionType and type(None) in arguments and value is None:
        return None
    if origin is UnionType and type(None) not in arguments:
        return value  # the class itself checks it
    if origin is UnionType:
        hint = next(argument for argument in arguments if argument is not type(None))
    if origin is tuple and arguments[-1] is Ellipsis:
        entries = file.expect(value, list, where)
        return tuple(_read_required(file, item, f"{where}[{n}]", kinds, depth + 1) for n, item in enumerate(entries))
    if origin is tuple:
        entries = file.expect(value, list, where)
        if len(entries) != len(arguments):
            raise file.wrong(where, f"expected {len(arguments)} entries, found {len(entries)}")
        return tuple(
            _scalar(file, item, kind, f"{where}[{n}]") for n, (item, kind) in enumerate(zip(entries, arguments))
        )
    return _scalar(file, value, hint if isinstance(hint, type) else str, where)


def _scalar(file: JSONFile, value: Any, kind: type, where: str) -> Any:
    """Return a value that isn't a component. Integers are ids or counts, so they can't be negative."""
    file.expect(value, kind, where)
    if kind is int and not 0 <= value <= MAX_INTEGER:
        raise file.wrong(where, f"expected a number from 0 to {MAX_INTEGER}, found {short_repr(value)}")
    return value


def _read_required(file: JSONFile, data: Any, where: str, kinds: Mapping[str, type], depth: int) -> Any:
    if data is None:
        raise file.wrong(where, "expected an object, found nothing")
    return _read_component(file, data, where, kinds, depth)


def portable_end(expression: str) -> str:
    r"""Return a regular expression with `\z` rewritten so that every reader of tokenizer.json supports it.

    JavaScript's engine has no `\z`, but in all engines the end is a position that no character follows.

    >>> portable_end(r"\s+\z|\\z|[\z]"), portable_end(r"\s+")
    ('\\s+(?![\\s\\S])|\\\\z|[\\z]', '\\s+')
    """
    return _TOKEN.sub(lambda match: PORTABLE_END if match[0] == r"\z" else match[0], expression)


def write_section(section: Any) -> dict[str, Any] | None:
    """Return the JSON of a section that `read_section` reads."""
    return None if section is None else {field.name: getattr(section, field.name) for field in fields(section)}


def write_component(component: Any, section: str) -> Any:
    """Return the JSON of a component, or None for None. Raises ConversionError if Hugging Face has none like it."""
    if component is None:
        return None
    names = {kind: name for name, kind in KINDS[section].items()}
    name = next((names[kind] for kind in type(component).__mro__ if kind in names), None)
    if name is None:
        raise ConversionError(f"tokenizer.json has no {section} of the kind {type(component).__name__}")
    if hasattr(component, "to_json"):
        return {"type": name, **component.to_json()}
    return {"type": name, **{f.name: _serialize(getattr(component, f.name), section) for f in fields(component)}}


def _serialize(value: Any, section: str) -> Any:
    if isinstance(value, Pattern):
        return {value.kind: portable_end(value.text) if value.kind == "Regex" else value.text}
    if isinstance(value, tuple):
        return [item if isinstance(item, (str, int)) else write_component(item, section) for item in value]
    return value


def read_id(file: JSONFile, value: Any, where: str) -> int:
    """Return an id from 0 to 2^32 - 1. Raises TokenizerFileError for anything else."""
    if not 0 <= file.expect(value, int, where) <= HIGHEST_ID:
        raise file.wrong(where, f"{str(value)[:40]} is not an id: ids go from 0 to {HIGHEST_ID}")
    return int(value)
