"""What a draft is trained for: a loss of each row, and its gradient in the draft's logits.

Array code for PyTorch and JAX. An objective is solved once, for a few numbers per row; from these
the gradient follows in one pass, so that nothing as large as the vocabulary is kept in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np

from otspec._base.compiling import unwriteable
from otspec.batch._array_api import k_sequential
from otspec.batch._array_api.control import repeated
from otspec.batch._array_api.library import Array, Library, is_torch
from otspec.batch._array_api.sums import Weight, overlaps, split, totals
from otspec.batch._dispatch import machine, reals_of
from otspec.batch._running import optimal_cut

State: TypeAlias = tuple[Array, ...]
"""What is kept of each row, (..., m) each."""
SMALL, AT_ONCE = 1 << 18, 1 << 22
"""So many numbers are worked on at once in any case, and so many at most."""
FORWARD, BACKWARD = 4, 64
"""And at most one of so many parts of the rows: in the backward pass there is the gradient, too."""
TANGENTS = 64
"""How many tangents a soft optimum is made of."""
PIECES = 3
"""Passes that make ρ* exact, from a guess that is close."""
NEWTON = 12
"""Steps on one linear piece, of which each costs a few operations per row."""


class Objective(ABC):
    """A loss of rows of logits against rows of a target distribution."""

    copies: ClassVar[int] = 4
    """About how many copies of a row in float32 are made on the way."""

    row_by_row: ClassVar[tuple[bool, bool]] = False, False
    """Whether machine code, which works on a row at a time, does all of each pass: forward, back."""

    def rows_at_once(self, rows: int, size: int, share: int) -> int:
        """Return how many of some rows to work on at once, so that little memory is needed."""
        held = self.numbers(size)
        return max(1, SMALL // held, min(AT_ONCE // held, rows // share))

    def numbers(self, size: int) -> int:
        """Return about how many numbers are made of a row of a vocabulary of some size."""
        return self.copies * max(size, 1)

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs.

        Parameters
        ----------
        library : Library
        logits : array, shape (..., V)
            Divided by the temperature.
        target : array, shape (..., V)

        Returns
        -------
        loss : array, shape (...)
        state : tuple of array, shape (..., m)
        """
        return self._solve(library, softmax(library, logits), target)

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit: (..., V)."""
        return self._gradient(library, softmax(library, logits), target, state)

    @abstractmethod
    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        """Answer :meth:`solve` for the draft's probabilities."""

    @abstractmethod
    def _gradient(self, library: Library, draft: Array, target: Array, state: State) -> Array:
        """Answer :meth:`gradient` for the draft's probabilities."""


def softmax(library: Library, logits: Array) -> Array:
    """Return the distributions of rows of logits: (..., V)."""
    rows = reals_of(logits, single=True)
    if rows is not None:
        return rows.run(machine("logits").softmax, kinds=((np.float32, logits.shape[-1:]),))[0]
    if is_torch(logits):
        import torch  # it is there already

        found = torch.softmax(logits, -1)
        # Its float32 sums of long rows are off by 1e-5.
        return found.div_(found.sum(-1, keepdim=True))
    xp = library.xp
    weights = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)


class Steps(Objective):
    """An acceptance α whose derivative by p(y) is Σ_j w_j 1[q(y) > c_j p(y)].

    The scales c_j and weights w_j are a few numbers per row. A softmax takes off the mean:
    ∂α/∂z(y) = p(y) (∂α/∂p(y) − Σ_j w_j p(q > c_j p)). A token with q = c p counts as inside the
    minimizing set, where the derivative is 0: one of the subgradients there.
    """

    row_by_row = False, True

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        rows = reals_of(logits, target, single=True)
        if rows is None:
            return super().gradient(library, logits, target, state)
        numbers = (unwriteable(library.narrowed(part).numpy()) for part in state)
        rows = rows._replace(arguments=(*rows.arguments, *numbers))
        return rows.run(machine("logits").gradient, kinds=((np.float32, logits.shape[-1:]),))[0]

    def _gradient(self, library: Library, draft: Array, target: Array, state: State) -> Array:
        scales, weights, mean = (library.narrowed(part) for part in state)
        found = mean  # of the loss, so that the signs are the opposite ones
        for j in range(scales.shape[-1]):
            outside = library.above(target, scales[..., j : j + 1] * draft)
            outside *= weights[..., j : j + 1]
            found = found - outside
        return draft * found


