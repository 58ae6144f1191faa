"""Sections 4 and 5: block-level verification (algorithm 3), decoding with it, its efficiency."""

from functools import partial

from validation import block_algorithms as ba
from validation import models as lm
from validation.block.section_2 import NOTE, SpecDec, decodes
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import drafts, law_of
from validation.models import MODELS, models, prefixes, prefixes_up_to
from validation.notation import ZERO, collect, normalized, positive, same, total
from validation.verified_blocks import beta_is_tau, common_mass, lossless, outcomes, same_law

LOOPS = ((2, 1), (2, 2))
"""Tokens and draft lengths of what is decoded over several iterations."""
FIRST_BLOCKS = models().one(block=lambda draft, length, **_: tuple(draft.blocks(length)))
"""Models with one draft block of the first iteration."""
FIRST_UNCERTAIN = models(((2, 2),)).where(lambda draft, **_: draft(())[1])
LATER = ((ba.block_verify, 1), (ba.block_verify_one_token, 1), (ba.block_verify_one_token, 2))
DEEP = models(((2, 3), (3, 2)), larger=lm.LARGER)
"""Where more than one token can follow a rejected one."""
HALVES, FIRST = law_of((1, 1, 0)), law_of((1, 0, 0))
AFTER_ZERO = drafts(3, 3).of(
    lambda draft: {"draft": lm.Table((HALVES, HALVES, FIRST, FIRST)),
                   "target": lm.Table((FIRST, draft, FIRST, FIRST)), "length": 2})  # fmt: skip
"""Any rows of a target after token 0, which it returns first; the draft is as often 1."""

WHOLE = (
    r"With $p_{res}^{(X^\tau, x^j)}$ for $0 \le j < L - \tau$ and $M_b(\cdot | X^\tau, x^j)$ for "
    r"$j \ge L - \tau$ (for $\tau = L$: $M_b(\cdot | X^L, x^j)$), probabilities of whole "
    "prefixes, algorithm 3 is lossless."
)
READ = "Algorithm 3 is taken as corrected in block.alg3, which is how appendix B uses it."
valid = partial(lossless, verify=ba.block_verify)

claim("block.alg3", "Algorithm 3, lines 14 and 16, section 4", MODELS,
      r"BlockVerify to the letter is lossless: after $X^\tau$ the next tokens come from "
      r"$M_{b,next}(\cdot | x^j) = p_{res}^{x^j}$ for $0 \le j < L - \tau$ and from $M_b(\cdot | "
      r"x^j)$ beyond, where $x^j$ are the $j$ tokens after $X^\tau$.",
      printed=r"$X^\tau$ stands nowhere in lines 14 and 16. If $x^j$ is what follows $X^\tau$ "
      r"(algorithm 1, line 3), it is missing from $p_{res}^{x^j}$ and $M_b(\cdot | x^j)$; if "
      r"$x^j$ is to contain it, $j$ must run from $\tau$ to $L - 1$. See block.alg3b for a third "
      "reading.")(partial(lossless, verify=ba.block_verify_as_printed))  # fmt: skip
corrected("block.alg3", Severity.MISPRINT, MODELS,
          "With probabilities of whole prefixes it is, as in `block.alg3b`.")(valid)  # fmt: skip
claim("block.alg3b", "Algorithm 3, line 16, with the convention of section 2", AFTER_ZERO,
      r"BlockVerify is lossless if $X^\tau$ is a context left out of the notation: with the "
      r"residuals (10) of the models $M_b(\cdot | X^\tau)$ and $M_s(\cdot | X^\tau)$.",
      printed="Section 2: 'we ignore prefix from the notations'. But (8)-(10) compare "
      r"probabilities of whole prefixes, $M_b(x^i, x)$, in which $M_b(X^\tau)$ and $M_s(X^\tau)$ "
      "do not cancel.")(partial(lossless, verify=ba.block_verify_in_context))  # fmt: skip
corrected("block.alg3b", Severity.WRONG, DEEP, WHOLE,
          explained=r"The residuals depend on $M_b(X^\tau)$ and $M_s(X^\tau)$, which the models "
          r"after $X^\tau$ alone do not have.")(valid)  # fmt: skip
