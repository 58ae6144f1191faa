"""The losses of rules, and the divergence that drafts are usually trained on."""

from dataclasses import dataclass
from typing import ClassVar

from otspec.batch._array_api import k_sequential
from otspec.batch._array_api.control import repeated
from otspec.batch._array_api.library import Array, Library
from otspec.batch._array_api.sums import Weight, split, totals
from otspec.learning.objectives import Objective, State, Steps, kept, softmax

PIECES = 3  # passes that make ρ* exact, from a guess that is close
NEWTON = 12  # steps on one linear piece, of which each costs a few operations per row
_TINY = 1e-30


@dataclass(frozen=True)
class RecursiveRejection(Steps):
    """The loss W_k of recursive rejection sampling (MCSD, alg. 1): all k drafts are rejected."""

    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        # W_i = Σ (q − c_i p)₊ with c_i = 1 + W_1 + … + W_{i−1}.
        xp, draft = library.xp, softmax(library, logits)
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
        return lacking, kept(library, scales, weights[::-1], outside)


def _rejected(library: Library, scale: Array) -> tuple[Weight, Weight]:
    """Return the weights p 1[q > c·p] and (q − c·p)₊ for a scale, (..., 1)."""
    return (
        lambda p, q: p * library.above(q, scale * p),
        lambda p, q: library.xp.clip(q - scale * p, min=0.0),
    )


@dataclass(frozen=True)
class KSequential(Steps):
    """The loss (1 − β)^k of k-Seq (SpecTr, alg. 2): β = Σ min(p, q/ρ*), 1 − (1 − β)^k = ρ* β."""

    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        xp, k, draft = library.xp, float(self.k), softmax(library, logits)
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
        return missed**k, kept(library, [scale], [weight], [outside])


@dataclass(frozen=True)
class SharedNoise(Objective):
    """The loss Σ q (1 − a) of one draft and an output from the same noise (Theory, 33)."""

    copies: ClassVar[int] = 32

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        # a(y) = 1/Σ_z max(q(z), p(z) q(y)/p(y)): how likely the draft is y if the output is.
        _, _, wanted, chance, _, _ = self._sorted(library, logits, target)
        missed = wanted * (1 - chance)
        return library.xp.sum(missed, axis=-1), ()

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:  # noqa: ARG002
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        xp = library.xp
        order, drafted, wanted, chance, before, per = self._sorted(library, logits, target)
        # The loss is Σ q (1 − 1/t), t(y) = Q + r P with r = q/p, P the draft mass of lower
        # ratio and Q the target mass of no lower one; v = r ∂loss/∂t.
        slope = wanted * chance * wanted * per
        after = xp.flip(xp.cumulative_sum(xp.flip(slope, axis=-1), axis=-1), axis=-1) - slope
        found = drafted * after - slope * before
        back = xp.argsort(order, axis=-1)
        return library.narrowed(xp.take_along_axis(found, back, axis=-1))

    def _sorted(self, library: Library, logits: Array, target: Array) -> tuple[Array, ...]:
        """Return the order by q/p, and in it p, q, a, the draft mass before, and a/p: (..., V)."""
        xp, draft = library.xp, softmax(library, logits)
        ratio = library.quotient(library.widened(target), library.widened(draft), float("inf"))
        order = xp.argsort(ratio, axis=-1)
        drafted, wanted = library.take(draft, order), library.take(target, order)
        before = xp.cumulative_sum(drafted, axis=-1) - drafted
        rest = xp.sum(wanted, axis=-1, keepdims=True) - xp.cumulative_sum(wanted, axis=-1) + wanted
        # a/p = 1/(p Q + q P), which is finite where q/p is not.
        per = library.quotient(1.0, drafted * rest + wanted * before)
        return order, drafted, wanted, xp.clip(drafted * per, 0.0, 1.0), before, per


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

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:  # noqa: ARG002
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        draft = softmax(library, logits)
        return draft * library.xp.sum(target, axis=-1, keepdims=True) - target
