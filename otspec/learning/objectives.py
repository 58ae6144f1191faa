"""What a draft is trained for: a loss of each row and its gradient, as the optimum's (Theory, 2).

An objective is solved once, for a few numbers per row; from these the gradient follows in one pass,
so that nothing as large as the vocabulary is kept in between.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np

from otspec.batch._array_api.library import Array, Library, is_torch
from otspec.batch._array_api.sums import overlaps, split
from otspec.batch._dispatch import machine, reals_of
from otspec.batch._running import optimal_cut

State: TypeAlias = tuple[Array, ...]  # what is kept of each row, (..., m) each
SMALL, AT_ONCE = 1 << 18, 1 << 22
"""So many numbers are worked on at once in any case, and so many at most."""
FORWARD, BACKWARD = 4, 64
"""And at most one of so many parts of the rows: in the backward pass there is the gradient, too."""


class Objective(ABC):
    """A loss of rows of logits against rows of a target distribution."""

    copies: ClassVar[int] = 4  # about how many copies of a row in float32 are made on the way
    row_by_row: ClassVar[tuple[bool, bool]] = False, False
    """Whether machine code, a row at a time, does all of each pass: forward and back."""

    def rows_at_once(self, rows: int, size: int, share: int) -> int:
        """Return how many of some rows to work on at once, so that little memory is needed."""
        held = self.copies * max(size, 1)
        return max(1, SMALL // held, min(AT_ONCE // held, rows // share))

    @abstractmethod
    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss, (...), and what its gradient needs, (..., m), of logits over T."""

    @abstractmethod
    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit: (..., V)."""

    def scaled(self, state: State, factor: Array) -> State | None:  # noqa: ARG002
        """Return the state of so many times the loss, (..., 1); None if there is none."""
        return None


def softmax(library: Library, logits: Array) -> Array:
    """Return the distributions of rows of logits: (..., V)."""
    rows = reals_of(logits, single=True)
    if rows is not None:
        return rows.run(machine("learnt").softmax, kinds=((np.float32, logits.shape[-1:]),))[0]
    xp = library.xp
    if is_torch(logits):
        import torch  # it is there already

        found = torch.softmax(logits, -1)
        # Its float32 sums of long rows are off by 1e-5.
        return found.div_(found.sum(-1, keepdim=True))
    weights = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)


class Steps(Objective):
    """An acceptance α whose derivative by p(y) is Σ_j w_j 1[q(y) > c_j p(y)]."""

    row_by_row = False, True

    def scaled(self, state: State, factor: Array) -> State:
        """Return the state of so many times the loss; see :class:`Objective`."""
        scales, weights, mean = state
        return scales, weights * factor, mean * factor

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        # A softmax takes off the mean: ∂α/∂z(y) = p(y) (∂α/∂p(y) − Σ_j w_j p(q > c_j p)). A token
        # with q = c p counts as inside the minimizing set, where the derivative is 0.
        scales, weights, mean = (library.narrowed(part) for part in state)
        rows = reals_of(logits, target, single=True)
        if rows is not None:
            rows = rows.joined(*(part.numpy() for part in (scales, weights, mean)))
            kind = rows.arguments[0].dtype, logits.shape[-1:]
            return rows.run(machine("learnt").gradient, kinds=(kind,))[0].view(logits.dtype)
        draft, found = softmax(library, logits), mean  # of the loss: the signs are the opposite
        for j in range(scales.shape[-1]):
            outside = library.above(target, scales[..., j : j + 1] * draft)
            outside *= weights[..., j : j + 1]
            found = found - outside
        return draft * found


def kept(
    library: Library, scales: list[Array], weights: list[Array], outside: list[Array]
) -> State:
    """Return the state of steps from their numbers, (...) each, and the draft mass outside."""
    stack = partial(library.xp.stack, axis=-1)
    mean = sum(w * r for w, r in zip(weights, outside, strict=True))
    return stack(scales), stack(weights), mean[..., None]


TANGENTS = 64  # how many tangents a soft optimum is made of


@dataclass(frozen=True)
class IIDOptimum(Steps):
    """The optimum for k i.i.d. drafts: α = q(A) + 1 − p(A)^k at the minimizing set A."""

    row_by_row = True, True
    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        # A = {q ≤ c·p} with c = k p(A)^(k−1), which is also the only weight. For k = 1 the loss is
        # the total variation. If A is empty the loss is 0, and so is the gradient.
        xp, k, rows = library.xp, float(self.k), reals_of(logits, target, single=True)
        if rows is None:
            scale, outside, cost = optimal_cut(softmax(library, logits), target, self.k)
        else:
            kinds = ("float64",) * 3
            scale, outside, cost = rows.run(machine("learnt").best_cut, self.k, kinds=kinds)
        outside = xp.clip(outside, max=1.0)
        # p(A)^k − q(A), where p(A) = 1 − r and r is summed up itself.
        loss = xp.exp(k * xp.log1p(-outside)) - cost
        some = loss > 0
        weight = xp.where(some, k * xp.exp((k - 1) * xp.log1p(-outside)), 0.0)
        return xp.where(some, loss, 0.0), kept(library, [scale], [weight], [outside])


@dataclass(frozen=True)
class SoftIIDOptimum(Steps):
    """A smooth minimum of tangents of that optimum, over which the gradient is a mixture."""

    k: int
    softness: float

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        # With T(c) = Σ min(q, c·p) + 1 − (1 − r)^k − c r, c = k (1 − r)^(k−1), the optimum is the
        # least T(c). Here it is −s log(mean of e^{−T(c)/s}) over 64 scales, never below the
        # optimum.
        xp, k, draft = library.xp, float(self.k), softmax(library, logits)
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
        return 1 - alpha, kept(library, columns, parts, outside)


@dataclass(frozen=True)
class FixedButOneOptimum(Objective):
    """The optimum if the k − 1 likeliest tokens are drafts and one more is drawn off them."""

    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        # α = min(1, q(top) + Σ min(q, u)) with u = p/(1 − p(top)) off the top, 0 on it: SpecHub's
        # hub for k = 2. The logits of the top have no gradient; of equal ones the lowest id comes
        # first.
        xp, top = library.xp, []
        for _ in range(self.k - 1):
            top.append(library.largest(logits))
            logits = _without(library, logits, top[-1])
        wanted = sum(library.pick(target, token) for token in top)
        one = library.full(logits.shape[:-1], 1.0)
        outside, cost = split(library, _renormalized(library, logits), target, one)
        alpha = outside + cost + library.widened(wanted)
        weight = xp.where(alpha < 1, xp.ones_like(alpha), xp.zeros_like(alpha))
        state = xp.stack(top, axis=-1), weight[..., None], outside[..., None]
        return weight - weight * alpha, state

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        top, *numbers = state
        for i in range(self.k - 1):
            logits = _without(library, logits, library.ids(top[..., i]))
        draft = _renormalized(library, logits)
        weight, outside = (library.narrowed(part) for part in numbers)
        return draft * weight * (outside - library.above(target, draft))


def _without(library: Library, logits: Array, token: Array) -> Array:
    """Return logits that rule out one token of each row."""
    nowhere = -float("inf")
    if is_torch(logits):  # which takes long to look at all tokens
        return logits.scatter(-1, token[..., None], nowhere)
    is_it = library.arange(logits.shape[-1]) == token[..., None]
    return library.xp.where(is_it, nowhere, logits)


def _renormalized(library: Library, logits: Array) -> Array:
    """Return the softmax, 0 where no token is left."""
    some = library.xp.max(logits, axis=-1, keepdims=True) > -float("inf")
    draft = softmax(library, logits)
    if is_torch(draft):
        return draft.masked_fill_(~some, 0.0)
    return library.xp.where(some, draft, 0.0)
