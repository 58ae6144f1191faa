"""How likely drafts are kept, given the text of the target that comes out (Theory, 28)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, is_exact, zeros
from otspec.blocks.single_draft import SingleDraftRule
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.token_rules import TokenRule, made_rule
from otspec.distributions import Distribution
from otspec.rules.base.rule import NotExactError
from otspec.rules.lossy.base import LossyRule


def token_weights(
    rule: TokenRule, draft: Distribution, target: Distribution, token: int, tree: Shape
) -> dict[int, Array]:
    """Return how likely each of k drafts is accepted, given that a token comes out: a_i(y)/q(y).

    k → shape (k,), for the numbers of children in ``tree``. Where siblings have equal subtrees, the
    first entry has the sum of all, which is known in closed form more often.
    """
    weights = {}
    for k in tree.widths:
        made = made_rule(rule, draft, target, k)
        if isinstance(made, LossyRule):
            raise ValueError(
                f"rule is {type(made).__name__}, whose texts are not the target's: calls along a "
                "text are known of lossless rules"
            )
        weights[k] = zeros(k, like=target)
        try:
            if tree.even:
                weights[k][0] = made.accepted().by_token[token] / target[token]
            else:
                by_draft = made.accepted().by_position_and_token[:, token]
                weights[k][: len(by_draft)] = by_draft / target[token]
        except NotExactError as error:
            raise NotExactError(
                f"rule is {type(made).__name__}, and what it accepts of {k} drafts of "
                f"{len(target):,} tokens is only simulated: use fewer drafts or another rule"
            ) from error
    return weights


def levels_of_tree(tree: Shape, weights: Sequence[Mapping[int, Array]], like: Array) -> Array:
    """Return P(at least 1, 2, … tokens of a tree are kept) given the text, by start: (depth, N)."""
    number = len(weights)
    led = {}
    for k in tree.widths:
        led[k] = zeros((k, number + 1), like=like)
        for position, each in enumerate(weights):
            led[k][:, position] = each[k]
    following = np.minimum(np.arange(1, number + 2), number)[:, None]
    along = {k: each[:, :, None] for k, each in led.items()}
    chances = Chances(zeros(number + 1, like=like), following, tuple(led), led, along)
    return chances.by_level(tree)[:, :number]


def levels_of_block(rule: type[SingleDraftRule], length: int, draft: Array, target: Array) -> Array:
    """Return the same for a drafted block, from the text's tokens' probabilities, (N,)."""
    if not rule.renews:
        raise ValueError(
            f"rule is {rule.__name__}, which leaves more behind than one corrected token, so that "
            "the next block depends on it: use token or published block verification"
        )
    number = len(target)
    found = zeros((length, number), like=target)
    one = zeros(number, like=target) + 1
    masses: Any = (one, one)
    for level in range(min(length, number)):
        alive = number - level  # starts from which so much of the text is left
        wanted, drafted = (mass[:alive] for mass in masses)
        with np.errstate(over="ignore", invalid="ignore"):
            masses = rule.step(wanted, drafted, draft[level:], target[level:])
            masses = tuple(_ratio(mass, target[level:]) for mass in masses)
        found[level, :alive] = np.minimum(*masses)
    return found


def _ratio(mass: Array, target: Array) -> Array:
    """Return mass/target, in floats 0 where a ratio beyond the floats was multiplied by 0."""
    ratio: Array = mass / target
    return ratio if is_exact(target) else np.where(np.isnan(ratio), 0.0, ratio)
