"""What every page has around its text: a description for searches, and the sidebar."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LENGTH = 200
"""The letters that a description has at most."""


def describe(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], tree: Any) -> None:
    """Let the first paragraph of a page be its description."""
    from docutils import nodes

    first = next((tree and tree.findall(nodes.paragraph)) or iter(()), None)
    if first is None or 'name="description"' in context["metatags"]:
        return
    text = textwrap.shorten(first.astext(), LENGTH, placeholder=" …")
    context["metatags"] += f'<meta name="description" content="{html.escape(text)}" />'


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
    app.connect("html-page-context", Sidebar().reuse, priority=400)  # before the theme asks
    return {"parallel_read_safe": True, "parallel_write_safe": True}
