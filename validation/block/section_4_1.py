"""Section 4.1: speculative decoding with block verification, over several iterations."""

from validation.block.decoding import SpecDec
from validation.block.section_4 import AFTER_ZERO
from validation.block_algorithms import block_verify, remaining, residual
from validation.claim import Severity, claim, corrected, equal
from validation.model_domain import MODELS, models
from validation.models import Recording, prefixes_up_to, with_row
from validation.notation import ZERO, normalised, positive, same
from validation.verified_blocks import same_law

LOOPS = ((2, 1), (2, 2))
"""Tokens and draft lengths of what is decoded over several iterations."""
TOKENS = 3
"""How many decoded tokens are compared."""
NOTE = f"{TOKENS} tokens decoded"


@claim("block.sec4.1a", "Section 4.1, first paragraph", models((*LOOPS, (3, 1)), note=NOTE))
def decodes(target, draft, length):
    r"""Algorithm 1 with BlockVerify returns a valid sample sequence of $M_b$: what it decodes over
    several iterations has the law of the large model.

    Printed: Algorithm 3 is taken as corrected in block.alg3; the target of the next iteration is
    $M_b' = M_{b,next}(\cdot | Z)$, as line 8 of algorithm 1 says.
    """
    law = SpecDec(block_verify, target, draft, length).law(TOKENS)
    return same_law(law, target.blocks(TOKENS), "the law of what is decoded")


@claim("block.sec4.1b", "Section 4.1, second paragraph", models(LOOPS))
def same_residual(target, draft, length):
    r"""$p_{res}^{x^i}$ can be computed from the next-token distribution $M_b(\cdot | x^i)$ of the
    large model and the probabilities $M_b(x^i)$ and $M_s(x^i)$.

    Printed: 'based on the distributions $M_b(\cdot | x^i)$ and $M_b(\cdot | x^i)$ from the small
    and large models, along with $M_b(x^i)$ and $M_s(x^i)$': the same twice.
    """
    found = None
    for x in prefixes_up_to(target.n, length - 1, 0):
        other = with_row(draft, x, (*draft(x)[1:], draft(x)[0]))
        if remaining(target, draft, x) and remaining(target, other, x):
            one, another = (residual(target, model, x) for model in (draft, other))
            found = same(another, one, f"with another M_s(. | x) of the same M_s(x), after {x}")
    return found


@corrected("block.sec4.1b", Severity.MISPRINT, MODELS)
def residual_from_four(target, draft, length):
    r"""From $M_b(\cdot | x^i)$ and $M_s(\cdot | x^i)$, with $M_b(x^i)$ and $M_s(x^i)$."""
    for x in prefixes_up_to(target.n, length - 1, 0):
        large, small = ([model.mass(x) * row for row in model(x)] for model in (target, draft))
        joint = positive(*([model.mass((*x, token)) for token in range(model.n)]
                           for model in (target, draft)))  # fmt: skip
        if any(joint):
            same(normalised(positive(large, small)), normalised(joint), f"residual after {x}")
    return ZERO


@claim("block.sec4.1c", "Section 4.1, second paragraph", AFTER_ZERO)
def from_large_model(target, draft, length):
    r"""In every iteration the residuals are (10) of the large model $M_b$ and the small model $M_s$
    after what is decoded.

    Printed: The text names $M_b$ and $M_s$ only. Line 8 of algorithm 1 makes the residual
    distributions of one iteration the target of the next.
    """
    found = None
    for step in SpecDec(block_verify, target, draft, length).iteration():
        large, small = target.after(step.tokens), draft.after(step.tokens)
        for second in step.following.iteration() if step.accepted < length - 1 else ():
            x = second.tokens[: second.accepted]
            if second.accepted < length:
                used = residual(step.following.target, step.following.draft, x)
                what = f"after {step.tokens} is decoded and {x} accepted, (10) of M_b"
                found = same(residual(large, small, x), used, what)
    return found


corrected("block.sec4.1c", Severity.MISPRINT, models(((2, 2), (3, 2)), note=NOTE),
          "They are (10) of the current target $M_b'$, which after a rejection is itself a chain "
          r"of residuals for $L - \tau - 1$ more tokens, and of $M_s'$; so algorithm 1 decodes "
          "with the law of $M_b$.")(decodes)  # fmt: skip
FIRST_BLOCKS = models().one(block=lambda draft, length, **_: tuple(draft.blocks(length)))
"""Models with one draft block of the first iteration."""


@claim("block.sec4.1d", "Section 4.1, second paragraph", FIRST_BLOCKS)
def asks_only_what_is_scored(target, draft, length, block):
    """The residual distributions need no more calls: in the second iteration, whose target is
    $M_b'$, both models are used only after prefixes of what is decoded and drafted.
    """
    for number, branch in enumerate(block_verify(target, draft, block)):
        for token in [token for token, mass in enumerate(branch.following(())) if mass]:
            tokens = (*block[: branch.accepted], token)
            for second in draft.after(tokens).blocks(length):
                asked = asked_in_second(target, draft, (block, number, tokens, second))
                text = tokens + second
                others = tuple(sorted(asked - {text[:i] for i in range(len(text) + 1)}))
                equal(others, (), f"{text}: prefixes that are asked for besides")
    return ZERO


def asked_in_second(target, draft, course):
    """Return after which prefixes the models are asked to verify the second block of a course."""
    block, number, tokens, second = course
    asked = set()
    large, small = (Recording(model, asked) for model in (target, draft))
    following = list(block_verify(large, small, block))[number].following
    asked.clear()
    for branch in block_verify(following.after(tokens[-1:]), small.after(tokens), second):
        branch.following(())
    return asked
