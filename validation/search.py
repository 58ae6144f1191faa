"""Looking for a counterexample: small instances, then random ones; the first is made smaller."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any

import numpy as np

from otspec._base.arithmetic import Number
from validation.claim import Counterexample, Evidence, Fails, Outcome, Slack
from validation.domains import Domain, Exact, Instance, is_law, law_of, weights_of
from validation.models import Table


@dataclass(frozen=True)
class Search:
    """How long to look, and from which seed."""

    seconds: float = 5.0
    """After this long a check begins no new instance; half of it is for random ones."""
    instances: int = 1_000
    """How many instances are enough; half of them random."""
    seed: int = 0

    def over(self, domain: Domain, slack: Slack) -> Outcome:
        """Check a claim on the smallest instances of a domain, then on random ones.

        See :data:`Slack`; it raises :class:`Fails` where it does not hold."""
        seen, began, share = _Seen(slack), monotonic(), 1 if domain.random is None else 2
        first = seen.look(domain.small(), math.ceil(self.instances / share),
                          began + self.seconds / share)  # fmt: skip
        if first or domain.random is None:
            return first or seen.evidence(domain.note)
        small, drawn = seen.checked, domain.random(np.random.default_rng(self.seed))
        found = seen.look(drawn, self.instances - small, began + self.seconds)
        return found or seen.evidence(domain.note, seen.checked - small, self.seed)


class _Seen:
    """What a check has seen so far."""

    def __init__(self, slack: Slack) -> None:
        self.slack, self.checked, self.sizes = slack, 0, Sizes()
        self.worst: Number | None = None

    def look(self, instances: Iterable[Instance], most: int, end: float) -> Counterexample | None:
        """Check so many more instances; return the first that fails, made smaller."""
        enough = self.checked + most
        for instance in instances:
            if self.checked >= enough or monotonic() > end:
                break
            try:
                found = self.slack(**instance)
            except Fails as failure:
                return _shrunk(dict(instance), failure.found, self.slack, self.checked)
            if found is not None:
                self.checked += 1
                self.sizes.add(instance)
                self.worst = found if self.worst is None else min(self.worst, found)
        return None

    def evidence(self, note: str, random: int = 0, seed: int | None = None) -> Evidence:
        scope = "; ".join(filter(None, (str(self.sizes), note)))
        return Evidence(self.checked, self.worst, scope, random, seed if random else None)


def _shrunk(instance: dict[str, Any], found: str, slack: Slack, checked: int) -> Counterexample:
    """Simplify a failing instance step by step while it fails."""
    steps = simpler_instances(instance)
    while (simpler := next(steps, None)) is not None:
        try:
            slack(**simpler)
        except Fails as failure:
            instance, found, steps = simpler, failure.found, simpler_instances(simpler)
        except (ValueError, LookupError, ZeroDivisionError):  # not what the check takes
            continue
    return Counterexample(instance, found, checked)


def simpler_instances(instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield instances with fewer drafts or tokens, or smaller weights; all well-founded.

    Tuples of fractions that sum to 1 are distributions over one vocabulary, and so are the rows of
    tables; what else there is stays as it is."""
    laws = {name: weights_of(value) for name, value in instance.items() if is_law(value)}
    tables = {name: value for name, value in instance.items() if isinstance(value, Table)}
    if isinstance(instance.get("k"), int) and instance["k"] > 1:
        yield {**instance, "k": instance["k"] - 1}
    if tables and instance.get("length", 1) > 1 and "tree" not in instance:  # a tree has its depth
        cut = {name: table.shorter() for name, table in tables.items()}
        yield {**instance, **cut, "length": instance["length"] - 1}
    sizes = {len(weights) for weights in laws.values()}
    for token in range(max(sizes) if len(sizes) == 1 else 0):
        fewer = {name: (*w[:token], *w[token + 1 :]) for name, w in laws.items()}
        if all(map(sum, fewer.values())):
            yield instance | {name: law_of(weights) for name, weights in fewer.items()}
    for name, weights in laws.items():
        yield from ({**instance, name: law} for law in simpler_laws(weights))
    for name, table in tables.items():
        for i, row in enumerate(table.rows):
            for law in simpler_laws(weights_of(row)):
                yield {**instance, name: Table((*table.rows[:i], law, *table.rows[i + 1 :]))}


def simpler_laws(weights: tuple[int, ...]) -> Iterator[Exact]:
    """Yield laws with one weight smaller."""
    for i, weight in enumerate(weights):
        for smaller in sorted({0, 1, weight // 2, weight - 1} & set(range(weight))):
            changed = (*weights[:i], smaller, *weights[i + 1 :])
            if sum(changed):
                yield law_of(changed)


class Sizes:
    """The ranges of what instances are made of; as text, such as "n <= 4, k <= 3"."""

    def __init__(self) -> None:
        self.ranges: dict[str, tuple[Any, Any]] = {}
        self.words: dict[str, set[str]] = {}

    def add(self, instance: Mapping[str, Any]) -> None:
        """Take the sizes of one more instance into account."""
        for name, value in _measures(instance):
            if isinstance(value, str):
                self.words.setdefault(name, set()).add(value)
            else:
                low, high = self.ranges.get(name, (value, value))
                self.ranges[name] = min(low, value), max(high, value)

    def __str__(self) -> str:
        parts = [_told(name, *ends) for name, ends in self.ranges.items()]
        parts += [f"{name} {', '.join(sorted(some))}" for name, some in self.words.items()
                  if len(some) <= 6]  # fmt: skip
        return ", ".join(parts)


def _measures(instance: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of what is measured about one instance."""
    laws = []
    for name, value in instance.items():
        rows = getattr(value, "rows", value)
        if is_law(rows):
            laws.append(rows)
        elif isinstance(rows, tuple) and rows and all(map(is_law, rows)):
            laws.extend(rows)
        elif isinstance(value, (int, Fraction, float, str)):
            yield name, value
    if laws:
        yield "n", max(map(len, laws))
        yield "denominators", max(math.lcm(*(mass.denominator for mass in law)) for law in laws)


def _told(name: str, low: Any, high: Any) -> str:
    if low == high:
        return f"{name} = {_plain(low)}"
    if name == "denominators" or (isinstance(low, int) and low <= 1):
        return f"{name} <= {_plain(high)}"
    return f"{_plain(low)} <= {name} <= {_plain(high)}"


def _plain(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
