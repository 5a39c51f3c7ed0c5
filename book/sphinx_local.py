"""What the book asks of Sphinx beside `_config.yml`."""

import json
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from lite import CHAPTERS, NEEDS, SITE, left_out
from old_addresses import lead_on, lead_to_new_page
from pybtex.database import parse_file

from bpelab._support.install import from_repository

REFERENCES = "book/references"


def install_line(address):
    """Return what to type before a chapter is run, from the address of a repository if _config.yml has one."""
    if address:
        requirement = from_repository(address, "chapters")
        return f'<code>pip install "{requirement}"</code>'
    return '<code>pip install -e ".[chapters]"</code> in a copy of the repository'


def launch_buttons(app, config):
    """With the address of a repository in _config.yml, every notebook can be opened on Binder and Colab."""
    options = config.html_theme_options
    if options.get("repository_url"):
        options["launch_buttons"] = {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        }


def find_lite(app, config):
    """Pages are written again when book/lite.py made, or could not make, what their buttons lead to."""
    site = Path(app.srcdir, SITE.relative_to(SITE.parents[2]))
    config.bpelab_lite = (site / "notebooks" / "index.html").exists()


def run_in_browser(app, page, template, context, doctree):
    """Under the title of a chapter: the button that opens it in JupyterLite, or what to install to run it."""
    folder, _, name = page.rpartition("/")
    if folder != "book" or not app.config.bpelab_lite:
        return
    if name in CHAPTERS:
        address = context["pathto"](f"lite/notebooks/index.html?path={name}.ipynb", 1)
        note = f'<a class="run-in-browser" href="{address}">Run in your browser</a> with nothing installed'
        if names := left_out(name):
            note += f", without the cells that need {' or '.join(names)}"
    elif name in NEEDS:
        install = install_line(app.config.html_theme_options.get("repository_url"))
        note = f"Needs {NEEDS[name]}: {install}"
    else:
        return
    context["body"] = context["body"].replace("</h1>", f'</h1>\n<p class="run-chapter">{note}</p>', 1)


@cache
def cited_works():
    """Address -> entry of the bibliography: what a notebook cites is a link to the work's own address."""
    entries = parse_file(Path(__file__).with_name("references.bib")).entries.values()
    return {entry.fields.get("url") or f"https://doi.org/{entry.fields['doi']}": entry for entry in entries}


def lead_to_references(app, doctree, page):
    """Let a citation lead to the work where a notebook runs, and in the book to its entry among the references."""
    if app.builder.format != "html" or page == REFERENCES:
        return
    works, references = cited_works(), app.builder.get_relative_uri(page, REFERENCES)
    for link in doctree.findall(nodes.reference):
        if work := works.get(link.get("refuri")):
            link["refuri"], link["internal"] = f"{references}#{work.key}", True


def fold_answers(app, doctree):
    """Fold the words that answer a prediction, as the tag `hide-output` folds its output, until a reader opens them."""
    for asked in list(doctree.findall(nodes.paragraph)):
        if not asked.astext().startswith("Predict."):
            continue
        row = asked.parent
        begin = row.index(asked) + 1
        while begin < len(row) and isinstance(row[begin], nodes.container):  # the cells
            begin += 1
        end = begin
        while end < len(row) and isinstance(row[end], nodes.paragraph):
            end += 1
            if not row[end - 1].astext().startswith("Figure: "):
                break
        if end > begin:
            row.insert(end, nodes.raw("", "</details>", format="html"))
            opening = '<details class="answer"><summary>The answer in words</summary>'
            row.insert(begin, nodes.raw("", opening, format="html"))


@cache
def worked_answers(path):
    """Return the worked answers in a page of solutions: name of the exercise -> source."""
    answers, name = {}, None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if path.exists() else []:
        source = "".join(cell["source"])
        if found := re.match(r"## (\w+\.\d+) ", source):
            name = found[1]
        elif name not in answers and name is not None:
            answers[name] = source
    return answers


def frame_exercises(app, doctree):
    """Put each exercise of a chapter into a frame, with its worked answer, folded until a reader opens it."""
    page = Path(doctree["source"])
    path = page.parent / "solutions" / page.name
    if page.suffix != ".ipynb" or not path.exists():
        return
    app.env.note_dependency(str(path))
    for asked in list(doctree.findall(nodes.paragraph)):
        found = re.match(r"Exercise (\w+\.\d+) \(.*?\)\. (\w+)\.", asked.astext(), re.DOTALL)
        if not found or found[1] not in worked_answers(path):
            continue
        row = asked.parent
        end = row.index(asked) + 1
        while end < len(row) and not isinstance(row[end], nodes.container):  # the rest of the question
            end += 1
        while end < len(row) and isinstance(row[end], nodes.container):  # the stub, and what calls it
            end += 1
        code = worked_answers(path)[found[1]]
        opening = '<details class="answer solution"><summary>One answer</summary>'
        row[end:end] = [
            nodes.raw("", opening, format="html"),
            nodes.literal_block(code, code, language="python"),
            nodes.raw("", "</details></div>", format="html"),
        ]
        label = f"Exercise {found[1]}, {found[2].lower()}"
        row.insert(
            row.index(asked), nodes.raw("", f'<div class="exercise" role="group" aria-label="{label}">', format="html")
        )


class Landing(Directive):
    """`playground`, `ask`, `pipeline` and `road`: what landing.py and road.py make under that name."""

    def run(self):
        import landing
        import road

        make = road.road if self.name == "road" else getattr(landing, self.name)
        return [nodes.raw("", make(), format="html")]


def setup(app):
    """Jupyter Book loads sphinx_thebe always, and that puts another host's address on every page."""
    app.add_config_value("bpelab_lite", False, "html")
    for name in ("playground", "ask", "pipeline", "road"):
        app.add_directive(name, Landing)
    app.connect("config-inited", launch_buttons)
    app.connect("config-inited", find_lite)
    app.connect("doctree-read", fold_answers)
    app.connect("doctree-read", frame_exercises)
    app.connect("doctree-resolved", lead_to_references)
    app.connect("html-page-context", run_in_browser)
    app.connect("html-page-context", lead_to_new_page)
    app.connect("build-finished", lead_on)
    for listeners in app.events.listeners.values():
        listeners[:] = [entry for entry in listeners if entry.handler.__module__ != "sphinx_thebe"]
    app.registry.css_files[:] = [entry for entry in app.registry.css_files if entry[0] != "sphinx-thebe.css"]
    return {"parallel_read_safe": True}
