"""Hierarchical speculative decoding: one draft, as the public code verifies it and with the cap."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from otspec.arithmetic import Number
from validation.block.checks import over_models
from validation.block.comparison import token_mean
from validation.verified_blocks import outcomes, same_law
from validation.models import LanguageModel, Prefix, memoryless
from validation.block_algorithms import (
    Branch,
    Verifier,
    block_verify_one_token,
    corrected_token,
    token_verify,
)
from validation.checks import over_all
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.notation import ONE, ZERO, normalised, positive, total

THIRD = Fraction(1, 3)


def stepping_back(*, capped: bool) -> Verifier:
    """Return the verifier of one draft: it steps back from the end of the block until it keeps.

    r_i is the product of M_b/M_s, c_i = r_i / max(1, r_1, …, r_i). At i < L it steps back with
    probability 1 − S_i / max(S_i, D_i), where S_i and D_i are the positive and the negative part of
    c_i M_b − M_s; the whole block is kept with probability min(1, r_L), or c_L with the cap.
    """

    def verify(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Iterator[Branch]:
        ratios = _ratios(target, draft, block)
        caps = [ratio / max(ONE, *ratios[: i + 1]) for i, ratio in enumerate(ratios)]
        chance = caps[-1] if capped else min(ONE, ratios[-1])
        if chance:
            yield Branch(chance, len(block), target.after(block))
        mass = 1 - chance
        for i in range(len(block) - 1, -1, -1):
            before = block[:i]
            scaled = tuple(caps[i] * value for value in target(before))
            more, less = positive(scaled, draft(before)), positive(draft(before), scaled)
            largest = max(total(more), total(less))
            chance = total(more) / largest if largest and i else ONE
            if mass * chance:
                yield Branch(mass * chance, i, corrected_token(target, before, normalised(more)))
            mass *= 1 - chance

    return verify


def _ratios(target: LanguageModel, draft: LanguageModel, block: Prefix) -> list[Fraction]:
    return [target.mass(block[:i]) / draft.mass(block[:i]) for i in range(len(block) + 1)]


AS_CODED, WITH_CAP = stepping_back(capped=False), stepping_back(capped=True)


def _coded_law(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(AS_CODED, target, draft, length).output_law()
    return same_law(found, target.blocks(length), "the law of Y^L")


def _capped_law(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(WITH_CAP, target, draft, length).output_law()
    return same_law(found, target.blocks(length), "the law of Y^L")


def _is_block_verification(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for block in draft.blocks(length):
        kept = [
            {branch.accepted: branch.mass for branch in verify(target, draft, block) if branch.mass}
            for verify in (WITH_CAP, block_verify_one_token)
        ]
        equal(*kept, f"what is kept of {block}")
    one, other = (
        outcomes(verify, target, draft, length).coupling()
        for verify in (WITH_CAP, block_verify_one_token)
    )
    return equal(one, other, "the coupling")


def _coded_more(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    kept = outcomes(AS_CODED, target, draft, length).mean_accepted()
    block = outcomes(block_verify_one_token, target, draft, length).mean_accepted()
    return min(
        at_least(kept, token_mean(target, draft, length), "against token-wise"),
        at_least(kept, block, "against block-wise"),
    )


def _capped_more(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    kept = outcomes(WITH_CAP, target, draft, length).mean_accepted()
    block = outcomes(block_verify_one_token, target, draft, length).mean_accepted()
    return above(kept, block, "kept, against block-wise verification")


def _toy(draft: tuple[Fraction, ...], target: tuple[Fraction, ...]) -> Number:
    large, small = memoryless(target), memoryless(draft)
    for verify, printed in (
        (token_verify, Fraction(5, 9)),
        (block_verify_one_token, Fraction(4, 9)),
    ):
        found = outcomes(verify, large, small, 2)
        cut = found.mass(lambda each: each.accepted < 2)
        equal(cut, printed, "probability that not both tokens are kept")
    return ZERO


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "hsd.lossless",
        "Losslessness, public code",
        "The verification of one draft returns the law of the target's text, where the whole "
        r"block is kept with probability $\min(1, r_L)$, $r_L$ the product of all $M_b/M_s$.",
        over_models(_coded_law),
        corrected=Corrected(
            r"It does so if the whole block is kept with probability $c_L = r_L/\max_{j \le L} "
            "(1, r_j)$, the ratio with the cap that all shorter beginnings have.",
            over_models(_capped_law),
        ),
    ),
    Claim(
        "hsd.more",
        "More tokens in expectation than token-wise and block-wise verification",
        "The public code keeps at least as many tokens as token verification and as block "
        "verification as it was published.",
        over_models(_coded_more),
    ),
    Claim(
        "hsd.better",
        "The same, of a lossless rule",
        "With the cap it keeps more than block verification.",
        over_models(_capped_more),
        corrected=Corrected(
            "With the cap it is block verification as it was published: of every draft each "
            "length is kept with the same probability, and the same token follows.",
            over_models(_is_block_verification),
        ),
    ),
    Claim(
        "hsd.toy",
        "Toy example: 5/9 token-wise, 4/9 block-wise",
        "For $p = (1/3, 2/3)$ and $q = (2/3, 1/3)$ at every place, two drafted tokens are not "
        "both kept with probability 5/9 by token verification and 4/9 by block verification.",
        over_all(
            lambda: [{"draft": (THIRD, 2 * THIRD), "target": (2 * THIRD, THIRD)}],
            _toy,
            "the example",
        ),
        printed="Token-wise 5/9, block-wise 4/9.",
    ),
)
