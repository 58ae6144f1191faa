"""Probabilities of the events in the paper's proofs, by summing over all drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from validation import algorithms
from validation.algorithms import Branch, Ran, Rule, rejection, rejection_distinct
from validation.instances import Exact
from validation.notation import Tokens, as_row, collect, distinct, iid


class Events(Ran):
    """What a rule does over a law of drafts, round by round.

    Rounds count from 1; ``rejected(n)`` is the event $R_n$. Where some first drafts are
    ``given``, all probabilities are of the event together with them.
    """

    def __init__(self, rule: Rule, table: Mapping[Tokens, Fraction], n: int) -> None:
        super().__init__(rule, table)
        self.n = n

    def rejected(self, n: int, given: Tokens = ()) -> Fraction:
        """P(R_n)."""
        return self.chance(lambda x, branch: x[: len(given)] == given and _later(branch, n))

    def accepted_in(self, n: int, given: Tokens = ()) -> Exact:
        """P(R_{n-1}, draft n is x and accepted), for every token x."""
        return self._row(lambda branch: branch.accepted == n - 1, given)

    def returned(self, n: int, given: Tokens = ()) -> Exact:
        """P(R_n, x is returned), for every token x."""
        return self._row(lambda branch: _later(branch, n), given)

    def after(self, n: int, given: Tokens = ()) -> Exact:
        """P(x is returned | R_n, given): the paper's A_n, for every token x."""
        reached = self.rejected(n, given)
        return tuple(mass / reached for mass in self.returned(n, given))

    def _row(self, event: Callable[[Branch], bool], given: Tokens) -> Exact:
        those = (one for x, one in self.branches if x[: len(given)] == given and event(one))
        return as_row(collect((one.output, one.mass) for one in those), self.n)


def _later(branch: Branch, n: int) -> bool:
    return branch.accepted is None or branch.accepted >= n


def alg1(draft: Exact, target: Exact, k: int) -> Events:
    """Run Algorithm 1 with k independent drafts."""
    return Events(lambda x: rejection(target, draft, x).branches(), iid(draft, k), len(draft))


def alg2(draft: Exact, target: Exact, k: int) -> Events:
    """Run Algorithm 2 with k drafts without replacement."""
    table = distinct(draft, k)
    return Events(lambda x: rejection_distinct(target, draft, x).branches(), table, len(draft))


def naive(
    draft: Exact, target: Exact, k: int, drawing: Callable[..., Mapping[Tokens, Fraction]] = iid
) -> Events:
    """Run naive sampling with k drafts."""
    return Events(algorithms.naive(target), drawing(draft, k), len(draft))
