"""Sections 2 and 3: one draft and blocks, Algorithms 1 and 2, candidates squeezed into a tree."""

from contextlib import suppress
from functools import partial
from itertools import accumulate, chain, count, pairwise, product
from math import prod
from operator import mul

from otspec import WithoutReplacement
from validation import algorithms
from validation import notation as nt
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import Domain, cases, drafts, pairs
from validation.mcsd import algorithms as mcsd
from validation.mcsd.algorithms import CASES, DISTINCT, alg1, alg2, block, configured, efficiency
from validation.notation import ONE, ZERO, collect, overlap, support, total
from validation.oracles import table_of

PAIRS = pairs(random_n=8)
SMALL = configured((1,), (2,), (2, 1), (1, 2), (2, 2))
DRAFTS = drafts(4, random_n=5).each(k=(1, 2, 3))
DIFFERENT = cases(n=3, k=(2, 3), least=2, random_n=4, random_k=(2, 3, 4)).where(
    lambda draft, target, **_: draft != target and all(draft) and all(target))  # fmt: skip


@claim("mcsd.sec2a", "section 2, end of the first paragraph", configured((1,), (1,) * 2, (1,) * 3))
def tokens_of_a_block(draft, target, config):
    r"""A block of speculative decoding with $\gamma$ drafts returns at least 1 and at most
    $\gamma + 1$ tokens: more than $i \le \gamma$ with probability $\sum_{x_1, \dots, x_i} \prod_j
    \min(p(x_j | x_1, \dots, x_{j-1}), q(x_j | x_1, \dots, x_{j-1}))$, more than $\gamma + 1$ never.
    Printed: generates a minimum of 1 and a maximum of $\gamma + 1$ accepted tokens; the last one
    is not an accepted draft."""
    law, kept = block(draft, target, config), {(): ONE}
    for i in range(len(config) + 2):
        longer = (mass for x, mass in law.items() if len(x) > i)
        equal(total(longer), total(kept.values()), f"P(more than {i} tokens)")
        kept = {(*x, y): mass * min(draft(x)[y], target(x)[y]) for x, mass in kept.items()
                for y in range(draft.n if i < len(config) else 0)}  # fmt: skip
    return ZERO


claim("mcsd.sec2b", "section 2, naive sampling", PAIRS,
      r"Drawing $y \sim q$ and accepting the draft $x \sim p$ if $x = y$ has acceptance rate "
      r"$\sum_x p(x) q(x)$.",
      printed="The paper writes $q$ for the draft and $p$ for the target, here as everywhere.")(
    mcsd.naive_sampling)  # fmt: skip
claim("mcsd.sec2c", "section 2, speculative sampling", PAIRS,
      r"Accepting $x \sim p$ with probability $\min(1, q(x)/p(x))$ has acceptance rate "
      r"$\sum_x \min(p(x), q(x))$.")(lambda draft, target: equal(
          alg1(draft, target, 1).accepted(), overlap(draft, target)))  # fmt: skip
claim("mcsd.sec2d", "section 2, speculative sampling", PAIRS,
      r"With the residual $q'(x) = (q(x) - p(x))_+ / \sum_x (q(x) - p(x))_+$ drawn after a "
      "rejection, the token returned has the law $q$.")(mcsd.lossless)  # fmt: skip
claim("mcsd.sec2e", "section 2, last sentence", PAIRS,
      r"Speculative sampling accepts at least as often as naive sampling: "
      r"$\sum_x \min(p(x), q(x)) \ge \sum_x p(x) q(x)$.",
      printed="possessing an upper bound on the acceptance rate of naive sampling")(
    mcsd.accepts_more)  # fmt: skip
