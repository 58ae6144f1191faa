"""What cut drafts keep (Theory, 36 to 38): lossy cuts, masks and distinct sequences."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from figures.contract import Cell, Numbers, Settings, Table
from figures.means import in_words, of_calls
from figures.registry import item
from otspec import IID, Masked
from otspec._base.arithmetic import Array
from otspec.blocks.base import BlockRule
from otspec.blocks.policies import Policy, chain, policies, sampled
from otspec.blocks.policies.sequence_race import sequence_race
from otspec.chance import Drawn
from otspec.datasets import letters
from otspec.logged.comparison import mean_and_error
from otspec.models import memoryless
from otspec.optimum import price_of_mask

SEED = 41
PLACES = 4_000
"""Random places of the text of the letters, the same for all policies."""
LENGTH, NODES = 3, 6
THRESHOLDS = (Fraction(1, 10), Fraction(1, 5))
"""Of a drafted token's own probability."""
SIBLINGS = ("siblings-dropped", "siblings-masked")
"""Two drawn children of each node, of which unlikely ones are withdrawn."""
TREES = ("sampled-budget", "sequence-race", "top-budget")
KS = (1, 2, 4)
STAR, KEPT = 4, 2
"""Drafts of one token at a position of the trace, and how many of them a budget keeps."""
TRIALS = 50
"""At each position of the trace."""


def shown_policies() -> Iterator[tuple[str, Policy]]:
    """Yield the policies of the table, with what tells thresholds apart."""
    yield "nothing is cut", Policy("all", "nothing is cut", chain(LENGTH), LENGTH)
    for threshold in THRESHOLDS:
        known = policies(threshold, LENGTH, NODES)
        for name in ("confidence-dropped", "confidence-masked", "confidence-kept"):
            yield f"{name}, {float(threshold)}", known[name]
    for name in SIBLINGS:
        yield f"{name}, {float(THRESHOLDS[0])}", policies(THRESHOLDS[0], LENGTH)[name]
    known = policies(THRESHOLDS[0], LENGTH, NODES)
    yield from ((f"{name}, {NODES} nodes", known[name]) for name in TREES)


def stars() -> Iterator[tuple[str, Policy]]:
    """Yield policies for the drafts of one token, which are compared on the trace."""
    whole = Policy("all", "nothing is cut", sampled(KEPT, 1), 1)
    yield f"{KEPT} drawn, nothing is cut", whole
    known = policies(THRESHOLDS[0], 1)
    for name in SIBLINGS:
        yield f"{KEPT} drawn, {name}, {float(THRESHOLDS[0])}", known[name]
    best = sampled(STAR, 1, KEPT)
    budget = Policy("budget", "the likeliest of those drawn", best, 1, cure="sequence-race")
    yield f"{STAR} drawn, sampled-budget, {KEPT} nodes", budget
    yield f"sequence-race, {KEPT} nodes", sequence_race(1, KEPT)
    yield f"top-budget, {KEPT} nodes", policies(THRESHOLDS[0], 1, KEPT)["top-budget"]


def trial(rule: BlockRule, rng: np.random.Generator, n: int) -> tuple[int, int]:
    """Draft and verify once, and return how many tokens are kept and how many were verified."""
    chance = Drawn(rng)
    drafts = rule.draw(chance)
    kept = len(rule.outcome(drafts, chance).accepted)
    texts = {drafts.text(node) for node in range(len(drafts)) if drafts[node] < n}
    return kept, len(texts)


