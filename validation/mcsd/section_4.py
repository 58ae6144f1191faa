"""Section 4: what is measured of blocks, the monotonic rule, and naive sampling."""

from fractions import Fraction
from functools import partial
from itertools import accumulate
from operator import mul

from validation import algorithms, drafted
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases, drafts, laws, pairs
from validation.mcsd import algorithms as mcsd
from validation.mcsd.algorithms import DISTINCT, alg1, alg2, block, configured, efficiency
from validation.notation import ONE, ZERO, collect, distinct, overlap, support, total
from validation.tree_rules import rejection, top_down

CASES = cases(n=3, random_n=4)
SMALL = configured((1,), (2,), (2, 1), (1, 2), (2, 2))
TREES = configured((2,), (2, 1), (1, 2), sizes=((2, 1), (3, 1), (2, 2)))
MANY = cases(n=3, k=(1, 2, 4, 32), random_n=6, random_k=(1, 2, 4, 8, 16, 32, 64))
PAIRS = pairs(random_n=6)


@claim("mcsd.sec4.1a", "section 4.1, efficiency measures", SMALL)
def bounds_of_the_tokens(draft, target, config):
    r"""The tokens $\tau$ of a block satisfy $1 \le \tau \le \gamma + 1$; 1 is attained if no
    draft is ever accepted, $\gamma + 1$ if all steps accept: exactly where the first laws are
    disjoint, and exactly where draft and target agree after all that can be drafted."""
    tokens, most = efficiency(block(draft, target, config)), len(config) + 1
    equal(tokens == 1, overlap(draft(()), target(())) == 0, "whether 1 is attained")
    agree = all(draft(x) == target(x) for i in range(len(config)) for x in draft.blocks(i))
    equal(tokens == most, agree, "whether gamma + 1 is attained")
    return min(at_least(tokens, 1), at_least(most, tokens))


@claim("mcsd.sec4.1b", "section 4.1, efficiency measures", SMALL)
def accepted_and_one_more(draft, target, config):
    r"""$\tau = 1 + \sum_i P(\text{steps } 1, \dots, i \text{ accept})$: the accepted drafts, and
    one endpoint."""
    through, tokens = {(): ONE}, ONE
    for k in config:
        through = {(*x, y): mass * alg1(draft(x), target(x), k).accepted(token=y)
                   for x, mass in through.items() for y in range(draft.n)}  # fmt: skip
        tokens += total(through.values())
    return equal(efficiency(block(draft, target, config)), tokens)


claim("mcsd.sec4.2a", "section 4.2 and Figure 3", CASES,
      "The acceptance does not decrease with k, with and without replacement.",
      printed="As k increases, we observe a consistent improvement in acceptance rates.")(
    lambda draft, target, k: min(
        at_least(run(draft, target, k + 1).accepted(), run(draft, target, k).accepted())
        for run in ((alg1, alg2) if k < support(draft) else (alg1,))))  # fmt: skip


def refusals(draft, target, k):
    """P(R_0), ..., P(R_k) for Algorithm 1, also for many drafts."""
    lost = [1 - overlap(draft, law) for law in algorithms.residuals(target, draft, k - 1)]
    return list(accumulate(lost + [ZERO] * (k - len(lost)), mul, initial=ONE))


@claim("mcsd.sec4.2b", "section 4.2 and Figure 3", MANY)
def curves_converge(draft, target, k):
    r"""The acceptance of Algorithm 1 converges as k grows. Draft $k + 1$ adds at most
    $\frac{1}{k+1} \left(\frac{k}{k+1}\right)^k$, which is less than 0.0114 from $k = 32$ on; and
    the limit, the mass of q on the support of p, is missed by at most
    $\sum_{x: p(x) > 0} q(x) (1 - p(x))^k$.
    Printed: The curves tend to converge when k exceeds 32; what to, and how fast, is not said."""
    *_, here, after = refusals(draft, target, k + 1)
    if len(draft) ** k <= 100:
        equal(1 - here, alg1(draft, target, k).accepted(), "acceptance")
    gain = Fraction(k, k + 1) ** k / (k + 1)
    at_least(Fraction("0.0114") if k >= 32 else ONE, gain, "greatest gain")
    both = [(p, q) for p, q in zip(draft, target, strict=True) if p]
    missed = here - (1 - total(q for _, q in both))
    bound = at_least(total(q * (1 - p) ** k for p, q in both), missed, "what is missed")
    return min(bound, at_least(gain, here - after, "gain"), at_least(missed, 0, "what is missed"))


def stationary(draft, target, config):
    """The tokens of a block if the laws are the same at every step."""
    left = refusals(draft, target, max(config))
    found = total(accumulate((1 - left[k] for k in config), mul, initial=ONE))
    if max(config) <= 3:
        equal(found, efficiency(block(lambda _: draft, lambda _: target, config)), "formula")
    return found


@corrected("mcsd.sec4.4a", Severity.CONDITION, tokens=stationary, over=pairs(random_n=5).each(
    config=((2, 1), (3, 2), (4, 2), (8, 1), (4, 2, 1))))  # fmt: skip
@claim("mcsd.sec4.4a", "section 4.4, the monotonic rule", configured((2, 1), (4, 2)))
def monotonic(draft, target, config, tokens=lambda *at: efficiency(block(*at))):
    r"""A decreasing configuration has at least the tokens a block of its reverse, as 4x2 of 2x4,
    for any models.
    Printed: the monotonically decreasing configuration always outperforms the monotonically
    increasing configuration for the same budget. Strictly it cannot, with p = q.
    Corrected: That is so if k drafts are accepted at the same rate $a(k)$ at every step and after
    every prefix: $\tau = 1 + \sum_i \prod_{j \le i} a(k_j)$."""
    down, up = (tokens(draft, target, each) for each in (config, config[::-1]))
    return at_least(down, up, f"{config} against {config[::-1]}")


