"""Section 3: Algorithms 1 and 2, drafts with and without replacement, and tree attention."""

from functools import partial
from itertools import accumulate, pairwise
from math import prod
from operator import mul

import otspec
from validation import algorithms
from validation.algorithms import Ran, Undefined, rejection, rejection_distinct
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import cases, drafts, mixed
from validation.instances import Exact
from validation.mcsd import blocks
from validation.mcsd.blocks import configured
from validation.mcsd.events import alg1, alg2
from validation.mcsd.trees import ancestors, attention, rows, squeezed, trees
from validation.notation import ONE, ZERO, Tokens, distinct, iid, same, support, total
from validation.notation import total_variation as distance
from validation.oracles import table_of

CASES = cases(n=3, random_n=4, random_k=(1, 2, 3, 4))
DISTINCT = CASES.where(lambda draft, target, k: k <= support(draft))
DRAFTED = mixed(drafts(4).each(k=(1, 2, 3)), drafts(random_n=6).one(k=(1, 2, 3)))


@claim("mcsd.sec3a", "section 3, first paragraph", configured((1,) * 3, (2,) * 3))
def longer_drafts(draft, target, config):
    r"""The gain in tokens a block from one more drafted step does not increase with $\gamma$.

    Printed: there comes the diminishing marginal utility with an increase in gamma
    """
    of = [blocks.efficiency(blocks.block(draft, target, config[:i])) for i in range(4)]
    gains = [more - fewer for fewer, more in pairwise(of)]
    return min(at_least(before, after, f"gains {gains}") for before, after in pairwise(gains))


@claim(
    "mcsd.sec3b",
    "section 3, third paragraph, and section 3.1",
    configured((1,), (2,), (2, 1), (1, 2), (2, 2)),
)
def text_keeps_its_law(draft, target, config):
    """With k drafts at every step and the accepted one kept, the text has the law of the target:
    the block continued by the target, for models that look at the whole prefix.
    """
    length = len(config) + 1
    found = blocks.completed(blocks.block(draft, target, config), target, length)
    return equal(found, target.blocks(length))


@claim(
    "mcsd.sec3.1a",
    "section 3.1, first sentence",
    cases(n=3, k=(2, 3), least=2, random_n=4, random_k=(2, 3, 4)).where(
        lambda draft, target, k: draft != target and all(draft) and all(target)
    ),
)
def direct_use_fails(draft, target, k):
    r"""Speculative sampling cannot verify several candidates as it is: if each of $k \ge 2$
    independent drafts is tested against the same $q$, and the residual of $q$ is drawn after k
    rejections, then the output does not have the law $q$, for any full-support $p \ne q$.

    Printed: the original speculative sampling algorithm described in Section 2 cannot be directly
    used for verification of multiple candidates. What direct use means, and for which
    distributions, is not said: tested for the plainest direct use.
    """
    run = algorithms.k_sequential(draft, target, ONE, lambda: algorithms.residual(target, draft))
    found = Ran(lambda x: run(x).branches(), iid(draft, k)).output(len(target))
    return above(distance(found, target), 0, "distance of the output from q")


@claim("mcsd.alg1", "Algorithm 1, section 3.1", CASES)
def algorithm_1_is_lossless(draft, target, k):
    """For any $p$, $q$ and $k$, the token that Algorithm 1 returns, run step by step with the
    residual stored in $q$ itself, has the law $q$; no step divides by zero.
    """
    return same(alg1(draft, target, k).output(len(target)), target, "output")


@claim("mcsd.sec3.2a", "section 3.2, second sentence", DRAFTED)
def collisions(draft, k):
    r"""The probability that k independent drafts are distinct does not increase with k; it is 0
    for k beyond the support s, and at most $\prod_{i<k} (1 - i/s)$, which it is where all tokens
    of the support are equally likely.

    Printed: It is likely that the candidates are not unique to each other as k increases.
    """
    fewer, more = (
        total(mass for x, mass in iid(draft, i).items() if len(set(x)) == i) for i in (k, k + 1)
    )
    bound = prod(1 - i / (ONE * support(draft)) for i in range(k + 1))
    if len(set(draft) - {ZERO}) == 1:
        equal(more, bound, "P(distinct), all tokens equally likely")
    return min(at_least(fewer, more, "P(distinct)"), at_least(bound, more, "P(distinct)"))


