"""Appendix B.4: what SpecHub's first draft loses."""

from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.notation import ZERO, overlap, total
from validation.spechub.algorithms import HUBS, hub_of, spechub


def of_first_draft(draft, target):
    """Return p(a), q(a), the hub's acceptance as first draft, what others take of pairs (a, x)."""
    a, ran = hub_of(draft), spechub(draft, target)
    taken = total(ran.accepted(1, x) for x in range(len(draft)) if x != a)
    return draft[a], target[a], ran.accepted(0, a), taken


@claim("spechub.secB.4a", "Appendix B.4", HUBS)
def loses_when(draft, target):
    r"""If $q(a) > p(a)$ and another token takes some of the mass $P(a, x)$, SpecHub accepts $a$ as
    first draft less often than $\min(p(a), q(a))$, as RRS does.
    """
    p, q, found, taken = of_first_draft(draft, target)
    return above(min(p, q), found, "RRS's first draft a") if q > p and taken else None


@claim("spechub.secB.4b", "Appendix B.4", HUBS)
def loses_only_when(draft, target):
    r"""That is the only case: if $q(a) \le p(a)$, or no other token takes any of $P(a, x)$, SpecHub
    accepts $a$ as first draft with probability $\min(p(a), q(a))$.

    Printed: “This situation occurs when p(a) > q(a) and another token x takes some of the
    probability mass Q(a, x)” (the paper's p is the target): read as exactly when.
    """
    p, q, found, taken = of_first_draft(draft, target)
    return None if q > p and taken else equal(found, min(p, q), "first draft a")


@corrected("spechub.secB.4b", Severity.CONDITION, HUBS)
def loses_exactly(draft, target):
    r"""With $T = \sum_{x \ne a} \pi(a, x, x)$ it loses $(T - (p(a) - q(a))_+)_+$."""
    p, q, found, taken = of_first_draft(draft, target)
    return equal(min(p, q) - found, max(taken - max(p - q, ZERO), ZERO), "loss")


@claim("spechub.secB.4c", "Section 4, Analysis; appendix B.4", HUBS)
def first_draft_never_gains(draft, target):
    r"""SpecHub may lower the acceptance of the first draft, and for $a$ only: each $x \ne a$ is
    accepted as first draft with probability $\min(p(x), q(x))$, and the first draft at most with
    $\sum \min(p, q)$, as RRS and RRSw accept it.

    Printed: So the rows of table 3 in which SpecHub's first draft is accepted more often than
    RRSw's (0.4921 against 0.4498) compare different contexts.
    """
    a, ran = hub_of(draft), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            equal(ran.accepted(0, x), min(p, q), f"first draft {x}")
    return at_least(overlap(draft, target), ran.accepted(0), "first draft of RRS and RRSw")
