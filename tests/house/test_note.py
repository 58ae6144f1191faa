"""The note: its numbers are generated and used, and it is set on eight to ten pages."""

import csv
import json
import re
import statistics
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import otspec
from docs.note import (
    compute,
    evidence,
    examples,
    precise,
    setting,
    sources,
    truncated,
    verifiers,
)
from docs.note.results import Results, points, probability, scientific, thousands
from figures.contract import Settings
from otspec.datasets import load_smollm2
from otspec.drafts.race import inside
from otspec.rules import RecursiveRejectionWithoutReplacement

ROOT = Path(__file__).parents[2]
CLAIMS = ("hold", "condition", "rest", "wrong")


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """A folder with the numbers and pictures of a quick run, and what numbers.json has."""
    folder = tmp_path_factory.mktemp("note")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("otspec.datasets.load_smollm2", cache(load_smollm2))  # read once
        compute.compute(folder, Settings(quick=True))
    return folder, json.loads((folder / compute.NUMBERS).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("kind", "made"), [("num", "numbers"), ("rows", "tables"), ("picture", "pictures")]
)
def test_what_the_text_names_is_made_and_what_is_made_is_named(computed, kind, made):
    _, results = computed
    assert sources.named(kind) == set(results[made])


def test_they_are_set_on_ten_and_four_pages_at_most(computed):
    pytest.importorskip("typst", reason="the note is set by Typst: pip install '.[note]'")
    folder, _ = computed
    pages = setting.typeset(folder)
    assert 8 <= pages[setting.NAME] <= 10
    assert 2 <= pages[setting.COMPANION] <= 4
    for name in pages:
        assert (folder / name).read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", sources.texts())
def test_no_number_is_typed(name):
    assert sources.typed(sources.texts()[name]) == []


def test_likeliest_drafts_are_accepted_less_than_independent_ones_at_temperature_one():
    """As the text says of all k from two on and all pairs; here on every pair for some k."""
    for pairs in evidence.sampled(Settings()).values():
        found = evidence.Evidence.of(pairs, (2,)).optima
        for law in evidence.LIKELIEST:
            assert found[law.name].mean() < found["iid"].mean()


@pytest.mark.parametrize(
    "text",
    [
        "accepts 0.77",
        "of 24 positions",
        "Four of these",
        "3/4",
        "$3\\/4$",
        "5 % less",
        "1,000",
        "#x[19]",
    ],
)
def test_typed_numbers_are_seen(text):
    assert sources.typed(text)


@pytest.mark.parametrize(
    "text",
    [
        'accepts #num("trace.iid.k16")', "$k = 2$", "float32", "@sec:results12", "one of two",
        "// 0.77", 'picture("law", width: 86%)', 'rows("pairs", inset: 2.6pt)',
        "$(k - 1)\\/k$", "#h(1.2em)", "<tab:of10>",
    ],
)  # fmt: skip
def test_what_is_no_result_may_be_typed(text):
    assert sources.typed(text) == []


@pytest.mark.parametrize("name", sources.texts())
def test_no_semicolon_ends_code_and_is_lost(name):
    """Typst takes one right after a call in text for the end of the code, and does not set it."""
    assert re.findall(r"#[\w.]+\([^()]*\);", sources.texts()[name]) == []


def test_every_reference_is_cited():
    listed = (ROOT / "docs" / "note" / "references.yml").read_text(encoding="utf-8")
    keys = set(re.findall(r"^(\w+):$", listed, re.MULTILINE))
    cited = {key for text in sources.texts().values() for key in re.findall(r"@(\w+)", text)}
    assert keys == cited & keys


def test_names_are_given_once_and_rows_fit():
    results = Results()
    results.add("a", Fraction(1, 2))
    assert results.numbers == {"a": "1/2"}
    with pytest.raises(ValueError, match="name one of the two otherwise"):
        results.add("a", 1)
    with pytest.raises(ValueError, match="has not 2 cells"):
        results.add_table("t", ["x", "y"], [[1]])


def test_how_numbers_are_printed():
    assert probability(Fraction(1, 3)) == "0.3333"
    assert points(Fraction(1, 3)) == "33.3"
    assert thousands(49152) == "49,152"
    # A bound is rounded upwards.
    assert [scientific(x) for x in (0, 2.01e-4, 9.5e-14)] == ["0", "3e-4", "1e-13"]


