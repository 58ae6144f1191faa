"""Graded pools: a draft is selected by barriers, then coupled maximally (Pooled, prop. 4, 7)."""

import math
from dataclasses import dataclass

from otspec.batch._array_api import sums
from otspec.batch._array_api.inversion import accepts, draw_rest, verified
from otspec.batch._array_api.library import Array, Library, Problem
from otspec.batch._results import Verified


def barriers(library: Library, widths, rises, tight) -> Array:
    """Return which of the inner knots, of number 1 to m, are barriers: (..., m)."""
    # B is the law that is wanted below each knot, and G the probability that all drafts are below.
    # Given the draft mass of each pool and by how much B − u G rises over it, the barriers at u are
    # the corners of the lower convex hull of B − u G: each chord that ends at one is less steep
    # than each that begins there. `tight`, where B is as low as it can be, is always one.
    xp = library.xp
    ids = library.arange(widths.shape[-1])
    behind = ids[:, None] <= ids
    width, rise = (
        xp.cumulative_sum(xp.where(behind, part[..., None, :], 0.0), axis=-1)
        for part in (widths, rises)
    )
    # From each knot to each later one; of two knots in one place either may be the barrier.
    chords, apart = rise / width, width > 0
    ending = xp.max(xp.where(apart, chords, -math.inf), axis=-2)
    beginning = xp.min(xp.where(apart, chords, math.inf), axis=-1)
    # Slopes that are equal up to rounding make no corner.
    ending = ending * (1 + 16 * float(xp.finfo(library.wide).eps))
    return (beginning[..., 1:] > ending[..., :-1]) | (ids[1:] == tight)


def group_start(library: Library, barrier, top) -> Array:
    """Return the lowest pool of the group that holds pool ``top``, shape (..., 1)."""
    ids = library.arange(barrier.shape[-1]) + 1
    below = library.xp.where(barrier & (ids <= top), ids, 0)
    return library.xp.max(below, axis=-1, keepdims=True)


def group_end(library: Library, barrier, top) -> Array:
    """Return the knot above the group that holds pool ``top``, shape (..., 1)."""
    last = barrier.shape[-1] + 1
    ids = library.arange(last - 1) + 1
    above = library.xp.where(barrier & (ids > top), ids, last)
    return library.xp.min(above, axis=-1, keepdims=True)


def ascending(library: Library, values) -> Array:
    """Return running maxima, at least 0."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    return xp.max(xp.where(earlier, values[..., None, :], 0.0), axis=-1)


def descending(library: Library, values) -> Array:
    """Return running minima."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    return xp.min(xp.where(earlier, values[..., None, :], math.inf), axis=-1)


LOWEST = 0.5  # the lowest positive grade


def verify(problem: Problem, grades: int) -> Verified:
    """Select one of the drafts by graded pools, then couple it maximally with the target."""
    library, draft, target = problem.library, problem.draft, problem.target
    pools = graded_pools(library, draft, target, problem.count(), grades)
    took, rest = _accepted(problem, pools), pools.rest()
    blocks = sums.block_sums(library, draft, target, sums.the_target, rest)
    return verified(problem, took, draw_rest(problem, rest, blocks, keep=problem.none()))


def acceptance(library: Library, draft, target, k: int, grades: int) -> Array:
    """Return Σ min(b, q), b the law of the selected draft."""
    count = library.full((*draft.shape[:-1], 1), float(k))
    pools = graded_pools(library, draft, target, count, grades)
    whole, rest = sums.totals(library, draft, target, sums.the_target, pools.rest())
    return library.xp.clip(whole - rest, 0.0, 1.0)


def _accepted(problem: Problem, pools: "GradedPools") -> Array:
    """Return which draft is selected and accepted, if one is: (..., k) of bool."""
    library, xp = problem.library, problem.library.xp
    drafted, wanted = problem.drafted(), problem.wanted()
    filled = pools.filled(drafted, wanted)
    below, part = pools.level(filled)
    up, left = split(library, problem.uniforms[..., : problem.k], part)
    pool = below + library.ids(up)
    pool = pool if problem.valid is None else xp.where(problem.valid, pool, 0)
    top = xp.max(pool, axis=-1, keepdims=True)
    lowest = group_start(library, pools.barriers(left[..., :1]), top)
    among = problem.counted(pool >= lowest)
    number = xp.cumulative_sum(library.widened(among), axis=-1)
    size = number[..., -1:]
    choice = left[..., -1:] * size
    place = xp.minimum(xp.floor(choice), size - 1)
    chosen = among & (number == place + 1)
    return chosen & accepts(library, choice - place, wanted, drafted * pools.over(filled))


def split(library: Library, uniforms, chances) -> tuple[Array, Array]:
    """Return whether uniform numbers are below chances, and numbers that are uniform again."""
    # Given on which side of a chance it is, a uniform number is uniform on that side.
    xp = library.xp
    low = uniforms < chances
    share = xp.where(low, chances, 1 - chances)
    return low, xp.where(low, uniforms, uniforms - chances) / share


