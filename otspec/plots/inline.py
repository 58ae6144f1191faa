"""Pictures inside of a page: SVG whose text is text, and whose marks say what they show."""

import hashlib
import io
import re
from collections.abc import Sequence
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

from otspec._base.arguments import as_instance, as_list
from otspec._base.coerce import shown
from otspec._base.extras import needed
from otspec.plots.canvas import LETTERS_AS_TEXT, Artist, Axes, Figure, as_figure, in_style
from otspec.traces.printable import printable

_SVG = "http://www.w3.org/2000/svg"
_REFERENCE = re.compile(r"(^|url\()#([^)\s]+)")
_REFERRING = {"href", "clip-path", "style"}
_TEXTS: WeakKeyDictionary[Artist, tuple[str, ...]] = WeakKeyDictionary()


def explain(artist: Artist, texts: Sequence[str]) -> None:
    """Say what the marks of an artist show, for those who point at them in :func:`svg`.

    Parameters
    ----------
    artist : matplotlib.artist.Artist
        A line with markers, a collection, a patch or a text.
    texts : sequence of str
        One for each of its marks, in their order; or one for all of it.

    Raises
    ------
    ValueError
        No artist, or no texts; or Matplotlib is not installed.
    """
    needed("matplotlib", "drawing", "plots")
    from matplotlib.artist import Artist

    as_instance(artist, "artist", Artist, "an artist of Matplotlib")
    found = tuple(as_list(texts, "texts", "a list of strings"))
    for text in found:
        if not isinstance(text, str):
            raise ValueError(f"texts holds {shown(text)}: pass a list of strings")
    if not found:
        raise ValueError("texts is empty: pass one for each mark, or one for all")
    _TEXTS[artist] = found


def svg(drawn: Axes | Figure, description: str) -> str:
    """Return a picture as an element of a page, which needs nothing else.

    Text is text, the ground is transparent, and what is black has the color of the text around
    the picture, on a dark page as on a bright one. What :func:`explain` says of marks is shown
    when they are pointed at. The same picture is the same element, without a date; two that differ
    share no identifier, so that one page may have both.

    Parameters
    ----------
    drawn : matplotlib.axes.Axes or matplotlib.figure.Figure
        The figure, or some axes of it.
    description : str
        What the picture shows, for those who do not see it.

    Returns
    -------
    str
        An ``<svg>`` element, also the content of a file.

    Raises
    ------
    ValueError
        Something else; or an artist has another number of marks in the picture than
        :func:`explain` was given texts, such as points outside of the picture.
    """
    figure = as_figure(drawn)
    if not isinstance(description, str):
        raise ValueError(f"description is {shown(description)}: pass a string")
    explained = [artist for artist in figure.findobj() if artist in _TEXTS]
    known = [artist.get_gid() for artist in explained]
    try:
        for place, artist in enumerate(explained):
            artist.set_gid(f"explained-{place}")
        stream = io.StringIO()
        with in_style(LETTERS_AS_TEXT):
            figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    finally:
        for artist, gid in zip(explained, known, strict=True):
            artist.set_gid(gid)
    root = _plain(stream.getvalue())
    groups = {node.get("id"): node for node in root.iter()}
    for place, artist in enumerate(explained):
        group = groups.get(f"explained-{place}")
        if group is not None:  # invisible ones are not there
            _title(group, _TEXTS[artist], artist)
    root.attrib |= {"role": "img", "aria-label": _shown(description)}
    return _named(root)


def _plain(text: str) -> ElementTree.Element:
    """Return a picture of Matplotlib's without namespaces, metadata and style for a whole page."""
    root = ElementTree.fromstring(text)  # noqa: S314 - Matplotlib wrote it just now
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
        for name in [name for name in node.attrib if name.startswith("{")]:
            node.set(name.rpartition("}")[2], node.attrib.pop(name))
        if "style" in node.attrib:
            style = node.attrib["style"]
            node.set("style", style.replace("stroke: #000000", "stroke: currentColor"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
    root.attrib |= {
        "xmlns": _SVG, "fill": "currentColor", "stroke-linejoin": "round", "stroke-linecap": "butt",
    }  # fmt: skip
    return root


def _title(group: ElementTree.Element, texts: Sequence[str], artist: Artist) -> None:
    """Give each mark of a group its text, or all of it the only one."""
    marks = [group]
    if len(texts) > 1:
        defined = {node for defs in group.iter("defs") for node in defs.iter()}
        marks = list(group.iter("use")) or [it for it in group.iter("path") if it not in defined]
    if len(marks) != len(texts):
        raise ValueError(
            f"{shown(artist)} has {len(marks)} marks in the picture and {len(texts)} texts: "
            "explain each mark, and let the axes show all"
        )
    for mark, text in zip(marks, texts, strict=True):
        title = ElementTree.Element("title")
        title.text = _shown(text)
        mark.insert(0, title)


def _shown(text: str) -> str:
    """Return a text, line by line, without characters that no page can hold."""
    return "\n".join(map(printable, text.split("\n")))


def _named(root: ElementTree.Element) -> str:
    """Return a picture as text, its identifiers told apart from those of others."""
    used = {
        name
        for node in root.iter()
        for key in _REFERRING & node.attrib.keys()
        for _, name in _REFERENCE.findall(node.attrib[key])
    }
    own = hashlib.sha256(ElementTree.tostring(root)).hexdigest()[:10]
    for node in root.iter():
        if node.get("id") not in used:
            node.attrib.pop("id", None)
    for node in root.iter():
        if "id" in node.attrib:
            node.set("id", f"{own}-{node.attrib['id']}")
        for key in _REFERRING & node.attrib.keys():
            node.set(key, _REFERENCE.sub(rf"\g<1>#{own}-\g<2>", node.attrib[key]))
    return ElementTree.tostring(root, encoding="unicode")
