"""The explorer in a browser: what it shows is what the package computes."""

import re
from fractions import Fraction

import numpy as np
import pytest
from docs_scripts import script
from explorer_checks import POOLED, TWO_HUBS, check, check_lines, floats, link
from explorer_page import DOCS

from otspec.drafts import LAWS
from otspec.plots.axes import LOOKS
from otspec.rules import compared_rules

PRESETS = script("explorer_presets").presets()


def test_examples_are_those_of_the_figures():
    presets = script("explorer_presets")
    assert presets.PAGE.read_text(encoding="utf-8") == presets.script(), (
        "run: python -m docs.explorer_presets"
    )


@pytest.mark.parametrize("place", sorted({preset.place for preset in PRESETS}))
def test_sources_of_examples_are_places_of_the_site(place):
    page, _, name = place.partition("#")
    text = (DOCS / page).with_suffix(".md").read_text(encoding="utf-8")
    labels = re.findall(r"^\((.*)\)=$|^#+ (.*)$", text, flags=re.MULTILINE)
    known = {re.sub(r"[ _]", "-", "".join(label).lower()) for label in labels}
    assert not name or name in known


def test_rules_look_as_in_every_picture(desk):
    desk.open()
    assert desk.tab.evaluate("otspec.explorer.looks.LOOKS") == {
        rule.name: {"color": LOOKS[rule.title].color, "marker": LOOKS[rule.title].marker}
        for rule in compared_rules()
    }


def test_examples_show_the_numbers_of_the_package(desk):
    desk.open()
    for i, preset in enumerate(PRESETS):
        if i:  # the first one is there
            desk.after(desk.part("preset").select_option, str(i))
        draft, target = floats(preset.draft), floats(preset.target)
        shown = desk.shown()
        check(shown, draft, target, preset.k, preset.law)
        if len(draft) <= 8 and i % 2:
            check_lines(shown, draft, target, preset.law)


def random_states(count):
    """Yield draft, target, k and law; masses are decimals, some of them 0."""
    rng = np.random.default_rng(25)
    laws = [*LAWS, TWO_HUBS]
    for i in range(count):
        n = int(rng.integers(2, 17))
        sides = []
        for _ in range(2):
            weights = rng.dirichlet(np.full(n, 0.7)) * (rng.random(n) < 0.9)
            weights[rng.integers(n)] += 0.1
            units = np.floor(weights / weights.sum() * 10_000).astype(int)
            units[units.argmax()] += 10_000 - units.sum()
            sides.append([unit / 10_000 for unit in units.tolist()])
        law = laws[i % len(laws)]
        some = sum(mass > 0 for mass in sides[0])
        most = {"iid": 16, "hub": 2, TWO_HUBS: 2}.get(law, min(some, 6))
        k = 2 if most == 2 else int(rng.integers(1, most + 1))
        yield *sides, k, law


def test_random_states_show_the_numbers_of_the_package(desk):
    desk.open()
    for draft, target, k, law in random_states(12):
        desk.go(link(draft, target, k, law))
        if law in ("hub", TWO_HUBS) and sum(mass > 0 for mass in draft) < 2:
            continue
        check(desk.shown(), draft, target, k, law)


def test_a_link_is_followed_while_the_address_still_follows_the_state_before(desk):
    """The address is written a moment after a change: it may come between a link and its event."""
    desk.open()
    late = """hash => {
        const before = location.href;
        location.hash = hash;
        history.replaceState(null, "", before);
    }"""
    desk.after(desk.tab.evaluate, late, link([0.5, 0.25, 0.25], [0.125, 0.5, 0.375], 2, "iid"))
    check(desk.shown(), [0.5, 0.25, 0.25], [0.125, 0.5, 0.375], 2, "iid")


def test_too_few_tokens_for_distinct_drafts_are_said(desk):
    desk.open(link(["1/2", "1/2", "0"], ["1/3", "1/3", "1/3"], 3, "without-replacement"))
    words = desk.shown()["problem"]
    assert "2 tokens of positive probability" in words
    assert "lower k to 2" in words
    desk.after(desk.part("k").fill, "2")
    check(desk.shown(), [0.5, 0.5, 0.0], [1 / 3] * 3, 2, "without-replacement")


def dragged(explorer, side, token, height):
    """Drag a bar to a share of the picture's height, in steps."""
    explorer.part("bars").scroll_into_view_if_needed()  # another test may have scrolled
    start = explorer.bar(side, token).locator(".ot-bar-grip").bounding_box()
    box = explorer.part("bars").bounding_box()
    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
    mouse = explorer.tab.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, (y + box["y"]) / 2)
    mouse.move(x, box["y"] + box["height"] * height)
    mouse.up()


def test_a_dragged_bar_keeps_the_sum_and_the_ratios(desk):
    desk.open(link(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], 2, "iid"))
    desk.after(dragged, desk, "draft", 0, 0.25)
    draft, target = desk.values("draft"), desk.values("target")
    assert target == [0.1, 0.6, 0.3]
    assert draft[0] not in (0.5, 1.0)
    assert sum(map(Fraction, desk.masses("draft"))) == 1
    assert draft[1] / draft[2] == pytest.approx(1.5, abs=1e-4 / draft[2] * 2)
    assert float(desk.bar("draft", 0).get_attribute("aria-valuenow")) == draft[0]
    check(desk.shown(), draft, target, 2, "iid")
    check_lines(desk.shown(), draft, target, "iid")
    assert desk.part("preset").input_value() == ""


