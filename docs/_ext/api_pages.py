"""What the pages of the reference have: types that are links, and ways back from shown code."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

OUTSIDE = {
    "Fraction": "fractions.Fraction",
    "callable": "collections.abc.Callable",
    "iterable": "collections.abc.Iterable",
    "iterator": "collections.abc.Iterator",
    "mapping": "collections.abc.Mapping",
    "path": "os.PathLike",
    "sequence": "collections.abc.Sequence",
    "array_like": "numpy.typing.ArrayLike",
    "ndarray": "numpy.ndarray",
    "numpy.random.Generator": "numpy.random.Generator",
    "matplotlib.axes.Axes": "matplotlib.axes.Axes",
    "matplotlib.figure.Figure": "matplotlib.figure.Figure",
    "pyarrow.Table": "pyarrow.Table",
}
"""What docstrings call the types of other projects, whose pages the inventories know."""

WORD = re.compile(r"[A-Za-z_][\w.]*")
TYPE = re.compile(
    r"(?P<before>\*\* \(|^:returns: (?:\* )?|^:Yields: (?:\* )?|^\s*\* )\*(?P<type>[^*]+)\*(?!\*)"
)
"""The type of a parameter or of a result, as napoleon writes it in reStructuredText."""
CLASS = re.compile(r"^\.\. auto(?:class|exception):: ([\w.]+)$", re.MULTILINE)
MODULE = re.compile(r"^\.\. automodule:: ([\w.]+)\n   :members: (.+)$", re.MULTILINE)

BACK = re.compile(r'(?<=class="viewcode-back" href=")([^"#]*#)([^"]*)')


@cache
def classes_of(folder: Path) -> dict[str, str]:
    """Return the full name of each class that the pages of a folder document, by its last word."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md")))
    members = [
        f"{module}.{name}"
        for module, names in MODULE.findall(text)
        for name in names.split(", ")
        if name[0].isupper()
    ]
    return {name.rpartition(".")[2]: name for name in [*CLASS.findall(text), *members]}


def linked(words: str, names: Mapping[str, str]) -> str:
    """Return a type in reStructuredText, with a link for each word that is among the names."""
    pieces, end = [], 0
    for word in WORD.finditer(words):
        if word[0] in names:
            text = word[0].rpartition(".")[2]
            link = f":py:obj:`{text} <{names[word[0]]}>`"
            pieces += [_prose(words[end : word.start()]), link]
            end = word.end()
    return "\\ ".join(filter(None, [*pieces, _prose(words[end:])]))


def _prose(words: str) -> str:
    """Return words with emphasis, which may not begin or end with a blank."""
    return words.replace(words.strip(), f"*{words.strip()}*") if words.strip() else words


def link_types(
    app: Sphinx, _what: str, _name: str, _obj: Any, _opts: Any, lines: list[str]
) -> None:
    """Replace the types in a docstring that napoleon has been through."""
    names = OUTSIDE | classes_of(Path(app.srcdir) / "api")
    lines[:] = [
        TYPE.sub(lambda found: found["before"] + linked(found["type"], names), line)
        for line in lines
    ]


def skip_fields(
    _app: Sphinx, _what: str, _name: str, obj: Any, _skip: bool, _opts: Any
) -> bool | None:
    """Leave out what Python says of the fields of a named tuple: the docstring says more."""
    return True if (getattr(obj, "__doc__", "") or "").startswith("Alias for field") else None


def lead_back(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Let the ways back from shown code end at what is documented.

    They have one package for all of a module, of which parts may be documented in another.
    """
    if page.startswith("_modules/"):
        entries = app.env.domaindata["py"]["objects"].items()
        known = [name for name, entry in entries if not entry.aliased]
        body = context["body"]
        context["body"] = BACK.sub(lambda found: found[1] + documented(found[2], known), body)


def documented(name: str, known: Collection[str]) -> str:
    """Return the documented name whose end is the longest that a name has as well."""
    words = name.split(".")
    ends = (".".join(["", *words[first:]]) for first in range(len(words)))
    found = (each for end in ends for each in known if f".{each}".endswith(end))
    return next(found, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx call these functions."""
    app.connect("autodoc-process-docstring", link_types, priority=600)  # after napoleon
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("html-page-context", lead_back)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
