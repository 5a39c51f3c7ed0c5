"""Compile chat templates: mark their own strings as trusted and route all else through the environment.

Chapter: Chat templates. Source: Jinja's `compiler.py`; `transformers/utils/chat_template_utils.py` for the tag
`generation`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.parser import Parser

from .tainted_string import TaintedStr


class TaintCodeGenerator(CodeGenerator):
    """Jinja's compiler, with the template's strings marked and every operation sent through the environment."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        if isinstance(node.value, str):
            self.write(f"environment.literal({node.value!r})")
        else:
            super().visit_Const(node, frame)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:
        self.write(f"environment.literal({node.data!r})")

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData):
            return node.data
        raise nodes.Impossible

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.literal({''.join(group)!r})"

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.output(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concat_output((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        self.write("(environment.measured(")
        self.visit(node.expr, frame)
        self.write(")")
        for operand in node.ops:
            self.visit(operand, frame)
        self.write(")")

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:
        symbol = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "notin": "not in"}
        self.write(f" {symbol.get(node.op, node.op)} environment.measured(")
        self.visit(node.expr, frame)
        self.write(f", {node.op in ('in', 'notin')})")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("environment.container({")
        for item in node.items:
            self.write("environment.measured(")
            self.visit(item.key, frame)
            self.write("): ")
            self.visit(item.value, frame)
            self.write(", ")
        self.write("})")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self.write("environment.container(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        if node.ctx != "load":
            super().visit_Tuple(node, frame)
            return
        self.write("environment.container(")
        super().visit_Tuple(node, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.slice_output(")
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
            node.test = nodes.And(nodes.EnvironmentAttribute("ticked"), node.test).set_lineno(node.lineno)
        super().visit_For(node, frame)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """Start the body of every loop, condition and macro with a check of the time."""
        self.writeline("environment.tick()")
        super().blockvisit(nodes, frame)

    def visit_EvalContextModifier(self, node: nodes.EvalContextModifier, frame: Frame) -> None:
        self.fail("autoescape is not for chat templates: they write no HTML", node.lineno)


class GenerationTag(Extension):
    """The tag `{% generation %}`, a block around what the assistant generates."""

    tags = {"generation"}  # noqa: RUF012 (Jinja's)

    def parse(self, parser: Parser) -> nodes.Node:
        """Return a call of `mark_generated` with the block's body as its caller."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("mark_generated"), [], [], body).set_lineno(line)

    def mark_generated(self, caller: Callable[[], TaintedStr]) -> TaintedStr:
        """Return what the body writes, marked as generated."""
        text = caller()
        return TaintedStr.with_runs(text, tuple((n, origin._replace(generated=True)) for n, origin in text.runs))
