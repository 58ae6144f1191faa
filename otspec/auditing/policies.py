"""Is a drafting policy lossless with a verifier: the smallest loss, if any (Theory, 37)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

from otspec._base import Number, Shown, as_instance, as_integer, as_list
from otspec.auditing.blocks import audit_blocks
from otspec.blocks.base import BlockRule
from otspec.blocks.policies.base import Policy, Verify
from otspec.models import Model, Prefix, as_models, markov, memoryless

_PAIRS = "pairs of a draft and a target model"


class Loss(NamedTuple):
    """Models on which texts are not the target's, and the text that is most wrong."""

    draft: Model
    target: Model
    text: Prefix
    wanted: Number
    """Its probability by the target."""
    found: Number
    """Its probability as it is decoded."""


@dataclass(frozen=True, eq=False)
class PolicyAudit(Shown):
    """What following all drafts and verifications on small models says about a policy.

    Parameters
    ----------
    policy : Policy
    case : str
        See :meth:`otspec.blocks.policies.Policy.case`; the worst of all models, at the beginning of
        a text and after each token.
    loss : Loss or None
        The first models on which texts are not the target's, in the order of size.
    pairs : int
        On how many pairs of models all texts were compared, up to a loss.
    """

    policy: Policy
    case: str
    loss: Loss | None
    pairs: int

    @property
    def lossless(self) -> bool:
        """Whether there was no loss."""
        return self.loss is None


def small_pairs(largest: int = 3) -> Iterator[tuple[Model, Model]]:
    """Yield exact pairs over two tokens: memoryless ones by size, then drafts that are chains.

    Parameters
    ----------
    largest : int
        The largest denominator of a probability, from 2 to 32.
    """
    most = as_integer(largest, "largest", 2, 32)
    masses = list(dict.fromkeys(Fraction(i, d) for d in range(2, most + 1) for i in range(1, d)))
    pairs = product(masses, repeat=2)
    for draft, target in sorted(pairs, key=lambda pair: sum(each.denominator for each in pair)):
        yield memoryless([draft, 1 - draft]), memoryless([target, 1 - target])
    for first, second in pairwise(masses[:3]):
        rows = [[first, 1 - first], [second, 1 - second]]
        yield markov(rows, first=rows[:1]), memoryless(["1/2", "1/2"])


def audit_policy(
    policy: Policy, verify: Verify | None = None, *, pairs: Iterable[tuple[Any, Any]] | None = None
) -> PolicyAudit:
    """Audit a policy and a verifier together on small exact models, over all branches.

    Parameters
    ----------
    policy : Policy
    verify : callable, optional
        As for :meth:`otspec.blocks.policies.Policy.rule`.
    pairs : iterable of pairs of models, optional
        By ascending size; by default :func:`small_pairs`.

    Raises
    ------
    ValueError
        No policy, no pairs of models, or models in floats.

    Examples
    --------
    >>> from otspec.blocks.policies import policies
    >>> report = audit_policy(policies(length=1)["confidence-dropped"])
    >>> report.case, report.lossless, report.loss.text, str(report.loss.found)
    ('anticipating', False, (0,), '1/3')
    """
    as_instance(policy, "policy", Policy, "a Policy")
    cases: set[str] = set()
    count = 0
    loss = None
    given = small_pairs() if pairs is None else as_list(pairs, "pairs", _PAIRS)
    for i, pair in enumerate(given):
        both = as_list(pair, f"pairs[{i}]", _PAIRS)
        if len(both) != 2:
            raise ValueError(f"pairs[{i}] has {len(both)} entries: pass {_PAIRS}")
        draft, target = as_models(*both)
        count += 1
        beginnings = [draft, *(draft.after((token,)) for token in range(draft.n))]
        cases |= {policy.case(model) for model in beginnings}
        loss = _loss(policy.rule(draft, target, verify), draft, target)
        if loss is not None:
            break
    worst = next(case for case in CASES if case in cases)
    return PolicyAudit(policy, worst, loss, count)


def _loss(rule: BlockRule, draft: Model, target: Model) -> Loss | None:
    """Return the loss in the shortest texts that have one."""
    for tokens in range(1, rule.depth + 1):
        report = audit_blocks(rule, tokens, optimum=False)
        if report.reason is not None:
            raise ValueError(f"the policy cannot be audited: {report.reason}")
        if report.witness is not None:
            text = report.witness
            return Loss(draft, target, text, target.mass(text), report.texts.get(text, 0))
    return None


CASES = ("anticipating", "race", "masked", "predictable", "certain")
"""How cuts depend on the drafts, the worst first."""
