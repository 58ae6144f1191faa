"""Checks over pairs of language models, and checks that something occurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from otspec.arithmetic import Number
from validation.block.models import SIZES, LanguageModel, models, table
from validation.claim import Check, Counterexample, Evidence, Outcome, Search

OnModels = Callable[[LanguageModel, LanguageModel, int], Number | None]
"""(target, draft, L) to the slack of a claim."""


def every_pair(slack: OnModels, sizes: Sequence[tuple[int, int]] = SIZES, note: str = "") -> Check:
    """Return the check of a claim about a target, a draft and a draft length.

    Parameters
    ----------
    slack : callable
    sizes : sequence of pairs
        Numbers of tokens n and lengths L.
    note : str
        For the scope.
    """

    def on_rows(draft: Any, target: Any, length: int) -> Number | None:
        return slack(table(target), table(draft), length)

    def check(search: Search) -> Outcome:
        return search.every(models(search.seed, sizes), on_rows, scope=scope_of(sizes) + note)

    return check


def scope_of(sizes: Sequence[tuple[int, int]]) -> str:
    """Return sizes in words, such as "n = 2, L <= 3"."""
    parts = []
    for n in sorted({n for n, _ in sizes}):
        lengths = [length for other, length in sizes if other == n]
        some = "L <=" if min(lengths) < max(lengths) else "L ="
        parts.append(f"n = {n}, {some} {max(lengths)}")
    return "; ".join(parts)


def occurs(
    search: Search,
    instances: Iterable[Mapping[str, Any]],
    measure: Callable[..., Number],
    scope: str,
) -> Outcome:
    """Check that something is possible: that a measure is positive on some of the instances."""
    times, least = 0, None

    def counted(**instance: Any) -> Number:
        nonlocal times, least
        found = measure(**instance)
        if found > 0:
            times += 1
            least = found if least is None else min(least, found)
        return found

    outcome = search.every(instances, counted, scope=scope)
    if not times:
        return Counterexample({"instances": outcome.instances}, "it never occurs", 0)
    return Evidence(outcome.instances, least, f"{scope}; occurs in {times}")
