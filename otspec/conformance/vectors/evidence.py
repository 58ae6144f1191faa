"""Counts with their evidence against a law, of the reference vectors (Conformance, 1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from otspec.conformance.evidence.evidence import COARSER, Evidence, Requirement, requirement

EXAMPLES = (
    ((0.5, 0.25, 0.25), (497, 262, 241), 0.05, 0.0),
    ((0.5, 0.25, 0.25), (561, 219, 220), 0.05, 0.0),
    ((0.5, 0.25, 0.25), (0, 0, 0), 0.05, 0.0),
    ((0.75, 0.25, 0.0), (75_210, 24_790, 0), 0.005, 1e-6),
    ((0.75, 0.25, 0.0), (75_208, 24_790, 2), 0.005, 1e-6),
    ((0.75, 0.25, 0.0), (74_900, 25_060, 40), 0.005, 1e-6),
    ((0.75, 0.25, 0.0), (75_209, 24_790, 1), 0.005, 0.0),
    ((1.0,), (100_000,), 0.005, 1e-6),
)
"""A law, counts, the distance to detect, and the rounding."""
FALSE_ALARM = 1e-6


def evidence_examples() -> list[dict[str, Any]]:
    """Return counts, and what the sequential test makes of them."""
    return [_example(*example) for example in EXAMPLES]


def _example(
    law: tuple[float, ...], counts: tuple[int, ...], detect: float, rounding: float
) -> dict[str, Any]:
    needs = requirement(len(law), detect, FALSE_ALARM, rounding)
    evidence = Evidence(np.array(law), needs)
    seen = np.array(counts)
    found = evidence.logarithm(seen)
    return {
        "law": list(law),
        "counts": list(counts),
        "test": requirement_document(needs),
        "log_evidence": found if math.isfinite(found) else None,
        "wrong": evidence.wrong(seen),
    }


def requirement_document(needs: Requirement) -> dict[str, Any]:
    """Return what a test takes, under the names of the format."""
    return {
        "detect": needs.detect,
        "false_alarm": needs.false_alarm,
        "rounding": needs.rounding,
        "concentrations": [needs.concentration, needs.concentration / COARSER],
        "log_threshold": needs.threshold,
        "size": needs.size,
    }
