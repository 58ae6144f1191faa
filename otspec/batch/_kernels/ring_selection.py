"""Pooled selection of distinct drafts by their rings, then coupled (Beyond, prop. 6)."""

from __future__ import annotations

from dataclasses import dataclass

from otspec.batch._kernels.barriers import group_end, group_start
from otspec.batch._kernels.coupling import accepts, draw_rest, verified
from otspec.batch._kernels.inversion import locate, without
from otspec.batch._kernels.library import Array, Library
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.ring_pools import RingPools, ring_pools
from otspec.batch._kernels.sums import block_sums, the_draft, the_target, totals
from otspec.batch._results import Verified


def verify(problem: Problem, grades: int) -> Verified:
    """Select one of the drafts by the pools of its rings, then couple it with the target."""
    library, draft, target = problem.library, problem.draft, problem.target
    pools = ring_pools(library, draft, target, problem.count(), problem.k, grades)
    took = _accepted(problem, pools)
    rest = pools.law.rest()
    blocks = block_sums(library, draft, target, the_target, rest)
    undrafted = library.widened(problem.count() == 0)
    drawn = draw_rest(problem, rest, blocks, keep=undrafted)
    return verified(library, problem.drafts, problem.valid, took, drawn)


def acceptance(library: Library, draft: Array, target: Array, k: int, grades: int) -> Array:
    """Return Σ min(b, q), b the law of the selected draft."""
    count = library.full(draft.shape[:-1], float(k))
    pools = ring_pools(library, draft, target, count, k, grades)
    whole, rest = totals(library, draft, target, the_target, pools.law.rest())
    return library.xp.clip(whole - rest, 0.0, 1.0)


def _accepted(problem: Problem, pools: RingPools) -> Array:
    """Return which draft is selected and accepted, if one is: (..., k) of bool."""
    library = problem.library
    drafts = RungDrafts.of(problem, pools)
    rings, left = drafts.ring(problem.uniforms[..., : problem.k])
    chosen = drafts.selection(rings, left[..., 0])
    index, accepting = locate(library, chosen, left[..., -1])
    took = library.arange(problem.k) == index[..., None]
    law = pools.law.law(drafts.drafted, drafts.below, drafts.part)
    wanted = problem.wanted() * library.lift
    return took & problem.valid & accepts(accepting[..., None], wanted, law)


@dataclass(frozen=True)
class Rings:
    """The rings up to the last one that counts: one that counts in each stage, after others.

    Parameters
    ----------
    before : array of int, shape (..., k)
        How many drafts have rung before the stage.
    token : array of int, shape (..., k)
        Which draft the ring that counts is of.
    pool : array of int, shape (..., k)
        Its pool.
    again : array of int, shape (..., k)
        The highest pool of the rings before it in the stage, −1 if there are none.
    rung : array of int, shape (...)
        How many drafts have rung at the end.
    """

    before: Array
    token: Array
    pool: Array
    again: Array
    rung: Array


