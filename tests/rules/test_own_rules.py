"""Rules that are written anew from docs/own_rule.md alone are the package's; wrong ones are not.

Each is at most 15 lines. All that a rule can do is asked of them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from instances import pairs

import otspec
from otspec import rules
from otspec.auditing import Instance, audit_blocks, audit_over
from otspec.blocks import DraftSelection, UniversalTree
from otspec.chance import law_of
from otspec.models import random_pair
from otspec.rules import PairRule, ProgramRule
from otspec.traces import compare


def scaled(masses, otherwise):
    """Return masses as a distribution; another one if there are none."""
    total = masses.sum()
    return masses / total if total else otherwise


class Maximal(PairRule):
    """SpecTr, algorithm 1."""

    name, title, only_k = "own-maximal", "own maximal", 1

    def verify(self, drafts, chance):
        if chance.accept(self.target[drafts[0]], self.draft[drafts[0]]):
            return 0
        return scaled(np.maximum(self.target - self.draft, 0), self.target)


class Naive(PairRule):
    """MCSD, section 4.5."""

    name, title = "own-naive", "own naive"

    def verify(self, drafts, chance):
        token = chance.choose(self.target)
        if token in drafts:
            return drafts.index(token)
        row = self.target * 0
        row[token] += 1
        return row


class Recursive(PairRule):
    """MCSD, algorithm 1."""

    name, title = "own-recursive", "own recursive"

    def verify(self, drafts, chance):
        wanted = self.target
        for position, token in enumerate(drafts):
            if chance.accept(wanted[token], self.draft[token]):
                return position
            wanted = scaled(np.maximum(wanted - self.draft, 0), wanted)
        return wanted


class Distinct(PairRule):
    """MCSD, algorithm 2: the draft loses each token that was tried."""

    name, title = "own-distinct", "own distinct"
    law_class = otspec.WithoutReplacement

    def verify(self, drafts, chance):
        wanted, offered = self.target, self.draft
        for position, token in enumerate(drafts):
            if chance.accept(wanted[token], offered[token]):
                return position
            wanted = scaled(np.maximum(wanted - offered, 0), wanted)
            offered = offered.copy()
            offered[token] -= offered[token]
            offered = scaled(offered, offered)
        return wanted


class Greedy(PairRule):
    """The k likeliest tokens: the output is drawn from the target (SpecHub, section 3)."""

    name, title = "own-greedy", "own greedy"
    law_class = otspec.TopK

    verify = Naive.verify


OWN = {
    Maximal: rules.MaximalCoupling,
    Naive: rules.NaiveSampling,
    Recursive: rules.RecursiveRejection,
    Distinct: rules.RecursiveRejectionWithoutReplacement,
    Greedy: rules.TargetOnly,
}


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_a_rule_that_is_written_anew_is_the_packages(own):
    for draft, target in pairs(seed=3, count=40, most_tokens=4):
        for k in range(1, 2 if own.only_k else 4):
            if sum(mass > 0 for mass in draft) < k and own.law_class is not otspec.IID:
                continue
            mine, shipped = own(draft, target, k), OWN[own](draft, target, k)
            tuples, _ = mine.law.tuples()
            for x in tuples.tolist():
                assert (mine.kernel(x) == shipped.kernel(x)).all(), (draft, target, x)
            assert mine.acceptance() == shipped.acceptance()
            assert otspec.audit(mine).lossless


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_a_whole_step_of_an_own_rule_has_the_targets_law(own):
    pair = ["1/2", "3/10", "1/5", "0"], ["1/10", "1/2", "3/10", "1/10"]
    rule = own(*pair, k=own.only_k or 2)

    def step(chance):
        drafts = rule.law.draw(chance)
        found = rule.verify(drafts, chance)
        return drafts[found] if isinstance(found, int) else chance.choose(found)

    assert law_of(step) == {0: Fraction(1, 10), 1: Fraction(1, 2), 2: Fraction(3, 10),
                            3: Fraction(1, 10)}  # fmt: skip
    report = otspec.audit(step, target=pair[1])
    assert (report.lossless, report.exact, report.acceptance, report.optimum, report.gap) == (
        True, True, None, None, None
    )  # fmt: skip
    assert report.frontier is None
    assert report.spare_variation is None
    floats = [float(Fraction(mass)) for mass in pair[1]]
    assert otspec.audit(step, target=pair[1][::-1]).lossless is False
    rounded = otspec.audit(step, target=floats)
    assert (rounded.lossless, rounded.exact) == (True, False)


def test_own_rules_go_into_trees_and_comparisons():
    models = random_pair(3, "3/10", np.random.default_rng(1))
    for own, shipped in OWN.items():
        tree = "1x1" if own.only_k else "2x1"
        lifted = DraftSelection(*models, tree, own)
        assert audit_blocks(lifted, optimum=False).lossless
        assert lifted.expected() == DraftSelection(*models, tree, shipped).expected()
    leaves = UniversalTree(*models, "2x1", Recursive)
    assert audit_blocks(leaves, optimum=False).lossless
    pair = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    rows = compare(*pair, [1, 2], rules=list(OWN))
    by_rule = {(row.rule, row.k): row.acceptance for row in rows}
    for own, shipped in OWN.items():
        for k in (1,) if own.only_k else (1, 2):
            assert by_rule[own.title, k] == by_rule[shipped.title, k]
    with pytest.raises(ValueError, match="rules holds 3: pass subclasses of PairRule"):
        compare(*pair, [1], rules=[3])


PAIR = ["1/2", "1/2"], ["1/4", "3/4"]
LAW = otspec.IID(PAIR[0], k=2)


def first_or_target(drafts, chance):
    """A coin for the first draft: the output is half the draft's."""
    return 0 if chance.accept(1, 2) else ["1/4", "3/4"]


