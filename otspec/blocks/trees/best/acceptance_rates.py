"""The probability that each of k drafts is kept, after everything that the models tell apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, zeros
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.nodes import TokenRule, made_rule
from otspec.models.base import Model, Prefix
from otspec.rules.base.accepted import by_position_or_estimate

MOST_PLACES = 20_000  # most places of a text that are told apart


@dataclass(frozen=True, eq=False)
class Chances(Frozen):
    """The probability that each of k drafts is kept, after each place.

    A *place* is what both models remember of a text. Of equal drafts only the first goes on, so
    that E[τ] of a tree is linear in E[τ] of its subtrees
    (:mod:`otspec.blocks.trees.best.best_shape`).
    """

    start: Array  # (places,): the distribution of the place before the tree
    # (places, branches): the place after each place and branch. A branch is a next token, if models
    # are known.
    following: IntArray
    widths: tuple[int, ...]  # the numbers of children that a node may have, ascending
    # k → ndarray, shape (k, places): a_i, the probability that draft i of k is kept
    kept: Mapping[int, Array]
    # k → ndarray, shape (k, places, branches): a_i(x), the probability that draft i of k is kept
    # and is the token of the branch. From logs it is a weight, see :mod:`otspec.logged`.
    led: Mapping[int, Array]
    # whether the first drafts are kept with the same probability however many drafts follow. Then
    # the arrays of the largest k serve all.
    nested: bool = False

    def of(self, k: int) -> tuple[Array, Array]:
        """Return ``kept`` and ``led`` for k drafts."""
        known = max(self.kept) if self.nested else k
        return self.kept[known][:k], self.led[known][:k]

    def nothing(self, *shape: int) -> Array:
        """Return zeros in the arithmetic of the chances."""
        return zeros(shape, like=self.start)

    def before(self, k: int, laws: Array) -> Array:
        """Return Σ_s law(s) a_i(x | s) for each draft i, by the place after sx."""
        # That is the distribution of the place after draft i, times the probability that it is
        # kept: (laws, places) -> (k, laws, places).
        led = self.of(k)[1]
        after = self.nothing(k, *laws.shape)
        for branch, place in enumerate(self.following.T):
            moved = laws[None] * led[:, None, :, branch]
            np.add.at(after.T, place, moved.T)
        return after

    def worth(self, children: Sequence[Array]) -> Array:
        """Return E[τ] of a node from E[τ] of its children's subtrees, shape (places,)."""
        # Σ_i (a_i + Σ_x a_i(x) · E[τ of child i] after x)
        total = self.nothing(len(self.start))
        if children:
            kept, led = self.of(len(children))
            for each, weights, values in zip(kept, led, children, strict=True):
                total = total + each + (weights * values[self.following]).sum(axis=1)
        return total

    def expected(self, tree: Shape) -> Array:
        """Return E[τ] of a tree after each place, shape (places,)."""
        return self.all_expected([tree])[tree]

    def by_level(self, tree: Shape) -> Array:
        """Return P(τ ≥ 1), P(τ ≥ 2), … of a tree, shape (levels, places)."""
        # Their sum over the levels is `expected`.
        return self._by_level(tree, {})

    def _by_level(self, tree: Shape, known: dict[Shape, Array]) -> Array:
        if tree not in known:
            levels = self.nothing(tree.depth, len(self.start))
            if tree.children:
                kept, led = self.of(len(tree.children))
                levels[0] = kept.sum(axis=0)
                for child, weights in zip(tree.children, led, strict=True):
                    below = self._by_level(child, known)[:, self.following]
                    levels[1 : 1 + child.depth] += (weights * below).sum(axis=2)
            known[tree] = levels
        return known[tree]

    def all_expected(self, trees: Iterable[Shape]) -> dict[Shape, Array]:
        """Return the same for several trees and what is in them."""
        known: dict[Shape, Array] = {}
        for tree in trees:
            self._expected(tree, known)
        return known

    def _expected(self, tree: Shape, known: dict[Shape, Array]) -> Array:
        if tree not in known:
            below = [self._expected(child, known) for child in tree.children]
            known[tree] = self.worth(below)
        return known[tree]


def chances_of_models(
    draft: Model,
    target: Model,
    rule: TokenRule,
    widths: Sequence[int],
    depth: int,
    beginnings: Mapping[Prefix, Number],
) -> Chances:
    """Return the chances after all that two models tell apart in so many tokens."""
    nested, needed = asked_widths(rule, widths)
    numbers: dict[tuple[Prefix, Prefix], int] = {}
    texts: list[Prefix] = []
    place = partial(_place, draft, target, numbers, texts)
    first = [place(text) for text in beginnings]
    like = draft(texts[0])
    nothing = {k: zeros((k, draft.n), like=like) for k in needed}
    rows: list[dict[int, Array]] = []
    leads: list[list[int]] = []
    for _ in range(depth):
        for text in texts[len(rows) :]:
            if target.ended(text):  # nothing is drafted there
                leads.append([len(rows)] * draft.n)
                rows.append(nothing)
                continue
            pair = draft(text), target(text)
            rows.append({k: accepted_by_position(rule, *pair, k) for k in needed})
            possible = np.flatnonzero((pair[0] > 0) & (pair[1] > 0))
            after = [len(rows) - 1] * draft.n  # where nothing leads
            for token in possible.tolist():
                after[token] = place((*text, token))
            leads.append(after)
    leads += [[number] * draft.n for number in range(len(rows), len(texts))]
    rows += [nothing] * (len(texts) - len(rows))
    start = zeros(len(texts), like=like)
    for number, mass in zip(first, beginnings.values(), strict=True):
        start[number] += mass
    led = {k: np.stack([row[k] for row in rows], axis=1) for k in needed}
    kept = {k: each.sum(axis=2) for k, each in led.items()}
    return Chances(start, np.array(leads), tuple(widths), kept, led, nested)


def _place(
    draft: Model,
    target: Model,
    numbers: dict[tuple[Prefix, Prefix], int],
    texts: list[Prefix],
    text: Prefix,
) -> int:
    """Return the number of what both models remember of a text."""
    number = numbers.setdefault((draft.context(text), target.context(text)), len(texts))
    if number == len(texts):
        texts.append(text)
    if len(texts) > MOST_PLACES:
        raise ValueError(
            f"the models tell apart more than {MOST_PLACES:,} texts: use a smaller depth, or "
            "models that forget what is long past"
        )
    return number


def accepted_by_position(rule: TokenRule, draft: Array, target: Array, k: int) -> Array:
    """Return how likely draft i is accepted as y, shape (k, n); 0 for drafts that there are not."""
    # In floats it is estimated where a rule has no formula and too many tuples.
    found = by_position_or_estimate(made_rule(rule, draft, target, k))
    accepted = zeros((k, len(draft)), like=draft)
    accepted[: len(found)] = found
    return accepted


def asked_widths(rule: TokenRule, widths: Sequence[int]) -> tuple[bool, list[int]]:
    """Return whether the most drafts serve all (a nested rule), and for which ones it is asked."""
    nested = bool(getattr(rule, "nested", False))
    return nested, [max(widths)] if nested else list(widths)
