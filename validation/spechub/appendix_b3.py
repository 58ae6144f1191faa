"""Appendices B.3 and B.4: theorems 3 and 4, their proofs, and what the first draft loses."""

from fractions import Fraction
from functools import partial
from itertools import count

from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import Domain, drafts, exact, given, mixed, pairs
from validation.notation import ZERO, iid, overlap, total
from validation.oracles import least_bound
from validation.spechub.algorithms import HUBS, UNCERTAIN, Hub, rrs, spechub


def taken(hub):
    """Return what the tokens off the hub take of the pairs (a, x)."""
    return total(hub.ran.accepted(1, x) for x, *_ in hub.others)


def narrow(draft, target):
    """Whether the condition of theorem 3 fails."""
    return max(draft) <= (1 - overlap(draft, target)) * (1 - max(draft))


DRAFTS, DEGENERATE, WRONG = drafts(5, random_n=9), Severity.DEGENERATE, Severity.WRONG
WANTED = HUBS.where(lambda draft, target: target[draft.index(max(draft))] > max(draft))
NARROW = pairs(n=4, least=3, random_n=6).where(narrow)
NEAR = given({"draft": exact("49/100", "49/100", "1/50"), "target": exact(0, 0, 1)})
TOPS = Domain(
    lambda: ({"top": Fraction(m, 2 * m + 1)} for m in count(1)),
    lambda rng: ({"top": Fraction(int(rng.integers(334, 500)), 1_000)} for _ in count()),
)


def against_rrs(draft, target, compare=at_least, i=None):
    """Compare what SpecHub and RRS accept, in all or of one draft."""
    found, other = (run(draft, target).accepted(i) for run in (spechub, rrs))
    return compare(found, other, "SpecHub, against RRS")


def against_otm(draft, target, compare=at_least):
    """Compare what SpecHub accepts with the optimum of two independent drafts."""
    found = spechub(draft, target).among_drafts()
    return compare(found, least_bound(iid(draft, 2), target), "SpecHub, against OTM")


def of_others(draft, target, claimed, i=None):
    """Each x ≠ a is accepted, as draft i or in all, with what is claimed."""
    hub = Hub(draft, target)
    for x, p, q in hub.others:
        equal(hub.ran.accepted(i, x), claimed(hub, p, q), f"acceptance of {x}")
    return ZERO


@corrected("spechub.thm3", DEGENERATE, strictly=False)
@claim("spechub.thm3", "Theorem 3, appendix B.3", HUBS)
def theorem_3(draft, target, strictly=True):
    r"""SpecHub has a higher acceptance rate in the second draft than RRS if
    $p(a)/(1 - p(a)) > 1 - \alpha$, with $\alpha = \sum_x \min(p(x), q(x))$.
    Corrected: Under the condition SpecHub accepts the second draft at least as often as RRS;
    strictly more often if some token $x \ne a$ has $q(x) - \min(p(x), q(x)) > (1 - \alpha) p(x) >
    0$."""
    rejected, hub = 1 - overlap(draft, target), Hub(draft, target)
    if hub.odds <= rejected:
        return None
    short = any(q - min(p, q) > rejected * p > 0 for _, p, q in hub.others)
    found = against_rrs(draft, target, above if strictly or short else at_least, i=1)
    return found if strictly else min(found, against_rrs(draft, target))


