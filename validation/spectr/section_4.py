"""Section 4: from one draft to optimal transport, and what goes wrong with several."""

from fractions import Fraction
from itertools import product

from validation import notation as nt
from validation.algorithms import Run, residual
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import given, pairs
from validation.models import memoryless
from validation.notation import ONE, as_row, collect, iid, overlap, some_coupling, total
from validation.spectr.algorithms import COUPLINGS, alg_1, ber, optimum, uniform
from validation.spectr.sequences import as_nodes, as_set, draft_selection

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

    outputs = dict(draft_selection(model, model, chosen, as_nodes(drafts), as_set))
    equal(outputs, {CHOSEN: ONE}, "decoded")
    return equal(seen, [4, 3, 2, 1], "numbers of drafts")


@claim("spectr.ex1", "Section 4, example", given(*({"k": k} for k in range(1, 401))))
def one_after_the_other(k):
    r"""With $p = Ber(1)$ and $q = Ber(1/2)$ each draft is accepted with probability 1/2 in
    Algorithm 1; applied to k drafts in turn it outputs 1 with probability at least $1 - 1/2^k$,
    so that the output is not $Ber(1/2)$ for $k > 1$."""
    draft, target = ber(ONE), ber(Fraction(1, 2))
    chance = alg_1(draft, target).accepted()
    equal(chance, Fraction(1, 2), "chance of a draft")
    run = Run((1,) * k, (chance,) * k, (residual(target, draft),))
    ones = total(branch.mass for branch in run.branches() if branch.output == 1)
    slack = at_least(ones, 1 - Fraction(1, 2**k), "Pr(Y = 1)")
    return slack if k == 1 else above(ones, target[1], "Pr(Y = 1)")


@claim("spectr.claim1", "Claim 1, section 4", COUPLINGS)
def coupling_maps_to_target(draft, target, k, order):
    r"""For a coupling $\pi$ of P and Q, $X \sim P$ and $Y \sim \pi(\cdot | X)$ give $Y \sim Q$."""
    law, output = iid(draft, k), []
    joint = some_coupling(law, dict(enumerate(target)), order)
    for x, mass in law.items():
        conditional = {y: part / mass for (z, y), part in joint.items() if z == x}
        equal(total(conditional.values()), ONE, f"sum of pi(y | {x})")
        output += [(y, mass * chance) for y, chance in conditional.items()]
    return equal(as_row(collect(output), len(target)), target, "law of the output")


claim("spectr.eq1", "Equation (1), section 4", pairs(),
      r"$\min_{\pi \in \Pi(p, q)} \Pr(Y \ne X) = \sum_x \min(p(x), q(x))$.",
      printed="The left-hand side is a cost, the right-hand side an acceptance.")(
    lambda draft, target: equal(1 - optimum(draft, target, 1), overlap(draft, target), "least cost")
)  # fmt: skip
corrected("spectr.eq1", Severity.MISPRINT, pairs(),
          r"$\min_\pi \Pr(Y \ne X) = 1 - \sum_x \min(p(x), q(x)) = d_{TV}(p, q)$; the sum is "
          r"$\max_\pi \Pr(Y = X)$.")(
    lambda draft, target: equal(
        (optimum(draft, target, 1),) * 2,
        (overlap(draft, target), 1 - nt.total_variation(draft, target)), "most Pr(Y = X)")
)  # fmt: skip
claim("spectr.sec4", "Section 4, below (1)", pairs(),
      "Algorithm 1 attains the optimal cost with one draft.")(
    lambda draft, target: equal(alg_1(draft, target).among_drafts(), optimum(draft, target, 1))
)  # fmt: skip