@claim("mcsd.sec3.2b", "section 3.2, third sentence", CASES)
def never_again(draft, target, k):
    """A token that Algorithm 1 rejected has probability 0 in every later residual, and is never
    accepted again.
    """
    checked = None
    for x in iid(draft, k):
        run = rejection(target, draft, x)
        for i, law in enumerate(run.targets[1:], start=1):
            for token in x[:i]:
                checked = equal(law[token], ZERO, f"residual after {i} rejections of {x}")
        for i, chance in enumerate(run.chances):
            if x[i] in x[:i]:
                equal(chance, ZERO, f"chance of draft {i + 1} of {x}")
    return checked


def left(draft: Exact, gone: Tokens) -> Exact:
    """Return the draft renormalised off some tokens: eq. (1)."""
    return algorithms.normalised([ZERO if x in gone else mass for x, mass in enumerate(draft)])


@claim("mcsd.eq1", "eq. (1), section 3.2", DRAFTED)
def draws_are_defined(draft, k):
    r"""For any $p$ and $k$: $p_i$, which is p renormalised off the drafts $x_1, \dots, x_i$, is a
    distribution for all $i < k$, so that k drafts $x_{i+1} \sim p_i$ can be drawn.

    Printed: Appendix B: given any distributions p(x) and q(x).
    """
    drawn = {(): ONE}
    for i in range(k):
        laws = {gone: left(draft, gone) for gone in drawn}
        equal({sum(law) for law in laws.values()}, {ONE}, f"sums of p_{i}")
        drawn = {
            (*gone, x): mass * laws[gone][x]
            for gone, mass in drawn.items()
            for x in range(len(draft))
            if laws[gone][x]
        }
    return equal(drawn, table_of(otspec.WithoutReplacement(draft, k)))


@corrected("mcsd.eq1", Severity.CONDITION, DRAFTED)
def draws_within_the_support(draft, k):
    r"""That is so for k up to the support of p; the k drafts then have the law without
    replacement. Beyond the support, and so for $k \ge 2$ at temperature 0, the denominator of
    $p_i$ is 0.
    """
    if k <= support(draft):
        return draws_are_defined(draft, k)
    gone = tuple(x for x, mass in enumerate(draft) if mass)
    return equal(undefined(lambda: left(draft, gone)), True, "0/0 once all are drawn")


def undefined(step):
    """Whether a step divides zero by zero."""
    try:
        step()
    except Undefined:
        return True
    return False


@claim("mcsd.alg2a", "Algorithm 2, section 3.2", DISTINCT)
def algorithm_2_is_lossless(draft, target, k):
    """For any $p$, $q$ and k up to the support of p, the token that Algorithm 2 returns has the
    law $q$, with $p$ and $q$ updated in place in the order printed: the residual of q, then the
    rejected token leaves p, then p is normalised.
    """
    return same(alg2(draft, target, k).output(len(target)), target, "output")


@claim("mcsd.alg2b", "Algorithm 2, line 5", DISTINCT)
def steps_are_defined(draft, target, k):
    """Every step of Algorithm 2 is defined for k up to the support of p: p always has mass left
    when it is normalised.

    Printed: The line is printed without a condition.
    """
    for x in distinct(draft, k):
        rejection_distinct(target, draft, x, literal=True)
    return ZERO


@corrected("mcsd.alg2b", Severity.DEGENERATE, DISTINCT)
def undefined_at_the_end_only(draft, target, k):
    """p has mass left except when k equals the support of p and all k drafts were rejected; that
    is after the last round, and p is not read any more.
    """
    for x in distinct(draft, k):
        stuck = undefined(lambda x=x: rejection_distinct(target, draft, x, literal=True))
        all_rejected = rejection_distinct(target, draft, x).reach(k) > 0
        equal(stuck, all_rejected and k == support(draft), f"0/0 with the drafts {x}")
    return ZERO


