"""Every rule of the table: what it says of itself, and an oracle that knows nothing of it."""

from __future__ import annotations

import importlib.metadata
from fractions import Fraction
from importlib.metadata import EntryPoint

import numpy as np
import oracles
import pytest
from instances import pairs

import otspec
from otspec import batch
from otspec._base.registry import Registry, subclass_of
from otspec.coupling import match
from otspec.rules import RULES, NotExactError, PairRule, Rule, compared_rules
from otspec.rules.base.accepted import joint_kernel_of
from otspec.rules.lossy import LOSSY_RULES
from otspec.traces.comparison import compare

TABLES = {
    "iid": oracles.iid_table,
    "without-replacement": oracles.without_replacement_table,
    "hub": lambda draft, _: oracles.hub_table(draft),
    "two-hubs": lambda draft, _: oracles.two_hubs_table(draft),
    "top-plus-one": oracles.top_plus_one_table,
    "top": lambda draft, k: oracles.fixed_table(oracles.likeliest(draft, k)),
}


def by_kernel(kernel):
    """The acceptance of an algorithm as it is printed."""
    return lambda rule, table: oracles.acceptance(table, kernel(rule))


def in_turn(distinct):
    def accepted(rule, table):
        pair = list(rule.draft), list(rule.target)
        joint = oracles.in_turn_joint(*pair, rule.k, distinct=distinct)
        return oracles.acceptance(table, lambda x: [sum(c) for c in zip(*joint(x), strict=True)])

    return accepted


def optimum(rule, table):
    return oracles.optimum(table, list(rule.target))


ORACLES = {
    "k-sequential": by_kernel(
        lambda rule: oracles.k_sequential_kernel(
            list(rule.draft), list(rule.target), rule.k, rule.rho
        )
    ),
    "recursive-rejection": by_kernel(
        lambda rule: oracles.recursive_rejection_kernel(list(rule.draft), list(rule.target))
    ),
    # With no more tokens than the linear program covers, and two drafts.
    "importance-sampling": optimum,
    "maximal-coupling": lambda rule, _: sum(map(min, rule.draft, rule.target)),
    "naive-sampling": by_kernel(lambda rule: oracles.naive_kernel(list(rule.target))),
    "recursive-rejection-without-replacement": in_turn(distinct=True),
    "spechub": by_kernel(lambda rule: oracles.spechub_kernel(list(rule.draft), list(rule.target))),
    "spechub-two-hubs": optimum,
    "pooled-selection": optimum,
    "earliest-pooled-selection": optimum,
    "pooled-selection-without-replacement": optimum,
    "drawn-draft": optimum,
    "gumbel-coupling": lambda rule, _: oracles.race_acceptance(rule.draft, rule.target, rule.k),
    "gumbel-lists": lambda rule, _: oracles.lists_acceptance(rule.draft, rule.target, rule.k),
    # The drafts are one tuple, and the output has the law of the target.
    "target-only": lambda rule, table: sum(rule.target[y] for y in set(*table)),
    # With no more tokens than are kept.
    "truncated-alphabet": optimum,
    "priority-mixture": optimum,
    "recursive-rejection-independent": by_kernel(
        lambda rule: oracles.model_by_model_kernel([rule.law.marginal(0)] * rule.k, rule.target)
    ),
    "planned": optimum,
}
"""What each rule accepts at given distributions, from the paper's own words or by enumeration."""


def law_name(rule_class):
    return "iid" if rule_class.law_class is None else rule_class.law_class.name


def made(rule_class, seed, count):
    """Rules at random exact instances that they take, with all draft tuples by definition."""
    law = law_name(rule_class)
    for i, (draft, target) in enumerate(pairs(seed, count, most_tokens=4)):
        k = rule_class.only_k or (2 if rule_class is otspec.rules.ImportanceSampling else 1 + i % 3)
        if (rule_class.law_class or otspec.IID).exists(np.array(draft, dtype=object), k):
            yield rule_class.of_pair(draft, target, k), TABLES[law](draft, k)


def test_every_rule_has_an_oracle():
    assert list(RULES) == list(ORACLES)
    exported = {
        kind for kind in vars(otspec.rules).values()
        if isinstance(kind, type) and issubclass(kind, Rule) and hasattr(kind, "name")
    }  # fmt: skip
    # A rule that is somebody's own program has no name in the table.
    assert exported == {*RULES.values(), otspec.rules.ProgramRule}


