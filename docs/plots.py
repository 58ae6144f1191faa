"""The pictures of the page on plots, each drawn by the example above it: ``python docs/plots.py``.

An example calls what it draws ``axes``.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from pathlib import Path

from otspec.plots import save
from otspec.plots.canvas import PAGE, STYLE, in_style

ROOT = Path(__file__).parents[1]
PAGE_OF_PLOTS = ROOT / "docs" / "plots.md"
PICTURE = re.compile(r"\]\(pictures/(plot_\w+\.svg)\)")


def parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each picture, and the examples since the one before."""
    start = 0
    for found in PICTURE.finditer(text):
        examples = doctest.DocTestParser().get_examples(text[start : found.start()])
        yield found[1], "".join(example.source for example in examples)
        start = found.end()


def draw(folder: Path = ROOT / "docs" / "pictures") -> None:
    """Run the examples, and draw the pictures into a folder."""
    known: dict[str, object] = {}
    with in_style(PAGE, STYLE):
        for name, source in parts(PAGE_OF_PLOTS.read_text(encoding="utf-8")):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, name, "exec"), known)  # noqa: S102 - the page's own code
            save(known["ax"], folder / name)


if __name__ == "__main__":
    draw()
