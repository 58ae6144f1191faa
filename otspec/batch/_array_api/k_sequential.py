"""K-Seq: the drafts are tried against ρ times the draft (SpecTr, alg. 2; Theory, 6)."""

import math

from otspec.batch._array_api.inversion import accepts, draw_rest, verified
from otspec.batch._array_api.library import Array, Library, Problem, geometric
from otspec.batch._array_api.sums import block_sums, excess, overlaps, the_target, totals
from otspec.batch._results import Verified

FIRST = 0.3  # where ρ is tried first, between 1 and k
SECOND = 0.8  # where it is tried next, between two guesses of ρ*
STEPS = 2  # how often the last guess is made better


def verify(problem: Problem) -> Verified:
    """Accept each draft x in turn with probability min(1, q(x) / (ρ p(x)))."""
    library, xp = problem.library, problem.library.xp
    draft, target, count = problem.draft, problem.target, problem.count()
    rho = safe_rho(library, draft, target, count)
    rest = excess(library, rho)
    blocks = block_sums(library, draft, target, the_target, rest)
    offered = rho[..., None] * problem.drafted()
    took = accepts(library, problem.uniforms[..., : problem.k], problem.wanted(), offered)
    # ρβ = Σ min(q, ρp) is what remains of q without its excess over ρp.
    beta = xp.clip(xp.sum(blocks[0] - blocks[1], axis=-1) / rho, 0.0, 1.0)
    ratio = geometric(library, beta, xp.clip(count[..., 0], min=1.0)) / rho
    # q − min(p, q/ρ) g = (1 − g/ρ) q + (g/ρ) (q − ρp)₊
    keep = xp.clip(1 - ratio, 0.0, 1.0)
    keep = keep if problem.valid is None else xp.maximum(keep, problem.none())
    drawn = draw_rest(problem, rest, blocks, keep=keep)
    return verified(problem, problem.counted(took), drawn)


def acceptance(library: Library, draft, target, k: int) -> Array:
    """Return 1 − (1 − β)^k, and the residual draws that happen to be one of the drafts."""
    xp = library.xp
    count = library.full((*draft.shape[:-1], 1), float(k))
    rho = safe_rho(library, draft, target, count)
    beta = xp.clip(overlaps(library, draft, target, rho[..., None])[..., 0] / rho, 0.0, 1.0)
    missed, gain = 1 - beta, geometric(library, beta, float(k))
    scale, gain_, missed_ = (
        library.narrowed(value)[..., None] for value in (1 / rho, gain, missed)
    )

    def hits(draft, target) -> Array:
        kept = xp.minimum(draft, scale * target)
        residual = target - xp.minimum(target, gain_ * kept)
        share = xp.clip((draft - kept) / xp.where(missed_ > 0, missed_, 1.0), 0.0, 1.0)
        # 1 − (1 − share)^k, given that all drafts are rejected, which `residual` counts.
        return residual * share * geometric(library, share, float(k))

    return xp.clip(beta * gain + totals(library, draft, target, hits)[0], 0.0, 1.0)


def safe_rho(library: Library, draft, target, count) -> Array:
    """Return a ρ per row that is at least ρ*, and close to it: shape (...), wide and rounded."""
    # The count is (..., 1). The overlap M(ρ) = Σ min(q, ρp) is looked at in two places, then in two
    # more. It is concave, so that ρ is safe if it would be at the chord below M.
    xp = library.xp
    count = xp.clip(count, min=1.0)
    one = 0 * count + 1
    at = library.rounded(xp.concat([one, 1 + FIRST * (count - 1)], axis=-1))
    values = _overlaps(library, draft, target, at)
    needed = _needed(library, values, count)
    guess = xp.minimum(_secant(library, at, at - needed), count)
    # ρ* is at least what it would be if β were the same as at 1, or M as at the other place, if
    # that is above ρ*.
    bound = xp.maximum(geometric(library, values[..., :1], count), needed[..., 1:])
    low = xp.minimum(guess, bound)
    apart = xp.maximum(guess, bound) - low
    tried = library.rounded(xp.concat([low, low + SECOND * apart], axis=-1))
    values = xp.concat([values, _overlaps(library, draft, target, tried)], axis=-1)
    # M is 0 at 0, and does not fall up to k, where every rule is valid.
    most = xp.max(values, axis=-1, keepdims=True)
    at = xp.concat([0 * one, at, tried, count], axis=-1)
    values = xp.concat([0 * one, values, most], axis=-1)
    rho = _safe_between(library, at, values, count)[..., 0]
    # Rounded up rather than down.
    step = float(xp.finfo(library.dtype).eps) / 2
    return library.rounded(xp.where(rho > 1, rho * (1 + step), 1.0))


def _overlaps(library: Library, draft, target, scales) -> Array:
    """Return M, at most 1, up to rounding, lest equal rows be taken for a little different ones."""
    step = 2 * float(library.xp.finfo(library.wide).eps)
    return library.xp.clip(overlaps(library, draft, target, scales) * (1 + step), max=1.0)


def _needed(library: Library, overlap, count) -> Array:
    """Return the least ρ at which an overlap is enough: M/(1 − (1 − M)^(1/k))."""
    # It is enough at ρ where that is no more than ρ: that is ρ ≥ g.
    xp = library.xp
    less = -overlap
    return xp.where(overlap > 0, less / xp.expm1(xp.log1p(less) / count), count)


def _secant(library: Library, at, slack) -> Array:
    """Return where a line through two points, (..., 2), is 0: (..., 1)."""
    wide, rise = at[..., 1:] - at[..., :1], slack[..., 1:] - slack[..., :1]
    return at[..., 1:] - library.quotient(slack[..., 1:] * wide, rise)


def _safe_between(library: Library, at, values, count) -> Array:
    """Return a ρ that is valid at the chord of M around ρ*: (..., m) -> (..., 1)."""
    # Of the places at least the first is not valid, and the last one, k, counts as valid.
    xp = library.xp
    slack = at - _needed(library, values, count)
    valid = ((slack >= 0) | (at >= count))[..., None, :]
    points = xp.stack([at, values, slack], axis=-2)
    before = xp.max(xp.where(valid, -math.inf, points), axis=-1)
    after = xp.min(xp.where(valid, points, math.inf), axis=-1)
    start, overlap, _ = (before[..., i : i + 1] for i in range(3))
    rise = after - before
    slope = library.quotient(rise[..., 1:2], rise[..., :1])
    # As a function of ρ the slack at the chord is convex: the secants' guesses come from below.
    rho, less = start, before[..., 2:]
    for _ in range(STEPS):
        ends = xp.concat([rho, after[..., :1]], axis=-1), xp.concat([less, after[..., 2:]], axis=-1)
        rho = _secant(library, *ends)
        needed = _needed(library, overlap + slope * (rho - start), count)
        less = rho - needed
    return xp.maximum(rho, needed)