@pytest.mark.parametrize("name", ORACLES)
def test_rules_accept_what_their_oracles_say_and_are_lossless(name):
    seen = 0
    for rule, table in made(RULES[name], 820, 24):
        rows = {x: rule.kernel(x).tolist() for x in table}
        assert oracles.output(table, rows.__getitem__, rule.law.n) == list(rule.target)
        accepted = ORACLES[name](rule, table)
        assert oracles.acceptance(table, rows.__getitem__) == rule.acceptance()
        if name == "priority-mixture":
            assert 0 <= accepted - rule.acceptance() <= Fraction(rule.gap)
        else:
            assert rule.acceptance() == accepted
        seen += 0 < accepted < 1
    assert seen >= 3


ARRAYS = [name for name, rule in RULES.items() if rule._joint_kernel is not Rule._joint_kernel]
"""Rules whose kernel has array code of its own."""


def test_which_kernels_have_array_code():
    assert ARRAYS == [
        "importance-sampling", "naive-sampling", "pooled-selection", "earliest-pooled-selection",
        "pooled-selection-without-replacement", "gumbel-coupling", "gumbel-lists", "target-only",
        "truncated-alphabet", "priority-mixture", "planned",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_array_code_of_kernels_is_the_program_along_every_branch(name):
    for rule, table in made(RULES[name], 824, 12):
        for x in table:
            assert rule.joint_kernel(x).tolist() == joint_kernel_of(rule, x).tolist()


@pytest.mark.parametrize("name", ["pooled-selection", "pooled-selection-without-replacement"])
def test_graded_pools_are_the_program_along_every_branch(name):
    for exact, table in made(RULES[name], 825, 8):
        rule = RULES[name](exact.draft, exact.target, exact.k, pools=otspec.rules.Graded(4))
        for x in table:
            assert rule.joint_kernel(x).tolist() == joint_kernel_of(rule, x).tolist()


@pytest.mark.parametrize("name", ORACLES)
def test_every_formula_is_the_program_over_all_branches(name):
    seen = 0
    for rule, table in made(RULES[name], 827, 32):
        n, k = rule.law.n, rule.k
        first, counted = ([[Fraction()] * n for _ in range(k)] for _ in range(2))
        missed = [Fraction()] * n
        for x, mass in table.items():
            for y, chance in enumerate(joint_kernel_of(rule, x).sum(axis=0)):
                if y in x:
                    first[x.index(y)][y] += mass * chance
                    counted[x.count(y) - 1][y] += mass * chance
                else:
                    missed[y] += mass * chance
        accepted = rule.accepted()
        assert rule.acceptance() == accepted.probability == sum(map(sum, first))
        assert accepted.by_token.tolist() == [sum(each) for each in zip(*first, strict=True)]
        assert accepted.by_position.tolist() == [sum(row) for row in first]
        assert accepted.by_position_and_token.tolist() == first
        if name in COUNTED:
            law = accepted.counted
            assert (law.accepted.tolist(), law.rejected.tolist()) == (counted, missed)
        else:
            with pytest.raises(NotExactError, match="no formula for how often it is drafted"):
                _ = accepted.counted
        seen += any(map(any, first))
    assert seen >= 4


COUNTED = (
    "k-sequential", "recursive-rejection", "importance-sampling", "maximal-coupling",
    "naive-sampling", "pooled-selection", "earliest-pooled-selection", "target-only",
    "truncated-alphabet",
)  # fmt: skip
"""Rules that say how often the accepted token is drafted."""


def first_by_program(rule):
    """The probability that y is the output and draft i the first that it is, by the program."""
    first = [[Fraction()] * rule.law.n for _ in range(rule.k)]
    for x, mass in zip(*rule.law.tuples(), strict=True):
        row = joint_kernel_of(rule, x.tolist()).sum(axis=0)
        for y in set(x.tolist()):
            first[x.tolist().index(y)][y] += mass * row[y]
    return first


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.couples_one])
def test_rules_that_say_so_couple_one_draft_maximally(name):
    for draft, target in pairs(828, 32, most_tokens=4):
        rule = RULES[name].of_pair(draft, target, 1)
        assert first_by_program(rule) == [[min(*each) for each in zip(draft, target, strict=True)]]


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.nested])
def test_rules_that_say_so_accept_of_the_first_drafts_what_they_accept_of_fewer(name):
    seen = 0
    for draft, target in pairs(829, 24, most_tokens=4):
        k = max(k for k in (1, 2, 3) if RULES[name].law_class.exists(np.array(draft, object), k))
        firsts = [first_by_program(RULES[name].of_pair(draft, target, j)) for j in range(1, k + 1)]
        assert all(firsts[-1][: len(first)] == first for first in firsts)
        seen += k > 1
    assert seen >= 4