class OnlyVerify:
    law, target = LAW, PAIR[1]

    def verify(self, drafts, chance):
        return first_or_target(drafts, chance)


def test_programs_are_audited_as_functions_objects_and_rules():
    wrong = otspec.audit(first_or_target, law=LAW, target=PAIR[1])
    again = otspec.audit(OnlyVerify())
    made = otspec.audit(ProgramRule(LAW, PAIR[1], first_or_target))
    for report in (wrong, again, made):
        assert (report.lossless, report.witness.token) == (False, 0)
        assert report.output.tolist() == [Fraction(3, 8), Fraction(5, 8)]
        # 1/2, and 1/2 of the target's token among two drafts: 1/4 · 3/4 + 3/4 · 3/4.
        assert report.acceptance == Fraction(7, 8)
    found = audit_over(lambda *_: first_or_target, [Instance((1, 1), (1, 3), 2)])
    assert found.lossless is False


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (2, "verify returned 2: return the position of a draft, from 0 to 1, or 2 masses"),
        (-1, "verify returned -1: return the position"),
        (True, "verify returned True: return the position"),
        ([1, 0, 0], r"verify returned an array of shape \(3,\)"),
        ([0.5, 0.5], "target is exact but what verify returned is float"),
        (None, "what verify returned must be a list or array"),
        ("token", "what verify returned must be a list or array"),
    ],
)
def test_an_answer_that_is_none_leaves_no_verdict(answer, says):
    def verify(drafts, chance):
        return answer

    report = otspec.audit(verify, law=LAW, target=PAIR[1])
    assert report.lossless is None
    with pytest.raises(ValueError, match=says):
        ProgramRule(LAW, PAIR[1], verify).kernel([0, 1])


def test_programs_misuse_chance_and_are_told():
    report = otspec.audit(lambda _, chance: chance.random(), law=LAW, target=PAIR[1])
    assert report.lossless is None
    assert "has no attribute 'random'" in report.witness.reason
    report = otspec.audit(lambda _, chance: chance.choose([0, 0]), law=LAW, target=PAIR[1])
    assert "it chooses among chances [0, 0]" in report.witness.reason
    with pytest.raises(ValueError, match="function is 3: it must be a function verify"):
        ProgramRule(LAW, PAIR[1], 3)
    with pytest.raises(ValueError, match="function is missing"):
        ProgramRule.of_pair(*PAIR, 2)
    with pytest.raises(ValueError, match="target is missing"):
        otspec.audit(lambda chance: chance.choose([1]))
    with pytest.raises(ValueError, match="law is missing"):
        otspec.audit(first_or_target, target=PAIR[1])


def test_floats_take_exact_answers():
    floats = [0.5, 0.5], [0.25, 0.75]
    rule = ProgramRule(otspec.IID(floats[0], 2), floats[1], first_or_target)
    assert rule.kernel([0, 0]).tolist() == [0.625, 0.375]
    token, accepted = rule.sample([0, 0], np.random.default_rng(0))
    assert (token in (0, 1), accepted) == (True, token == 0)


def test_what_stands_for_withdrawn_drafts_becomes_them_in_a_residual_too():
    # Withdrawn are tokens 1 and 2: their target, 7/8, goes to them as 1 to 6.
    masked = otspec.Masked(otspec.WithoutReplacement(["1/2", "1/4", "1/4"], 2), [0])
    rule = rules.RecursiveRejectionWithoutReplacement.of_law(masked, ["1/8", "1/8", "3/4"])
    tuples, masses = masked.tuples()
    for_each = [
        mass * rule.kernel(x) for x, mass in zip(tuples.tolist(), masses.tolist(), strict=True)
    ]
    assert sum(for_each).tolist() == [Fraction(1, 8), Fraction(1, 8), Fraction(3, 4), 0]


def test_a_rule_takes_drafts_of_its_own_law_alone():
    draft, target = ["1/2", "1/4", "1/4"], ["1/8", "1/8", "3/4"]
    for rule in (rules.KSequential, rules.SpecHub):
        made = rule.of_law(rule.law_class(draft, 2), target)
        assert (type(made), made.k) == (rule, 2)
        assert made.acceptance() == rule(draft, target, 2).acceptance()
        with pytest.raises(ValueError, match=f"law is WithoutReplacement, but {rule.__name__} "):
            rule.of_law(otspec.WithoutReplacement(draft, 2), target)


def test_the_drawn_draft_is_the_one_that_is_verified():
    # Off token 0 both are drawn with probability 1/2; their target is 1/8 and 5/8.
    rule = rules.DrawnDraft(["1/2", "1/4", "1/4"], ["1/4", "1/8", "5/8"], 2)

    def step(drafts):
        def verified(chance):
            found = rule.verify(drafts, chance)
            return found if isinstance(found, int) else tuple(found.tolist())

        return law_of(verified)

    # The residual is (1/4, 0, 1/8), scaled: token 0 is looked up among the drafts.
    rest = Fraction(0), Fraction(0), Fraction(1)
    assert step([0, 1]) == {0: Fraction(1, 2), 1: Fraction(1, 4), rest: Fraction(1, 4)}
    assert step([0, 2]) == {1: 1}
