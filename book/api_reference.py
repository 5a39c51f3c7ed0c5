"""The API reference: `{public} MODULE` explains a module's public names. What each does is seen, the rest unfolds.

The pages are made of the library's docstrings; book/api.md and book/api_tools.md only say which modules come in which
order. tests/test_public.py compares them with what the library exports.
"""

import inspect
import re
from importlib import import_module

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.domains.python import PyXRefRole

from bpelab.cli.main import COMMANDS

MEMBERS = ["   :members:", "   :inherited-members: tuple", "   :special-members: __call__"]


def public_names(module, names=None):
    """Return the public names of a module: `names`, separated by spaces; or its `__all__`, or what it defines."""
    if names:
        return names.split()
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return getattr(module, "__all__", defined)


def entry(path, value, with_members):
    """Return the reStructuredText that explains one public name: from its docstring, or a constant by what is in it."""
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return [f".. auto{kind}:: {path}", *(MEMBERS if with_members else [])]
    if inspect.isroutine(value):
        return [f".. autofunction:: {path}"]
    text = ", ".join(f"``{name}``" for name in value) if hasattr(value, "__iter__") else f"``{value!r}``"
    return [f".. py:data:: {path}", "", f"   {text}"]


class Public(Directive):
    """`{public} MODULE`: what its public names are and do. `:members:` names classes whose methods are public too."""

    required_arguments = 1
    option_spec = {"names": str, "members": str.split}  # noqa: RUF012 - as docutils has it

    def run(self):
        path = self.arguments[0]
        module = import_module(path)
        self.state.document.settings.env.note_dependency(module.__file__)
        lines = []
        for name in public_names(module, self.options.get("names")):
            lines += entry(f"{path}.{name}", getattr(module, name), name in self.options.get("members", ()))
        return parsed(self, lines, "public")


class Commands(Directive):
    """`{commands}`: the commands of the command line, as `bpelab --help` lists them."""

    def run(self):
        lines = []
        for name, text in commands().items():
            lines += [f"``bpelab {name}``", f"   {text[:1].upper()}{text[1:]}.", ""]
        return parsed(self, lines, "commands")


def parsed(directive, lines, class_name):
    """Return reStructuredText, as a page in Markdown includes it, in a container."""
    row = nodes.container(classes=[class_name])
    text = ["````{eval-rst}", *lines, "````"]
    directive.state.nested_parse(StringList(text, "api_reference.py"), directive.content_offset, row)
    return [row]


def commands():
    """Return each command of the command line, and what its help says that it does."""
    import argparse

    help_texts = {}

    def command(name, help_text, run):
        help_texts[name] = help_text
        return argparse.ArgumentParser()

    for module in dict.fromkeys(COMMANDS.values()):
        import_module(f"bpelab.cli.{module}").add_commands(command)
    return {name: help_texts[name] for name in COMMANDS}


class Name(PyXRefRole):
    """The role of single backticks: a link to what the API reference explains under this name, and code otherwise."""

    def run(self):
        if not re.fullmatch(r"[A-Za-z_][\w.]*", self.text):
            return [nodes.literal(self.rawtext, self.text)], []
        self.name = "py:obj"
        return super().run()


def shorten(app, kind, path, value, options, signature, returns):
    """Leave out of a signature what only explains wrong arguments, and what Python says of a protocol."""
    shown = (signature or "").replace(", **wrong: Never", "")
    return "" if shown == "(*args, **kwargs)" else shown, returns


def arrange(app, doctree):
    """Fold what follows the first words about each name until a reader opens it, and group the members of classes."""
    for public in doctree.findall(lambda node: isinstance(node, nodes.container) and "public" in node["classes"]):
        for explained in list(public.findall(addnodes.desc)):
            content = explained[-1]
            groups = grouped(content)
            fold(content)
            content += groups


def grouped(content):
    """Take a class's members out of what explains it; return them in the groups that a list in its docstring names.

    The list, and the words before it, come first, as an overview with links.
    """
    groups = next((node for node in content if isinstance(node, nodes.bullet_list)), None)
    members = {
        node[0].get("fullname", "").rpartition(".")[2]: node for node in content if isinstance(node, addnodes.desc)
    }
    if groups is None or not members:
        return []
    at = content.index(groups)
    arranged = [content[at - 1], groups]
    for group in groups:
        title = group.astext().partition(":")[0]
        arranged.append(nodes.rubric(title, title[:1].upper() + title[1:]))
        names = [literal.astext() for literal in group.findall(nodes.literal)]
        arranged += [members.pop(name) for name in names if name in members]
    arranged += members.values()
    for node in arranged:
        if node in content:
            content.remove(node)
    return arranged


def fold(content):
    """Make the first paragraph the summary of what follows it, up to the members."""
    seen = (addnodes.desc, addnodes.index)
    rest = [node for node in content[1:] if not isinstance(node, seen)]
    if not rest or not isinstance(content[0], nodes.paragraph):
        return
    first = content.pop(0)
    for node in rest:
        content.remove(node)
    opening = nodes.raw("", "<details><summary>", format="html")
    summary = nodes.inline("", "", *first.children)
    content[:0] = [opening, summary, nodes.raw("", "</summary>", format="html"), *rest]
    content.insert(3 + len(rest), nodes.raw("", "</details>", format="html"))


def setup(app):
    app.add_directive("public", Public)
    app.add_directive("commands", Commands)
    app.add_role("name", Name())
    app.connect("autodoc-process-signature", shorten)
    app.connect("doctree-read", arrange)
    return {"parallel_read_safe": True}
