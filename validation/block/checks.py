"""Checks over pairs of language models, and checks that something occurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from otspec.arithmetic import Number
from validation.models import SIZES, LanguageModel, Rows, models, prefixes, table
from validation.checks import Instances, over
from validation.claim import Check, Counterexample, Evidence, Outcome, Search

OnModels = Callable[[LanguageModel, LanguageModel, int], Number | None]
"""(target, draft, L) to the slack of a claim."""


def over_models(slack: OnModels, sizes: Sequence[tuple[int, int]] = SIZES, note: str = "") -> Check:
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

    return over_tables(lambda seed: models(seed, sizes), on_rows, scope_of(sizes) + note)


def over_tables(
    instances: Callable[[int], Instances], slack: Callable[..., Number | None], scope: str
) -> Check:
    """Return a check over instances whose models are rows, with readable counterexamples."""
    check = over(instances, slack, scope)
    return lambda search: readable(check(search))


def readable(outcome: Outcome) -> Outcome:
    """Add to a counterexample after which prefixes the rows of its models stand."""
    if not isinstance(outcome, Counterexample):
        return outcome
    rows: Rows = outcome.instance["draft"]
    return replace(outcome, instance={**outcome.instance, "rows": _order(len(rows[0]), len(rows))})


def _order(n: int, rows: int) -> str:
    depth = 0
    names: list[str] = []
    while len(names) < rows:
        names += ["".join(map(str, prefix)) or "()" for prefix in prefixes(n, depth)]
        depth += 1
    if depth == 1:
        return "after every prefix"
    last = "last token" if depth == 2 else f"last {depth - 1} tokens"
    return f"after {', '.join(names)}; after longer prefixes by the {last}"


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
