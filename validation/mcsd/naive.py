"""Naive sampling with several candidates: section 4.5 and appendix C."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from validation.claim import Claim, Corrected, Outcome, Search, at_least, equal
from validation.instances import Exact, cases
from validation.mcsd.joint import joint1
from validation.mcsd.printed import (
    ONE,
    ZERO,
    acceptance,
    algorithm1,
    algorithm2,
    distinct,
    hats,
    independent,
    law1,
    law2,
    law_naive,
    naive,
    output,
    support,
)


def every(slack: Callable[..., Fraction | None], tokens: int = 3) -> Callable[[Search], Outcome]:
    """Check on the cases of this module."""

    def check(search: Search) -> Outcome:
        instances = cases(search.seed, ks=(1, 2, 3), most_tokens=tokens)
        return search.every(instances, slack, scope=f"n <= {tokens}, k <= 3")

    return check


def refused(draft: Exact, target: Exact, k: int) -> Exact:
    """P_N(x, R_k): naive sampling refuses all candidates and returns x."""
    found = law_naive(draft, target, k)
    return tuple(found.get((False, x), ZERO) for x in range(len(target)))


def naive_formula(draft: Exact, target: Exact, k: int) -> Fraction:
    """Acceptance, and the law, of naive sampling."""
    found = law_naive(draft, target, k)
    equal(output(found, len(target)), target, "output")
    parts = zip(draft, target, strict=True)
    return equal(acceptance(found), sum((q * (1 - (1 - p) ** k) for p, q in parts), ZERO))


def beats_naive(draft: Exact, target: Exact, k: int) -> Fraction:
    """Algorithm 1 against naive sampling."""
    return at_least(acceptance(law1(draft, target, k)), acceptance(law_naive(draft, target, k)))


def distinct_beats_naive(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Algorithm 2 against naive sampling with either kind of candidates."""
    if k > support(draft):
        return None
    best = max(acceptance(law_naive(draft, target, k, how)) for how in (independent, distinct))
    return at_least(acceptance(law2(draft, target, k)), best)


def complement(draft: Exact, target: Exact, k: int) -> Fraction:
    """Acceptance is 1 - sum P(x, R_k), for both algorithms."""
    table = joint1(draft, target, k)
    refusals = sum((table.returned(x, k) for x in range(len(target))), ZERO)
    equal(acceptance(law1(draft, target, k)), 1 - refusals, "Algorithm 1")
    found = acceptance(law_naive(draft, target, k))
    return equal(found, 1 - sum(refused(draft, target, k)), "naive sampling")


def fewer_refusals(draft: Exact, target: Exact, k: int) -> Fraction:
    """P_S(x, R_k) <= P_N(x, R_k)."""
    table, bounds = joint1(draft, target, k), refused(draft, target, k)
    return min(at_least(bounds[x], table.returned(x, k), f"x = {x}") for x in range(len(bounds)))


