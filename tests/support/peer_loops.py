"""Published loops in PyTorch, one row at a time, written anew from their descriptions.

None of it is its authors' code. Each does what the paper says, in the way that its code is commonly
written: the row of the target is corrected in place of a formula, and every test reads a number.
"""

from __future__ import annotations

from typing import Any

import torch

Tensor = Any


def uniform() -> Tensor:
    """Draw the number that a draft is tested with."""
    return torch.rand(1)


def drawn(weights: Tensor) -> int:
    """Draw the token that follows when no draft was accepted."""
    return int(torch.multinomial(weights, 1))


def residual(target: Tensor, draft: Tensor) -> Tensor:
    """Return (target − draft)₊ over its sum, or the target where nothing is left."""
    left = torch.relu(target - draft)
    total = left.sum()
    return left / total if total > 0 else target


def mcsd(draft: Tensor, target: Tensor, drafts: Tensor) -> int:
    """MCSD, algorithm 1: independent drafts are tried in turn."""
    for token in drafts.tolist():
        if uniform() * draft[token] < target[token]:
            return int(token)
        target = residual(target, draft)
    return drawn(target)


def mcsd_without_replacement(draft: Tensor, target: Tensor, drafts: Tensor) -> int:
    """MCSD, algorithm 2: of distinct drafts the rejected ones are taken out of the draft."""
    draft = draft.clone()
    for token in drafts.tolist():
        if uniform() * draft[token] < target[token]:
            return int(token)
        target = residual(target, draft)
        draft[token] = 0
        draft = draft / draft.sum()
    return drawn(target)


def specinfer(draft: Tensor, target: Tensor, drafts: Tensor) -> int:
    """SpecInfer, multi-step speculative sampling: a draft is chosen at random each time."""
    left = drafts.tolist()
    while left:
        token = left.pop(int(torch.randint(len(left), (1,))))
        if uniform() * draft[token] < target[token]:
            return int(token)
        target = residual(target, draft)
    return drawn(target)


def sequoia(draft: Tensor, target: Tensor, drafts: Tensor) -> int:
    """Sequoia, algorithm 2: without replacement, uniform once the draft has nothing left."""
    draft, untried = draft.clone(), torch.ones_like(draft)
    for token in drafts.tolist():
        if uniform() * draft[token] < target[token]:
            return int(token)
        target = residual(target, draft)
        draft[token] = untried[token] = 0
        total = draft.sum()
        draft = draft / total if total > 0 else untried / untried.sum()
    return drawn(target)


def eagle(draft: Tensor, target: Tensor, drafts: Tensor) -> int:
    """EAGLE: drafts count as certain, and a rejected one is taken out of the target."""
    target, seen = target.clone(), set()
    for token in drafts.tolist():
        if token in seen:
            continue
        seen.add(token)
        if uniform() <= target[token]:
            return int(token)
        target[token] = 0
        target = target / target.sum()
    return drawn(target)


def spechub(draft: Tensor, target: Tensor, drafts: Tensor) -> int:
    """SpecHub, algorithm 3: two drafts, one of them the draft's likeliest token."""
    hub = int(draft.argmax())
    mass, others = draft[hub], 1 - draft[hub]
    first, second = drafts.tolist()
    offered = draft * mass / others  # of (hub, x)
    offered[hub] = 0
    last = torch.minimum(draft, target)  # of (x, hub)
    last[hub] = 0
    lacking = target - last
    served = torch.minimum(offered, lacking)
    served[hub] = 0
    lacking = lacking - served
    at_last, at_first = others - last.sum(), mass - served.sum()
    took_last = torch.minimum(lacking[hub], at_last)
    took_first = torch.minimum(lacking[hub] - took_last, at_first)
    lacking[hub] = lacking[hub] - took_last - took_first
    if second == hub:
        if uniform() * draft[first] < last[first]:
            return int(first)
        if uniform() * at_last < took_last:
            return hub
    else:
        if uniform() * offered[second] < served[second]:
            return int(second)
        if uniform() * at_first < took_first:
            return hub
    return drawn(lacking.clamp(min=0) if lacking.sum() > 0 else target)