claim("block.lem2", "Lemma 2, section 4", MODELS, printed=READ,
      statement=r"BlockVerify is lossless: $(X^\tau, Z^{L-\tau}) \sim M_b^L$.")(valid)  # fmt: skip
claim("block.sec4d", "Section 4, after (10); implicit in theorem 1", MODELS,
      r"For the coupling of BlockVerify $\beta(X^L, Y^L) = \tau$: the residual never draws the "
      "token that was rejected.",
      printed=f"{READ} The paper says this of TokenVerify only (block.appAa).")(
    partial(beta_is_tau, verify=ba.block_verify))  # fmt: skip


@claim("block.alg3c", "Algorithm 3, comment in line 9", MODELS)
def always_ends(target, draft, length):
    r"""The loop always sets $\tau$, since $p_{remain}(\emptyset) = p_{rej}(\emptyset)$.
    Printed: '$p_{remain}(\emptyset) = p_{res}(\emptyset)$'; $p_{res}$ is a distribution."""
    for block in draft.blocks(length):
        mass = total(part for part, _ in ba.block_acceptance(target, draft, block))
        equal(mass, 1, f"Pr(the loop sets tau | X^L = {block})")
    return equal(ba.remaining(target, draft, ()), ba.rejected(target, draft, ()), "p_remain of ()")


def masses(target, draft, length):
    """Check accepted, remaining and rejected mass of all prefixes against the algorithm."""
    accepted = collect((block[:depth], mass * chance)
                       for block, mass in draft.blocks(length).items()
                       for chance, tau in ba.block_acceptance(target, draft, block)
                       for depth in range(tau + 1))  # fmt: skip
    slack = []
    for x in prefixes_up_to(target.n, length, 0):
        large, small, kept = target.mass(x), draft.mass(x), accepted.get(x, ZERO)
        slack.append(at_least(large, kept, f"accepted mass of {x} within M_b"))
        equal(large - kept, max(large - small, 0), f"remaining mass of {x}")
        equal(small - kept, max(small - large, 0), f"rejected mass of {x}")
        equal(kept, min(large, small), f"accepted mass of {x}")
    return min(slack)


claim("block.sec4a", "Section 4, first step of algorithm 3", MODELS,
      r"After lines 2-3 the accepted mass of each $x^L$ is $\min(M_b, M_s)$, the remaining mass of "
      r"the large model $(M_b - M_s)_+$, the rejected mass of the small one $(M_s - M_b)_+$.")(
    masses)  # fmt: skip
claim("block.sec4c", "Section 4, before and after (10)", MODELS,
      r"No prefix is oversampled: $\Pr(X^\ell = x^\ell, \tau \ge \ell) \le M_b(x^\ell)$; and at "
      r"every depth the remaining and the rejected mass are $(M_b - M_s)_+$, $(M_s - M_b)_+$.")(
    masses)  # fmt: skip


@claim("block.sec4b", "Section 4, resampling the block", MODELS)
def resampled_block(target, draft, length):
    """If the block is rejected, drawing $L$ tokens from $(M_b(x^L) - M_s(x^L))_+$, normalized,
    gives $M_b^L$."""
    blocks = list(prefixes(target.n, length))
    rest = normalized(positive(*([model.mass(x) for x in blocks] for model in (target, draft))))
    drafted = draft.blocks(length).items()
    kept = {x: mass * ba.at_most_one(target.mass(x), mass) for x, mass in drafted}
    anew = 1 - total(kept.values())
    law = {x: kept.get(x, ZERO) + anew * part for x, part in zip(blocks, rest, strict=True)}
    return same_law(law, target.blocks(length), "the law of the output")


@corrected("block.eq10", Severity.DEGENERATE, in_use=True)
@claim("block.eq10", "(10), section 4", MODELS)
def residuals(target, draft, length, in_use=False):
    r"""$p_{res}^{x^i}$ is a distribution for all $i \le L$ and all $x^i$.
    Corrected: $p_{res}^{x^i}$ is a distribution if $p_{remain}(x^i) > 0$, else 0/0. Algorithm 3
    (corrected) never draws from it where it is 0/0."""
    found = outcomes(ba.block_verify, target, draft, length)
    drawn = collect((each.output[:depth], each.mass)
                    for each in found for depth in range(each.accepted, length))  # fmt: skip
    for x in prefixes_up_to(target.n, length - 1, 0):
        equal(drawn.get(x, ZERO), ba.remaining(target, draft, x), f"how often it is used at {x}")
    for x in drawn if in_use else prefixes_up_to(target.n, length, 0):
        equal(sum(ba.residual(target, draft, x)), 1, f"the residual after {x} has sum")
    return min(drawn.values(), default=None)


