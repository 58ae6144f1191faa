"""The optimum for i.i.d. drafts, without a sort: the least of its tangents (Theory, 1, 2 and 32).

With M(c) = Σ min(q, c·p) it is the least M(c) + P(at least two of k independent events of
probability r occur) over 0 ≤ r ≤ 1, c = k (1 − r)^(k−1). M is concave: between known scales it is
above its chords, and its slope is between those of the neighbors.
"""

from dataclasses import dataclass
from functools import partial

from otspec.batch._array_api import sorted_rows
from otspec.batch._array_api.control import State, decided, repeated
from otspec.batch._array_api.library import Array, Library
from otspec.batch._array_api.sums import overlaps, split

FIRST = 6  # how many scales are looked at first
NEXT = 3  # how many in each round from then on
ROUNDS = 4  # rounds in float32
FINE_ROUNDS = 7  # rounds in float64
NEARER = 1.5  # the power by which scales crowd around the place where the minimum is expected
EDGE = 0.02  # how much of a stretch there is at least on both sides of that place
SUMS = 8
"""By how many units of the last place of 1 sums of close scales may be off against each other."""
LEFT = 1  # how many such units the minimum may be below what was found


def acceptance(library: Library, draft, target, k: int) -> Array:
    """Return 1 + min over sets A of q(A) − P(all drafts inside A): (..., V), (..., V) -> (...)."""
    xp = library.xp
    if k == 1:
        one = overlaps(library, draft, target, library.full((*draft.shape[:-1], 1), 1.0))[..., 0]
        return xp.minimum(one, xp.ones_like(one))
    known = _tangents(library, draft, target, k)
    decide = partial(sorted_rows.acceptance, library, k=k)
    return decided(library, known.least(), known.is_open(), decide, draft, target)


def best_cut(library: Library, draft, target, k: int) -> tuple[Array, Array, Array]:
    """Return the c at which A, the tokens with q ≤ c·p, has that minimum; the p off A, and q(A)."""
    scale = library.full(draft.shape[:-1], 1.0)
    if k > 1:
        known = _tangents(library, draft, target, k)
        decide = partial(sorted_rows.best_scale, library, k=k)
        scale = decided(library, known.scale_of_least(), known.is_open(), decide, draft, target)
    scale = library.rounded(scale)
    return scale, *split(library, draft, target, scale)


def _tangents(library: Library, draft, target, k: int) -> "Tangents":
    """Return tangents that decide on the minimum, but for rows that are open: k at least 2."""
    xp = library.xp
    rounds = FINE_ROUNDS if library.dtype == xp.float64 else ROUNDS

    def step(state: State) -> State:
        places = Tangents(library, k, *state).places()
        more = _looked_at(library, draft, target, places, k)
        both = zip(state, more, strict=True)
        return _sorted(
            library, [xp.concat([held[..., :-NEXT], new], axis=-1) for held, new in both]
        )

    state = _first(library, draft, target, k, rounds * NEXT)
    return Tangents(library, k, *repeated(library, rounds, step, state))


def _first(library: Library, draft, target, k: int, later: int) -> State:
    """Return the first tangents, the last one as often again as others take its place later."""
    xp = library.xp
    zero = library.full((*draft.shape[:-1], 1), 0.0)
    heights = (library.widened(library.arange(FIRST)) + 1) / FIRST + zero
    at_zero = zero, zero + 1, zero
    found = _looked_at(library, draft, target, _outside_at(library, heights, k), k)
    return tuple(
        xp.concat([start, values, *[values[..., -1:]] * later], axis=-1)
        for start, values in zip(at_zero, found, strict=True)
    )


def _looked_at(library: Library, draft, target, outside, k: int) -> State:
    """Return scales at masses outside, the masses of the rounded scales, and the overlaps."""
    scales = library.rounded(_scale(library, outside, k))
    return scales, _outside(library, scales, k), overlaps(library, draft, target, scales)


def _sorted(library: Library, state: list[Array]) -> State:
    xp = library.xp
    order = xp.argsort(state[0], axis=-1)
    return tuple(xp.take_along_axis(values, order, axis=-1) for values in state)


