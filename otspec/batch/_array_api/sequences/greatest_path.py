"""Greedy multi-path block verification: the greatest of K drafted paths (Theory, 26)."""

from dataclasses import replace
from typing import NamedTuple

from otspec.batch._array_api.library import Array, Library, Problem, geometric
from otspec.batch._array_api.sequences import drafted_block
from otspec.batch._results import VerifiedPath


class _Place(NamedTuple):
    """One place of the chosen path, the vocabulary in the order of its ranks."""

    order: Array  # the tokens, (..., V)
    chosen: Array  # the law of the chosen path's next token, (..., V)
    wanted: Array  # the target, (..., V)
    rank: Array  # where the chosen token stands, (...)


def verify(problem: Problem) -> VerifiedPath:
    """Choose a path of each row, and verify it as a block in which each place is in order."""
    # The draft is (..., K, L, V), the target (..., K, L + 1, V), the drafts are (..., K, L).
    library, xp = problem.library, problem.library.xp
    alike = xp.ones_like(problem.drafts[..., 0], dtype=xp.bool)  # (..., K)
    share = xp.zeros_like(problem.uniforms[..., 0])
    places = []
    for i in range(problem.k):
        place, alike, share = _place(problem, i, alike, share)
        places.append(place)
    path = library.first(alike)
    order, chosen, wanted, ranks = (
        xp.stack(part, axis=-1 if part[0].ndim == share.ndim else -2)
        for part in zip(*places, strict=True)
    )
    after = library.narrowed(library.at(problem.target[..., -1, :], path))
    block = replace(
        problem,
        draft=chosen,
        target=xp.concat([wanted, after[..., None, :]], axis=-2),
        drafts=ranks,
        valid=None,
    )
    length, drawn = drafted_block.published(block)
    inside = xp.clip(drawn, min=0)
    last = xp.clip(length, max=problem.k - 1)
    token = library.pick(library.at(order, last), inside)
    token = xp.where((length < problem.k) & (drawn >= 0), token, drawn)
    return VerifiedPath(path, length, token)


def _place(problem: Problem, i: int, alike, share) -> tuple[_Place, Array, Array]:
    """Return the place i of the chosen path, which paths agree with it there, and A/(A + M_s)."""
    # Of all paths that have agreed so far the rows are the same.
    library, xp = problem.library, problem.library.xp
    lead = library.first(alike)
    drafted, wanted = (
        library.narrowed(library.at(rows[..., i, :], lead))
        for rows in (problem.draft, problem.target)
    )
    ratios = library.quotient(wanted, drafted, otherwise=-1.0)
    order = xp.argsort(ratios, axis=-1, stable=True)
    tokens = problem.drafts[..., i]  # (..., K)
    own = xp.take_along_axis(ratios, tokens, axis=-1)
    own = xp.where(alike, own, xp.full_like(own, -2.0))
    highest = alike & (own == xp.max(own, axis=-1, keepdims=True))
    token = xp.max(xp.where(highest, tokens, xp.full_like(tokens, -1)), axis=-1)
    alike = highest & (tokens == token[..., None])
    order = library.ids(order)
    rank = library.first(order == token[..., None])
    drafted, wanted = (xp.take_along_axis(row, order, axis=-1) for row in (drafted, wanted))
    chosen, share = _skewed(library, drafted, share, rank, tokens.shape[-1])
    return _Place(order, chosen, wanted, rank), alike, share


def _skewed(library: Library, drafted, share, rank, paths: int) -> tuple[Array, Array]:
    """Return the law of the chosen path's next token, and A/(A + M_s) after one of them."""
    # Of the draft's tokens in order: M_s(x) (b + c)^(K−1) Σ (b/(b + c))^j / Σ a^j, j < K, with b +
    # c the share of texts that are at most here, as ``GreatestPath`` of the verifiers has it.
    xp = library.xp
    sums = xp.cumulative_sum(library.widened(drafted), axis=-1)
    # A row that is off 1 by rounding would be off K times as much as a power.
    single, up_to = (
        library.quotient(part, sums[..., -1:]) for part in (library.widened(drafted), sums)
    )
    lower, spread = share[..., None], 1 - share[..., None]
    whole = lower + spread * up_to
    chance = library.quotient(spread * single, whole)
    count = xp.full_like(share, float(paths))
    powers = _power(whole, paths - 1) * geometric(library, chance, count[..., None])
    skewed = single * powers / geometric(library, 1 - share, count)[..., None]
    return library.narrowed(skewed), 1 - library.pick(chance, rank)


def _power(values, exponent: int) -> Array:
    """Return values^exponent by squares, which take a fraction of the library's powers."""
    if exponent == 0:
        return values * 0 + 1
    half = _power(values, exponent // 2)
    return half * half * values if exponent % 2 else half * half
