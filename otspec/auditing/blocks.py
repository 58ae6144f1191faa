"""Is a rule for drafted blocks lossless, and how far is it from the best coupling: exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arguments import as_flag, as_instance, as_real
from otspec.arithmetic import Number
from otspec.blocks import (
    BlockRule,
    BlockVerify,
    DraftSelection,
    SingleDraftRule,
    decoded_law,
)
from otspec.blocks.contract import enumerated_expected
from otspec.blocks.models import Prefix
from otspec.programs import CandidateProgram
from otspec.solvers import solve


@dataclass(frozen=True, eq=False)
class BlockAudit:
    """What following all ways to decode a text says about a rule for blocks.

    Parameters
    ----------
    lossless : bool
        Texts are distributed as the target's: exactly, or in floats within ``tolerance``.
    texts : dict
        The law of the decoded texts.
    total_variation : float or Fraction
        Between the decoded texts and the target's.
    tolerance : float
        The error per text that counts as rounding; 0 in exact arithmetic.
    witness : tuple of int or None
        The text whose probability is most wrong, if the rule is not lossless.
    error : float or Fraction
        Probability of that text when decoded minus by the target; 0 if it is lossless.
    expected : float or Fraction
        E[τ] of one block.
    optimum : float, Fraction or None
        The most drafted tokens that any coupling of whole blocks with these drafts keeps; None
        if it was not asked for.
    """

    lossless: bool
    texts: dict[Prefix, Number]
    total_variation: Number
    tolerance: float
    witness: Prefix | None
    error: Number
    expected: Number
    optimum: Number | None

    @property
    def gap(self) -> Number | None:
        """How far E[τ] is below the optimum."""
        return None if self.optimum is None else self.optimum - self.expected


def audit_blocks(
    rule: BlockRule,
    tokens: int | None = None,
    *,
    optimum: bool = True,
    tolerance: float | None = None,
) -> BlockAudit:
    """Follow all ways to decode a text and compare its law with the target's.

    Parameters
    ----------
    rule : BlockRule
    tokens : int, optional
        Length of the texts; by default L + 1, one block and the token after it. Longer texts
        need several blocks.
    optimum : bool
        Compare with the best coupling of whole blocks: by formula for one draft (Block, thm. 1),
        by a linear program for several, which only the smallest sizes allow.
    tolerance : float, optional
        The error per text that counts as rounding in floats; by default one rounding error per
        text and eight per token of it.

    Returns
    -------
    BlockAudit

    Raises
    ------
    ValueError
        Fewer than one token, or sizes that are too large to enumerate.

    Examples
    --------
    >>> from otspec.blocks import BlockVerifyPublished, memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> report = audit_blocks(BlockVerifyPublished(draft, target, 2), 4)
    >>> report.lossless, report.expected, report.optimum, report.gap
    (True, Fraction(11, 8), Fraction(23, 16), Fraction(1, 16))
    """
    as_instance(rule, "rule", BlockRule, "a BlockRule, such as BlockVerify(draft, target, 2)")
    length, optimum = rule.depth + 1 if tokens is None else tokens, as_flag(optimum, "optimum")
    if tolerance is not None:
        tolerance = float(as_real(tolerance, "tolerance"))
    decoded = decoded_law(rule, length)
    wanted = dict(rule.target.texts(length))
    errors: dict[Prefix, Any] = {
        text: decoded.get(text, 0) - wanted.get(text, 0) for text in {**wanted, **decoded}
    }
    worst = max(errors, key=lambda text: abs(errors[text]))
    if tolerance is None:
        rounding = float(np.finfo(float).eps) * (len(errors) + 8 * length)
        tolerance = 0.0 if rule.target.exact else rounding
    lossless = bool(abs(errors[worst]) <= tolerance)
    number = rule.target.number
    return BlockAudit(
        lossless,
        decoded,
        number(sum(abs(error) for error in errors.values()) / number(2)),
        tolerance,
        None if lossless else worst,
        number(0) if lossless else errors[worst],
        enumerated_expected(rule),
        best_expected(rule) if optimum else None,
    )


def best_expected(rule: BlockRule) -> Number:
    """Return the most drafted tokens that a coupling of whole blocks keeps of a rule's drafts.

    Parameters
    ----------
    rule : SingleDraftRule or DraftSelection

    Raises
    ------
    ValueError
        Several drafts whose linear program is too large, or another kind of rule.
    """
    if isinstance(rule, SingleDraftRule):
        return BlockVerify(rule.draft, rule.target, rule.depth).expected()
    if not isinstance(rule, DraftSelection):
        raise ValueError(
            f"rule is {type(rule).__name__}, whose drafts are not known: pass optimum=False"
        )
    program = CandidateProgram(rule.candidates(), rule.target, rule.depth)
    return rule.target.number(solve(program.build()).value)