@corrected("block.lem3", Severity.MISPRINT, from_large=False)
@claim("block.lem3", "Lemma 3, section 4; its proof, appendix B.2", MODELS)
def mean_accepted(target, draft, length, from_large=True):
    r"""$E_{X^L \sim M_b^L}[\tau] = \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), M_b(x^\ell))$,
    the drafts being drawn from the large model.
    Corrected: $E_{X^L \sim M_s^L}[\tau] = \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell),
    M_b(x^\ell))$: the drafts come from the small model."""
    mean = total(mass * chance * tau
                 for block, mass in (target if from_large else draft).blocks(length).items()
                 for chance, tau in ba.block_acceptance(target, draft, block))  # fmt: skip
    return equal(mean, common_mass(target, draft, length), "E[tau]")


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
        other = lm.with_row(draft, x, (*draft(x)[1:], draft(x)[0]))
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
            same(normalized(positive(large, small)), normalized(joint), f"residual after {x}")
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
          "They are (10) of $M_s'$ and of the current target $M_b'$, which after a rejection is "
          r"itself a chain of residuals for $L - \tau - 1$ more tokens.")(decodes)  # fmt: skip


@claim("block.sec4.1d", "Section 4.1, second paragraph", FIRST_BLOCKS)
def asks_only_what_is_scored(target, draft, length, block):
    """The residual distributions need no more calls: in the second iteration, whose target is
    $M_b'$, both models are used only after prefixes of what is decoded and drafted."""
    for number, branch in enumerate(ba.block_verify(target, draft, block)):
        for token in [token for token, mass in enumerate(branch.following(())) if mass]:
            tokens = (*block[: branch.accepted], token)
            for second in draft.after(tokens).blocks(length):
                text, asked = tokens + second, set()
                large, small = (lm.Recording(model, asked) for model in (target, draft))
                following = list(ba.block_verify(large, small, block))[number].following
                asked.clear()
                for last in ba.block_verify(following.after((token,)), small.after(tokens), second):
                    last.following(())
                others = tuple(sorted(asked - {text[:i] for i in range(len(text) + 1)}))
                equal(others, (), f"{text}: prefixes that are asked for besides")
    return ZERO


@corrected("block.sec5", Severity.WRONG, models(LOOPS, note="two iterations"), tries=LATER)
@claim("block.sec5", "Section 5, block efficiency; abstract", FIRST_UNCERTAIN)
def block_efficiency(target, draft, length, tries=((ba.block_verify, 1), (ba.block_verify, 2))):
    r"""BlockVerify has decoded at least as many tokens in expectation as TokenVerify after any
    number of iterations.
    Printed: 'Consistent improvements over speculative decoding on a wide variety of tasks', 'a
    better draft verification algorithm'. What is proved is about one block (theorem 1); the next
    block has the residual distributions as its target.
    Corrected: In the first iteration. Over two iterations it holds for the later version of block
    verification, which corrects one token and continues with $M_b$: $p_0 = 1$, $p_i =
    \min(1, p_{i-1} M_b/M_s)$, $h_i = Z_i / (Z_i + 1 - p_i)$ with $Z_i = \sum (p_i M_b -
    M_s)_+$, $h_L = p_L$, $\tau$ the last $i$ with $\eta_i \le h_i$.
    Explained: Residual distributions become the target of the next block, and the draft fits them
    worse."""
    slack = []
    for verify, iterations in tries:
        found, tokens = (SpecDec(each, target, draft, length).mean_tokens(iterations)
                         for each in (verify, ba.token_verify))  # fmt: skip
        what = f"expected tokens of {iterations} iterations, against TokenVerify"
        slack.append(at_least(found, tokens, what))
    return min(slack)