@dataclass(frozen=True)
class GradedPools:
    """How drafts are put into pools, and the law of the selected one, row by row."""

    library: Library
    grades: Array  # (..., m + 1): t_0 = 0 to t_m, wide and rounded
    slopes: Array  # (..., m + 1): each pool's probability to be selected over its draft mass
    widths: Array  # (..., m + 1): the draft mass of each pool, scaled
    gains: Array  # (..., m + 1): the rise over each pool of G, the probability that all are below
    tight: Array  # (..., 1): the knot at the cut
    factor: float  # a power of two

    def barriers(self, uniforms) -> Array:
        """Return which inner knots are barriers at uniform numbers: (..., 1) -> (..., m)."""
        # In a unit of which neither rises nor what they are over widths is out of range.
        unit = math.sqrt(self.factor)
        rises = self.slopes / unit * self.widths - uniforms * unit * self.gains
        return barriers(self.library, self.widths, rises, self.tight)

    def rest(self) -> sums.KnownWeight:
        """Return the weight (q − b)₊."""
        # It is zero up to the pool j below `high`, and b = min(A p + σ q, high·p) from there on: f
        # rises linearly from t_j to t_{j+1}, or is constant.
        library, xp = self.library, self.library.xp
        grades, slopes, high = self.grades, self.slopes, self.slopes[..., -1:]
        before = grades <= high
        grade = xp.max(xp.where(before, grades, 0.0), axis=-1, keepdims=True)
        slope = xp.max(xp.where(before, slopes, 0.0), axis=-1, keepdims=True)
        after = xp.min(xp.where(before, math.inf, grades), axis=-1, keepdims=True)
        rise = xp.clip((high - slope) / (after - grade), 0.0, 1.0)
        start = slope - rise * grade
        line = tuple(map(library.narrowed, (start, rise, high)))
        return sums.KnownWeight("line", library, line, excess=True)

    def filled(self, drafted, wanted) -> Array:
        """Return how far each ratio is from each grade to the next, 0 to 1: (..., k, m)."""
        library, xp = self.library, self.library.xp
        # What is never drafted is in the lowest pool if it is not wanted, else in the highest.
        ratios = wanted / (drafted + float(xp.finfo(library.wide).smallest_normal))
        grades = self.grades[..., None, :]
        scale = 1 / (grades[..., 1:] - grades[..., :-1])
        return xp.clip(ratios[..., None] * scale - grades[..., :-1] * scale, 0.0, 1.0)

    def level(self, filled) -> tuple[Array, Array]:
        """Return the pool at or below each ratio, and how far it is to the next: (..., k) each."""
        library, xp = self.library, self.library.xp
        whole = filled >= 1
        part = xp.sum(xp.where(whole, 0.0, filled), axis=-1)
        return xp.sum(library.ids(whole), axis=-1), part

    def over(self, filled) -> Array:
        """Return b over the draft mass of each draft, given how far it has :meth:`filled` pools."""
        slopes = self.slopes[..., None, :]
        rises = slopes[..., 1:] - slopes[..., :-1]
        return slopes[..., 0] + self.library.xp.sum(filled * rises, axis=-1)


def even_grades(library: Library, count, grades: int) -> Array:
    """Return t_0 = 0 and t_j = 1/2 + (k − 1/2)(j − 1)/(m − 1): (..., 1) -> (..., m + 1)."""
    # Wide and rounded; k is the count of each row, at least 1.
    steps = library.widened(library.arange(grades)) / (grades - 1)
    positive = library.rounded(LOWEST + (count - LOWEST) * steps)
    return library.xp.concat([0 * count, positive], axis=-1)


def graded_pools(library: Library, draft, target, count, grades: int) -> GradedPools:
    """Return the pools and the best law that they allow; the count is (..., 1)."""
    # Σ min(q, t p) at the grades gives the draft mass of each pool. The pools are then an alphabet
    # of m + 1 tokens of ratios t_j, and their optimal law is that of proposition 3 in the
    # documentation: clip(t_j, low, high), low and high from two tangents.
    xp = library.xp
    count = xp.clip(count, min=1.0)
    at = even_grades(library, count, grades)
    zero = 0 * count
    values = xp.concat([zero, sums.overlaps(library, draft, target, at[..., 1:])], axis=-1)
    above = (values[..., 1:] - values[..., :-1]) / (at[..., 1:] - at[..., :-1])
    inner = xp.clip(ascending(library, 1 - above), 0.0, 1.0)
    knots = xp.concat([zero, inner, zero + 1], axis=-1)
    return best_pools(library, at, 1 - knots, knots**count)


def best_pools(library: Library, at, above, inside, factor: float = 1.0) -> GradedPools:
    """Return the pools with the best law, given the draft mass above each knot, and G (prop. 3)."""
    xp = library.xp
    widths = above[..., :-1] - above[..., 1:]
    wanted = xp.cumulative_sum((at if factor == 1 else at / factor) * widths, axis=-1)
    wanted = xp.concat([0 * wanted[..., :1], wanted], axis=-1)
    gap = inside - wanted
    tight = library.largest(gap)[..., None]
    raised = wanted + xp.max(gap, axis=-1, keepdims=True)
    low, high = _tangents(library, factor, above, raised)
    slopes = xp.minimum(xp.maximum(at, low), high)
    return GradedPools(
        library, at, slopes, widths, inside[..., 1:] - inside[..., :-1], tight, factor
    )


def _tangents(library: Library, factor: float, above, raised) -> tuple[Array, Array]:
    """Return the least and the largest slope of the law, at most and at least 1: (..., 1) each."""
    # They are those of the lines from (0, 0) and from (1, 1) that touch the raised target curve.
    xp, under = library.xp, factor - above
    rises = xp.where(under > 0, raised / under, 1 / factor)
    falls = xp.where(above > 0, (1 - raised) / above, 1 / factor)
    low, high = xp.min(rises, axis=-1, keepdims=True), xp.max(falls, axis=-1, keepdims=True)
    return xp.clip(factor * low, max=1.0), xp.clip(factor * high, min=1.0)
