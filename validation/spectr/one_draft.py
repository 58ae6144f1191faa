"""Sections 2 and 4: one draft, and what goes wrong with several."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from otspec.arithmetic import Number
from validation.checks import over, over_all
from validation.claim import Claim, Corrected, Fails, above, at_least, equal
from validation.instances import Exact
from validation.notation import (
    ONE,
    ZERO,
    accepted,
    collect,
    iid,
    marginals,
    overlap,
    total_variation,
)
from validation.spectr.checks import over_couplings, over_pairs
from validation.spectr.couplings import best_coupling, optimum, some_coupling
from validation.spectr.printed import (
    as_coupling,
    chance_of,
    is_among_drafts,
    maximal_coupling,
    residual_of_one,
)
from validation.spectr.sequences import (
    Kernel,
    Model,
    Models,
    Tokens,
    continues_as_target,
    coupling_plan,
    draft_selection,
    independent_drafts,
    model_pairs,
    selected,
)


def is_lossless(draft: Exact, target: Exact) -> Fraction:
    """Algorithm 1 returns q."""
    joint = as_coupling(maximal_coupling(draft, target), draft, 1)
    return equal(marginals(joint, len(target))[1], target, "law of the output")


def residual_is_distribution(draft: Exact, target: Exact) -> Number:
    """Step 1 makes a distribution."""
    try:
        law = residual_of_one(draft, target)
    except ZeroDivisionError:
        raise Fails("p^res reads 0/0") from None
    equal(sum(law), ONE, "sum of p^res")
    return at_least(min(law), ZERO, "least entry of p^res")


def residual_unless_equal(draft: Exact, target: Exact) -> Number | None:
    """Step 1 makes a distribution unless p = q, and then it is not drawn from."""
    rejected = 1 - chance_of(
        maximal_coupling(draft, target), draft, 1, lambda _, branch: branch.accepted == 0
    )
    if draft == target:
        return equal(rejected, ZERO, "probability of drawing from p^res")
    return residual_is_distribution(draft, target)


def output_is_draft(draft: Exact, target: Exact) -> Fraction:
    """The output is the draft with probability Σ min(p, q) = 1 − d_TV."""
    found = chance_of(maximal_coupling(draft, target), draft, 1, is_among_drafts)
    common = overlap(draft, target)
    equal(found, common, "Pr(Y = X)")
    return equal(common, 1 - total_variation(draft, target), "sum of min(p, q)")


def single_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield pairs of models and L."""
    for models in model_pairs(seed):
        for length in (1, 2, 3):
            yield {**models._asdict(), "length": length}


