"""Sections 3, 3.1 and 3.2: Algorithms 1 and 2, drafts with and without replacement."""

from functools import partial
from itertools import pairwise
from math import prod

from otspec import WithoutReplacement
from validation import algorithms
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import cases, drafts
from validation.mcsd import algorithms as mcsd
from validation.mcsd.algorithms import CASES, DISTINCT, alg1, alg2, block, configured, efficiency
from validation.notation import ONE, ZERO, collect, distinct, iid, support, total
from validation.notation import total_variation as distance
from validation.oracles import table_of

STEPS = configured((1,) * 3, (2,) * 3)
SMALL = configured((1,), (2,), (2, 1), (1, 2), (2, 2))
DRAFTS = drafts(4, random_n=5).each(k=(1, 2, 3))
DIFFERENT = cases(n=3, k=(2, 3), least=2, random_n=4, random_k=(2, 3, 4)).where(
    lambda draft, target, **_: draft != target and all(draft) and all(target)
)


@claim("mcsd.sec3a", "section 3, first paragraph", STEPS)
def longer_drafts(draft, target, config):
    r"""The gain in tokens a block from one more drafted step does not increase with $\gamma$.

    Printed: there comes the diminishing marginal utility with an increase in gamma
    """
    tokens = [efficiency(block(draft, target, config[:gamma])) for gamma in range(4)]
    gains = [more - fewer for fewer, more in pairwise(tokens)]
    return min(at_least(before, after, "gain") for before, after in pairwise(gains))


@claim("mcsd.sec3b", "section 3, third paragraph, and section 3.1", SMALL)
def text_keeps_its_law(draft, target, config):
    """With k drafts at every step and the accepted one kept, the text has the law of the target:
    the block continued by the target, for models that look at the whole prefix.
    """
    length = len(config) + 1
    found = collect(
        (text + more, mass * chance)
        for text, mass in block(draft, target, config).items()
        for more, chance in target.after(text).blocks(length - len(text)).items()
    )
    return equal(found, target.blocks(length))


@claim("mcsd.sec3.1a", "section 3.1, first sentence", DIFFERENT)
def direct_use_fails(draft, target, k):
    r"""Speculative sampling cannot verify several candidates as it is: if each of $k \ge 2$
    independent drafts is tested against the same $q$, and the residual of $q$ is drawn after k
    rejections, then the output does not have the law $q$, for any full-support $p \ne q$.

    Printed: the original speculative sampling algorithm described in Section 2 cannot be directly
    used for verification of multiple candidates. What direct use means, and for which
    distributions, is not said: tested for the plainest direct use.
    """
    run = partial(algorithms.one_by_one, chance=lambda _, y: min(ONE, target[y] / draft[y]),
                  drawn=lambda: algorithms.residual(target, draft))  # fmt: skip
    found = algorithms.Ran(lambda x: run(x).branches(), iid(draft, k)).output(len(target))
    return above(distance(found, target), 0, "distance of the output from q")


claim("mcsd.alg1", "Algorithm 1, section 3.1", CASES,
      "For any $p$, $q$ and $k$, the token that Algorithm 1 returns, run step by step with the "
      "residual stored in $q$ itself, has the law $q$; no step divides by zero.",
      )(mcsd.lossless)  # fmt: skip


@claim("mcsd.sec3.2a", "section 3.2, second sentence", DRAFTS)
def collisions(draft, k):
    r"""The probability that k independent drafts are distinct does not increase with k; it is 0
    for k beyond the support s, and at most $\prod_{i<k} (1 - i/s)$, which it is where all tokens
    of the support are equally likely.

    Printed: It is likely that the candidates are not unique to each other as k increases.
    """
    fewer, more = (
        total(mass for x, mass in iid(draft, i).items() if len(set(x)) == i) for i in (k, k + 1)
    )
    bound = prod(1 - i * ONE / support(draft) for i in range(k + 1))
    if len(set(draft) - {ZERO}) == 1:
        equal(more, bound, "P(distinct), all equally likely")
    return min(at_least(fewer, more, "P(distinct)"), at_least(bound, more, "P(distinct)"))


