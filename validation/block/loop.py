"""Section 4.1: speculative decoding with block verification, over several iterations."""

from __future__ import annotations

from collections.abc import Callable

from otspec.arithmetic import Number
from validation.block.checks import OnModels, over_models
from validation.verified_blocks import same_law
from validation.block.decoding import SpecDec
from validation.models import LanguageModel, Prefix, Recording, prefixes, with_row
from validation.block_algorithms import (
    Verifier,
    block_verify,
    block_verify_one_token,
    remaining,
    residual,
    token_verify,
)
from validation.claim import Claim, Corrected, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, normalised

LOOPS = ((2, 1), (2, 2))
"""Tokens and draft lengths of what is decoded over several iterations."""
TWO = ((2, 2),)
THREE = ((3, 2),)
""":data:`TWO` has no draft length 1; in :data:`THREE` a residual can have several tokens."""
SOME_TOKENS = 3


def decodes(verify: Verifier) -> OnModels:
    """Return the check that algorithm 1 decodes with the law of the large model."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        law = SpecDec(verify, target, draft, length).law(SOME_TOKENS)
        return same_law(law, target.blocks(SOME_TOKENS), "the law of what is decoded")

    return slack


def _same_residual(target: LanguageModel, draft: LanguageModel, length: int) -> Number | None:
    """Compare two drafts that agree in M_s(x^i) for the M_b, M_b(x^i) and M_s(x^i) at hand."""
    found = None
    for depth in range(length):
        for x in prefixes(target.n, depth):
            if not (target.mass(x) and draft.mass(x)):
                continue
            row = draft(x)
            other = with_row(draft, x, (*row[1:], row[0]))
            if not (remaining(target, draft, x) and remaining(target, other, x)):
                continue
            found = equal(
                _shown(residual(target, other, x)),
                _shown(residual(target, draft, x)),
                f"the residual after {x} with another M_s(. | x) of the same M_s(x)",
            )
    return found


def _from_four(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    """Compare (10) with what the four numbers and rows at x^i alone give."""
    for depth in range(length):
        for x in prefixes(target.n, depth):
            large, small = target.mass(x), draft.mass(x)
            rows = zip(target(x), draft(x), strict=True)
            parts = [max(large * one - small * other, ZERO) for one, other in rows]
            given = normalised(parts)
            joint = [
                max(target.mass((*x, token)) - draft.mass((*x, token)), ZERO)
                for token in range(target.n)
            ]
            if any(parts):
                claimed = tuple(mass / sum(joint) for mass in joint)
                equal(_shown(given), _shown(claimed), f"the residual after {x}")
    return ZERO


def _shown(row: Exact) -> str:
    return ", ".join(map(str, row))


def _from_large_model(target: LanguageModel, draft: LanguageModel, length: int) -> Number | None:
    """Compare the residuals of the second iteration with (10) of the primary models.

    Both are conditioned on what the first iteration decoded.
    """
    found = None
    for step in SpecDec(block_verify, target, draft, length).iteration():
        later = step.following
        if later is None or step.accepted + 1 >= length:
            continue  # the next target is the large model again
        primary = target.after(step.tokens), draft.after(step.tokens)
        for second in later.iteration():
            x = second.tokens[: second.accepted]
            if second.accepted < length:
                used = _shown(residual(later.target, later.draft, x))
                what = f"after {step.tokens} is decoded and {x} accepted, (10) of M_b"
                found = equal(_shown(residual(*primary, x)), used, what)
    return found


def asks_only_what_is_scored(
    target: LanguageModel, draft: LanguageModel, length: int, verify: Verifier = block_verify
) -> Number:
    """Check what the second iteration asks of the models against what is decoded and drafted."""
    for block in draft.blocks(length):
        asked: set[Prefix] = set()
        large, small = (Recording(model, asked) for model in (target, draft))
        for branch in verify(large, small, block):
            head = block[: branch.accepted]
            for token, chance in enumerate(branch.following(())):
                if not chance:
                    continue
                tokens = (*head, token)
                models = branch.following.after((token,)), small.after(tokens)
                for second in models[1].blocks(length):
                    asked.clear()
                    _follow(verify, models, second)
                    scored = {(tokens + second)[:i] for i in range(len(tokens) + length + 1)}
                    others = tuple(sorted(asked - scored))
                    equal(others, (), f"{tokens + second}: prefixes that are asked for besides")
    return ZERO


def _follow(verify: Verifier, models: tuple[LanguageModel, LanguageModel], block: Prefix) -> None:
    """Verify one block and look at the law of the next token."""
    for branch in verify(*models, block):
        branch.following(())


def more_tokens(
    verify: Verifier, iterations: tuple[int, ...]
) -> Callable[[LanguageModel, LanguageModel, int], Number]:
    """Return the check that a verifier decodes at least as many tokens as TokenVerify."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        slacks = []
        for number in iterations:
            found = SpecDec(verify, target, draft, length).mean_tokens(number)
            tokens = SpecDec(token_verify, target, draft, length).mean_tokens(number)
            what = f"expected tokens of {number} iterations, against TokenVerify"
            slacks.append(at_least(found, tokens, what))
        return min(slacks)

    return slack