claim("mcsd.sec3b", "section 3, third paragraph, and section 3.1", SMALL,
      "With k drafts at every step and the accepted one kept, the text has the law of the target: "
      "the block continued by the target, for models that look at the whole prefix.")(
    lambda draft, target, config: equal(collect(
        (text + more, mass * chance) for text, mass in block(draft, target, config).items()
        for more, chance in target.after(text).blocks(len(config) + 1 - len(text)).items()),
        target.blocks(len(config) + 1)))  # fmt: skip


@claim("mcsd.sec3a", "section 3, first paragraph", configured((1,) * 3, (2,) * 3))
def longer_drafts(draft, target, config):
    r"""The gain in tokens a block from one more drafted step does not increase with $\gamma$.
    Printed: there comes the diminishing marginal utility with an increase in gamma"""
    tokens = [efficiency(block(draft, target, config[:gamma])) for gamma in range(4)]
    gains = [more - fewer for fewer, more in pairwise(tokens)]
    return min(at_least(before, after, "gain") for before, after in pairwise(gains))


@claim("mcsd.sec3.1a", "section 3.1, first sentence", DIFFERENT)
def direct_use_fails(draft, target, k):
    r"""Speculative sampling cannot verify several candidates as it is: if each of $k \ge 2$
    independent drafts is tested against the same $q$, and the residual of $q$ is drawn after k
    rejections, then the output does not have the law $q$, for any full-support $p \ne q$.
    Printed: the original speculative sampling algorithm described in Section 2 cannot be directly
    used for verification of multiple candidates. What direct use means, and for which
    distributions, is not said: tested for the plainest direct use."""
    run = partial(algorithms.one_by_one, chance=lambda _, y: min(ONE, target[y] / draft[y]),
                  drawn=lambda: algorithms.residual(target, draft))  # fmt: skip
    found = algorithms.Ran(lambda x: run(x).branches(), nt.iid(draft, k)).output(len(target))
    return above(nt.total_variation(found, target), 0, "distance of the output from q")


claim("mcsd.alg1", "Algorithm 1, section 3.1", CASES,
      "For any $p$, $q$ and $k$, the token that Algorithm 1 returns, run step by step with the "
      "residual stored in $q$ itself, has the law $q$; no step divides by zero.")(
    mcsd.lossless)  # fmt: skip
claim("mcsd.alg2a", "Algorithm 2, section 3.2", DISTINCT,
      "For any $p$, $q$ and k up to the support of p, the token that Algorithm 2 returns has the "
      "law $q$, with $p$ and $q$ updated in place in the order printed: the residual of q, then "
      "the rejected token leaves p, then p is normalized.")(
    partial(mcsd.lossless, run=alg2))  # fmt: skip
claim("mcsd.sec3.2c", "sections 1 and 3.2: a more efficient version", DISTINCT,
      "For k up to the support of p, Algorithm 2 with drafts without replacement accepts at least "
      "as often as Algorithm 1 with k independent drafts.",
      printed="we also introduce a more efficient version for candidates sampled without "
      "replacement; an intuitive way to prevent token collisions")(
    partial(mcsd.accepts_more, run=alg2, others=(alg1,)))  # fmt: skip


@claim("mcsd.sec3.2a", "section 3.2, second sentence", DRAFTS)
def collisions(draft, k):
    r"""The probability that k independent drafts are distinct does not increase with k; it is 0
    for k beyond the support s, and at most $\prod_{i<k} (1 - i/s)$, which it is where all tokens
    of the support are equally likely.
    Printed: It is likely that the candidates are not unique to each other as k increases."""
    fewer, more = (total(mass for x, mass in nt.iid(draft, i).items() if len(set(x)) == i)
                   for i in (k, k + 1))  # fmt: skip
    bound = prod(1 - i * ONE / support(draft) for i in range(k + 1))
    if len(set(draft) - {ZERO}) == 1:
        equal(more, bound, "P(distinct), all equally likely")
    return min(at_least(fewer, more, "P(distinct)"), at_least(bound, more, "P(distinct)"))