@claim("spechub.secB.3a", "Proof of theorem 3, RRS", pairs(random_n=5))
def rejection_by_token(draft, target):
    r"""RRS accepts x as second draft with probability $(1 - \alpha) \min\bigl(\frac{q(x) -
    \min(p(x), q(x))}{1 - \alpha}, p(x)\bigr) = \min(q(x) - \min(p(x), q(x)), (1 - \alpha) p(x))$.
    Printed: For α = 1 the first form is 0/0."""
    rejected, ran = 1 - overlap(draft, target), rrs(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        second = min(q - min(p, q), rejected * p)
        first = rejected * min((q - min(p, q)) / rejected, p) if rejected else second
        equal((ran.accepted(1, x), first), (second, second), f"second draft {x}, first form")
    return ZERO


claim("spechub.secB.3b", "Proof of theorem 3, SpecHub", HUBS,
      r"SpecHub accepts $x \ne a$ as second draft with probability "
      r"$\min\bigl(q(x) - \min(p(x), q(x)), \frac{p(a)}{1 - p(a)} p(x)\bigr)$.",
)(partial(of_others, i=1, claimed=lambda hub, p, q: min(q - min(p, q), hub.odds * p)))  # fmt: skip
claim("spechub.secB.3g", "Proof of theorem 4, SpecHub", HUBS,
      r"For $x \ne a$ the acceptance rate of the two drafts of SpecHub is "
      r"$\frac{p(a)}{1 - p(a)} p(x) + p(x) = \frac{p(x)}{1 - p(a)}$.",
      printed="That is how often x is drafted.",
)(partial(of_others, claimed=lambda hub, p, _: hub.odds * p + p))  # fmt: skip
corrected("spechub.secB.3g", Severity.MISPRINT, HUBS,
          r"It is $\min\bigl(q(x), \frac{p(x)}{1 - p(a)}\bigr)$.",
)(partial(of_others, claimed=lambda hub, p, q: min(q, p / (1 - hub.p))))  # fmt: skip
claim("spechub.secB.3d", "After theorem 3, the condition's necessity", HUBS,
      "The condition of theorem 3 is needed only where $q(a) = 0$: if $q(a) > 0$, SpecHub accepts "
      "at least as much as RRS also where the condition fails.",
      printed="“since SpecHub accepts top tokens up to p(a), the above sufficient conditions "
      "become necessary only in unusual cases when p(a) = 0” (the paper's p is the target).",
)(lambda draft, target: against_rrs(draft, target)
  if target[draft.index(max(draft))] and narrow(draft, target) else None)  # fmt: skip
claim("spechub.secB.4a", "Appendix B.4", WANTED,
      "If $q(a) > p(a)$ and another token takes some of the mass $P(a, x)$, SpecHub accepts $a$ as "
      r"first draft less often than $\min(p(a), q(a))$, as RRS does.",
)(lambda draft, target: above(hub.p, hub.ran.accepted(0, hub.a), "RRS's first draft")
  if taken(hub := Hub(draft, target)) else None)  # fmt: skip
claim("spechub.secB.3i", "After theorem 4", mixed(NEAR, HUBS),
      "The condition of theorem 4 is nowhere near as tight as that of theorem 3, so that a "
      r"somewhat smaller $p(a)$ is enough: say $p(a) \ge 49/100$.",
      printed="“this bound is nowhere near as tight since we are using a loose upper bound on "
      "OTM's performance”; no smaller constant is given, 49/100 stands for any.",
)(lambda draft, target: against_otm(draft, target) if Fraction(49, 100) <= max(draft) < 1
  else None)  # fmt: skip


@corrected("spechub.secB.3c", DEGENERATE, strictly=False)
@claim("spechub.secB.3c", "After theorem 3, the example", HUBS)
def a_third(draft, target, strictly=True):
    r"""If $\alpha = 1/2$ and $p(a) > 1/3$, SpecHub is faster than RRS: it accepts more.
    Printed: “as long as the top token has probability q(a) > 1/3 = 0.333, we guarantee
    acceleration”
    Corrected: If $\alpha \ge 1/2$ and $p(a) > 1/3$, SpecHub accepts at least as much as RRS."""
    twice = 2 * overlap(draft, target)
    meant = max(draft) > Fraction(1, 3) and (twice == 1 if strictly else twice >= 1)
    return against_rrs(draft, target, above if strictly else at_least) if meant else None


@corrected("spechub.secB.3d", WRONG, NARROW)
def needed(draft, target):
    r"""Wherever $q(a) \le (2 - \alpha) p(a)$, RRS also accepts all of $q(a)$, and the condition is
    necessary for SpecHub to accept more than RRS in all.
    Explained: RRS accepts such a top token just as fully, and SpecHub has fewer second drafts for
    the other tokens."""
    a, ran, rejected = draft.index(max(draft)), rrs(draft, target), 1 - overlap(draft, target)
    if target[a] > (1 + rejected) * draft[a]:
        return None
    equal(ran.accepted(token=a), target[a], "hub accepted by RRS")
    return at_least(ran.accepted(), spechub(draft, target).accepted(), "RRS, against SpecHub")


@corrected("spechub.thm4", DEGENERATE, strictly=False)
@claim("spechub.thm4", "Theorem 4, appendix B.3; section 4, Analysis", HUBS)
def theorem_4(draft, target, strictly=True):
    r"""SpecHub accepts more in all than OTM with two independent drafts if $p(a) > 1/2$.
    Printed: Section 4 also has the condition as 1/(1 − q(a)) > 2, the same (its q is the draft).
    Corrected: If $p(a) \ge 1/2$, SpecHub accepts at least as much as OTM; strictly more if some
    token $x \ne a$ has $p(x) > 0$ and $q(x) > 1 - (1 - p(x))^2$."""
    hub = Hub(draft, target)
    if 2 * hub.p < 1 or (strictly and 2 * hub.p == 1):
        return None
    strictly |= any(p > 0 and q > 1 - (1 - p) ** 2 for _, p, q in hub.others)
    return against_otm(draft, target, above if strictly else at_least)


@corrected("spechub.secB.3e", DEGENERATE, at_zero=equal)
@claim("spechub.secB.3e", "Proof of theorem 4, the inequality", DRAFTS)
def square(draft, at_zero=above):
    r"""$1 - (1 - p(x))^2 < 2 p(x)$ for every token x.
    Corrected: $1 - (1 - p(x))^2 \le 2 p(x)$; the two are equal exactly where $p(x) = 0$."""
    return min((above if p else at_zero)(2 * p, 1 - (1 - p) ** 2, "2 p(x)") for p in draft)


@claim("spechub.secB.3f", "Proof of theorem 4, the bound on OTM", pairs(random_n=5))
def contained(draft, target):
    r"""The highest acceptance of a token x from two independent drafts is at most the probability
    that it is drafted, $1 - (1 - p(x))^2$, and attains it for a target that is certain; so OTM
    accepts at most $\sum_x \min(q(x), 1 - (1 - p(x))^2)$."""
    table, drafted = iid(draft, 2), [1 - (1 - p) ** 2 for p in draft]
    for y, chance in enumerate(drafted):
        equal(total(m for x, m in table.items() if y in x), chance, f"P({y} is drafted)")
        only = tuple(Fraction(x == y) for x in range(len(draft)))
        equal(least_bound(table, only), chance, f"most that is accepted of {y}")
    return at_least(overlap(target, drafted), least_bound(table, target), "bound")


@corrected("spechub.secB.3h", DEGENERATE, possible=True)
@claim("spechub.secB.3h", "Proof of theorem 4, the conclusion", UNCERTAIN)
def doubled(draft, possible=False):
    r"""For $x \ne a$, $\frac{p(x)}{1 - p(a)} > 2 p(x)$ exactly if $p(a) > 1/2$.
    Corrected: That needs $p(x) > 0$; otherwise both sides are 0."""
    hub = Hub(draft, draft)
    for x, p, _ in hub.others:
        more, what = p / (1 - hub.p), f"whether {p / (1 - hub.p)} > {2 * p} for token {x}"
        equal(more > 2 * p, hub.p > Fraction(1, 2) and (p > 0 or not possible), what)
    return ZERO


@corrected("spechub.secB.3i", WRONG, TOPS)
def tight(top):
    r"""1/2 cannot be lowered: for each $t$ with $1/3 \le t < 1/2$, the draft
    $(t, t, 1/2 - t, 1/2 - t)$ and the target $(0, 0, 1, 0)$ have OTM above SpecHub.
    Explained: SpecHub drafts a rare token less often than two independent drafts do, unless $p(a)$
    is at least 1/2."""
    draft = (top, top, Fraction(1, 2) - top, Fraction(1, 2) - top)
    return against_otm(draft, exact(0, 0, 1, 0), lambda found, best, _: above(best, found, "OTM"))


@corrected("spechub.secB.4b", Severity.CONDITION, exactly=True)
@claim("spechub.secB.4b", "Appendix B.4", HUBS)
def loses_only_when(draft, target, exactly=False):
    r"""That is the only case: if $q(a) \le p(a)$, or no other token takes any of $P(a, x)$, SpecHub
    accepts $a$ as first draft with probability $\min(p(a), q(a))$.
    Printed: “This situation occurs when p(a) > q(a) and another token x takes some of the
    probability mass Q(a, x)” (the paper's p is the target): read as exactly when.
    Corrected: With $T = \sum_{x \ne a} \pi(a, x, x)$ it loses $(T - (p(a) - q(a))_+)_+$."""
    hub = Hub(draft, target)
    if not exactly and hub.q > hub.p and taken(hub):
        return None
    lost = max(taken(hub) - max(hub.p - hub.q, ZERO), ZERO) if exactly else ZERO
    return equal(hub.ran.accepted(0, hub.a), min(hub.p, hub.q) - lost, "first draft a")


@claim("spechub.secB.4c", "Section 4, Analysis; appendix B.4", HUBS)
def first_draft_never_gains(draft, target):
    r"""SpecHub may lower the acceptance of the first draft, and for $a$ only: each $x \ne a$ is
    accepted as first draft with probability $\min(p(x), q(x))$, and the first draft at most with
    $\sum \min(p, q)$, as RRS and RRSw accept it.
    Printed: So the rows of table 3 in which SpecHub's first draft is accepted more often than
    RRSw's (0.4921 against 0.4498) compare different contexts."""
    of_others(draft, target, lambda _, p, q: min(p, q), i=0)
    found = spechub(draft, target).accepted(0)
    return at_least(overlap(draft, target), found, "first draft of RRS and RRSw")
