"""Section 2: speculative decoding and token-level verification."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

import otspec
from otspec.arithmetic import Number
from otspec.distributions import as_distribution
from validation.block.checks import OnModels, over_models
from validation.verified_blocks import outcomes, same_law
from validation.block.decoding import SpecDec
from validation.models import (
    SHORT,
    LanguageModel,
    Prefix,
    Recording,
    prefixes_up_to,
)
from validation.block_algorithms import (
    Verifier,
    block_verify,
    token_verify,
)
from validation.claim import Claim, Corrected, at_least, equal
from validation.notation import ONE, ZERO, collect

END = 0
"""The token E.O.S. where there is one."""
SOME_TOKENS = 3
"""How many decoded tokens are compared."""
LOSSLESS = (token_verify, block_verify)


def ending(model: LanguageModel) -> LanguageModel:
    """Return the model after whose token 0, E.O.S., all tokens are E.O.S."""
    end = (ONE, *(ZERO,) * (model.n - 1))
    return LanguageModel(lambda prefix: end if END in prefix else model(prefix), model.n)


def up_to_end(sequence: Prefix) -> Prefix:
    """Return a sequence up to its first E.O.S."""
    return sequence[: sequence.index(END) + 1] if END in sequence else sequence


def _cut(law: Mapping[Prefix, Fraction]) -> dict[Prefix, Fraction]:
    return collect((up_to_end(sequence), mass) for sequence, mass in law.items())


def _appends(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for step in SpecDec(token_verify, ending(target), ending(draft), length, END).iteration():
        equal(len(step.tokens), step.accepted + 1, "tokens appended")
    return ZERO


def _appends_unless_ended(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for step in SpecDec(token_verify, ending(target), ending(draft), length, END).iteration():
        free = END not in step.tokens[: step.accepted]
        equal(len(step.tokens), step.accepted + free, "tokens appended")
    return ZERO


def _decodes_the_target(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    target, draft = ending(target), ending(draft)
    claimed = _cut(target.blocks(SOME_TOKENS))
    for verify in LOSSLESS:
        law = SpecDec(verify, target, draft, length, END).law(SOME_TOKENS)
        same_law(_cut(law), claimed, "decoded up to E.O.S. is")
    return ZERO


def _calls(target: LanguageModel, draft: LanguageModel, length: int, *, stop: bool) -> Number:
    slack: Number = Fraction(SOME_TOKENS)
    algorithm = SpecDec(token_verify, ending(target), ending(draft), length, END, stop)
    for sequence, calls in algorithm.decode(SOME_TOKENS):
        tokens = len(up_to_end(sequence))
        slack = min(slack, at_least(tokens, calls, f"in {calls} iterations tokens up to E.O.S."))
    return slack


def _token_verify_is_lossless(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    law = outcomes(token_verify, target, draft, length).output_law()
    same_law(law, target.blocks(length), "the law of Y^L")
    decoded = SpecDec(token_verify, target, draft, length).law(SOME_TOKENS)
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
        return ZERO

    return slack


def _asked(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, block: Prefix
) -> set[Prefix]:
    """Return the prefixes after which the large model is asked, up to the free token Z."""
    asked: set[Prefix] = set()

    for branch in verify(Recording(target, asked), draft, block):
        if branch.mass:
            branch.following(())
    return asked


def _accepts_each_token_best(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for prefix in prefixes_up_to(target.n, length - 1, 0):
        one, other = target.after(prefix), draft.after(prefix)
        accepted = outcomes(token_verify, one, other, 1).mean_accepted()
        law = otspec.IID(as_distribution(other(())), k=1)
        equal(accepted, otspec.optimal_acceptance(law, one(())).acceptance, "acceptance")
    return ZERO


def _block_accepts_more(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    tokens = outcomes(token_verify, target, draft, length).mean_accepted()
    return at_least(outcomes(block_verify, target, draft, length).mean_accepted(), tokens, "E[tau]")


_DECODED = SHORT
_NOTE = f", {SOME_TOKENS} tokens decoded"

CLAIMS = (
    Claim(
        "block.alg1",
        "Algorithm 1, section 2; section 4.1",
        "SpecDec with a lossless verifier (TokenVerify, or BlockVerify as corrected in "
        "block.alg3) returns a sequence of law $M_b^*$, up to the first E.O.S.",
        over_models(_decodes_the_target, _DECODED, _NOTE),
        printed="What stands after the first E.O.S. is E.O.S. by convention (footnote 2), and "
        r"the sequence that is returned can hold several: $X^\tau$ is returned whole, and an "
        "iteration follows where $Z$ is E.O.S.",
    ),
    Claim(
        "block.alg1b",
        "Algorithm 1, lines 4 and 7-9, section 2",
        "SpecDec with TokenVerify never calls the large model more often than it returns tokens "
        "up to E.O.S., which is how often autoregressive sampling calls it.",
        over_models(partial(_calls, stop=False), _DECODED, _NOTE),
        printed="Section 2 introduces the algorithm 'to reduce the number of serial calls'. Line "
        r"4 tests only whether E.O.S. is in $X^\tau$; line 9 goes on also where the free token "
        "$Z$ of line 7 is E.O.S.",
        corrected=Corrected(
            "It returns also where the free token $Z$ is E.O.S.; then it never calls the large "
            "model more often than it returns tokens.",
            over_models(partial(_calls, stop=True), _DECODED, _NOTE),
        ),
    ),
    Claim(
        "block.sec2a",
        "Section 2, after algorithm 1",
        r"One iteration of algorithm 1 appends $\tau + 1$ tokens, the accepted $X^\tau$ and the "
        "free token $Z$.",
        over_models(_appends, _DECODED),
        corrected=Corrected(
            r"It appends $\tau + 1$ tokens unless E.O.S. is among the accepted ones; then it "
            r"appends $\tau$.",
            over_models(_appends_unless_ended, _DECODED),
        ),
    ),
    Claim(
        "block.alg2",
        "Algorithm 2 and (1), section 2",
        r"TokenVerify is lossless: $(X^\tau, Z^{L - \tau}) \sim M_b^L$, and SpecDec with it "
        "decodes with the law of the large model.",
        over_models(_token_verify_is_lossless, note=_NOTE),
    ),
    Claim(
        "block.alg2b",
        "Algorithms 2 and 3, input",
        r"The scores that the algorithms take as input, $M_b(\cdot | X^{i-1})$ for $i = 0, …, L$, "
        "are all that they use of the large model.",
        over_models(_inputs(0)),
        printed=r"Input: scores $M_s(\cdot | X^{i-1}), M_b(\cdot | X^{i-1})$, $\forall i = 0, …, "
        r"L$. There is no $X^{-1}$, and $M_b(\cdot | X^L)$ is not among them; for $\tau = L$ line "
        "11 of algorithm 2 returns it.",
        corrected=Corrected(
            r"They use $M_b(\cdot | X^{i-1})$ for $i = 1, …, L + 1$, as in section 2, 'Parallel "
            "scoring', and line 2 of algorithm 1.",
            over_models(_inputs(1)),
        ),
    ),
    Claim(
        "block.sec2b",
        "Section 2, after algorithm 2",
        "TokenVerify maximises the probability that each draft token is accepted: after every "
        "prefix it is the optimum for one draft.",
        over_models(_accepts_each_token_best),
    ),
    Claim(
        "block.sec2c",
        "Section 2, end; abstract",
        "BlockVerify accepts at least as many draft tokens of a block as TokenVerify in "
        r"expectation: $E[\tau]$ of algorithm 3 is at least that of algorithm 2.",
        over_models(_block_accepts_more),
        printed="'outperforms TokenVerify in terms of the expected number of accepted tokens'; "
        "block.sec3.1b says when strictly, block.sec5 what becomes of it over several blocks.",
    ),
)
