"""Known faults: exact laws, how surely they are found, and what they are taken for."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from otspec.chance import law_of
from otspec.conformance.cases.cases import memoryless
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.text_cases import text_cases
from otspec.conformance.faults import FAULTS, RIGHT_RULES, Machine, joint_law, rules_of
from otspec.conformance.faults import two_faults as two_faults_module
from otspec.conformance.faults.base import faults_of
from otspec.conformance.faults.explanations import explanations, in_words, looked_at
from otspec.conformance.faults.randomness import raced_again
from otspec.conformance.faults.setting import TEXT, MarkedText, setting_of
from tests.auditing.broken_rules import GALLERY
from tests.support.docs_scripts import script

measure = script("fault_controls")
RULE = {rule.name: rule for rule in RIGHT_RULES}
NAMES = sorted(RULE)
SIMPLE = ("a drafted token that the target never says", "rows that depend on the text")


@pytest.mark.parametrize("name", NAMES)
def test_every_right_rule_has_the_law_of_the_target(name):
    kind = measure.kind_of(RULE[name])
    assert RULE[name] in rules_of(kind)
    for case in measure.cases_of(kind):
        if case.name in SIMPLE:
            law = joint_law(Machine, RULE[name], kind, case)
            assert law.sum() == pytest.approx(1, abs=1e-12)
            assert measure.total_variation(law, measure.right_law(kind, case)) < 1e-14


@pytest.mark.parametrize("name", ["block verification", "recursive rejection by depth"])
def test_texts_of_several_steps_of_a_right_rule_have_the_law_of_the_target(name):
    kind = Texts(measure.kind_of(RULE[name]))
    for case in text_cases(kind.length, 8):
        if case.vocabulary == case.n == 2:
            law = joint_law(Machine, RULE[name], kind, case)
            assert measure.total_variation(law, measure.right_law(kind, case)) < 1e-14


def test_an_impossible_symbol_makes_a_text_impossible_wherever_it_comes():
    class Failing(Machine):
        def says(self, _run):
            return MarkedText(0, (self.n if self.chance.choose((2, 1)) else 0,))

    kind = Texts(Tokens(1))
    case = text_cases(kind.length, 8)[0]
    wanted = np.zeros((1, case.variants * case.n**kind.length + 1))
    wanted[0, [v * case.n**kind.length for v in range(case.variants)]] = (
        2 / 3
    ) ** kind.length / case.variants
    wanted[0, -1] = 1 - (2 / 3) ** kind.length
    found = joint_law(Failing, RULE["maximal coupling"], kind, case)
    assert found == pytest.approx(wanted, abs=1e-15)


ORACLES = {
    "draft not subtracted after a rejection": "residual_not_subtracted",
    "0 / 0 accepted": "nothing_over_nothing_accepted",
    "residual of the first round": "residual_of_the_first_round",
    "one random number for all tests": "one_uniform_for_all_rounds",
    "duplicates skipped": "duplicates_skipped",
    "distinct drafts verified as independent": "distinct_drafts_verified_as_independent",
}


@pytest.mark.parametrize("name", ORACLES)
def test_laws_of_faults_are_those_of_the_gallery(name):
    draft, target = (8, 4, 3, 1), (2, 6, 0, 8)
    broken = GALLERY[ORACLES[name]]
    kind = Tokens(2, broken.drafts)
    rule = rules_of(kind)[0]
    assert rule.name.startswith("recursive rejection")
    law = joint_law(FAULTS[name].machine, rule, kind, memoryless("", draft, target))
    p, q = ([Fraction(weight, 16) for weight in weights] for weights in (draft, target))
    kernel, expected = broken.make(p, q, 2), np.zeros(4)
    for x, y in itertools.product(range(4), repeat=2):
        second = p[y] if broken.drafts == "iid" else (p[y] / (1 - p[x]) if x != y else 0)
        expected += np.array(kernel((x, y)), dtype=float) * float(p[x] * second)
    assert law.sum(axis=0)[:4] == pytest.approx(expected, abs=1e-12)


def test_drafts_that_are_given_have_the_same_law():
    kind, rule = Tree((-1, -1, 0)), RULE["traversal verification"]
    case = next(case for case in measure.cases_of(kind) if case.name == SIMPLE[1])
    setting, total = setting_of(kind, case), np.zeros(kind.marks)
    for drafts in itertools.product(range(3), repeat=3):
        mass = case.draft[0, 0, drafts[0]] * case.draft[0, 0, drafts[1]]
        mass *= case.draft[0, drafts[0] + 1, drafts[2]]
        if mass > 0:
            law = law_of(lambda chance, x=drafts: rule.run(Machine(setting, 0, chance, x)))
            for told, share in law.items():
                total[told.mark] += mass * share
    assert total == pytest.approx(joint_law(Machine, rule, kind, case).sum(axis=1), abs=1e-12)


@pytest.mark.parametrize(
    "name",
    ["lenience factor", "correction drawn from the target", "ratio upside down",
     "random number shared by draft and test", "last token of the vocabulary lost"],
)  # fmt: skip
def test_faults_are_found_also_where_they_are_as_small_as_may_be(name):
    far = measure.worst(measure.controls_of(FAULTS[name], RULE["maximal coupling"], Tokens(1)))
    assert far.total_variation > measure.DETECT
    rng = np.random.default_rng(3)
    assert far.runs(200, rng)[0].all()
    near = far.at(measure.DETECT)
    assert near.total_variation == pytest.approx(measure.DETECT)
    # Of 200 runs each misses with probability 0.001: more than 3 with probability 6e-5.
    assert near.runs(200, rng)[0].sum() >= 197


def test_a_run_is_one_of_the_runs():
    controls = measure.controls_of(FAULTS["lenience factor"], RULE["maximal coupling"], Tokens(1))
    far = measure.worst(controls).at(0.02)
    sizes = far.runs(300, np.random.default_rng(1))[1]
    one_by_one = [far.run(np.random.default_rng(seed)) for seed in range(40)]
    assert all(finding is not None for _, finding in one_by_one)
    assert np.isin([tried.size for tried, _ in one_by_one], sizes).all()


def test_a_law_is_mixed_only_to_come_nearer():
    far = measure.worst(
        measure.controls_of(FAULTS["lenience factor"], RULE["maximal coupling"], Tokens(1))
    )
    with pytest.raises(ValueError, match=r"distance is 0\.9, but the law's is"):
        far.at(0.9)


@pytest.mark.parametrize("kind", [Tokens(3), Block.of_length(2)], ids=["tokens", "block"])
def test_right_verifiers_raise_no_alarm(kind):
    assert measure.alarms(kind, 100, np.random.default_rng(2)) == 0


@pytest.mark.parametrize(
    "name",
    ["residual clipped", "correction is the likeliest token", "strictness factor",
     "draft declared sharper than sampled"],
)  # fmt: skip
def test_a_fault_is_its_own_first_explanation(name):
    kind, rule = Tokens(1), RULE["maximal coupling"]
    controls = [measure.control(FAULTS[name], rule, kind, case) for case in measure.cases_of(kind)]
    seen = measure.seen_of(controls, np.random.default_rng(4))
    assert explanations(kind, seen) == ([name], True)
    assert looked_at(seen)[0].off


def test_only_cases_of_symbols_of_one_token_that_were_seen_are_compared():
    name, kind = "strictness factor", Tokens(1)
    case = next(case for case in measure.cases_of(kind) if case.n == 4 and case.vocabulary == 4)
    control = measure.control(FAULTS[name], RULE["maximal coupling"], kind, case)
    (seen,) = measure.seen_of([control], np.random.default_rng(4))
    wide = replace(seen, case=replace(case, symbols=np.array([0, 1, 2, 3, 3])))
    unseen = replace(seen, counts=np.zeros_like(seen.counts))
    assert looked_at([wide, seen, unseen]) == [seen]


def test_some_cases_may_be_read_in_another_way():
    """As an engine's that drafts from warped logits or not: one of the cases is the other one."""
    name, kind, rule = "strictness factor", Tokens(1), RULE["maximal coupling"]
    cases = [case for case in measure.cases_of(kind) if case.n == 4 and case.variants == 1]
    controls = [measure.control(FAULTS[name], rule, kind, case) for case in cases]
    first, second, *others = looked_at(measure.seen_of(controls, np.random.default_rng(4)))
    swapped = replace(first, case=second.case, other=first.case)
    assert explanations(kind, [swapped, second, *others]) == ([name], True)
    plainly = replace(swapped, other=None)
    assert explanations(kind, [plainly, second, *others]) == ([name], False)


