"""Rules, peers and a copy of what they read timed in turn, in the same process.

The fastest of some calls counts, of one thread in CPU time: other work on the machine makes calls
slower, and none faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from batch_rules import problems

from otspec import batch
from peers.matches import INSTALLED, MATCHES, Peer

Action = Callable[[], Any]


@dataclass(frozen=True)
class Timed:
    """A rule beside a peer.

    Parameters
    ----------
    rule : str
    peer : Peer
    rows, vocabulary, k : int
    seconds, peer_seconds, copy_seconds : float
        Of the fastest call of the rule, of the peer, and of a copy of draft and target.
    compiled : float
        What the compiled rule takes over what the peer takes; NaN if not measured.
    """

    rule: str
    peer: Peer
    rows: int
    vocabulary: int
    k: int
    seconds: float
    peer_seconds: float
    copy_seconds: float
    compiled: float

    @property
    def eager(self) -> float:
        """Return what the rule takes over what the peer takes."""
        return self.seconds / self.peer_seconds

    @property
    def of_copy(self) -> float:
        """Return the bytes of the inputs in the rule's time over those that a copy reads in it."""
        return self.copy_seconds / self.seconds


def measured(
    rules: list[str], vocabulary: int, rows: int, k: int, repeat: int, compiled: bool
) -> Iterator[Timed]:
    """Time rules against all of their peers; every draft is rejected."""
    given = problems(vocabulary, rows, k)
    with torch.inference_mode():
        for name in rules:
            arguments = rejected(
                *(torch.as_tensor(np.ascontiguousarray(each)) for each in given[name])
            )
            for peer in MATCHES[name]:
                yield _timed(name, peer, arguments, (rows, vocabulary, k), repeat, compiled)


def rejected(draft: Any, target: Any, drafts: Any, uniforms: Any) -> tuple[Any, ...]:
    """Return arguments of a rule with a target that has nothing of the drafts."""
    if draft.ndim == target.ndim and draft.shape == target.shape:
        target = target.scatter(-1, drafts, 0.0)
    else:  # a block, whose last place has no draft
        target[:, :-1].scatter_(-1, drafts[..., None], 0.0)
    return draft, target / target.sum(-1, keepdim=True), drafts, uniforms


def _timed(
    name: str,
    peer: Peer,
    arguments: tuple[Any, ...],
    sizes: tuple[int, int, int],
    repeat: int,
    compiled: bool,
) -> Timed:
    rule = getattr(batch, name)
    draft, target, drafts, uniforms = arguments
    logits = draft.log(), target.log()
    theirs = logits if peer.origin == INSTALLED else (draft, target)
    if peer.logits:
        draft, target = logits
        theirs = logits
        rule = partial(batch.from_logits, name)
    reference = lambda: peer.over_rows(*theirs, drafts)  # noqa: E731
    copies = torch.empty_like(draft), torch.empty_like(target)
    copy = lambda: [own.copy_(rows) for own, rows in zip(copies, (draft, target), strict=True)]  # noqa: E731
    seconds = in_turn(lambda: rule(draft, target, drafts, uniforms), reference, repeat, copy)
    ratio = float("nan")
    if compiled:
        fast = torch.compile(rule, fullgraph=True)
        first, second = in_turn(lambda: fast(draft, target, drafts, uniforms), reference, repeat)
        ratio = first / second
    return Timed(name, peer, *sizes, *seconds, ratio)


def in_turn(ours: Action, theirs: Action, repeat: int, *more: Action) -> list[float]:
    """Return what the fastest call of each takes, in seconds; they are called in turn."""
    actions = ours, theirs, *more
    for _ in range(3):  # imports, caches, page faults, compilation
        for action in actions:
            action()
    times = [[_seconds(action) for action in actions] for _ in range(repeat)]
    return [min(column) for column in zip(*times, strict=True)]


def _seconds(action: Action) -> float:
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    action()
    return clock() - start
