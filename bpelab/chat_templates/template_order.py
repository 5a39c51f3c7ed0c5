"""Template order: whether a template's source proves that it writes the messages in order and never changes old text.

It does if what it writes for a message depends only on that message and the ones before it. The syntax tree can show
that: before the loop over the messages, the template reads at most the first message; the loop doesn't look at later
messages, or at how many follow; after the loop comes at most the generation prompt. Then a conversation's text starts
with the text of its first messages, whatever they say. The condition is sufficient, not necessary: a template that
fails it may still write in order.

Chapter: The ids that were never yours. Cost: the template is parsed once.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from .render import compiled

if TYPE_CHECKING:
    from jinja2.nodes import Node

MESSAGES, PROMPT, LOOP = "messages", "add_generation_prompt", "loop"
LOOKS_BACK = frozenset(("index", "index0", "first", "previtem", "changed", "cycle", "depth", "depth0"))
"""Attributes of `loop` that don't depend on later messages."""
CLOCK = "strftime_now"


@lru_cache(64)
def writes_in_order(source: str) -> bool:
    """Return whether the source proves that a conversation's text starts with the text of its first messages.

    >>> writes_in_order("{% for m in messages %}[{{ m.content }}]{% endfor %}")
    True
    >>> writes_in_order("{% for m in messages %}{{ m.content }}{% if loop.last %}.{% endif %}{% endfor %}")
    False
    """
    from jinja2 import nodes

    tree = compiled(source).environment.parse(source)
    elsewhere = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block)
    if next(tree.find_all(elsewhere), None) is not None:
        return False
    reader = _Reader()
    statements = iter(tree.body)
    for node in statements:
        if isinstance(node, nodes.For) and reader.is_messages(node.iter):
            inside = [*node.body, *([] if node.test is None else [node.test])]
            in_order = not (node.else_ or node.recursive or reader.looks_ahead(inside))
            return in_order and all(_is_prompt(after) for after in statements)
        if reader.looks_ahead([node]):
            return False
    return False


def _is_prompt(node: "Node") -> bool:
    """Return whether a statement after the loop writes nothing without `add_generation_prompt`."""
    from jinja2 import nodes

    if isinstance(node, nodes.If) and not node.elif_ and not node.else_:
        test = node.test
        while isinstance(test, nodes.And):
            test = test.left
        return isinstance(test, nodes.Name) and test.name == PROMPT
    return isinstance(node, nodes.Output) and all(
        isinstance(part, nodes.TemplateData) and not part.data for part in node.nodes
    )


class _Reader:
    """Walks through a template in execution order and tracks which names hold the messages."""

    def __init__(self) -> None:
        self._lists = {MESSAGES}  # or a tail of them, from a fixed index on
        self._first_is_first = True  # whether `messages[0]` is still the first message

    def is_messages(self, node: "Node") -> bool:
        """Return whether an expression is the list of messages, or all of them from a fixed index on."""
        from jinja2 import nodes

        if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
            start, stop, step = node.arg.start, node.arg.stop, node.arg.step
            fixed = isinstance(start, nodes.Const) and isinstance(start.value, int) and start.value >= 0
            return fixed and stop is None and step is None and self.is_messages(node.node)
        return isinstance(node, nodes.Name) and node.name in self._lists

    def looks_ahead(self, statements: Iterable["Node"], inner: bool = False) -> bool:
        """Return whether a node may depend on later messages or their number; `inner`: inside a nested loop."""
        return any(self._looks_ahead(node, inner) for node in statements)

    def _looks_ahead(self, node: "Node", inner: bool) -> bool:
        from jinja2 import nodes

        if isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Name) and self.is_messages(node.node):
            self._lists.add(node.target.name)
            if node.target.name == MESSAGES:
                self._first_is_first = False
            return False
        if isinstance(node, nodes.Getitem) and isinstance(node.node, nodes.Name) and node.node.name == MESSAGES:
            return not (self._first_is_first and isinstance(node.arg, nodes.Const) and node.arg.value == 0)
        if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == LOOP:
            return not inner and node.attr not in LOOKS_BACK
        if isinstance(node, nodes.Name):
            return node.name in (PROMPT, CLOCK) or node.name in self._lists or (node.name == LOOP and not inner)
        if isinstance(node, nodes.For):
            outer, within = (
                [node.iter],
                [node.target, *node.body, *node.else_, *([] if node.test is None else [node.test])],
            )
            return self.looks_ahead(outer, inner) or self.looks_ahead(within, True)
        return self.looks_ahead(node.iter_child_nodes(), inner)
