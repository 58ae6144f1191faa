"""Pooled selection of distinct drafts by their arrivals, then coupled (Beyond, prop. 6)."""

from dataclasses import dataclass

from otspec.batch._array_api.inversion import accepts, draw_rest, locate, off_drafts, verified
from otspec.batch._array_api.library import Array, Library, Problem
from otspec.batch._array_api.pooled.clock_pools import ArrivalPools, arrival_pools
from otspec.batch._array_api.pooled.graded_pools import group_end, group_start, split
from otspec.batch._array_api.sums import block_sums, the_target, totals
from otspec.batch._results import Verified


def verify(problem: Problem, grades: int) -> Verified:
    """Select one of the drafts by the pools of its arrivals, then couple it with the target."""
    library, draft, target = problem.library, problem.draft, problem.target
    pools = arrival_pools(library, draft, target, problem.count(), problem.k, grades)
    took = _accepted(problem, pools)
    rest = pools.law.rest()
    blocks = block_sums(library, draft, target, the_target, rest)
    return verified(problem, took, draw_rest(problem, rest, blocks, keep=problem.none()))


def acceptance(library: Library, draft, target, k: int, grades: int) -> Array:
    """Return Σ min(b, q), b the law of the selected draft."""
    count = library.full((*draft.shape[:-1], 1), float(k))
    pools = arrival_pools(library, draft, target, count, k, grades)
    whole, rest = totals(library, draft, target, the_target, pools.law.rest())
    return library.xp.clip(whole - rest, 0.0, 1.0)


def _accepted(problem: Problem, pools: ArrivalPools) -> Array:
    """Return which draft is selected and accepted, if one is: (..., k) of bool."""
    library = problem.library
    drafts = ArrivedDrafts.of(problem, pools)
    arrivals, left = drafts.arrivals(problem.uniforms[..., : problem.k])
    chosen = drafts.selection(arrivals, left[..., 0])
    index, accepting = locate(library, chosen, left[..., -1])
    took = library.arange(problem.k) == index[..., None]
    wanted = problem.wanted() * library.factor
    return problem.counted(took) & accepts(library, accepting[..., None], wanted, drafts.law)


@dataclass(frozen=True)
class Arrivals:
    """The arrivals up to the last one that counts: one that counts in each stage, after others."""

    before: Array  # (..., k): how many drafts have arrived before the stage
    token: Array  # (..., k): which draft the arrival that counts is of
    pool: Array  # (..., k): its pool
    again: Array  # (..., k): the highest pool of the stage's arrivals before it; −1: none
    arrived: Array  # (..., 1): how many drafts have arrived at the end


