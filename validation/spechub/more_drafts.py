"""Claims of appendices B.4 and C: the first draft, and more drafts."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from validation.claim import Claim, Corrected, above, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, iid, support, total
from validation.oracles import least_bound
from validation.spechub.instances import over_cases, over_hubs
from validation.spechub.printed import hub_of, spechub, token_rejection
from validation.spechub.programs import over_sizes, variables


def first_draft_of_hub(draft: Exact, target: Exact) -> tuple[Fraction, Fraction]:
    """Return the hub's acceptance as first draft, and what others take of the pairs (a, x)."""
    a, run = hub_of(draft), spechub(draft, target)
    return run.accepted[0][a], total(m for x, m in enumerate(run.accepted[1]) if x != a)


def loses_when(draft: Exact, target: Exact) -> Fraction | None:
    """If q(a) > p(a) and another token takes of (a, x), the first draft a is accepted less."""
    a = hub_of(draft)
    if target[a] <= draft[a]:
        return None
    found, taken = first_draft_of_hub(draft, target)
    if taken == 0:
        return None
    return Fraction(above(min(draft[a], target[a]), found, "RRS's first draft a"))


def loses_only_when(draft: Exact, target: Exact) -> Fraction | None:
    """If q(a) ≤ p(a), or no other token takes of (a, x), the first draft a loses nothing."""
    a = hub_of(draft)
    found, taken = first_draft_of_hub(draft, target)
    if target[a] > draft[a] and taken > 0:
        return None
    return equal(found, min(draft[a], target[a]), "first draft a")


def loses_exactly(draft: Exact, target: Exact) -> Fraction:
    """It loses (T − (p(a) − q(a))₊)₊, T being what other tokens take of (a, x)."""
    a = hub_of(draft)
    found, taken = first_draft_of_hub(draft, target)
    lost = max(taken - max(draft[a] - target[a], ZERO), ZERO)
    return equal(min(draft[a], target[a]) - found, lost, "loss")


def first_draft_never_gains(draft: Exact, target: Exact) -> Fraction:
    """SpecHub's first draft is accepted at most Σ min(p, q), each x ≠ a exactly min(p, q)."""
    a, run = hub_of(draft), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            equal(run.accepted[0][x], min(p, q), f"first draft {x}")
    other = token_rejection(draft, target, 1, replacement=True).acceptance()
    return Fraction(at_least(other, run.by_draft()[0], "first draft of RRS and RRSw"))


def not_rising(rates: list[Fraction], what: str) -> Fraction:
    """Compare the acceptance of each draft with that of the one before it."""
    for i, later in enumerate(rates[1:]):
        at_least(rates[i], later, f"{what}: draft {i + 1}, against draft {i + 2}")
    return min([one - other for one, other in pairwise(rates)], default=ZERO)


def later_drafts(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Neither RRS nor RRSw accepts a later draft more often than an earlier one."""
    if support(draft) < k:
        return None
    with_replacement = token_rejection(draft, target, k, replacement=True).by_draft()
    without = token_rejection(draft, target, k, replacement=False).by_draft()
    return min(not_rising(with_replacement, "RRS"), not_rising(without, "RRSw"))


def later_independent_drafts(draft: Exact, target: Exact, k: int) -> Fraction:
    """RRS does not, and the optimum of i.i.d. drafts gains ever less by one more draft."""
    by_draft = token_rejection(draft, target, k, replacement=True).by_draft()
    best = [ZERO, *(least_bound(iid(draft, i), target) for i in range(1, k + 1))]
    gains = [more - less for less, more in pairwise(best)]
    return min(not_rising(by_draft, "RRS"), not_rising(gains, "optimum"))


def times_n(n: int, k: int) -> Fraction:
    """The program (1) has n^(k+1) variables: n times as many with every draft."""
    found = variables("membership", n, k)
    equal(found, n ** (k + 1), "variables")
    before = variables("membership", n, k - 1) if k > 1 else n
    return equal(found, n * before, "variables, against those of one draft less")


CLAIMS = (
    Claim(
        "spechub.secB.4a",
        "Appendix B.4",
        r"If $q(a) > p(a)$ and another token takes some of the mass $P(a, x)$, SpecHub accepts $a$ "
        r"as first draft less often than $\min(p(a), q(a))$, as RRS does.",
        over_hubs(loses_when),
    ),
    Claim(
        "spechub.secB.4b",
        "Appendix B.4",
        "That is the only case: if $q(a) \\le p(a)$, or no other token takes any of $P(a, x)$, "
        r"SpecHub accepts $a$ as first draft with probability $\min(p(a), q(a))$.",
        over_hubs(loses_only_when, fewest_tokens=3),
        printed="“This situation occurs when p(a) > q(a) and another token x takes some of the "
        "probability mass Q(a, x)” (the paper's p is the target): read as exactly when.",
        corrected=Corrected(
            r"With $T = \sum_{x \ne a} \pi(a, x, x)$ it loses $(T - (p(a) - q(a))_+)_+$.",
            over_hubs(loses_exactly),
        ),
    ),
    Claim(
        "spechub.secB.4c",
        "Section 4, Analysis; appendix B.4",
        r"SpecHub may lower the acceptance of the first draft, and for $a$ only: each "
        r"$x \ne a$ is accepted as first draft with probability $\min(p(x), q(x))$, and the first "
        r"draft at most with $\sum \min(p, q)$, as RRS and RRSw accept it.",
        over_hubs(first_draft_never_gains),
        printed="So the rows of table 3 in which SpecHub's first draft is accepted more often than "
        "RRSw's (0.4921 against 0.4498) compare different contexts.",
    ),
    Claim(
        "spechub.secC.1",
        "Appendix C.1",
        "More drafts offer diminishing returns: neither RRS nor RRSw accepts a later draft more "
        "often than an earlier one.",
        over_cases(later_drafts, ks=(2, 3), most_tokens=3),
        printed="“the probability mass of the residual distribution decreases, leading to lower "
        "acceptance rates for subsequent drafts”, with figure 9 for both.",
        corrected=Corrected(
            "RRS does not, and the optimum of i.i.d. drafts gains no more by draft $k + 1$ than by "
            "draft k. Without replacement a later draft can be accepted more often.",
            over_cases(later_independent_drafts, ks=(2, 3), most_tokens=3),
        ),
    ),
    Claim(
        "spechub.secC.2",
        "Appendix C.2",
        "The number of variables of the program (1) is of the order $n^{k+1}$ and grows "
        "exponentially with k: n-fold with every draft.",
        over_sizes(times_n),
    ),
)
