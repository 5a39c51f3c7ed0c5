"""What the book asks of Sphinx beside `_config.yml`: to leave out what would reach for another host."""


def setup(app):
    """Jupyter Book loads sphinx_thebe always, and that puts another host's address on every page."""
    for listeners in app.events.listeners.values():
        listeners[:] = [entry for entry in listeners if entry.handler.__module__ != "sphinx_thebe"]
    app.registry.css_files[:] = [entry for entry in app.registry.css_files if entry[0] != "sphinx-thebe.css"]
    return {"parallel_read_safe": True}
