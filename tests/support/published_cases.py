"""The published lossy rules, each with its kernel by the source, at random exact instances."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import lossy_kernels
import numpy as np
import oracles
from instances import pairs, turn

from otspec.rules.lossy import LOSSY_RULES, LossyRule


class Published(NamedTuple):
    """The kernel of a rule by its source, parameters, and those that make it lossless."""

    kernel: object
    parameters: tuple[dict, ...]
    lossless: dict | None = None
    on_frontier: bool = False
    """Whether it accepts all that its total variation allows, whatever draft and target are."""


PUBLISHED = {
    "lenience": Published(
        lossy_kernels.lenience,
        ({"lenience": Fraction(1, 2)}, {"lenience": Fraction(9, 10)}, {"lenience": Fraction(1, 9)}),
        {"lenience": 1},
        True,
    ),
    "entropy-lenience": Published(
        lossy_kernels.entropy_lenience,
        (
            {"alpha": Fraction(2, 5), "most": Fraction(19, 20)},
            {"alpha": Fraction(3), "most": Fraction(1)},
            {"alpha": Fraction(0), "most": Fraction(1, 3)},
        ),
        {"alpha": 0, "most": 1},
        True,
    ),
    "mentored-decoding": Published(
        lossy_kernels.mentored,
        ({"alpha": Fraction(1, 2)}, {"alpha": Fraction(8, 9)}, {"alpha": Fraction(1, 99)}),
        {"alpha": 1},
        True,
    ),
    "interpolated": Published(
        lossy_kernels.interpolated,
        ({"weight": Fraction(1, 2)}, {"weight": Fraction(1, 10)}, {"weight": Fraction(1)}),
        {"weight": 0},
        True,
    ),
    "cactus": Published(
        lossy_kernels.cactus,
        ({"delta": Fraction(1, 4)}, {"delta": Fraction(1, 100)}, {"delta": Fraction(3)}),
        {"delta": 0},
        True,
    ),
    "typical-acceptance": Published(
        lossy_kernels.typical,
        (
            {"epsilon": Fraction(9, 100), "delta": Fraction(3, 10)},
            {"epsilon": Fraction(1, 4), "delta": Fraction(1)},
            {"epsilon": Fraction(1), "delta": Fraction(1), "otherwise": "target"},
        ),
    ),
    "relaxed-top": Published(
        lossy_kernels.relaxed_top,
        (
            {"count": 10, "delta": Fraction(3, 5)},
            {"count": 2, "delta": Fraction(1, 5)},
            {"count": 1, "delta": Fraction(0)},
        ),
    ),
    "rollback": Published(
        lossy_kernels.rollback,
        ({"rollback": 2.0}, {"rollback": 1.0, "otherwise": "greedy"}, {"rollback": 0.0}),
    ),
    "fuzzy": Published(
        lossy_kernels.fuzzy,
        ({"threshold": 0.3}, {"threshold": 0.1}, {"threshold": 0.02}),
        {"threshold": 0},
        True,
    ),
    "cascade-by-position": Published(
        lossy_kernels.cascade_by_position,
        ({"alpha": Fraction(1, 20)}, {"alpha": Fraction(1)}, {"alpha": Fraction(-1)}),
        {"alpha": -(10**9)},
        True,
    ),
    "cascade-by-token": Published(
        lossy_kernels.cascade_by_token,
        ({"alpha": Fraction(3, 10)}, {"alpha": Fraction(0)}, {"alpha": Fraction(1)}),
    ),
    "thresholded-target-only": Published(
        lossy_kernels.thresholded,
        (
            {"single": Fraction(1, 2), "accumulated": Fraction(1, 2)},
            {"single": Fraction(1), "accumulated": Fraction(4, 5)},
            {"single": Fraction(1, 5), "accumulated": Fraction(1)},
        ),
        {"single": 1, "accumulated": 1},
    ),
}


class Case(NamedTuple):
    rule: LossyRule
    table: dict
    kernel: object
    optimum: Fraction


def made(name, seed, count, most_tokens=5):
    """Rules at random exact instances, all parameters in turn, and their kernel by the source."""
    published, rule_class = PUBLISHED[name], LOSSY_RULES[name]
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        parameters = published.parameters[turn(index, 3)]
        k = rule_class.only_k or 1 + index % 3
        if not rule_class.law_class.exists(np.array(draft, dtype=object), k):
            continue
        drafts = (
            oracles.iid_table(draft, 1)
            if rule_class.only_k == 1
            else oracles.fixed_table(oracles.likeliest(draft, k))
        )
        yield Case(
            rule_class(draft, target, k, **parameters),
            drafts,
            published.kernel(draft, target, **parameters),
            oracles.optimum(drafts, target),
        )
