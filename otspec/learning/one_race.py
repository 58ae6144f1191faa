"""The loss of shared noise for several drafts of one race (Theory, 33)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from otspec.batch._array_api.control import repeated
from otspec.batch._array_api.library import Array, Library
from otspec.learning.distinct import lost, slopes
from otspec.learning.objectives import AT_ONCE, Objective, State, softmax
from otspec.learning.race import ERRORS, NODES, Race, heavy_tokens

MOST_TOKENS = 256
"""Each token has a race of its own against all others."""


@dataclass(frozen=True)
class OneRace(Objective):
    """The loss Σ q(y) f_y of drafts and output from one race.

    f_y is how likely k of the others come before y, in a race where y arrives at rate p(y) and z
    at rate w_z = (q(y) p(z) − p(y) q(z))₊. These rates do not change f_y if all are scaled, so that
    a logit z moves it by q(y) p(z) ∂f_y/∂w_z where w_z > 0, and the logit y by what makes the sum
    zero.
    """

    k: int

    def rows_at_once(self, rows: int, size: int, share: int) -> int:  # noqa: ARG002
        """Return how many of some rows to work on at once, so that little memory is needed."""
        return max(1, AT_ONCE // (self._numbers(size, max(NODES)) * size))

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and its gradient; see :class:`Objective`."""
        xp = library.xp
        draft, target = library.widened(softmax(library, logits)), library.widened(target)
        *lead, size = draft.shape
        fine = library.dtype == xp.float64
        together = AT_ONCE // (self._numbers(size, NODES[fine]) * max(1, math.prod(lead)))
        together = min(size, max(1, together))

        def more(state: State) -> State:
            """Add the losses of the next output tokens."""
            first, loss, gradient = state
            outputs = first + library.arange(together)
            is_token = outputs < size
            at = xp.clip(outputs, max=size - 1)
            p, q = (xp.take(part, at, axis=-1)[..., None] for part in (draft, target))
            is_own = library.arange(size) == at[:, None]
            wanted = xp.where(is_token[:, None], q, 0.0)
            rates = q * draft[..., None, :] - p * target[..., None, :]
            rates = xp.where(is_own | (wanted == 0), 0.0, xp.clip(rates, min=0.0))
            own = xp.where(wanted > 0, p, 1.0)
            total = own + xp.sum(rates, axis=-1, keepdims=True)
            total = xp.where(total > 0, total, 1.0)  # it may be below the least float
            lost, slope = self._lost(library, rates / total, own / total)
            # By the logits of the others: rates that are 0 stay so.
            moved = wanted * q * draft[..., None, :] * xp.where(rates > 0, slope, 0.0) / total
            moved = moved - is_own * xp.sum(moved, axis=-1, keepdims=True)
            loss = loss + xp.sum(wanted[..., 0] * lost, axis=-1)
            return first + together, loss, gradient + xp.sum(moved, axis=-2)

        start = 0 * library.arange(1)[0], 0 * draft[..., 0], 0 * draft
        _, loss, gradient = repeated(library, -(-size // together), more, start)
        return xp.clip(loss, 0.0, 1.0), (gradient,)

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:  # noqa: ARG002
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        return library.narrowed(state[0] + 0.0)  # a copy, which may be changed

    def _lost(self, library: Library, rates: Array, own: Array) -> tuple[Array, Array]:
        """Return how likely k of the others come before, and its derivatives: (...), (..., V)."""
        xp = library.xp
        draft = xp.concat([rates, own], axis=-1)
        target = xp.concat([xp.zeros_like(rates), xp.ones_like(own)], axis=-1)
        error = ERRORS[library.dtype == xp.float64]
        end = math.log(-math.log(error)) - xp.log(xp.clip(own, min=1e-30))
        race = Race.of(library, draft, target, self.k, end)
        found, state = lost(race, race.before(race.rates), draft, target, xp.zeros_like(own))
        return found, slopes(library, draft, target, state)[..., :-1]

    def _numbers(self, size: int, nodes: int) -> int:
        """Return about how many numbers one race takes."""
        return 4 * nodes * self.k * heavy_tokens(self.k, size + 1, min(ERRORS))
