"""The optimum for i.i.d. drafts: the best prefix by ascending q/p (Theory, 1 and 2)."""

from __future__ import annotations

from otspec.batch._kernels.library import Array, Library


def acceptance(library: Library, draft: Array, target: Array, k: int) -> Array:
    """Return 1 + min over prefixes A of q(A) − p(A)^k, at most 1."""
    xp = library.xp
    drafted = library.widened(draft)
    ratio = library.quotient(library.widened(target), drafted, otherwise=float("inf"))
    order = xp.argsort(ratio, axis=-1)
    inside = xp.cumulative_sum(xp.take_along_axis(drafted, order, axis=-1), axis=-1)
    wanted = xp.cumulative_sum(library.take(target, order), axis=-1)
    cut = xp.min(wanted - xp.clip(inside, max=1.0) ** float(k), axis=-1)
    return 1 + xp.clip(cut, max=0.0)