@dataclass(frozen=True)
class Tangents:
    """What is known of a few tangents, by ascending scale."""

    library: Library
    k: int  # at least 2
    scales: Array  # (..., m): from 0 to k
    outside: Array  # (..., m): the draft mass r outside the sets that they touch, 1 to 0
    overlap: Array  # (..., m): Σ min(target, scale·draft)

    def least(self) -> Array:
        """Return the least that is known, which is at least the optimum: (...)."""
        return self.library.xp.min(self._values(), axis=-1)

    def scale_of_least(self) -> Array:
        """Return the scale of the tangent that is least, of equal ones the first: (...)."""
        return self.library.pick(self.scales, self.library.largest(-self._values()))

    def _values(self) -> Array:
        """Return the tangents: (..., m)."""
        return self.overlap + _two_outside(self.library, self.outside, self.k)

    def is_open(self) -> Array:
        """Return whether the optimum may be below that by more than rounding: (...)."""
        *_, gaps = self._between()
        return self.library.xp.any(gaps > 0, axis=-1)

    def places(self) -> Array:
        """Return where to look next: masses outside, (..., 3)."""
        # Every stretch gets its share of the places, the more the lower the optimum may be in it.
        library, xp = self.library, self.library.xp
        low, high, middle, gaps = self._between()
        # Where nothing is open any more it does not matter where.
        still = xp.max(gaps, axis=-1)[..., None] > 0
        shares = xp.where(still, gaps**0.5, xp.ones_like(gaps))
        ends = xp.cumulative_sum(shares, axis=-1)
        steps = (library.widened(library.arange(NEXT)) + 1) / (NEXT + 1)
        marks = steps * ends[..., -1:]
        passed = xp.astype(ends[..., None, :-1] <= marks[..., None], xp.int8)
        within = library.ids(xp.sum(passed, axis=-1))
        low, high, middle, share, end = (
            library.take(values, within) for values in (low, high, middle, shares, ends)
        )
        left, right, center = (_height(library, r, self.k) for r in (high, low, middle))
        # −1 to 1 from end to end of the stretch, 0 where the minimum is expected.
        part = 1 + 2 * (marks - end) / share
        near = xp.minimum(xp.abs(part), xp.ones_like(part)) ** NEARER
        edge = EDGE * (right - left)
        center = xp.minimum(xp.maximum(center, left + edge), right - edge)
        heights = center + near * (xp.where(part < 0, left, right) - center)
        return _outside_at(library, heights, self.k)

    def _between(self) -> tuple[Array, Array, Array, Array]:
        """Return what is outside between tangents (least, most, the chord's), and what is open."""
        library, xp, k = self.library, self.library.xp, self.k
        unit = float(xp.finfo(library.dtype).eps)
        rise = self.overlap[..., 1:] - self.overlap[..., :-1]
        width = self.scales[..., 1:] - self.scales[..., :-1]
        wide = width > 0
        # Of equal scales nothing follows for the neighbors.
        tiny = float(xp.finfo(width.dtype).smallest_normal)
        per = 1 / xp.where(wide, width, xp.full_like(width, tiny))
        slopes, error = rise * per, SUMS * unit * per
        end = xp.zeros_like(slopes[..., :1])
        # At an optimum the mass outside is the slope there, between those of the neighbors.
        least = xp.concat([(slopes - error)[..., 1:], end], axis=-1)
        most = xp.concat([end + float("inf"), (slopes + error)[..., :-1]], axis=-1)
        low = xp.maximum(self.outside[..., 1:], least)
        high = xp.minimum(self.outside[..., :-1], most)
        possible = wide & (high >= low)
        high = xp.maximum(low, high)
        middle = xp.minimum(xp.maximum(slopes, low), high)
        chord = slopes * (_scale(library, middle, k) - self.scales[..., :-1])
        bound = self.overlap[..., :-1] + chord + _two_outside(library, middle, k)
        gaps = self.least()[..., None] - bound
        gaps = xp.where(possible & (gaps > LEFT * unit), gaps, xp.zeros_like(gaps))
        return low, high, middle, gaps


def _scale(library: Library, outside, k: int) -> Array:
    """Return k (1 − r)^(k−1)."""
    xp = library.xp
    return float(k) * xp.exp(float(k - 1) * xp.log1p(-outside))


def _outside(library: Library, scales, k: int) -> Array:
    """Return the r of a scale."""
    xp = library.xp
    found = -xp.expm1(xp.log(scales / float(k)) / float(k - 1))
    return xp.maximum(found, xp.zeros_like(found))


def _two_outside(library: Library, outside, k: int) -> Array:
    """Return 1 − (1 − r)^k − k r (1 − r)^(k−1)."""
    xp = library.xp
    return 1 - xp.exp(float(k - 1) * xp.log1p(-outside)) * (1 + float(k - 1) * outside)


def _height(library: Library, outside, k: int) -> Array:
    """Return (1 − r)^(k/2): stretches of one height have about as much room for the optimum."""
    xp = library.xp
    return xp.exp(0.5 * float(k) * xp.log1p(-outside))


def _outside_at(library: Library, height, k: int) -> Array:
    """Return the r of a height."""
    xp = library.xp
    return -xp.expm1(xp.log(height) * (2 / float(k)))
