"""What a draft is trained for: a loss of each row, and its gradient in the draft's logits.

An objective is solved once, for a few numbers per row; from these the gradient follows in one pass,
so that nothing as large as the vocabulary is kept in between.
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np

from otspec.batch._array_api.library import Array, Library, is_torch
from otspec.batch._dispatch import machine, reals_of

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
