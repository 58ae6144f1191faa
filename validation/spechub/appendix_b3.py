"""Appendix B.3: theorems 3 and 4, their proofs and the remarks after them."""

from fractions import Fraction
from itertools import count

from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import Domain, drafts, exact, given, growing, mixed, pairs
from validation.notation import ZERO, iid, overlap, total
from validation.oracles import least_bound
from validation.sizes import law_of
from validation.spechub.algorithms import HUBS, hub_of, odds, rrs, spechub, uncertain

DEGENERATE, WRONG = Severity.DEGENERATE, Severity.WRONG


def off_the_hub(draft, target):
    """Yield the tokens but the hub, with their probabilities."""
    a = hub_of(draft)
    return [(x, p, q) for x, (p, q) in enumerate(zip(draft, target, strict=True)) if x != a]


def against_rrs(draft, target, compare=at_least):
    """Compare what SpecHub and RRS accept in all."""
    found, other = (run(draft, target).among_drafts() for run in (spechub, rrs))
    return compare(found, other, "SpecHub, against RRS")


def second_drafts(draft, target, compare):
    """Compare the acceptance of the second draft under theorem 3's condition."""
    if odds(draft) <= 1 - overlap(draft, target):
        return None
    found, other = (run(draft, target).accepted(1) for run in (spechub, rrs))
    return compare(found, other, "SpecHub's second draft")


@claim("spechub.thm3", "Theorem 3, appendix B.3", HUBS)
def theorem_3(draft, target):
    r"""Let $\alpha = \sum_x \min(p(x), q(x))$. SpecHub has a higher acceptance rate in the second
    draft than RRS if $p(a)/(1 - p(a)) > 1 - \alpha$.
    """
    return second_drafts(draft, target, above)


@corrected("spechub.thm3", DEGENERATE, HUBS)
def theorem_3_not_strictly(draft, target):
    r"""Under that condition SpecHub accepts the second draft at least as often as RRS, and in all
    at least as much; the second draft strictly more often if some token $x \ne a$ has
    $q(x) - \min(p(x), q(x)) > (1 - \alpha) p(x) > 0$.
    """
    rejected = 1 - overlap(draft, target)
    short = any(q - min(p, q) > rejected * p > 0 for _, p, q in off_the_hub(draft, target))
    found = second_drafts(draft, target, above if short else at_least)
    return found if found is None else min(found, against_rrs(draft, target))


@claim("spechub.secB.3a", "Proof of theorem 3, RRS", pairs(random_n=5))
def rejection_by_token(draft, target):
    r"""RRS accepts x as second draft with probability $(1 - \alpha) \min\bigl(\frac{q(x) -
    \min(p(x), q(x))}{1 - \alpha}, p(x)\bigr) = \min(q(x) - \min(p(x), q(x)), (1 - \alpha) p(x))$.

    Printed: For α = 1 the first form is 0/0.
    """
    rejected, ran = 1 - overlap(draft, target), rrs(draft, target)
    if rejected == 0:
        return None
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        first = rejected * min((q - min(p, q)) / rejected, p)
        equal(ran.accepted(1, x), first, f"second draft {x}")
        equal(min(q - min(p, q), rejected * p), first, f"second draft {x}, simplified")
    return ZERO


@claim("spechub.secB.3b", "Proof of theorem 3, SpecHub", HUBS)
def hub_by_token(draft, target):
    r"""SpecHub accepts $x \ne a$ as second draft with probability
    $\min\bigl(q(x) - \min(p(x), q(x)), \frac{p(a)}{1 - p(a)} p(x)\bigr)$.
    """
    ran = spechub(draft, target)
    for x, p, q in off_the_hub(draft, target):
        equal(ran.accepted(1, x), min(q - min(p, q), odds(draft) * p), f"second draft {x}")
    return ZERO


@claim("spechub.secB.3c", "After theorem 3, the example", HUBS)
def a_third(draft, target):
    r"""If $\alpha = 1/2$ and $p(a) > 1/3$, SpecHub is faster than RRS: it accepts more.

    Printed: “as long as the top token has probability q(a) > 1/3 = 0.333, we guarantee
    acceleration”
    """
    if 3 * max(draft) <= 1 or 2 * overlap(draft, target) != 1:
        return None
    return against_rrs(draft, target, above)


