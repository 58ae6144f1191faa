"""Claims of appendix B.2: theorem 2, the steps of its proof, and corollary 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log, sqrt
from typing import Any

import numpy as np

import otspec
from otspec.distributions import as_distribution
from validation.checks import over
from validation.claim import Claim, Corrected, Method, above, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, positive, same, total
from validation.spechub.algorithms import displayed_plan
from validation.spechub.instances import hub_pairs, over_hubs
from validation.spechub.lp import completed, couples
from validation.spechub.printed import hub_columns, hub_of, hub_table, spechub

DRAWS, DOUBT = 4_000, 1e-9
"""Pairs sampled per instance, and the probability that any of its frequencies is too far off."""


@dataclass(frozen=True)
class Left:
    """What is left of the pairs and of the target, as the proof of theorem 2 defines it."""

    a: int
    """The hub."""
    last: list[Fraction]
    """P(x, a)."""
    first: list[Fraction]
    """P(a, x)."""
    once: Exact
    """The target q' off the hub, 0 at the hub."""
    twice: Exact
    """The target q''."""
    last_left: Exact
    """P'(x, a)."""
    first_left: Exact
    """P'(a, x)."""


def what_is_left(draft: Exact, target: Exact) -> Left:
    """Compute it from the definitions."""
    a = hub_of(draft)
    last, first = hub_columns(draft)
    wanted = [ZERO if x == a else mass for x, mass in enumerate(target)]
    once = positive(wanted, last)
    twice, last_left, first_left = (
        positive(once, first),
        positive(last, wanted),
        positive(first, once),
    )
    return Left(a, last, first, once, twice, last_left, first_left)


def sampled_pairs(draft: Exact, seed: int) -> float:
    """The frequencies of sampled pairs are as stated, within a bound that rarely fails."""
    a = hub_of(draft)
    drawn = otspec.Hub(as_distribution(draft)).sample(DRAWS, np.random.default_rng(seed))
    n, stated = len(draft), np.zeros((len(draft), len(draft)))
    for x in range(n):
        if x != a:
            stated[x, a] = draft[x]
            stated[a, x] = draft[a] * draft[x] / (1 - draft[a])
    seen = np.bincount(n * drawn[:, 0] + drawn[:, 1], minlength=n * n).reshape(n, n) / DRAWS
    equal(int((seen[stated == 0] > 0).sum()), 0, "pairs that should not occur")
    # Hoeffding's bound for each pair, the doubt shared among them.
    margin = sqrt(log(4 * (n - 1) / DOUBT) / (2 * DRAWS))
    worst = float(np.abs(seen - stated).max())
    return float(at_least(margin, worst, "margin, against the worst deviation"))


def seeded_drafts(seed: int) -> Iterator[dict[str, Any]]:
    """Yield drafts with a seed each."""
    for number, pair in enumerate(hub_pairs(seed, 5)):
        yield {"draft": pair["draft"], "seed": number}


SAMPLES = f"n <= 5, {DRAWS:,} pairs each, confidence 1 − {DOUBT} each"


def theorem2(draft: Exact, target: Exact) -> Fraction:
    """The plan, completed, couples drafts and target; so does the algorithm with its updates."""
    table = hub_table(draft)
    plan = displayed_plan(draft, target, everywhere=False)
    plan = {key: mass for key, mass in plan.items() if key[0] in table}
    couples(completed(plan, table, target, once=True), table, target)
    return same(spechub(draft, target).output(), target, "output")


def off_the_hub(draft: Exact, target: Exact) -> Fraction:
    """The proof's three masses of x ≠ a are those of the algorithm and add up to q(x)."""
    left, run = what_is_left(draft, target), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != left.a:
            pair = draft[left.a] * p / (1 - draft[left.a])
            by_first, by_second = min(q, p), min(q - min(q, p), pair)
            residual = max(q - p - pair, ZERO)
            equal(run.accepted[0][x], by_first, f"{x} as first draft")
            equal(left.once[x], q - by_first, f"q'({x})")
            equal(run.accepted[1][x], by_second, f"{x} as second draft")
            equal(left.twice[x], residual, f"q''({x})")
            equal(run.drawn[x], residual, f"{x} drawn")
            equal(by_first + by_second + residual, q, f"sum at {x}")
    return ZERO