@claim("mcsd.sec3.2b", "section 3.2, third sentence", CASES)
def never_again(draft, target, k):
    """What Algorithm 1 rejects has mass 0 in all later residuals, and is never accepted again."""
    checked = None
    for x in iid(draft, k):
        run = algorithms.rejection(target, draft, x)
        for i, law in enumerate(run.targets[1:], start=1):
            checked = equal({law[token] for token in x[:i]}, {ZERO}, f"after {i} rejections of {x}")
        for i, chance in enumerate(run.chances):
            if x[i] in x[:i]:
                equal(chance, ZERO, f"chance of draft {i + 1} of {x}")
    return checked


def left(draft, gone):
    """The draft renormalised off some tokens, eq. (1)."""
    return algorithms.normalised([ZERO if x in gone else mass for x, mass in enumerate(draft)])


@claim("mcsd.eq1", "eq. (1), section 3.2", DRAFTS)
def drawn_one_by_one(draft, k):
    r"""For any $p$ and $k$: $p_i$, which is p renormalised off the drafts $x_1, \dots, x_i$, is a
    distribution for all $i < k$, so that k drafts $x_{i+1} \sim p_i$ can be drawn.

    Printed: Appendix B: given any distributions p(x) and q(x).
    """
    drawn = {(): ONE}
    for _ in range(k):
        drawn = collect(
            ((*gone, x), mass * chance)
            for gone, mass in drawn.items()
            for x, chance in enumerate(left(draft, gone))
        )
    return equal(drawn, table_of(WithoutReplacement(draft, k)))


@corrected("mcsd.eq1", Severity.CONDITION, DRAFTS)
def drawn_within_the_support(draft, k):
    r"""That is so for k up to the support of p; the k drafts then have the law without replacement.
    Beyond it, and so for $k \ge 2$ at temperature 0, the denominator of $p_i$ is 0.
    """
    if k <= support(draft):
        return drawn_one_by_one(draft, k)
    return equal(undefined(drawn_one_by_one, draft, k), True, "whether it is undefined")


def undefined(step, *given):
    """Whether a step divides zero by zero."""
    try:
        step(*given)
    except algorithms.Undefined:
        return True
    return False


claim("mcsd.alg2a", "Algorithm 2, section 3.2", DISTINCT,
      "For any $p$, $q$ and k up to the support of p, the token that Algorithm 2 returns has the "
      "law $q$, with $p$ and $q$ updated in place in the order printed: the residual of q, then "
      "the rejected token leaves p, then p is normalised.",
      )(partial(mcsd.lossless, run=alg2))  # fmt: skip


@claim("mcsd.alg2b", "Algorithm 2, line 5", DISTINCT)
def steps_are_defined(draft, target, k):
    """Every step of Algorithm 2 is defined for k up to the support of p: p then has mass left.

    Printed: The line is printed without a condition.
    """
    for x in distinct(draft, k):
        algorithms.rejection_distinct(target, draft, x, literal=True)
    return ZERO


@corrected("mcsd.alg2b", Severity.DEGENERATE, DISTINCT)
def undefined_at_the_end_only(draft, target, k):
    """There p has mass left except when k equals the support of p and all k drafts were rejected;
    that is after the last round, and p is not read any more.
    """
    for x in distinct(draft, k):
        stuck = undefined(algorithms.rejection_distinct, target, draft, x, True)
        refused = algorithms.rejection_distinct(target, draft, x).reach(k) > 0
        equal(stuck, refused and k == support(draft), f"whether it is undefined for drafts {x}")
    return ZERO


claim("mcsd.sec3.2c", "sections 1 and 3.2: a more efficient version", DISTINCT,
      "For k up to the support of p, Algorithm 2 with drafts without replacement accepts at least "
      "as often as Algorithm 1 with k independent drafts.",
      printed="we also introduce a more efficient version for candidates sampled without "
      "replacement; an intuitive way to prevent token collisions",
      )(partial(mcsd.accepts_more, run=alg2, others=(alg1,)))  # fmt: skip
