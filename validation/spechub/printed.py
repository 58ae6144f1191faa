"""Algorithms 1 to 3 as printed, run along all their branches with exact probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from validation.claim import Fails
from validation.instances import Exact
from validation.notation import ONE, ZERO, Table, distinct, iid, normalised, positive, total


def hub_of(draft: Exact) -> int:
    """Return the likeliest token, the first of equals."""
    return draft.index(max(draft))


def hub_columns(draft: Exact) -> tuple[list[Fraction], list[Fraction]]:
    """Return P(x, a) and P(a, x) for every x, 0 at x = a; the hub must not be certain."""
    a = hub_of(draft)
    last = [ZERO if x == a else draft[x] for x in range(len(draft))]
    return last, [draft[a] * mass / (1 - draft[a]) for mass in last]


def hub_table(draft: Exact) -> Table:
    """Return the law of SpecHub's pairs; the hub must not be certain."""
    a = hub_of(draft)
    last, first = hub_columns(draft)
    table = {(x, a): mass for x, mass in enumerate(last)}
    table |= {(a, x): mass for x, mass in enumerate(first) if x != a}
    return {x: mass for x, mass in table.items() if mass}


@dataclass
class Run:
    """What an algorithm returns, with exact probabilities.

    Parameters
    ----------
    n, k : int
        Numbers of tokens and of drafts.
    """

    n: int
    k: int
    accepted: list[list[Fraction]] = field(init=False)
    """Row i, column y: draft i is accepted and is y."""
    drawn: list[Fraction] = field(init=False)
    """No draft is accepted and y is drawn."""
    hits: Fraction = field(default=ZERO, init=False)
    """No draft is accepted and one of them is drawn."""

    def __post_init__(self) -> None:
        self.accepted = [[ZERO] * self.n for _ in range(self.k)]
        self.drawn = [ZERO] * self.n

    def accept(self, i: int, token: int, reached: Fraction, chance: Fraction) -> Fraction:
        """Return draft i with a probability, and answer how probable it is to go on."""
        self.accepted[i][token] += reached * chance
        return reached * (1 - chance)

    def draw(self, drafts: Sequence[int], weights: Sequence[Fraction], reached: Fraction) -> None:
        """Return a token in proportion to weights."""
        if reached == 0:
            return
        scale = total(weights)
        if scale == 0:
            raise Fails("there is nothing to draw the token from")
        for token, weight in enumerate(weights):
            self.drawn[token] += reached * weight / scale
            self.hits += reached * weight / scale * (token in drafts)

    def output(self) -> Exact:
        """Return the law of the returned token."""
        return tuple(map(total, zip(*self.accepted, self.drawn, strict=True)))

    def acceptance(self) -> Fraction:
        """Return the probability that the returned token is one of the drafts."""
        return total(self.by_draft()) + self.hits

    def by_draft(self) -> list[Fraction]:
        """Return for each draft the probability that it is accepted."""
        return [total(row) for row in self.accepted]


def token_rejection(draft: Exact, target: Exact, k: int, *, replacement: bool) -> Run:
    """Run algorithm 1, token-level RRS, as printed.

    In its last round line 12 may normalise a draft of mass 0; that is never used.
    """
    run = Run(len(draft), k)
    table = iid(draft, k) if replacement else distinct(draft, k)
    for x, mass in table.items():
        reached, wanted, offered = mass, target, draft
        for i, token in enumerate(x):
            reached = run.accept(i, token, reached, min(wanted[token] / offered[token], ONE))
            if reached == 0:
                break
            wanted = normalised(positive(wanted, offered))
            if not replacement:
                offered = normalised([ZERO if y == token else p for y, p in enumerate(offered)])
        run.draw(x, wanted, reached)
    return run


def get_residual(
    target: Sequence[Fraction], draft: Sequence[Fraction], a: int
) -> tuple[list[Fraction], list[Fraction]]:
    """Run algorithm 2, GetResidual, as printed."""
    wanted, offered = [ZERO] * len(target), [ZERO] * len(target)
    for x in range(len(target)):
        if x != a:
            wanted[x] = max(target[x] - draft[x], ZERO)
            offered[x] = max(draft[x] - target[x], ZERO)
    wanted[a] = target[a]
    offered[a] = ZERO
    return wanted, offered


def spechub_as_printed(draft: Exact, target: Exact) -> Run:
    """Run algorithm 3 as printed: the hub's residual is updated inside the branches."""
    run, a = Run(len(draft), 2), hub_of(draft)
    last, first = hub_columns(draft)
    for x, mass in hub_table(draft).items():
        reached = mass
        if x[1] == a:
            reached = run.accept(0, x[0], reached, min(target[x[0]] / last[x[0]], ONE))
        once, last_left = get_residual(target, last, a)
        if x[0] == a:
            reached = run.accept(1, x[1], reached, min(once[x[1]] / first[x[1]], ONE))
        twice, first_left = get_residual(once, first, a)
        if x[0] == a and reached:
            reached = run.accept(0, a, reached, min(target[a] / total(first_left), ONE))
            once[a] = max(target[a] - total(first_left), ZERO)
        if x[1] == a and reached:
            reached = run.accept(1, a, reached, min(once[a] / total(last_left), ONE))
            twice[a] = max(once[a] - total(last_left), ZERO)
        run.draw(x, twice, reached)
    return run


def spechub(draft: Exact, target: Exact) -> Run:
    """Run algorithm 3 with both updates of the hub's residual before the branches."""
    run, a = Run(len(draft), 2), hub_of(draft)
    last, first = hub_columns(draft)
    once, last_left = get_residual(target, last, a)
    twice, first_left = get_residual(once, first, a)
    once[a] = max(target[a] - total(first_left), ZERO)
    twice[a] = max(once[a] - total(last_left), ZERO)
    for x, mass in hub_table(draft).items():
        reached = mass
        if x[1] == a:
            reached = run.accept(0, x[0], reached, min(target[x[0]] / last[x[0]], ONE))
            if reached:
                reached = run.accept(1, a, reached, min(once[a] / total(last_left), ONE))
        else:
            reached = run.accept(1, x[1], reached, min(once[x[1]] / first[x[1]], ONE))
            if reached:
                reached = run.accept(0, a, reached, min(target[a] / total(first_left), ONE))
        run.draw(x, twice, reached)
    return run