def _rejected(library: Library, scale: Array) -> tuple[Weight, Weight]:
    """Return the weights p 1[q > c·p] and (q − c·p)₊ for a scale, (..., 1)."""
    return (
        lambda p, q: p * library.above(q, scale * p),
        lambda p, q: library.xp.clip(q - scale * p, min=0.0),
    )


def _kept(
    library: Library, scales: list[Array], weights: list[Array], outside: list[Array]
) -> State:
    """Return the state of steps, from numbers of shape (...) each."""
    stack = partial(library.xp.stack, axis=-1)
    mean = sum(w * r for w, r in zip(weights, outside, strict=True))
    return stack(scales), stack(weights), mean[..., None]


@dataclass(frozen=True)
class IIDOptimum(Steps):
    """The optimum for k i.i.d. drafts (Theory, 2): α = q(A) + 1 − p(A)^k at the minimizing set A.

    A = {q ≤ c·p} with c = k p(A)^(k−1), which is also the only weight. For k = 1 the loss 1 − α is
    the total variation. If A is empty the loss is 0, and so is the gradient.
    """

    row_by_row = True, True
    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        rows = reals_of(logits, target, single=True)
        if rows is None:
            return super().solve(library, logits, target)
        cut = rows.run(machine("logits").best_cut, self.k, kinds=("float64",) * 3)
        return self._at(library, *cut)

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        return self._at(library, *optimal_cut(draft, target, self.k))

    def _at(
        self, library: Library, scale: Array, outside: Array, cost: Array
    ) -> tuple[Array, State]:
        """Return the loss from the c of the set, its draft mass outside, and its target mass."""
        xp, k = library.xp, float(self.k)
        outside = xp.clip(outside, max=1.0)
        # p(A)^k − q(A), where p(A) = 1 − r and r is summed up itself.
        loss = xp.exp(k * xp.log1p(-outside)) - cost
        some = loss > 0
        weight = xp.where(some, k * xp.exp((k - 1) * xp.log1p(-outside)), 0.0)
        return xp.where(some, loss, 0.0), _kept(library, [scale], [weight], [outside])


@dataclass(frozen=True)
class SoftIIDOptimum(Steps):
    """A smooth minimum of tangents of that optimum, over which the gradient is a mixture.

    With T(c) = Σ min(q, c·p) + 1 − (1 − r)^k − c r, c = k (1 − r)^(k−1), the optimum is the least
    T(c). Here it is −s log(mean of e^{−T(c)/s}) over 64 scales: no jump from one minimum to
    another. It is never below the optimum.
    """

    k: int
    softness: float

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        xp, k = library.xp, float(self.k)
        # (1 − r)^(k/2) in equal steps.
        heights = (library.widened(library.arange(TANGENTS)) + 1) / TANGENTS
        inside = heights ** (2 / k)
        scales = library.rounded(k * inside ** (k - 1)) + library.full((*draft.shape[:-1], 1), 0.0)
        constant = 1 - inside ** (k - 1) * (inside + k * (1 - inside))
        tangents = overlaps(library, draft, target, scales) + constant
        least = xp.min(tangents, axis=-1, keepdims=True)
        shares = xp.exp((least - tangents) / self.softness)
        mean = xp.sum(shares, axis=-1, keepdims=True) / TANGENTS
        weights = scales * shares / (TANGENTS * mean)
        columns = [scales[..., j] for j in range(TANGENTS)]
        outside = [split(library, draft, target, column)[0] for column in columns]
        alpha = (least - self.softness * xp.log(mean))[..., 0]
        parts = [weights[..., j] for j in range(TANGENTS)]
        return 1 - alpha, _kept(library, columns, parts, outside)


