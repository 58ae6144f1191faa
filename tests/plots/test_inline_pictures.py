"""SVG inside of a page: what marks say, names of one's own, no date, ink of the text around it."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from otspec import plots

SVG = "{http://www.w3.org/2000/svg}"


def drawn():
    axes = Figure().add_subplot()
    (line,) = axes.plot([1, 2, 3], [3, 1, 2], color="black", marker="o", label="a < b & c")
    axes.bar([1], [2], color="black")
    axes.legend(frameon=False)
    return axes, line


def parsed(text):
    return ElementTree.fromstring(text)  # noqa: S314 - the package wrote it just now


def titles(text):
    """Return what each mark says, by its element: (tag, text), in the order of the picture."""
    root = parsed(text)
    return [
        (parent.tag.removeprefix(SVG), node.text)
        for parent in root.iter()
        for node in parent.findall(f"{SVG}title")
    ]


def identifiers(text):
    root = parsed(text)
    return [node.get("id") for node in root.iter() if node.get("id")]


def test_each_mark_says_its_own_text_and_a_whole_artist_its_only_one():
    axes, line = drawn()
    words = ["one", "two <b>&\"'", "δρεί"]
    plots.explain(line, words)
    plots.explain(axes.patches[0], ["a bar"])
    text = plots.svg(axes, "what it shows")
    assert titles(text) == [("g", "a bar"), *(("use", word) for word in words)]
    root = parsed(text)
    marks = [node for node in root.iter(f"{SVG}use") if node.find(f"{SVG}title") is not None]
    wanted = axes.transData.transform([[1, 3], [2, 1], [3, 2]]) * 72 / axes.figure.dpi
    height = float(root.get("viewBox").split()[3])
    found = [[float(node.get("x")), height - float(node.get("y"))] for node in marks]
    assert np.abs(np.array(found) - wanted).max() < 1e-4  # digits that a picture is written with


def test_any_text_can_be_said():
    axes, line = drawn()
    plots.explain(line, ["a\x01b", "two\nlines", "\udcff\U0001f600"])
    text = plots.svg(axes, "\x1b[1m a name")
    assert [words for _, words in titles(text)] == ["a\\x01b", "two\nlines", "\\xff\U0001f600"]
    assert parsed(text).get("aria-label") == "\\x1b[1m a name"


def test_a_scatter_and_cells_say_what_they_show():
    for draws in (
        lambda axes: axes.scatter([1, 2, 3, 4], [1, 2, 1, 2]),
        lambda axes: axes.pcolormesh(np.arange(4.0).reshape(2, 2)),
    ):
        axes = Figure().add_subplot()
        plots.explain(draws(axes), list("abcd"))
        assert [text for _, text in titles(plots.svg(axes, "marks"))] == list("abcd")


def test_the_same_picture_is_the_same_text_and_two_share_no_name():
    one, two = (plots.svg(drawn()[0].figure, "a") for _ in range(2))
    assert one == two
    other = plots.svg(drawn()[0], "a")
    assert other == one
    axes, _ = drawn()
    axes.set_title("another")
    names, others = identifiers(one), identifiers(plots.svg(axes, "a"))
    assert names
    assert not set(names) & set(others)
    assert len(set(names)) == len(names)
    used = re.findall(r"(?:href=\"|url\()#([^\")]+)", one)
    assert set(used) == set(names)


def test_ink_is_that_of_the_page_text_is_text_and_nothing_leads_outside():
    axes, _ = drawn()
    axes.set_xlabel("a label")
    text = plots.svg(axes, 'says "so" & more')
    root = parsed(text)
    assert root.get("fill") == "currentColor"
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'says "so" & more'
    assert "#000000" not in text
    assert "a label" in [node.text for node in root.iter(f"{SVG}text")]
    assert "a < b & c" in [node.text for node in root.iter(f"{SVG}text")]
    for outside in ("<metadata", "<style", "http://purl", "<?xml", "<!DOCTYPE", "xlink"):
        assert outside not in text
    backgrounds = [node for node in root.iter(f"{SVG}path") if "fill: #ffffff" in str(node.attrib)]
    assert not backgrounds


def test_saved_pictures_have_text_and_no_date_and_are_the_same_again(tmp_path):
    for ending in ("svg", "pdf", "png"):
        files = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
        for file in files:
            axes = drawn()[0]
            axes.set_title("what it says")
            plots.save(axes, file)
        one, two = (file.read_bytes() for file in files)
        assert one == two
        if ending == "svg":
            assert b">what it says</text>" in one
        if ending == "pdf":
            assert b"/CIDFontType2" in one
            assert b"/CreationDate" not in one
    with pytest.raises(ValueError, match=r"^drawn is 3"):
        plots.save(3, tmp_path / "three.svg")
    with pytest.raises(ValueError, match="xyz"):
        plots.save(axes, tmp_path / "four.xyz")
    assert not (tmp_path / "four.xyz").exists()


def test_what_a_figure_said_of_itself_stays():
    axes, line = drawn()
    line.set_gid("mine")
    plots.explain(line, ["all of it"])
    plots.svg(axes, "a")
    assert line.get_gid() == "mine"


def test_invisible_artists_say_nothing():
    axes, line = drawn()
    plots.explain(line, ["one", "two", "three"])
    line.set_visible(False)
    assert titles(plots.svg(axes, "a")) == []


def test_texts_that_fit_no_marks_are_refused():
    axes, line = drawn()
    plots.explain(line, ["one", "two"])
    with pytest.raises(ValueError, match="has 3 marks in the picture and 2 texts: explain each"):
        plots.svg(axes, "a")
    for texts in ([], "words", [1], None):
        with pytest.raises(ValueError, match=r"^texts"):
            plots.explain(line, texts)
    with pytest.raises(ValueError, match=r"^artist is"):
        plots.explain("line", ["one"])


@pytest.mark.parametrize("value", [None, "axes", 3])
def test_what_is_no_picture_is_refused(value):
    with pytest.raises(ValueError, match=r"^drawn is .*: pass Matplotlib's axes or a figure"):
        plots.svg(value, "a")


def test_a_picture_has_a_description():
    with pytest.raises(ValueError, match=r"^description is None: pass a string"):
        plots.svg(drawn()[0], None)
