"""Section 5: block efficiency, the number of tokens decoded in one call of the large model."""

from validation.block.decoding import SpecDec
from validation.block_algorithms import block_verify, block_verify_one_token, token_verify
from validation.claim import Severity, at_least, claim, corrected
from validation.model_domain import models


def more_than_token_verify(verify, target, draft, length, iterations):
    """Check that a verifier decodes at least as many tokens in so many iterations."""
    found, tokens = (
        SpecDec(each, target, draft, length).mean_tokens(iterations)
        for each in (verify, token_verify)
    )
    what = f"expected tokens of {iterations} iterations, against TokenVerify"
    return at_least(found, tokens, what)


@claim("block.sec5", "Section 5, block efficiency; abstract",
       models(((2, 2),), note="two iterations"))  # fmt: skip
def block_efficiency(target, draft, length):
    """BlockVerify improves block efficiency over TokenVerify: after any number of iterations
    algorithm 1 has decoded at least as many tokens in expectation.

    Printed: 'Consistent improvements over speculative decoding on a wide variety of tasks', 'a
    better draft verification algorithm'. What is proved is about one block (theorem 1); the next
    block has the residual distributions as its target.
    """
    return min(
        more_than_token_verify(block_verify, target, draft, length, number) for number in (1, 2)
    )


@corrected("block.sec5", Severity.WRONG, models(((2, 1), (2, 2)), note="two iterations"))
def later_block_efficiency(target, draft, length):
    r"""In the first iteration. Over two iterations it holds for the later version of block
    verification, which corrects one token and continues with $M_b$: $p_0 = 1$, $p_i = \min(1,
    p_{i-1} M_b/M_s)$, $h_i = Z_i / (Z_i + 1 - p_i)$ with $Z_i = \sum (p_i M_b - M_s)_+$, $h_L =
    p_L$, $\tau$ the last $i$ with $\eta_i \le h_i$.

    Explained: The optimum of one block is paid for by residual distributions that are the target of
    the next one, where the draft fits them worse; so over several blocks the algorithm can decode
    fewer tokens than TokenVerify. Use the later, published version of block verification, which
    corrects one token and then follows $M_b$ again.
    """
    return min(
        more_than_token_verify(block_verify, target, draft, length, 1),
        more_than_token_verify(block_verify_one_token, target, draft, length, 1),
        more_than_token_verify(block_verify_one_token, target, draft, length, 2),
    )
