"""Algorithm 2 with its root and its residual, optimal couplings, and domains of ρ and couplings."""

import math
from fractions import Fraction
from functools import lru_cache, partial

from validation import algorithms as shared
from validation.algorithms import beta
from validation.claim import Fails, at_least, equal
from validation.domains import cases, mixed
from validation.notation import ONE, ZERO, collect, iid, marginals, mass_of, overlap, subsets, total

ONE_LESS_1_E = Fraction("0.63212055882855768")
"""A rational number above 1 − 1/e = 0.632120558828557678…, by less than 1e-17."""


def hit(r, k):
    """Return 1 − (1 − 1/r)^k."""
    return 1 - (1 - Fraction(1, r)) ** k


def uniform(d, size):
    """Return the uniform distribution over the first tokens of d."""
    return tuple(Fraction(int(y < size), size) for y in range(d))


def ber(b):
    """Return Ber(b): token 1 has probability b."""
    return 1 - b, b


def largest_ratio(draft, target):
    """Return max q/p, which may be infinite."""
    return max(q / p if p else math.inf for p, q in zip(draft, target, strict=True) if q)


def p_acc(draft, target, k, rho):
    """Return 1 − (1 − β(ρ))^k."""
    return 1 - (1 - beta(draft, target, rho)) ** k


def f(draft, target, k, rho):
    """Return f(ρ) of lemma 4: the left-hand side of (6) minus its right-hand side."""
    scale = beta(draft, target, rho)
    return 1 - (1 - scale) ** k - rho * scale


def alg_1(draft, target):
    """Return algorithm 1 over its draft."""
    return shared.Ran(shared.maximal_coupling(draft, target), iid(draft, 1))


def alg_2(draft, target, k, rho):
    """Return algorithm 2 over its drafts."""
    run = partial(shared.k_sequential, draft, target, rho)
    return shared.Ran(lambda x: run(x).branches(), iid(draft, k))


@lru_cache(maxsize=8192)
def rho_star(draft, target, k, halvings=40):
    """Return rational numbers in [1, k] around ρ*, equal if ρ* is rational and simple."""
    fits, low, high = partial(f, draft, target, k), ONE, Fraction(k)
    if not overlap(draft, target):
        raise Fails("rho* is not determined: every rho solves (6)")
    if fits(low) < 0 or fits(high) > 0:
        raise Fails("f has no change of sign in [1, k]")
    low, high = shared.halved(lambda rho: fits(rho) <= 0, low, high, Fraction(1, 2**halvings))
    simple = ((low + high) / 2).limit_denominator(10**5)
    return (simple, simple) if low <= simple <= high and fits(simple) == 0 else (low, high)


def factor(draft, target, k):
    """Return c_k(p, q) of appendix C."""
    scale = k * beta(draft, target, Fraction(k))
    if not scale:
        raise Fails("c_k reads 0/0")
    return p_acc(draft, target, k, Fraction(k)) / scale


def accepted_at_root(draft, target, k, halvings=40):
    """Return rational numbers around what algorithm 2 accepts at ρ*: p_acc, for there the residual
    is 0 wherever p > q/ρ, so that what is drawn from it is no rejected draft."""
    low, high = rho_star(draft, target, k, halvings)
    return p_acc(draft, target, k, high), p_acc(draft, target, k, low)


def rhos(draft, target, k):
    """Return a grid of ρ: over [1, k], one above, and ρ* where it is rational."""
    low, high = rho_star(draft, target, k) if overlap(draft, target) else (ONE, ONE)
    grid = {ONE + Fraction(i * (k - 1), 4) for i in range(5)} | {Fraction(k + 1)}
    return sorted(grid | {high} if low == high else grid)


def overlapping(draft, target, **_):
    """Whether some token has both: d_TV < 1."""
    return overlap(draft, target) > 0


def determined(draft, target, k, rho):
    """Whether (6) determines ρ*, and ρ is at least that."""
    return overlap(draft, target) > 0 and rho >= rho_star(draft, target, k)[1]


def selects(draft, target, k, rho):
    """Check what algorithm 2 does: with each draft and each token, as a whole, and that for ρ ≥ ρ*
    it is a coupling, which accepts p_acc or more."""
    run, chance = alg_2(draft, target, k, rho), p_acc(draft, target, k, rho)
    left = 1 - beta(draft, target, rho)
    kept = [min(p, q / rho) for p, q in zip(draft, target, strict=True)]
    wanted = [((i, y), left**i * mass) for i in range(k) for y, mass in enumerate(kept)]
    wanted += [((None, y), r) for y, r in enumerate(shared.remaining(draft, target, k, rho))]
    found = collect(((branch.accepted, branch.output), branch.mass) for _, branch in run.branches)
    equal(found, collect(wanted), "mass of accepting draft i, or none, with output y")
    for y, mass in enumerate(kept if left < 1 else ()):
        equal(run.accepted(token=y), mass * chance / (1 - left), f"acceptance of token {y}")
    equal(run.accepted(), chance, "Pr(one of the drafts is accepted)")
    equal(marginals(run.coupling(), len(target)), (run.table, target), "marginals")
    if not determined(draft, target, k, rho):
        return ZERO
    at_least(min(run.coupling().values()), ZERO, "least mass of the coupling")
    scale = chance / (1 - left)
    for mass, q in zip(kept, target, strict=True):
        at_least(scale / rho * q, mass * scale, "q p_acc/(rho beta)")
        at_least(q, scale / rho * q, "q")
    return at_least(run.among_drafts(), chance, "alpha")


RHOS = mixed(cases(n=3).each(rho=rhos), cases(n=4).one(rho=rhos))
"""Pairs, k, and ρ on either side of ρ*."""
OVERLAPPING, VALID = RHOS.where(overlapping), RHOS.where(determined)
SMALL = cases(n=3, random_n=4)
CASES = cases(random_n=5, random_k=(1, 2, 3, 5, 8))
ROOTED = CASES.where(overlapping)
"""Those for which (6) determines ρ*."""
COUPLINGS = mixed(cases(n=3).each(order=range(3)), cases(n=3).one(order=range(12)))
"""Pairs, k, and which coupling of the drafts and the target, see ``notation.some_coupling``."""


def bound_of_set(draft, target, k, chosen):
    """Return what (9) minimizes, for one set Ω₀."""
    inside = total(min(target[y], 1 - (1 - draft[y]) ** k) for y in chosen)
    others = [ZERO if y in chosen else mass for y, mass in enumerate(target)]
    return inside + total(min(mass, mass_of(others, set(x))) for x, mass in iid(draft, k).items())


@lru_cache(maxsize=4096)
def upper_bound(draft, target, k):
    """Return ᾱ_k(p, q) of (9)."""
    return min(bound_of_set(draft, target, k, chosen) for chosen in subsets(len(draft)))
