"""Appendices A to C: Algorithms 1 and 2 return the target's law, and 1 accepts more than naive."""

from functools import partial
from itertools import pairwise, permutations
from math import prod

from validation import notation as nt
from validation.algorithms import Ran, rejection_distinct, residual, residuals
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases
from validation.mcsd.algorithms import CASES, accepts_more, alg1, naive
from validation.notation import ONE, ZERO, overlap, same

DISTINCT = cases(n=3, random_n=4).where(lambda draft, k, **_: k <= nt.support(draft))


def returned(run, n, law, event=lambda _: True):
    """P(x, R_n, the event of the drafts) for every token x of a law that can be returned."""
    late = ((b.output, b.mass) for x, b in run.branches if b.accepted not in range(n) and event(x))
    return nt.as_row(nt.collect(late), len(law))


def rejected(run, n, law, event=lambda _: True):
    """P(R_n, the event of the drafts)."""
    return nt.total(returned(run, n, law, event))


def tails(run, n, law, event=lambda _: True):
    """A_n = P(x | R_n, the event) for every token x; all 0 where that is impossible."""
    return nt.normalized(returned(run, n, law, event))


def after(draft, target, k, rounds):
    """Return n, q_n, p and Algorithm 1, for all n in rounds such that R_n is possible."""
    run, known = alg1(draft, target, k), enumerate(residuals(target, draft, k))
    return [(n, law, draft, run) for n, law in known if n in rounds]


def after_distinct(draft, target, k, rounds):
    """Yield n, q_n, p_n of eqs. (10) and (1), and Algorithm 2 with given first n drafts, for all of
    these such that R_n is possible; p_n is all 0 where nothing is left."""
    whole, possible = nt.distinct(draft, k), [x for x, mass in enumerate(draft) if mass]
    for first in (first for n in rounds for first in permutations(possible, n)):
        n, table = len(first), {x: m for x, m in whole.items() if x[: len(first)] == first}
        run = Ran(lambda x: rejection_distinct(target, draft, x).branches(), table)
        if rejected(run, n, target):
            law, drawn = target, draft
            for gone in (first[: i + 1] for i in range(n)):
                law = residual(law, drawn)
                drawn = nt.normalized([ZERO if x in gone else p for x, p in enumerate(draft)])
            yield n, law, drawn, run


def in_rounds(equation, draft, target, k, states=after, rounds=range):
    """Both sides of an equation, for all tokens, after n rejections; n goes up to k - 1."""
    found = None
    for n, *state in states(draft, target, k, rounds(k)):
        found = same(*equation(n, *state), f"n = {n}: chance")
    return found


@corrected("mcsd.eq3", Severity.DEGENERATE, reached=True)
@claim("mcsd.eq3", "eq. (3), appendix A", CASES)
def residuals_are_defined(draft, target, k, reached=False):
    r"""For any $p$, $q$, $n \le k$: $q_0 = q$, $q_n \propto (q_{n-1} - p)_+$ are distributions.
    Corrected: $q_n$ is defined as long as $q_{n-1} \ne p$."""
    run, known = alg1(draft, target, k), list(residuals(target, draft, k))
    claimed = [n for n in range(k + 1) if not reached or rejected(run, n, target)]
    equal(len(known), len(claimed), "how many are not 0/0")
    return equal({sum(law) for law in known}, {ONE}, "sums")


@claim("mcsd.eq4", "eq. (4), appendix A", CASES)
def chance_of_a_draft(**at):
    r"""$P(\text{accept } x_n \mid x_n = x, R_{n-1}) = \min(1, q_{n-1}(x)/p(x))$ if $p(x) > 0$."""
    return in_rounds(lambda n, law, drawn, run: zip(*(
        (run.accepted(n, y) / rejected(run, n, law, lambda x, y=y: x[n] == y), min(ONE, law[y] / p))
        for y, p in enumerate(drawn) if p), strict=True), **at)  # fmt: skip