@claim("mcsd.sec3.2b", "section 3.2, third sentence", CASES)
def never_again(draft, target, k):
    """What Algorithm 1 rejects has mass 0 in all later residuals, and is never accepted again."""
    checked = None
    for x in nt.iid(draft, k):
        run = algorithms.rejection(target, draft, x)
        for i, law in enumerate(run.targets[1:], start=1):
            checked = equal({law[token] for token in x[:i]}, {ZERO}, f"after {i} rejections of {x}")
        again = {i: chance for i, chance in enumerate(run.chances) if x[i] in x[:i]}
        equal(again, dict.fromkeys(again, ZERO), f"chances of drafts of {x} that come again")
    return checked


@corrected("mcsd.eq1", Severity.CONDITION, any_k=False)
@claim("mcsd.eq1", "eq. (1), section 3.2", DRAFTS)
def drawn_one_by_one(draft, k, any_k=True):
    r"""For any $p$ and $k$: $p_i$, which is p renormalized off the drafts $x_1, \dots, x_i$, is a
    distribution for all $i < k$, so that k drafts $x_{i+1} \sim p_i$ can be drawn.
    Printed: Appendix B: given any distributions p(x) and q(x).
    Corrected: That is so for k up to the support of p. Beyond it, and so for $k \ge 2$ at
    temperature 0, the denominator of $p_i$ is 0."""
    drawn = {(): ONE}
    for i in range(k):
        left = {gone: [ZERO if x in gone else m for x, m in enumerate(draft)] for gone in drawn}
        if i >= support(draft) and not any_k:
            return equal({total(masses) for masses in left.values()}, {ZERO}, "denominators")
        drawn = collect(((*gone, x), mass * chance) for gone, mass in drawn.items()
                        for x, chance in enumerate(algorithms.normalized(left[gone])))  # fmt: skip
    return equal(drawn, table_of(WithoutReplacement(draft, k)))


@corrected("mcsd.alg2b", Severity.DEGENERATE, always=False)
@claim("mcsd.alg2b", "Algorithm 2, line 5", DISTINCT)
def steps_are_defined(draft, target, k, always=True):
    """Every step of Algorithm 2 is defined for k up to the support of p: p then has mass left.
    Printed: The line is printed without a condition.
    Corrected: p has mass left unless all k drafts were rejected and k equals the support of p; then
    p is not read any more."""
    for x in nt.distinct(draft, k):
        refused, defined = algorithms.rejection_distinct(target, draft, x).reach(k) > 0, False
        with suppress(algorithms.Undefined):
            defined = bool(algorithms.rejection_distinct(target, draft, x, literal=True))
        claimed = always or not refused or k < support(draft)
        equal(defined, claimed, f"whether all is defined for drafts {x}")
    return ZERO


def squeezed(config):
    """Return the nodes in the order of generation, level by level: each as its choices."""
    depths = range(1, len(config) + 1)
    return [path for depth in depths for path in product(*map(range, config[:depth]))]


def ancestors(nodes, i):
    """Return a node and its ancestors, from the first level on."""
    return [nodes.index(nodes[i][:depth]) for depth in range(1, len(nodes[i]) + 1)]


def candidates(config):
    """Return the rows of the batch, each as the nodes of its tokens."""
    nodes = squeezed(config)
    return [ancestors(nodes, nodes.index(row)) for row in product(*map(range, config))]


def attention(tokens, positions, mask):
    """Two layers in which each state becomes what it sees: other states at relative positions."""
    states = list(tokens)
    for _ in range(2):
        states = [(states[i], *sorted((positions[i] - positions[j], states[j]) for j in seen))
                  for i, seen in enumerate(mask)]  # fmt: skip
    return states


def configurations(most=8, longest=3):
    """Return all (k_1, ..., k_gamma) by budget, then by length."""
    sizes = product(range(1, most + 1), range(1, longest + 1))
    return [c for budget, gamma in sizes for c in product(range(1, budget + 1), repeat=gamma)
            if prod(c) == budget]  # fmt: skip


