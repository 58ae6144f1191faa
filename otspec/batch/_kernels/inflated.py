"""K-Seq: the drafts are tried against ρ times the draft (SpecTr, alg. 2; Theory, 6).

With β = Σ min(p, q/ρ) the residual after k rejections is ∝ q − min(p, q/ρ) g, where
g = 1 + (1−β) + … + (1−β)^{k−1}. That is lossless for every ρ ≥ ρ*, where ρ* = g.
"""

from __future__ import annotations

from collections.abc import Callable

from otspec.batch._kernels.coupling import accepts, draw_rest, verified
from otspec.batch._kernels.library import Array, Library, geometric
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.sums import block_sums, excess, overlaps, the_target, totals
from otspec.batch._results import Verified

_FIRST = 0.2
"""Where ρ is tried first, between 1 and k."""
_SECOND = 0.6
"""Where it is tried next, between two guesses of ρ*."""
_SECTIONS = 64
"""Into how many parts the bracket of a root is cut at once."""
_CUTS = 3
"""How often: the bracket shrinks by 2^18."""
_ROUGH = 1
"""How often for a place to look at next."""


def verify(problem: Problem) -> Verified:
    """Accept each draft x in turn with probability min(1, q(x) / (ρ p(x)))."""
    library, xp = problem.library, problem.library.xp
    draft, target, count = problem.draft, problem.target, problem.count()
    rho = safe_rho(library, draft, target, count)
    rest = excess(library, rho)
    blocks = block_sums(library, draft, target, the_target, rest)
    offered = rho[..., None] * problem.drafted()
    took = problem.valid & accepts(problem.uniforms[..., : problem.k], problem.wanted(), offered)
    # ρβ = Σ min(q, ρp) is what remains of q without its excess over ρp.
    beta = (xp.sum(blocks[0], axis=-1) - xp.sum(blocks[1], axis=-1)) / rho
    ratio = geometric(library, xp.clip(beta, 0.0, 1.0), xp.clip(count, min=1.0)) / rho
    # q − min(p, q/ρ) g = (1 − g/ρ) q + (g/ρ) (q − ρp)₊
    keep = xp.where(count > 0, xp.clip(1 - ratio, 0.0, 1.0), xp.ones_like(rho))
    drawn = draw_rest(problem, rest, blocks, keep=keep)
    return verified(library, problem.drafts, problem.valid, took, drawn)


def acceptance(library: Library, draft: Array, target: Array, k: int) -> Array:
    """Return 1 − (1 − β)^k, and the residual draws that happen to be one of the drafts."""
    xp = library.xp
    count = library.full(draft.shape[:-1], float(k))
    rho = safe_rho(library, draft, target, count)
    beta = xp.clip(overlaps(library, draft, target, rho[..., None])[..., 0] / rho, 0.0, 1.0)
    missed, gain = 1 - beta, geometric(library, beta, count)
    scale, gain_, missed_ = (
        library.narrowed(value)[..., None] for value in (1 / rho, gain, missed)
    )

    def hits(draft: Array, target: Array) -> Array:
        kept = xp.minimum(draft, scale * target)
        residual = target - xp.minimum(target, gain_ * kept)
        share = xp.clip((draft - kept) / xp.where(missed_ > 0, missed_, 1 + 0 * missed_), 0.0, 1.0)
        # 1 − (1 − share)^k, given that all drafts are rejected, which `residual` counts.
        return residual * share * geometric(library, share, float(k) + 0 * share)

    return xp.clip(beta * gain + totals(library, draft, target, hits)[0], 0.0, 1.0)


def safe_rho(library: Library, draft: Array, target: Array, count: Array) -> Array:
    """Return a ρ per row that is at least ρ*, and close to it: shape (...), wide and rounded."""
    xp = library.xp
    many = xp.clip(count, min=1.0)
    one = xp.ones_like(many)
    tried = library.rounded(xp.stack([one, 1 + _FIRST * (many - 1)], axis=-1))
    values = overlaps(library, draft, target, tried)
    zero = xp.zeros_like(one)[..., None]
    # The overlap is 0 at 0, and does not fall up to k, where every rule is valid.
    curve = _Chords(
        library,
        xp.concat([zero, tried, many[..., None]], axis=-1),
        xp.concat([zero, values, values[..., -1:]], axis=-1),
        many,
    )
    within = curve.bracket()
    high = curve.root(within, curve.chord(within), cuts=_ROUGH)
    low = curve.root(within, curve.extended(within), cuts=_ROUGH, lower=True)
    tried = library.rounded(xp.stack([low, low + _SECOND * (high - low)], axis=-1))
    values = overlaps(library, draft, target, tried)
    ends, at_ends = curve.ends(within)
    curve = _Chords(
        library,
        xp.concat([ends[..., :1], tried, ends[..., 1:]], axis=-1),
        xp.concat([at_ends[..., :1], values, at_ends[..., 1:]], axis=-1),
        many,
    )
    within = curve.bracket()
    rho = curve.root(within, curve.chord(within))
    # Rounded up rather than down.
    return library.rounded(xp.where(rho > 1, rho * (1 + _half_step(library)), one))