@claim("mcsd.sec3.2c", "sections 1 and 3.2: a more efficient version", DISTINCT)
def more_efficient(draft, target, k):
    """For k up to the support of p, Algorithm 2 with drafts without replacement accepts at least
    as often as Algorithm 1 with k independent drafts.

    Printed: we also introduce a more efficient version for candidates sampled without replacement;
    an intuitive way to prevent token collisions
    """
    return at_least(alg2(draft, target, k).accepted(), alg1(draft, target, k).accepted())


@claim("mcsd.sec3.3a", "Figure 2 and section 3.3", trees())
def exclusive_mask(config, tokens, prompt, itself=False):
    """With all candidates in one sequence, each token at its position in its candidate (footnote
    3), a mask that lets each token see exclusively the prompt and its ancestors gives every token
    the state it has in its candidate alone.

    Printed: an attention mask that exclusively permits each token to access its ancestors; whether
    a token is among its own ancestors is not said: read literally, it is not.
    """
    nodes, c = squeezed(config, tokens), len(prompt)
    positions = [*range(c), *(c + len(node.branches) - 1 for node in nodes)]
    mask = [range(i + itself) for i in range(c)]
    for i in range(len(nodes)):
        lineage = ancestors(nodes, i)[: None if itself else -1]
        mask.append([*range(c), *(c + j for j in lineage)])
    states = attention([*prompt, *(node.token for node in nodes)], positions, mask)[c:]
    for row in rows(config, nodes):
        alone = [*prompt, *(nodes[i].token for i in row)]
        causal = [range(i + 1) for i in range(len(alone))]
        claimed = attention(alone, range(len(alone)), causal)[c:]
        equal([states[i] for i in row], claimed, f"states of candidate {row}")
    return ZERO


corrected(
    "mcsd.sec3.3a",
    Severity.MISPRINT,
    trees(),
    "So does the mask that lets each token see the prompt, its ancestors and itself.",
)(partial(exclusive_mask, itself=True))


@claim("mcsd.sec3.3b", "sections 3.3 and 4.3", trees())
def tokens_of_the_tree(config, tokens, prompt):
    r"""Drafts $(k_1, \dots, k_\gamma)$ make $K = \prod_i k_i$ candidates; squeezed they take
    $\sum_i \prod_{j \le i} k_j$ tokens, and together with the prompt no more than the batch with
    its copied prompts.

    Printed: $k_1, k_1, \cdots, k_\gamma$ in section 4.3; the number of tokens is not given.
    """
    nodes = squeezed(config, tokens)
    leaves = set(range(len(nodes))) - {node.parent for node in nodes}
    equal(len(leaves), prod(config), "candidates")
    equal(len(nodes), sum(accumulate(config, mul)), "tokens")
    batch = sum(len(prompt) + len(row) for row in rows(config, nodes))
    return at_least(batch, len(prompt) + len(nodes), "tokens in the batch")


@claim("mcsd.sec3.3c", "section 3.3, last sentence", trees())
def maximally_squeezed(config, tokens, prompt):
    """The tree is maximally squeezed: it has no more tokens than there are different prefixes of
    candidates.

    Printed: multiple candidates can be maximally squeezed into a single sequence, thanks to the
    k-ary tree; what maximally means is not said.
    """
    nodes = squeezed(config, tokens)
    texts = [[nodes[j].token for j in row] for row in rows(config, nodes)]
    prefixes = {tuple(text[: depth + 1]) for text in texts for depth in range(len(text))}
    return equal(len(nodes), len(prefixes), "tokens, against different prefixes")


@corrected("mcsd.sec3.3c", Severity.CONDITION, trees(alphabet=50))
def squeezed_without_replacement(config, tokens, prompt):
    """That is so if the children of every token differ, as without replacement; equal ones with
    replacement could be merged.
    """
    children = [(node.parent, node.token) for node in squeezed(config, tokens)]
    if len(set(children)) < len(children):
        return None
    return maximally_squeezed(config, tokens, prompt)
