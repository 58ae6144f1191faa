"""Rules that try the drafts in turn (SpecTr, alg. 1; MCSD, algs. 1 and 2; SpecHub, alg. 1).

If all drafts so far were rejected, which has probability W, the law that the output must still
have is (target − c·draft)₊ / W: positive parts nest, so that the state of a row is the two
numbers c and W. A round costs one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otspec.batch._array_api.inversion import accepts, draw_rest, off_drafts, verified
from otspec.batch._array_api.library import Array, Library, Problem
from otspec.batch._array_api.sums import KnownWeight, block_sums, common, excess, the_target, totals
from otspec.batch._results import Verified


def independent(problem: Problem) -> Verified:
    """Try drafts that are drawn independently."""
    drafted = problem.drafted()
    return _in_turn(problem, drafted, [None] * problem.k)


def distinct(problem: Problem) -> Verified:
    """Try drafts that are drawn without replacement."""
    library, drafted = problem.library, problem.drafted()
    shares = shares_of(library, problem.draft, problem.drafts, drafted, problem.valid)
    return _in_turn(problem, drafted, shares, library.factor)


def shares_of(
    library: Library, draft, drafts, drafted, valid: Array | None = None
) -> list[Array | float]:
    """Return 1 over the draft's scaled mass off the drafts before each distinct one, (...) each."""
    # Before the first it is 1 over the factor, whatever the mass of the draft.
    first = [1 / library.factor]
    if drafts.shape[-1] == 1:
        return first
    left = off_drafts(library, draft, drafts, drafted, valid)[..., 1:-1] * library.factor
    shares = library.quotient(1.0, left)
    return [*first, *(shares[..., i] for i in range(shares.shape[-1]))]


def _in_turn(
    problem: Problem, drafted, shares: Sequence[Array | float | None], factor: float = 1.0
) -> Verified:
    library, valid = problem.library, problem.valid
    state = Residual.at_first(library, problem.draft, problem.target, shares[0], factor)
    states = [state]
    for i in range(1, problem.k):
        state = state.after(shares[i], None if valid is None else valid[..., i - 1])
        states.append(state)
    scale, added = (
        library.xp.stack(column, axis=-1)
        for column in zip(*((state.scale, state.added) for state in states), strict=True)
    )
    lacking, offered = _offer(library, scale, added, drafted * factor, problem.wanted())
    took = accepts(library, problem.uniforms[..., :-1], lacking, offered)
    rest, blocks = state.at_last(None if valid is None else valid[..., -1])
    return verified(problem, problem.counted(took), draw_rest(problem, rest, blocks))


def _offer(library: Library, scale, added, scaled, wanted) -> tuple[Array, Array]:
    """Return what the target still lacks of drafts of scaled masses, and what is offered of it."""
    return wanted - library.xp.minimum(wanted, scale * scaled), added * scaled


def overlap(library: Library, draft, target) -> Array:
    """Return Σ min(p, q): what one draft is accepted with."""
    return totals(library, draft, target, common(library))[0]


def independent_acceptance(library: Library, draft, target, k: int) -> Array:
    """Return 1 − Π Σ (q_{i−1} − p)₊."""
    state = Residual.at_first(library, draft, target)
    for _ in range(k - 1):
        state = state.after()
    _, (_, lacking) = state.at_last()
    return library.xp.clip(1 - library.xp.sum(lacking, axis=-1), min=0.0)


def distinct_acceptance(library: Library, draft, target, drafts) -> Array:
    """Return the probability that one of the given distinct drafts is accepted."""
    xp = library.xp
    drafted, wanted = library.take(draft, drafts), library.take(target, drafts)
    shares = shares_of(library, draft, drafts, drafted)
    state = Residual.at_first(library, draft, target, shares[0], library.factor)
    missed = 1.0
    for i in range(drafts.shape[-1]):
        if i > 0:
            state = state.after(shares[i])
        lacking, offered = state.offer(drafted[..., i], wanted[..., i])
        chance = xp.clip(library.quotient(lacking, offered, otherwise=1.0), 0.0, 1.0)
        missed = missed * xp.where(lacking > 0, 1 - chance, 1.0)
    return 1 - missed