def test_the_least_cut_is_the_exact_program():
    for draft, target, k in examples.instances(5):
        law = otspec.IID(draft, k)
        program = otspec.optimal_plan(law, target, solver="rational").acceptance
        assert examples.least_cut(law, target) == program


def test_losses_are_what_the_rules_say_one_by_one():
    """Recursive rejection of distinct drafts is exact for two, and of more the same simulation."""
    pairs = list(Settings(quick=True).pairs())[:2]
    found = evidence.Evidence.of(pairs)
    for name, rule in evidence.OTHERS.items():
        for k in (2, 4):
            losses = []
            for draft, target in pairs:
                made = rule(draft, target, k)
                simulated = name == "RRSw" and k > 2
                accepted = made.estimate().probability.value if simulated else made.acceptance()
                best = otspec.optimal_acceptance(made.law, target).acceptance
                losses.append(float(best - accepted))
            assert found.losses[name][:, k - 1] == pytest.approx(losses, abs=1e-13)
            mean, wide = found.loss(name, k)
            assert mean == pytest.approx(statistics.fmean(losses), abs=1e-13)
            # The t quantile of one degree of freedom.
            assert wide == pytest.approx(12.7062047 * abs(losses[0] - losses[1]) / 2, rel=1e-6)


def test_distinct_drafts_are_no_more_than_the_draft_has_tokens():
    """Two tokens are both drafted, and accepted as often as the target has them."""
    draft, target = np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.3, 0.5])
    found = evidence.Evidence.of([(draft, target)], (2, 4))
    assert found.optima["without-replacement"] == pytest.approx(np.full((1, 2), 0.5), abs=1e-15)
    assert found.losses["RRSw"] == pytest.approx(np.zeros((1, 2)), abs=1e-15)
    program = otspec.optimal_plan(otspec.IID(draft, 4), target).acceptance
    assert found.optima["iid"][0, 1] == pytest.approx(program, abs=1e-9)


def test_the_simulated_rule_is_the_exact_one_within_its_error():
    pairs = list(evidence.sampled(Settings(quick=True), top_k=12)[evidence.LARGE])
    found = evidence.Evidence.of(pairs, (3,))
    for row, (draft, target) in enumerate(pairs):
        rule = RecursiveRejectionWithoutReplacement(draft, target, 3)
        error = rule.paths().acceptances()[1][3]
        best = found.optima["without-replacement"][row, 0]
        assert best - found.losses["RRSw"][row, 0] == pytest.approx(
            float(rule.acceptance()), abs=6 * error + 1e-12
        )


def test_the_law_of_thresholds_is_added_up_without_the_package():
    """The mean slopes of the chords, in wide floats, are those of the exact rule."""
    checked = 0
    for draft, target, k in examples.instances(20):
        rule = otspec.rules.PooledSelection(draft, target, k)
        u = np.array(rule.knots, dtype=precise.WIDE)
        law = np.array(draft, dtype=float) * precise.slopes(rule.lifetimes, u, u**k)[rule.pool]
        expected = np.array(list(rule.law_of_selection), dtype=float)
        assert law.astype(float) == pytest.approx(expected, abs=1e-15)
        checked += len(u) > 3
        rounded = otspec.rules.PooledSelection([*map(float, draft)], [*map(float, target)], k)
        assert precise.distance(rounded) < 1e-15
    assert checked > 5


def test_sampling_is_cut_off_as_the_table_says():
    """Tokens that tie with the last one that is kept are kept as well."""
    for pairs in evidence.sampled(Settings(quick=True), **truncated.SAMPLINGS["top-k 50"]).values():
        for each in (each for pair in pairs for each in pair):
            kept = each[each > 0]
            assert len(kept) >= 50 > np.count_nonzero(kept > kept.min())


def test_the_small_models_are_logged_as_the_text_says():
    trace, facts = evidence.small_pairs()
    places, which, tokens = trace.shape
    assert (which, tokens) == (2, 1024)
    assert len(facts["losses"]) == len(facts["parameters"]) == 3
    target = trace.target_logits.reshape(places, which, tokens)
    assert (target[:, 0] == target[:, 1]).all()
    target_loss, *draft_losses = facts["losses"]
    assert target_loss < min(draft_losses)
    assert evidence.LOGGED.stat().st_size < 320_000