def equal_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield a model and L."""
    for case in single_cases(seed):
        yield {"model": case["target"], "length": case["length"]}


def equal_models_accept_all(model: Model, length: int) -> Fraction:
    """With p = q all drafts are accepted and L + 1 tokens are decoded."""
    drafts = independent_drafts(model, length, 1)
    outputs = selected(Models(model, model), coupling_plan, length, drafts)
    return equal({len(output) for output in outputs}, {length + 1}, "numbers of decoded tokens")


def speculative_decoding_is_lossless(draft: Model, target: Model, length: int) -> Fraction:
    """Algorithm 1 applied token by token continues as the large model."""
    drafts = independent_drafts(draft, length, 1)
    outputs = selected(Models(draft, target), coupling_plan, length, drafts)
    return continues_as_target(outputs, target)


BE, LIKED, BY, FOR, THREE = range(5)
CHOSEN = (BE, LIKED, BY, THREE)


def figure_3_cases() -> Iterator[dict[str, Any]]:
    """Yield four drafts that agree as in Fig. 3; what it does not show varies."""
    for a, b, c, d in product(range(6), repeat=4):
        if a != THREE and c != LIKED and d != BE:
            rest = ((BE, c, d, a), (d, b, c, a))
            yield {"drafts": ((BE, LIKED, BY, a), (BE, LIKED, FOR, b), *rest)}


def figure_3_run(drafts: tuple[Tokens, ...]) -> Fraction:
    """Algorithm 3 sees 4, 3, 2 and 1 drafts and decodes four tokens."""
    seen: list[int] = []

    def chosen(_: Exact, __: Exact, k: int) -> Kernel:
        seen.append(k)
        return lambda _: [Fraction(y == CHOSEN[len(seen) - 1]) for y in range(6)]

    uniform = ((Fraction(1, 6),) * 6,) * 7
    outputs = collect(draft_selection(Models(uniform, uniform), chosen, (), 4, drafts))
    equal(seen, [4, 3, 2, 1], "numbers of drafts")
    return equal(outputs, {CHOSEN: ONE}, "decoded")


def one_after_the_other(k: int) -> Number | None:
    """Steps 3 to 5 of Algorithm 1 for each of k drafts, p = Ber(1) and q = Ber(1/2)."""
    draft, target = (ZERO, ONE), (Fraction(1, 2), Fraction(1, 2))
    ones, going = ZERO, ONE
    for x in [1] * k:
        chance = min(ONE, target[x] / draft[x])
        equal(chance, Fraction(1, 2), "chance of a draft")
        ones += going * chance
        going *= 1 - chance
    slack = at_least(ones, 1 - Fraction(1, 2**k), "Pr(Y = 1)")
    return slack if k == 1 else above(ones, target[1], "Pr(Y = 1)")


def coupling_maps_to_target(
    draft: Exact, target: Exact, k: int, turn: int, blur: Fraction
) -> Fraction:
    """Drawing x ~ P and then y ~ π(y | x) gives q."""
    law = iid(draft, k)
    joint = some_coupling(law, target, turn, blur)
    output = [ZERO] * len(target)
    for x, mass in law.items():
        conditional = [joint[x, y] / mass for y in range(len(target))]
        equal(sum(conditional), ONE, f"sum of pi(y | {x})")
        output = [sofar + mass * share for sofar, share in zip(output, conditional, strict=True)]
    return equal(tuple(output), target, "law of the output")


def least_cost_is_common_mass(draft: Exact, target: Exact) -> Fraction:
    """Equation (1)."""
    coupling, _ = best_coupling(iid(draft, 1), target)
    common = overlap(draft, target)
    return equal(1 - accepted(coupling), common, "least Pr(Y != X)")


def least_cost_is_variation(draft: Exact, target: Exact) -> Fraction:
    """Equation (1), corrected."""
    least = 1 - optimum(draft, target, 1)
    common = overlap(draft, target)
    equal(least, 1 - common, "least Pr(Y != X)")
    return equal(least, total_variation(draft, target), "least Pr(Y != X)")


def algorithm_1_is_optimal(draft: Exact, target: Exact) -> Fraction:
    """No coupling has less cost than Algorithm 1."""
    joint = as_coupling(maximal_coupling(draft, target), draft, 1)
    return equal(accepted(joint), optimum(draft, target, 1), "Pr(Y = X)")


CLAIMS = (
    Claim(
        "spectr.alg1a",
        "Algorithm 1, section 2",
        r"Algorithm 1 is lossless: if $X \sim p$ then $Y \sim q$.",
        over_pairs(is_lossless),
        printed="The residual is taken to be computed when it is drawn from; see spectr.alg1b.",
    ),
    Claim(
        "spectr.alg1b",
        "Algorithm 1, step 1",
        r"For all p and q, $p^{res} = (q - \min(p, q)) / (1 - \sum \min(p, q))$ is a distribution.",
        over_pairs(residual_is_distribution),
        corrected=Corrected(
            r"It is a distribution unless $p = q$; then it reads 0/0, and is never drawn from.",
            over_pairs(residual_unless_equal),
        ),
    ),
    Claim(
        "spectr.sec2a",
        "Section 2, display below Algorithm 1",
        r"Algorithm 1 has $\Pr(Y = X) = \sum_x \min(p(x), q(x)) = 1 - d_{TV}(p, q)$.",
        over_pairs(output_is_draft),
    ),
    Claim(
        "spectr.sec2b",
        "Section 2, below Algorithm 1",
        "If $p = q$, the draft is always accepted, and one iteration of speculative decoding "
        "yields $L + 1$ tokens.",
        over(equal_cases, equal_models_accept_all, "n = 2, L <= 3, Markov chains"),
    ),
    Claim(
        "spectr.sec2c",
        "Section 2, below Algorithm 1",
        "Applied recursively as long as drafts are accepted, with the token from the residual as "
        "correction and one more token from the large model if $L' = L$, Algorithm 1 yields "
        "tokens each of which has the large model's law, given those before it.",
        over(single_cases, speculative_decoding_is_lossless, "n = 2, L <= 3, Markov chains"),
        printed="The output of the algorithm is distributed according to $M_b(\\cdot | x^t)$.",
    ),
    Claim(
        "spectr.fig3",
        "Fig. 3, section 4",
        "With four drafts of four tokens, three of them starting with 'be', two with 'be liked', "
        "and these going on with 'by' and 'for': if 'be', 'liked', 'by' and then 'three' are "
        "selected, the selections see 4, 3, 2 and 1 drafts, and 4 tokens are generated.",
        over_all(figure_3_cases, figure_3_run, "all else varies over six words"),
    ),
    Claim(
        "spectr.ex1",
        "Section 4, example",
        r"With $p = Ber(1)$ and $q = Ber(1/2)$ each draft is accepted with probability 1/2 in "
        r"Algorithm 1; applied to k drafts in turn it outputs 1 with probability at least "
        r"$1 - 1/2^k$, so that the output is not $Ber(1/2)$ for $k > 1$.",
        over_all(lambda: ({"k": k} for k in range(1, 401)), one_after_the_other, "k <= 400"),
    ),
    Claim(
        "spectr.claim1",
        "Claim 1, section 4",
        r"For every coupling $\pi$ of P and Q, $X \sim P$ and $Y \sim \pi(\cdot | X)$ give "
        r"$Y \sim Q$.",
        over_couplings(coupling_maps_to_target),
    ),
    Claim(
        "spectr.eq1",
        "Equation (1), section 4",
        r"$\min_{\pi \in \Pi(p, q)} \Pr(Y \ne X) = \sum_x \min(p(x), q(x))$.",
        over_pairs(least_cost_is_common_mass),
        printed="The left-hand side is a cost, the right-hand side an acceptance.",
        corrected=Corrected(
            r"$\min_\pi \Pr(Y \ne X) = 1 - \sum_x \min(p(x), q(x)) = d_{TV}(p, q)$; the sum is "
            r"$\max_\pi \Pr(Y = X)$.",
            over_pairs(least_cost_is_variation),
        ),
    ),
    Claim(
        "spectr.sec4",
        "Section 4, below (1)",
        "Algorithm 1 attains the optimal cost with one draft.",
        over_pairs(algorithm_1_is_optimal),
    ),
)
