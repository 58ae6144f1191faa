"""Starts the kernels: what they read of rows, weights and tokens, and in which pieces.

Nothing waits for the device, and all memory is PyTorch's own; so calls can be recorded in a CUDA
graph once each kernel has been compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, TypeAlias

import torch

from otspec.batch._array_api.library import BLOCK, Array, Library
from otspec.batch._array_api.sums import KnownWeight, Weight, the_draft
from otspec.batch._triton import kernels, on, pieces, softmax_kernels, warn_of


def softmax(library: Library, logits: Array, temperatures: Array | float) -> Array:
    """Return the softmax of logits over temperatures, 0 for the first of the largest logits."""
    xp, (*lead, size) = library.xp, logits.shape
    rows, tile = prod(lead), min(pieces.PIECE, pieces.power(size))
    number = -(-size // tile)
    temperatures = (
        library.full((*lead, 1), temperatures) if isinstance(temperatures, float) else temperatures
    )
    temperatures = (
        library.narrowed(torch.broadcast_to(temperatures, (*lead, 1))).reshape(rows, 1).contiguous()
    )
    per_outer, steps = pieces.laid_out(library, logits)
    at_once = pieces.at_once(library, rows * number, tile, 1)
    given: dict[str, Any] = {
        "logits": logits,
        "temperatures": temperatures,
        "pairs": rows * number,
        "size": size,
        "pieces": number,
        "per_outer": per_outer,
        **steps,
        "dtype": pieces.kind(library),
        "tile": tile,
        "at_once": at_once,
    }
    found = torch.empty(logits.shape, dtype=library.dtype, device=library.device)
    tops, places, sums = (
        torch.empty((rows, number), dtype=dtype, device=library.device)
        for dtype in (library.dtype, library.index, library.wide)
    )

    def start(writes: bool, **parts: Array) -> None:
        programs = -(-rows * number // at_once)
        kernel = softmax_kernels.softmax
        pieces.start(kernel, programs, logits, **given, **parts, found=found, writes=writes)

    start(False, tops=tops, places=places, sums=sums)
    top = xp.max(tops, axis=-1, keepdims=True)
    apart = (tops - top) / xp.where(temperatures == 0, xp.ones_like(temperatures), temperatures)
    place = library.pick(places, library.largest(tops))
    start(True, tops=top, places=place, sums=xp.sum(sums * library.widened(xp.exp(apart)), axis=-1))
    return found


Form: TypeAlias = tuple[int, float, bool, bool, int]
"""A weight as a kernel has it: :class:`KnownWeight`, by the places of its kind and first number."""
TOGETHER = 8
"""How many weights are added up over the vocabulary in one reading: each holds registers."""


def takes(library: Library, draft: Array, target: Array, *weights: Weight) -> bool:
    """Return whether the kernels can do it: of weights that tell what they are made of."""
    # Not of subclasses of tensors, no rows at all, rows along several axes that no two steps reach;
    # and not where gradients are wanted, or someone follows the operations, who sees no kernels.
    return (
        takes_rows(library, draft, target)
        and target.shape == draft.shape
        and all(isinstance(weight, KnownWeight) for weight in weights)
    )


def takes_rows(library: Library, *given: Array) -> bool:
    """Return whether the kernels can read rows."""
    if library.device.type not in on or _followed() or not starts(library):
        return False
    return all(
        type(rows) is torch.Tensor
        and rows.numel() > 0
        and (rows.ndim <= 3 or rows.is_contiguous())  # which reshaping need not copy
        and not (rows.requires_grad and torch.is_grad_enabled())
        for rows in given
    )


def _followed() -> bool:
    """Return whether a transformed function, a trace or a mode follows PyTorch's operations."""
    if torch.jit.is_tracing():
        return True
    inside: Any = torch._C  # noqa: SLF001 # there is no other way to know
    return bool(inside._are_functorch_transforms_active() or inside._len_torch_dispatch_stack())  # noqa: SLF001


@cache
def starts(library: Library) -> bool:
    """Return whether a kernel can be started, by a trial; if not, a warning tells why."""
    rows, token = library.full((1, 1), 1.0), library.numbers([0])[:, None]
    try:
        without(library, library.narrowed(rows), rows, the_draft, rows, token)
    except Exception as error:  # whatever keeps Triton from it, arrays do
        warn_of(error, library.device)
        return False
    return True


def overlaps(library: Library, draft: Array, target: Array, scales: Array) -> Array:
    """Return what :func:`otspec.batch._array_api.sums.overlaps` returns."""
    numbers = _flat(library, library.narrowed(scales))
    parts = [
        _added(library, draft, target, [_scaled(j) for j in range(part.shape[-1])], part)
        for part in torch.split(numbers, TOGETHER, dim=-1)
    ]
    return torch.moveaxis(_whole(parts), 0, -1)


def block_sums(library: Library, draft: Array, target: Array, *weights: KnownWeight) -> list[Array]:
    """Return what :func:`otspec.batch._array_api.sums.block_sums` returns."""
    return list(_added(library, draft, target, *_read(library, draft, *weights)))


def totals(library: Library, draft: Array, target: Array, *weights: KnownWeight) -> list[Array]:
    """Return what :func:`otspec.batch._array_api.sums.totals` returns, all added up by blocks."""
    parts = [
        _added(library, draft, target, *_read(library, draft, *weights[i : i + TOGETHER]))
        for i in range(0, len(weights), TOGETHER)
    ]
    return list(_whole(parts))


