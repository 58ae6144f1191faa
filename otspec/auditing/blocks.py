"""Is a rule for drafted blocks lossless, and how far is it from the best coupling: exactly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, NamedTuple

from otspec._base import Number, Shown, as_flag
from otspec.auditing.declared import rounding
from otspec.auditing.exact import asked, checked_tolerance, told
from otspec.auditing.report import difference
from otspec.auditing.sandbox import attempt
from otspec.blocks import DraftedTree, DynamicTree, ProgramTree, SingleDraftRule, decoded_law
from otspec.blocks.base import BlockRule, as_block_rule, enumerated_expected
from otspec.blocks.block_verification import BlockVerificationPreprint
from otspec.chance import Chance
from otspec.distributions import as_k
from otspec.models.base import MOST_DEPTH, Prefix, as_models
from otspec.programs import DraftedSets, PathProgram


@dataclass(frozen=True, eq=False)
class BlockAudit(Shown):
    """What following all ways to decode a text says about a rule for blocks.

    Parameters
    ----------
    lossless : bool or None
        Texts are distributed as the target's: exactly, or in floats within ``tolerance``. None if
        the rule raised something, so that it could not be audited.
    texts : dict
        The law of the decoded texts.
    total_variation : float, Fraction or None
        Between the decoded texts and the target's.
    tolerance : float
        The error per text that counts as rounding; 0 in exact arithmetic.
    witness : tuple of int or None
        The text whose probability is most wrong, if the rule is not lossless.
    error : float, Fraction or None
        Probability of that text when decoded minus by the target; 0 if it is lossless.
    expected : float, Fraction or None
        E[τ] of one block.
    optimum : float, Fraction or None
        The most drafted tokens that any coupling of whole blocks with these drafts keeps; None
        if it was not asked for.
    reason : str or None
        What the rule raised, or how the probabilities of its outcomes are wrong. Then there are no
        texts, and each number that follows from them is None.
    traceback : str or None
        Of what the rule raised, if it did.
    """

    lossless: bool | None
    texts: dict[Prefix, Number]
    total_variation: Number | None
    tolerance: float
    witness: Prefix | None
    error: Number | None
    expected: Number | None
    optimum: Number | None
    reason: str | None = None
    traceback: str | None = field(default=None, repr=False)

    @property
    def gap(self) -> Number | None:
        """How far E[τ] is below the optimum."""
        return difference(self.optimum, self.expected)


def audit_blocks(
    rule: BlockRule | Callable[[DraftedTree, Chance], Any],
    tokens: int | None = None,
    *,
    draft: Any = None,
    target: Any = None,
    tree: Any = None,
    optimum: bool = True,
    tolerance: float | None = None,
) -> BlockAudit:
    """Follow all ways to decode a text and compare its law with the target's.

    Parameters
    ----------
    rule : BlockRule or callable
        A rule; or a program ``verify(drafts, chance)``, which needs ``draft``, ``target`` and
        ``tree``: see :class:`otspec.blocks.ProgramTree`.
    tokens : int, optional
        Length of the texts; by default L + 1, one block and the token after it. Longer texts
        need several blocks.
    draft, target : callable, optional
        The language models of a program. Without ``target`` a rule is compared with the target
        that it names itself: the caller must know that this is the right one.
    tree : str, sequence of int, TokenTree or Shape, optional
        What is drafted for a program, such as ``"1x1x1"`` for a block.
    optimum : bool
        Compare with the best coupling of whole blocks: by formula for one draft (Block, thm. 1),
        by a linear program for several, which only the smallest sizes allow.
    tolerance : float, optional
        The error per text that counts as rounding, from 0 to below 1; by default none in exact
        arithmetic, and in floats one rounding error per text and eight per token of it.

    Raises
    ------
    ValueError
        A program without models and a tree, fewer than one token, sizes that are too large to
        enumerate, models that do not fit, or an unusable tolerance. Anything else that the rule
        raises makes ``lossless`` None.

    Examples
    --------
    >>> from otspec.blocks import BlockVerification
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> report = audit_blocks(BlockVerification(draft, target, 2), 4)
    >>> report.lossless, report.expected, report.optimum, report.gap
    (True, Fraction(11, 8), Fraction(23, 16), Fraction(1, 16))
    """
    tolerance = checked_tolerance(tolerance)
    if not isinstance(rule, BlockRule) and callable(rule):
        if draft is None or target is None or tree is None:
            raise ValueError(
                "rule is a program: pass draft=, target= and tree= with it, such as tree='1x1'"
            )
        rule = ProgramTree(draft, target, tree, rule)
    as_block_rule(rule)
    optimum = as_flag(optimum, "optimum")
    length = told(lambda: rule.depth) + 1 if tokens is None else tokens
    length = as_k(length, "tokens", MOST_DEPTH, otherwise="so many texts cannot be enumerated")
    declared = asked(rule, "target")
    models = told(as_models, asked(rule, "draft"), declared if target is None else target)
    wanted = dict(models[1].texts(length))
    found, crash = attempt(_found, rule, length, optimum)
    if crash is not None and isinstance(crash.error, ValueError):
        raise crash.error
    number = models[1].number
    if tolerance is None:
        texts = len(wanted if crash is not None else {**wanted, **found.texts})
        tolerance = 0.0 if models[1].exact else rounding(texts, length)
    if crash is not None:
        return _without_texts(None, tolerance, f"the rule {crash.what}", crash.traceback)
    if not -tolerance <= found.lowest <= found.total <= 1 + len(wanted) * tolerance:
        reason = f"outcomes have masses from {found.lowest}, and {found.total} in all"
        return _without_texts(False, tolerance, reason)
    decoded = {text: number(mass) for text, mass in found.texts.items()}
    optimal = None if found.optimum is None else number(found.optimum)
    judged = judgment(decoded, wanted, number, tolerance)
    return BlockAudit(*judged, number(found.expected), optimal)


def judgment(
    found: Mapping[Prefix, Number],
    wanted: Mapping[Prefix, Number],
    number: Callable[[Any], Number],
    tolerance: float,
) -> tuple[bool, dict[Prefix, Number], Number, float, Prefix | None, Number]:
    """Return the first six fields of an audit of texts, in the arithmetic of ``number``."""
    texts = {**wanted, **found}
    errors: dict[Prefix, Any] = {text: found.get(text, 0) - wanted.get(text, 0) for text in texts}
    worst = max(errors, key=lambda text: abs(errors[text]))
    largest = number(errors[worst])
    variation = number(sum(abs(error) for error in errors.values()) / number(2))
    if -tolerance <= largest <= tolerance:
        return True, dict(found), variation, tolerance, None, number(0)
    return False, dict(found), variation, tolerance, worst, largest


class _Found(NamedTuple):
    texts: dict[Prefix, Number]
    lowest: Number
    total: Number
    expected: Number
    optimum: Number | None


def _found(rule: BlockRule, length: int, optimum: bool) -> _Found:
    """Follow a rule; whatever it raises is for the caller."""
    masses = [rule.target.number(outcome.mass) for outcome in rule.outcomes()]
    return _Found(
        decoded_law(rule, length),
        min(masses),
        rule.target.number(sum(masses)),
        enumerated_expected(rule),
        best_expected(rule) if optimum else None,
    )


def _without_texts(
    lossless: bool | None, tolerance: float, reason: str, traceback: str | None = None
) -> BlockAudit:
    """Return the report on a rule whose outcomes give no distribution of texts."""
    return BlockAudit(lossless, {}, None, tolerance, None, None, None, None, reason, traceback)


def best_expected(rule: BlockRule) -> Number:
    """Return the most drafted tokens that a coupling of whole blocks keeps of a rule's drafts.

    Parameters
    ----------
    rule : BlockRule
        With :meth:`otspec.blocks.BlockRule.candidates`.

    Raises
    ------
    ValueError
        Several drafts whose linear program is too large, or a rule that does not tell its drafts.
    """
    return _best_expected(rule)


@singledispatch
def _best_expected(rule: object) -> Number:
    raise ValueError(
        f"rule is {type(rule).__name__}, whose drafts are not known: audit it with optimum=False"
    )


@_best_expected.register
def _of_one_draft(rule: SingleDraftRule) -> Number:
    return BlockVerificationPreprint(rule.draft, rule.target, rule.length).expected()


@_best_expected.register
def _of_sets(rule: BlockRule) -> Number:
    if rule.target.ended(()):  # nothing is drafted
        return rule.target.number(0)
    drafted = DraftedSets(rule.candidates(), rule.target.n)
    return rule.target.number(PathProgram(drafted, rule.target).solve().expected)


@_best_expected.register
def _of_certain_drafts(rule: DynamicTree) -> Number:
    return rule.expected()  # each node is kept as often as the target's text goes through it
