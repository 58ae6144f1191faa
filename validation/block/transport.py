"""Section 3: draft verification as a coupling of blocks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, product
from typing import Any

from otspec.arithmetic import Number
from otspec.programs import BlockProgram
from validation.block.checking import every_pair, occurs, scope_of
from validation.block.couplings import (
    as_coupling,
    best_transport,
    common_mass,
    common_prefix,
    marginal,
    mean_accepted,
    mean_common,
    outcomes,
    output_law,
    same_law,
    some_coupling,
    verifier_of,
)
from validation.block.models import SIZES, LanguageModel, Prefix, models, prefixes, table
from validation.block.printed import block_verify, block_verify_one_token, token_verify
from validation.claim import Claim, Outcome, Search, above, at_least, equal
from validation.instances import Exact

HALF = Fraction(1, 2)


def _acceptances() -> Iterator[dict[str, Any]]:
    """Yield the probabilities a / d in (0, 1], by d."""
    seen: set[Fraction] = set()
    for d in range(1, 80):
        for a in range(1, d + 1):
            if Fraction(a, d) not in seen:
                seen.add(Fraction(a, d))
                yield {"acceptance": Fraction(a, d)}


def _remark_1(acceptance: Fraction) -> Number:
    """Accept X = 1 with some probability, then return 0 where it is rejected."""
    wanted = (HALF, HALF)
    kept = (Fraction(0), acceptance)  # mass of accepted samples 0 and 1
    law = tuple(mass / sum(kept) for mass in kept)
    distance = sum(abs(one - other) for one, other in zip(law, wanted, strict=True)) / 2
    corrected = (1 - acceptance, acceptance)
    equal(corrected == wanted, acceptance == HALF, "the returned token is a valid sample")
    return above(distance, Fraction(0), "distance of accepted samples from the target")


def _check_remark_1(search: Search) -> Outcome:
    return search.every(_acceptances(), _remark_1, scope="acceptance a/d, d < 80")


def _transport(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    first, second = draft.blocks(length), target.blocks(length)
    most = best_transport(first, second, common_prefix)
    cost = -best_transport(first, second, lambda x, y: common_prefix(x, y) - length)
    return equal(cost, length - most, "the least expected L - beta")


def _with_couplings(search: Search) -> Iterator[dict[str, Any]]:
    for number, pair in enumerate(models(search.seed)):
        yield {**pair, "coupling": number % 8}


def _verifier_of_coupling(draft: Any, target: Any, length: int, coupling: int) -> Number:
    large, small = table(target), table(draft)
    pi = some_coupling(small.blocks(length), large.blocks(length), coupling)
    same_law(marginal(pi, 0), small.blocks(length), "the coupling's draft marginal")
    same_law(marginal(pi, 1), large.blocks(length), "the coupling's target marginal")
    found = outcomes(verifier_of(pi, large.n), large, small, length)
    same_law(output_law(found), large.blocks(length), "the law of (X^tau, Z^{L-tau})")
    return equal(mean_accepted(found), mean_common(pi), "E[tau] of Verify_pi, E[beta] of pi")


def _check_verifier_of_coupling(search: Search) -> Outcome:
    scope = scope_of(SIZES) + "; vertices and their mixtures with independence"
    return search.every(_with_couplings(search), _verifier_of_coupling, scope=scope)


def _coupling_of_verifier(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    slack = []
    for verify in (token_verify, block_verify, block_verify_one_token):
        found = outcomes(verify, target, draft, length)
        pi = as_coupling(found)
        same_law(marginal(pi, 0), draft.blocks(length), "the draft marginal (4)")
        same_law(marginal(pi, 1), target.blocks(length), "the target marginal (5)")
        slack.append(at_least(mean_common(pi), mean_accepted(found), "E[beta] against E[tau]"))
    return min(slack)


def _deep(search: Search) -> Iterator[dict[str, Any]]:
    return models(search.seed, ((2, 3), (3, 3)), enumerated=200)


def _no_token_between(draft: Any, target: Any, length: int) -> Number:
    """Return P(the draft has x_1 and x_3 that no target block has)."""
    large, small = table(target), table(draft)
    possible = {(y[0], y[2]) for y in large.blocks(length)}
    accepted = (
        mass
        for x, mass in small.blocks(length).items()
        # both tokens can be accepted one by one: the target has them at their places
        if (x[0], x[2]) not in possible
        and any(y[0] == x[0] for y in large.blocks(length))
        and any(y[2] == x[2] for y in large.blocks(length))
    )
    return sum(accepted, Fraction(0))


def _certain_or_uniform(search: Search) -> Iterator[dict[str, Any]]:
    """Yield a uniform draft over two tokens and targets with certain or uniform rows."""
    even = (HALF, HALF)
    rows = (even, (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    targets = list(product(rows, repeat=7))
    random.Random(search.seed).shuffle(targets)  # noqa: S311
    for target in targets:
        yield {"draft": (even,) * 7, "target": target, "length": 3}


def _check_remark_2a(search: Search) -> Outcome:
    scope = "n = 2, L = 3, uniform draft, rows of the target certain or uniform"
    return occurs(search, _certain_or_uniform(search), _no_token_between, scope)


def _between(draft: Any, target: Any, length: int) -> Number | None:
    """Check the formula for Y_2 given Y_1 and Y_3, and that it needs M_b(Y_3 | Y_1, y) for all y."""
    del draft
    model = table(target)
    blocks = model.blocks(length)
    changes = []
    for first, last in product(range(model.n), repeat=2):
        total = sum(mass for y, mass in blocks.items() if (y[0], y[2]) == (first, last))
        if not total:
            continue
        for token in range(model.n):
            joint = blocks.get((first, token, last), Fraction(0)) / total
            found = _formula(model, first, token, last)
            equal(found, joint, "M_b(Y_2 | Y_1, Y_3)")
        changes += [change for change in _changes(model, first, last) if change is not None]
    return min(changes, default=None)


def _formula(model: LanguageModel, first: int, token: int, last: int) -> Fraction:
    """Return M_b(Y_2 | Y_1, Y_3) from the next-token distributions."""
    weights = [model((first,))[y] * model((first, y))[last] for y in range(model.n)]
    return weights[token] / sum(weights)


def _changes(model: LanguageModel, first: int, last: int) -> Iterator[Fraction | None]:
    """Yield, for each y, by how much M_b(. | Y_1, Y_3) changes with M_b(Y_3 | Y_1, y)."""
    chances = [model((first,))[y] * model((first, y))[last] for y in range(model.n)]
    for y in range(model.n):
        others = [x for x in range(model.n) if x != y and chances[x]]
        if not model((first,))[y] or not others:
            yield None  # y never follows Y_1, or is the only token between
            continue
        row = model((first, y))
        other = _with_row(model, (first, y), _mixed(row, last))
        before = _formula(model, first, others[0], last)
        after = _formula(other, first, others[0], last)
        yield above(abs(after - before), Fraction(0), f"change with M_b(Y_3 | Y_1, {y})")


def _mixed(row: Exact, token: int) -> Exact:
    """Return another row: with more mass on a token, or less if it has all of it."""
    if row[token] < 1:
        return tuple((chance + (i == token)) / 2 for i, chance in enumerate(row))
    uniform = Fraction(1, len(row))
    return tuple((chance + uniform) / 2 for chance in row)


def _with_row(model: LanguageModel, prefix: Prefix, row: Exact) -> LanguageModel:
    return LanguageModel(lambda x: row if x == prefix else model(x), model.n)


def _check_remark_2b(search: Search) -> Outcome:
    return search.every(_deep(search), _between, scope="n <= 3, L = 3")


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


def _check_size(search: Search) -> Outcome:
    return search.every(_sizes(), _size, scope="n^L <= 81: finitely many programs")


def _theorem_1(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(block_verify, target, draft, length)
    same_law(output_law(found), target.blocks(length), "the law of Y^L")
    claimed = common_mass(target, draft, length)
    equal(mean_accepted(found), claimed, "E[tau]")
    equal(mean_common(as_coupling(found)), claimed, "E[beta]")
    optimum = best_transport(draft.blocks(length), target.blocks(length), common_prefix)
    return equal(optimum, claimed, "the optimum of (3)")


def _asks_only_along_the_draft(
    target: LanguageModel, draft: LanguageModel, length: int
) -> Number:
    """Check what is asked of both models, up to the acceptance and the row of the next token."""
    for block in draft.blocks(length):
        large, asked_large = _recorded(target)
        small, asked_small = _recorded(draft)
        for branch in block_verify(large, small, block):
            branch.following(())
        heads = {block[:i] for i in range(length + 1)}
        others = tuple(sorted((asked_large | asked_small) - heads))
        equal(others, (), f"draft {block}: scored prefixes that are no prefix of it")
    return Fraction(0)


def _recorded(model: LanguageModel) -> tuple[LanguageModel, set[Prefix]]:
    asked: set[Prefix] = set()

    def rule(prefix: Prefix) -> Exact:
        asked.add(prefix)
        return model(prefix)

    return LanguageModel(rule, model.n), asked


def _lemma_1(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    optimum = best_transport(draft.blocks(length), target.blocks(length), common_prefix)
    return at_least(common_mass(target, draft, length), optimum, "the bound")


def _lemma_1_steps(draft: Any, target: Any, length: int, coupling: int) -> Number:
    large, small = table(target), table(draft)
    pi = some_coupling(small.blocks(length), large.blocks(length), coupling)
    mean = mean_common(pi)
    at_depth = [
        sum((mass for pair, mass in pi.items() if common_prefix(*pair) >= depth), Fraction(0))
        for depth in range(1, length + 1)
    ]
    equal(sum(at_depth, Fraction(0)), mean, "sum of Pr(beta >= l)")
    bound = Fraction(0)
    for x in chain.from_iterable(prefixes(large.n, depth) for depth in range(1, length + 1)):
        depth = len(x)
        both = sum(
            (m for (a, b), m in pi.items() if a[:depth] == x and b[:depth] == x), Fraction(0)
        )
        least = min(small.mass(x), large.mass(x))
        at_least(least, both, f"min of the marginals at {x}")
        bound += least
    return at_least(bound, mean, "the bound")


def _check_lemma_1_steps(search: Search) -> Outcome:
    scope = scope_of(SIZES) + "; vertices and their mixtures with independence"
    return search.every(_with_couplings(search), _lemma_1_steps, scope=scope)


_CUT = "The index of the sum is $\\tau$, that of its terms $\\ell$; they must be the same."

CLAIMS = (
    Claim(
        id="block.rem1",
        where="Remark 1, section 3",
        statement=(
            "For $L = 1$, $M_s = Ber(1)$ and $M_b = Ber(1/2)$, accepted samples of $M_s$ alone "
            "never have the law $M_b$, whatever the acceptance probability; accepting 1 with "
            "probability 1/2 and returning 0 otherwise has it (and no other probability does)."
        ),
        check=_check_remark_1,
    ),
    Claim(
        id="block.sec3a",
        where="Section 3, after (5)",
        statement=(
            "Problem (3)-(5) is the optimal transport problem between $M_s^L$ and $M_b^L$ with "
            "cost $L - \\beta$: its least cost is $L$ minus the optimum."
        ),
        check=every_pair(_transport),
    ),
    Claim(
        id="block.sec3b",
        where="Section 3, 'From coupling to draft verification'",
        statement=(
            "For every coupling $\\pi$, $Verify_\\pi$, which accepts $\\ell$ tokens with probability "
            "$\\Pr_\\pi(\\beta = \\ell | X^L)$ and continues with the law of $Y^{\\tau+1:L}$ given "
            "$X^L$ and $\\tau$, is lossless, with $E[\\tau] = E_\\pi[\\beta]$."
        ),
        printed=(
            "The numerator is printed $\\sum_{\\ell: \\beta(X^L, Y^L) = \\ell} \\pi(X^L, Y^L)$; the "
            "sum is over $Y^L$."
        ),
        check=_check_verifier_of_coupling,
    ),
    Claim(
        id="block.rem2a",
        where="Remark 2, section 3",
        statement=(
            "With $L = 3$, accepting $X_1$ and $X_3$ but not $X_2$ may leave no $y$ with "
            "$M_b(X_1, y, X_3) > 0$, though $X_1$ and $X_3$ are possible at their places."
        ),
        printed="'It is likely that there does not exist y'.",
        check=_check_remark_2a,
    ),
    Claim(
        id="block.rem2b",
        where="Remark 2, section 3, displayed equation",
        statement=(
            "$M_b(Y_2 | Y_1, Y_3) = M_b(Y_1, Y_2, Y_3) / \\sum_y M_b(Y_1, y, Y_3)$, and it depends "
            "on $M_b(Y_3 | Y_1, y)$ for all $y$ (of positive probability after $Y_1$)."
        ),
        check=_check_remark_2b,
    ),
    Claim(
        id="block.sec3c",
        where="Section 3, 'From draft verification to a coupling'",
        statement=(
            "$(X^L, Y^L)$ with $Y^L = (X^\\tau, Z^{L-\\tau})$ of a lossless verifier is a coupling, "
            "(4) and (5), with $E[\\beta] \\ge E[\\tau]$."
        ),
        check=every_pair(_coupling_of_verifier),
    ),
    Claim(
        id="block.sec3d",
        where="Section 3, 'Challenges in solving the optimization problem'",
        statement="The linear program has $n^{2L}$ variables and $2 n^L$ equality constraints.",
        printed="$O(|X|^{2L})$ variables and $O(|X|^L)$ constraints.",
        check=_check_size,
    ),
    Claim(
        id="block.thm1",
        where="Theorem 1 and (6), section 3",
        statement=(
            "BlockVerify (as corrected in block.alg3) is an optimal solution of (3): lossless, "
            "with $E[\\tau] = E[\\beta] = \\sum_{\\ell=1}^L \\sum_{x^\\ell} \\min(M_s(x^\\ell), "
            "M_b(x^\\ell))$, which is the optimum."
        ),
        printed=_CUT,
        check=every_pair(_theorem_1),
    ),
    Claim(
        id="block.thm1b",
        where="Section 3, before theorem 1; abstract",
        statement=(
            "BlockVerify (as corrected in block.alg3) needs no additional forward passes: it uses "
            "both models after prefixes of $X^L$ only, at most $L + 1$ each."
        ),
        check=every_pair(_asks_only_along_the_draft),
    ),
    Claim(
        id="block.lem1",
        where="Lemma 1, section 3",
        statement=(
            "$\\max_\\pi E_\\pi[\\beta] \\le \\sum_{\\ell=1}^L \\sum_{x^\\ell} \\min(M_s(x^\\ell), "
            "M_b(x^\\ell))$."
        ),
        printed=_CUT,
        check=every_pair(_lemma_1),
    ),
    Claim(
        id="block.lem1b",
        where="Proof of lemma 1, (a) and (b)",
        statement=(
            "For every coupling, $E[\\beta] = \\sum_{\\ell=1}^L \\Pr(\\beta \\ge \\ell)$ and "
            "$\\Pr(X^\\ell = Y^\\ell = x^\\ell) \\le \\min(\\Pr(X^\\ell = x^\\ell), "
            "\\Pr(Y^\\ell = x^\\ell))$, so that the bound of lemma 1 holds."
        ),
        printed=(
            "Sums over $\\ell \\le L$, which must begin at 1; (a) is said to hold for a 'positive "
            "integer random variable', but $\\beta$ can be 0 (the identity needs $\\beta \\ge 0$ only)."
        ),
        check=_check_lemma_1_steps,
    ),
)
