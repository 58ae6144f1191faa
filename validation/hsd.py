"""Hierarchical speculative decoding: one draft, as the public code verifies it and with the cap."""

from fractions import Fraction
from itertools import accumulate

from validation import block_algorithms as blocks
from validation.block_algorithms import block_verify_one_token, token_verify
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import exact, given
from validation.drafted import Ended, endings, one_path, same
from validation.models import memoryless, models
from validation.notation import ONE, ZERO, normalized, positive, total


def stepping_back(*, capped):
    """Return the verifier of one draft: it steps back from the end of the block until it keeps.

    r_i is the product of M_b/M_s, c_i = r_i / max(1, r_1, …, r_i). At i < L it steps back with
    probability 1 − S_i / max(S_i, D_i), where S_i and D_i are the positive and the negative part of
    c_i M_b − M_s; the whole block is kept with probability min(1, r_L), or c_L with the cap."""

    def verify(target, draft, block):
        heads = [block[:i] for i in range(len(block) + 1)]
        ratios = [target.mass(head) / draft.mass(head) for head in heads]
        caps = [ratio / most for ratio, most in zip(ratios, accumulate(ratios, max), strict=True)]
        chance = caps[-1] if capped else min(ONE, ratios[-1])
        if chance:
            yield blocks.Branch(chance, len(block), target.after(block))
        mass = 1 - chance
        for i in range(len(block) - 1, -1, -1):
            scaled = tuple(caps[i] * value for value in target(heads[i]))
            more, less = positive(scaled, draft(heads[i])), positive(draft(heads[i]), scaled)
            largest = max(total(more), total(less))
            chance = total(more) / largest if largest and i else ONE
            if mass * chance:
                rest = blocks.corrected_token(target, heads[i], normalized(more))
                yield blocks.Branch(mass * chance, i, rest)
            mass *= 1 - chance

    return verify


AS_CODED, WITH_CAP = stepping_back(capped=False), stepping_back(capped=True)


def keeps(verify, **pair):
    """Return how many tokens a verifier of one draft keeps on average."""
    return one_path(verify, **pair).mean()


@corrected("hsd.lossless", Severity.WRONG, capped=True)
@claim("hsd.lossless", "Losslessness, public code", models())
def code_is_lossless(draft, target, length, capped=False):
    r"""The verification of one draft returns the law of the target's text, where the whole block is
    kept with probability $\min(1, r_L)$, $r_L$ the product of all $M_b/M_s$.
    Corrected: It does so if the whole block is kept with probability $c_L = r_L/\max_{j \le L} (1,
    r_j)$, the ratio with the cap.
    Explained: If $r_j > 1$ for a shorter beginning, $\min(1, r_L)$ can be more than $c_L$, so the
    block is kept more often than its beginnings allow."""
    return one_path(stepping_back(capped=capped), draft, target, length).lossless(target, length)


claim("hsd.more", "More tokens than token-wise and block-wise verification", models(),
      "The public code keeps at least as many tokens as token verification and as block "
      "verification as it was published.",
)(lambda **pair: at_least(keeps(AS_CODED, **pair), max(
    keeps(token_verify, **pair), keeps(block_verify_one_token, **pair)), "both"))  # fmt: skip


@claim("hsd.better", "The same, of a lossless rule", models())
def cap_keeps_more(**pair):
    """With the cap it keeps more than block verification, where that gains over token-wise."""
    single = keeps(block_verify_one_token, **pair)
    gains = single > keeps(token_verify, **pair)
    return above(keeps(WITH_CAP, **pair), single, "block-wise") if gains else None


@corrected("hsd.better", Severity.WRONG)
def cap_is_block_verification(draft, target, length):
    """With the cap it is block verification as it was published.
    Explained: No lossless rule for one draft that corrects one token keeps more than published
    block verification (`gbv.one`)."""
    for block in draft.blocks(length):
        same(*(Ended(lambda x, rule=rule: endings(rule, target, draft, x), {block: ONE})
               for rule in (WITH_CAP, block_verify_one_token)))  # fmt: skip
    return ZERO


@claim("hsd.toy", "Toy example: 5/9 token-wise, 4/9 block-wise",
       given({"draft": exact("1/3", "2/3"), "target": exact("2/3", "1/3")}, note="the example")
       )  # fmt: skip
def toy(**pair):
    """For $p = (1/3, 2/3)$ and $q = (2/3, 1/3)$ at every place, two drafted tokens are not both
    kept with probability 5/9 by token verification and 4/9 by block verification.
    Printed: Token-wise 5/9, block-wise 4/9."""
    models = {name: memoryless(law) for name, law in pair.items()}
    for verify, printed in ((token_verify, 5), (block_verify_one_token, 4)):
        kept = one_path(verify, length=2, **models).kept
        less = total(mass for text, mass in kept.items() if len(text) < 2)
        equal(less, Fraction(printed, 9), "probability that not both tokens are kept")
    return ZERO