def hub_by_draft(draft: Exact, target: Exact) -> Fraction:
    """The proof's masses of the hub as first and as second draft are the algorithm's."""
    left, run = what_is_left(draft, target), spechub(draft, target)
    firsts, lasts, q = total(left.first_left), total(left.last_left), target[left.a]
    equal(run.accepted[0][left.a], min(q, firsts), "hub as first draft")
    second = min(max(q - firsts, ZERO), lasts)
    equal(run.accepted[1][left.a], second, "hub as second draft")
    return equal(run.output()[left.a], min(q, firsts + lasts), "hub")


def quotient(mass: Fraction, by: Fraction) -> Fraction | float:
    """Return a printed quotient; infinity over 0, and 0/0 as what makes the claim true."""
    if by:
        return mass / by
    return float("inf") if mass else ZERO


def hub_total(draft: Exact, target: Exact, *, printed: bool) -> Fraction:
    """The middle line of the hub's total, as printed or with the sums in place of quotients."""
    left = what_is_left(draft, target)
    firsts, lasts, q = total(left.first_left), total(left.last_left), target[left.a]
    one, other = (quotient(q, firsts), quotient(q, lasts)) if printed else (firsts, lasts)
    found = min(q, one) + min(max(q - firsts, ZERO), other)
    return equal(found, min(q, firsts + lasts), "middle line")


def enough_for_hub(draft: Exact, target: Exact, *, strictly: bool) -> Fraction:
    """Compare Σ P'(a, x) + P'(x, a) with q(a)."""
    left = what_is_left(draft, target)
    found, what = total(left.first_left) + total(left.last_left), "what is left of the pairs"
    if strictly:
        return Fraction(above(found, target[left.a], what))
    slack = Fraction(at_least(found, target[left.a], what))
    # What is left over is what is drawn from the residual.
    return slack + equal(slack, total(left.twice), "what the hub leaves")


def pairs_sum(draft: Exact, target: Exact) -> Fraction:
    """Σ P(a, x) + P(x, a) over x ≠ a is 1."""
    left = what_is_left(draft, target)
    return equal(total(left.first) + total(left.last), 1, "sum")


def rewritten(draft: Exact, target: Exact, *, swapped: bool) -> Fraction:
    """The chain of displays from Σ P'(a, x) + P'(x, a) to q(a)."""
    left, lines = what_is_left(draft, target), [ZERO] * 3
    for x, (first, last) in enumerate(zip(left.first, left.last, strict=True)):
        if x != left.a:
            q, q_once = target[x], left.once[x]
            for_first, for_last = (q, q_once) if swapped else (q_once, q)
            lines[0] += max(first - for_first, ZERO) + max(last - for_last, ZERO)
            lines[1] += max(first + last - q, ZERO)
            lines[2] += first + last - q
    equal(lines[0], total(left.first_left) + total(left.last_left), "first line")
    equal(lines[1], lines[0], "second line")
    equal(lines[2], target[left.a], "last line")
    return Fraction(at_least(lines[1], lines[2], "second line"))


def corollary1(draft: Exact, target: Exact) -> Fraction:
    """The hub is accepted, and so generated, with probability q(a)."""
    a, run = hub_of(draft), spechub(draft, target)
    equal(run.output()[a], target[a], "hub generated")
    return equal(run.accepted[0][a] + run.accepted[1][a], target[a], "hub accepted")


