"""Claims of appendix B.3: theorem 4, its proof and the remark after it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from validation.checks import over, over_all, over_pairs
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, iid, total
from validation.oracles import least_bound
from validation.spechub.instances import exact, hub_pairs, over_drafts, over_hubs
from validation.spechub.printed import hub_of, spechub


def theorem4(draft: Exact, target: Exact, *, strictly: bool) -> Fraction | None:
    """Compare SpecHub with the optimum of two i.i.d. drafts."""
    if max(draft) < Fraction(1, 2) or (strictly and max(draft) == Fraction(1, 2)):
        return None
    found = spechub(draft, target).acceptance()
    bound = least_bound(iid(draft, 2), target)
    if strictly:
        return Fraction(above(found, bound, "SpecHub"))
    a = hub_of(draft)
    if any(
        x != a and p > 0 and q > 1 - (1 - p) ** 2
        for x, (p, q) in enumerate(zip(draft, target, strict=True))
    ):
        above(found, bound, "SpecHub, with a token that OTM cannot serve in full")
    return Fraction(at_least(found, bound, "SpecHub"))


def square(draft: Exact, *, strictly: bool) -> Fraction:
    """Compare 1 − (1 − p)² with 2p: strictly for all tokens, or for those with p > 0."""
    slacks = []
    for p in draft:
        compare = above if strictly or p > 0 else equal
        slacks.append(Fraction(compare(2 * p, 1 - (1 - p) ** 2, "2 p(x)")))
    return min(slacks)


def doubled(draft: Exact, *, possible: bool) -> Fraction | None:
    """p(x)/(1 − p(a)) > 2 p(x) exactly where p(a) > 1/2, for x ≠ a; or for possible x only."""
    a = hub_of(draft)
    if draft[a] == 1:
        return None
    for x, p in enumerate(draft):
        if x != a and (p > 0 or not possible):
            what = f"whether {p / (1 - draft[a])} > {2 * p} for token {x}"
            equal(p / (1 - draft[a]) > 2 * p, 2 * draft[a] > 1, what)
    return ZERO


def contained(draft: Exact, target: Exact) -> Fraction:
    """The optimum of two i.i.d. drafts is at most Σ min(q, P(x is drafted))."""
    table = iid(draft, 2)
    drafted = [total(m for x, m in table.items() if y in x) for y in range(len(draft))]
    for y, p in enumerate(draft):
        equal(drafted[y], 1 - (1 - p) ** 2, f"P({y} is drafted)")
        only = tuple(Fraction(int(x == y)) for x in range(len(draft)))
        equal(least_bound(table, only), drafted[y], f"most that is accepted of {y}")
    bound = total(min(q, chance) for q, chance in zip(target, drafted, strict=True))
    return Fraction(at_least(bound, least_bound(table, target), "bound"))


def rate_of_token(draft: Exact, target: Exact, *, printed: bool) -> Fraction:
    """SpecHub accepts x ≠ a with probability p(x)/(1 − p(a)), or with the least of it and q(x)."""
    a, run = hub_of(draft), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            offered = p / (1 - draft[a])
            found = run.accepted[0][x] + run.accepted[1][x]
            equal(found, offered if printed else min(q, offered), f"acceptance of {x}")
    return ZERO


def thresholds() -> Iterator[dict[str, Any]]:
    """Yield p(a) from 1/3 to just below 1/2."""
    for number in range(1, 100_000):
        yield {"top": Fraction(number, 2 * number + 1)}


def below_half(top: Fraction) -> Fraction:
    """For this p(a) < 1/2 some pair has SpecHub below the optimum of two i.i.d. drafts."""
    rest = (1 - 2 * top) / 2
    draft, target = (top, top, rest, rest), exact("0", "0", "1", "0")
    found = spechub(draft, target).acceptance()
    return Fraction(above(least_bound(iid(draft, 2), target), found, "OTM"))


def above_threshold(top: Fraction, draft: Exact, target: Exact) -> Fraction | None:
    """Where p(a) is at least this, SpecHub accepts at least as much as two i.i.d. drafts can."""
    if not top <= max(draft) < 1:
        return None
    found = spechub(draft, target).acceptance()
    return Fraction(at_least(found, least_bound(iid(draft, 2), target), "SpecHub"))


def near_a_threshold(seed: int) -> Iterator[dict[str, Any]]:
    """Yield 49/100 with pairs: first with p(a) there."""
    top = Fraction(49, 100)
    for n in (3, 4, 5):
        rest = (1 - 2 * top) / (n - 2)
        for y in range(n):
            target = tuple(Fraction(int(x == y)) for x in range(n))
            yield {"top": top, "draft": (top, top, *[rest] * (n - 2)), "target": target}
    for pair in hub_pairs(seed):
        yield {"top": top, **pair}


CLAIMS = (
    Claim(
        "spechub.thm4",
        "Theorem 4, appendix B.3; section 4, Analysis",
        "SpecHub has a higher total acceptance rate than OTM with two independent drafts if "
        "$p(a) > 1/2$.",
        over_hubs(partial(theorem4, strictly=True)),
        printed="Section 4 also writes the condition as 1/(1 − q(a)) > 2 (the paper's q is the "
        "draft), which is the same.",
        corrected=Corrected(
            r"If $p(a) \ge 1/2$, it accepts at least as much; strictly more if some token "
            r"$x \ne a$ has $p(x) > 0$ and $q(x) > 1 - (1 - p(x))^2$.",
            over_hubs(partial(theorem4, strictly=False)),
        ),
    ),
    Claim(
        "spechub.secB.3e",
        "Proof of theorem 4, the inequality",
        "$1 - (1 - p(x))^2 < 2 p(x)$ for every token x.",
        over_drafts(partial(square, strictly=True)),
        corrected=Corrected(
            r"$1 - (1 - p(x))^2 \le 2 p(x)$; the two are equal exactly where $p(x) = 0$.",
            over_drafts(partial(square, strictly=False)),
        ),
    ),
    Claim(
        "spechub.secB.3f",
        "Proof of theorem 4, the bound on OTM",
        "The highest acceptance of a token x from two independent drafts is at most the "
        "probability that it is drafted, $1 - (1 - p(x))^2$, and attains it for a target that is "
        r"certain; so OTM accepts at most $\sum_x \min(q(x), 1 - (1 - p(x))^2)$.",
        over_pairs(contained),
    ),
    Claim(
        "spechub.secB.3g",
        "Proof of theorem 4, SpecHub",
        r"For $x \ne a$ the acceptance rate of the two drafts of SpecHub is "
        r"$\frac{p(a)}{1 - p(a)} p(x) + p(x) = \frac{p(x)}{1 - p(a)}$.",
        over_hubs(partial(rate_of_token, printed=True)),
        printed="That is how often x is drafted.",
        corrected=Corrected(
            r"It is $\min\bigl(q(x), \frac{p(x)}{1 - p(a)}\bigr)$.",
            over_hubs(partial(rate_of_token, printed=False)),
        ),
    ),
    Claim(
        "spechub.secB.3h",
        "Proof of theorem 4, the conclusion",
        r"For $x \ne a$, $\frac{p(x)}{1 - p(a)} > 2 p(x)$ exactly if $p(a) > 1/2$.",
        over_drafts(partial(doubled, possible=False)),
        corrected=Corrected(
            "For $p(x) > 0$; otherwise the two are equal.",
            over_drafts(partial(doubled, possible=True)),
        ),
    ),
    Claim(
        "spechub.secB.3i",
        "After theorem 4",
        "The condition of theorem 4 is nowhere near as tight as that of theorem 3, so that a "
        r"somewhat smaller $p(a)$ is enough: say $p(a) \ge 49/100$.",
        over(near_a_threshold, above_threshold, "n <= 5"),
        printed="“this bound is nowhere near as tight since we are using a loose upper bound on "
        "OTM's performance”; no smaller constant is given, 49/100 stands for any.",
        corrected=Corrected(
            r"1/2 cannot be lowered: for each $t$ with $1/3 \le t < 1/2$, the draft "
            r"$(t, t, \frac{1 - 2t}{2}, \frac{1 - 2t}{2})$ and the target $(0, 0, 1, 0)$ have OTM "
            "above SpecHub.",
            over_all(thresholds, below_half, "p(a) = m/(2m + 1)"),
        ),
    ),
)
