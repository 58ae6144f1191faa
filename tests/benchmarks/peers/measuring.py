"""Rules and peers timed in turn, on the same rows, in the same process."""

from __future__ import annotations

import statistics
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
    seconds : float
        The rule's median.
    peer_seconds : float
        The peer's.
    eager, compiled : float
        The median of the ratios of calls next to each other; NaN if not measured.
    """

    rule: str
    peer: Peer
    rows: int
    vocabulary: int
    k: int
    seconds: float
    peer_seconds: float
    eager: float
    compiled: float


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
    pairs = in_turn(lambda: rule(draft, target, drafts, uniforms), reference, repeat)
    ratio = float("nan")
    if compiled:
        fast = torch.compile(rule, fullgraph=True)
        timed = in_turn(lambda: fast(draft, target, drafts, uniforms), reference, repeat)
        ratio = statistics.median(first / second for first, second in timed)
    seconds, peer_seconds = (statistics.median(column) for column in zip(*pairs, strict=True))
    eager = statistics.median(first / second for first, second in pairs)
    return Timed(name, peer, *sizes, seconds, peer_seconds, eager, ratio)


def in_turn(ours: Action, theirs: Action, repeat: int) -> list[tuple[float, float]]:
    """Return what both take, in seconds, call after call."""
    for _ in range(3):  # imports, caches, page faults, compilation
        ours(), theirs()
    return [(_seconds(ours), _seconds(theirs)) for _ in range(repeat)]


def _seconds(action: Action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