@corrected("mcsd.sec4.4b", Severity.CONDITION, PAIRS.each(config=((4, 2),)))
@claim("mcsd.sec4.4b", "section 4.4, the monotonic rule", PAIRS.each(config=((8, 1), (4, 2))))
def monotonic_in_budget(draft, target, config):
    """When all steps accept at the same rate, any decreasing configuration has at least the tokens
    a block of any increasing one of its budget: 8x1 and 4x2 against 2x4 and 1x8.
    Printed: The words allow both readings: the reverse, or any increasing configuration.
    Corrected: 4x2 has at least the tokens a block of 2x4 and of 1x8; 8x1 has not always."""
    rising = max(stationary(draft, target, each) for each in ((2, 4), (1, 8)))
    return at_least(stationary(draft, target, config), rising, f"{config} against increasing")


@corrected("mcsd.sec4.4c", Severity.CONDITION, run=alg1)
@claim("mcsd.sec4.4c", "section 4.4, last sentence", CASES)
def gains_diminish(draft, target, k, run=alg2):
    r"""The gain in tokens from one more candidate does not increase with the budget, for
    Algorithm 2 and one step ($\tau = 1 + \alpha$).
    Printed: the diminishing returns of block efficiency gains as budget increases
    Corrected: It does not for Algorithm 1 with independent drafts."""
    if run is alg2 and k + 1 > support(draft):
        return None
    rates = [run(draft, target, i).accepted() for i in (k - 1, k, k + 1)]
    return at_least(rates[1] - rates[0], rates[2] - rates[1], f"gain of draft {k}, then the next")


claim("mcsd.sec4.5a", "footnote 5, section 4.5", CASES,
      r"Naive sampling with k independent drafts, which draws $y \sim q$ and accepts if y is a "
      r"draft, returns the law $q$ and accepts with probability $\sum_x q(x) (1 - (1-p(x))^k)$.",
      printed="The acceptance is stated through eq. (19) only.")(mcsd.naive_sampling)  # fmt: skip
claim("mcsd.sec4.5d", "section 4.5, last paragraph", DISTINCT,
      "Algorithm 2 accepts at least as often as naive sampling with k drafts, be they independent "
      "or without replacement.",
      printed="MCSS offers the most significant improvement when compared to MCNS.")(
    partial(mcsd.accepts_more, run=alg2, others=(mcsd.naive, partial(mcsd.naive, drawing=distinct)))
)  # fmt: skip


@claim("mcsd.sec4.5b", "section 4.5, argmax sampling", laws("target", n=5).each(k=(1, 2, 3, 5)))
def certain_draft(target, k):
    """With $p$ on one token (temperature 0), Algorithm 1 does with k drafts exactly as with one."""
    draft = (ONE, *[ZERO] * (len(target) - 1))
    runs = (alg1(draft, target, i) for i in (k, 1))
    return equal(*((run.output(len(target)), run.accepted()) for run in runs))


@claim("mcsd.sec4.5c", "section 4.5, argmax sampling", drafts(4).each(k=(1, 2, 3)))
def certain_target(draft, k):
    """With $q$ on one token, Algorithm 2 and naive sampling accept alike and return the same
    token, for any distinct drafts, for k up to the support of p.
    Printed: equivalent when using argmax sampling. A draft at temperature 0 has one token, so that
    no second one can be drawn without replacement (see eq. (1)); what can hold is about the target.
    """
    target, found = (ONE, *[ZERO] * (len(draft) - 1)), None
    for x in distinct(draft, k):
        run = algorithms.rejection_distinct(target, draft, x).branches()
        claimed = [branch for branch in algorithms.naive(target)(x) if branch.mass]
        found = equal(list(run), claimed, f"drafts {x}")
    return found


def in_batch(draft, target, rows, prefix=()):
    """Yield what Algorithm 1 at every step returns from rows of (branch, token), and its chance."""
    step = list(dict.fromkeys(row[0] for row in rows if row))
    run = algorithms.rejection(target(prefix), draft(prefix), tuple(y for _, y in step))
    for mass, y, i in run.branches():
        kept = [row[1:] for row in rows if i is not None and row[0] == step[i]]
        longer = in_batch(draft, target, kept, (*prefix, y)) if kept else [((*prefix, y), ONE)]
        yield from ((text, mass * chance) for text, chance in longer)


def rows_of(tree):
    """The candidates of a drafted tree, each as its branches and tokens."""
    return [((i, y), *rest) for i, (y, more) in enumerate(tree) for rest in rows_of(more)] or [()]


@claim("mcsd.sec4.5e", "section 4.5, last paragraph", TREES)
def same_tokens_in_a_tree(draft, target, config):
    """Tree attention does not alter the expected tokens of a block: for all candidates, the walk
    through the tree returns the same law of tokens as the batch.
    Printed: In Table 4 they differ slightly, as measurements do."""
    verify = top_down(rejection)(target, draft, "iid")
    law = drafted.drafts(drafted.named("x".join(map(str, config))), draft, "iid")
    for tree in law:
        batch = collect(in_batch(draft, target, rows_of(tree)))
        equal(drafted.Ended(verify, {tree: ONE}).released, batch, "the tree, against the batch")
    return equal(drafted.Ended(verify, law).released, block(draft, target, config))