@claim("mcsd.eq5", "eq. (5), appendix A", CASES)
def accepted_token(**at):
    r"""$P(x, \text{accept } x_n \mid R_{n-1}) = \min(p(x), q_{n-1}(x))$.
    Printed: Also as $q(x) \min(1, \hat p_{n-1}(x)/q(x))$, which is 0 times 0/0 or 0 times infinity
    at tokens that are never drafted."""
    return in_rounds(lambda n, law, drawn, run: (
        [run.accepted(n, x) / rejected(run, n, law) for x in range(len(law))],
        [min(both) for both in zip(drawn, law, strict=True)]), **at)  # fmt: skip


claim("mcsd.eq6", "eq. (6), appendix A", CASES,
      r"$P(\text{reject } x_n \mid R_{n-1}) = 1 - \sum_x \min(p(x), q_{n-1}(x)) = "
      r"\sum_x (q_{n-1}(x) - p(x))_+$.")(lambda **at: in_rounds(lambda n, law, drawn, run: (
          [rejected(run, n + 1, law) / rejected(run, n, law)] * 2,
          [1 - overlap(drawn, law), nt.total(nt.positive(law, drawn))]), **at))  # fmt: skip
claim("mcsd.eq7", "eq. (7), appendix A", CASES,
      r"$A_n = P(x \mid R_n) = \min(p(x), q_n(x)) + \sum_x (q_n(x) - p(x))_+ A_{n+1}$.")(
    lambda **at: in_rounds(lambda n, law, drawn, run: (
        tails(run, n, law),
        [min(p, q) + nt.total(nt.positive(law, drawn)) * a
         for p, q, a in zip(drawn, law, tails(run, n + 1, law), strict=True)]), **at))  # fmt: skip


@claim("mcsd.eq8", "eq. (8), appendix A", CASES)
def tails_are_residuals(rounds=lambda k: range(k + 1), **at):
    """$A_k = q_k(x)$, so $A_{k-1} = q_{k-1}(x)$, and so on: $A_n = q_n(x)$ if $P(R_n) > 0$."""
    return in_rounds(lambda n, law, _, run: (tails(run, n, law), law), rounds=rounds, **at)


@claim("mcsd.eq9", "eq. (9), the conclusion of appendix A", CASES)
def conclusion(**at):
    r"""$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 1."""
    return in_rounds(lambda n, law, _, run: (
        (*run.output(len(law)), *tails(run, n, law)), (*law, *law)),
        rounds=lambda _: [0], **at)  # fmt: skip


def rest(n, law, drawn, run):
    """The sum over draft n + 1 on the right-hand side of eqs. (13) and (14), for every x."""
    found = [ZERO] * len(law)
    for y, mass in enumerate(drawn):
        lost, later = mass - min(mass, law[y]), tails(run, n + 1, law, lambda x, y=y: x[n] == y)
        found = [part + lost * a for part, a in zip(found, later, strict=True)]
    return found


@claim("mcsd.appBa", "appendix B, between eqs. (14) and (15)", DISTINCT)
def last_does_not_matter(draft, target, k):
    r"""$q_n$ does not depend on $x_n$, for $n = 1, \dots, k$: the residual after n rejections is
    the same whichever token the nth draft was."""
    seen, found = {}, None
    for x in nt.distinct(draft, k):
        for n, law in enumerate(rejection_distinct(target, draft, x).targets[1:]):
            if x[:n] in seen:
                found = equal(law, seen[x[:n]], f"after {n + 1} rejections of {x}")
            seen[x[:n]] = law
    return found


claim("mcsd.eq11", "eq. (11), appendix B", DISTINCT,
      r"$P(\text{accept } x_{n+1} \mid R_n, x_1, \dots, x_{n+1}) = \min(1, q_n(x_{n+1}) / "
      r"p_n(x_{n+1}))$ in Algorithm 2, with $q_n \propto (q_{n-1} - p_{n-1})_+$.")(
    partial(chance_of_a_draft, states=after_distinct))  # fmt: skip
