"""The explorer's JavaScript gives what Python gives, also where the input is degenerate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import instances
import numpy as np
import oracles
from explorer_arithmetic import CLOSE, LAW_CLASSES, apart, evaluated
from searching import NIGHTLY

import otspec
from otspec.drafts.single import LAWS, SingleDraftLaw
from otspec.rules import RULES, PairRule

KS = ((1, 2, 3), (2, 4, 16), (3, 7))
"""In turn."""
LEFT_OUT = {
    "importance-sampling", "earliest-pooled-selection", "truncated-alphabet", "priority-mixture",
    "recursive-rejection-independent", "planned",
}  # fmt: skip
"""Rules of which the page has no formula: rules.js says why."""


def _random_pairs(seed: int, count: int) -> list[tuple[list[float], list[float]]]:
    """Pairs of floats, with every kind of degenerate pair among them, and of up to 64 tokens."""
    rng = np.random.default_rng(seed)
    found = []
    for index in range(count):
        if index % 5 == 0:
            n = int(rng.integers(2, 65))
            masses = [rng.dirichlet(np.full(n, rng.choice([0.1, 1, 5]))) for _ in range(2)]
            found.append((masses[0].tolist(), masses[1].tolist()))
        else:
            kind = instances.KINDS[index % len(instances.KINDS)]
            pair = instances.pair(rng, int(rng.integers(1, 9)), kind)
            found.append((instances.floats(pair[0]), instances.floats(pair[1])))
    return found


def _checked(pair: tuple[Sequence[float], Sequence[float]]) -> dict[str, list[float]]:
    """Return a pair as Python scales it, so that both sides are given the same floats."""
    draft, target = (otspec.distributions.as_distribution(each).tolist() for each in pair)
    return {"draft": draft, "target": target}


@cache
def _cases() -> list[dict[str, Any]]:
    pairs = _random_pairs(0, 1_000 if NIGHTLY else 100) + list(instances.extreme_pairs(1, 200, 8))
    return [_checked(pair) for pair in pairs]


OPTIMA = """(cases) => cases.map(({ draft, target, ks }) => Object.fromEntries(a.LAWS.map((law) =>
  [law.name, { all: a.optima(law.name, draft, target, ks), each: ks.map((k) =>
    a.refusal(law.name, draft, k) ? null : a.optimum(law.name, draft, target, k)) }])))"""


def test_laws_are_pythons() -> None:
    laws = evaluated("(n) => a.LAWS.map((law) => [law.name, law.ks(n)])", 3)
    assert [name for name, _ in laws] == list(LAW_CLASSES)
    draft = otspec.distributions.as_distribution([0.5, 0.25, 0.25])
    for name, ks in laws:
        assert ks == [k for k in range(1, 17) if LAW_CLASSES[name].exists(draft, k)]


def test_optima_are_pythons() -> None:
    given = [case | {"ks": list(KS[index % 3])} for index, case in enumerate(_cases())]
    for index, (case, found) in enumerate(zip(given, evaluated(OPTIMA, given), strict=True)):
        draft, target = (np.array(case[name]) for name in ("draft", "target"))
        for name, law_class in LAW_CLASSES.items():
            ks = [k for k in case["ks"] if law_class.exists(draft, k)]
            optima = dict(zip(case["ks"], found[name]["all"], strict=True))
            each = dict(zip(case["ks"], found[name]["each"], strict=True))
            assert [k for k in case["ks"] if optima[k] is not None] == ks
            if not ks or (name == "two-hubs" and index % 4):  # a flow, which takes longer
                continue
            wanted = _optima(law_class, draft, target, ks)
            assert apart([optima[k] for k in ks], wanted) < CLOSE
            assert apart([each[k]["acceptance"] for k in ks], wanted) < CLOSE
            if index % 8 == 0:
                for k in ks:
                    _check_cut(law_class(draft, k), target, each[k])


def _optima(
    law_class: type[SingleDraftLaw], draft: np.ndarray, target: np.ndarray, ks: list[int]
) -> np.ndarray:
    if law_class.name in LAWS:
        return otspec.optimal_acceptances(draft, target, ks, law=law_class.name)
    return np.array([otspec.optimal_acceptance(law_class(draft, 2), target).acceptance])


def _check_cut(law: otspec.DraftLaw, target: np.ndarray, found: dict[str, Any]) -> None:
    """A cut is right if it is worth the optimum: there may be several."""
    assert found["cut"] == sorted(set(found["cut"]))
    assert abs(found["inside"] - law.inside(found["cut"])) < CLOSE
    assert abs(found["target"] - target[found["cut"]].sum()) < CLOSE
    assert abs(found["target"] + 1 - found["inside"] - found["acceptance"]) < CLOSE


def test_optima_are_those_of_enumerated_tables() -> None:
    """The definition, over all sets of tokens and all tuples of drafts: nothing of Python's way."""
    tables = {
        "iid": oracles.iid_table,
        "without-replacement": oracles.without_replacement_table,
        "hub": lambda draft, _: oracles.hub_table(draft),
        "two-hubs": lambda draft, _: oracles.two_hubs_table(draft),
        "top-plus-one": oracles.top_plus_one_table,
        "top": lambda draft, k: oracles.fixed_table(oracles.likeliest(draft, k)),
    }
    pairs = list(instances.pairs(2, 64, 4))
    given = [
        {"draft": instances.floats(draft), "target": instances.floats(target), "ks": [1, 2, 3]}
        for draft, target in pairs
    ]
    for (draft, target), found in zip(pairs, evaluated(OPTIMA, given), strict=True):
        for name, table in tables.items():
            for k, optimum in zip([1, 2, 3], found[name]["all"], strict=True):
                if optimum is not None:
                    wanted = oracles.optimum(table(draft, k), target)
                    assert abs(optimum - wanted) < CLOSE