@dataclass(frozen=True)
class RungDrafts:
    """Distinct drafts, in the order of their first rings; all masses are lifted.

    Parameters
    ----------
    library : Library
    pools : RingPools
    drafted : array, shape (..., k)
        The draft's probabilities, 0 where a draft does not count.
    heavy : array of bool, shape (..., k)
        Whether only the first ring of the token counts.
    below : array of int, shape (..., k)
        The lower of the two pools of each draft.
    part : array, shape (..., k)
        How likely a ring is in the upper one.
    lefts : array, shape (..., k + 1)
        The draft mass off the first drafts, for each number of them.
    lights : array, shape (..., k + 1)
        The mass of the light ones among the first drafts.
    valid : array of bool, shape (..., k)
        Which drafts count, and so which stages there are.
    """

    library: Library
    pools: RingPools
    drafted: Array
    heavy: Array
    below: Array
    part: Array
    lefts: Array
    lights: Array
    valid: Array

    @classmethod
    def of(cls, problem: Problem, pools: RingPools) -> RungDrafts:
        """Return the drafts of a problem."""
        library, xp = problem.library, problem.library.xp
        drafted = problem.drafted()
        heavy = drafted > pools.heavy.border
        lift = library.lift
        below, part = pools.law.position(drafted * lift, problem.wanted() * lift)
        drafted = xp.where(problem.valid, drafted, xp.zeros_like(drafted)) * lift
        pair, blocks = (library, problem.draft, problem.draft), pools.heavy.blocks
        lefts = [xp.sum(blocks, axis=-1)]
        for i in range(problem.k):
            less = without(*pair, the_draft, blocks, problem.drafts[..., : i + 1])
            blocks = xp.where(problem.valid[..., i : i + 1], less, blocks)
            lefts.append(xp.sum(blocks, axis=-1))
        left = xp.stack(lefts, axis=-1) * lift
        light = xp.cumulative_sum(xp.where(heavy, xp.zeros_like(drafted), drafted), axis=-1)
        light = xp.concat([xp.zeros_like(light[..., :1]), light], axis=-1)
        return cls(library, pools, drafted, heavy, below, part, left, light, problem.valid)

    def ring(self, uniforms: Array) -> tuple[Rings, Array]:
        """Draw the rings, one uniform number for each stage; and return what is left of those."""
        library, xp = self.library, self.library.xp
        before, new, left = self._stages(uniforms)
        ids = library.arange(self.drafted.shape[-1])
        earlier = ids < before[..., None]
        nothing = xp.zeros_like(self.drafted)
        light = xp.where(self.heavy, nothing, self.drafted)[..., None, :]
        again, after = locate(library, xp.where(earlier, light, xp.zeros_like(light)), left)
        token = xp.where(new, before, again)
        left = xp.where(new, left, after)
        up, left = self._split(left, library.take(self.part, token))
        pool = xp.take_along_axis(self.below, token, axis=-1) + library.ids(up)
        highest, left = locate(library, self._repeats(earlier, before), left)
        rung = xp.sum(library.ids(new & self.valid), axis=-1)
        return Rings(before, token, pool, highest - 1, library.ids(rung)), left

    def _stages(self, uniforms: Array) -> tuple[Array, Array, Array]:
        """Draw for each stage whether the next draft rings or a light one again.

        Returns
        -------
        before : array of int, shape (..., k)
            How many drafts have rung before the stage.
        new : array of bool, shape (..., k)
        left : array, shape (..., k)
            What is left of the uniform numbers.
        """
        library, xp = self.library, self.library.xp
        counted = self.lefts + self.lights
        shares = library.quotient(self.lefts, counted, otherwise=1.0)
        rung = xp.zeros_like(self.below[..., 0])
        places, news, lefts = [], [], []
        for stage in range(self.drafted.shape[-1]):
            new, left = self._split(uniforms[..., stage], library.pick(shares, rung))
            places.append(rung)
            news.append(new)
            lefts.append(left)
            rung = rung + library.ids(new)
        before, new, left = (xp.stack(part, axis=-1) for part in (places, news, lefts))
        return before, new, left

    def _split(self, uniforms: Array, chances: Array) -> tuple[Array, Array]:
        """Return whether uniform numbers are below chances, and numbers that are uniform again."""
        library = self.library
        low = uniforms < chances
        left = library.xp.where(
            low,
            library.quotient(uniforms, chances),
            library.quotient(uniforms - chances, 1 - chances),
        )
        return low, left

    def _repeats(self, earlier: Array, before: Array) -> Array:
        """Return the law of the highest pool among the rings that do not count, stage by stage.

        (..., k, m + 2): first that there are none.
        """
        library, xp = self.library, self.library.xp
        last = self.pools.lifetimes.shape[-1] - 1
        above = self.above(library.arange(last + 1) + 0 * self.below[..., :1])
        again = (earlier & self.heavy[..., None, :])[..., None]
        every = above[..., None, :, :]
        above = xp.sum(xp.where(again, every, xp.zeros_like(every)), axis=-2)
        counted = xp.take_along_axis(self.lefts + self.lights, before, axis=-1)[..., None]
        # That none of them is above a knot.
        none = xp.where(above > 0, library.quotient(counted, counted + above), 1 + 0 * above)
        law = xp.concat([none[..., :1], none[..., 1:] - none[..., :-1]], axis=-1)
        return xp.clip(law, min=0.0)

    def above(self, knots: Array) -> Array:
        """Return what of each draft is above knots: (..., k), (..., m) -> (..., k, m)."""
        xp = self.library.xp
        below, part = self.below[..., None], self.part[..., None]
        knots = knots[..., None, :]
        partly = xp.where(below + 1 >= knots, part, 0 * part)
        return self.drafted[..., None] * xp.where(below >= knots, 1 + 0 * part, partly)

    def selection(self, rings: Rings, barriers: Array) -> Array:
        """Return how likely each draft is selected, given the rings: (..., k)."""
        library, xp = self.library, self.library.xp
        pool = xp.stack([rings.again, rings.pool], axis=-1)
        pool = xp.where(self.valid[..., None], pool, xp.full_like(pool, -1))
        pool = xp.reshape(pool, (*self.valid.shape[:-1], 2 * self.valid.shape[-1]))
        top = xp.clip(xp.max(pool, axis=-1), min=0)
        lowest = group_start(library, self.pools.lifetimes, top, barriers)
        end = group_end(library, self.pools.lifetimes, top, barriers)
        both = self.above(xp.stack([lowest, end], axis=-1))
        zero = xp.zeros_like(self.drafted)
        over = xp.where(self.heavy, both[..., 1], zero)
        inside = xp.where(self.heavy, both[..., 0] - both[..., 1], zero)
        earliest = library.first(pool >= lowest[..., None])
        first = self._first(rings, earliest, inside)
        ids = library.arange(self.drafted.shape[-1])
        rung = ids < rings.rung[..., None]
        inside, over = (xp.where(rung, part, zero) for part in (inside, over))
        mass = xp.sum(inside, axis=-1, keepdims=True)
        counted = library.pick(self.lefts + self.lights, rings.rung)[..., None]
        beyond = library.pick(self.pools.above, end)[..., None]
        group = library.pick(self.pools.above, lowest)[..., None] - beyond
        left = counted + xp.sum(over, axis=-1, keepdims=True)
        # Both quotients are at most 1 but for rounding, whatever is next to nothing.
        share = library.quotient(beyond, left) * library.quotient(mass, group)
        share = xp.clip(share, 0.0, 1.0)
        return (1 - share) * first + share * library.quotient(inside, mass)

    def _first(self, rings: Rings, earliest: Array, inside: Array) -> Array:
        """Return the law of the draft that a group rings first at: (..., k).

        Parameters
        ----------
        rings : Rings
        earliest : array of int, shape (...)
            Where it does: 2 s + 1 for the ring of stage s that counts, 2 s for those before it.
        inside : array, shape (..., k)
            What of each heavy draft is in the group.
        """
        library, xp = self.library, self.library.xp
        stage, counts = earliest // 2, (earliest % 2 == 1)[..., None]
        ids = library.arange(inside.shape[-1])
        itself = library.widened(ids == library.pick(rings.token, stage)[..., None])
        before = ids < library.pick(rings.before, stage)[..., None]
        among = xp.where(before, inside, xp.zeros_like(inside))
        mass = xp.sum(among, axis=-1, keepdims=True)
        among = xp.where(mass > 0, library.quotient(among, mass), itself)
        return xp.where(counts, itself, among)
