"""Remark 2: why only a prefix of the draft is accepted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from otspec.arithmetic import Number
from validation.block.checks import occurs, over_tables
from validation.models import LanguageModel, models, table, with_row
from validation.claim import Claim, Outcome, Search, above, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, total

HALF = Fraction(1, 2)


def _deep(seed: int) -> Iterator[dict[str, Any]]:
    return models(seed, ((2, 3), (3, 3)), enumerated=200)


def _no_token_between(draft: Any, target: Any, length: int) -> Number:
    """Return P(the draft has x_1 and x_3 that no target block has)."""
    large, small = table(target), table(draft)
    possible = {(y[0], y[2]) for y in large.blocks(length)}
    accepted = (
        mass
        for x, mass in small.blocks(length).items()
        # both tokens can be accepted one by one: the target has them at their places
        if (x[0], x[2]) not in possible
        and any(y[0] == x[0] for y in large.blocks(length))
        and any(y[2] == x[2] for y in large.blocks(length))
    )
    return total(accepted)


def _certain_or_uniform(search: Search) -> Iterator[dict[str, Any]]:
    """Yield a uniform draft over two tokens and targets with certain or uniform rows."""
    even = (HALF, HALF)
    rows = (even, (ONE, ZERO), (ZERO, ONE))
    targets = list(product(rows, repeat=7))
    random.Random(search.seed).shuffle(targets)  # noqa: S311
    for target in targets:
        yield {"draft": (even,) * 7, "target": target, "length": 3}


def _check_remark_2a(search: Search) -> Outcome:
    scope = "n = 2, L = 3, uniform draft, rows of the target certain or uniform"
    return occurs(search, _certain_or_uniform(search), _no_token_between, scope)


def _between(draft: Any, target: Any, length: int) -> Number | None:
    """Check the formula for Y_2 given Y_1 and Y_3, and that it needs M_b(Y_3 | Y_1, y)."""
    del draft
    model = table(target)
    blocks = model.blocks(length)
    changes = []
    for first, last in product(range(model.n), repeat=2):
        whole = total(mass for y, mass in blocks.items() if (y[0], y[2]) == (first, last))
        if not whole:
            continue
        for token in range(model.n):
            joint = blocks.get((first, token, last), ZERO) / whole
            found = _formula(model, first, token, last)
            equal(found, joint, "M_b(Y_2 | Y_1, Y_3)")
        changes += [change for change in _changes(model, first, last) if change is not None]
    return min(changes, default=None)


def _formula(model: LanguageModel, first: int, token: int, last: int) -> Fraction:
    """Return M_b(Y_2 | Y_1, Y_3) from the next-token distributions."""
    weights = [model((first,))[y] * model((first, y))[last] for y in range(model.n)]
    return weights[token] / sum(weights)


def _changes(model: LanguageModel, first: int, last: int) -> Iterator[Number | None]:
    """Yield, for each y, by how much M_b(. | Y_1, Y_3) changes with M_b(Y_3 | Y_1, y)."""
    chances = [model((first,))[y] * model((first, y))[last] for y in range(model.n)]
    for y in range(model.n):
        others = [x for x in range(model.n) if x != y and chances[x]]
        if not model((first,))[y] or not others:
            yield None  # y never follows Y_1, or is the only token between
            continue
        row = model((first, y))
        other = with_row(model, (first, y), _mixed(row, last))
        before = _formula(model, first, others[0], last)
        after = _formula(other, first, others[0], last)
        yield above(abs(after - before), ZERO, f"change with M_b(Y_3 | Y_1, {y})")


def _mixed(row: Exact, token: int) -> Exact:
    """Return another row: with more mass on a token, or less if it has all of it."""
    if row[token] < 1:
        return tuple((chance + (i == token)) / 2 for i, chance in enumerate(row))
    uniform = Fraction(1, len(row))
    return tuple((chance + uniform) / 2 for chance in row)


CLAIMS = (
    Claim(
        "block.rem2a",
        "Remark 2, section 3",
        "With $L = 3$, accepting $X_1$ and $X_3$ but not $X_2$ may leave no $y$ with $M_b(X_1, y, "
        "X_3) > 0$, though $X_1$ and $X_3$ are possible at their places.",
        _check_remark_2a,
        printed="'It is likely that there does not exist y'.",
    ),
    Claim(
        "block.rem2b",
        "Remark 2, section 3, displayed equation",
        r"$M_b(Y_2 | Y_1, Y_3) = M_b(Y_1, Y_2, Y_3) / \sum_y M_b(Y_1, y, Y_3)$, and it depends on "
        "$M_b(Y_3 | Y_1, y)$ for all $y$ (of positive probability after $Y_1$).",
        over_tables(_deep, _between, "n <= 3, L = 3"),
    ),
)
