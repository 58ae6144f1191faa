"""Colors of plots: on bright and dark pages, and as the color-blind see them."""

from itertools import product

import numpy as np
import pytest
from matplotlib import colors, rcParams, style

from otspec.plots.axes import LOOKS
from otspec.plots.canvas import letters
from otspec.rules import compared_rules

# Machado, Oliveira and Fernandes (2009), severity 1.0: linear RGB as seen.
SEEN = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}  # fmt: skip


def linear(color):
    rgb = np.array(colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, two):
    low, high = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, two))
    return (high + 0.05) / (low + 0.05)


def test_ink_is_legible_on_bright_and_dark_pages_and_no_rule_is_lost_on_either():
    with style.context("otspec.plots.page"):
        ink = rcParams["text.color"]
    for ground in ("#FFFFFF", "#131416"):
        assert contrast(ink, ground) > 4.2  # sqrt(1.05 / 0.057) = 4.29 is the most for both
        assert all(contrast(LOOKS[rule.title].color, ground) > 2.2 for rule in compared_rules())


@pytest.mark.parametrize(
    ("ink", "grounds", "least"),
    [("black", ["#FFFFFF"], 4.5), ("#E6E6E6", ["#131416"], 4.5),
     ("#7A7A7A", ["#FFFFFF", "#131416"], 4.2)],
)  # fmt: skip
def test_names_of_lines_are_as_legible_as_the_ink(ink, grounds, least):
    with style.context({"text.color": ink}):
        shades = {look.color: letters(look.color) for look in LOOKS.values()}
    for color, shade in shades.items():
        assert min(contrast(shade, ground) for ground in grounds) >= least
        if min(contrast(color, ground) for ground in grounds) >= 4.6:
            assert shade == color.lower()


@pytest.mark.parametrize("sight", SEEN)
def test_rules_are_told_apart_by_the_color_blind_and_in_print(sight):
    rules = compared_rules()
    looks = [LOOKS[rule.title] for rule in rules]
    assert len({look.marker for look in looks}) == len(rules)
    assert len({look.color for look in looks}) == len(rules)
    seen = {
        rule.title: np.clip(SEEN[sight] @ linear(LOOKS[rule.title].color), 0, 1) for rule in rules
    }
    for one, two in product(seen, repeat=2):
        if one < two:
            assert np.abs(seen[one] - seen[two]).max() > 0.02, (one, two)