@item("cutting_drafts", "ours", seed=SEED, traced=True)
class CuttingDrafts(Table):
    """Cut drafts on the letters, by simulation, and masked drafts on the trace, exactly.

    Parameters
    ----------
    kept, verified : dict
        Policy → tokens per call, and drafts that were verified, at each random place.
    lossless : dict
        Policy → whether it is, by exact audits of small models.
    off : dict
        Policy that drops tokens of a chain → the mean total variation of the next token.
    starred : dict
        Policy for drafts of one token → at each position of the trace, the share of drawn drafts of
        which one is kept, and the mean number that was verified.
    masked : dict
        (k, threshold) → at each position of the trace the optimum of all and of the kept drafts,
        and the expected number of drafts withdrawn.
    """

    title = "What cut drafts keep, on the letters and on the trace"

    kept: dict[str, tuple[int, ...]]
    verified: dict[str, tuple[int, ...]]
    lossless: dict[str, bool]
    off: dict[str, float]
    starred: dict[str, tuple[tuple[float, float], ...]]
    masked: dict[tuple[int, float], tuple[tuple[float, float, float], ...]]

    @classmethod
    def compute(cls, settings: Settings) -> CuttingDrafts:
        """Return what each policy keeps at the same random places."""
        pair = letters(exact=False)
        contexts = pair.target.contexts()
        texts, shares = list(contexts), np.array([float(share) for share in contexts.values()])
        rng = np.random.default_rng(SEED)
        places = rng.choice(
            len(texts), size=60 if settings.quick else PLACES, p=shares / shares.sum()
        )
        kept, verified, lossless = {}, {}, {}
        for name, policy in shown_policies():
            generator = np.random.default_rng(SEED)
            trials = [
                trial(
                    policy.rule(pair.draft.after(texts[i]), pair.target.after(texts[i])),
                    generator,
                    pair.target.n,
                )
                for i in places
            ]
            kept[name] = tuple(1 + tokens for tokens, _ in trials)
            verified[name] = tuple(nodes for _, nodes in trials)
            lossless[name] = policy.cure is None
        off = {
            f"confidence-dropped, {float(threshold)}": sum(
                float(share)
                * total_variation(
                    pair.draft(text), pair.target(text), _likely(pair.draft(text), threshold)
                )
                for text, share in contexts.items()
            )
            for threshold in THRESHOLDS
        }
        lossless |= {name: policy.cure is None for name, policy in stars()}
        return cls(kept, verified, lossless, off, _starred(settings), _on_trace(settings))

    def numbers(self) -> Numbers:
        """Return a row for each policy, and for each number of drafts and threshold."""
        rows: list[tuple[Cell, ...]] = []
        for name, tokens in self.kept.items():
            mean, error = mean_and_error(tokens)
            wide = in_words(mean, error, len(tokens), of_calls(LENGTH))
            nodes, _ = mean_and_error(self.verified[name])
            off: Cell = 0.0 if self.lossless[name] else self.off.get(name, "not computed")
            rows.append(("letters, tokens per call", name, off, mean, wide, nodes))
        for name, shares in self.starred.items():
            mean, error = mean_and_error([share for share, _ in shares])
            wide = in_words(mean, error, len(shares), (0.0, 1.0))
            nodes = float(np.mean([many for _, many in shares]))
            off = 0.0 if self.lossless[name] else "not computed"
            rows.append(("trace, share kept of one token", name, off, mean, wide, nodes))
        for (k, threshold), found in self.masked.items():
            optima = [kept for _, kept, _ in found]
            mean, error = mean_and_error(optima)
            wide = in_words(mean, error, len(optima), (0.0, 1.0))
            left = k - float(np.mean([withdrawn for *_, withdrawn in found]))
            name = f"{k} i.i.d. drafts, " + (f"masked below {threshold}" if threshold else "all")
            rows.append(("trace, optimal acceptance", name, 0.0, mean, wide, left))
        columns = ("what", "drafts", "off by", "mean", "95% interval", "drafts verified")
        return Numbers(columns, tuple(rows))

    def notes(self) -> list[str]:
        """Return how the numbers were found."""
        places = len(next(iter(self.kept.values())))
        return [
            f"Letters: {places:,} random places, blocks of {LENGTH} tokens, simulated.",
            "Verified by recursive rejection; certain drafts by a draw from the target.",
            "Off by: total variation of the next token from the target, mean of all places, exact.",
            "The trace: optima are exact at each position, and intervals over positions.",
            f"Shares kept of one token: {TRIALS:,} simulated trials at each position.",
        ]


def total_variation(draft: Array, target: Array, keep: list[int]) -> float:
    """Return how far the next token is from the target if unlikely drafts are forgotten."""
    drafted = np.zeros(len(draft))
    drafted[keep] = draft[keep]
    kept, left = np.minimum(drafted, target), np.maximum(target - draft, 0)
    rejected = drafted.sum() - kept.sum()
    residual = rejected / left.sum() * left if left.sum() > 0 else 0 * left
    output = kept + residual + (1 - drafted.sum()) * target
    return float(np.abs(output - target).sum() / 2)


def _starred(settings: Settings) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return what policies for one token keep at each position of the trace."""
    found: dict[str, list[tuple[float, float]]] = {}
    for draft, target in settings.pairs():
        pair, n = (memoryless(draft), memoryless(target)), len(draft)
        for name, policy in stars():
            rng = np.random.default_rng(SEED)
            rule = policy.rule(*pair)
            trials = [trial(rule, rng, n) for _ in range(4 if settings.quick else TRIALS)]
            kept, verified = np.mean(trials, axis=0).tolist()
            found.setdefault(name, []).append((kept, verified))
    return {name: tuple(shares) for name, shares in found.items()}


def _on_trace(settings: Settings) -> dict[tuple[int, float], Any]:
    """Return the prices of masks at each position of the trace."""
    found: dict[tuple[int, float], Any] = {}
    for draft, target in settings.pairs():
        for k in KS:
            for threshold in (0.0, *map(float, THRESHOLDS)):
                price = price_of_mask(Masked(IID(draft, k), _likely(draft, threshold)), target)
                row = float(price.every), float(price.kept), float(price.withdrawn)
                found.setdefault((k, threshold), []).append(row)
    return {key: tuple(rows) for key, rows in sorted(found.items())}


def _likely(draft: Array, threshold: float | Fraction) -> list[int]:
    """Return the tokens of at least this probability."""
    tokens: list[int] = np.flatnonzero(draft >= float(threshold)).tolist()
    return tokens