def draw(
    library: Library,
    draft: Array,
    target: Array,
    weight: KnownWeight,
    blocks: Array,
    uniforms: Array,
    excluded: Array | None = None,
) -> Array:
    """Return what :func:`otspec.batch._array_api.inversion.draw` returns."""
    tokens = torch.empty(draft.shape[:-1], dtype=library.index, device=library.device)
    flat = torch.reshape(library.widened(uniforms), (-1,)).contiguous()
    left_out = {"excluded": tokens, "left_out": 0, "excluded_row": 0, "excluded_step": 0}
    if excluded is not None:
        left_out = _excluded(library, excluded)
    given = {"draws": True, "uniforms": flat, "found": tokens, **left_out}
    _by_rows(library, draft, target, weight, blocks, given)
    return tokens


def without(
    library: Library,
    draft: Array,
    target: Array,
    weight: KnownWeight,
    blocks: Array,
    excluded: Array,
) -> Array:
    """Return what :func:`otspec.batch._array_api.inversion.without` returns."""
    less = torch.empty(blocks.shape, dtype=blocks.dtype, device=library.device)
    # The uniform numbers are not read.
    given = {"draws": False, "uniforms": less, "found": less, **_excluded(library, excluded)}
    _by_rows(library, draft, target, weight, blocks, given)
    return less


def _whole(parts: list[Array]) -> Array:
    """Return block sums of weights, in parts, added up over the vocabulary: (weights, ...)."""
    return torch.sum(parts[0] if len(parts) == 1 else torch.cat(parts), dim=-1)


def _scaled(column: int) -> Form:
    """Return the weight min(target, scale·draft) for one of the numbers."""
    return kernels.KINDS.index("scaled"), 1.0, False, False, column


def _added(
    library: Library, draft: Array, target: Array, forms: Sequence[Form], numbers: Array
) -> Array:
    """Return the block sums of weights, wide: (weights, ..., ceil(V / 256))."""
    size, lead = draft.shape[-1], draft.shape[:-1]
    blocks, tile = -(-size // BLOCK), pieces.tile(size)
    shape = len(forms), *lead, blocks
    sums = torch.empty(shape, dtype=library.wide, device=library.device)
    pairs = prod(lead) * blocks
    at_once = pieces.at_once(library, pairs, tile, pieces.PIECE // tile)
    pieces.start(
        kernels.block_sums,
        -(-pairs // at_once),
        draft,
        **_rows(library, draft, target),
        numbers=numbers,
        columns=numbers.stride(0),
        sums=sums,
        pairs=pairs,
        blocks=blocks,
        forms=tuple(forms),
        number=len(forms),
        tile=tile,
        block_size=BLOCK,
        at_once=at_once,
    )
    return sums


def _by_rows(
    library: Library,
    draft: Array,
    target: Array,
    weight: KnownWeight,
    blocks: Array,
    given: dict[str, Any],
) -> None:
    """Start the kernel that takes the block sums of a row at once."""
    (form,), numbers = _read(library, draft, weight)
    rows, width = prod(draft.shape[:-1]), blocks.shape[-1]
    padded, tile = pieces.power(width), pieces.tile(draft.shape[-1])
    at_once = pieces.at_once(library, rows, max(padded, tile), 1)
    pieces.start(
        kernels.in_block,
        -(-rows // at_once),
        draft,
        **_rows(library, draft, target),
        **given,
        numbers=numbers,
        columns=numbers.stride(0),
        blocks=blocks.contiguous(),
        rows=rows,
        width=width,
        form=form,
        padded=padded,
        tile=tile,
        block_size=BLOCK,
        at_once=at_once,
    )


def _read(library: Library, draft: Array, *weights: KnownWeight) -> tuple[list[Form], Array]:
    """Return weights as the kernels have them, and their numbers: (rows, numbers)."""
    forms: list[Form] = []
    numbers: list[Array] = []
    for weight in weights:
        mixed, kind = weight.share is not None, kernels.KINDS.index(weight.kind)
        forms.append((kind, weight.factor, weight.excess, mixed, len(numbers)))
        numbers += (*[weight.share] * mixed, *weight.numbers)
    lead = draft.shape[:-1]
    if not numbers:
        return forms, draft  # something on the device, which is not read
    each = [torch.broadcast_to(number, (*lead, 1)) for number in numbers]
    joined = each[0] if len(each) == 1 else torch.cat(each, dim=-1)
    return forms, _flat(library, joined)


def _flat(library: Library, values: Array) -> Array:
    """Return (..., m) as (rows, m), each row without gaps."""
    return library.xp.reshape(values, (-1, values.shape[-1])).contiguous()


def _excluded(library: Library, excluded: Array) -> dict[str, Any]:
    """Return what the kernels are told of tokens that are left out, (..., j)."""
    flat = library.xp.reshape(excluded, (-1, excluded.shape[-1]))
    row, step = flat.stride()
    left_out = flat.shape[-1]
    return {"excluded": flat, "left_out": left_out, "excluded_row": row, "excluded_step": step}


def _rows(library: Library, draft: Array, target: Array) -> dict[str, Any]:
    """Return what the kernels are told of the rows of both."""
    given = {"size": draft.shape[-1], "same": target is draft, "dtype": pieces.kind(library)}
    for name, rows in (("draft", draft), ("target", target)):
        given["inner"], steps = pieces.laid_out(library, rows)
        given |= {name: rows, **{f"{name}_{step}": number for step, number in steps.items()}}
    return given