CLAIMS = (
    Claim(
        "spechub.thm2",
        "Theorem 2, appendix B.2",
        "SpecHub generates each token x with probability q(x): both the completed transport plan "
        "and the verification that the proof describes.",
        over_hubs(theorem2),
        printed="Algorithm 3 as printed is another matter: see alg3a.",
    ),
    Claim(
        "spechub.secB.2a",
        "Proof of theorem 2 and figure 6",
        r"The pairs $(x, a)$ and $(a, x)$, $x \ne a$, are sampled with probabilities $p(x)$ and "
        r"$p(a) p(x)/(1 - p(a))$, and no others.",
        over(seeded_drafts, sampled_pairs, SAMPLES),
        Method.SIMULATION,
    ),
    Claim(
        "spechub.secB.2b",
        "Proof of theorem 2, x ≠ a",
        r"For $x \ne a$, $X = x = x^{(1)}$ has probability $\min(q, p)$, $X = x = x^{(2)}$ has "
        r"$\min(q - \min(q, p), p(a) p(x)/(1 - p(a)))$, the residual is "
        r"$(q(x) - p(x) - p(a) p(x)/(1 - p(a)))_+$, and the three add up to $q(x)$.",
        over_hubs(off_the_hub),
    ),
    Claim(
        "spechub.secB.2c",
        "Proof of theorem 2, the drafts of a",
        r"The hub is generated as first draft with probability $\min(q(a), \sum_x P'(a, x))$, as "
        r"second with $\min((q(a) - \sum_x P'(a, x))_+, \sum_x P'(x, a))$, and in all with "
        r"$\min(q(a), \sum_x P'(a, x) + P'(x, a))$.",
        over_hubs(hub_by_draft),
    ),
    Claim(
        "spechub.secB.2d",
        "Proof of theorem 2, the total probability of a",
        r"$\min(q(a), \frac{q(a)}{\sum_x P'(a, x)}) + \min((q(a) - \sum_x P'(a, x))_+, "
        r"\frac{q(a)}{\sum_x P'(x, a)}) = \min(q(a), \sum_x P'(a, x) + P'(x, a))$.",
        over_hubs(partial(hub_total, printed=True)),
        printed="The middle line of three; 0/0 is read as 0.",
        corrected=Corrected(
            r"With $\sum_x P'(a, x)$ and $\sum_x P'(x, a)$ in the place of the two quotients.",
            over_hubs(partial(hub_total, printed=False)),
        ),
    ),
    Claim(
        "spechub.secB.2e",
        "Proof of theorem 2, “it can be shown”",
        r"$q(a) < \sum_x P'(a, x) + P'(x, a)$.",
        over_hubs(partial(enough_for_hub, strictly=True)),
        corrected=Corrected(
            r"$q(a) \le \sum_x P'(a, x) + P'(x, a)$; the difference is $\sum_{x \ne a} q''(x)$, "
            "what is drawn from the residual, and so it is 0 where all pairs are accepted.",
            over_hubs(partial(enough_for_hub, strictly=False)),
        ),
    ),
    Claim(
        "spechub.secB.2f",
        "Proof of theorem 2, the sum of Q",
        r"$\sum_{x \ne a} P(a, x) + P(x, a) = 1$.",
        over_hubs(pairs_sum),
    ),
    Claim(
        "spechub.secB.2g",
        "Proof of theorem 2, the last chain",
        r"$\sum_{x \ne a} P'(a, x) + P'(x, a) = \sum_{x \ne a} (P(a, x) - q(x))_+ + "
        r"(P(x, a) - q'(x))_+ = \sum_{x \ne a} (P(a, x) + P(x, a) - q(x))_+ \ge \sum_{x \ne a} "
        r"P(a, x) + P(x, a) - q(x) = q(a)$.",
        over_hubs(partial(rewritten, swapped=True)),
        printed="q and q' have changed places: algorithm 3 takes (x, a) first.",
        corrected=Corrected(
            r"The second expression is $\sum_{x \ne a} (P(a, x) - q'(x))_+ + (P(x, a) - q(x))_+$.",
            over_hubs(partial(rewritten, swapped=False)),
        ),
    ),
    Claim(
        "spechub.cor1",
        "Corollary 1, appendix B.2; section 4, Analysis",
        "SpecHub generates the top token a with probability q(a), and always as an accepted "
        "draft: it is never undersampled.",
        over_hubs(corollary1),
        printed="The proof of theorem 3 calls this “Lemma 1”; there is none.",
    ),
)
