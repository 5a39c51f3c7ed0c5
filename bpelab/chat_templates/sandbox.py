"""The sandbox that chat templates run in: a Jinja environment with tainted strings and resource limits.

Jinja compiles a template to Python. Here the template's own strings become trusted `TaintedStr` strings on the way, and
whatever joins, prints, compares or calls goes through the environment, which keeps provenance, checks the time and
refuses results that would be too large. What a template can see of an object is an allowlist, not a blocklist.

Templates get what transformers gives them (`raise_exception`, `strftime_now`, `tojson`, loop controls, `{% generation
%}`, trim_blocks and lstrip_blocks). They don't get filters that write HTML, `autoescape`, `lipsum`, or a loader.

Chapter: Chat templates. Source: `transformers/utils/chat_template_utils.py`; Jinja's
`compiler.py` and `sandbox.py`.
"""

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping
from functools import wraps
from typing import Any

from jinja2.ext import LoopControlExtension
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, TemplateReference, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from ..errors import TemplateError
from .filters import as_tainted, finish, first, indent, join, raise_exception, safe, strftime_now
from .formatting import Formatter, tojson
from .jinja_compiler import GenerationTag, TaintCodeGenerator
from .provenance import TEMPLATE
from .resource_limits import CONTAINERS, MOST_DIGITS, charge, current
from .tainted_string import TaintedStr, concat

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
NO_FILTERS = ("urlize", "xmlattr", "striptags", "forceescape", "filesizeformat", "escape", "e", "pprint")
# Filters that look at no more of their arguments than they return, or only one level deep.
SHALLOW = {"attr", "batch", "count", "d", "default", "first", "int", "items", "last", "length", "list", "map", "random"}
SHALLOW |= {"reject", "rejectattr", "reverse", "select", "selectattr", "slice"}
# Filters that first turn their argument into text.
TEXT = {"capitalize", "center", "format", "lower", "replace", "string", "title", "trim", "truncate", "upper"}
TEXT |= {"wordcount", "wordwrap"}
# Tests that look only at a value's type or identity; all others may traverse the value.
OF_TYPE = {"boolean", "callable", "defined", "escaped", "even", "false", "float", "integer", "iterable", "mapping"}
OF_TYPE |= {"none", "number", "odd", "sameas", "sequence", "string", "true", "undefined"}
PASSED = {"_loop_vars", "_block_vars", "caller"}  # arguments that compiled code adds to a call
BOUNDED = {"batch", "indent", "round", "slice", "truncate", "wordwrap"}


