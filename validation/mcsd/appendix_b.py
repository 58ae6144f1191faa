"""Appendix B: Algorithm 2 returns the target's law."""

from functools import partial
from itertools import permutations

from validation.algorithms import Ran, rejection_distinct, residual
from validation.claim import claim, equal
from validation.domains import cases
from validation.mcsd import appendix_a
from validation.mcsd.algorithms import alg2, returned
from validation.mcsd.appendix_a import rejected, tails
from validation.notation import ZERO, distinct, normalised, same, support

DISTINCT = cases(n=3, random_n=4).where(lambda draft, k, **_: k <= support(draft))


def states(draft, target, k, rounds):
    """Yield n, q_n, p_n of eqs. (10) and (1), and Algorithm 2 with given first n drafts.

    For all n in rounds and drafts such that R_n is possible; p_n is all 0 where nothing is left.
    """
    whole, possible = distinct(draft, k), [x for x, mass in enumerate(draft) if mass]
    for n in rounds:
        for first in permutations(possible, n):
            table = {x: mass for x, mass in whole.items() if x[:n] == first}
            run = Ran(lambda x: rejection_distinct(target, draft, x).branches(), table)
            if rejected(run, n, target):
                law, drawn = target, draft
                for i in range(n):
                    law, gone = residual(law, drawn), first[: i + 1]
                    drawn = normalised([ZERO if x in gone else p for x, p in enumerate(draft)])
                yield n, law, drawn, run


claim("mcsd.eq11", "eq. (11), appendix B", DISTINCT,
      r"$P(\text{accept } x_{n+1} \mid R_n, x_1, \dots, x_{n+1}) = \min(1, q_n(x_{n+1}) / "
      r"p_n(x_{n+1}))$ in Algorithm 2, with $q_n \propto (q_{n-1} - p_{n-1})_+$.",
      )(partial(appendix_a.chance_of_a_draft, states=states))  # fmt: skip
claim("mcsd.eq12", "eq. (12), appendix B", DISTINCT,
      r"$P(x, \text{accept } x_{n+1} \mid R_n, x_1, \dots, x_n) = \min(p_n(x), q_n(x))$.",
      printed="On the way, the chance of a drafted token is kept as a factor while $R_n$ is given; "
      "that is right, since the drafts given their predecessors do not depend on $R_n$.",
      )(partial(appendix_a.accepted_token, states=states))  # fmt: skip


def rest(n, law, drawn, run):
    """The sum over draft n + 1 on the right-hand side of eqs. (13) and (14), for every x."""
    found = [ZERO] * len(law)
    for y, mass in enumerate(drawn):
        lost, later = mass - min(mass, law[y]), tails(run, n + 1, law, lambda x, y=y: x[n] == y)
        found = [part + lost * a for part, a in zip(found, later, strict=True)]
    return found


@claim("mcsd.eq13", "eq. (13), appendix B", DISTINCT)
def rejected_then_returned(draft, target, k):
    r"""$P(x, \text{reject } x_{n+1} \mid R_n, x_1, \dots, x_n) = \sum_{x_{n+1}} [p_n(x_{n+1}) -
    \min(p_n(x_{n+1}), q_n(x_{n+1}))] P(x \mid R_{n+1}, x_1, \dots, x_{n+1})$.
    """
    for n, law, drawn, run in states(draft, target, k, range(k)):
        found = [mass / rejected(run, n, target) for mass in returned(run, n + 1, target)]
        same(found, rest(n, law, drawn, run), f"n = {n}: chance")
    return ZERO


@claim("mcsd.eq14", "eq. (14), appendix B", DISTINCT)
def recursion(draft, target, k):
    r"""$A_n = P(x \mid R_n, x_1, \dots, x_n)$ satisfies $A_n = \min(p_n(x), q_n(x)) +
    \sum_{x_{n+1}} [p_n(x_{n+1}) - \min(p_n(x_{n+1}), q_n(x_{n+1}))] A_{n+1}$.
    """
    for n, law, drawn, run in states(draft, target, k, range(k)):
        parts = zip(drawn, law, rest(n, law, drawn, run), strict=True)
        same(tails(run, n, target), [min(p, q) + a for p, q, a in parts], f"A_{n}")
    return ZERO


@claim("mcsd.appBa", "appendix B, between eqs. (14) and (15)", DISTINCT)
def last_does_not_matter(draft, target, k):
    r"""$q_n$ does not depend on $x_n$, for $n = 1, \dots, k$: the residual after n rejections is
    the same whichever token the nth draft was.
    """
    seen, found = {}, None
    for x in distinct(draft, k):
        for n, law in enumerate(rejection_distinct(target, draft, x).targets[1:]):
            if x[:n] in seen:
                found = equal(law, seen[x[:n]], f"after {n + 1} rejections of {x}")
            seen[x[:n]] = law
    return found


tails_are_residuals = partial(appendix_a.tails_are_residuals, states=states)
claim("mcsd.eq15", "eq. (15), appendix B", DISTINCT, "$A_k = q_k(x)$.",
      )(partial(tails_are_residuals, rounds=lambda k: [k]))  # fmt: skip
claim("mcsd.eq16", "eq. (16), appendix B", DISTINCT,
      "$A_{k-1} = q_{k-1}(x)$; likewise $A_n = q_n(x)$ for all $n < k$ and rejected drafts.",
      )(partial(tails_are_residuals, rounds=range))  # fmt: skip
claim("mcsd.eq17", "eq. (17), the conclusion of appendix B", DISTINCT,
      r"$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 2.",
      )(partial(appendix_a.conclusion, algorithm=alg2))  # fmt: skip