@dataclass(frozen=True)
class ArrivedDrafts:
    """Distinct drafts, in the order of their first arrivals; all masses are scaled."""

    library: Library
    pools: ArrivalPools
    drafted: Array  # (..., k): the draft's probabilities, 0 where a draft does not count
    heavy: Array  # (..., k): whether only the first arrival of the token counts
    below: Array  # (..., k): the lower of the two pools of each draft
    part: Array  # (..., k): how likely an arrival is in the upper one
    lefts: Array  # (..., k + 1): the draft mass off the first drafts, for each number of them
    lights: Array  # (..., k + 1): the mass of the light ones among the first drafts
    law: Array  # (..., k): what of the selected draft's law is each one's
    valid: Array  # (..., k): which drafts count, and so which stages there are

    @classmethod
    def of(cls, problem: Problem, pools: ArrivalPools) -> "ArrivedDrafts":
        """Return the drafts of a problem."""
        library, xp = problem.library, problem.library.xp
        drafted, factor, valid = problem.drafted(), library.factor, problem.which()
        heavy = drafted > pools.heavy.border
        pair = problem.draft, problem.drafts, drafted
        left = off_drafts(library, *pair, problem.valid, pools.heavy.blocks) * factor
        filled = pools.law.filled(drafted * factor, problem.wanted() * factor)
        drafted = xp.where(valid, drafted, 0.0) * factor
        below, part = pools.law.level(filled)
        light = xp.cumulative_sum(xp.where(heavy, 0.0, drafted), axis=-1)
        light = xp.concat([0 * light[..., :1], light], axis=-1)
        law = drafted * pools.law.over(filled)
        return cls(library, pools, drafted, heavy, below, part, left, light, law, valid)

    def arrivals(self, uniforms) -> tuple[Arrivals, Array]:
        """Draw the arrivals, one uniform number for each stage; return what is left of those."""
        library, xp = self.library, self.library.xp
        before, new, left = self._stages(uniforms)
        ids = library.arange(self.drafted.shape[-1])
        earlier = ids < before[..., None]
        light = xp.where(self.heavy, 0.0, self.drafted)[..., None, :]
        again, after = locate(library, xp.where(earlier, light, 0.0), left)
        token = xp.where(new, before, again)
        left = xp.where(new, left, after)
        up, left = split(library, left, library.take(self.part, token))
        pool = xp.take_along_axis(self.below, token, axis=-1) + library.ids(up)
        highest, left = locate(library, self._repeats(earlier, before), left)
        arrived = xp.sum(library.ids(new & self.valid), axis=-1, keepdims=True)
        return Arrivals(before, token, pool, highest - 1, arrived), left

    def _stages(self, uniforms) -> tuple[Array, Array, Array]:
        """Draw whether the next draft arrives: how many have before, whether, and what is left."""
        library, xp = self.library, self.library.xp
        shares = library.quotient(self.lefts, self.lefts + self.lights, otherwise=1.0)
        places = [0 * self.below[..., :1]]
        for stage in range(self.drafted.shape[-1] - 1):
            new = uniforms[..., stage : stage + 1] < library.take(shares, places[-1])
            places.append(places[-1] + library.ids(new))
        before = xp.concat(places, axis=-1)
        return before, *split(library, uniforms, library.take(shares, before))

    def _repeats(self, earlier, before) -> Array:
        """Return the law of the highest pool among the arrivals that do not count; first: none."""
        library, xp = self.library, self.library.xp
        above = self.above(library.arange(self.pools.above.shape[-1]))
        again = (earlier & self.heavy[..., None, :])[..., None]
        above = xp.sum(xp.where(again, above[..., None, :, :], 0.0), axis=-2)
        counted = xp.take_along_axis(self.lefts + self.lights, before, axis=-1)[..., None]
        # That none of them is above a knot.
        none = xp.where(above > 0, library.quotient(counted, counted + above), 1.0)
        law = xp.concat([none[..., :1], none[..., 1:] - none[..., :-1]], axis=-1)
        return xp.clip(law, min=0.0)

    def above(self, knots) -> Array:
        """Return what of each draft is above knots: (..., k), (..., m) -> (..., k, m)."""
        xp = self.library.xp
        below, knots = self.below[..., None], knots[..., None, :]
        partly = xp.where(below + 1 >= knots, self.part[..., None], 0.0)
        return self.drafted[..., None] * xp.where(below >= knots, 1.0, partly)

    def selection(self, arrivals: Arrivals, uniforms) -> Array:
        """Return how likely each draft is selected, given the arrivals and barriers: (..., k)."""
        library, xp, valid = self.library, self.library.xp, self.valid
        pool = xp.stack([arrivals.again, arrivals.pool], axis=-1)
        pool = xp.where(valid[..., None], pool, -1)
        pool = xp.reshape(pool, (*valid.shape[:-1], 2 * valid.shape[-1]))
        top = xp.clip(xp.max(pool, axis=-1, keepdims=True), min=0)
        barrier = self.pools.law.barriers(uniforms[..., None])
        ends = xp.concat([f(library, barrier, top) for f in (group_start, group_end)], axis=-1)
        both = self.above(ends)
        arrived = self.heavy & (library.arange(valid.shape[-1]) < arrivals.arrived)
        over = xp.where(arrived, both[..., 1], 0.0)
        inside = xp.where(self.heavy, both[..., 0] - both[..., 1], 0.0)
        first = self._first(arrivals, library.first(pool >= ends[..., :1])[..., None], inside)
        inside = xp.where(arrived, inside, 0.0)
        mass = xp.sum(inside, axis=-1, keepdims=True)
        counted = library.take(self.lefts + self.lights, arrivals.arrived)
        above = library.take(self.pools.above, ends)
        beyond, group = above[..., 1:], above[..., :1] - above[..., 1:]
        left = counted + xp.sum(over, axis=-1, keepdims=True)
        # Both quotients are at most 1 but for rounding, whatever is next to nothing.
        share = library.quotient(beyond, left) * library.quotient(mass, group)
        share = xp.clip(share, 0.0, 1.0)
        return (1 - share) * first + share * library.quotient(inside, mass)

    def _first(self, arrivals: Arrivals, earliest, inside) -> Array:
        """Return the law of the draft of the first arrival in a group, at 2 stage + counts."""
        library, xp = self.library, self.library.xp
        stage, counts = earliest // 2, earliest % 2 == 1
        ids = library.arange(inside.shape[-1])
        itself = ids == xp.take_along_axis(arrivals.token, stage, axis=-1)
        before = ids < xp.take_along_axis(arrivals.before, stage, axis=-1)
        among = xp.where(before, inside, 0.0)
        mass = xp.sum(among, axis=-1, keepdims=True)
        itself = library.widened(itself)
        return xp.where(counts | (mass <= 0), itself, among / mass)