@corrected("spechub.secB.3c", DEGENERATE, HUBS)
def a_third_not_strictly(draft, target):
    r"""If $\alpha \ge 1/2$ and $p(a) > 1/3$, SpecHub accepts at least as much as RRS."""
    if 3 * max(draft) <= 1 or 2 * overlap(draft, target) < 1:
        return None
    return against_rrs(draft, target)


@claim("spechub.secB.3d", "After theorem 3, the condition's necessity", HUBS)
def needless(draft, target):
    """The condition of theorem 3 is needed only where $q(a) = 0$: if $q(a) > 0$, SpecHub accepts at
    least as much as RRS also where the condition fails.

    Printed: “since SpecHub accepts top tokens up to p(a), the above sufficient conditions become
    necessary only in unusual cases when p(a) = 0” (the paper's p is the target).
    """
    if target[hub_of(draft)] == 0 or odds(draft) > 1 - overlap(draft, target):
        return None
    return against_rrs(draft, target)


def flat_pairs(rng):
    """Yield random near-uniform drafts with targets of few tokens."""
    for largest in growing():
        n = int(rng.integers(3, 6))
        wanted = rng.integers(1, largest, n) * (rng.random(n) < 0.4)
        wanted[rng.integers(n)] += 1
        flat = rng.integers(2 * largest, 3 * largest, n)
        yield {"draft": law_of(tuple(flat.tolist())), "target": law_of(tuple(wanted.tolist()))}


@corrected("spechub.secB.3d", WRONG, mixed(HUBS, Domain(lambda: (), flat_pairs)))
def needed(draft, target):
    r"""Wherever $q(a) \le (2 - \alpha) p(a)$, RRS also accepts all of $q(a)$, and the condition is
    necessary for SpecHub to accept more than RRS in all.

    Explained: RRS may accept the top token just as fully, and a top token of small probability
    gives SpecHub too few pairs for the others. Without the condition SpecHub can be counted on only
    where $q(a)$ is above $(2 - \alpha) p(a)$.
    """
    a, rejected = hub_of(draft), 1 - overlap(draft, target)
    if odds(draft) > rejected or target[a] > (1 + rejected) * draft[a]:
        return None
    equal(rrs(draft, target).accepted(token=a), target[a], "hub accepted by RRS")
    return against_rrs(draft, target, lambda found, other, _: at_least(other, found, "RRS"))


def against_otm(draft, target, compare=at_least):
    """Compare what SpecHub accepts with the optimum of two independent drafts."""
    found = spechub(draft, target).among_drafts()
    return compare(found, least_bound(iid(draft, 2), target), "SpecHub")


@claim("spechub.thm4", "Theorem 4, appendix B.3; section 4, Analysis", HUBS)
def theorem_4(draft, target):
    """SpecHub has a higher total acceptance rate than OTM with two independent drafts if
    $p(a) > 1/2$.

    Printed: Section 4 also writes the condition as 1/(1 − q(a)) > 2 (the paper's q is the draft),
    which is the same.
    """
    return against_otm(draft, target, above) if 2 * max(draft) > 1 else None


@corrected("spechub.thm4", DEGENERATE, HUBS)
def theorem_4_not_strictly(draft, target):
    r"""If $p(a) \ge 1/2$, it accepts at least as much; strictly more if some token $x \ne a$ has
    $p(x) > 0$ and $q(x) > 1 - (1 - p(x))^2$.
    """
    if 2 * max(draft) < 1:
        return None
    short = any(p > 0 and q > 1 - (1 - p) ** 2 for _, p, q in off_the_hub(draft, target))
    return against_otm(draft, target, above if short else at_least)


@claim("spechub.secB.3e", "Proof of theorem 4, the inequality", drafts(5, random_n=9))
def square(draft):
    """$1 - (1 - p(x))^2 < 2 p(x)$ for every token x."""
    return min(above(2 * p, 1 - (1 - p) ** 2, "2 p(x)") for p in draft)


@corrected("spechub.secB.3e", DEGENERATE, drafts(5, random_n=9))
def square_of_possible(draft):
    r"""$1 - (1 - p(x))^2 \le 2 p(x)$; the two are equal exactly where $p(x) = 0$."""
    return min((above if p else equal)(2 * p, 1 - (1 - p) ** 2, "2 p(x)") for p in draft)


