"""The best policy for a chain, and the best threshold: tokens per cost of a block (Theory, 39)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, as_flag, as_real, zeros
from otspec.blocks.policies.base import Policy
from otspec.blocks.policies.shipped import policies
from otspec.distributions import as_k
from otspec.models import Model, Prefix, TableModel, WithNull, as_models, masked
from otspec.programs.formulation import ProgramBuilder
from otspec.solvers import Sense, Solution, solve

MOST_TEXTS = 20_000  # most drafted texts of one program


class Costs(NamedTuple):
    """What a block costs, in calls of the target without drafts."""

    draft: Number
    """Of each drafted token."""
    verify: Number
    """Of each token that is verified."""


@dataclass(frozen=True, eq=False)
class BestStopping(Frozen):
    """The policy of most expected tokens per cost of a block, and a rule that attains it.

    The rule is block verification; none after whose corrected token the plain target follows has
    more tokens per cost, whatever the policy, as the prices prove.

    Parameters
    ----------
    draft, target : Model
    length : int
    rate : float or Fraction
        Tokens per cost.
    drafts, keeps : mapping
        From each drafted text to the probability that a token is drafted after it; from each text
        to the probability that its last token is kept, given that it was drafted.
    solution : Solution
        Of the linear program; its duals are the prices.
    """

    draft: Model
    target: Model
    length: int
    rate: Number
    drafts: Mapping[Prefix, Number]
    keeps: Mapping[Prefix, Number]
    solution: Solution

    def models(self) -> tuple[Model, Model]:
        """Return models for block verification: the draft draws a null token where it stops."""
        n = self.draft.n
        rows = {text: self._left(text) for text in _texts(n, self.length)[0]}
        null = zeros(n + 1, like=rows[()])
        null[-1] += 1
        return TableModel({**rows, (n,): null}, "left"), WithNull(self.target)

    def _left(self, text: Prefix) -> Array:
        """Return the distribution of the token that is left after a text, or none."""
        row = zeros(self.draft.n + 1, like=self.draft(()))
        for token, mass in enumerate(self.draft(text).tolist()):
            keeps = self.keeps.get((*text, token), 0)
            row[token] += mass * self.drafts.get(text, 0) * keeps
        row[-1] += 1 - row.sum()
        return row

    def check(self) -> None:
        """Prove the rate from the prices: see :meth:`otspec.solvers.Solution.check`."""
        self.solution.check()


def best_stopping(
    draft: Any, target: Any, length: int, costs: tuple[Any, Any], *, masks: bool = False
) -> BestStopping:
    """Return the policy for a chain that has the most expected tokens per cost of a block.

    A block costs 1, and ``costs`` for each drafted and for each verified token. The policy knows
    both models: it bounds thresholds on what the draft says. It may stop by a coin; block
    verification takes a stop for a null token.

    Parameters
    ----------
    draft, target : callable
        Language models; exact ones give an exact rate.
    length : int
        The most drafted tokens.
    costs : pair of numbers
        Of drafting and of verifying a token, in calls of the target.
    masks : bool
        Whether a token may also be withdrawn once it is drafted, as a null token.

    Raises
    ------
    ValueError
        Unusable models or costs, or more than 20,000 texts.

    Notes
    -----
    A linear program over texts s: u(s), the mass of the texts that are left; w(s) ≤ u(s), that a
    token is drafted after s; u(sx) ≤ w(s) p(x | s), with equality without masks; k(s), the mass
    that is kept: k(sx) ≤ k(s) q(x | s), k(sx) ≤ u(sx) (Theory, 9). All are divided by the cost.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> best = best_stopping(draft, target, 2, ("1/10", "1/10"))
    >>> best.rate, [str(best.drafts[text]) for text in [(), (0,), (1,)]]
    (Fraction(19, 11), ['1', '3/4', '1'])
    >>> best.check()
    """
    pair = as_models(draft, target)
    steps = as_k(length, "length", 50, otherwise="use a shorter block")
    if pair[0].n ** steps > MOST_TEXTS:
        raise ValueError(f"length is {length}: these are more than {MOST_TEXTS:,} texts")
    price = _as_costs(costs, pair[0])
    solution = solve(_program(*pair, steps, price, as_flag(masks, "masks")))
    inner, texts = _texts(pair[0].n, steps)
    scale, left, going = _parts(solution.primal, len(inner), len(texts))
    mass = dict(zip(texts, left, strict=True)) | {(): scale}
    drafts = {text: going[i] / mass[text] for i, text in enumerate(inner) if mass[text] > 0}
    keeps = {}
    for i, text in enumerate(inner):
        for token, chance in enumerate(pair[0](text).tolist()):
            if going[i] * chance > 0:
                keeps[*text, token] = mass[*text, token] / (going[i] * chance)
    return BestStopping(*pair, steps, solution.value, drafts, keeps, solution)


def _as_costs(costs: Any, like: Model) -> Costs:
    if not isinstance(costs, tuple) or len(costs) != 2:
        raise ValueError(f"costs is {costs!r:.60}: pass those of drafting and verifying a token")
    numbers = (as_real(cost, "costs", 0) for cost in costs)
    return Costs(*(like.number(number) for number in numbers))


def _texts(n: int, length: int) -> tuple[list[Prefix], list[Prefix]]:
    """Return the texts after which tokens may be drafted, and those that may be drafted."""
    every = [text for depth in range(length + 1) for text in product(range(n), repeat=depth)]
    return [text for text in every if len(text) < length], every[1:]


def _parts(primal: Array, inner: int, texts: int) -> tuple[Any, list[Any], list[Any]]:
    """Return 1/cost, the masses that are left, and those after which a token is drafted."""
    values = primal.tolist()
    return values[0], values[1 : 1 + texts], values[1 + texts : 1 + texts + inner]


def _program(draft: Model, target: Model, length: int, costs: Costs, masks: bool) -> Any:
    """Write the linear program; the first column is 1/cost."""
    like = zeros(1, like=draft(()))
    model = ProgramBuilder(like)
    inner, texts = _texts(draft.n, length)
    place = {text: i for i, text in enumerate(texts)}
    ids = np.arange(len(texts), dtype=np.intp)[:, None]
    one = model.columns("t", np.zeros((1, 1), dtype=np.intp), 0, np.inf)
    left = model.columns("u", ids, 0, np.inf)
    going = model.columns("w", ids[: len(inner)], 0, np.inf)
    kept = model.columns("k", ids, 0, np.inf)
    above = np.array([place.get(text[:-1], -1) for text in texts])
    after = {text: i for i, text in enumerate(inner)}
    drafted = np.array([after[text[:-1]] for text in texts])
    p, q = (
        np.array([model_(text[:-1])[text[-1]] for text in texts], dtype=like.dtype)
        for model_ in (draft, target)
    )

    def at(columns: IntArray, places: IntArray) -> IntArray:
        """Return columns of texts, and that of 1/cost for the empty text."""
        return np.where(places < 0, one[0], columns[places])

    cost = model.rows("cost", np.zeros((1, 1), dtype=np.intp), 1, 1)
    model.put(cost, one)
    model.put(np.repeat(cost, len(going)), going, like + costs.draft)
    model.put(np.repeat(cost, len(left)), left, like + costs.verify)
    stop = model.rows("stop", ids[: len(inner)], -np.inf, 0)
    model.put(stop, going)
    model.put(stop, at(left, np.array([place.get(text, -1) for text in inner])), -1)
    draws = model.rows("draw", ids, -np.inf if masks else 0, 0)
    model.put(draws, left)
    model.put(draws, going[drafted], -p)
    wanted = model.rows("target", ids, -np.inf, 0)
    model.put(wanted, kept)
    model.put(wanted, at(kept, above), -q)
    offered = model.rows("draft", ids, -np.inf, 0)
    model.put(offered, kept)
    model.put(offered, left, -1)
    goal = np.concatenate([one, kept])
    return model.program("tokens per cost", Sense.MAXIMIZE, goal)


def rate_of(policy: Policy, draft: Any, target: Any, costs: tuple[Any, Any]) -> Number:
    """Return the expected tokens per cost of a block of a lossless policy for chains.

    By block verification, which keeps the most. Null tokens are drafted, not verified.
    """
    pair = as_models(draft, target)
    price = _as_costs(costs, pair[0])
    null, guide = pair[0].n, pair[0]
    if policy.keep is not None:
        guide = masked(*pair, policy.keep)[0]
    left: dict[Prefix, Any] = {}
    cost: Any = 1
    for chain, mass in policy.law(guide).items():
        for text in chain:
            cost += mass * price.draft
            if null not in text:
                cost += mass * price.verify
                left[text] = left.get(text, 0) + mass
    kept: dict[Prefix, Any] = {(): pair[0].number(1)}
    for text in sorted(left, key=len):
        # a(sx) = min(a(s) M_b(x | s), the mass of sx that is left) (Theory, 9).
        kept[text] = min(kept[text[:-1]] * pair[1](text[:-1])[text[-1]], left[text])
    return pair[0].number(sum(kept.values()) / cost)


class Tuned(NamedTuple):
    """The best threshold of some policies."""

    rate: Number
    name: str
    threshold: Number
    length: int


def best_threshold(
    draft: Any,
    target: Any,
    length: int,
    costs: tuple[Any, Any],
    names: tuple[str, ...] = ("confidence-kept", "confidence-max", "path-kept"),
) -> Tuned:
    """Return the policy, threshold and length of most tokens per cost, as tuned by hand.

    All thresholds between which chains differ are tried. See :func:`best_stopping`.
    """
    model = as_models(draft, target)[0]
    steps = as_k(length, "length")
    seen: set[Any] = {model.number(0), model.number(1)}
    for text in _texts(model.n, steps)[0]:
        seen |= {*model(text).tolist(), *(model.mass((*text, y)) for y in range(model.n))}
    found = [
        Tuned(rate_of(policies(threshold, most)[name], draft, target, costs), name, threshold, most)
        for most in range(1, steps + 1)
        for name in names
        for threshold in sorted(seen)
    ]
    return max(found, key=lambda each: each.rate)
