"""The page on plots: a picture below each example, of what the example calls ``ax``."""

import re
from pathlib import Path

from docs_scripts import script

from otspec import plots

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
PARTS = dict(script("plots").parts(PAGE))


def test_each_picture_is_below_an_example_that_draws_it():
    assert len(PARTS) > 10
    for name, source in PARTS.items():
        assert re.search(r"^ax = plots\.", source, re.MULTILINE), name


def test_the_pictures_are_there_vectors_with_text_and_without_a_ground():
    folder = ROOT / "docs" / "pictures"
    assert {file.name for file in folder.glob("plot_*")} == set(PARTS)
    for name in PARTS:
        text = (folder / name).read_text(encoding="utf-8")
        assert "<text" in text, name
        assert "#7a7a7a" in text, name
        assert "dc:date" not in text, name
        assert "fill: #ffffff" not in text.lower(), name


def test_every_plot_is_on_the_page_and_drawn():
    helpers = {"explain", "look_of", "look_of_several", "save", "save_acceptance_chart", "svg"}
    for name in set(plots.__all__) - helpers:
        assert f"| {{func}}`~otspec.plots.{name}` |" in PAGE, name
    of_runs = {"gap_quantiles", "temperatures"}
    drawn = set(re.findall(r"plots\.(\w+)\(", "\n".join(PARTS.values())))
    assert set(plots.__all__) - helpers - of_runs <= drawn
