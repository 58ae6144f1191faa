"""Configuration of the documentation."""

from otspec.version import __version__

project = "otspec"
author = "The otspec authors"
copyright = "2026, The otspec authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_param = False  # types such as "ndarray, shape (n,)" are prose, not references
napoleon_use_rtype = False
html_theme = "furo"
html_title = "otspec"
