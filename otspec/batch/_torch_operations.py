"""Operations of a graph that PyTorch compiles, each a whole call."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from otspec.batch._arguments import checked_library
from otspec.batch._array_api.library import Array, library_of
from otspec.batch._results import KINDS
from otspec.batch._running import EVERY, BatchRule, optimum, verified

# Without torch.library.custom_op, whose way into an operation takes as long as many a rule.
_LIBRARY = torch.library.Library("otspec", "FRAGMENT")


def _operation(name: str, schema: str, run: Callable[..., Any], like: Callable[..., Any]) -> Any:
    """Return the operation ``otspec::name``; ``like`` returns shapes and dtypes of its results."""
    whole = f"otspec::{name}"
    _LIBRARY.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
    _LIBRARY.impl(name, run, "CompositeExplicitAutograd")
    made = getattr(torch.ops.otspec, name).default
    torch.library.register_fake(whole, like, lib=_LIBRARY)
    torch.library.register_vmap(whole, partial(_mapped, made), lib=_LIBRARY)
    return made


def _mapped(
    made: Any, info: Any, axes: tuple[int | None, ...], *given: Any
) -> tuple[Any, int | list[int]]:
    """Return the results for rows that are mapped over, and where the axis of the mapping is."""
    rows = list(given)
    for place, (part, axis) in enumerate(zip(given, axes, strict=True)):
        if axis is not None:
            rows[place] = part.movedim(axis, 0)
        elif isinstance(part, torch.Tensor):
            rows[place] = part.expand(info.batch_size, *part.shape)
    found = made(*rows)
    return found, [0] * len(found) if isinstance(found, list) else 0


def _rule(name: str, rule: BatchRule) -> Any:
    """Return the operation of a rule, whose arguments are checked while the graph is made."""
    kinds = [getattr(torch, kind) for kind in KINDS[rule.result]]

    def run(*given: Any) -> list[Array]:
        return list(verified(name, given[:5], *given[5:], checked=True))

    def like(*given: Any) -> list[Array]:
        checked_library(given[:5], False, rule.check)
        drafts = given[2]
        return [drafts.new_empty(drafts.shape[:-1], dtype=kind) for kind in kinds]

    given = "Tensor draft, Tensor target, Tensor drafts, Tensor uniforms, Tensor? mask"
    return _operation(name, f"({given}{', int grades' * rule.graded}) -> Tensor[]", run, like)


OPERATIONS = {
    "optimal_acceptance": _operation(
        "optimal_acceptance",
        "(Tensor draft, Tensor target, int k) -> Tensor",
        optimum,
        lambda draft, *_: draft.new_empty(draft.shape[:-1], dtype=library_of(draft).wide),
    ),
    **{name: _rule(name, rule) for name, rule in EVERY.items()},
}
"""Operations by the names of the public functions."""
