"""Sections 2 and 4: one draft, and what goes wrong with several."""

from fractions import Fraction
from itertools import product

from validation import algorithms, oracles
from validation import notation as nt
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import given, pairs
from validation.models import memoryless, models
from validation.notation import ONE, iid, overlap, positive, total
from validation.spectr import sequences as sq
from validation.spectr.algorithms import COUPLINGS, alg_1, ber, uniform

PAIRS = pairs(random_n=8)
MODELS = models(((2, 1), (2, 2), (2, 3), (3, 1), (3, 2)))


def one_draft(draft, target):
    """Check algorithm 1: it is lossless, and accepts 1 − d_TV, which is the optimum."""
    run, best = alg_1(draft, target), oracles.flow(iid(draft, 1), target)
    equal(run.output(len(target)), target, "law of the output")
    equal((run.accepted(), best), (run.among_drafts(),) * 2, "accepted and optimum, Pr(Y = X)")
    other = 1 - nt.total_variation(draft, target)
    return equal((best, other), (overlap(draft, target),) * 2, "optimum and 1 - d_TV")


claim("spectr.alg1a", "Algorithm 1, section 2", PAIRS,
      r"Algorithm 1 is lossless: if $X \sim p$ then $Y \sim q$.",
      printed="The residual is taken to be computed when it is drawn from; see spectr.alg1b.",
)(one_draft)  # fmt: skip


@claim("spectr.alg1b", "Algorithm 1, step 1", PAIRS)
def residual_is_a_law(draft, target):
    r"""For all p and q, $p^{res} = (q - \min(p, q)) / (1 - \sum \min(p, q))$ is a distribution."""
    left = 1 - overlap(draft, target)
    if not left:
        raise Fails("p^res reads 0/0")
    equal(sum(positive(target, draft)) / left, ONE, "sum of p^res")
    return at_least(min(positive(target, draft)) / left, 0, "least entry of p^res")


corrected("spectr.alg1b", Severity.DEGENERATE, PAIRS,
          "$p^{res}$ is a distribution unless $p = q$; then it is 0/0 and never drawn from.")(
    lambda draft, target: residual_is_a_law(draft, target) if draft != target
    else equal(alg_1(draft, target).accepted(), ONE, "Pr(draft accepted)"))  # fmt: skip
claim("spectr.sec2a", "Section 2, display below Algorithm 1", PAIRS,
      r"Algorithm 1 has $\Pr(Y = X) = \sum_x \min(p(x), q(x)) = 1 - d_{TV}(p, q)$.",
)(one_draft)  # fmt: skip


def one_iteration(draft, target, length):
    """Check what speculative decoding adds to the context, from its draft or the target's own."""
    own, outputs = (sq.decoded(model, target, lambda p, q, _: alg_1(p, q).kernel(),
                               sq.independent_drafts(model, length, 1))
                    for model in (target, draft))  # fmt: skip
    equal(set(map(len, own)), {length + 1}, "numbers of tokens if p = q")
    return sq.continues_as_target(outputs, target)


claim("spectr.sec2b", "Section 2, below Algorithm 1", MODELS,
      "If $p = q$, the draft is always accepted, and one iteration of speculative decoding yields "
      "$L + 1$ tokens.")(one_iteration)  # fmt: skip
claim("spectr.sec2c", "Section 2, below Algorithm 1", MODELS,
      "Applied recursively as long as drafts are accepted, with the token from the residual as "
      "correction and one more token from the large model if $L' = L$, Algorithm 1 yields tokens "
      "each of which has the large model's law, given those before it.",
      printed=r"The output of the algorithm is distributed according to $M_b(\cdot | x^t)$.",
)(one_iteration)  # fmt: skip

BE, LIKED, BY, FOR, THREE = range(5)
CHOSEN = (BE, LIKED, BY, THREE)
FIGURE_3 = given(*(
    {"drafts": ((BE, LIKED, BY, a), (BE, LIKED, FOR, b), (BE, c, d, a), (d, b, c, a))}
    for a, b, c, d in product(range(6), repeat=4) if a != THREE and c != LIKED and d != BE
), note="all else varies over six words")  # fmt: skip


@claim("spectr.fig3", "Fig. 3, section 4", FIGURE_3)
def run_of_the_figure(drafts):
    """With four drafts of four tokens, three of them starting with 'be', two with 'be liked', and
    these going on with 'by' and 'for': if 'be', 'liked', 'by' and then 'three' are selected, the
    selections see 4, 3, 2 and 1 drafts, and 4 tokens are generated."""
    seen, model = [], memoryless(uniform(6, 6))

    def chosen(_, __, k):
        seen.append(k)
        return {x: {CHOSEN[len(seen) - 1]: ONE} for x in product(range(6), repeat=k)}

    outputs = dict(sq.draft_selection(model, model, chosen, sq.as_nodes(drafts), sq.as_set))
    return equal((outputs, seen), ({CHOSEN: ONE}, [4, 3, 2, 1]), "decoded, and numbers of drafts")


@claim("spectr.ex1", "Section 4, example", given(*({"k": k} for k in range(1, 401))))
def one_after_the_other(k):
    r"""With $p = Ber(1)$ and $q = Ber(1/2)$ each draft is accepted with probability 1/2 in
    Algorithm 1; applied to k drafts in turn it outputs 1 with probability at least $1 - 1/2^k$,
    so that the output is not $Ber(1/2)$ for $k > 1$."""
    draft, target = ber(ONE), ber(Fraction(1, 2))
    chance = alg_1(draft, target).accepted()
    equal(chance, Fraction(1, 2), "chance of a draft")
    run = algorithms.Run((1,) * k, (chance,) * k, (algorithms.residual(target, draft),))
    ones = total(branch.mass for branch in run.branches() if branch.output == 1)
    slack = at_least(ones, 1 - Fraction(1, 2**k), "Pr(Y = 1)")
    return slack if k == 1 else above(ones, target[1], "Pr(Y = 1)")


@claim("spectr.claim1", "Claim 1, section 4", COUPLINGS)
def coupling_maps_to_target(draft, target, k, order):
    r"""For a coupling $\pi$ of P and Q, $X \sim P$ and $Y \sim \pi(\cdot | X)$ give $Y \sim Q$."""
    law, output = iid(draft, k), []
    joint = nt.some_coupling(law, dict(enumerate(target)), order)
    for x, mass in law.items():
        conditional = {y: part / mass for (z, y), part in joint.items() if z == x}
        equal(total(conditional.values()), ONE, f"sum of pi(y | {x})")
        output += [(y, mass * chance) for y, chance in conditional.items()]
    return equal(nt.as_row(nt.collect(output), len(target)), target, "law of the output")


claim("spectr.eq1", "Equation (1), section 4", pairs(),
      r"$\min_{\pi \in \Pi(p, q)} \Pr(Y \ne X) = \sum_x \min(p(x), q(x))$.",
      printed="The left-hand side is a cost, the right-hand side an acceptance.")(
    lambda draft, target: equal(
        1 - oracles.flow(iid(draft, 1), target), overlap(draft, target), "least cost"))  # fmt: skip
corrected("spectr.eq1", Severity.MISPRINT, PAIRS,
          r"$\min_\pi \Pr(Y \ne X) = 1 - \sum_x \min(p(x), q(x)) = d_{TV}(p, q)$; the sum is "
          r"$\max_\pi \Pr(Y = X)$.")(one_draft)  # fmt: skip
claim("spectr.sec4", "Section 4, below (1)", PAIRS,
      "Algorithm 1 attains the optimal cost with one draft.")(one_draft)  # fmt: skip
