"""The claims of sections 2, 3 and 4 on blocks; what they check is in ``blocks``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from validation import checks
from validation.checks import over, over_pairs
from validation.claim import Check, Claim, Corrected, Method
from validation.mcsd import blocks
from validation.mcsd.printed import law1, law2

SINGLE = ((1,), (1, 1), (1, 1, 1))
SMALL = ((1,), (2,), (2, 1), (1, 2), (2, 2))
FALLING = ((2, 1), (4, 2))
BUDGETS = ((2, 1), (3, 2), (4, 2), (8, 1), (4, 2, 1))
TREES = ((2,), (2, 1), (1, 2))


def over_configurations(
    slack: Callable[..., Fraction | None], configs: tuple[tuple[int, ...], ...], tokens: int = 2
) -> Check:
    """Check pairs with configurations."""
    names = ", ".join("x".join(map(str, config)) for config in configs)

    return over(
        lambda seed: blocks.configured(seed, configs, tokens), slack, f"n <= {tokens}, {names}"
    )


over_cases = partial(checks.over_cases, most_tokens=3)
"""Check pairs with k = 1, 2, 3."""


SECTIONS_2_AND_3: tuple[Claim, ...] = (
    Claim(
        "mcsd.sec2a",
        "section 2, end of the first paragraph",
        r"A block of speculative decoding with $\gamma$ drafts returns at least 1 and at most "
        r"$\gamma + 1$ tokens.",
        over_configurations(blocks.lengths, SINGLE),
        printed=r"generates a minimum of 1 and a maximum of $\gamma + 1$ accepted tokens; the last "
        "one is not an accepted draft.",
    ),
    Claim(
        "mcsd.sec3a",
        "section 3, first paragraph",
        r"The gain in tokens a block from one more drafted step does not increase with $\gamma$.",
        over_configurations(blocks.longer_drafts, ((1,), (2,))),
        printed="there comes the diminishing marginal utility with an increase in gamma",
    ),
    Claim(
        "mcsd.sec3b",
        "section 3, third paragraph, and section 3.1",
        r"With k drafts at every step and the accepted one kept, the text has the law of the "
        r"target: the block continued by the target, for models that look at the whole prefix.",
        over_configurations(blocks.lossless, SMALL),
    ),
)

SECTION_4: tuple[Claim, ...] = (
    Claim(
        "mcsd.sec4.1a",
        "section 4.1, efficiency measures",
        r"The tokens $\tau$ of a block satisfy $1 \le \tau \le \gamma + 1$; 1 is attained if no "
        r"draft is ever accepted, $\gamma + 1$ if all steps accept.",
        over_configurations(blocks.lengths, SMALL),
    ),
    Claim(
        "mcsd.sec4.1b",
        "section 4.1, efficiency measures",
        r"$\tau = 1 + \sum_i P(\text{steps } 1, \dots, i \text{ accept})$: the accepted drafts, "
        r"and one endpoint.",
        over_configurations(blocks.one_more, SMALL),
    ),
    Claim(
        "mcsd.sec4.2a",
        "section 4.2 and Figure 3",
        r"The acceptance does not decrease with k, with and without replacement.",
        over_cases(blocks.more_candidates),
        printed="As k increases, we observe a consistent improvement in acceptance rates.",
    ),
    Claim(
        "mcsd.sec4.2b",
        "section 4.2 and Figure 3",
        r"The acceptance of Algorithm 1 converges as k grows: to the mass of q on the support of "
        r"p. (In floats, within $10^{-6}$.)",
        over_pairs(blocks.limit, 3, scope="n <= 3, k <= 200,000, in floats"),
        method=Method.FLOAT,
        printed="The curves tend to converge when k exceeds 32; what to is not said.",
    ),
    Claim(
        "mcsd.sec4.4a",
        "section 4.4, the monotonic rule",
        r"A decreasing configuration has at least the tokens a block of its reverse, as 4x2 of "
        r"2x4, for any models.",
        over_configurations(blocks.monotonic, FALLING),
        printed="the monotonically decreasing configuration always outperforms the monotonically "
        "increasing configuration for the same budget. Strictly it cannot, with p = q.",
        corrected=Corrected(
            r"That is so if k drafts are accepted at the same rate $a(k)$ at every step and "
            r"after every prefix: $\tau = 1 + \sum_i \prod_{j \le i} a(k_j)$.",
            over_configurations(blocks.monotonic_stationary, BUDGETS),
        ),
    ),
    Claim(
        "mcsd.sec4.4b",
        "section 4.4, the monotonic rule",
        r"Also when all steps accept at the same rate, any decreasing configuration has at least "
        r"the tokens a block of any increasing one of its budget: 8x1 and 4x2 against 2x4 and 1x8.",
        over_configurations(blocks.same_budget, ((8, 1), (4, 2))),
        printed="The words allow both readings: the reverse, or any increasing configuration.",
        corrected=Corrected(
            r"4x2 has at least the tokens a block of 2x4 and of 1x8; 8x1 has not always.",
            over_pairs(blocks.balanced),
        ),
    ),
    Claim(
        "mcsd.sec4.4c",
        "section 4.4, last sentence",
        r"The gain in tokens from one more candidate does not increase with the budget, for "
        r"Algorithm 2 and one step ($\tau = 1 + \alpha$).",
        over_cases(blocks.gains(law2)),
        printed="the diminishing returns of block efficiency gains as budget increases",
        corrected=Corrected(
            r"It does not for Algorithm 1 with independent drafts.",
            over_cases(blocks.gains(law1)),
        ),
    ),
    Claim(
        "mcsd.sec4.5e",
        "section 4.5, last paragraph",
        r"Tree attention does not alter the expected tokens of a block: for all candidates, the "
        r"walk through the tree returns the same law of tokens as the batch.",
        over_configurations(blocks.same_efficiency, TREES),
        printed="In Table 4 they differ slightly, as measurements do.",
    ),
)