@dataclass(frozen=True)
class RecursiveRejection(Steps):
    """The loss W_k of recursive rejection sampling (MCSD, alg. 1): all k drafts are rejected.

    W_i = Σ (q − c_i p)₊ with c_i = 1 + W_1 + … + W_{i−1}.
    """

    k: int

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        xp = library.xp
        scale = library.full(draft.shape[:-1], 1.0)
        scales, outside, lacking = [], [], scale
        for _ in range(self.k):
            scale = library.rounded(scale)
            narrow = library.narrowed(scale)[..., None]
            mass, lacking = totals(library, draft, target, *_rejected(library, narrow))
            scales.append(scale)
            outside.append(mass)
            scale = scale + lacking
        # a_i = ∂W_k/∂W_i: W_j falls by p(q > c_j p) with c_j, to which W_i belongs if i < j.
        weights, slope, after = [], xp.ones_like(scale), xp.zeros_like(scale)
        for c, r in zip(reversed(scales), reversed(outside), strict=True):
            weights.append(slope * c)
            after = after + slope * r
            slope = -after
        return lacking, _kept(library, scales, weights[::-1], outside)


@dataclass(frozen=True)
class KSequential(Steps):
    """The loss (1 − β)^k of k-Seq (SpecTr, alg. 2): β = Σ min(p, q/ρ*), 1 − (1 − β)^k = ρ* β.

    A residual token that happens to be a draft is not counted as accepted.
    """

    k: int

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        xp, k = library.xp, float(self.k)
        count = library.full((*draft.shape[:-1], 1), k)
        rho = k_sequential.safe_rho(library, draft, target, count)
        for _ in range(PIECES):
            # Σ min(q, ρp) = Q + ρ r on one linear piece; Newton for Q + ρ r + (1 − β)^k = 1 there.
            scale = library.rounded(rho)
            outside, cost = split(library, draft, target, scale)

            def nearer(state: State, outside: Array = outside, cost: Array = cost) -> State:
                (rho,) = state
                missed = xp.clip(1 - outside - cost / rho, 0.0, 1.0)
                excess = cost + rho * outside - 1 + missed**k
                slope = outside + k * missed ** (k - 1) * cost / rho**2
                return (xp.clip(rho - excess / (slope + _TINY), 1.0, k),)

            (rho,) = repeated(library, NEWTON, nearer, (rho,))
        beta = outside + cost / rho
        missed = xp.clip(1 - beta, 0.0, 1.0)
        slope = k * missed ** (k - 1)
        # dρ = (s − ρ) dβ/β follows from the equation of ρ*, and dβ = dp(q > ρp) − Q dρ/ρ².
        share = 1 + cost * (slope - rho) / xp.clip(rho**2 * beta, min=_TINY)
        weight = library.quotient(slope, share)
        return missed**k, _kept(library, [scale], [weight], [outside])


_TINY = 1e-30


@dataclass(frozen=True)
class FixedButOneOptimum(Objective):
    """The optimum if the k − 1 likeliest tokens are drafts and one more is drawn off them.

    α = min(1, q(top) + Σ min(q, u)) with u = p/(1 − p(top)) off the top, 0 on it: SpecHub's hub for
    k = 2. The logits of the top have no gradient. Of equal logits the lowest token id comes first.
    """

    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        xp = library.xp
        top, free = [], logits
        for _ in range(self.k - 1):
            top.append(library.largest(free))
            free = _without(library, free, top[-1])
        wanted = sum(library.pick(target, token) for token in top)
        alpha, state = self._solve(library, _renormalised(library, free), target)
        alpha = alpha + library.widened(wanted)
        some = alpha < 1
        loss = xp.where(some, 1 - alpha, xp.zeros_like(alpha))
        weight = xp.where(some, xp.ones_like(alpha), xp.zeros_like(alpha))
        return loss, (xp.stack(top, axis=-1), weight[..., None], *state)

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        """Return Σ min(q, u), and u(q > u)."""
        outside, cost = split(library, draft, target, library.full(draft.shape[:-1], 1.0))
        return outside + cost, (outside[..., None],)

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        top, *numbers = state
        for i in range(self.k - 1):
            logits = _without(library, logits, library.ids(top[..., i]))
        return self._gradient(library, _renormalised(library, logits), target, tuple(numbers))

    def _gradient(self, library: Library, draft: Array, target: Array, state: State) -> Array:
        weight, outside = (library.narrowed(part) for part in state)
        return draft * weight * (outside - library.above(target, draft))


