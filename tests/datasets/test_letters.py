"""The letters: their text, their counts, and binary trees on them against an enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import letters_enumerated as enumerated
import numpy as np
import pytest

from otspec._base.arguments import as_tokens
from otspec.blocks import DraftSelection, TokenVerification, simulate
from otspec.datasets import letters, logged_letters
from otspec.datasets.english_letters import logged_file
from otspec.models import WarpedModel
from otspec.rules import (
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)

RULES = {
    "SpecHub": SpecHub,
    "RRSw": RecursiveRejectionWithoutReplacement,
    "RRS": RecursiveRejection,
}
TABLE = Path(__file__).parents[2] / "docs" / "tables" / "spechub_tab5.md"
"""The same in fractions, to four decimals."""


@pytest.fixture(scope="module")
def pair():
    return letters()


@pytest.fixture(scope="module")
def rounded():
    return letters(exact=False)


def test_the_text_is_small_and_plain():
    written = (files("otspec.datasets") / "english.txt").read_bytes()
    assert 100_000 < len(written) < 300_000
    assert written.isascii()
    assert max(map(len, written.splitlines())) <= 100


def test_letters_are_read_and_written(pair):
    assert pair.write(range(27)) == enumerated.SYMBOLS == "abcdefghijklmnopqrstuvwxyz "
    assert pair.write(pair.read("  It's 3 o'clock,\nÄrger!")) == " it s o clock rger "
    assert pair.read("") == ()
    with pytest.raises(ValueError, match=r"text is 3: it must be a str"):
        pair.read(3)
    with pytest.raises(ValueError, match="token ids run from 0 to 26"):
        pair.write([27])
    with pytest.raises(ValueError, match="exact is 'no'"):
        letters(exact="no")


@pytest.mark.parametrize("name", ["unigram", "bigram", "trigram", "fourgram"])
def test_counts_are_those_of_the_text(pair, rounded, name):
    model = getattr(pair, name)
    order = ["unigram", "bigram", "trigram", "fourgram"].index(name)
    assert (model.n, model.order, model.exact) == (27, order, True)
    shares = {pair.write(context): share for context, share in model.contexts().items()}
    counts = enumerated.grams(order) if order else {"": len(enumerated.text())}
    assert shares == {c: Fraction(m, len(enumerated.text())) for c, m in counts.items()}
    for context in (*list(shares)[:: max(1, len(shares) // 40)], "qqz"[3 - order :]):
        assert tuple(model(pair.read(context))) == enumerated.row(context)
        floats = getattr(rounded, name)(pair.read(context))
        assert floats.tolist() == [float(chance) for chance in enumerated.row(context)]
    assert tuple(model(())) == enumerated.row("the "[4 - order :])


def test_the_default_pair_is_a_bigram_draft_and_a_trigram_target(pair):
    assert pair.draft is pair.bigram
    assert pair.target is pair.trigram


@pytest.mark.parametrize("rule", RULES)
def test_trees_are_those_of_an_enumeration_that_shares_nothing(pair, rule):
    for branching, merge in (("2x2", False), ("2", True)):
        found = DraftSelection(pair.draft, pair.target, branching, RULES[rule], merge).expected()
        assert found == enumerated.expected(rule, len(branching.split("x")), "e ")


def test_a_random_place_is_the_mean_over_all_places(pair):
    places = dict(list(pair.target.contexts().items())[100:400:60])
    law = {context: share / sum(places.values()) for context, share in places.items()}
    for rule, name in ((RecursiveRejection, "RRS"), (SpecHub, "SpecHub")):
        found = DraftSelection(pair.draft, pair.target, "2", rule).expected_after(law)
        assert found == sum(
            share * enumerated.expected(name, 1, pair.write(context))
            for context, share in law.items()
        )


def test_the_order_of_the_rules_on_binary_trees_of_depth_2_to_5(rounded):
    everywhere = rounded.target.contexts()
    orders = []
    for rule, merge in (
        (RecursiveRejection, False),
        (RecursiveRejectionWithoutReplacement, True),
        (SpecHub, True),
    ):
        tree = DraftSelection(rounded.draft, rounded.target, "2", rule, merge)
        trees = [tree.with_tree((2,) * depth) for depth in (2, 3, 4, 5)]
        orders.append([each.expected_after(everywhere) for each in trees])
    rrs, rrsw, hub = np.array(orders)
    assert (rrsw > rrs + 0.04).all()
    assert (hub > rrsw + 0.06).all()
    assert hub - rrsw == pytest.approx([0.061, 0.109, 0.161, 0.213], abs=5e-4)
    assert hub - rrs == pytest.approx([0.107, 0.186, 0.268, 0.347], abs=5e-4)
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [line.split(" | ") for line in lines if line.startswith("| bigram | trigram | 1 |")]
    exact = np.array([[float(row[column]) for row in cells[1:]] for column in (4, 6, 7)]) - 1
    assert np.array(orders) == pytest.approx(exact, abs=5.1e-5)


def test_token_verification_runs_over_contexts(pair):
    """On letters Σ min(p, q) is a chain over pairs of symbols, written out here as one."""
    reached = {"e ": Fraction(1)}
    kept = []
    for _ in range(2):
        longer: dict[str, Fraction] = {}
        for context, mass in reached.items():
            rows = zip(enumerated.row(context[-1]), enumerated.row(context), strict=True)
            for symbol, least in zip(enumerated.SYMBOLS, map(min, rows), strict=True):
                after = context[-1] + symbol
                longer[after] = longer.get(after, 0) + mass * least
        reached = longer
        kept.append(sum(reached.values()))
    assert TokenVerification(pair.draft, pair.target, 2).expected_up_to() == [kept[0], sum(kept)]


def test_a_colder_draft_is_exact_too(pair):
    cold = WarpedModel(pair.draft, temperature="1/2", top_k=10, top_p="19/20")
    found = DraftSelection(cold, pair.target, "2", PooledSelection).expected()
    assert type(found) is Fraction
    assert found > DraftSelection(cold, pair.target, "1", PooledSelection).expected()
    distinct = DraftSelection(cold, pair.target, "2", PooledSelectionWithoutReplacement)
    assert 0 < distinct.expected() < 1
    assert cold.context(pair.read("th")) == pair.read("h")


def test_simulated_texts_agree(rounded):
    tree = DraftSelection(rounded.draft, rounded.target, "2x2", SpecHub)
    estimate = simulate(tree, 300, seed=5)
    assert estimate.low <= tree.efficiency() <= estimate.high
    assert as_tokens(rounded.read("the"), 27, "text") == (19, 7, 4)


# The log


def test_the_bundled_log_is_the_letters_own():
    with logged_file() as path, np.load(path) as bundled:
        arrays = dict(bundled)
    assert arrays.keys() == {"draft_logits", "target_logits", "target_tokens"}
    assert arrays["target_tokens"].shape == (40, 6)
    for name, wanted in logged_letters().items():
        # Logarithms of other libraries may differ in the last digit.
        np.testing.assert_allclose(arrays[name], wanted, rtol=4e-16, atol=0)
    exact = letters()
    for place in ((0, 0), (7, 3), (39, 5)):
        prefix = tuple(arrays["target_tokens"][place[0], : place[1]].tolist())
        for name, model in (("draft_logits", exact.draft), ("target_logits", exact.target)):
            logs = [math.log(mass) for mass in model(prefix)]
            np.testing.assert_allclose(arrays[name][place], logs, rtol=1e-14, atol=0)


@pytest.mark.parametrize("wrong", [{"texts": 0}, {"tokens": 1.5}, {"seed": -1}])
def test_a_log_of_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        logged_letters(**wrong)
