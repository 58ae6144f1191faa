"""Section 2: speculative decoding and token-level verification."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

import otspec
from otspec.arithmetic import Number
from otspec.distributions import as_distribution
from validation.block.checking import OnModels, every_pair
from validation.block.couplings import mean_accepted, outcomes, output_law, same_law
from validation.block.decoding import decode, decoded_law, iteration
from validation.block.models import ONE, SHORT, LanguageModel, Prefix, prefixes
from validation.block.printed import (
    Verifier,
    block_verify,
    token_verify,
)
from validation.claim import Claim, Corrected, at_least, equal

END = 0
"""The token E.O.S. where there is one."""
SOME_TOKENS = 3
"""How many decoded tokens are compared."""
LOSSLESS = (token_verify, block_verify)


def ending(model: LanguageModel) -> LanguageModel:
    """Return the model after whose token 0, E.O.S., all tokens are E.O.S."""
    end = (ONE, *(Fraction(0),) * (model.n - 1))
    return LanguageModel(lambda prefix: end if END in prefix else model(prefix), model.n)


def up_to_end(sequence: Prefix) -> Prefix:
    """Return a sequence up to its first E.O.S."""
    return sequence[: sequence.index(END) + 1] if END in sequence else sequence


def _cut(law: Mapping[Prefix, Fraction]) -> dict[Prefix, Fraction]:
    cut: dict[Prefix, Fraction] = {}
    for sequence, mass in law.items():
        key = up_to_end(sequence)
        cut[key] = cut.get(key, Fraction(0)) + mass
    return cut


def _appends(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for step in iteration(token_verify, ending(target), ending(draft), length, END):
        equal(len(step.tokens), step.accepted + 1, "tokens appended")
    return Fraction(0)


def _appends_unless_ended(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for step in iteration(token_verify, ending(target), ending(draft), length, END):
        free = END not in step.tokens[: step.accepted]
        equal(len(step.tokens), step.accepted + free, "tokens appended")
    return Fraction(0)


def _decodes_the_target(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    target, draft = ending(target), ending(draft)
    claimed = _cut(target.blocks(SOME_TOKENS))
    for verify in LOSSLESS:
        law: dict[Prefix, Fraction] = {}
        for (sequence, _), mass in decode(verify, target, draft, length, SOME_TOKENS, END).items():
            law[sequence] = law.get(sequence, Fraction(0)) + mass
        same_law(_cut(law), claimed, "decoded up to E.O.S. is")
    return Fraction(0)


def _calls(target: LanguageModel, draft: LanguageModel, length: int, *, stop: bool) -> Number:
    slack: Number = Fraction(SOME_TOKENS)
    for sequence, calls in decode(
        token_verify,
        ending(target),
        ending(draft),
        length,
        SOME_TOKENS,
        END,
        stop_at_free_token=stop,
    ):
        tokens = len(up_to_end(sequence))
        slack = min(slack, at_least(tokens, calls, f"in {calls} iterations tokens up to E.O.S."))
    return slack


def _token_verify_is_lossless(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    law = output_law(outcomes(token_verify, target, draft, length))
    same_law(law, target.blocks(length), "the law of Y^L")
    decoded = decoded_law(token_verify, target, draft, length, SOME_TOKENS)
    return same_law(decoded, target.blocks(SOME_TOKENS), "the law of what is decoded")


def _inputs(first: int) -> OnModels:
    """Return the check that M_b(. | X^{i-1}), i = first.., last + 1, are all that is asked for."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        for verify in (token_verify, block_verify):
            for block in draft.blocks(length):
                asked = _asked(verify, target, draft, block)
                listed = {block[: i - 1] for i in range(max(first, 1), length + first + 1)}
                unlisted = tuple(sorted(asked - listed))
                equal(unlisted, (), f"draft {block}: scores that are used but not listed, after")
        return Fraction(0)

    return slack


def _asked(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, block: Prefix
) -> set[Prefix]:
    """Return the prefixes after which the large model is asked, up to the free token Z."""
    asked: set[Prefix] = set()

    def recorded(prefix: Prefix) -> tuple[Fraction, ...]:
        asked.add(prefix)
        return target(prefix)

    for branch in verify(LanguageModel(recorded, target.n), draft, block):
        if branch.mass:
            branch.following(())
    return asked


