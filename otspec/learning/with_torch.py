"""Losses for PyTorch: chunks of rows, forward and backward. Importing this imports PyTorch."""

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from otspec.batch._array_api.library import Library, library_of
from otspec.batch._dispatch import reals_of
from otspec.learning.objectives import BACKWARD, FORWARD, Objective, State, softmax


# How many passes a row needs depends on the row: a graph breaks here.
@torch.compiler.disable  # type: ignore[untyped-decorator]
def loss_of(
    logits: torch.Tensor,
    target: torch.Tensor,
    objective: Objective,
    temperature: float,
    target_logits: bool,
) -> torch.Tensor:
    """Return the loss of each row: (..., V), (..., V) -> (...)."""
    return _Loss.apply(logits, target, objective, temperature, target_logits)


class _Loss(torch.autograd.Function):  # type: ignore[misc]
    """The loss of rows; what is kept for its gradient is the inputs and a few numbers per row."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        target: torch.Tensor,
        objective: Objective,
        temperature: float,
        target_logits: bool,
    ) -> torch.Tensor:
        *lead, size = logits.shape
        rows = logits.reshape(-1, size), target.reshape(-1, size)
        how = temperature, target_logits
        losses: list[torch.Tensor] = []
        states: list[State] = []
        parts, whole = _chunks(objective, *rows, how, FORWARD)
        for part in parts:
            library, *pair = _read(rows[0][part], rows[1][part], whole, *how)
            loss, state = objective.solve(library, *pair)
            losses.append(loss.to(library.dtype))
            states.append(state)
        ctx.save_for_backward(*rows, *map(torch.cat, zip(*states, strict=True)))
        ctx.objective, ctx.how, ctx.lead = objective, how, lead
        found = torch.cat(losses) if losses else logits.new_zeros(0)
        return found.reshape(lead)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logits, target, *states = ctx.saved_tensors
        upstream = upstream.reshape(-1, 1) / ctx.how[0]

        def pulled(part: slice) -> torch.Tensor:
            library, *pair = _read(logits[part], target[part], whole, *ctx.how)
            state = tuple(each[part] for each in states)
            scaled = ctx.objective.scaled(state, upstream[part])
            found: torch.Tensor = ctx.objective.gradient(library, *pair, scaled or state)
            return found if scaled else found.mul_(upstream[part])

        parts, whole = _chunks(ctx.objective, logits, target, ctx.how, BACKWARD)
        if len(parts) == 1:
            found = pulled(parts[0]).to(logits.dtype)
        else:
            found = torch.empty_like(logits)
            for part in parts:
                found[part] = pulled(part)
        return found.reshape(*ctx.lead, logits.shape[-1]), None, None, None, None


def _chunks(
    objective: Objective,
    logits: torch.Tensor,
    target: torch.Tensor,
    how: tuple[float, bool],
    share: int,
) -> tuple[list[slice], bool]:
    """Return stretches of rows to work on at once, and whether machine code has them all."""
    rows, size = logits.shape
    in_place = objective.row_by_row[share == BACKWARD] and how == (1, False)
    if in_place and reals_of(logits, target, single=True) is not None:
        return [slice(0, rows)], True
    step = objective.rows_at_once(rows, size, share)
    return [slice(start, start + step) for start in range(0, rows, step)], False


def _read(
    logits: torch.Tensor, target: torch.Tensor, whole: bool, temperature: float, target_logits: bool
) -> tuple[Library, torch.Tensor, torch.Tensor]:
    """Return rows of logits over the temperature, and of the target's probabilities."""
    library = library_of(logits)
    if whole:
        return library, logits, target
    logits, target = library.narrowed(logits), library.narrowed(target)
    if temperature != 1:
        logits = logits / temperature
    if target_logits:
        target = softmax(library, target / temperature if temperature != 1 else target)
    return library, logits, target
