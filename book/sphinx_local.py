"""What the book asks of Sphinx beside `_config.yml`."""


def launch_buttons(app, config):
    """With the address of a repository in _config.yml, every notebook can be opened on Binder and Colab."""
    options = config.html_theme_options
    if options.get("repository_url"):
        options["launch_buttons"] = {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        }


def setup(app):
    """Jupyter Book loads sphinx_thebe always, and that puts another host's address on every page."""
    app.connect("config-inited", launch_buttons)
    for listeners in app.events.listeners.values():
        listeners[:] = [entry for entry in listeners if entry.handler.__module__ != "sphinx_thebe"]
    app.registry.css_files[:] = [entry for entry in app.registry.css_files if entry[0] != "sphinx-thebe.css"]
    return {"parallel_read_safe": True}
