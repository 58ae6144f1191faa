"""What the explorer shows against what the package computes."""

from fractions import Fraction

import pytest

import otspec
from otspec.distributions import as_distribution
from otspec.drafts import LAWS
from otspec.rules import RULES, compared_rules

CLOSE = 1e-9
TWO_HUBS = "two-hubs"
NOT_SHOWN = {"importance-sampling"}
"""A rule that takes linear programs."""
MOST_TOKENS = 256
"""Of one race of shared noise, which is a sum over all pairs of tokens on the page."""
POOLED = {
    "iid": RULES["pooled-selection"],
    "without-replacement": RULES["pooled-selection-without-replacement"],
}


def link(draft, target, k, law, uniform=0.4):
    masses = (",".join(map(str, side)) for side in (draft, target))
    return "#d={}&t={}&k={}&law={}&w={}".format(*masses, k, law, uniform)


def close(values):
    return pytest.approx(values, abs=CLOSE, rel=0)


def optimum(draft, target, k, law):
    made = otspec.TwoHubs(draft) if law == TWO_HUBS else LAWS[law](draft, k)
    return made, float(otspec.optimal_acceptance(made, target).acceptance)


def acceptances(draft, target, k, law):
    """Return rule → what it accepts, of the rules that are shown."""
    if law == TWO_HUBS:
        return {"spechub-two-hubs": float(otspec.rules.SpecTwoHubs(draft, target).acceptance())}
    return {
        rule.name: float(rule(draft, target, k).acceptance())
        for rule in compared_rules()
        if rule.law_class is LAWS[law] and rule.only_k in (None, k) and rule.name not in NOT_SHOWN
        if rule.name != "gumbel-coupling" or len(draft) <= MOST_TOKENS
    }


def check(shown, draft, target, k, law):
    """Compare the answer and the table of rules with what the package says."""
    draft, target = (as_distribution(side, normalize=True) for side in (draft, target))
    made, best = optimum(draft, target, k, law)
    assert shown["optimum"] == close(best)
    cut = shown["cut"]
    assert shown["inside"] == close(float(made.inside(cut)) if cut else 0)
    assert shown["target"] == close(float(sum(target[i] for i in cut)))
    assert shown["target"] + 1 - shown["inside"] == close(best)
    assert shown["rules"] == close(acceptances(draft, target, k, law))
    check_selection(shown, draft, target, k, law)


def check_selection(shown, draft, target, k, law):
    """Compare the law of the selected draft and its barriers with the rule's."""
    if law not in POOLED:
        assert shown["knots"] is None
        return
    rule = POOLED[law](draft, target, k)
    below = [int((rule.pool <= j).sum()) for j in range(len(rule.knots) - 1)]
    # Of one draft, and at knots that all drafts are never below, barriers make no difference.
    idle = {
        u for u, n in zip(rule.knots, below, strict=False) if k == 1 or (law != "iid" and n < k)
    }
    lives = dict(zip(map(float, rule.knots), map(float, rule.lifetimes), strict=True))
    for mass, lifetime in shown["knots"]:
        nearest = min(lives, key=lambda u: abs(u - mass))
        assert nearest == close(mass)
        assert lives[nearest] == close(lifetime) or 0 < nearest in idle
    lasting = [u for u, lifetime in lives.items() if lifetime > CLOSE and u not in idle]
    assert all(min(abs(u - mass) for mass, _ in shown["knots"]) < CLOSE for u in lasting)
    if shown["selected"] is not None:
        assert shown["selected"] == close(rule.law_of_selection.tolist())


def check_lines(shown, draft, target, law):
    """Compare the chart against k with what the package says."""
    draft, target = (as_distribution(side, normalize=True) for side in (draft, target))
    ks = [k for k in range(1, 17) if LAWS[law].exists(draft, k)]
    expected = {("optimum", k): optimum(draft, target, k, law)[1] for k in ks}
    for k in ks:
        found = acceptances(draft, target, k, law)
        expected |= {(rule, k): value for rule, value in found.items() if "pooled" not in rule}
    assert {(rule, k): value for rule, k, value in shown["lines"]} == close(expected)


def floats(text):
    return [float(Fraction(mass)) for mass in text.split(",")]
