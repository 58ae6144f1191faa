"""Tokens per call in the long run (Theory, 20 and 21): the best rule found, and an upper bound."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, Number, as_integer, zeros
from otspec.blocks.block_verification import BlockVerification
from otspec.blocks.handing_over import HandOverPlan, HandOverRule, Ways
from otspec.models.base import Model, Prefix
from otspec.models.joint_contexts import GivenBeginning, JointContexts, filled_up
from otspec.programs import OneTokenProgram, Residual, ResidualsProgram, WindowProgram
from otspec.solvers import Solution, solve

MOST_REACH = 20  # most tokens that a residual reaches
GRAIN = 64
"""What the shares of texts in the residuals that the bound suggests are rounded to: its parts."""
NEVER = 1e-9  # what counts as 0 of the shares that a solver finds


@dataclass(frozen=True, eq=False)
class LongRun(Frozen):
    """Tokens per call of the target in the long run: of a text, or of texts that end, one by one.

    Parameters
    ----------
    one_token : float or Fraction
        Of the best rule that corrects one token only.
    rate : float or Fraction
        Of the best rule over the residuals that were tried, :attr:`policy`.
    bound : float or Fraction
        No lossless rule is above, whatever it hands over.
    policy : HandOverRule
        The rule, at the beginning of a text.
    """

    one_token: Number
    rate: Number
    bound: Number
    policy: HandOverRule

    @property
    def gap(self) -> Number:
        """How far the rule may be from the best."""
        return self.bound - self.rate


def long_run(draft: Model, target: Model, length: int, *, reach: int = 1, past: int = 4) -> LongRun:
    """Bound the tokens per call of all lossless rules in the long run, from both sides.

    Parameters
    ----------
    draft, target : callable
        Language models that remember finitely many tokens; small alphabets only. Where the
        target's texts end, one text follows another: tokens of all texts per call of all texts.
    length : int
        L, the tokens of a block.
    reach : int
        How many tokens the residuals reach that the rule may hand over.
    past : int
        How many of the last tokens the bound tells apart; more make it lower.

    Raises
    ------
    ValueError
        Models, numbers or programs that cannot be used; or a beginning of the text from which the
        rule does not come to where it is best.
    """
    windows = WindowProgram(draft, target, length, past)
    draft, target, length = windows.draft, windows.target, windows.length
    reach = as_integer(reach, "reach", 0, MOST_REACH, otherwise="use residuals that end earlier")
    found = solve(windows.build().as_floats(), "highs")
    residuals = _residuals(draft, target, reach, _handed_in_windows(windows, found, reach))
    program = ResidualsProgram(draft, target, length, residuals)
    solution = solve(program.build())
    return LongRun(
        target.number(solve(OneTokenProgram(draft, target, length).build()).value),
        target.number(solution.value),
        windows.certified(found),
        _plan(program, solution).rule({0: target.number(1)}),
    )


def _residuals(draft: Model, target: Model, reach: int, more: Iterator[Residual]) -> list[Residual]:
    """Return residuals of each context, first of all the target after it."""
    found: list[Residual] = []
    texts = JointContexts(draft, target).texts
    for own in range(reach + 1):
        found += [
            Residual(text, _law(draft.after(text), target, text, own, reach)) for text in texts
        ]
    kept: dict[Any, Residual] = {}
    for residual in (*found, *more):
        wanted = _law(target.after(residual.text), target, residual.text, 0, reach)
        if not (residual.law[wanted == 0] > 0).any():  # what is never said is never handed over
            kept.setdefault((residual.text, *residual.law.ravel().tolist()), residual)
    return list(kept.values())


def _law(first: Model, target: Model, start: Prefix, own: int, reach: int) -> Array:
    """Return the law of the tokens after a start, of which some come from a model of their own."""
    law = zeros((target.n,) * reach, like=target(()))
    for head, mass in first.texts(own, target.after(start).ended):
        for text, chance in target.after(start + head).texts(reach - own):
            law[filled_up(head + text, reach)] += mass * chance
    return law


def _handed_in_windows(windows: WindowProgram, found: Solution, reach: int) -> Iterator[Residual]:
    """Yield what the bound's program hands over after each past, roughly: its first tokens."""
    target, plain = windows.target, JointContexts(windows.draft, windows.target)
    for own in range(1, min(reach, windows.length + 1) + 1):
        laws = np.zeros((len(windows.contexts.texts), *(target.n,) * own))
        for (past, text), share in zip(windows.windows, found.primal, strict=False):
            laws[past, *filled_up(text, own)[:own]] += share
        for start, law in zip(windows.contexts.texts, laws, strict=True):
            if law.sum() > NEVER:
                text = plain.texts[plain.after(0, start)]
                first = GivenBeginning(target.after(text), _rounded(law, target))
                yield Residual(text, _law(first, target, text, own, reach))


def _rounded(law: Array, model: Model) -> Array:
    """Return a law in small fractions, in a model's arithmetic."""
    rounded = zeros(law.shape, like=model(()))
    rounded[...] = np.rint(law / law.sum() * GRAIN).astype(int)
    return rounded / model.number(rounded.sum())


def _plan(program: ResidualsProgram, solution: Solution) -> HandOverPlan:
    """Return the plan of a solution; where it never comes, published block verification."""
    found: list[dict[tuple[Prefix, int], Any]] = [{} for _ in program.residuals]
    for end, column in program.ends.items():
        if solution.primal[column] > 0:
            found[end.begun][end.decoded, end.handed] = solution.primal[column]
    best = {number for number, ways in enumerate(found) if ways}
    ends: list[Ways] = [
        _scaled(ways) if ways else _published(program, number) for number, ways in enumerate(found)
    ]
    _check_that_it_comes(ends, best)
    shares = solution.primal[: len(found)].tolist()
    models = program.draft, program.target
    return HandOverPlan(*models, program.length, program.residuals, ends, shares)


def _scaled(ways: Ways) -> Ways:
    total: Any = sum(ways.values())
    return {way: share / total for way, share in ways.items()}


def _published(program: ResidualsProgram, number: int) -> Ways:
    """Return how a block of published verification ends; the targets are the first residuals."""
    start = program.residuals[number].text
    models = program.draft.after(start), program.models[number]
    ways: defaultdict[tuple[Prefix, int], Any] = defaultdict(int)
    for outcome in BlockVerification(*models, program.length).outcomes():
        over = models[1].ended(outcome.accepted)  # then no token follows
        for text, chance in outcome.following.texts(0 if over else 1):
            decoded = outcome.accepted + text
            ways[decoded, program.contexts.after(0, start + decoded)] += outcome.mass * chance
    return dict(ways)


def _check_that_it_comes(ends: Sequence[Ways], best: set[int]) -> None:
    """Refuse a plan of which the blocks that begin with the target may miss the best ones."""
    leads = [{handed for _, handed in ways} for ways in ends]
    coming, grown = set[int](), set(best)
    while grown != coming:
        coming = grown
        grown = coming | {number for number, after in enumerate(leads) if after & coming}
    reached, grown = set[int](), {0}
    while grown != reached:
        reached = grown
        grown = reached.union(*(leads[number] for number in reached))
    if not reached <= coming:
        raise ValueError(
            "target has texts from which the best rule is never reached: use a target each of "
            "whose contexts leads to every other"
        )
