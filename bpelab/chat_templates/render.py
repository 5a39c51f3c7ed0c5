"""Find, compile and render templates; the rendered text knows the provenance of each character.

Chapter: Chat templates. Cost: compiling takes milliseconds and is cached; rendering is
linear for real templates.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._support.install import install_command
from ..errors import ConversationError, MissingDependencyError, TemplateError
from ..vocab.special_tokens import ROLES
from .builtin import NAMED, flatten
from .messages import Message, check, taint, taint_messages, taint_tools
from .provenance import TEMPLATE, Provenance, provenance_spans
from .resource_limits import Budget, current
from .tainted_string import TaintedStr, concat

if TYPE_CHECKING:
    from jinja2 import Template

    from ..core.tokenizer import Tokenizer

LONGEST = 1 << 17
CONTINUE = "CONTINUE_FINAL_MESSAGE_TAG "  # transformers' marker; located by its provenance, not by its text
CONTINUED = "the place to go on from"


def find_template(tokenizer: "Tokenizer", template: str | None, tools: bool) -> str:
    """Return a template's source: the tokenizer's default, the tokenizer's or bpelab's by name, or `template` itself.

    As in transformers, the tokenizer's template named "tool_use" is used if there are tools, else "default". Raises
    TemplateError if there is no such template.
    """
    own = tokenizer.spec.metadata.get("chat_template")
    named: dict[str, str] = {}
    if isinstance(own, (list, tuple)):
        own = {entry.get("name"): entry.get("template") for entry in own if isinstance(entry, Mapping)}
    if isinstance(own, Mapping):
        named = {name: entry for name, entry in own.items() if isinstance(name, str) and isinstance(entry, str)}
    if template is None:
        found = own if isinstance(own, str) else (tools and named.get("tool_use")) or named.get("default")
        if not isinstance(found, str):
            choice = f"its templates are {', '.join(sorted(named))}" if named else "this tokenizer has none of its own"
            raise TemplateError(f"there is none: {choice}; name one of them, one of {', '.join(NAMED)}, or give Jinja")
        return found
    if template in named:
        return named[template]
    if template in NAMED:
        return NAMED[template].source
    if not isinstance(template, str) or "{" not in template:
        names = ", ".join([*sorted(named), *NAMED])
        raise TemplateError(f"there is none named {str(template)[:80]!r}: there are {names}, and Jinja sources")
    return template


@lru_cache(32)
def compiled(source: str) -> "Template":
    """Compile a template, once for each source. Raises TemplateError, MissingDependencyError."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingDependencyError(f"chat templates need jinja2: {install_command('chat')}") from error
    if tuple(int(part) for part in jinja2.__version__.split(".")[:3] if part.isdigit()) < (3, 1, 6):
        raise MissingDependencyError(
            f"jinja2 {jinja2.__version__} can be broken out of; 3.1.6 can't: {install_command('chat')}"
        )
    from .sandbox import Environment

    if len(source) > LONGEST:
        raise TemplateError(f"it is {len(source):,} characters long; {LONGEST:,} is the most here")
    try:
        return Environment().from_string(source)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(str(error.message), error.lineno) from error
    except (RecursionError, MemoryError, SyntaxError, ValueError, TypeError) as error:
        raise TemplateError(f"it can't be compiled: {type(error).__name__}") from error


def run(source: str, variables: Mapping[str, Any], size: int) -> TaintedStr:
    """Render a template with tainted variables of `size` characters in all. Raises TemplateError."""
    template = compiled(source)
    from .filters import TemplateRefusal

    token = current.set(Budget(size))
    try:
        parts: Iterable[str] = list(template.root_render_func(template.new_context(dict(variables))))
        return concat(parts)
    except TemplateRefusal as error:
        raise TemplateError(f"it refuses the conversation: {error}", _line(error.__traceback__)) from error
    except TemplateError as error:
        raise TemplateError(error.problem, error.line or _line(error.__traceback__)) from error
    except RecursionError as error:
        raise TemplateError("it calls itself too deeply", _line(error.__traceback__)) from None
    except Exception as error:
        name = type(error).__name__
        raise TemplateError(f"{name}: {str(error)[:500]}", _line(error.__traceback__)) from error
    finally:
        current.reset(token)


def _line(traceback: TracebackType | None) -> int | None:
    """Return the line of the template that was being executed."""
    found = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            found = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def render(
    tokenizer: "Tokenizer",
    messages: Sequence[Message],
    source: str,
    *,
    add_generation_prompt: bool,
    tools: Sequence[Any] | None,
    documents: Sequence[Any] | None,
    continue_final_message: bool,
    variables: Mapping[str, Any],
) -> TaintedStr:
    """Render a conversation with a template. Raises ConversationError, TemplateError."""
    check(messages)
    prepared = taint_messages(messages)
    if (named := next((name for name, known in NAMED.items() if known.source == source), None)) is not None:
        flatten(prepared, named)
    final = _mark_open_end(prepared) if continue_final_message else None
    context: dict[str, Any] = {}
    for role in ROLES:
        name = getattr(tokenizer, f"{role}_token")
        if name is not None:
            context[f"{role}_token"] = TaintedStr.of(name, TEMPLATE)
    context["tools"] = taint_tools(tools, "tools")
    context["documents"] = taint_tools(documents, "documents")
    context |= {name: taint(value, Provenance(False, None, name), name) for name, value in variables.items()}
    size = Budget(1 << 50).measure([prepared, context])
    context |= {"messages": prepared, "add_generation_prompt": add_generation_prompt}
    text = run(source, context, size)
    return text if final is None else _truncate_at_mark(text, final)


def _mark_open_end(prepared: list[Any]) -> str:
    """Mark the end of the last message's text. Return that text."""
    number = len(prepared) - 1
    mark = TaintedStr.of(CONTINUE, Provenance(False, number, CONTINUED))
    content = prepared[-1].get("content")
    if isinstance(content, str):
        prepared[-1]["content"] = content + mark
        return content
    for part in reversed(content or ()):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            text: str = part["text"]
            part["text"] = text + mark
            return text
    raise ConversationError(f"messages[{number}] has no text that continue_final_message could go on with")


def _truncate_at_mark(text: TaintedStr, final: str) -> TaintedStr:
    position, offset = 0, -1
    for length, origin in provenance_spans(text):
        if origin.field == CONTINUED:
            offset = position
        position += length
    if offset < 0:  # the template changed it in a way that loses provenance
        offset = text.rfind(CONTINUE.strip())
    if offset < 0 or final.strip() not in text:
        raise TemplateError("it leaves out or changes the final message, so that continue_final_message can't go on")
    cut = text[:offset]
    return cut if text.startswith(CONTINUE, offset) else cut.rstrip()  # type: ignore[return-value]