def _accepts_each_token_best(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for depth in range(length):
        for prefix in prefixes(target.n, depth):
            one, other = target.after(prefix), draft.after(prefix)
            accepted = mean_accepted(outcomes(token_verify, one, other, 1))
            law = otspec.IID(as_distribution(other(())), k=1)
            equal(accepted, otspec.optimal_acceptance(law, one(())).acceptance, "acceptance")
    return Fraction(0)


def _block_accepts_more(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    tokens = mean_accepted(outcomes(token_verify, target, draft, length))
    return at_least(mean_accepted(outcomes(block_verify, target, draft, length)), tokens, "E[tau]")


_DECODED = SHORT
_NOTE = f", {SOME_TOKENS} tokens decoded"

CLAIMS = (
    Claim(
        id="block.alg1",
        where="Algorithm 1, section 2; section 4.1",
        statement=(
            "SpecDec with a lossless verifier (TokenVerify, or BlockVerify as corrected in "
            "block.alg3) returns a sequence of law $M_b^*$, up to the first E.O.S."
        ),
        printed=(
            "What stands after the first E.O.S. is E.O.S. by convention (footnote 2), and the "
            "sequence that is returned can hold several: $X^\\tau$ is returned whole, and an "
            "iteration follows where $Z$ is E.O.S."
        ),
        check=every_pair(_decodes_the_target, _DECODED, _NOTE),
    ),
    Claim(
        id="block.alg1b",
        where="Algorithm 1, lines 4 and 7-9, section 2",
        statement=(
            "SpecDec with TokenVerify never calls the large model more often than it returns "
            "tokens up to E.O.S., which is how often autoregressive sampling calls it."
        ),
        printed=(
            "Section 2 introduces the algorithm 'to reduce the number of serial calls'. Line 4 "
            "tests only whether E.O.S. is in $X^\\tau$; line 9 goes on also where the free token "
            "$Z$ of line 7 is E.O.S."
        ),
        check=every_pair(partial(_calls, stop=False), _DECODED, _NOTE),
        corrected=Corrected(
            "It returns also where the free token $Z$ is E.O.S.; then it never calls the large "
            "model more often than it returns tokens.",
            every_pair(partial(_calls, stop=True), _DECODED, _NOTE),
        ),
    ),
    Claim(
        id="block.sec2a",
        where="Section 2, after algorithm 1",
        statement=(
            "One iteration of algorithm 1 appends $\\tau + 1$ tokens, the accepted $X^\\tau$ and "
            "the free token $Z$."
        ),
        check=every_pair(_appends, _DECODED),
        corrected=Corrected(
            "It appends $\\tau + 1$ tokens unless E.O.S. is among the accepted ones; then it "
            "appends $\\tau$.",
            every_pair(_appends_unless_ended, _DECODED),
        ),
    ),
    Claim(
        id="block.alg2",
        where="Algorithm 2 and (1), section 2",
        statement=(
            "TokenVerify is lossless: $(X^\\tau, Z^{L - \\tau}) \\sim M_b^L$, and SpecDec with it "
            "decodes with the law of the large model."
        ),
        check=every_pair(_token_verify_is_lossless, note=_NOTE),
    ),
    Claim(
        id="block.alg2b",
        where="Algorithms 2 and 3, input",
        statement=(
            "The scores that the algorithms take as input, $M_b(\\cdot | X^{i-1})$ for $i = 0, …, "
            "L$, are all that they use of the large model."
        ),
        printed=(
            "Input: scores $M_s(\\cdot | X^{i-1}), M_b(\\cdot | X^{i-1})$, $\\forall i = 0, …, L$. "
            "There is no $X^{-1}$, and $M_b(\\cdot | X^L)$ is not among them; for $\\tau = L$ line "
            "11 of algorithm 2 returns it."
        ),
        check=every_pair(_inputs(0)),
        corrected=Corrected(
            "They use $M_b(\\cdot | X^{i-1})$ for $i = 1, …, L + 1$, as in section 2, 'Parallel "
            "scoring', and line 2 of algorithm 1.",
            every_pair(_inputs(1)),
        ),
    ),
    Claim(
        id="block.sec2b",
        where="Section 2, after algorithm 2",
        statement=(
            "TokenVerify maximises the probability that each draft token is accepted: after every "
            "prefix it is the optimum for one draft."
        ),
        check=every_pair(_accepts_each_token_best),
    ),
    Claim(
        id="block.sec2c",
        where="Section 2, end; abstract",
        statement=(
            "BlockVerify accepts at least as many draft tokens of a block as TokenVerify in "
            "expectation: $E[\\tau]$ of algorithm 3 is at least that of algorithm 2."
        ),
        printed=(
            "'outperforms TokenVerify in terms of the expected number of accepted tokens'; "
            "block.sec3.1b says when strictly, block.sec5 what becomes of it over several blocks."
        ),
        check=every_pair(_block_accepts_more),
    ),
)