def eq18(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """P_S(x, R_k) as a product."""
    known = list(hats(target, draft, k))
    if len(known) <= k:
        return None
    table = joint1(draft, target, k)
    through = ONE
    for hat in known[:-1]:
        through *= 1 - sum(map(min, draft, hat))
    claimed = tuple(mass * through for mass in known[-1])
    return equal(tuple(table.returned(x, k) for x in range(len(target))), claimed)


def eq19(draft: Exact, target: Exact, k: int) -> Fraction:
    """P_N(x, R_k)."""
    claimed = tuple(q * (1 - p) ** k for p, q in zip(draft, target, strict=True))
    return equal(refused(draft, target, k), claimed)


def vanishes(first: int) -> Callable[..., Fraction | None]:
    """If p-hat_i(x) <= q(x), then p-hat_j(x) = 0 for j >= i + first."""

    def check(draft: Exact, target: Exact, k: int) -> Fraction | None:
        known, checked = list(hats(target, draft, k)), None
        for i, hat in enumerate(known):
            for j in range(i + first, len(known)):
                for x, mass in enumerate(draft):
                    if hat[x] <= mass:
                        checked = equal(known[j][x], ZERO, f"i = {i}, j = {j}, x = {x}")
        return checked

    return check


def _staying(draft: Exact, target: Exact, k: int) -> list[tuple[int, list[Fraction]]]:
    """Return the tokens with p-hat_i(x) > q(x) for all i < k, and p-hat_0(x), ..., p-hat_k(x)."""
    known = list(hats(target, draft, k))
    if len(known) <= k:
        return []
    every_token = [(x, [hat[x] for hat in known]) for x in range(len(draft))]
    return [(x, path) for x, path in every_token if min(path[:k]) > draft[x]]


def eq20(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """No positive part is needed for such a token."""
    table, checked = joint1(draft, target, k), None
    for x, path in _staying(draft, target, k):
        for i, (before, after) in enumerate(pairwise(path), start=1):
            rejection = table.rejected(i) / table.rejected(i - 1)
            checked = equal(after, (before - draft[x]) / rejection, f"i = {i}, x = {x}")
    return checked


def eq21(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """One candidate: P_S = p - q <= p (1 - q) = P_N."""
    if k > 1:
        return None
    worst, table, bound = None, joint1(draft, target, 1), refused(draft, target, 1)
    for x, _ in _staying(draft, target, 1):
        found = table.returned(x, 1)
        equal(found, target[x] - draft[x], f"x = {x}")
        slack = at_least(target[x] * (1 - draft[x]), found, f"x = {x}")
        equal(bound[x], target[x] * (1 - draft[x]), f"naive, x = {x}")
        worst = slack if worst is None else min(worst, slack)
    return worst


def eq22(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """The step of the induction, line by line."""
    worst, table, bound = None, joint1(draft, target, k), refused(draft, target, k)
    for x, path in _staying(draft, target, k):
        before = table.rejected(k - 1)
        found = table.returned(x, k)
        equal(found, (path[k - 1] - draft[x]) * before, f"x = {x}")
        middle = (1 - draft[x]) * path[k - 1] * before
        last = (1 - draft[x]) * target[x] * (1 - draft[x]) ** (k - 1)
        slack = min(at_least(middle, found), at_least(last, middle), at_least(bound[x], last))
        worst = slack if worst is None else min(worst, slack)
    return worst


def one_hot_draft(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """At temperature 0 Algorithm 1 accepts as often as speculative sampling."""
    if max(draft) != 1:
        return None
    return equal(law1(draft, target, k), law1(draft, target, 1))


def one_hot_target(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """For a certain target, Algorithm 2 and naive sampling do the same with all candidates."""
    if max(target) != 1 or k > support(draft):
        return None
    for _, x in distinct(draft, k):
        found = algorithm2(target, draft, x).outcomes()
        claimed = naive(target, x)
        equal(_positive(found), _positive(claimed), f"drafts {x}")
    return ZERO


def _positive(outcomes: dict[tuple[bool, int], Fraction]) -> dict[tuple[bool, int], Fraction]:
    return {key: mass for key, mass in outcomes.items() if mass}


def temperature_zero(slack: Callable[..., Fraction | None]) -> Callable[[Search], Outcome]:
    """Check with the draft, or the target, put on each token in turn."""

    def check(search: Search) -> Outcome:
        def instances():  # noqa: ANN202
            for case in cases(search.seed, ks=(1, 2, 3), most_tokens=4):
                for x in range(len(case["draft"])):
                    hot = tuple(ONE if y == x else ZERO for y in range(len(case["draft"])))
                    name = "draft" if slack is one_hot_draft else "target"
                    yield {**case, name: hot}

        return search.every(instances(), slack, scope="n <= 4, k <= 3")

    return check




CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mcsd.sec4.5a",
        "footnote 5, section 4.5",
        r"Naive sampling with k independent drafts, which draws $y \sim q$ and accepts if y is a "
        r"draft, returns the law $q$ and accepts with probability $\sum_x q(x) (1 - (1-p(x))^k)$.",
        every(naive_formula),
        printed="The acceptance is stated through eq. (19) only.",
    ),
    Claim(
        "mcsd.sec4.5b",
        "section 4.5, argmax sampling",
        r"With $p$ on one token (temperature 0), Algorithm 1 with k drafts returns and accepts "
        r"exactly as with one.",
        temperature_zero(one_hot_draft),
    ),
    Claim(
        "mcsd.sec4.5c",
        "section 4.5, argmax sampling",
        r"With $q$ on one token, Algorithm 2 and naive sampling accept alike and return the same "
        r"token, for any distinct drafts, for k up to the support of p.",
        temperature_zero(one_hot_target),
        printed="equivalent when using argmax sampling. A draft at temperature 0 has one token, "
        "so that no second one can be drawn without replacement (see eq. (1)); what can hold is "
        "about the target.",
    ),
    Claim(
        "mcsd.sec4.5d",
        "section 4.5, last paragraph",
        r"Algorithm 2 accepts at least as often as naive sampling with k drafts, be they "
        r"independent or without replacement.",
        every(distinct_beats_naive, tokens=4),
        printed="MCSS offers the most significant improvement when compared to MCNS.",
    ),
    Claim(
        "mcsd.appCa",
        "appendix C, first statement",
        r"For every $k \ge 1$, Algorithm 1 accepts at least as often as naive sampling with k "
        r"independent drafts.",
        every(beats_naive, tokens=4),
        printed="the acceptance rate of multi-candidate speculative sampling has an upper bound "
        "for multi-candidate naive sampling",
    ),
    Claim(
        "mcsd.appCb",
        "appendix C, second paragraph",
        r"The acceptance rate is $1 - \sum_x P(x, R_k)$, for Algorithm 1 and for naive sampling.",
        every(complement),
    ),
    Claim(
        "mcsd.appCc",
        "appendix C, second paragraph",
        r"$P_S(x, R_k) \le P_N(x, R_k)$ for every token x: with all drafts rejected, Algorithm 1 "
        r"returns x at most as often as naive sampling does.",
        every(fewer_refusals),
    ),
    Claim(
        "mcsd.eq18",
        "eq. (18), appendix C",
        r"$P_S(x, R_k) = q_k(x) \prod_{i=1}^k P(\text{reject } x_i \mid R_{i-1})$.",
        every(eq18),
        printed=r"The condition is printed as $R_i - 1$ or $R_{i-1}$; read as the latter, as in "
        r"eq. (22).",
    ),
    Claim(
        "mcsd.eq19",
        "eq. (19), appendix C",
        r"$P_N(x, R_k) = q(x) (1 - p(x))^k$.",
        every(eq19),
    ),
    Claim(
        "mcsd.appCd",
        "appendix C, before eq. (20)",
        r"If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i$.",
        every(vanishes(0)),
        corrected=Corrected(
            r"If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i + 1$, as far as $q_j$ is "
            r"defined. The proof uses it for $i < k$ and $j = k$ only.",
            every(vanishes(1)),
        ),
    ),
    Claim(
        "mcsd.eq20",
        "eq. (20), appendix C",
        r"If $q_i(x) > p(x)$ for $i = 0, \dots, k-1$, then $q_i(x) = (q_{i-1}(x) - p(x)) / "
        r"\sum_x (q_{i-1}(x) - p(x))_+$ for $i = 1, \dots, k$.",
        every(eq20),
    ),
    Claim(
        "mcsd.eq21",
        "eq. (21), appendix C",
        r"For such x and $k = 1$: $P_S(x, R_1) = q(x) - p(x) \le q(x)(1 - p(x)) = P_N(x, R_1)$.",
        every(eq21),
    ),
    Claim(
        "mcsd.eq22",
        "eq. (22), appendix C",
        r"For such x: $P_S(x, R_n) = [q_{n-1}(x) - p(x)] P(R_{n-1}) \le "
        r"[1 - p(x)] q_{n-1}(x) P(R_{n-1}) \le q(x) (1 - p(x))^n = P_N(x, R_n)$.",
        every(eq22),
    ),
)
