"""Theorem 1 and lemma 1: the best coupling of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from otspec.arithmetic import Number
from otspec.programs import BlockProgram
from validation.block.checks import over_models
from validation.verified_blocks import (
    best_transport,
    common_mass,
    common_prefix,
    outcomes,
    same_law,
    some_coupling,
)
from validation.models import (
    LanguageModel,
    Prefix,
    Recording,
    prefixes_up_to,
    table,
)
from validation.block_algorithms import block_verify, block_verify_one_token, token_verify
from validation.block.transport import over_some_couplings
from validation.checks import over_all
from validation.claim import Claim, at_least, equal
from validation.notation import ZERO, total


def _coupling_of_verifier(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    slack = []
    for verify in (token_verify, block_verify, block_verify_one_token):
        found = outcomes(verify, target, draft, length)
        pi = found.coupling()
        same_law(pi.marginal(0), draft.blocks(length), "the draft marginal (4)")
        same_law(pi.marginal(1), target.blocks(length), "the target marginal (5)")
        slack.append(at_least(pi.mean_common(), found.mean_accepted(), "E[beta] against E[tau]"))
    return min(slack)


def _sizes() -> Iterator[dict[str, Any]]:
    for n, length in ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (9, 1), (3, 2), (2, 3), (4, 2),
                      (5, 2), (3, 3), (2, 4), (2, 5), (4, 3)):  # fmt: skip
        yield {"n": n, "length": length}


def _size(n: int, length: int) -> Number:
    row = (Fraction(1, n),) * n
    program = BlockProgram(lambda _: row, lambda _: row, length).build()
    rows, columns = program.shape
    equal(columns, n ** (2 * length), "variables")
    return equal(rows, 2 * n**length, "equality constraints")


def _theorem_1(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(block_verify, target, draft, length)
    same_law(found.output_law(), target.blocks(length), "the law of Y^L")
    claimed = common_mass(target, draft, length)
    equal(found.mean_accepted(), claimed, "E[tau]")
    equal(found.coupling().mean_common(), claimed, "E[beta]")
    optimum = best_transport(draft.blocks(length), target.blocks(length), common_prefix)
    return equal(optimum, claimed, "the optimum of (3)")


def _asks_only_along_the_draft(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    """Check what is asked of both models, up to the acceptance and the row of the next token."""
    for block in draft.blocks(length):
        asked: set[Prefix] = set()
        large, small = Recording(target, asked), Recording(draft, asked)
        for branch in block_verify(large, small, block):
            branch.following(())
        heads = {block[:i] for i in range(length + 1)}
        others = tuple(sorted(asked - heads))
        equal(others, (), f"draft {block}: scored prefixes that are no prefix of it")
    return ZERO


def _lemma_1(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    optimum = best_transport(draft.blocks(length), target.blocks(length), common_prefix)
    return at_least(common_mass(target, draft, length), optimum, "the bound")


def _lemma_1_steps(draft: Any, target: Any, length: int, coupling: int) -> Number:
    large, small = table(target), table(draft)
    pi = some_coupling(small.blocks(length), large.blocks(length), coupling)
    mean = pi.mean_common()
    at_depth = [
        total(mass for pair, mass in pi.items() if common_prefix(*pair) >= depth)
        for depth in range(1, length + 1)
    ]
    equal(total(at_depth), mean, "sum of Pr(beta >= l)")
    bound = ZERO
    for x in prefixes_up_to(large.n, length):
        depth = len(x)
        both = total(m for (a, b), m in pi.items() if a[:depth] == b[:depth] == x)
        least = min(small.mass(x), large.mass(x))
        at_least(least, both, f"min of the marginals at {x}")
        bound += least
    return at_least(bound, mean, "the bound")


_CUT = "The index of the sum is $\\tau$, that of its terms $\\ell$; they must be the same."

CLAIMS = (
    Claim(
        "block.sec3c",
        "Section 3, 'From draft verification to a coupling'",
        r"$(X^L, Y^L)$ with $Y^L = (X^\tau, Z^{L-\tau})$ of a lossless verifier is a coupling, "
        r"(4) and (5), with $E[\beta] \ge E[\tau]$.",
        over_models(_coupling_of_verifier),
    ),
    Claim(
        "block.sec3d",
        "Section 3, 'Challenges in solving the optimization problem'",
        "The linear program has $n^{2L}$ variables and $2 n^L$ equality constraints.",
        over_all(_sizes, _size, "n^L <= 81: finitely many programs"),
        printed="$O(|X|^{2L})$ variables and $O(|X|^L)$ constraints.",
    ),
    Claim(
        "block.thm1",
        "Theorem 1 and (6), section 3",
        "BlockVerify (as corrected in block.alg3) is an optimal solution of (3): lossless, with "
        r"$E[\tau] = E[\beta] = \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), M_b(x^\ell))$, "
        "which is the optimum.",
        over_models(_theorem_1),
        printed=_CUT,
    ),
    Claim(
        "block.thm1b",
        "Section 3, before theorem 1; abstract",
        "BlockVerify (as corrected in block.alg3) needs no additional forward passes: it uses "
        "both models after prefixes of $X^L$ only, at most $L + 1$ each.",
        over_models(_asks_only_along_the_draft),
    ),
    Claim(
        "block.lem1",
        "Lemma 1, section 3",
        r"$\max_\pi E_\pi[\beta] \le \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), "
        r"M_b(x^\ell))$.",
        over_models(_lemma_1),
        printed=_CUT,
    ),
    Claim(
        "block.lem1b",
        "Proof of lemma 1, (a) and (b)",
        r"For every coupling, $E[\beta] = \sum_{\ell=1}^L \Pr(\beta \ge \ell)$ and $\Pr(X^\ell = "
        r"Y^\ell = x^\ell) \le \min(\Pr(X^\ell = x^\ell), \Pr(Y^\ell = x^\ell))$, so that the "
        "bound of lemma 1 holds.",
        over_some_couplings(_lemma_1_steps),
        printed=r"Sums over $\ell \le L$, which must begin at 1; (a) is said to hold for a "
        r"'positive integer random variable', but $\beta$ can be 0 (the identity needs $\beta \ge "
        "0$ only).",
    ),
)
