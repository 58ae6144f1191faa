"""Where plots are drawn, in which style, and how they are written: to files, inside of pages."""

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

import numpy as np

from otspec._base import Array, Number, in_one_step, needed, shown
from otspec._base.arguments import as_instance, as_integer, as_list, as_path
from otspec.estimate import Quantity
from otspec.traces.printable import escaped, printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist as Artist  # noqa: PLC0414
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414
    from matplotlib.figure import Figure as Figure  # noqa: PLC0414
    from matplotlib.lines import Line2D as Line2D  # noqa: PLC0414
else:
    Artist = Axes = Figure = Line2D = Any  # Matplotlib is imported when something is drawn

STYLE = "otspec.plots.otspec"  # style sheet of all pictures, as Matplotlib finds it
PAGE = "otspec.plots.page"  # what goes on top of it for pages that are bright or dark
WIDE = (6.6, 3.2)  # inches of a picture with a legend beside it
_ONE_AT_A_TIME = RLock()


@contextmanager
def panel_on(ax: Axes | None, size: tuple[float, float] = WIDE) -> Iterator[Axes]:
    """Give the axes to draw on: those that are given, or new ones, drawn in the package's style."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if ax is not None:
        panel: Axes = as_instance(ax, "ax", Axes, "Matplotlib's axes, or None for new ones")
        if panel.name != "rectilinear":
            raise ValueError(f"axes are {panel.name}: pass rectilinear ones, or None for new ones")
        yield panel
        return
    with in_style(STYLE):
        yield Figure(figsize=size, layout="constrained").add_subplot()


@contextmanager
def in_style(*styles: str | dict[str, Any]) -> Iterator[None]:
    """Let what is drawn meanwhile have styles, and put back those of the process."""
    # One thread at a time: with two, what the first one put in place would be put back last.
    from matplotlib import style

    with _ONE_AT_A_TIME, style.context(list(styles)):
        yield


def ink() -> str:
    """Return the color of text in the style at hand: the optimum and outlines have it."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.text import Text

    return str(Text().get_color())


_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # red, green, blue (WCAG 2.2)
_DARK, _BRIGHT = 0.18, 0.21  # contrast 4.5 with white, and with #131416


def letters(color: Any) -> str:
    """Return the shade of a color in which letters are as printable as those in the style's ink."""
    from matplotlib import colors

    def light(of: Any) -> Array:
        rgb = np.array(colors.to_rgb(of))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)

    ground_known = not _DARK < (of_ink := float(light(ink()) @ _LUMINANCE)) < _BRIGHT
    low, high = (
        (of_ink, of_ink) if not ground_known else (0, _DARK) if of_ink < 0.2 else (_BRIGHT, 1)
    )
    shade = light(color)
    bright = float(shade @ _LUMINANCE)
    if bright > high:
        shade = shade * high / bright
    elif bright < low:
        shade = shade + (1 - shade) * (low - bright) / (1 - bright)
    coded = np.where(shade <= 0.0031308, 12.92 * shade, 1.055 * shade ** (1 / 2.4) - 0.055)
    return str(colors.to_hex(tuple(np.clip(coded, 0, 1).tolist())))


def drawable(text: str) -> str:
    """Return a text that Matplotlib's font can draw: letters that it lacks are escaped."""
    # Else each of them would be a warning and an empty box.
    fonts = needed("matplotlib.font_manager", "drawing", "plots")
    known = fonts.get_font(fonts.findfont(fonts.FontProperties())).get_charmap()
    return "".join(it if ord(it) in known else escaped(it) for it in printable(text))


def decimals(number: Number | Quantity) -> str:
    """Return a number as pictures have it, with four decimals."""
    return f"{float(number):z.4f}"


LETTERS_AS_TEXT = {"svg.fonttype": "none", "svg.hashsalt": "otspec", "pdf.fonttype": 42}
"""What Matplotlib looks up when it writes, not when it draws."""
_NO_DATE: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def save(drawn: Axes | Figure, path: str | PathLike[str], *, dpi: int = 200) -> None:
    """Write a picture in one step: in SVG and PDF its text is text, and the file has no date.

    Parameters
    ----------
    drawn : matplotlib.axes.Axes or matplotlib.figure.Figure
        The figure, or some axes of it.
    path : path
        Its ending decides the format, as in Matplotlib.
    dpi : int
        Of formats that have pixels, up to 2,400.

    Raises
    ------
    ValueError
        Something else, or a format that Matplotlib does not write.
    OSError
        The file cannot be written.
    """
    figure, to, dots = as_figure(drawn), as_path(path), as_integer(dpi, "dpi", 1, 2_400)
    with in_style(LETTERS_AS_TEXT), in_one_step(to) as stream:
        metadata = _NO_DATE.get(to.suffix.lower())
        figure.savefig(stream, dpi=dots, format=to.suffix[1:] or None, metadata=metadata)


def as_figure(drawn: Any) -> Figure:
    """Return the figure of axes, or a figure."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    figure = drawn.get_figure(root=True) if isinstance(drawn, Axes) else drawn
    if not isinstance(figure, Figure):
        raise ValueError(f"drawn is {shown(drawn)}: pass Matplotlib's axes or a figure")
    return figure


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
