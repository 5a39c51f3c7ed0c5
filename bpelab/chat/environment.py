"""The sandbox that chat templates run in, and the code that Jinja makes of them.

Jinja compiles a template to Python. Here the template's own strings become trusted `Marked` strings on the way, and
whatever joins, prints, compares or calls goes through the environment, which keeps the marks, looks at the time and
refuses what would grow too large. What an object lets a template see is a list of names, not a list of exceptions.

Templates get what transformers gives them (`raise_exception`, `strftime_now`, `tojson`, loop controls, `{% generation
%}`, trim_blocks and lstrip_blocks). They don't get filters that write HTML, `autoescape`, `lipsum`, or a loader.

Chapter: Special tokens, chat templates, injection. Source: `transformers/utils/chat_template_utils.py`; Jinja's
`compiler.py` and `sandbox.py`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

from jinja2 import nodes, pass_environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.filters import make_attrgetter
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, TemplateReference, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from ..errors import TemplateError
from .budget import CONTAINERS, MOST_DIGITS, current, pay
from .formatting import Formatter, indented, tojson
from .provenance import TEMPLATE, Marked, Runs, concat, derived, joined

NO_TEXT = frozenset({"find", "index", "rfind", "rindex", "count", "startswith", "endswith"})
TESTS = frozenset(name for name in dir(str) if name.startswith("is") and name != "isidentifier")
SAFE_METHODS = (
    NO_TEXT | TESTS | {"capitalize", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rsplit"}
)
SAFE_METHODS |= {"rpartition", "rstrip", "split", "splitlines", "strip", "title", "upper"}
GROWING = {"center", "expandtabs", "format", "format_map", "join", "ljust", "replace", "rjust", "zfill"}
STR_METHODS = SAFE_METHODS | GROWING
DICT_METHODS = frozenset({"copy", "get", "items", "keys", "values"})
LIST_METHODS = frozenset({"copy", "count", "index", "grouper", "list"})
JINJA_OBJECTS = (LoopContext, Macro, Cycler, Joiner, Namespace, TemplateReference, BlockReference, Undefined)
NO_FILTERS = ("urlize", "xmlattr", "striptags", "forceescape", "filesizeformat", "escape", "e")
# Filters that look at no more of their arguments than they give, or only one level deep.
SHALLOW = {"attr", "batch", "count", "d", "default", "first", "int", "items", "last", "length", "list", "map", "random"}
SHALLOW |= {"reject", "rejectattr", "reverse", "select", "selectattr", "slice", "string", "trim"}
COMPARING = {
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "eq",
    "equalto",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "le",
    "lessthan",
    "lt",
    "ne",
}
PASSED = {"_loop_vars", "_block_vars", "caller"}  # what compiled code adds to the arguments of a call
BOUNDED = {"batch", "indent", "round", "slice", "truncate", "wordwrap"}


class Safe(Markup):
    """What the filter `safe` gives: other strings are escaped when they are added to it, as Jinja does."""

    __slots__ = ("runs",)
    runs: Runs

    def __str__(self) -> str:
        return Marked.with_runs(str.__str__(self), self.runs) if hasattr(self, "runs") else Marked(str.__str__(self))


class Refusal(JinjaError):
    """What a template says with `raise_exception`."""


def known(value: Any) -> Any:
    """A str as one that knows how to keep marks and limits."""
    return Marked(value) if type(value) is str else value


def settled(result: Any, sources: Any) -> Any:
    """A result as the template gets it: its size paid, its origin said."""
    if isinstance(result, str):
        if not hasattr(result, "runs"):
            pay(len(result))
            marked = derived(result, sources)
            if not isinstance(result, Markup):
                return marked
            result = Safe(result)
            result.runs = marked.runs
    elif isinstance(result, CONTAINERS):
        pay(8 * len(result))
    elif isinstance(result, int) and result.bit_length() > 4 * MOST_DIGITS:
        raise TemplateError(f"a number of more than {MOST_DIGITS:,} digits")
    return result


class Generator(CodeGenerator):
    """Jinja's compiler, which has the template's strings marked and everything else go through the environment."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        if isinstance(node.value, str):
            self.write(f"environment.trusted({node.value!r})")
        else:
            super().visit_Const(node, frame)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:
        self.write(f"environment.trusted({node.data!r})")

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData):
            return node.data
        raise nodes.Impossible

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.trusted({''.join(group)!r})"

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.text(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.tilde((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        self.write("(environment.weighed(")
        self.visit(node.expr, frame)
        self.write(")")
        for operand in node.ops:
            self.visit(operand, frame)
        self.write(")")

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:
        symbol = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "notin": "not in"}
        self.write(f" {symbol.get(node.op, node.op)} environment.weighed(")
        self.visit(node.expr, frame)
        self.write(f", {node.op in ('in', 'notin')})")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("{")
        for item in node.items:
            self.write("environment.weighed(")
            self.visit(item.key, frame)
            self.write("): ")
            self.visit(item.value, frame)
            self.write(", ")
        self.write("}")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.sliced(")
        self.visit(node.node, frame)
        for bound in (node.arg.start, node.arg.stop, node.arg.step):
            self.write(", ")
            if bound is None:
                self.write("None")
            else:
                self.visit(bound, frame)
        self.write(")")

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        if node.test is not None:
            node.test = nodes.And(nodes.EnvironmentAttribute("stepped"), node.test).set_lineno(node.lineno)
        super().visit_For(node, frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """The body of every loop, condition and macro begins with a look at the time."""
        self.writeline("environment.step()")
        super().blockvisit(nodes, frame)

    def visit_EvalContextModifier(self, node: nodes.EvalContextModifier, frame: Frame) -> None:
        self.fail("autoescape is not for chat templates: they write no HTML", node.lineno)


class Generation(Extension):
    """`{% generation %}`: what the assistant generates is inside."""

    tags = {"generation"}  # noqa: RUF012 (Jinja's)

    def parse(self, parser: Parser) -> nodes.Node:
        """The block as a call with its body for a caller."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("generated"), [], [], body).set_lineno(line)

    def generated(self, caller: Callable[[], Marked]) -> Marked:
        """What the body writes, marked."""
        text = caller()
        return Marked.with_runs(text, tuple((n, origin._replace(generated=True)) for n, origin in text.runs))


class Environment(ImmutableSandboxedEnvironment):
    """The environment of one template."""

    code_generator_class = Generator
    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[Generation, LoopControlExtension]
        )
        self._trusted: dict[str, Marked] = {}
        self.filters |= {"tojson": tojson, "join": _join, "first": _first, "indent": _indent, "safe": _safe}
        for name in NO_FILTERS:
            del self.filters[name]
        filters: dict[str, Callable[..., Any]] = self.filters
        self.filters = {name: self._guarded(name, filter_) for name, filter_ in filters.items()}
        tests: dict[str, Any] = dict(self.tests)
        self.tests = {**tests, **{name: self._guarded(name, tests[name]) for name in COMPARING}}
        del self.globals["lipsum"]
        self.globals |= {"raise_exception": _raise_exception, "strftime_now": _strftime_now}
        self.formatter = Formatter(self._look_up)

    # -- what compiled templates call --------------------------------------------------------------------------------

    def trusted(self, text: str) -> Marked:
        """A string of the template's own; the same object for the same text."""
        if (marked := self._trusted.get(text)) is None:
            marked = self._trusted[text] = Marked.of(text, TEMPLATE)
        return marked

    def step(self) -> None:
        """At the beginning of each iteration, branch and macro."""
        current.get().step()

    @property
    def stepped(self) -> bool:
        """True, after a look at the time."""
        current.get().step()
        return True

    def concat(self, parts: Iterable[str]) -> Marked:
        """Instead of `"".join`."""
        return concat(parts)

    def text(self, value: Any) -> str:
        """Instead of `str`: what `{{ value }}` writes."""
        if isinstance(value, str):
            return str(value)
        if not isinstance(value, (*CONTAINERS, int, float, complex, type(None), Undefined, Macro, LoopContext)):
            raise TemplateError(f"it writes an object of type {type(value).__name__}")
        pay(self._weigh(value))
        return settled(str(value), value)  # type: ignore[no-any-return]

    def tilde(self, values: Iterable[Any]) -> Marked:
        """The operator `~`."""
        return concat([self.text(value) for value in values])

    def weighed(self, value: Any, contains: bool = False) -> Any:
        """A value that may be compared, hashed, or searched."""
        if isinstance(value, CONTAINERS) and not (contains and isinstance(value, Mapping)):
            pay(self._weigh(value))
        return value

    def _weigh(self, value: Any) -> int:
        return current.get().weigh(value)

    def sliced(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """`value[start:stop:step]`."""
        return settled(known(value)[start:stop:step], value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An arithmetic operator whose result is not too large."""
        self.step()
        left, right = known(left), known(right)
        if isinstance(left, Markup) or isinstance(right, Markup):
            if operator != "+":
                raise TemplateError(f"the operator {operator} on a string that was made `safe`")
            pay(5 * (self._weigh(left) + self._weigh(right)))
        elif isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
            if bits > 4 * MOST_DIGITS:
                raise TemplateError(f"a number of more than {MOST_DIGITS:,} digits")
        elif operator == "*" and isinstance(left, (list, tuple)) and isinstance(right, int):
            pay(8 * len(left) * max(right, 0))
        elif operator == "*" and isinstance(right, (list, tuple)) and isinstance(left, int):
            pay(8 * len(right) * max(left, 0))
        elif operator == "+" and isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            pay(8 * (len(left) + len(right)))
        return settled(super().call_binop(context, operator, left, right), [left, right])

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call: its arguments know how to keep marks, its result is paid for."""
        self.step()
        args = tuple(map(known, args))
        named = {key: value for key, value in kwargs.items() if key not in PASSED}
        for value in (*args, *named.values()):
            if isinstance(value, CONTAINERS) and not isinstance(function, Macro):
                pay(self._weigh(value))
        owner = getattr(function, "__self__", None) if not isinstance(function, JINJA_OBJECTS) else None
        if isinstance(owner, (list, tuple)):
            pay(self._weigh(owner))
        return settled(super().call(context, function, *args, **kwargs), [owner, list(args), named])

    # -- what templates see of objects -------------------------------------------------------------------------------

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`: the method before the item, as Jinja has it."""
        if isinstance(obj, (str, dict, list, tuple)):
            return self._method(obj, attribute, True)
        if isinstance(obj, JINJA_OBJECTS):
            return super().getattr(obj, attribute)
        return self.undefined(obj=obj, name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`: the item before the method."""
        if isinstance(obj, (str, dict, list, tuple, range)):
            try:
                return known(obj)[self.weighed(argument)]
            except (TypeError, LookupError):
                return self._method(obj, argument, False)
        if isinstance(obj, JINJA_OBJECTS):
            return super().getitem(obj, argument)
        return self.undefined(obj=obj, name=argument)

    def _look_up(self, obj: Any, name: str, is_attribute: bool) -> Any:
        return self.getattr(obj, name) if is_attribute else self.getitem(obj, name)

    def _method(self, obj: Any, name: Any, or_item: bool) -> Any:
        obj = known(obj)
        kinds = ((Markup, SAFE_METHODS), (str, STR_METHODS), (dict, DICT_METHODS), ((list, tuple), LIST_METHODS))
        names = next((names for kind, names in kinds if isinstance(obj, kind)), frozenset())
        if name in names and hasattr(obj, name):
            if name not in ("format", "format_map"):
                return getattr(obj, name)
            return self._formatting(obj, name)
        if or_item and isinstance(obj, dict) and name in obj and not hasattr(dict, name):
            return obj[name]
        if isinstance(name, str) and hasattr(str if isinstance(obj, str) else type(obj), name):
            return self.unsafe_undefined(obj, name)
        return self.undefined(obj=obj, name=name)

    def _formatting(self, pattern: Marked, name: str) -> Callable[..., Marked]:
        def formatted(*args: Any, **kwargs: Any) -> Marked:
            if name == "format_map":
                (mapping,) = args
                return self.formatter.marked(pattern, (), mapping)
            return self.formatter.marked(pattern, args, kwargs)

        return formatted

    def _guarded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter or test whose arguments were looked at before, and its result after."""

        @wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self.step()
            args = tuple(map(known, args))
            kwargs = {key: known(value) for key, value in kwargs.items()}
            values = [*args, *kwargs.values()]
            if any(isinstance(value, int) and abs(value) > 10_000 for value in values[1:]) and name in BOUNDED:
                raise TemplateError(f"the filter {name} with a number of more than 10,000")
            if name not in SHALLOW:
                pay(sum(map(self._weigh, values)))
            if name == "wordwrap":
                text, *others = (value for value in values if isinstance(value, str))
                pay(len(text) * max(map(len, others), default=0))
            if name == "sum" and any(isinstance(item, CONTAINERS) for item in values[1:]):
                raise TemplateError("the filter sum adds numbers")
            return settled(function(*args, **kwargs), [list(args), kwargs])

        return guarded


@pass_environment
def _join(environment: Environment, value: Iterable[Any], d: str = "", attribute: Any = None) -> Marked:
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    return joined(environment.text(d), [environment.text(part) for part in value])


@pass_environment
def _first(environment: Environment, seq: Iterable[Any]) -> Any:
    if isinstance(seq, str):
        return seq[0] if seq else environment.undefined("No first item, sequence was empty.")
    for item in seq:
        return item
    return environment.undefined("No first item, sequence was empty.")


def _indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> Marked:
    if not isinstance(s, str):
        raise TypeError(f"indent takes a string, not {type(s).__name__}")
    return indented(Marked.with_runs(str.__str__(s), s.runs) if isinstance(s, Safe) else s, width, first, blank)  # type: ignore[arg-type]


def _safe(value: Any) -> Markup:
    text = known(str(value))
    safe = Safe(text)
    safe.runs = text.runs
    return safe


def _raise_exception(message: Any) -> None:
    raise Refusal(str(message))


def _strftime_now(format: str) -> str:
    if len(format) > 200 or re.search(r"%[^A-Za-z%]*\d", format):
        raise TemplateError("strftime_now takes directives without widths, 200 characters at most")
    return datetime.now().strftime(str.__str__(format))