def test_what_rules_say_of_few_drafts():
    assert [name for name, rule in RULES.items() if rule.couples_one] == [
        "k-sequential", "recursive-rejection", "importance-sampling", "maximal-coupling",
        "recursive-rejection-without-replacement", "pooled-selection",
        "earliest-pooled-selection", "pooled-selection-without-replacement", "drawn-draft",
    ]  # fmt: skip
    assert [name for name, rule in RULES.items() if rule.nested] == [
        "recursive-rejection", "naive-sampling", "recursive-rejection-without-replacement",
        "gumbel-coupling", "target-only",
    ]  # fmt: skip


NOT_USUAL = {
    "formula": [
        "importance-sampling", "recursive-rejection-without-replacement", "priority-mixture",
        "planned",
    ],
    "compared": ["spechub-two-hubs", "earliest-pooled-selection", "truncated-alphabet"],
    "quick": ["gumbel-coupling", "gumbel-lists"],
    "best_for_one": ["naive-sampling", "gumbel-coupling", "gumbel-lists", "target-only"],
}  # fmt: skip
"""Rules of which something is false that is true of most rules."""


def test_what_rules_say_of_themselves():
    for flag, names in NOT_USUAL.items():
        assert [name for name, rule in RULES.items() if not getattr(rule, flag, True)] == names
        lossy = [getattr(rule, flag) for rule in LOSSY_RULES.values()]
        assert lossy == [flag != "compared"] * len(LOSSY_RULES)
    independent = [name for name, rule in RULES.items() if getattr(rule, "independent", False)]
    assert independent == ["naive-sampling", "gumbel-coupling", "gumbel-lists", "target-only"]
    only = {name: rule.only_k for name, rule in RULES.items() if rule.only_k}
    assert only == {"maximal-coupling": 1, "spechub": 2, "spechub-two-hubs": 2}


@pytest.mark.parametrize("name", ORACLES)
def test_samples_of_floats_have_the_law_of_the_kernel(name):
    size, tried = 400, 0
    for exact, table in made(RULES[name], 826, 6):
        rng = np.random.default_rng(tried)
        for x in list(table)[:4]:
            kernel = exact.kernel(x).astype(float)
            drawn = [exact.sample(x, rng) for _ in range(size)]
            assert all(accepted == (token in x) for token, accepted in drawn)
            shares = np.bincount([token for token, _ in drawn], minlength=len(kernel)) / size
            # Hoeffding's inequality: beyond this once in 10^9 for each share.
            assert np.abs(shares - kernel).max() <= np.sqrt(np.log(2e9) / (2 * size))
            assert (kernel[shares > 0] > 0).all()
            tried += 1
    assert tried


@pytest.mark.parametrize("name", ORACLES)
def test_rules_say_what_is_so_of_themselves(name):
    rule_class = RULES[name]
    assert rule_class.name == name
    rule = next(made(rule_class, 821, 20))[0]
    assert type(rule.law) is (rule_class.law_class or otspec.IID)
    assert rule.law.k == rule.k
    assert rule.target.dtype == object
    assert isinstance(rule.acceptance(), Fraction)
    assert rule.law.n == len(rule.target)
    if rule_class.batch is not None:
        assert callable(getattr(batch, rule_class.batch))
    if rule_class.only_k is not None:
        with pytest.raises(ValueError, match=f"exactly {rule_class.only_k}|in pairs"):
            rule_class.of_pair([0.5, 0.25, 0.25], [0.25, 0.25, 0.5], rule_class.only_k + 1)