@claim("spechub.secB.3f", "Proof of theorem 4, the bound on OTM", pairs(random_n=5))
def contained(draft, target):
    r"""The highest acceptance of a token x from two independent drafts is at most the probability
    that it is drafted, $1 - (1 - p(x))^2$, and attains it for a target that is certain; so OTM
    accepts at most $\sum_x \min(q(x), 1 - (1 - p(x))^2)$.
    """
    table, tokens = iid(draft, 2), range(len(draft))
    drafted = [1 - (1 - p) ** 2 for p in draft]
    for y in tokens:
        only = tuple(Fraction(x == y) for x in tokens)
        equal(total(m for x, m in table.items() if y in x), drafted[y], f"P({y} is drafted)")
        equal(least_bound(table, only), drafted[y], f"most that is accepted of {y}")
    return at_least(overlap(target, drafted), least_bound(table, target), "bound")


@claim("spechub.secB.3g", "Proof of theorem 4, SpecHub", HUBS)
def offered(draft, target):
    r"""For $x \ne a$ the acceptance rate of the two drafts of SpecHub is
    $\frac{p(a)}{1 - p(a)} p(x) + p(x) = \frac{p(x)}{1 - p(a)}$.

    Printed: That is how often x is drafted.
    """
    ran = spechub(draft, target)
    for x, p, _ in off_the_hub(draft, target):
        equal(ran.accepted(token=x), p / (1 - max(draft)), f"acceptance of {x}")
    return ZERO


@corrected("spechub.secB.3g", Severity.MISPRINT, HUBS)
def offered_and_wanted(draft, target):
    r"""It is $\min\bigl(q(x), \frac{p(x)}{1 - p(a)}\bigr)$."""
    ran = spechub(draft, target)
    for x, p, q in off_the_hub(draft, target):
        equal(ran.accepted(token=x), min(q, p / (1 - max(draft))), f"acceptance of {x}")
    return ZERO


def doubled(draft, possible):
    """p(x)/(1 − p(a)) > 2 p(x) exactly where p(a) > 1/2, for x ≠ a of these probabilities."""
    a = hub_of(draft)
    for x, p in enumerate(draft):
        if x != a and possible(p):
            more = p / (1 - draft[a])
            equal(more > 2 * p, 2 * draft[a] > 1, f"whether {more} > {2 * p} for token {x}")
    return ZERO


UNCERTAIN = drafts(5, random_n=9).where(uncertain)


@claim("spechub.secB.3h", "Proof of theorem 4, the conclusion", UNCERTAIN)
def doubled_always(draft):
    r"""For $x \ne a$, $\frac{p(x)}{1 - p(a)} > 2 p(x)$ exactly if $p(a) > 1/2$."""
    return doubled(draft, lambda _: True)


@corrected("spechub.secB.3h", DEGENERATE, UNCERTAIN)
def doubled_if_possible(draft):
    """For $p(x) > 0$; otherwise the two are equal."""
    return doubled(draft, lambda p: p > 0)


NEAR = given(
    *({"draft": exact("49/100", "49/100", "1/50"), "target": target}
      for target in (exact(0, 0, 1), exact(0, 1, 0), exact(1, 0, 0)))
)  # fmt: skip


@claim("spechub.secB.3i", "After theorem 4", mixed(NEAR, HUBS))
def nowhere_near_as_tight(draft, target):
    r"""The condition of theorem 4 is nowhere near as tight as that of theorem 3, so that a somewhat
    smaller $p(a)$ is enough: say $p(a) \ge 49/100$.

    Printed: “this bound is nowhere near as tight since we are using a loose upper bound on OTM's
    performance”; no smaller constant is given, 49/100 stands for any.
    """
    return against_otm(draft, target) if Fraction(49, 100) <= max(draft) < 1 else None


TOPS = Domain(
    lambda: ({"top": Fraction(m, 2 * m + 1)} for m in count(1)),
    lambda rng: ({"top": Fraction(int(rng.integers(333, 499)) + 1, 1_000)} for _ in count()),
)


@corrected("spechub.secB.3i", WRONG, TOPS)
def tight(top):
    r"""1/2 cannot be lowered: for each $t$ with $1/3 \le t < 1/2$, the draft
    $(t, t, \frac{1 - 2t}{2}, \frac{1 - 2t}{2})$ and the target $(0, 0, 1, 0)$ have OTM above
    SpecHub.

    Explained: For a rare token the upper bound on OTM is attained up to $p(x)^2$, and with two
    likely tokens SpecHub offers it less often than two independent drafts do. Rely on theorem 4
    only where the top token has probability at least 1/2.
    """
    draft = (top, top, Fraction(1, 2) - top, Fraction(1, 2) - top)
    return against_otm(draft, exact(0, 0, 1, 0), lambda found, best, _: above(best, found, "OTM"))