RULE_VALUES = """(cases) => cases.map(({ draft, target, ks }) => Object.fromEntries(
  a.RULES.map(({ name }) => [name, ks.map((k) =>
    a.ruleRefusal(name, draft, k) ? null : a.acceptance(name, draft, target, k))])))"""


def test_rules_are_pythons() -> None:
    listed = {each["name"]: each for each in evaluated("() => a.RULES", None)}
    assert set(listed) == set(RULES) - LEFT_OUT
    for name, each in listed.items():
        rule = RULES[name]
        assert (each["title"], each["law"]) == (rule.title, rule.law_class.name)
        assert each.get("onlyK") == rule.only_k
    # Sums over distinct drafts of many tokens take long, in Python too.
    given = [
        case | {"ks": [1, 2, 3, 4] if len(case["draft"]) <= 8 else [1 + index // 5 % 3]}
        for index, case in enumerate(_cases())
    ]
    for case, found in zip(given, evaluated(RULE_VALUES, given), strict=True):
        draft, target = (np.array(case[name]) for name in ("draft", "target"))
        pair = otspec.ratios.Pair(draft, target)
        for name, values in found.items():
            rule = RULES[name]
            ks = [k for k in case["ks"] if _takes(rule, draft, k)]
            found_ks = [k for k, each in zip(case["ks"], values, strict=True) if each is not None]
            assert found_ks == ks
            accepted = [value for value in values if value is not None]
            assert apart(accepted, rule.acceptances_of(pair, ks) if ks else []) < CLOSE


def _takes(rule: type[PairRule], draft: np.ndarray, k: int) -> bool:
    """Return whether a rule has an exact acceptance for k drafts of a distribution."""
    if rule.only_k not in (None, k) or not rule.law_class.exists(draft, k):
        return False
    if rule.name != "recursive-rejection-without-replacement":
        return True
    return int(np.count_nonzero(draft)) ** max(k - 2, 0) <= 4_000


def test_long_vectors_and_many_drafts() -> None:
    """A few thousand tokens, as they are pasted: softmax of logits, most of them tiny."""
    rng = np.random.default_rng(4)
    logits = 6 * rng.standard_normal((2, 3_000))
    logits[1] += logits[0]
    softmax = np.exp(logits - logits.max(axis=1, keepdims=True))
    pair = _checked((softmax / softmax.sum(axis=1, keepdims=True)).tolist())
    draft, target = np.array(pair["draft"]), np.array(pair["target"])
    (found,) = evaluated(OPTIMA, [pair | {"ks": [2, 16]}])
    for name in LAWS:
        ks = [k for k in (2, 16) if LAWS[name].exists(draft, k)]
        optima = [value for value in found[name]["all"] if value is not None]
        assert apart(optima, _optima(LAWS[name], draft, target, ks)) < CLOSE


REFUSED = """(calls) => calls.map(([name, ...given]) => {
  try { a[name](...given); return null; }
  catch (error) { return `${error.name}: ${error.message}`; }
})"""


def test_refusals_say_what_to_do() -> None:
    pair = (0.5, 0.5, 0), (0.25, 0.25, 0.5)
    alike = (1 / 64,) * 64
    calls = {
        ("optimum", "iid", *pair, 0): "k is 0: the number of drafts is a whole number from 1 to 16",
        ("optimum", "iid", *pair, 1.5): "k is 1.5",
        ("optimum", "none", *pair, 2): "no draft law is called none: there are iid, ",
        ("optimum", "hub", *pair, 3): "such drafts come in pairs: take k = 2",
        ("optimum", "top", *pair, 3): "2 tokens of positive probability, too few for 3",
        ("selection", "hub", *pair, 2): "for iid and without-replacement, not for hub",
        ("acceptance", "none", *pair, 2): "no rule is called none: there are maximal-coupling",
        ("acceptance", "maximal-coupling", *pair, 2): "verifies exactly 1 draft",
        ("everythingAccepted", "iid", (0.5, 0.5), 2): "has 2 tokens: the region is drawn for three",
        ("normalized", (0, 0)): "nothing to normalize",
        ("acceptance", "recursive-rejection-without-replacement", alike, alike, 4):
            "too many beginnings of k = 4 distinct drafts",
    }  # fmt: skip
    found = evaluated(REFUSED, [list(call) for call in calls])
    for words, message in zip(calls.values(), found, strict=True):
        assert message.startswith("RangeError: ")
        assert words in message
