"""The pictures of pooled selection, and the numbers that the pages print."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from docs_scripts import script
from matplotlib.figure import Figure

import otspec
from figures import pooled_barriers, pooled_gain

ROOT = Path(__file__).parents[2]

GAIN = (ROOT / "docs" / "pooled_gain.md").read_text(encoding="utf-8")
DERIVATION = (ROOT / "docs" / "pooled_proofs.md").read_text(encoding="utf-8")


def tables(page):
    """Return the tables of a page: first cell of a row -> the others."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        rows = [line.strip("|").split("|") for line in block.splitlines()]
        cells = [[cell.strip() for cell in row] for row in rows]
        found.append({first: others for first, *others in cells if first != "---"})
    return found


def range_shown(counts):
    return f"{min(counts):,}–{max(counts):,}"


@pytest.fixture(scope="module")
def gain(computed):
    return computed(pooled_gain.PooledGain)


@pytest.fixture(scope="module")
def example(computed):
    return computed(pooled_barriers.PooledBarriers)


def test_the_page_prints_the_means_that_are_computed(gain):
    acceptance, _ = tables(GAIN)
    assert acceptance.pop("rule") == [f"k = {k}" for k in gain.ks]
    assert acceptance == {
        name: [f"{mean:.4f}" for mean in means] for name, means in gain.acceptance.items()
    }
    assert f"{gain.positions} positions" in GAIN


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0",
    reason="NumPy before 2.3 rounds exponentials differently, so that other ratios are equal",
)
def test_the_page_prints_how_many_pools_are_needed(gain):
    _, table = tables(GAIN)
    several = [(k, i) for i, k in enumerate(gain.ks) if k > 1]
    assert table["pools needed"] == [f"k = {k}" for k, _ in several]
    fewest, ratios = (gain.pools["pooled selection" + end] for end in (", fewest pools", ""))
    assert table["fewest, median"] == [f"{np.median(fewest[i]):,g}" for _, i in several]
    assert table["fewest, range"] == [range_shown(fewest[i]) for _, i in several]
    for _, i in several:
        said = f"{np.median(ratios[i]):,g} (range {range_shown(ratios[i])})"
        assert f"median number of distinct ratios at a position is {said}" in GAIN


def test_pooled_selection_attains_the_optimum_and_no_other_rule_does(gain):
    # Sums over n tokens; means of 18 of them.
    slack = 49152 * max(gain.ks) * np.finfo(float).eps
    for name, losses in gain.loss.items():
        exact = name in ("optimum", "pooled selection", "pooled selection, fewest pools")
        for k, loss in zip(gain.ks, losses, strict=True):
            assert loss > -slack
            assert (loss < slack) == (exact or (k == 1 and name != "naive sampling"))


def test_the_loss_is_drawn_for_every_rule(gain):
    axes = Figure().add_subplot()
    gain.draw([axes])
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines.keys() == gain.loss.keys() - {"optimum"}
    for name, line in lines.items():
        assert np.abs(line.get_ydata() - np.array(gain.loss[name])).max() < 1e-9
    looks = {
        (line.get_marker(), line.get_linestyle(), line.get_markerfacecolor())
        for line in lines.values()
    }
    assert len(looks) == len(lines)


def test_the_example_is_the_one_of_the_page(example):
    rule = otspec.rules.PooledSelection(pooled_barriers.DRAFT, pooled_barriers.TARGET, example.k)
    assert repr(rule.acceptance()) in DERIVATION
    assert example.optimum == rule.acceptance()
    assert str([str(lifetime) for lifetime in example.lifetimes]) in DERIVATION


def test_the_example_shows_what_the_propositions_say(example):
    knots, law = np.array(example.knots), np.array(example.law)
    wanted, bound, s = np.array(example.wanted), np.array(example.bound), example.cut
    lifted = wanted + bound[s] - wanted[s]
    assert (lifted >= bound).all()
    assert (law >= bound).all()
    assert [j for j in range(len(law)) if law[j] == bound[j]] == [0, s, len(law) - 1]
    slopes = np.diff(law) / np.diff(knots)
    assert (np.diff(slopes) >= 0).all()
    assert (law[example.low : example.high + 1] == lifted[example.low : example.high + 1]).all()
    assert len(set(slopes[: example.low])) == len(set(slopes[example.high :])) == 1
    # Both tangents have a knot inside, and touch off the cut: the picture shows all there is.
    assert 1 < example.low < s < example.high < len(law) - 2


def test_the_example_has_a_fair_share_of_barriers(example):
    assert all(isinstance(knot, Fraction) for knot in example.knots)
    inner = [lifetime for lifetime in example.lifetimes if 0 < lifetime < 1]
    assert min(inner) < example.uniform < max(inner)
    assert example.barriers == tuple(
        j for j, lifetime in enumerate(example.lifetimes) if lifetime > example.uniform
    )


def test_the_law_and_the_lifetimes_are_drawn(example):
    law, barriers = Figure().subplots(2)
    example.draw([law, barriers])
    drawn = {line.get_label(): line for line in law.get_lines()}
    assert list(drawn["B, selected draft"].get_ydata()) == pytest.approx(
        [float(each) for each in example.law], abs=1e-15
    )
    (timed,) = [line for line in barriers.get_lines() if line.get_label() == "for a time"]
    finite = [float(lifetime) for lifetime in example.lifetimes if 0 < lifetime < 1]
    assert list(timed.get_ydata()) == finite


def test_pictures_are_written_and_shown(tmp_path, example, gain):
    for picture in (example, gain):
        name = f"{picture.name}.png"
        picture.save(tmp_path / name)
        for folder in (tmp_path, ROOT / "docs" / "pictures"):
            assert (folder / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert f"](pictures/{name})" in GAIN + DERIVATION


def test_the_bars_of_the_selected_draft_are_its_distribution():
    bars = {
        name: [Fraction(mass, 32) for mass in masses]
        for name, masses in script("front").EXAMPLE.items()
    }
    rule = otspec.rules.PooledSelection(bars["draft"], bars["target"], k=2)
    assert list(rule.law_of_selection) == bars["selected"]