claim("mcsd.eq12", "eq. (12), appendix B", DISTINCT,
      r"$P(x, \text{accept } x_{n+1} \mid R_n, x_1, \dots, x_n) = \min(p_n(x), q_n(x))$.",
      printed="On the way, the chance of a drafted token is kept as a factor while $R_n$ is given; "
      "that is right, since the drafts given their predecessors do not depend on $R_n$.")(
    partial(accepted_token, states=after_distinct))  # fmt: skip
claim("mcsd.eq13", "eq. (13), appendix B", DISTINCT,
      r"$P(x, \text{reject } x_{n+1} \mid R_n, x_1, \dots, x_n) = \sum_{x_{n+1}} [p_n(x_{n+1}) - "
      r"\min(p_n(x_{n+1}), q_n(x_{n+1}))] P(x \mid R_{n+1}, x_1, \dots, x_{n+1})$.")(
    lambda **at: in_rounds(lambda n, law, drawn, run: (
        [mass / rejected(run, n, law) for mass in returned(run, n + 1, law)],
        rest(n, law, drawn, run)), states=after_distinct, **at))  # fmt: skip
claim("mcsd.eq14", "eq. (14), appendix B", DISTINCT,
      r"$A_n = P(x \mid R_n, x_1, \dots, x_n)$ satisfies $A_n = \min(p_n(x), q_n(x)) + "
      r"\sum_{x_{n+1}} [p_n(x_{n+1}) - \min(p_n(x_{n+1}), q_n(x_{n+1}))] A_{n+1}$.")(
    lambda **at: in_rounds(lambda n, law, drawn, run: (
        tails(run, n, law),
        [min(p, q) + a for p, q, a in zip(drawn, law, rest(n, law, drawn, run), strict=True)]),
        states=after_distinct, **at))  # fmt: skip
claim("mcsd.eq15", "eq. (15), appendix B", DISTINCT, "$A_k = q_k(x)$.")(
    partial(tails_are_residuals, states=after_distinct, rounds=lambda k: [k]))  # fmt: skip
claim("mcsd.eq16", "eq. (16), appendix B", DISTINCT,
      "$A_{k-1} = q_{k-1}(x)$; likewise $A_n = q_n(x)$ for all $n < k$ and rejected drafts.")(
    partial(tails_are_residuals, states=after_distinct, rounds=range))  # fmt: skip
claim("mcsd.eq17", "eq. (17), the conclusion of appendix B", DISTINCT,
      r"$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 2.")(
    partial(conclusion, states=after_distinct))  # fmt: skip
claim("mcsd.appCa", "appendix C, first statement", CASES,
      r"For every $k \ge 1$, Algorithm 1 accepts at least as often as naive sampling.",
      printed="the acceptance rate of multi-candidate speculative sampling has an upper bound for "
      "multi-candidate naive sampling")(accepts_more)  # fmt: skip
claim("mcsd.appCb", "appendix C, second paragraph", CASES,
      r"The acceptance rate is $1 - \sum_x P(x, R_k)$, for Algorithm 1 and for naive sampling.")(
    lambda draft, target, k: min(
        equal(run.accepted(), 1 - sum(returned(run, k, target)))
        for run in (alg1(draft, target, k), naive(draft, target, k))))  # fmt: skip
claim("mcsd.appCc", "appendix C, second paragraph", CASES,
      r"$P_S(x, R_k) \le P_N(x, R_k)$ for every token x: with all drafts rejected, Algorithm 1 "
      "returns x at most as often as naive sampling does.")(lambda draft, target, k: min(map(
          at_least, returned(naive(draft, target, k), k, target),
          returned(alg1(draft, target, k), k, target))))  # fmt: skip