def _without(library: Library, logits: Array, token: Array) -> Array:
    """Return logits that rule out one token of each row."""
    nowhere = -float("inf")
    if is_torch(logits):  # which takes long to look at all tokens
        return logits.scatter(-1, token[..., None], nowhere)
    is_it = library.arange(logits.shape[-1]) == token[..., None]
    return library.xp.where(is_it, nowhere, logits)


def _renormalised(library: Library, logits: Array) -> Array:
    """Return the softmax, 0 where no token is left."""
    some = library.xp.max(logits, axis=-1, keepdims=True) > -float("inf")
    draft = softmax(library, logits)
    if is_torch(draft):
        return draft.masked_fill_(~some, 0.0)
    return library.xp.where(some, draft, 0.0)


@dataclass(frozen=True)
class SharedNoise(Objective):
    """The loss Σ q (1 − a)^k of drafts and output from the same noise (Theory, 33 to 35).

    a(y) = 1/Σ_z max(q(z), p(z) q(y)/p(y)) is how likely one draft is y if the output is. For k = 1
    it is the loss of the coupling; for k lists and for the first k of one race it is an upper bound
    of theirs for one race, and a lower bound for lists.
    """

    copies: ClassVar[int] = 32
    k: int

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        _, wanted, chance, _, _ = self._sorted(library, draft, target)
        missed = wanted * (1 - chance) ** self.k
        return library.xp.sum(missed, axis=-1), ()

    def _gradient(self, library: Library, draft: Array, target: Array, state: State) -> Array:  # noqa: ARG002
        xp = library.xp
        order, wanted, chance, before, per = self._sorted(library, draft, target)
        # The loss is Σ q (1 − 1/t)^k, t(y) = Q + r P with r = q/p, P the draft mass of lower
        # ratio and Q the target mass of no lower one; v = r ∂loss/∂t.
        slope = wanted * self.k * (1 - chance) ** (self.k - 1) * chance * wanted * per
        after = xp.flip(xp.cumulative_sum(xp.flip(slope, axis=-1), axis=-1), axis=-1) - slope
        found = library.take(draft, order) * after - slope * before
        back = xp.argsort(order, axis=-1)
        return library.narrowed(xp.take_along_axis(found, back, axis=-1))

    def _sorted(self, library: Library, draft: Array, target: Array) -> tuple[Array, ...]:
        """Return the order by q/p, and in it q, a, the draft mass before, and a/p: (..., V)."""
        xp = library.xp
        ratio = library.quotient(library.widened(target), library.widened(draft), float("inf"))
        order = xp.argsort(ratio, axis=-1)
        drafted, wanted = library.take(draft, order), library.take(target, order)
        before = xp.cumulative_sum(drafted, axis=-1) - drafted
        rest = xp.sum(wanted, axis=-1, keepdims=True) - xp.cumulative_sum(wanted, axis=-1) + wanted
        # a/p = 1/(p Q + q P), which is finite where q/p is not.
        per = library.quotient(1.0, drafted * rest + wanted * before)
        return order, wanted, xp.clip(drafted * per, 0.0, 1.0), before, per


@dataclass(frozen=True)
class KullbackLeibler(Objective):
    """The loss Σ q log(q/p), in nats; its derivative by the logits is p Σq − q."""

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        xp = library.xp
        highest = xp.max(logits, axis=-1, keepdims=True)
        shifted = logits - highest
        size = xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))
        # 0 log 0 = 0.
        log_target = xp.log(xp.where(target > 0, target, 1.0))
        terms = xp.where(target > 0, target * (log_target - (shifted - size)), 0.0)
        return library.widened(xp.sum(terms, axis=-1)), ()

    def _solve(self, library: Library, draft: Array, target: Array) -> tuple[Array, State]:
        return self.solve(library, library.xp.log(draft), target)

    def _gradient(self, library: Library, draft: Array, target: Array, state: State) -> Array:  # noqa: ARG002
        return draft * library.xp.sum(target, axis=-1, keepdims=True) - target
