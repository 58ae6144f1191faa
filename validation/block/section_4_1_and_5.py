"""Sections 4.1 and 5: decoding with block verification over several iterations, its efficiency."""

from validation import block_algorithms as ba
from validation.block.decoding import NOTE, SpecDec, decodes
from validation.block.section_4 import AFTER_ZERO
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.model_domain import MODELS, models
from validation.models import Recording, prefixes_up_to, with_row
from validation.notation import ZERO, normalised, positive, same

LOOPS = ((2, 1), (2, 2))
"""Tokens and draft lengths of what is decoded over several iterations."""
FIRST_BLOCKS = models().one(block=lambda draft, length, **_: tuple(draft.blocks(length)))
"""Models with one draft block of the first iteration."""

claim("block.sec4.1a", "Section 4.1, first paragraph", models((*LOOPS, (3, 1)), note=NOTE),
      "Algorithm 1 with BlockVerify returns a valid sample sequence of $M_b$: what it decodes over "
      "several iterations has the law of the large model.",
      printed="Algorithm 3 is taken as corrected in block.alg3; the target of the next iteration "
      r"is $M_b' = M_{b,next}(\cdot | Z)$, as line 8 of algorithm 1 says.")(decodes)  # fmt: skip


@claim("block.sec4.1b", "Section 4.1, second paragraph", models(LOOPS))
def same_residual(target, draft, length):
    r"""$p_{res}^{x^i}$ can be computed from the next-token distribution $M_b(\cdot | x^i)$ of the
    large model and the probabilities $M_b(x^i)$ and $M_s(x^i)$.
    Printed: 'based on the distributions $M_b(\cdot | x^i)$ and $M_b(\cdot | x^i)$ from the small
    and large models, along with $M_b(x^i)$ and $M_s(x^i)$': the same twice."""
    found = None
    for x in prefixes_up_to(target.n, length - 1, 0):
        other = with_row(draft, x, (*draft(x)[1:], draft(x)[0]))
        if ba.remaining(target, draft, x) and ba.remaining(target, other, x):
            one, another = (ba.residual(target, model, x) for model in (draft, other))
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
    distributions of one iteration the target of the next."""
    found = None
    for step in SpecDec(ba.block_verify, target, draft, length).iteration():
        large, small = target.after(step.tokens), draft.after(step.tokens)
        for second in step.following.iteration() if step.accepted < length - 1 else ():
            x = second.tokens[: second.accepted]
            if second.accepted < length:
                used = ba.residual(step.following.target, step.following.draft, x)
                what = f"after {step.tokens} is decoded and {x} accepted, (10) of M_b"
                found = same(ba.residual(large, small, x), used, what)
    return found


corrected("block.sec4.1c", Severity.MISPRINT, models(((2, 2), (3, 2)), note=NOTE),
          "They are (10) of the current target $M_b'$, which after a rejection is itself a chain "
          r"of residuals for $L - \tau - 1$ more tokens, and of $M_s'$; so algorithm 1 decodes "
          "with the law of $M_b$.")(decodes)  # fmt: skip


@claim("block.sec4.1d", "Section 4.1, second paragraph", FIRST_BLOCKS)
def asks_only_what_is_scored(target, draft, length, block):
    """The residual distributions need no more calls: in the second iteration, whose target is
    $M_b'$, both models are used only after prefixes of what is decoded and drafted."""
    for number, branch in enumerate(ba.block_verify(target, draft, block)):
        for token in [token for token, mass in enumerate(branch.following(())) if mass]:
            tokens = (*block[: branch.accepted], token)
            for second in draft.after(tokens).blocks(length):
                text, asked = tokens + second, set()
                large, small = (Recording(model, asked) for model in (target, draft))
                following = list(ba.block_verify(large, small, block))[number].following
                asked.clear()
                for last in ba.block_verify(following.after((token,)), small.after(tokens), second):
                    last.following(())
                others = tuple(sorted(asked - {text[:i] for i in range(len(text) + 1)}))
                equal(others, (), f"{text}: prefixes that are asked for besides")
    return ZERO


FIRST_UNCERTAIN = models(((2, 2),)).where(lambda draft, **_: draft(())[1])
LATER = ((ba.block_verify, 1), (ba.block_verify_one_token, 1), (ba.block_verify_one_token, 2))


@corrected("block.sec5", Severity.WRONG, models(LOOPS, note="two iterations"), tries=LATER)
@claim("block.sec5", "Section 5, block efficiency; abstract", FIRST_UNCERTAIN)
def block_efficiency(target, draft, length, tries=((ba.block_verify, 1), (ba.block_verify, 2))):
    r"""BlockVerify improves block efficiency over TokenVerify: after any number of iterations
    algorithm 1 has decoded at least as many tokens in expectation.
    Printed: 'Consistent improvements over speculative decoding on a wide variety of tasks', 'a
    better draft verification algorithm'. What is proved is about one block (theorem 1); the next
    block has the residual distributions as its target.
    Corrected: In the first iteration. Over two iterations it holds for the later version of block
    verification, which corrects one token and continues with $M_b$: $p_0 = 1$, $p_i =
    \min(1, p_{i-1} M_b/M_s)$, $h_i = Z_i / (Z_i + 1 - p_i)$ with $Z_i = \sum (p_i M_b -
    M_s)_+$, $h_L = p_L$, $\tau$ the last $i$ with $\eta_i \le h_i$.
    Explained: The optimum of one block is paid for by residual distributions, which are the
    target of the next block and which the draft fits worse; so over several blocks the algorithm
    can decode fewer tokens than TokenVerify. Use the later, published version of block
    verification, which corrects one token and then follows $M_b$ again."""
    slack = []
    for verify, iterations in tries:
        found, tokens = (SpecDec(each, target, draft, length).mean_tokens(iterations)
                         for each in (verify, ba.token_verify))  # fmt: skip
        what = f"expected tokens of {iterations} iterations, against TokenVerify"
        slack.append(at_least(found, tokens, what))
    return min(slack)