def test_every_batch_rule_has_its_reference():
    named = [rule.batch for rule in RULES.values() if rule.batch]
    assert len(named) == len(set(named))
    assert set(named) == {
        name for name in batch.__all__
        if callable(getattr(batch, name)) and hasattr(batch.acceptance, name)
        and name not in ("optimal_acceptance", "from_logits")  # which serve all rules
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.formula])
def test_a_formula_serves_full_vocabularies(name):
    rows = np.random.default_rng(3).dirichlet(np.full(20_000, 0.1), size=2)
    k = RULES[name].only_k or 5
    rule = RULES[name].of_pair(*rows, k)
    assert 0 < rule.acceptance() < 1
    assert rule.accepted().by_token.shape == (20_000,)


@pytest.mark.parametrize(
    ("name", "n"),
    [("recursive-rejection-without-replacement", 40), ("importance-sampling", 4_000)],
)
def test_without_a_formula_an_estimate_says_so(name, n):
    rows = np.random.default_rng(4).dirichlet(np.full(n, 0.3), size=2)
    rule = RULES[name].of_pair(*rows, 5)
    with pytest.raises(NotExactError, match=r"estimate\(\)"):
        rule.acceptance()
    for size, seed in ((200, 0), (400, 1)):
        found = rule.estimate(size, seed).probability
        again = rule.estimate(size=size, seed=seed).probability
        assert found == again
        assert found.low <= found <= found.high
        assert found.size == size


@pytest.mark.parametrize("name", ORACLES)
def test_estimates_cover_and_laws_are_unbiased(name):
    tried = 0
    for rule, _ in made(RULES[name], 823, 6):
        exact = rule.accepted()
        if 0 < exact.probability < 1:
            found = rule.estimate(400, seed=tried)
            alone = found.probability
            assert alone.low <= exact.probability <= alone.high  # each fails 1 time in 1,000
            for number in ("by_token", "by_position", "by_position_and_token"):
                known, one = getattr(exact, number).astype(float), getattr(found, number)
                assert one.value.shape == one.low.shape == one.high.shape == known.shape
                assert (one.low <= one.value).all()
                assert (one.value <= one.high).all()
                # Each fails 1 time in 1,000 at most; bounds that are certain are rounded.
                assert (one.low - 1e-15 <= known).all()
                assert (known <= one.high + 1e-15).all()
            # Each token's mean of 400 numbers between 0 and 1: Hoeffding, at 1e-9.
            assert np.abs(found.by_token.value - exact.by_token.astype(float)).max() <= 0.17
            for y in range(rule.law.n):
                each = [found.of_token(y), *found.of_token_by_position(y)]
                wanted = [exact.by_token[y], *exact.by_position_and_token[:, y]]
                for one, number in zip(each, wanted, strict=True):
                    assert one.low - 1e-15 <= number <= one.high + 1e-15
            tried += 1
    assert tried


# Rules of other packages


class Cautious(PairRule):
    """Takes what the target and the first draft agree on, as no rule of the package does."""

    name = "cautious"
    title = "cautious"

    def verify(self, drafts, chance):
        return match(self.target, drafts[:1], chance)


@pytest.fixture
def cautious(monkeypatch):
    yield RULES.register(Cautious)
    RULES._entries.pop("cautious")


def test_a_new_rule_needs_nothing_but_its_own_file(cautious):
    draft, target = ["1/2", "1/2", 0], ["1/4", "1/4", "1/2"]
    rows = compare(draft, target, [2])
    assert [row.acceptance for row in rows if row.rule == "cautious"] == [Fraction(3, 8)]
    assert compared_rules()[-1] is cautious
    assert otspec.audit(cautious(draft, target, 2)).lossless
    with pytest.raises(ValueError, match="x has 3 drafts, but the law has k = 2"):
        cautious(draft, target, 2).kernel([0, 0, 0])
    with pytest.raises(ValueError, match="rng"):
        cautious(draft, target, 2).sample([0, 0], 3)


def test_rules_of_other_packages_join_by_entry_point(monkeypatch):
    points = [EntryPoint("cautious", f"{__name__}:Cautious", "tests.rules"),
              EntryPoint("wrong", "math:sqrt", "tests.rules"),
              EntryPoint("other", f"{__name__}:Cautious", "tests.rules")]  # fmt: skip
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: points)
    table = Registry("rule", "tests.rules", subclass_of(Rule))
    with pytest.warns(UserWarning, match="is left out") as found:
        assert list(table) == ["cautious"]
    assert [str(each.message).split(": ", 1)[1] for each in found] == [
        "<built-in function sqrt> is no subclass of Rule",
        f"{Cautious!r} is named 'cautious', not 'other'",
    ]
