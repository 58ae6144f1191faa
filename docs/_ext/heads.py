"""What pages have around their text: a description for searches, the sidebar, ways back."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable, Collection
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LENGTH = 200
"""The letters that a description has at most."""


def describe(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], tree: Any) -> None:
    """Let the first paragraph of a page be its description."""
    first = next((tree and tree.findall(nodes.paragraph)) or iter(()), None)
    if first is None or 'name="description"' in context["metatags"]:
        return
    text = textwrap.shorten(first.astext(), LENGTH, placeholder=" …")
    context["metatags"] += f'<meta name="description" content="{html.escape(text)}" />'


BACK = re.compile(r'(?<=class="viewcode-back" href=")([^"#]*#)([^"]*)')


def lead_back(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Let the ways back from shown code end at what is documented.

    They have one package for all of a module, of which parts may be documented in another.
    """
    if page.startswith("_modules/"):
        known = app.env.domaindata["py"]["objects"]
        body = context["body"]
        context["body"] = BACK.sub(lambda found: found[1] + documented(found[2], known), body)


def documented(name: str, known: Collection[str]) -> str:
    """Return the documented name whose end is the longest that a name has as well."""
    words = name.split(".")
    ends = (".".join(["", *words[first:]]) for first in range(len(words)))
    found = (each for end in ends for each in known if f".{each}".endswith(end))
    return next(found, name)


class Sidebar:
    """The sidebar of pages that are in no group, such as shown source files.

    There are hundreds of them, and to make the sidebar takes longer than the page. It differs by
    the depth of the folder only.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], str] = {}

    def reuse(
        self, app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any
    ) -> None:
        """Let a page without a text of its own have the sidebar of the one before."""
        if page not in app.env.found_docs and "toctree" in context:
            context["toctree"] = self._remembered(page.count("/"), context["toctree"])

    def _remembered(self, depth: int, make: Callable[..., str]) -> Callable[..., str]:
        def toctree(**options: Any) -> str:
            key = depth, *sorted(options.items())
            if key not in self._made:
                self._made[key] = make(**options)
            return self._made[key]

        return toctree


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx call these functions."""
    app.connect("html-page-context", describe)
    app.connect("html-page-context", lead_back)
    app.connect("html-page-context", Sidebar().reuse, priority=400)  # before the theme asks
    return {"parallel_read_safe": True, "parallel_write_safe": True}
