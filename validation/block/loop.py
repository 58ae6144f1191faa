"""Section 4.1: speculative decoding with block verification, over several iterations."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.block.checking import OnModels, every_pair
from validation.block.couplings import same_law
from validation.block.decoding import decoded_after, decoded_law, iteration
from validation.block.models import LanguageModel, Prefix, prefixes
from validation.block.printed import (
    Verifier,
    block_verify,
    block_verify_one_token,
    remaining,
    residual,
    token_verify,
)
from validation.claim import Claim, Corrected, at_least, equal
from validation.instances import Exact

LOOPS = ((2, 1), (2, 2))
"""Tokens and draft lengths of what is decoded over several iterations."""
TWO = ((2, 2),)
SOME_TOKENS = 3


def decodes(verify: Verifier) -> OnModels:
    """Return the check that algorithm 1 decodes with the law of the large model."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        law = decoded_law(verify, target, draft, length, SOME_TOKENS)
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
            other = _with_row(draft, x, (*row[1:], row[0]))
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
            parts = [max(large * one - small * other, Fraction(0)) for one, other in rows]
            total = sum(parts)
            given = tuple(part / total if total else part for part in parts)
            joint = [
                max(target.mass((*x, token)) - draft.mass((*x, token)), Fraction(0))
                for token in range(target.n)
            ]
            if total:
                claimed = tuple(mass / sum(joint) for mass in joint)
                equal(_shown(given), _shown(claimed), f"the residual after {x}")
    return Fraction(0)


def _with_row(model: LanguageModel, prefix: Prefix, row: Exact) -> LanguageModel:
    return LanguageModel(lambda x: row if x == prefix else model(x), model.n)


def _shown(row: Exact) -> str:
    return ", ".join(map(str, row))


def _from_large_model(target: LanguageModel, draft: LanguageModel, length: int) -> Number | None:
    """Compare the residuals of the second iteration with (10) of the primary models."""
    found = None
    for step in iteration(block_verify, target, draft, length):
        if step.models is None or step.accepted + 1 >= length:
            continue  # the next target is the large model again
        for second in iteration(block_verify, *step.models, length):
            x = second.tokens[: second.accepted]
            if second.accepted == length:
                continue
            used = residual(*step.models, x)
            primary = residual(target, draft, step.tokens + x)
            found = equal(_shown(primary), _shown(used), f"(10) after {step.tokens + x}")
    return found


def _asks_only_what_is_scored(
    target: LanguageModel, draft: LanguageModel, length: int
) -> Number:
    """Check what two iterations ask of the models against what is decoded and drafted."""
    for block in draft.blocks(length):
        asked: set[Prefix] = set()
        large, small = (_recording(model, asked) for model in (target, draft))
        for branch in block_verify(large, small, block):
            head = block[: branch.accepted]
            for token, chance in enumerate(branch.following(())):
                if not chance:
                    continue
                tokens = (*head, token)
                models = branch.following.after((token,)), small.after(tokens)
                for second in models[1].blocks(length):
                    asked.clear()
                    _follow(models, second)
                    scored = {(tokens + second)[:i] for i in range(len(tokens) + length + 1)}
                    others = tuple(sorted(asked - scored))
                    equal(others, (), f"{tokens + second}: prefixes that are asked for besides")
    return Fraction(0)


def _follow(models: tuple[LanguageModel, LanguageModel], block: Prefix) -> None:
    """Verify one block and look at the law of the next token."""
    for branch in block_verify(*models, block):
        branch.following(())


def _recording(model: LanguageModel, asked: set[Prefix]) -> LanguageModel:
    class Recording(LanguageModel):
        """A model that remembers what it was asked, also when it knows the answer."""

        def __call__(self, prefix: Prefix) -> Exact:
            asked.add(prefix)
            return model(prefix)

    return Recording(model, model.n)


def _more_tokens(verify: Verifier, iterations: tuple[int, ...]) -> OnModels:
    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        slacks = []
        for number in iterations:
            found = decoded_after(verify, target, draft, length, number)
            tokens = decoded_after(token_verify, target, draft, length, number)
            what = f"expected tokens of {number} iterations, against TokenVerify"
            slacks.append(at_least(found, tokens, what))
        return min(slacks)

    return slack