class Environment(ImmutableSandboxedEnvironment):
    """The environment of one template."""

    code_generator_class = TaintCodeGenerator
    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[GenerationTag, LoopControlExtension]
        )
        self._literals: dict[str, TaintedStr] = {}
        self.filters |= {"tojson": tojson, "join": join, "first": first, "indent": indent, "safe": safe}
        for name in NO_FILTERS:
            del self.filters[name]
        filters: dict[str, Callable[..., Any]] = self.filters
        self.filters = {name: self._wrap_filter(name, filter_) for name, filter_ in filters.items()}
        tests: dict[str, Any] = dict(self.tests)
        self.tests = {name: test if name in OF_TYPE else self._wrap_filter(name, test) for name, test in tests.items()}
        del self.globals["lipsum"]
        self.globals |= {"raise_exception": raise_exception, "strftime_now": strftime_now}
        self.formatter = Formatter(self._look_up)

    # -- what compiled templates call --------------------------------------------------------------------------------

    def literal(self, text: str) -> TaintedStr:
        """Return one of the template's own strings, trusted; the same object for the same text."""
        if (marked := self._literals.get(text)) is None:
            marked = self._literals[text] = TaintedStr.of(text, TEMPLATE)
        return marked

    def tick(self) -> None:
        """Check the time, at the start of each iteration, branch and macro."""
        current.get().tick()

    @property
    def ticked(self) -> bool:
        """True, after a check of the time."""
        current.get().tick()
        return True

    def concat(self, parts: Iterable[str]) -> TaintedStr:
        """Join strings, in place of `"".join`."""
        return concat(parts)

    def output(self, value: Any) -> str:
        """Return what `{{ value }}` writes, in place of `str`."""
        if isinstance(value, str):
            return str(value)
        if not isinstance(value, (*CONTAINERS, int, float, complex, type(None), Undefined, Macro, LoopContext)):
            raise TemplateError(f"it writes an object of type {type(value).__name__}")
        charge(self._measure(value))
        return finish(str(value), value)  # type: ignore[no-any-return]

    def concat_output(self, values: Iterable[Any]) -> TaintedStr:
        """Apply the operator `~`."""
        return concat([self.output(value) for value in values])

    def container(self, value: Any) -> Any:
        """Charge for a list, tuple or dict that a template writes out, and return it."""
        charge(8 * len(value))
        return value

    def measured(self, value: Any, contains: bool = False) -> Any:
        """Charge for a value that will be compared, hashed or searched, and return it."""
        if contains and isinstance(value, Iterator):
            return current.get().charge_each(value)
        if isinstance(value, CONTAINERS) and not (contains and isinstance(value, Mapping)):
            charge(self._measure(value))
        return value

    def _measure(self, value: Any) -> int:
        return current.get().measure(value)

    def slice_output(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """Return `value[start:stop:step]`."""
        return finish(as_tainted(value)[start:stop:step], value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an arithmetic operator, after checking that its result is not too large."""
        self.tick()
        left, right = as_tainted(left), as_tainted(right)
        if isinstance(left, (KeysView, ItemsView)) or isinstance(right, (KeysView, ItemsView)):
            raise TemplateError(f"the operator {operator} on a view of a dict")
        if isinstance(left, Markup) or isinstance(right, Markup):
            if operator != "+":
                raise TemplateError(f"the operator {operator} on a string that was made `safe`")
            charge(5 * (self._measure(left) + self._measure(right)))
        elif isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
            if bits > 4 * MOST_DIGITS:
                raise TemplateError(f"a number of more than {MOST_DIGITS:,} digits")
            charge(max(bits, 0) // 8)
        elif operator == "*" and isinstance(left, (list, tuple)) and isinstance(right, int):
            charge(8 * len(left) * max(right, 0))
        elif operator == "*" and isinstance(right, (list, tuple)) and isinstance(left, int):
            charge(8 * len(right) * max(left, 0))
        elif operator == "+" and isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            charge(8 * (len(left) + len(right)))
        return finish(super().call_binop(context, operator, left, right), [left, right])

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function with tainted arguments, and charge for its result."""
        self.tick()
        args = tuple(map(as_tainted, args))
        named = {key: value for key, value in kwargs.items() if key not in PASSED}
        for value in (*args, *named.values()):
            if isinstance(value, CONTAINERS) and not isinstance(function, Macro):
                charge(self._measure(value))
        owner = getattr(function, "__self__", None) if not isinstance(function, JINJA_OBJECTS) else None
        if isinstance(owner, (list, tuple)):
            charge(self._measure(owner))
        if (function is dict or function is Namespace) and args and not isinstance(args[0], Mapping):
            args = (current.get().charge_each(args[0]), *args[1:])  # pairs, whose keys are hashed and compared
        return finish(super().call(context, function, *args, **kwargs), [owner, list(args), named])

    # -- what templates see of objects -------------------------------------------------------------------------------

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return `obj.attribute`; methods take precedence over items, as in Jinja."""
        if isinstance(obj, (str, dict, list, tuple)):
            return self._lookup_method(obj, attribute, True)
        if isinstance(obj, JINJA_OBJECTS):
            return super().getattr(obj, attribute)
        return self.undefined(obj=obj, name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return `obj[argument]`; items take precedence over methods."""
        if not isinstance(argument, (str, int, Undefined)):
            charge(self._measure(argument))
        if isinstance(obj, (str, dict, list, tuple, range)):
            try:
                return as_tainted(obj)[argument]
            except (TypeError, LookupError):
                return self._lookup_method(obj, argument, False)
        if isinstance(obj, JINJA_OBJECTS):
            return super().getitem(obj, argument)
        return self.undefined(obj=obj, name=argument)

    def _look_up(self, obj: Any, name: str, is_attribute: bool) -> Any:
        return self.getattr(obj, name) if is_attribute else self.getitem(obj, name)

    def _lookup_method(self, obj: Any, name: Any, or_item: bool) -> Any:
        obj = as_tainted(obj)
        kinds = ((Markup, SAFE_METHODS), (str, STR_METHODS), (dict, DICT_METHODS), ((list, tuple), LIST_METHODS))
        names = next((names for kind, names in kinds if isinstance(obj, kind)), frozenset())
        if name in names and hasattr(obj, name):
            if name not in ("format", "format_map"):
                return getattr(obj, name)
            return self._bound_format(obj, name)
        if or_item and isinstance(obj, dict) and name in obj and not hasattr(dict, name):
            return obj[name]
        if isinstance(name, str) and hasattr(str if isinstance(obj, str) else type(obj), name):
            return self.unsafe_undefined(obj, name)
        return self.undefined(obj=obj, name=name)

    def _bound_format(self, pattern: TaintedStr, name: str) -> Callable[..., TaintedStr]:
        def formatted(*args: Any, **kwargs: Any) -> TaintedStr:
            if name == "format_map":
                (mapping,) = args
                return self.formatter.format_tainted(pattern, (), mapping)
            return self.formatter.format_tainted(pattern, args, kwargs)

        return formatted

    def _wrap_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a filter or test, to check its arguments before the call and its result afterwards."""

        receiver = int(hasattr(function, "jinja_pass_arg"))  # what Jinja itself passes comes first

        @wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self.tick()
            budget = current.get()
            args = tuple(map(as_tainted, args))
            kwargs = {key: as_tainted(value) for key, value in kwargs.items()}
            if name in TEXT and len(args) > receiver and not isinstance(args[receiver], str):
                args = (*args[:receiver], self.output(args[receiver]), *args[receiver + 1 :])
            values = [*args[receiver:], *kwargs.values()]
            if name in BOUNDED:
                numbers = [abs(value) for value in values[1:] if isinstance(value, int)]
                if max(numbers, default=0) > 10_000:
                    raise TemplateError(f"the filter {name} with a number of more than 10,000")
                charge(8 * sum(numbers))
            if name not in SHALLOW:
                charge(sum(map(self._measure, values)))
                args = tuple(budget.charge_each(value) if isinstance(value, Iterator) else value for value in args)
            if name == "unique":  # its set compares values with equal hashes
                args = (*args[:receiver], budget.charge_each(args[receiver]), *args[receiver + 1 :])
            if name == "wordwrap":
                text, *others = (value for value in values if isinstance(value, str))
                charge(len(text) * max(map(len, others), default=0))
            if name == "sum" and any(isinstance(item, CONTAINERS) for item in values[1:]):
                raise TemplateError("the filter sum adds numbers")
            return finish(function(*args, **kwargs), [list(args), kwargs])

        return guarded
