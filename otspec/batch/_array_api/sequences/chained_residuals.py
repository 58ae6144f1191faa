"""Corrections that reach to the end of a block, as the target of the next one (Block, (10)).

A block that was not kept whole is continued by residuals ∝ (M_b − M_s)₊ of the whole text since its
beginning, up to the place where it would have ended. The residual of a residual is one again:
((q − a p)₊/z − b p)₊ ∝ (q − (a + b z) p)₊. So whatever is still corrected, a place has one share
of the draft, and one mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otspec.batch._array_api.library import Array, Library
from otspec.batch._array_api.problem import Problem
from otspec.batch._array_api.sums import excess, totals
from otspec.batch._results import Corrections


@dataclass(frozen=True)
class Residuals:
    """What the target of each place is: (target − share·draft)₊ / mass.

    ``share``, ``mass``, shape (..., L): wide. ``left``, shape (..., L − 1): how many places each
    earlier block still corrects, the oldest first. ``ratios``, shape (..., L, L − 1): M_s/M_b of
    each earlier block at each place, 0 from its end on. ``shares``, ``masses``, shape (..., L, L −
    1): share and mass of what its target is there, without its own correction.
    """

    share: Array
    mass: Array
    left: Array
    ratios: Array
    shares: Array
    masses: Array

    @classmethod
    def of(
        cls, problem: Problem, owed: Corrections | None, drafted: Array, wanted: Array
    ) -> Residuals:
        """Follow what earlier blocks still correct along each block."""
        library, xp, length = problem.library, problem.library.xp, problem.k
        if owed is None or length == 1:
            none = xp.zeros_like(drafted)
            before = xp.zeros_like(drafted[..., None, 1:] + none[..., None])
            left = library.ids(none[..., 1:])
            return cls(none, none + 1, left, before, before, before + 1)
        ratios, left = library.widened(owed.ratio), library.ids(owed.left)
        places = []
        for place in range(length):
            here = _at_place(problem, place, xp.where(left > place, ratios, 0 * ratios))
            places.append(here)
            ratios = longer(library, here[2:], drafted[..., place], wanted[..., place])
        share, mass, *before = (list(column) for column in zip(*places, strict=True))
        each = (xp.stack(column, axis=-2) for column in before)
        return cls(xp.stack(share, axis=-1), xp.stack(mass, axis=-1), left, *each)

    def after(
        self, problem: Problem, tau: Array, token: Array, scaled: Array, reach: Array
    ) -> Corrections:
        """Return what is still corrected after some tokens of each block and one that was drawn.

        Shapes: ``tau``, ``token`` (...). ``scaled``, shape (...): M_s/M_b of the kept tokens times
        their mass; 0 if the block was kept whole. ``reach``, shape (...): the length that each
        block was to have.
        """
        library, xp = problem.library, problem.library.xp
        place = xp.clip(tau, max=problem.k - 1)
        drafted = _probability(library, problem.draft, place, token)
        wanted = _probability(library, problem.target, tau, token)
        here = [library.at(each, place) for each in (self.ratios, self.shares, self.masses)]
        earlier = longer(library, here, drafted, wanted)
        rest = xp.clip(wanted - library.pick(self.share, place) * drafted, min=0.0)
        its_own = xp.clip(library.quotient(scaled * drafted, rest), max=1.0)
        ratio = xp.concat([earlier, its_own[..., None]], axis=-1)[..., 1:]
        left = xp.concat([self.left, reach[..., None]], axis=-1)[..., 1:] - tau[..., None] - 1
        return Corrections(xp.where(left > 0, ratio, 0 * ratio), xp.clip(left, min=0))


def _at_place(problem: Problem, place: int, ratios: Array) -> tuple[Array, ...]:
    """Return share, mass, and of each earlier block ratio, share and mass before it."""
    library, xp = problem.library, problem.library.xp
    draft, target = problem.draft[..., place, :], problem.target[..., place, :]
    share = xp.zeros_like(ratios[..., 0])
    mass = share + 1
    shares, masses = [], []
    for block in range(ratios.shape[-1]):
        ratio = ratios[..., block]
        shares.append(share)
        masses.append(mass)
        if block < place:  # the oldest ones have ended: each block has passed a place at least
            continue
        share = share + ratio * mass
        (left,) = totals(library, draft, target, excess(library, share))
        mass = xp.where(ratio > 0, left, mass)
    return share, mass, ratios, xp.stack(shares, axis=-1), xp.stack(masses, axis=-1)


def longer(library: Library, before: Sequence[Array], drafted: Array, wanted: Array) -> Array:
    """Return M_s/M_b of texts that are longer by a token of the given probabilities."""
    ratios, shares, masses = before
    left = library.xp.clip(wanted[..., None] - shares * drafted[..., None], min=0.0)
    # What a residual may draw is likelier for the target than for the draft.
    ratio = library.quotient(ratios * drafted[..., None] * masses, left)
    return library.xp.clip(ratio, max=1.0)


def _probability(library: Library, values: Array, place: Array, token: Array) -> Array:
    """Return the probability of a token at a place, wide: (..., L, V), (...), (...) -> (...)."""
    ids = library.xp.clip(token, min=0)[..., None]
    return library.take(library.at(values, place), ids)[..., 0]
