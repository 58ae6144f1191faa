"""Auditing a rule on many instances, and shrinking what fails to a small counterexample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from otspec.arguments import (
    as_callable,
    as_choice,
    as_instance,
    as_integer,
    as_list,
    as_seed,
    as_steps,
)
from otspec.arithmetic import Number
from otspec.auditing.exact import Audit, audit
from otspec.distributions import as_k
from otspec.drafts import LAW_NAMES, named_law
from otspec.raw import shown

MOST_DRAWN = 10_000
"""The largest bounds on n and k of random instances."""


@dataclass(frozen=True)
class Instance:
    """A draft, a target and k, as whole-number weights.

    Parameters
    ----------
    draft_weights, target_weights : tuple of int
        Of one length, each with a positive sum.
    k : int

    Raises
    ------
    ValueError
        Weights that are no such integers, or an unusable k.
    """

    draft_weights: tuple[int, ...]
    target_weights: tuple[int, ...]
    k: int

    def __post_init__(self) -> None:
        for name in ("draft_weights", "target_weights"):
            given = as_list(getattr(self, name), name, "a tuple of integers")
            weights = tuple(as_integer(w, f"{name}[{i}]", 0) for i, w in enumerate(given))
            if not any(weights):
                raise ValueError(f"{name} is {shown(weights)}: one weight at least must be above 0")
            object.__setattr__(self, name, weights)
        if len(self.draft_weights) != len(self.target_weights):
            raise ValueError("draft_weights and target_weights must have one length")
        object.__setattr__(self, "k", as_k(self.k))

    @property
    def draft(self) -> list[Fraction]:
        """The draft distribution."""
        return _as_fractions(self.draft_weights)

    @property
    def target(self) -> list[Fraction]:
        """The target distribution."""
        return _as_fractions(self.target_weights)

    def __str__(self) -> str:
        draft, target = (",".join(map(str, law)) for law in (self.draft, self.target))
        return f"draft {draft}  target {target}  k = {self.k}"


@dataclass(frozen=True)
class SearchReport:
    """The outcome of auditing many instances.

    Parameters
    ----------
    audited : int
        How many instances were audited.
    refused : int
        How many the rule refused with a ``ValueError`` (too small a support, say).
    worst_gap : float or Fraction
        The largest distance from the optimum among them.
    failure : Instance or None
        The shrunk counterexample, if there is one.
    report : Audit or None
        Its audit.
    """

    audited: int
    refused: int
    worst_gap: Number
    failure: Instance | None
    report: Audit | None

    @property
    def lossless(self) -> bool:
        """Whether nothing failed."""
        return self.failure is None


RuleFactory = Callable[[Any, Any, int], Any]
"""(draft, target, k) → rule, or → kernel."""


def audit_over(
    rule_factory: RuleFactory, instances: Iterable[Instance], *, drafts: str = "iid"
) -> SearchReport:
    """Audit a rule on many exact instances; stop at the first failure and shrink it.

    Parameters
    ----------
    rule_factory : callable
        (draft, target, k) → a rule, or a kernel (then for drafts of the law ``drafts``). A
        ``ValueError`` from it means that the rule does not take the instance.
    instances : iterable of Instance
        Such as :func:`random_instances`.
    drafts : str
        The law of the drafts for kernels, by name.

    Returns
    -------
    SearchReport
    """
    as_callable(rule_factory, "rule_factory", "a callable from a draft, a target and k to a rule")
    as_choice(drafts, "drafts", LAW_NAMES)
    audited = refused = 0
    worst: Number = Fraction(0)
    for given in as_steps(instances, "instances", "instances, such as random_instances(100)"):
        instance = as_instance(given, "instances", Instance, "Instance objects")
        report = _audited(rule_factory, instance, drafts)
        if report is None:
            refused += 1
            continue
        audited += 1
        if not report.lossless:
            smallest, report = _shrunk(rule_factory, instance, report, drafts)
            return SearchReport(audited, refused, worst, smallest, report)
        worst = max(worst, report.gap)
    return SearchReport(audited, refused, worst, None, None)


def random_instances(
    count: int, *, most_tokens: int = 4, most_drafts: int = 3, seed: int = 0
) -> Iterator[Instance]:
    """Return exact instances with zeros, ties, draft = target, and nearly certain tokens.

    Parameters
    ----------
    count : int
    most_tokens, most_drafts : int
        Bounds on n and k.
    seed : int

    Returns
    -------
    iterator of Instance
        Small denominators first, so that what fails early is simple.

    Raises
    ------
    ValueError
        Counts and bounds that are no integers of at least 0 or 1, or another seed.
    """
    count = as_integer(count, "count", 0, wanted="how many instances")
    bounds = as_k(most_tokens, "most_tokens"), as_k(most_drafts, "most_drafts")
    for name, bound in zip(("most_tokens", "most_drafts"), bounds, strict=True):
        as_integer(bound, name, 1, MOST_DRAWN, otherwise="an audit enumerates n^k draft tuples")
    return _random_instances(count, *bounds, np.random.default_rng(as_seed(seed)))


def _random_instances(
    count: int, most_tokens: int, most_drafts: int, rng: np.random.Generator
) -> Iterator[Instance]:
    for number in range(count):
        largest = 2 + 10 * number // max(count, 1)
        n, k = int(rng.integers(1, most_tokens + 1)), int(rng.integers(1, most_drafts + 1))
        draft = _random_weights(rng, n, largest)
        kind = rng.integers(6)
        target = draft if kind == 0 else _random_weights(rng, n, largest)
        if kind == 1:  # one token nearly certain
            target = tuple(w + 10**6 * (i == 0) for i, w in enumerate(target))
        yield Instance(draft, target, k)


def _random_weights(rng: np.random.Generator, n: int, largest: int) -> tuple[int, ...]:
    weights = rng.integers(0, largest + 1, size=n)
    weights[rng.integers(n)] += 1  # never all zero
    return tuple(weights.tolist())


def _audited(rule_factory: RuleFactory, instance: Instance, drafts: str) -> Audit | None:
    """Audit one instance; None if the rule or the law refuses it."""
    try:
        rule = rule_factory(instance.draft, instance.target, instance.k)
        if hasattr(rule, "kernel"):
            return audit(rule)
        law = named_law(drafts, np.array(instance.draft), instance.k)
    except ValueError:
        return None
    return audit(rule, law=law, target=instance.target)


def _shrunk(
    rule_factory: RuleFactory, instance: Instance, report: Audit, drafts: str
) -> tuple[Instance, Audit]:
    """Simplify a failing instance step by step while it fails."""
    progress = True
    while progress:
        progress = False
        for simpler in _simpler(instance):
            found = _audited(rule_factory, simpler, drafts)
            if found is not None and not found.lossless:
                instance, report, progress = simpler, found, True
                break
    return instance, report


def _simpler(instance: Instance) -> Iterator[Instance]:
    """Yield neighbours with fewer drafts, fewer tokens, or smaller weights; all well-founded."""
    draft, target, k = instance.draft_weights, instance.target_weights, instance.k
    if k > 1:
        yield Instance(draft, target, k - 1)
    for i in range(len(draft)):
        fewer = (draft[:i] + draft[i + 1 :], target[:i] + target[i + 1 :])
        if sum(fewer[0]) and sum(fewer[1]):
            yield Instance(*fewer, k)
    for which, weights in enumerate((draft, target)):
        for i, weight in enumerate(weights):
            for smaller in sorted({0, 1, weight // 2, weight - 1} & set(range(weight))):
                changed = (*weights[:i], smaller, *weights[i + 1 :])
                if sum(changed):
                    yield Instance(
                        changed if which == 0 else draft, changed if which == 1 else target, k
                    )


def _as_fractions(weights: tuple[int, ...]) -> list[Fraction]:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]