def _first_then_second(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    first = more_tokens(block_verify, (1,))(target, draft, length)
    second = more_tokens(block_verify_one_token, (1, 2))(target, draft, length)
    return min(first, second)


_NOTE = f", {SOME_TOKENS} tokens decoded"

CLAIMS = (
    Claim(
        "block.sec4.1a",
        "Section 4.1, first paragraph",
        "Algorithm 1 with BlockVerify returns a valid sample sequence of $M_b$: what it decodes "
        "over several iterations has the law of the large model.",
        over_models(decodes(block_verify), (*LOOPS, (3, 1)), _NOTE),
        printed="Algorithm 3 is taken as corrected in block.alg3; the target of the next "
        r"iteration is $M_b' = M_{b,next}(\cdot | Z)$, as line 8 of algorithm 1 says.",
    ),
    Claim(
        "block.sec4.1b",
        "Section 4.1, second paragraph",
        r"$p_{res}^{x^i}$ can be computed from the next-token distribution $M_b(\cdot | x^i)$ of "
        "the large model and the probabilities $M_b(x^i)$ and $M_s(x^i)$.",
        over_models(_same_residual, LOOPS),
        printed=r"'based on the distributions $M_b(\cdot | x^i)$ and $M_b(\cdot | x^i)$ from the "
        "small and large models, along with $M_b(x^i)$ and $M_s(x^i)$': the same twice.",
        corrected=Corrected(
            r"From $M_b(\cdot | x^i)$ and $M_s(\cdot | x^i)$, with $M_b(x^i)$ and $M_s(x^i)$.",
            over_models(_from_four),
        ),
    ),
    Claim(
        "block.sec4.1c",
        "Section 4.1, second paragraph",
        "In every iteration the residuals are (10) of the large model $M_b$ and the small model "
        "$M_s$ after what is decoded.",
        over_models(_from_large_model, THREE),
        printed="The text names $M_b$ and $M_s$ only. Line 8 of algorithm 1 makes the residual "
        "distributions of one iteration the target of the next.",
        corrected=Corrected(
            "They are (10) of the current target $M_b'$, which after a rejection is itself a "
            r"chain of residuals for $L - \tau - 1$ more tokens, and of $M_s'$; so algorithm 1 "
            "decodes with the law of $M_b$.",
            over_models(decodes(block_verify), (*TWO, *THREE), _NOTE),
        ),
    ),
    Claim(
        "block.sec4.1d",
        "Section 4.1, second paragraph",
        "The residual distributions need no more calls: in the second iteration, whose target is "
        "$M_b'$, both models are used only after prefixes of what is decoded and drafted.",
        over_models(asks_only_what_is_scored, LOOPS),
    ),
)

COMPARISON = (
    Claim(
        "block.sec5",
        "Section 5, block efficiency; abstract",
        "BlockVerify improves block efficiency over TokenVerify: after any number of iterations "
        "algorithm 1 has decoded at least as many tokens in expectation.",
        over_models(more_tokens(block_verify, (1, 2)), TWO, ", two iterations"),
        printed="'Consistent improvements over speculative decoding on a wide variety of tasks', "
        "'a better draft verification algorithm'. What is proved is about one block (theorem 1); "
        "the next block has the residual distributions as its target.",
        corrected=Corrected(
            "In the first iteration. Over two iterations it holds for the later version of block "
            "verification, which corrects one token and continues with $M_b$: $p_0 = 1$, $p_i = "
            r"\min(1, p_{i-1} M_b/M_s)$, $h_i = Z_i / (Z_i + 1 - p_i)$ with $Z_i = \sum (p_i M_b "
            r"- M_s)_+$, $h_L = p_L$, $\tau$ the last $i$ with $\eta_i \le h_i$.",
            over_models(_first_then_second, LOOPS, ", two iterations"),
        ),
    ),
)
