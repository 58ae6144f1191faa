"""Rules that try the drafts in turn (SpecTr, alg. 1; MCSD, algs. 1 and 2; SpecHub, alg. 1).

If all drafts so far were rejected, which has probability W, the law that the output must still
have is (target − c·draft)₊ / W: positive parts nest, so that the state of a row is the two
numbers c and W. A round costs one pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from otspec.batch._kernels.coupling import accepts, draw_rest, verified
from otspec.batch._kernels.inversion import without
from otspec.batch._kernels.library import Array, Library
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.sums import (
    Told,
    block_sums,
    common,
    excess,
    the_draft,
    the_target,
    totals,
)
from otspec.batch._results import Verified


def independent(problem: Problem) -> Verified:
    """Try drafts that are drawn independently."""
    return _in_turn(problem, Lacking.at_first(problem.library, problem.draft, problem.target))


def distinct(problem: Problem) -> Verified:
    """Try drafts that are drawn without replacement."""
    pair = problem.draft, problem.target
    return _in_turn(problem, Lacking.at_first(problem.library, *pair, distinct=True))


def _in_turn(problem: Problem, state: Lacking) -> Verified:
    valid, drafted, wanted = problem.valid, problem.drafted(), problem.wanted()
    took = []
    for i in range(problem.k):
        if i > 0:
            state = state.after(problem.drafts[..., :i], valid[..., i - 1])
        lacking, offered = state.offer(drafted[..., i], wanted[..., i])
        took.append(valid[..., i] & accepts(problem.uniforms[..., i], lacking, offered))
    rest, blocks = state.at_last(valid[..., -1])
    drawn = draw_rest(problem, rest, blocks)
    accepted = problem.library.xp.stack(took, axis=-1)
    return verified(problem.library, problem.drafts, valid, accepted, drawn)


def overlap(library: Library, draft: Array, target: Array) -> Array:
    """Return Σ min(p, q): what one draft is accepted with."""
    return totals(library, draft, target, common(library))[0]


def independent_acceptance(library: Library, draft: Array, target: Array, k: int) -> Array:
    """Return 1 − Π Σ (q_{i−1} − p)₊."""
    state = Lacking.at_first(library, draft, target)
    for _ in range(k - 1):
        state = state.after()
    _, (_, lacking) = state.at_last()
    return 1 - library.xp.sum(lacking, axis=-1)


def distinct_acceptance(library: Library, draft: Array, target: Array, drafts: Array) -> Array:
    """Return the probability that one of the given distinct drafts is accepted."""
    xp = library.xp
    drafted, wanted = library.take(draft, drafts), library.take(target, drafts)
    state = Lacking.at_first(library, draft, target, distinct=True)
    missed = xp.ones_like(state.rejected)
    for i in range(drafts.shape[-1]):
        if i > 0:
            state = state.after(drafts[..., :i])
        lacking, offered = state.offer(drafted[..., i], wanted[..., i])
        chance = xp.clip(library.quotient(lacking, offered, otherwise=1.0), 0.0, 1.0)
        missed = missed * xp.where(lacking > 0, 1 - chance, xp.ones_like(chance))
    return 1 - missed


@dataclass(frozen=True)
class Lacking:
    """What the target still lacks, row by row, after some drafts were rejected.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    lift : float
        Draft masses are lifted by this, which c and 1 over their sum are for: both may be out of
        range.
    scale : array, shape (...)
        c over the lift: what the target lacks is (target − c·draft)₊.
    rejected : array, shape (...)
        W: the probability that all drafts so far are rejected.
    share : array, shape (...)
        1 over the draft's lifted mass off the earlier drafts.
    whole : array, shape (...), optional
        Σ target, once it is known.
    undrafted : array, shape (..., ceil(V / 256)), optional
        The draft's block sums off the earlier drafts, if they are drawn without replacement.
    weight : array, shape (...), optional
        w, if the target is w·target and else no token: c is over w, too, and W includes 1 − w.
    """

    library: Library
    draft: Array
    target: Array
    lift: float
    scale: Array
    rejected: Array
    share: Array
    whole: Array | None = None
    undrafted: Array | None = None
    weight: Array | None = None

    @classmethod
    def at_first(
        cls,
        library: Library,
        draft: Array,
        target: Array,
        *,
        distinct: bool = False,
        weight: Array | None = None,
    ) -> Lacking:
        """Return the state before the first draft; ``distinct`` without replacement."""
        lift = library.lift if distinct else 1.0
        undrafted = block_sums(library, draft, draft, the_draft)[0] if distinct else None
        scale, rejected, share = (
            library.full(draft.shape[:-1], value) for value in (0.0, 1.0, 1 / lift)
        )
        state = cls(library, draft, target, lift, scale, rejected, share, undrafted=undrafted)
        return replace(state, weight=weight)

    def offer(self, drafted: Array, wanted: Array) -> tuple[Array, Array]:
        """Return what the target still lacks of a draft, and what is offered of it, (...) each."""
        drafted = drafted * self.lift
        lacking = wanted - self.library.xp.minimum(wanted, self.scale * drafted)
        lacking = lacking if self.weight is None else self.weight * lacking
        return lacking, self.rejected * (self.share * drafted)

    @property
    def lacks(self) -> Array:
        """Return the mass of all that the target still lacks, (...)."""
        return self.rejected if self.weight is None else self.rejected - (1 - self.weight)

    def after(self, tokens: Array | None = None, valid: Array | None = None) -> Lacking:
        """Return the state after the last of the tokens was rejected, where it counts.

        The tokens, (..., i), are needed only if they are distinct.
        """
        library, xp = self.library, self.library.xp
        scale = self._offered(valid)
        pair = library, self.draft, self.target
        if self.whole is None and self.weight is None:  # the first time c is 1
            whole, kept = totals(*pair, the_target, common(library))
        elif self.whole is None:
            whole, kept = totals(*pair, the_target, common(library, scale, self.lift))
        else:
            whole, (kept,) = self.whole, totals(*pair, common(library, scale, self.lift))
        rejected = xp.clip(whole - kept, min=0.0)
        if self.weight is not None:
            rejected = self.weight * rejected + (1 - self.weight)
        rejected = self._where(valid, rejected, self.rejected)
        state = replace(self, scale=scale, rejected=rejected, whole=whole)
        if self.undrafted is None or tokens is None:
            return state
        less = without(library, self.draft, self.draft, the_draft, self.undrafted, tokens)
        less = less if valid is None else xp.where(valid[..., None], less, self.undrafted)
        mass = xp.sum(less, axis=-1) * self.lift
        return replace(state, undrafted=less, share=library.quotient(xp.ones_like(mass), mass))

    def at_last(self, valid: Array | None = None) -> tuple[Told, list[Array]]:
        """Return what the target lacks after the last draft was rejected, where it counts.

        Returns
        -------
        rest : callable
            As a weight.
        blocks : list of two arrays, shape (..., ceil(V / 256))
            The block sums of the target, and of that weight.
        """
        rest = excess(self.library, self._offered(valid), self.lift)
        return rest, block_sums(self.library, self.draft, self.target, the_target, rest)

    def _offered(self, valid: Array | None) -> Array:
        """Return c over the lift, with what is offered of the next draft, where that counts."""
        added = self.rejected * self.share
        if self.weight is not None:
            most = self.library.highest
            added = self.library.quotient(added, self.weight, otherwise=most)
            added = self.library.xp.clip(added, max=most)
        added = self._where(valid, added, self.library.xp.zeros_like(added))
        return self.library.rounded(self.scale + added)

    def _where(self, valid: Array | None, values: Array, otherwise: Array) -> Array:
        return values if valid is None else self.library.xp.where(valid, values, otherwise)
