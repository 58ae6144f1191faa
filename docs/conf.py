"""Configuration of the documentation."""

import re
import sys
from pathlib import Path

from otspec.version import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "otspec"
author = "The otspec authors"
copyright = "2026, The otspec authors"
release = version = __version__

extensions = [
    "myst_nb",  # pages of MyST, and those with code cells are run
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx_copybutton",
    "sphinx_design",
    "api_pages",  # these two in _ext
    "heads",
]
# Tables are parts of pages; the executed notebooks of the last build lie beside it.
exclude_patterns = ["_build", "jupyter_execute", "tables"]
intersphinx_mapping = {  # inventories of what is referred to, so that no network is needed
    "python": ("https://docs.python.org/3", "inventories/python.inv"),
    "numpy": ("https://numpy.org/doc/stable", "inventories/numpy.inv"),
    "matplotlib": ("https://matplotlib.org/stable", "inventories/matplotlib.inv"),
    "arrow": ("https://arrow.apache.org/docs", "inventories/arrow.inv"),
}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_param = False  # types such as "ndarray, shape (n,)" are prose; api_pages.py has links
napoleon_use_rtype = False
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds of a cell, on a machine that is busy; 30 are too few
copybutton_prompt_text = r">>> |\.\.\. ?|\$ "  # where there are prompts, what follows them
copybutton_prompt_is_regexp = True
copybutton_copy_empty_lines = False
_BRAND = ("color-brand-primary", "color-brand-content", "color-brand-visited")
html_theme = "furo"
pygments_dark_style = "a11y-high-contrast-dark"  # of which check_site.py finds no color too faint
html_title = "otspec"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "light_logo": "logo.svg",
    "dark_logo": "logo-dark.svg",
    "light_css_variables": dict.fromkeys(_BRAND, "#1f5fbf"),
    "dark_css_variables": dict.fromkeys(_BRAND, "#8ec0ff"),
}
myst_url_schemes = {"http": None, "https": None, "mailto": None, "source": "source/{{path}}.html"}

_ROOT = Path(__file__).parents[1]
_SOURCES = re.compile(r"\]\(\.\./((?:otspec|tests)/[^)]+\.py)\)")


def link_to_sources(_app, _page, text):
    """Turn links to files of the repository into links to pages that show them."""
    text[0] = _SOURCES.sub(r"](source:\1)", text[0])


def end_examples(_app, _page, text):
    """Leave out the blank line that doctest wants at the end of an example."""
    text[0] = text[0].replace("\n\n```\n", "\n```\n")


def source_pages(app):
    """Yield a page for each file that the page of statements links to."""
    if app.builder.format != "html":
        return
    statements = (_ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    for name in sorted(set(_SOURCES.findall(statements))):
        code = (_ROOT / name).read_text(encoding="utf-8")
        shown = app.builder.highlighter.highlight_block(code, "python", linenos=False)
        yield f"source/{name}", {"title": name, "body": f"<h1>{name}</h1>{shown}"}, "page.html"


def setup(app):
    """Show the code and the tests of each statement."""
    app.connect("source-read", link_to_sources)
    app.connect("source-read", end_examples)
    app.connect("html-collect-pages", source_pages)