def test_faults_of_one_law_are_one_explanation():
    """Of single drafts a first and a last draft, and the residuals of all rounds, are the same."""
    kind, rule = Tokens(1), RULE["maximal coupling"]
    controls = [
        measure.control(FAULTS["residual not renormalized"], rule, kind, case)
        for case in measure.cases_of(kind)
    ]
    seen = measure.seen_of(controls, np.random.default_rng(4))
    assert not any(each.off for each in seen)
    *_, together = explanations(kind, [replace(each, off=True) for each in seen]).names
    assert {"duplicates skipped", "residual of the first round"} <= set(together.split(" or "))


def test_what_is_said_of_one_draft_tells_faults_of_one_output_apart():
    """Its output is right where one draft is verified; the accepted draft is not."""
    name, kind, rule = "drawn drafts taken for certain", Tokens(1), RULE["maximal coupling"]
    controls = [measure.control(FAULTS[name], rule, kind, case) for case in measure.cases_of(kind)]
    seen = measure.seen_of(controls, np.random.default_rng(4))
    assert not any(each.off for each in seen)
    assert explanations(kind, [replace(each, off=True) for each in seen]).names == [name]


def test_the_likeliest_token_is_the_first_of_equal_ones():
    machine = FAULTS["drafts are the likeliest tokens"].machine
    assert machine.drafted(None, 0, [0.2, 0.4, 0.4]) == 1


