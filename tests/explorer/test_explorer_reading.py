"""The explorer in a browser: labels are whole, numbers agree, and what is out of date is marked."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from docs_scripts import script
from explorer_checks import link
from searching import NIGHTLY, by_day

PRESETS = script("explorer_presets").presets()

CLIPPED = """() => [...document.querySelectorAll("#ot-explorer svg text")].flatMap((label) => {
    const inner = label.getBoundingClientRect();
    const outer = label.ownerSVGElement.getBoundingClientRect();
    const seen = inner.width > 0 && outer.width > 0;
    const inside = inner.left >= outer.left - 0.5 && inner.right <= outer.right + 0.5
        && inner.top >= outer.top - 0.5 && inner.bottom <= outer.bottom + 0.5;
    return seen && !inside ? [label.textContent] : [];
})"""
"""The labels that reach out of their pictures."""

OVERFLOWING = """() => [...document.querySelectorAll("#ot-explorer *")].filter((element) => {
    const scrolls = element.closest("pre, textarea, select, .ot-scroll, .ot-hidden, svg");
    return !scrolls && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1
        && getComputedStyle(element).overflowX !== "visible";
}).map((element) => element.textContent.trim().slice(0, 40))"""
"""Texts of which a part is hidden by the element they are in."""


def whole(explorer):
    return explorer.tab.evaluate(CLIPPED) + explorer.tab.evaluate(OVERFLOWING)


def states():
    """Yield states that have long labels, or labels at an edge."""
    for preset in PRESETS:
        yield link(preset.draft.split(","), preset.target.split(","), preset.k, preset.law)
    yield link(["1", "0", "0"], ["0", "0", "1"], 2, "iid")
    yield link(["0", "1", "0"], ["0", "1", "0"], 16, "iid", 0.99)
    yield link(["0.99998", "0.00002"], ["0.00002", "0.99998"], 1, "iid", 0)
    many = [str(Fraction(i + 1, 136)) for i in range(16)]
    yield link(many, many[::-1], 16, "without-replacement")
    yield link(many, many[::-1], 2, "hub")


@pytest.mark.parametrize("device", ["desk", "phone"])
def test_no_label_is_clipped(request, device):
    explorer = request.getfixturevalue(device)
    # By day the wide page, which has more room, is at every other one.
    step = 1 if NIGHTLY or device == "phone" else 2
    for state in list(states())[::step]:
        explorer.open(state)
        assert whole(explorer) == [], state


@pytest.mark.parametrize(
    ("tokens", "device"),
    [
        (1_000, "phone"),
        (120_000, "desk"),
        pytest.param(1_000, "desk", marks=pytest.mark.nightly),
        pytest.param(120_000, "phone", marks=pytest.mark.nightly),
    ],
)
def test_no_label_of_a_large_vocabulary_is_clipped(request, device, tokens):
    explorer = request.getfixturevalue(device)
    explorer.open()
    masses = ["0"] * (tokens - 40) + [str(Fraction(i + 1, 820)) for i in range(40)]
    masses[-2:] = ["79/820", "0.0000000001"]  # shown as 1.0e-10
    masses[-40] = str(Fraction(1, 820) - Fraction("0.0000000001"))
    for side, texts in (("draft", masses), ("target", masses[::-1])):
        explorer.part(f"{side}-text").fill(" ".join(texts))
    explorer.tab.wait_for_function(
        f"document.getElementById('ot-ranked').textContent.includes('token {tokens - 2}')"
    )
    assert whole(explorer) == []


# Numbers that are compared

WORDS = "values => values.map((value) => otspec.explorer.words.{}(value))"


def test_only_what_is_nothing_or_everything_is_shown_as_that(desk):
    desk.open()
    off = [10.0**-i for i in range(1, 11)]
    values = [0, 1, *off, *(1 - value for value in off)]
    for value, shown in zip(
        values, desk.tab.evaluate(WORDS.format("percent"), values), strict=True
    ):
        number = float(shown.removesuffix(" %"))
        assert (number == 0) == (value == 0)
        assert (number == 100) == (value == 1)
        assert number == pytest.approx(100 * value, abs=0.005)
    for value, shown in zip(values, desk.tab.evaluate(WORDS.format("points"), values), strict=True):
        number = float(shown.removesuffix(" points"))
        assert (number == 0) == (value == 0)
        assert number == pytest.approx(100 * value, abs=0.005, rel=0.05)
    for value, shown in zip(values, desk.tab.evaluate(WORDS.format("number"), values), strict=True):
        assert (float(shown) == 0, float(shown) == 1) == (value == 0, value == 1)


def near(size):
    """Return a state in which k-sequential verification is below the optimum by about a size."""
    draft = [Fraction(1, 2), Fraction(1, 2) - size, size]
    target = [Fraction(1, 50), Fraction(1, 200), Fraction(39, 40)]
    return [[str(mass) for mass in side] for side in (draft, target)]


@pytest.mark.parametrize("size", [Fraction(1, 10), Fraction(1, 1_000), Fraction(1, 10**6)])
def test_a_rule_that_is_below_the_optimum_is_nowhere_said_to_be_at_it(desk, size):
    for k in (2, 5):
        desk.open(link(*near(size), k, "iid"))
        shown = desk.shown()
        sentence = desk.part("rules-words").inner_text()
        below = {
            name: shown["optimum"] - acceptance
            for name, acceptance in shown["rules"].items()
            if shown["optimum"] - acceptance > 1e-9
        }
        assert below["k-sequential"] < size
        for name, gap in below.items():
            row = desk.tab.locator(f'#ot-rules-body tr[data-rule="{name}"]').inner_text()
            leaves = float(re.search(r"(\S+) points", row).group(1))
            assert leaves == pytest.approx(100 * gap, abs=0.005, rel=0.05)
            assert leaves > 0
        for told in re.findall(r"(\S+) points less", sentence):
            least = min(below.values())
            assert float(told) == pytest.approx(100 * least, abs=0.005, rel=0.05)
            assert float(told) > 0
        assert bool(below) == ("points less" in sentence)


def test_what_is_lost_is_the_difference_of_the_numbers_beside_it(desk):
    half = Fraction(1, 2)
    for size in (Fraction(1, 10), Fraction(1, 10**5), Fraction(1, 10**8)):
        sides = [str(half + size), str(half - size)], ["1/2", "1/2"]
        desk.open(link(*sides, 1, "iid"))
        proof = desk.part("proof").inner_text()
        inside, target, lost = (
            float(re.search(pattern, proof).group(1))
            for pattern in (
                r"probability (\S+) the draft",
                r"probability (\S+) only",
                r"least (\S+) is",
            )
        )
        assert lost == pytest.approx(float(size), rel=0.05)
        assert inside - target == pytest.approx(lost, rel=0.06)
        assert not desk.part("optimum").inner_text().startswith("100.00")


# Numbers that cannot be read

UNREAD = [
    "0,5 0,5", "0,5", "0,5\n0,3\n0,2", "0,5; 0,5", "0,5,0,5", "0,5, 0,3, 0,2", "12,5% 87,5%",
    "-1,5 2,3 0,1", "x", "", "0.5, 0.3", "1 2",
]  # fmt: skip


@pytest.mark.parametrize("text", UNREAD)
@pytest.mark.parametrize("turn", by_day([0, 1], [0]))
def test_what_is_of_other_numbers_is_marked(desk, text, turn):
    side = ("draft", "target")[(UNREAD.index(text) + turn) % 2]
    desk.open()
    marked = [
        "bars", "brief", "optimum", "proof", "rules-words", "rules-body", "k-chart",
        "simplex-chart", "selection-chart", "law-chart", "link", "python", "shell", "tokens",
    ]  # fmt: skip
    faded = """names => names.map((name) => {
        let shown = 1;
        for (let part = document.getElementById(`ot-${name}`); part; part = part.parentElement)
            shown *= Number(getComputedStyle(part).opacity);
        return shown < 0.5;
    })"""
    assert not any(desk.tab.evaluate(faded, marked))
    desk.part(f"{side}-text").fill(text)
    assert desk.part("problem").is_visible()
    assert desk.part("stale").is_visible()
    assert all(desk.tab.evaluate(faded, marked))
    # Of other numbers that are chosen all is shown, though one is still in the field.
    desk.after(desk.part("preset").select_option, "1")
    assert desk.masses("draft") == PRESETS[1].draft.split(",")
    assert not any(desk.tab.evaluate(faded, marked))
    assert not desk.part("stale").is_visible()
    assert not desk.part("problem").is_visible()


@pytest.mark.parametrize("text", [each for each in UNREAD if "," in each and "." not in each])
def test_a_decimal_comma_is_never_taken_for_two_numbers(desk, text):
    desk.open()
    desk.part("draft-text").fill(text)
    said = desk.part("problem").inner_text()
    first = re.search(r"\d+,\d+", text).group()
    assert first.replace(",", ".") in said or "write 0.5 for 0,5" in said
    assert desk.part("problem").get_by_role("button").count() == 0  # nothing is made of it