def trees(alphabet=3):
    """Return the domain of configurations with tokens: all equal ones, then random ones."""

    def instances(drawn):
        for config, size in ((each, len(squeezed(each))) for each in configurations()):
            yield {"config": config, "tokens": drawn(alphabet, size),
                   "prompt": drawn(3, (size - 1) % 4 + 1)}  # fmt: skip

    return Domain(lambda: instances(lambda _, size: (0,) * size), lambda rng: chain.from_iterable(
        instances(lambda high, size: tuple(rng.integers(0, high, size).tolist()))
        for _ in count()), "budgets up to 8, up to 3 steps")  # fmt: skip


@corrected("mcsd.sec3.3a", Severity.MISPRINT, itself=True)
@claim("mcsd.sec3.3a", "Figure 2 and section 3.3", trees())
def exclusive_mask(config, tokens, prompt, itself=False):
    """With all candidates in one sequence, each token at its position in its candidate (footnote
    3), a mask that lets each token see exclusively the prompt and its ancestors gives every token
    the state it has in its candidate alone.
    Printed: an attention mask that exclusively permits each token to access its ancestors; whether
    a token is among its own ancestors is not said: read literally, it is not.
    Corrected: So does the mask that lets each token see the prompt, its ancestors and itself."""
    nodes, c = squeezed(config), len(prompt)
    positions = [*range(c), *(c + len(node) - 1 for node in nodes)]
    mask = [[*range(i)] for i in range(c)]
    mask += [[*range(c), *(c + j for j in ancestors(nodes, i)[:-1])] for i in range(len(nodes))]
    mask = [seen + [i] * itself for i, seen in enumerate(mask)]
    states = attention((*prompt, *tokens), positions, mask)[c:]
    for row in candidates(config):
        alone = (*prompt, *(tokens[i] for i in row))
        causal = [range(i + 1) for i in range(len(alone))]
        claimed = attention(alone, range(len(alone)), causal)[c:]
        equal([states[i] for i in row], claimed, f"states of candidate {row}")
    return ZERO


@claim("mcsd.sec3.3b", "sections 3.3 and 4.3", trees())
def tokens_of_the_tree(config, prompt, **_):
    r"""Drafts $(k_1, \dots, k_\gamma)$ make $K = \prod_i k_i$ candidates; squeezed they take
    $\sum_i \prod_{j \le i} k_j$ tokens, and together with the prompt no more than the batch with
    its copied prompts.
    Printed: $k_1, k_1, \cdots, k_\gamma$ in section 4.3; the number of tokens is not given."""
    nodes, rows = squeezed(config), candidates(config)
    parents = {nodes.index(node[:-1]) for node in nodes if len(node) > 1}
    equal(len(nodes) - len(parents), prod(config), "candidates")
    equal(len(nodes), sum(accumulate(config, mul)), "tokens")
    return at_least(sum(len(prompt) + len(row) for row in rows), len(prompt) + len(nodes), "batch")


@corrected("mcsd.sec3.3c", Severity.CONDITION, trees(alphabet=50), differ=True)
@claim("mcsd.sec3.3c", "section 3.3, last sentence", trees())
def maximally_squeezed(config, tokens, differ=False, **_):
    """The tree is maximally squeezed: it has no more tokens than there are different prefixes of
    candidates.
    Printed: multiple candidates can be maximally squeezed into a single sequence, thanks to the
    k-ary tree; what maximally means is not said.
    Corrected: That is so if all children of a token differ; equal ones (with replacement) can be
    merged."""
    children = zip((node[:-1] for node in squeezed(config)), tokens, strict=True)
    if differ and len(set(children)) < len(tokens):
        return None
    texts = [tuple(tokens[i] for i in row) for row in candidates(config)]
    prefixes = {text[:depth] for text in texts for depth in range(1, len(text) + 1)}
    return equal(len(tokens), len(prefixes), "tokens, against different prefixes")