def test_nothing_explains_what_is_right_and_what_nobody_knows():
    kind, rule = Tokens(1), RULE["maximal coupling"]
    right = [measure.control(None, rule, kind, case) for case in measure.cases_of(kind)]
    assert explanations(kind, measure.seen_of(right, np.random.default_rng(4))).names == []
    strange = []
    for each in right:
        law = np.roll(each.law, 1, axis=1)
        strange.append(measure.Control(kind, each.case, law))
    assert explanations(kind, measure.seen_of(strange, np.random.default_rng(4))).names == []


def test_faults_say_what_they_are():
    assert len(FAULTS) > 100
    for name, fault in FAULTS.items():
        assert fault.sentence.endswith("."), name
        assert not fault.fix.endswith("."), name
        assert in_words(name).startswith(f"{name}: ")
        assert set(fault.kinds) <= {"tokens", "block", "tree"}, name


def test_the_page_of_controls_is_what_is_measured():
    page = script("conformance_controls")
    text = page.PAGE.read_text(encoding="utf-8")
    lines = text.splitlines()
    quick = [FAULTS["random numbers of few bits"]]
    found = [each for rule in RIGHT_RULES for each in page.measured(rule, quick)]
    _, row = page.fault_rows(found)
    assert row in lines
    for kind, words in page.RULES_OF.items():
        rules = [rule for rule in RIGHT_RULES if rule.kind == kind]
        pairs = len(rules) * len(faults_of(kind))
        start = f"| {words.format(len(rules))} | {pairs:,} | "
        assert any(line.startswith(start) for line in lines)
    assert "\n".join(page.shared_noise()) in text


def test_two_races_with_the_same_noise_have_their_own_laws_and_agree_as_shared_noise_does():
    rates, weights = (0.5, 0.3, 0.2), (0.1, 0.6, 0.3)
    laws = np.array([raced_again(rates, first, weights) for first in range(3)])
    assert np.array(rates) @ laws == pytest.approx(weights, abs=1e-15)
    # One list of exponential numbers: sum of 1 / sum of max(p(z) / p(y), q(z) / q(y)).
    agree = sum(
        1 / sum(max(p / rates[y], q / weights[y]) for p, q in zip(rates, weights, strict=True))
        for y in range(3)
    )
    assert np.array(rates) @ laws.diagonal() == pytest.approx(agree, abs=1e-15)


def test_a_fault_whose_law_takes_too_long_explains_nothing(monkeypatch):
    name, kind, rule = "residual clipped", Tokens(1), RULE["maximal coupling"]
    controls = [measure.control(FAULTS[name], rule, kind, case) for case in measure.cases_of(kind)]
    seen = measure.seen_of(controls, np.random.default_rng(4))
    known = two_faults_module.law_or_none

    def unknown(machine, *others):
        return None if machine is FAULTS[name].machine else known(machine, *others)

    monkeypatch.setattr(two_faults_module, "law_or_none", unknown)
    found = explanations(kind, seen).names
    assert name not in [each for names in found for each in names.split(" or ")]


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("kept length one too short", [0, 0, 1]),
        ("kept length one too long", [1, 2, 2]),
        ("whole path kept wherever a draft was rejected", [2, 2, 2]),
    ],
)
def test_a_fault_of_the_kept_length_counts_what_its_name_says(name, marks):
    kind = Block.of_length(2)
    case = next(case for case in measure.cases_of(kind) if case.name == SIMPLE[1])
    machine = FAULTS[name].machine(setting_of(kind, case), 0, None, (1, 2))
    # Right are 0, 1 and 2 kept drafts.
    found = [machine.answer(node, 0) for node in (TEXT, 0, 1)]
    assert [told.mark for told in found] == marks
    assert [told.text for told in found] == [(*(1, 2)[:mark], 0) for mark in marks]