claim("mcsd.eq18", "eq. (18), appendix C", CASES,
      r"$P_S(x, R_k) = q_k(x) \prod_{i=1}^k P(\text{reject } x_i \mid R_{i-1})$.")(
    lambda **at: in_rounds(lambda n, law, drawn, run: (returned(run, n, law), [
        mass * prod(1 - overlap(drawn, each) for each in residuals(at["target"], drawn, n - 1))
        for mass in law]), rounds=lambda k: [k], **at))  # fmt: skip
claim("mcsd.eq19", "eq. (19), appendix C", CASES, r"$P_N(x, R_k) = q(x) (1 - p(x))^k$.")(
    lambda draft, target, k: same(
        returned(naive(draft, target, k), k, target),
        [q * (1 - p) ** k for p, q in zip(draft, target, strict=True)], "P_N"))  # fmt: skip


@corrected("mcsd.appCd", Severity.MISPRINT, first=1)
@claim("mcsd.appCd", "appendix C, before eq. (20)", CASES)
def residual_vanishes(draft, target, k, first=0):
    r"""If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i$.
    Corrected: If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i + 1$, as far as $q_j$ is
    defined."""
    known, found = list(residuals(target, draft, k)), None
    for i, law in enumerate(known):
        for x in (x for x, mass in enumerate(draft) if law[x] <= mass):
            for later in known[i + first :]:
                found = equal(later[x], ZERO, f"i = {i}, x = {x}: a later residual")
    return found


def staying(draft, target, k):
    """Yield the tokens x with q_i(x) > p(x) for all i < k, and q_0(x), ..., q_k(x)."""
    known = list(residuals(target, draft, k))
    for x, path in enumerate(zip(*known, strict=True)):
        if len(known) > k and min(path[:k]) > draft[x]:
            yield x, path


@claim("mcsd.eq20", "eq. (20), appendix C", CASES)
def no_positive_part(draft, target, k):
    r"""If $q_i(x) > p(x)$ for $i = 0, \dots, k-1$, then $q_i(x) = (q_{i-1}(x) - p(x)) / \sum_x
    (q_{i-1}(x) - p(x))_+$ for $i = 1, \dots, k$."""
    run, found = alg1(draft, target, k), None
    for x, path in staying(draft, target, k):
        for i, (before, later) in enumerate(pairwise(path)):
            lost = rejected(run, i + 1, target) / rejected(run, i, target)
            found = equal(later, (before - draft[x]) / lost, f"i = {i + 1}, x = {x}")
    return found


@claim("mcsd.eq21", "eq. (21), appendix C", cases(n=4, k=(1,), random_n=8),
       r"For such x and $k = 1$: $P_S(x, R_1) = q(x) - p(x) \le q(x)(1 - p(x)) = "
       r"P_N(x, R_1)$.")  # fmt: skip
@claim("mcsd.eq22", "eq. (22), appendix C", CASES)
def induction(draft, target, k):
    r"""For such x: $P_S(x, R_n) = [q_{n-1}(x) - p(x)] P(R_{n-1}) \le [1 - p(x)] q_{n-1}(x)
    P(R_{n-1}) \le q(x) (1 - p(x))^n = P_N(x, R_n)$."""
    run, slacks = alg1(draft, target, k), []
    before, ours = rejected(run, k - 1, target), returned(run, k, target)
    bounds = returned(naive(draft, target, k), k, target)
    for x, path in staying(draft, target, k):
        middle, last = (1 - draft[x]) * path[k - 1] * before, target[x] * (1 - draft[x]) ** k
        equal(ours[x], (path[k - 1] - draft[x]) * before, f"Algorithm 1, x = {x}")
        equal(bounds[x], last, f"naive sampling, x = {x}")
        slacks += [at_least(middle, ours[x], f"x = {x}"), at_least(last, middle, f"x = {x}")]
    return min(slacks, default=None)
