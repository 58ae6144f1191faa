"""Section 3: draft verification as a coupling of blocks, theorem 1 and lemma 1."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

from otspec.programs import BlockProgram
from validation import block_algorithms as ba
from validation import models as lm
from validation import notation as nt
from validation import verified_blocks as vb
from validation.block.section_2 import inputs
from validation.claim import Counterexample, above, at_least, claim, equal
from validation.domains import drafts, given, mixed
from validation.models import MODELS, memoryless, models, prefixes_up_to
from validation.notation import ONE, ZERO, total
from validation.verified_blocks import common_prefix, outcomes, same_law

CUT = r"The index of the sum is $\tau$, that of its terms $\ell$; they must be the same."
SMALL = ({"n": n, "length": length} for n, length in product(range(1, 10), range(1, 6))
         if n**length <= 81)  # fmt: skip
HALF = Fraction(1, 2)
EVEN = (HALF, HALF)
THREE = models(((2, 3), (3, 3)))
"""Models with a token between others."""
THIRD = given(*({"draft": memoryless(EVEN), "target": lm.Table((EVEN,) * 3 + rows), "length": 3}
                     for rows in product(((ONE, ZERO), (ZERO, ONE), EVEN), repeat=4)))  # fmt: skip
"""A uniform draft, and a target of which only the third token is not."""
COUPLINGS = models().one(coupling=range(8))
"""Models with the number of a coupling: a vertex, or a mixture with independence."""
ACCEPTANCES = drafts(2, 2).where(lambda draft: draft[0]).of(lambda draft: {"acceptance": draft[0]})


@claim("block.rem1", "Remark 1, section 3", ACCEPTANCES)
def remark_1(acceptance):
    """For $L = 1$, $M_s = Ber(1)$ and $M_b = Ber(1/2)$, accepted samples of $M_s$ alone never have
    the law $M_b$, whatever the acceptance probability; accepting 1 with probability 1/2 and
    returning 0 otherwise has it (and no other probability does)."""
    target, otherwise = memoryless(EVEN), memoryless((ONE, ZERO))
    ways = ba.Branch(acceptance, 1, target), ba.Branch(1 - acceptance, 0, otherwise)
    found = outcomes(lambda *_: ways, target, memoryless((ZERO, ONE)), 1)
    valid = found.output_law() == target.blocks(1)
    equal(valid, acceptance == HALF, "the returned token is a valid sample")
    kept = [found.chance("output", (y,), [1]) for y in range(2)]
    distance = nt.total_variation(nt.normalized(kept), target(()))
    return above(distance, ZERO, "distance of accepted samples from the target")


def verifier_of(pi, n):
    """Return Verify_pi, the verifier that a coupling stands for."""

    def verify(_target, _draft, block):
        outputs = {y: mass for (x, y), mass in pi.items() if x == block}
        for tau in range(len(block) + 1):
            after = {y[tau:]: m for y, m in outputs.items() if common_prefix(block, y) == tau}
            chance = total(after.values()) / total(outputs.values())
            yield ba.Branch(chance, tau, lm.LanguageModel(partial(following, after, n), n))

    return verify


def following(law, n, head):
    """Return the distribution of the token after a head, in blocks of a law, up to a factor."""
    longer = ((y[len(head)], mass) for y, mass in law.items() if y[: len(head)] == head)
    return nt.normalized(nt.as_row(nt.collect(longer), n))


def coupled(target, draft, length, coupling):
    """Its marginals, Verify_pi, and the steps from E[beta] to the bound of lemma 1."""
    pi = vb.Coupling(nt.some_coupling(draft.blocks(length), target.blocks(length), coupling))
    pi.joins(draft.blocks(length), target.blocks(length))
    found = outcomes(verifier_of(pi, target.n), target, draft, length)
    same_law(found.output_law(), target.blocks(length), "the law of (X^tau, Z^{L-tau})")
    mean, bound = pi.mean_common(), ZERO
    equal(found.mean_accepted(), mean, "E[tau] of Verify_pi, E[beta] of pi")
    betas = [(common_prefix(*two), mass) for two, mass in pi.items()]
    deep = (mass for depth in range(1, length + 1) for beta, mass in betas if beta >= depth)
    equal(total(deep), mean, "sum of Pr(beta >= l)")
    for x in prefixes_up_to(target.n, length):
        both = total(m for two, m in pi.items() if all(one[: len(x)] == x for one in two))
        least = min(draft.mass(x), target.mass(x))
        at_least(least, both, f"min of the marginals at {x}")
        bound += least
    return at_least(bound, mean, "the bound")


claim("block.sec3b", "Section 3, 'From coupling to draft verification'", COUPLINGS,
      r"For every coupling $\pi$, $Verify_\pi$, which accepts $\ell$ tokens with probability "
      r"$\Pr_\pi(\beta = \ell | X^L)$ and continues with the law of $Y^{\tau+1:L}$ given $X^L$ and "
      r"$\tau$, is lossless, with $E[\tau] = E_\pi[\beta]$.",
      printed=r"The numerator is printed $\sum_{\ell: \beta(X^L, Y^L) = \ell} \pi(X^L, Y^L)$; the "
      "sum is over $Y^L$.")(coupled)  # fmt: skip
claim("block.lem1b", "Proof of lemma 1, (a) and (b)", COUPLINGS,
      r"For every coupling, $E[\beta] = \sum_{\ell=1}^L \Pr(\beta \ge \ell)$ and $\Pr(X^\ell = "
      r"Y^\ell = x^\ell) \le \min(\Pr(X^\ell = x^\ell), \Pr(Y^\ell = x^\ell))$, so that the bound "
      "of lemma 1 holds.",
      printed=r"Sums over $\ell \le L$, which must begin at 1; (a) is said to hold for a 'positive "
      r"integer random variable', but $\beta$ can be 0 (the identity needs $\beta \ge 0$ only).")(
    coupled)  # fmt: skip


def occurs(search, over, measure):
    """Check that a measure is positive on some instances of a domain."""
    found = []
    outcome = search.over(over, lambda **one: found.append(measure(**one)) or found[-1])
    times = [each for each in found if each > 0]
    if not times:
        return Counterexample({"instances": len(found)}, "it never occurs")
    return replace(outcome, worst=min(times), scope=f"{outcome.scope}; occurs in {len(times)}")


def no_token_between(target, draft, length):
    """Return P(the draft has x_1 and x_3 that each, but never both, are in target blocks)."""
    blocks = target.blocks(length)
    first, third, both = ({tuple(y[i] for i in at) for y in blocks} for at in [(0,), (2,), (0, 2)])
    return total(mass for x, mass in draft.blocks(length).items()
                 if x[:1] in first and x[2:] in third and (x[0], x[2]) not in both)  # fmt: skip


claim("block.rem2a", "Remark 2, section 3", None,
      "With $L = 3$, accepting $X_1$ and $X_3$ but not $X_2$ may leave no $y$ with $M_b(X_1, y, "
      "X_3) > 0$, though $X_1$ and $X_3$ are possible at their places.",
      printed="'It is likely that there does not exist y'.")(
    lambda search: occurs(search, mixed(THIRD, THREE), no_token_between))  # fmt: skip


@claim("block.rem2b", "Remark 2, section 3, displayed equation", THREE)
def token_between(target, **_):
    r"""$M_b(Y_2 | Y_1, Y_3) = M_b(Y_1, Y_2, Y_3) / \sum_y M_b(Y_1, y, Y_3)$, and it depends on
    $M_b(Y_3 | Y_1, y)$ for all $y$ (of positive probability after $Y_1$)."""
    changes = []
    for first, last in product(range(target.n), repeat=2):
        joint = [target.mass((first, y, last)) for y in range(target.n)]
        if any(joint):
            found = between(target, first, last)
            nt.same(found, nt.normalized(joint), "M_b(Y_2 | Y_1, Y_3)")
            for y, mass in enumerate(target((first,))):
                if mass and found[y] < 1:  # y follows Y_1, and another can come between
                    row = target((first, y))
                    more = [m + (row[last] == 1 or i == last) for i, m in enumerate(row)]
                    other = lm.with_row(target, (first, y), nt.normalized(more))
                    change = nt.total_variation(between(other, first, last), found)
                    changes.append(above(change, ZERO, f"change with M_b(Y_3 | Y_1, {y})"))
    return min(changes, default=None)


def between(model, first, last):
    """Return M_b(. | Y_1, Y_3) from the next-token distributions."""
    chances = enumerate(model((first,)))
    return nt.normalized([mass * model((first, y))[last] for y, mass in chances])


@claim("block.sec3c", "Section 3, 'From draft verification to a coupling'", MODELS)
def verification_to_coupling(target, draft, length):
    r"""$(X^L, Y^L)$ with $Y^L = (X^\tau, Z^{L-\tau})$ of a lossless verifier is a coupling, (4) and
    (5), with $E[\beta] \ge E[\tau]$."""
    slack = []
    for verify in (ba.token_verify, ba.block_verify, ba.block_verify_one_token):
        found = outcomes(verify, target, draft, length)
        pi = found.coupling()
        pi.joins(draft.blocks(length), target.blocks(length))
        slack.append(at_least(pi.mean_common(), found.mean_accepted(), "E[beta] against E[tau]"))
    return min(slack)


@claim("block.sec3d", "Section 3, 'Challenges in solving the optimization problem'",
       given(*SMALL, note="n^L <= 81: finitely many programs"))  # fmt: skip
def program_size(n, length):
    """The linear program has $n^{2L}$ variables and $2 n^L$ equality constraints.
    Printed: $O(|X|^{2L})$ variables and $O(|X|^L)$ constraints."""
    row = (Fraction(1, n),) * n
    rows, columns = BlockProgram(lambda _: row, lambda _: row, length).build().shape
    equal(columns, n ** (2 * length), "variables")
    return equal(rows, 2 * n**length, "equality constraints")


@claim("block.thm1", "Theorem 1 and (6), section 3", MODELS, printed=CUT)
def theorem_1(target, draft, length):
    r"""BlockVerify (as corrected in block.alg3) is an optimal solution of (3): lossless, with
    $E[\tau] = E[\beta] = \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), M_b(x^\ell))$, which is
    the optimum."""
    laws = draft.blocks(length), target.blocks(length)
    found = outcomes(ba.block_verify, target, draft, length)
    pi, claimed = found.coupling(), vb.common_mass(target, draft, length)
    pi.joins(*laws)
    equal(found.mean_accepted(), claimed, "E[tau]")
    equal(pi.mean_common(), claimed, "E[beta]")
    cost = -vb.best_transport(*laws, lambda x, y: common_prefix(x, y) - length)
    equal(cost, length - claimed, "the least expected L - beta")
    return equal(vb.most_common(target, draft, length), claimed, "the optimum of (3)")


claim("block.sec3a", "Section 3, after (5)", MODELS,
      "Problem (3)-(5) is the optimal transport problem between $M_s^L$ and $M_b^L$ with cost $L - "
      r"\beta$: its least cost is $L$ minus the optimum.")(theorem_1)  # fmt: skip
claim("block.thm1b", "Section 3, before theorem 1; abstract", MODELS,
      "BlockVerify (as corrected in block.alg3) needs no additional forward passes: it uses both "
      "models after prefixes of $X^L$ only, at most $L + 1$ each.")(
    partial(inputs, first=1))  # fmt: skip
claim("block.lem1", "Lemma 1, section 3", MODELS,
      r"$\max_\pi E_\pi[\beta] \le \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), M_b(x^\ell))$.",
      printed=CUT)(
    lambda **one: at_least(vb.common_mass(**one), vb.most_common(**one), "the bound"))  # fmt: skip