def test_a_bar_goes_on_above_the_axis_without_a_jump(desk):
    desk.open(link(["1/4"] * 4, ["1/4"] * 4, 2, "iid"))  # the axis ends at 0.5
    desk.after(dragged, desk, "draft", 2, 16 / 260)
    # 260 high, 0 at 230 and 0.5 at 26, in steps of 0.005
    assert desk.values("draft")[2] == 0.525


def test_a_bar_that_takes_all_gives_back_what_the_others_had(desk):
    desk.open(link(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], 2, "iid"))
    bar = desk.bar("draft", 0)
    bar.focus()
    desk.after(bar.press, "End")
    assert desk.masses("draft") == ["1", "0", "0"]
    check(desk.shown(), [1.0, 0.0, 0.0], [0.1, 0.6, 0.3], 2, "iid")
    desk.after(bar.press, "Home")
    assert desk.masses("draft") == ["0", "0.5", "0.5"]


def test_keys_move_bars(desk):
    desk.open(link(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], 2, "iid"))
    bar = desk.bar("target", 1)
    bar.focus()
    desk.after(bar.press, "ArrowUp")
    assert desk.masses("target") == ["0.0975", "0.61", "0.2925"]
    desk.after(bar.press, "Shift+ArrowDown")
    desk.after(bar.press, "PageDown")
    assert desk.masses("target")[1] == "0.509"
    assert bar.get_attribute("aria-valuetext") == "50.90 %"
    check(desk.shown(), [0.5, 0.3, 0.2], desk.values("target"), 2, "iid")
    desk.after(desk.part("k").press, "ArrowRight")
    desk.after(desk.part("law-choice").select_option, "without-replacement")
    check(desk.shown(), [0.5, 0.3, 0.2], desk.values("target"), 3, "without-replacement")


def test_tokens_come_and_go(desk):
    fifteen = ["1/2", "1/2"] + ["0"] * 13
    desk.open(link(fifteen, fifteen[::-1], 2, "iid"))
    desk.after(desk.part("add").click)
    assert desk.part("add").is_disabled()
    assert desk.masses("draft") == [*fifteen, "0"]
    bar = desk.bar("draft", 15)
    bar.focus()
    desk.after(bar.press, "PageUp")
    check(desk.shown(), desk.values("draft"), desk.values("target"), 2, "iid")
    desk.go(link(["1/2", "3/10", "1/5"], ["0", "0", "1"], 2, "iid"))
    desk.after(desk.part("remove").click)
    assert (desk.masses("draft"), desk.masses("target")) == (["0.625", "0.375"], ["0.5", "0.5"])
    desk.after(desk.part("remove").click)
    assert desk.part("remove").is_disabled()
    check(desk.shown(), [1.0], [1.0], 2, "iid")


def test_a_point_of_the_triangle_is_dragged(desk):
    desk.open()
    point = desk.tab.locator('.ot-simplex-point[data-side="target"] .ot-simplex-mark')
    region = desk.tab.locator(".ot-region")
    region.scroll_into_view_if_needed()
    start, goal = point.bounding_box(), region.bounding_box()
    mouse = desk.tab.mouse
    mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    mouse.down()
    desk.after(mouse.move, goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2)
    mouse.up()
    assert sum(map(Fraction, desk.masses("target"))) == 1
    shown = desk.shown()
    assert shown["optimum"] == 1
    check(shown, desk.values("draft"), desk.values("target"), 2, "iid")


def test_the_uniform_number_decides_the_groups(desk):
    desk.open()
    desk.after(desk.part("preset").select_option, index=10)
    before = desk.part("groups").inner_text()
    desk.after(desk.part("w").fill, "0.6")
    after = desk.part("groups").inner_text()
    rule = POOLED["iid"](floats(PRESETS[9].draft), floats(PRESETS[9].target), 3)
    for words, uniform in ((before, 0.4), (after, 0.6)):
        groups = sum(lifetime > uniform for lifetime in rule.lifetimes) - 1
        assert f"At w = {uniform} there are {groups} groups." in words


def test_a_draw_is_stepped_to_the_output(desk):
    desk.open()
    numbers = {"drafts": [0.1, 0.2], "noise": [0.5] * 16, "w": 0.4, "member": 0.9, "keep": 0.99,
               "correction": 0}  # fmt: skip
    desk.tab.evaluate("numbers => otspec.explorer.drawView.begin(numbers)", numbers)
    steps = desk.part("draw-steps").locator("li")
    for step in range(1, 6):
        assert steps.count() == step
        assert desk.part("draw-next").is_disabled() == (step == 5)
        if step < 5:
            desk.part("draw-next").click()
    said = steps.all_text_contents()
    assert said[0] == "2 drafts: token 0, token 0."
    # Both drafts are token 0, which is wanted with 0.1 and selected with 0.25: target 0.4 of it.
    assert said[4].startswith("Token 0 is replaced: it is kept with probability 0.4 only.")
    desk.part("draw-anew").click()
    assert steps.count() == 1
    assert not desk.part("draw-next").is_disabled()
