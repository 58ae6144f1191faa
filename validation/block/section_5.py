"""Section 5: block efficiency, the number of tokens decoded in one call of the large model."""

from functools import partial

from validation.block.decoding import SpecDec
from validation.block_algorithms import block_verify, block_verify_one_token, token_verify
from validation.claim import Severity, at_least, claim, corrected
from validation.model_domain import models

FIRST_UNCERTAIN = models(((2, 2),)).where(lambda draft, **_: draft(())[1])


@claim("block.sec5", "Section 5, block efficiency; abstract", FIRST_UNCERTAIN)
def block_efficiency(target, draft, length, tries=((block_verify, 1), (block_verify, 2))):
    """BlockVerify improves block efficiency over TokenVerify: after any number of iterations
    algorithm 1 has decoded at least as many tokens in expectation.

    Printed: 'Consistent improvements over speculative decoding on a wide variety of tasks', 'a
    better draft verification algorithm'. What is proved is about one block (theorem 1); the next
    block has the residual distributions as its target.
    """
    slack = []
    for verify, iterations in tries:
        found, tokens = (SpecDec(each, target, draft, length).mean_tokens(iterations)
                         for each in (verify, token_verify))  # fmt: skip
        what = f"expected tokens of {iterations} iterations, against TokenVerify"
        slack.append(at_least(found, tokens, what))
    return min(slack)


LATER = ((block_verify, 1), (block_verify_one_token, 1), (block_verify_one_token, 2))
corrected(
    "block.sec5", Severity.WRONG, models(((2, 1), (2, 2)), note="two iterations"),
    "In the first iteration. Over two iterations it holds for the later version of block "
    "verification, which corrects one token and continues with $M_b$: $p_0 = 1$, $p_i = "
    r"\min(1, p_{i-1} M_b/M_s)$, $h_i = Z_i / (Z_i + 1 - p_i)$ with $Z_i = \sum (p_i M_b - "
    r"M_s)_+$, $h_L = p_L$, $\tau$ the last $i$ with $\eta_i \le h_i$.",
    explained="The optimum of one block is paid for by residual distributions, which are the "
    "target of the next block and which the draft fits worse; so over several blocks the algorithm "
    "can decode fewer tokens than TokenVerify. Use the later, published version of block "
    "verification, which corrects one token and then follows $M_b$ again.",
)(partial(block_efficiency, tries=LATER))  # fmt: skip
