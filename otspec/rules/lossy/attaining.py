"""The rules that attain an optimum, lossless or lossy, at full vocabulary (Theory, 29)."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

from otspec import rules
from otspec._base import as_instance
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw, Hub, TopK, TopPlusOne, WithoutReplacement
from otspec.optimum import Optimum
from otspec.optimum.plan import optimal_plan


def rule_attaining(best: Optimum) -> rules.Rule:
    """Return a rule that accepts as much as an optimum says, with the output that it says.

    Parameters
    ----------
    best : Optimum
        From :func:`otspec.optimal_acceptance`.

    Returns
    -------
    Rule
        Its ``target`` is what it outputs: ``best.output``. For i.i.d. drafts and without
        replacement it is pooled selection for that output, for the other laws over one draft
        distribution their optimal rule; at any vocabulary size. For the rest it is an optimal plan,
        at sizes where there is one.

    Raises
    ------
    ValueError
        No optimum, or a law of too many tuples of drafts for a plan.

    Examples
    --------
    >>> import otspec
    >>> law, target = otspec.IID(["1/2", "3/10", "1/5"], k=2), ["1/10", "3/5", "3/10"]
    >>> rule = rule_attaining(otspec.optimal_acceptance(law, target, total_variation="1/20"))
    >>> type(rule).__name__, rule.acceptance()
    ('PooledSelection', Fraction(9, 10))
    >>> otspec.audit(rule, target=target).total_variation
    Fraction(1, 20)
    """
    optimum: Optimum = as_instance(
        best, "best", Optimum, "an Optimum, such as optimal_acceptance(law, target)"
    )
    if optimum.output is None:
        raise ValueError(
            f"no output is known for {optimum.law.k} independent drafts over {optimum.law.n} "
            "tokens: use at most 100 tokens"
        )
    return _optimal_rule(optimum.law, optimum.output)


@singledispatch
def _optimal_rule(law: DraftLaw, output: Distribution) -> rules.Rule:
    """Return a rule for a law that no rule with that output accepts more than."""
    return rules.PlannedRule(optimal_plan(law, output))


def _of_draft(rule: type[rules.PairRule]) -> Callable[[Any, Distribution], rules.Rule]:
    return lambda law, output: rule(law.draft, output, law.k)


for _law, _rule in (
    (IID, rules.PooledSelection),
    (WithoutReplacement, rules.PooledSelectionWithoutReplacement),
    (Hub, rules.SpecHub),
    (TopPlusOne, rules.DrawnDraft),
    (TopK, rules.TargetOnly),
):
    _optimal_rule.register(_law, _of_draft(_rule))