def test_the_example_is_the_optimum_of_the_exact_program():
    results = Results()
    examples.worked_example(results)
    draft, target = ([Fraction(mass) for mass in masses] for masses in examples.WORKED)
    law = otspec.WithoutReplacement(draft, 2)
    program = otspec.optimal_plan(law, target, solver="rational").acceptance
    assert Fraction(results.numbers["worked.optimum"]) == program
    names = ("pair", "threshold", "first", "keep")
    pair, threshold, first, keep = (Fraction(results.numbers[f"worked.{name}"]) for name in names)
    assert pair * (1 - threshold) * first * keep == target[0]


def integrand(rates, t):
    """g of the note for three drafts: all in tokens 1 to 3, token 3 one of them."""
    missing, arrived = np.exp(-rates[:, None] * t), -np.expm1(-rates[:, None] * t)
    both = arrived[1] * arrived[2]  # two arrivals in {1, 2}, and the density of the second one
    dense = rates[1] * missing[1] * arrived[2] + rates[2] * missing[2] * arrived[1]
    return missing[0] * missing[4] * (rates[3] * missing[3] * both + arrived[3] * dense)


@pytest.mark.parametrize("step", [0.2, 1.0, 2.0])
def test_a_term_of_the_sum_is_bounded_by_the_integral_before_it(step):
    """By a fine midpoint sum; its tolerance is far below what is left over."""
    rates, k = np.array([5, 3, 2, 2, 1]) / 13, 3
    fine = (np.arange(400) + 0.5) / 400 * step
    for t in np.exp(np.arange(-8, 5, 0.5)):
        before = t * np.exp(-fine)
        part = (integrand(rates, before) * before).mean() * step
        term = step * integrand(rates, np.array([t]))[0] * t
        assert term <= part * k * step / -np.expm1(-k * step) * (1 + 1e-4)


def test_the_step_is_the_one_that_the_text_says():
    for k in range(3, 17):
        step, angle = inside.step_and_angle(k)
        factor = np.cos(angle) ** -k / np.expm1(2 * np.pi * angle / step)
        assert factor <= 1 / np.expm1(inside.STEP) * (1 + 1e-12)


def test_the_error_of_the_heights_is_bounded_by_the_theorem():
    """Sums of coarse steps against fractions; the tolerance is for rounding."""
    parts, k = [5, 3, 2, 2, 1], 3
    draft = [Fraction(part, 13) for part in parts]
    law, rates = otspec.WithoutReplacement(draft, k), np.array(draft, dtype=float)
    exact = float(law.inside([1, 2, 3]) - law.inside([1, 2]))
    angles = np.linspace(0.1, 1.5, 200)
    for step in (2.0, 1.5, 1.0):
        t = np.exp(step * np.arange(-60, 12))
        error = abs(step * (integrand(rates, t) * t).sum() - exact)
        factors = 2 * np.cos(angles) ** -k / np.expm1(2 * np.pi * angles / step)
        assert 1e-9 < error < factors.min() * exact < exact


def test_claims_add_up(computed):
    numbers = computed[1]["numbers"]
    assert sum(int(numbers[f"claims.{name}"]) for name in CLAIMS) == int(numbers["claims.all"])


def test_a_record_that_has_changed_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "engines.md").write_text("nothing that is known\n", encoding="utf-8")
    monkeypatch.setattr(verifiers, "DOCS", tmp_path)
    with pytest.raises(ValueError, match="read the page again"):
        verifiers.engines(Results())


def test_differences_are_those_of_the_record(computed):
    numbers = computed[1]["numbers"]
    with (ROOT / "figures" / "long_trace_drafts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for other, best in (("rrs", ""), ("rrsw", " (distinct)")):
        for k in (4, 16):
            means = [
                statistics.fmean(float(row[f"T=1 k={k}"]) for row in rows if row["rule"] == rule)
                for rule in (f"pooled selection{best}", f"recursive rejection{best}")
            ]
            printed = float(numbers[f"texts.{other}.k{k}"])
            assert abs(100 * (means[0] - means[1]) - printed) <= 0.05 + 1e-9
            low, high = map(float, numbers[f"texts.{other}.k{k}.ends"].split(" to "))
            assert low < printed < high
    assert int(numbers["texts.count"]) == len(rows) / 4
