"""Section 2: speculative decoding (algorithm 1) and token-level verification (algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from validation import models as lm
from validation import verified_blocks as vb
from validation.block_algorithms import Verifier, block_verify, token_verify
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.models import MODELS, SHORT, Prefix, models, prefixes_up_to
from validation.notation import ONE, ZERO, collect, iid, total
from validation.oracles import flow

END = 0
"""The token E.O.S. where there is one."""
BOTH = (token_verify, block_verify)
TOKENS = 3
"""How many decoded tokens are compared."""
NOTE = f"{TOKENS} tokens decoded"
DECODED = models(SHORT, note=NOTE)


class Step(NamedTuple):
    """One way through one iteration: its mass, tau, and (X^tau, Z), or X^tau where it returns."""

    mass: Fraction
    accepted: int
    tokens: Prefix
    following: SpecDec | None
    """The algorithm with the models M_b' and M_s' of the next iteration; None where it returns."""


@dataclass(frozen=True)
class SpecDec:
    """Algorithm 1 with a verifier, two models, L, and E.O.S. if there is one."""

    verify: Verifier
    target: lm.LanguageModel
    draft: lm.LanguageModel
    length: int
    end: int | None = None
    stop_at_free_token: bool = False
    """Whether it returns also where the free token Z is E.O.S.; as printed it does not."""

    def iteration(self):
        """Yield all ways through lines 1 to 9.

        In all verifiers that are run here M_{b,next} depends on X^L only through X^tau, so drafts
        that agree in what is accepted are one branch."""
        found = [(block[: branch.accepted], mass * branch.mass, branch.following)
                 for block, mass in self.draft.blocks(self.length).items()
                 for branch in self.verify(self.target, self.draft, block)]  # fmt: skip
        next_model = {head: following for head, _, following in found}
        for head, mass in collect((head, mass) for head, mass, _ in found).items():
            if self.end in head:  # lines 4 and 5
                yield Step(mass, len(head), head, None)
                continue
            for token, chance in enumerate(next_model[head](())):  # line 7
                if chance:
                    tokens = (*head, token)
                    models = next_model[head].after((token,)), self.draft.after(tokens)  # line 8
                    ends = self.stop_at_free_token and token == self.end
                    following = None if ends else replace(self, target=models[0], draft=models[1])
                    yield Step(mass * chance, len(head), tokens, following)

    def decode(self, tokens):
        """Return the probabilities of (sequence, number of iterations), cut after some tokens."""
        nothing: dict[tuple[Prefix, int], Fraction] = {((), 0): ONE}
        if tokens <= 0:
            return nothing
        return collect(
            (((step.tokens + more)[:tokens], calls + 1), step.mass * mass)
            for step in self.iteration()
            for left in [tokens - len(step.tokens)]
            for (more, calls), mass in (
                step.following.decode(left) if step.following else nothing).items()  # line 9
        )  # fmt: skip

    def law(self, tokens):
        """Return the law of the first tokens that are decoded."""
        return collect((sequence, mass) for (sequence, _), mass in self.decode(tokens).items())

    def mean_tokens(self, iterations):
        """Return the expected number of tokens that some iterations decode, without an end."""
        return total(
            step.mass * (len(step.tokens) + step.following.mean_tokens(iterations - 1))
            for step in (self.iteration() if iterations else ())
        )


def decodes(target, draft, length, verify=block_verify):
    """Check that what is decoded over several iterations has the law of the large model."""
    law = SpecDec(verify, target, draft, length).law(TOKENS)
    return vb.same_law(law, target.blocks(TOKENS), "the law of what is decoded")


def ending(model):
    """Return the model after whose token 0, E.O.S., all tokens are E.O.S."""
    end = (ONE, *(ZERO,) * (model.n - 1))
    return lm.LanguageModel(lambda prefix: end if END in prefix else model(prefix), model.n)


def up_to_end(sequence):
    """Return a sequence up to its first E.O.S."""
    return sequence[: sequence.index(END) + 1] if END in sequence else sequence


def with_end(verify, target, draft, length, stop=False):
    """Return algorithm 1 with models that end."""
    return SpecDec(verify, ending(target), ending(draft), length, END, stop)


@claim("block.alg1", "Algorithm 1, section 2; section 4.1", DECODED)
def algorithm_1(target, draft, length):
    r"""SpecDec with a lossless verifier (TokenVerify, or BlockVerify as corrected in block.alg3)
    returns a sequence of law $M_b^*$, up to the first E.O.S.
    Printed: What stands after the first E.O.S. is E.O.S. by convention (footnote 2), and the
    sequence that is returned can hold several: $X^\tau$ is returned whole, and an iteration follows
    where $Z$ is E.O.S."""
    laws = [with_end(verify, target, draft, length).law(TOKENS) for verify in BOTH]
    wanted, *found = (collect((up_to_end(sequence), mass) for sequence, mass in law.items())
                      for law in (ending(target).blocks(TOKENS), *laws))  # fmt: skip
    return max(vb.same_law(law, wanted, "decoded up to E.O.S. is") for law in found)


@corrected("block.alg1b", Severity.MISPRINT, stop=True)
@claim("block.alg1b", "Algorithm 1, lines 4 and 7-9, section 2", DECODED)
def calls(target, draft, length, stop=False):
    r"""SpecDec with TokenVerify never calls the large model more often than it returns tokens up to
    E.O.S.
    Printed: Section 2 introduces the algorithm 'to reduce the number of serial calls'. Line 4 tests
    only whether E.O.S. is in $X^\tau$; line 9 goes on also where the free token $Z$ of line 7 is
    E.O.S.
    Corrected: It returns also where the free token $Z$ is E.O.S.; then it never calls the large
    model more often than it returns tokens."""
    return min(
        at_least(len(up_to_end(sequence)), number, f"in {number} iterations tokens up to E.O.S.")
        for sequence, number in with_end(token_verify, target, draft, length, stop).decode(TOKENS)
    )


@corrected("block.sec2a", Severity.DEGENERATE, always_free=False)
@claim("block.sec2a", "Section 2, after algorithm 1", models(SHORT))
def appended(target, draft, length, always_free=True):
    r"""One iteration of algorithm 1 appends $\tau + 1$ tokens, the accepted $X^\tau$ and the free
    token $Z$.
    Corrected: One iteration appends $\tau + 1$ tokens unless E.O.S. is among the accepted ones;
    then it appends $\tau$."""
    for step in with_end(token_verify, target, draft, length).iteration():
        free = always_free or END not in step.tokens[: step.accepted]
        equal(len(step.tokens), step.accepted + free, "tokens appended")
    return ZERO


@claim("block.alg2", "Algorithm 2 and (1), section 2", models(note=NOTE))
def algorithm_2(target, draft, length):
    r"""TokenVerify is lossless: $(X^\tau, Z^{L - \tau}) \sim M_b^L$, and SpecDec with it decodes
    with the law of the large model."""
    vb.lossless(target, draft, length, token_verify)
    return decodes(target, draft, length, token_verify)


@corrected("block.alg2b", Severity.MISPRINT, first=1)
@claim("block.alg2b", "Algorithms 2 and 3, input", MODELS)
def inputs(target, draft, length, first=0):
    r"""The scores that the algorithms take as input, $M_b(\cdot | X^{i-1})$ for $i = 0, …, L$, are
    all that they use of the large model.
    Printed: Input: scores $M_s(\cdot | X^{i-1}), M_b(\cdot | X^{i-1})$, $\forall i = 0, …, L$.
    There is no $X^{-1}$, and $M_b(\cdot | X^L)$ is not among them; for $\tau = L$ line 11 of
    algorithm 2 returns it.
    Corrected: They use $M_b(\cdot | X^{i-1})$ for $i = 1, …, L + 1$, as in section 2, 'Parallel
    scoring', and line 2 of algorithm 1."""
    for verify, block in product(BOTH, draft.blocks(length)):
        listed = {block[: i - 1] for i in range(first, length + first + 1) if i}
        asked = set()
        for branch in verify(lm.Recording(target, asked), lm.Recording(draft, asked), block):
            branch.following(())  # up to the law of the free token
        unlisted = tuple(sorted(asked - listed))
        equal(unlisted, (), f"draft {block}: scores that are used but not listed, after")
    return ZERO


@claim("block.sec2b", "Section 2, after algorithm 2", MODELS)
def each_token_is_accepted_best(target, draft, length):
    """TokenVerify maximizes the probability that each draft token is accepted: after every prefix
    it is the optimum for one draft."""
    for x in prefixes_up_to(target.n, length - 1, 0):
        accepted = vb.outcomes(token_verify, target.after(x), draft.after(x), 1).mean_accepted()
        equal(accepted, flow(iid(draft(x), 1), target(x)), f"acceptance after {x}")
    return ZERO


claim("block.sec2c", "Section 2, end; abstract", MODELS,
      r"BlockVerify accepts at least as many draft tokens of a block as TokenVerify in "
      r"expectation: $E[\tau]$ of algorithm 3 is at least that of algorithm 2.",
      printed="'outperforms TokenVerify in terms of the expected number of accepted tokens'; "
      "block.sec3.1b says when strictly, block.sec5 what becomes of it over several blocks.")(
    lambda **one: at_least(vb.outcomes(block_verify, **one).mean_accepted(),
                           vb.outcomes(token_verify, **one).mean_accepted(), "E[tau]"))  # fmt: skip