def _half_step(library: Library) -> float:
    return float(library.xp.finfo(library.dtype).eps) / 2


class _Chords:
    """The overlap M(ρ) = Σ min(q, ρp), known at ascending ρ, and chords in between.

    Parameters
    ----------
    library : Library
    at, values : array, shape (..., m)
        ρ and M(ρ); every root sought is at most the last ρ.
    count : array, shape (...)
        How many drafts.
    """

    def __init__(self, library: Library, at: Array, values: Array, count: Array) -> None:
        self.library, self.at, self.values, self.count = library, at, values, count

    def valid(self, rho: Array, overlap: Array) -> Array:
        """Return whether ρ is at least g, so that the rule is lossless: (..., m)."""
        xp = self.library.xp
        chance = xp.clip(self.library.quotient(overlap, rho), 0.0, 1.0)
        # Up to the rounding of g, lest equal rows be taken for a little different ones.
        step = 2 * float(xp.finfo(self.library.wide).eps)
        return rho * (1 + step) >= geometric(self.library, chance, self.count[..., None])

    def bracket(self) -> Array:
        """Return the index of the first valid ρ, at least 1: shape (...)."""
        xp = self.library.xp
        valid = self.valid(self.at, self.values)
        last = self.at.shape[-1] - 1
        ids = self.library.arange(last + 1)
        return self.library.first((valid & (ids > 0)) | (ids == last)) + xp.zeros_like(ids[0])

    def ends(self, within: Array) -> tuple[Array, Array]:
        """Return ρ and M at both ends of a bracket, each (..., 2)."""
        both = self.library.xp.stack([within - 1, within], axis=-1)
        take = self.library.take
        return take(self.at, both), take(self.values, both)

    def chord(self, within: Array) -> Callable[[Array], Array]:
        """Return the chord of a bracket, which is below M there."""
        at, values = self.ends(within)
        slope = self._slope(at, values)
        return lambda rho: values[..., :1] + slope * (rho - at[..., :1])

    def extended(self, within: Array) -> Callable[[Array], Array]:
        """Return the lower of the two neighbouring chords, extended: above M in the bracket."""
        xp = self.library.xp
        last = self.at.shape[-1] - 1
        before = xp.clip(within - 1, min=1)
        after = xp.clip(within + 1, max=last)
        low, high = self.chord(before), self.chord(after)
        bracketed = self.chord(within)

        def upper(rho: Array) -> Array:
            own = bracketed(rho)
            # Where there is no neighbour the chord itself would be taken: then take the other.
            left = xp.where((before == within)[..., None], high(rho), low(rho))
            right = xp.where((after == within)[..., None], left, high(rho))
            return xp.maximum(xp.minimum(left, right), own)

        return upper

    def root(
        self,
        within: Array,
        curve: Callable[[Array], Array],
        *,
        cuts: int = _CUTS,
        lower: bool = False,
    ) -> Array:
        """Return where a curve between the ends of a bracket becomes valid: shape (...).

        From above, or from below if ``lower``.
        """
        library = self.library
        at, _ = self.ends(within)
        low, high = at[..., 0], at[..., 1]
        steps = library.widened(library.arange(_SECTIONS + 1)) / _SECTIONS
        for _ in range(cuts):
            rho = low[..., None] + (high - low)[..., None] * steps
            valid = self.valid(rho, curve(rho))
            # The upper end counts as valid, the lower one as not.
            ids = library.arange(_SECTIONS + 1)
            here = library.first((valid & (ids > 0)) | (ids == _SECTIONS))
            low, high = library.pick(rho, here - 1), library.pick(rho, here)
        return low if lower else high

    def _slope(self, at: Array, values: Array) -> Array:
        rise = values[..., 1:] - values[..., :1]
        return self.library.quotient(rise, at[..., 1:] - at[..., :1])
