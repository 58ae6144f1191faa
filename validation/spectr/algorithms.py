"""Algorithm 2 with its root and its residual, optimal couplings, and domains of ρ and couplings."""

import math
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, pairwise

from validation import algorithms as shared
from validation.algorithms import beta
from validation.claim import Fails
from validation.domains import cases, mixed
from validation.notation import ONE, ZERO, collect, corner, iid, mass_of, overlap, subsets, total

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


@lru_cache(maxsize=1024)
def residual(draft, target, k, rho):
    """Return (5) with p_acc/β written as Σ_{i<k} (1 − β)^i, and q where it is never drawn from."""
    left = 1 - beta(draft, target, rho)
    scale, pairs = total(left**i for i in range(k)), zip(draft, target, strict=True)
    return tuple((q - min(p, q / rho) * scale) / left**k if left else q for p, q in pairs)


def alg_1(draft, target):
    """Return algorithm 1 over its draft."""
    return shared.Ran(shared.maximal_coupling(draft, target), iid(draft, 1))


def alg_2(draft, target, k, rho):
    """Return algorithm 2 over its drafts."""
    run = shared.k_sequential(draft, target, rho, partial(residual, draft, target, k, rho))
    return shared.Ran(lambda x: run(x).branches(), iid(draft, k))


@lru_cache(maxsize=8192)
def rho_star(draft, target, k, halvings=40):
    """Return rational numbers in [1, k] around ρ*, equal if ρ* is rational and simple."""
    low, high = ONE, Fraction(k)
    if not overlap(draft, target):
        raise Fails("rho* is not determined: every rho solves (6)")
    if f(draft, target, k, low) < 0 or f(draft, target, k, high) > 0:
        raise Fails("f has no change of sign in [1, k]")
    for _ in range(halvings):
        middle = (low + high) / 2
        value = f(draft, target, k, middle)
        low, high = (middle if value >= 0 else low), (middle if value <= 0 else high)
    simple = ((low + high) / 2).limit_denominator(10**5)
    found = low <= simple <= high and f(draft, target, k, simple) == 0
    return (simple, simple) if found else (low, high)


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


RHOS = mixed(cases(n=3).each(rho=rhos), cases(n=4).one(rho=rhos))
"""Pairs, k, and ρ on either side of ρ*."""
VALID = RHOS.where(determined)
SMALL = cases(n=3, random_n=4)
CASES = cases(random_n=5, random_k=(1, 2, 3, 5, 8))
ROOTED = CASES.where(overlapping)
"""Those for which (6) determines ρ*."""
COUPLINGS = mixed(cases(n=3).each(order=range(3)), cases(n=3).one(order=range(12)))
"""Pairs, k, and which coupling of the drafts and the target, see ``notation.some_coupling``."""


def largest_flow(law, target):
    """Return how much x sends to y in a largest flow, and how many arcs were looked at for that."""
    arcs = {("source", x): mass for x, mass in law.items()}
    arcs |= {(x, y): ONE for x in law for y in x}
    arcs |= {(y, "sink"): mass for y, mass in enumerate(target)}
    room, looks = {node: {} for arc in arcs for node in arc}, 0
    for (start, end), capacity in arcs.items():
        room[start][end], room[end][start] = capacity, ZERO
    while True:
        came, queue = {"source": None}, ["source"]
        for node in queue:
            new = [other for other, left in room[node].items() if left and other not in came]
            came |= dict.fromkeys(new, node)
            queue += new
            looks += len(room[node])
        if "sink" not in came:
            return {(x, y): room[y][x] for x in law for y in set(x)}, looks
        path = ["sink"]
        while path[-1] != "source":
            path.append(came[path[-1]])
        fits = min(room[start][end] for end, start in pairwise(path))
        for end, start in pairwise(path):
            room[start][end] -= fits
            room[end][start] += fits


@lru_cache(maxsize=8192)
def optimum(draft, target, k):
    """Return α_k(p, q) as a maximum flow from the sets of drafts to the tokens."""
    law = {some: mass_of(draft, some) ** k for some in subsets(len(draft))}
    for y in range(len(draft)):  # from the chance to be inside a set to that of all of it
        for some in (some for some in law if y in some):
            law[some] -= law[tuple(token for token in some if token != y)]
    return total(largest_flow(law, target)[0].values())


def best_coupling(law, target):
    """Return a coupling that accepts as often as any."""
    sent, _ = largest_flow(law, target)
    rows = {x: mass - total(sent[x, y] for y in set(x)) for x, mass in law.items()}
    columns = {
        y: mass - total(sent.get((x, y), ZERO) for x in law) for y, mass in enumerate(target)
    }
    return collect(chain(sent.items(), corner(rows.items(), columns.items()).items()))


def bound_of_set(draft, target, k, chosen):
    """Return what (9) minimises, for one set Ω₀."""
    inside = total(min(target[y], 1 - (1 - draft[y]) ** k) for y in chosen)
    others = [ZERO if y in chosen else mass for y, mass in enumerate(target)]
    return inside + total(min(mass, mass_of(others, set(x))) for x, mass in iid(draft, k).items())


@lru_cache(maxsize=4096)
def upper_bound(draft, target, k):
    """Return ᾱ_k(p, q) of (9)."""
    return min(bound_of_set(draft, target, k, chosen) for chosen in subsets(len(draft)))
