"""Templates: found, compiled once, and rendered to text whose characters say where they come from.

Chapter: Special tokens, chat templates, injection. Cost: compiling takes milliseconds and is kept; rendering is linear
for real templates.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..errors import ConversationError, MissingDependencyError, TemplateError
from ..install import install_command
from ..special_tokens import ROLES
from .budget import Budget, current
from .messages import Message, check, marked, marked_messages, marked_tools
from .named import NAMED, flatten
from .provenance import TEMPLATE, Marked, Origin, concat, runs_of

if TYPE_CHECKING:
    from jinja2 import Template

    from ..tokenizer import BPETokenizer

LONGEST = 1 << 17
CONTINUE = "CONTINUE_FINAL_MESSAGE_TAG "  # transformers' word; found again by its origin, not by its letters
CONTINUED = "the place to go on from"


def find_template(tokenizer: "BPETokenizer", template: str | None, tools: bool) -> str:
    """The source of a template: the tokenizer's own, one of its named ones, one of bpelab's, or `template` itself.

    As in transformers, a tokenizer's template named "tool_use" is taken where there are tools, else "default". Raises
    TemplateError where there is none.
    """
    own = tokenizer.metadata.get("chat_template")
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
    """The template as code. Raises TemplateError, MissingDependencyError."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingDependencyError(f"chat templates need jinja2: {install_command('chat')}") from error
    if tuple(int(part) for part in jinja2.__version__.split(".")[:3] if part.isdigit()) < (3, 1, 6):
        raise MissingDependencyError(
            f"jinja2 {jinja2.__version__} can be broken out of; 3.1.6 can't: {install_command('chat')}"
        )
    from .environment import Environment

    if len(source) > LONGEST:
        raise TemplateError(f"it is {len(source):,} characters long; {LONGEST:,} is the most here")
    try:
        return Environment().from_string(source)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(str(error.message), error.lineno) from error
    except (RecursionError, MemoryError, SyntaxError, ValueError, TypeError) as error:
        raise TemplateError(f"it can't be compiled: {type(error).__name__}") from error


def run(source: str, variables: Mapping[str, Any], size: int) -> Marked:
    """The text of a template over marked variables of `size` characters in all. Raises TemplateError."""
    template = compiled(source)
    from .filters import Refusal

    token = current.set(Budget(size))
    try:
        parts: Iterable[str] = list(template.root_render_func(template.new_context(dict(variables))))
        return concat(parts)
    except Refusal as error:
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
    """The line of the template that was being executed."""
    found = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            found = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def render(
    tokenizer: "BPETokenizer",
    messages: Sequence[Message],
    source: str,
    *,
    add_generation_prompt: bool,
    tools: Sequence[Any] | None,
    documents: Sequence[Any] | None,
    continue_final_message: bool,
    variables: Mapping[str, Any],
) -> Marked:
    """A conversation as a template writes it. Raises ConversationError, TemplateError."""
    check(messages)
    prepared = marked_messages(messages)
    if (named := next((name for name, known in NAMED.items() if known.source == source), None)) is not None:
        flatten(prepared, named)
    final = _left_open(prepared) if continue_final_message else None
    context: dict[str, Any] = {}
    for role in ROLES:
        name = getattr(tokenizer, f"{role}_token")
        if name is not None:
            context[f"{role}_token"] = Marked.of(name, TEMPLATE)
    context["tools"] = marked_tools(tools, "tools")
    context["documents"] = marked_tools(documents, "documents")
    context |= {name: marked(value, Origin(False, None, name), name) for name, value in variables.items()}
    size = Budget(1 << 50).weigh([prepared, context])
    context |= {"messages": prepared, "add_generation_prompt": add_generation_prompt}
    text = run(source, context, size)
    return text if final is None else _until_the_place(text, final)


def _left_open(prepared: list[Any]) -> str:
    """Mark the end of the last message's text; that text."""
    number = len(prepared) - 1
    place = Marked.of(CONTINUE, Origin(False, number, CONTINUED))
    content = prepared[-1].get("content")
    if isinstance(content, str):
        prepared[-1]["content"] = content + place
        return content
    for part in reversed(content or ()):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            text: str = part["text"]
            part["text"] = text + place
            return text
    raise ConversationError(f"messages[{number}] has no text that continue_final_message could go on with")


def _until_the_place(text: Marked, final: str) -> Marked:
    position, place = 0, -1
    for length, origin in runs_of(text):
        if origin.field == CONTINUED:
            place = position
        position += length
    if place < 0:  # the template did something to it that marks don't survive
        place = text.rfind(CONTINUE.strip())
    if place < 0 or final.strip() not in text:
        raise TemplateError("it leaves out or changes the final message, so that continue_final_message can't go on")
    cut = text[:place]
    return cut if text.startswith(CONTINUE, place) else cut.rstrip()  # type: ignore[return-value]
