"""The optimum for drafts that are i.i.d., or fixed but for one (Theory, 2)."""

from dataclasses import dataclass

from otspec.batch._array_api.library import Array, Library, is_torch
from otspec.batch._array_api.sums import overlaps, split
from otspec.batch._dispatch import machine, reals_of
from otspec.batch._running import optimal_cut
from otspec.learning.objectives import Objective, State, Steps, kept, softmax

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