@dataclass(frozen=True)
class Residual:
    """What the target still lacks, row by row, after some drafts were rejected."""

    library: Library
    draft: Array  # (..., V)
    target: Array  # (..., V)
    factor: float  # draft masses are scaled by it: c and 1 over their sum may be out of range
    scale: Array  # (...): c over the factor, narrow; lacking is (target − c·draft)₊
    rejected: Array  # (...): W, the probability that all drafts so far are rejected
    share: Array | float | None  # (...): 1 over the draft's scaled mass off the earlier ones; or 1
    blocks: Array | None = None  # (..., ceil(V / 256)): the target's block sums, once known
    whole: Array | None = None  # (...): Σ target, once known
    weight: Array | None = None  # (...): w of w·target, else no token: W includes 1 − w

    @classmethod
    def at_first(
        cls,
        library: Library,
        draft,
        target,
        share: Array | float | None = None,
        factor: float = 1.0,
        weight: Array | None = None,
    ) -> "Residual":
        """Return the state before the first draft, of which all of the draft is the share."""
        one = library.full(draft.shape[:-1], 1.0)
        scale = library.narrowed(0 * one)
        return cls(library, draft, target, factor, scale, one, share, weight=weight)

    @property
    def added(self) -> Array:
        """What is offered of the next draft over its scaled mass, (...)."""
        return self.rejected if self.share is None else self.rejected * self.share

    @property
    def lacks(self) -> Array:
        """Return the mass of all that the target still lacks, (...)."""
        return self.rejected if self.weight is None else self.rejected - (1 - self.weight)

    def offer(self, drafted, wanted) -> tuple[Array, Array]:
        """Return what the target still lacks of a draft, and what is offered of it, (...) each."""
        scaled = drafted * self.factor
        lacking, offered = _offer(self.library, self.scale, self.added, scaled, wanted)
        return lacking if self.weight is None else self.weight * lacking, offered

    def after(self, share: Array | float | None = None, valid: Array | None = None) -> "Residual":
        """Return the state after a draft was rejected, where it counts."""
        # Distinct drafts leave another share to the next one.
        library, xp = self.library, self.library.xp
        scale, blocks, whole = self._offered(valid), self.blocks, self.whole
        first = blocks is None and self.weight is None  # then c is 1
        weight = common(library) if first else common(library, scale, self.factor)
        if blocks is None:
            blocks, kept = block_sums(library, self.draft, self.target, the_target, weight)
            whole, kept = xp.sum(blocks, axis=-1), xp.sum(kept, axis=-1)
        else:
            (kept,) = totals(library, self.draft, self.target, weight)
        rejected = xp.clip(whole - kept, min=0.0)
        if self.weight is not None:
            rejected = self.weight * rejected + (1 - self.weight)
        rejected = rejected if valid is None else xp.where(valid, rejected, self.rejected)
        share = self.share if share is None else share
        return replace(
            self, scale=scale, rejected=rejected, share=share, blocks=blocks, whole=whole
        )

    def at_last(self, valid: Array | None = None) -> tuple[KnownWeight, list[Array]]:
        """Return what is lacking after the last draft, and block sums of the target and of that."""
        rest = excess(self.library, self._offered(valid), self.factor)
        known = [] if self.blocks is None else [self.blocks]
        weights = [rest] if known else [the_target, rest]
        return rest, known + block_sums(self.library, self.draft, self.target, *weights)

    def _offered(self, valid: Array | None) -> Array:
        """Return c over the factor, with what is offered of the next draft, where that counts."""
        library, added = self.library, self.added
        if self.weight is not None:
            most = library.highest
            added = library.quotient(added, self.weight, otherwise=most)
            added = library.xp.clip(added, max=most)
        scale = library.narrowed(self.scale + added)
        return scale if valid is None else library.xp.where(valid, scale, self.scale)
