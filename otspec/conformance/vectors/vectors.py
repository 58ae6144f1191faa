"""Reference vectors for engines in other languages: inputs, and what a correct verifier answers."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base import as_choice, as_float_above, as_list, as_path, as_real, write_text, written
from otspec.conformance.cases.drafting import model_of
from otspec.conformance.cases.kinds import Tree
from otspec.conformance.check import LEAST
from otspec.conformance.evidence import evidence as sequential
from otspec.conformance.vectors.answers import (
    SHAPES,
    Answers,
    Drafts,
    Group,
    Row,
    groups,
    uniform_vectors,
)
from otspec.version import __version__

FORMAT = "otspec-conformance-vectors"
VERSION = 1  # of the format: raised when a name changes its meaning or goes
EXAMPLES = (  # a law, counts, the distance to detect, and the rounding
    ((0.5, 0.25, 0.25), (497, 262, 241), 0.05, 0.0),
    ((0.5, 0.25, 0.25), (561, 219, 220), 0.05, 0.0),
    ((0.5, 0.25, 0.25), (0, 0, 0), 0.05, 0.0),
    ((0.75, 0.25, 0.0), (75_210, 24_790, 0), 0.005, 1e-6),
    ((0.75, 0.25, 0.0), (75_208, 24_790, 2), 0.005, 1e-6),
    ((0.75, 0.25, 0.0), (74_900, 25_060, 40), 0.005, 1e-6),
    ((0.75, 0.25, 0.0), (75_209, 24_790, 1), 0.005, 0.0),
    ((1.0,), (100_000,), 0.005, 1e-6),
)
EXAMPLE_ALARM = 1e-6


def reference_vectors(
    kinds: Iterable[str] = tuple(SHAPES),
    *,
    detect: float = 0.005,
    false_alarm: float = 1e-6,
    rounding: float = 1e-6,
) -> dict[str, Any]:
    """Return the reference vectors as a document that JSON can hold.

    Parameters
    ----------
    kinds : iterable of str
        Some of ``"tokens"``, ``"block"`` and ``"tree"``.
    detect : float
        The total variation that the numbers of samples in the document find.
    false_alarm : float
        The probability with which a correct verifier fails one of the sequential.
    rounding : float
        The errors of a probability that count as rounding.

    Raises
    ------
    ValueError
        Another kind, a number out of range, or a distance that takes too many samples to see.
    """
    test = {
        "detect": as_float_above(detect, "detect", 0, 1),
        "false_alarm": float(as_real(false_alarm, "false_alarm", LEAST, 0.5)),
        "rounding": float(as_real(rounding, "rounding", 0, 0.1)),
    }
    names = as_list(kinds, "kinds", f"a list of some of {', '.join(SHAPES)}")
    wanted = list(dict.fromkeys(as_choice(kind, "kinds", SHAPES) for kind in names))
    return {
        "format": FORMAT,
        "version": VERSION,
        "otspec": __version__,
        "missed": sequential.MISS,
        "groups": [_group(group, test) for kind in wanted for group in groups(kind)],
        "uniforms": [vector for kind in wanted for vector in uniform_vectors(kind)],
        "evidence": [_example(*example) for example in EXAMPLES],
    }


def write_vectors(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write reference vectors to a JSON file."""
    write_text(as_path(path), json.dumps(document, separators=(",", ":")) + "\n")


def _group(group: Group, test: Mapping[str, float]) -> dict[str, Any]:
    answers: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    calls = []
    for drafts, mass in group.drafted():
        law = group.answers(drafts)
        calls.append(_call(group, drafts, mass, law))
        for answer, chance in law.items():
            answers[answer] += mass * chance
    # The target's texts, as long as the longest answer.
    longest = 1 if group.kind == "tokens" else Tree(group.parents).length
    texts = model_of(group.pair.target).texts(longest)
    return {
        "name": group.name,
        "kind": group.kind,
        "rule": group.rule,
        "parents": list(group.parents),
        "siblings": "without-replacement" if group.distinct else "iid",
        "vocabulary": len(group.pair.draft[0]),
        "draft": _floats(group.pair.draft),
        "draft_exact": _exact(group.pair.draft),
        "target": _floats(group.pair.target),
        "target_exact": _exact(group.pair.target),
        "calls": calls,
        "answers": _tested(_answers(answers), test),
        "texts": _tested([{"tokens": list(x), **_mass(mass)} for x, mass in texts], test),
    }


def _tested(law: list[dict[str, Any]], test: Mapping[str, float]) -> dict[str, Any]:
    """Return a law with what its test takes, where anything else is a cell of probability 0."""
    needs = sequential.requirement(len(law) + 1, **test)
    if needs.size >= sequential.LARGEST:
        raise ValueError(
            f"detect is {needs.detect:g}, which takes more than {sequential.LARGEST:,} samples "
            f"where errors of {needs.rounding:g} count as rounding: pass a larger detect, or a "
            "smaller rounding"
        )
    return {"law": law, "test": _requirement(needs)}


def _call(group: Group, drafts: Drafts, mass: Fraction, law: Answers) -> dict[str, Any]:
    draft, target = (group.rows(table, drafts) for table in (group.pair.draft, group.pair.target))
    if group.kind == "tokens":
        draft, target = draft[:1], target[:1]
    elif group.kind == "block":
        draft = draft[:-1]
    return {
        "drafts": list(drafts),
        **_mass(mass),
        "draft": _floats(draft),
        "target": _floats(target),
        "law": _answers(law),
    }


def _answers(law: Answers) -> list[dict[str, Any]]:
    return [
        {"mark": mark, "token": token, **_mass(law[mark, token])} for mark, token in sorted(law)
    ]


def _mass(mass: Any) -> dict[str, Any]:
    return {"probability": float(mass), "exact": written(mass)}


def _floats(rows: Iterable[Row]) -> list[list[float]]:
    return [[float(mass) for mass in row] for row in rows]


def _exact(rows: Iterable[Row]) -> list[list[str]]:
    return [[written(mass) for mass in row] for row in rows]


def _example(
    law: tuple[float, ...], counts: tuple[int, ...], detect: float, rounding: float
) -> dict[str, Any]:
    needs = sequential.requirement(len(law), detect, EXAMPLE_ALARM, rounding)
    evidence = sequential.Evidence(np.array(law), needs)
    seen = np.array(counts)
    found = evidence.logarithm(seen)
    return {
        "law": list(law),
        "counts": list(counts),
        "test": _requirement(needs),
        "log_evidence": found if math.isfinite(found) else None,
        "wrong": evidence.wrong(seen),
    }


def _requirement(needs: sequential.Requirement) -> dict[str, Any]:
    """Return what a test takes, under the names of the format."""
    return {
        "detect": needs.detect,
        "false_alarm": needs.false_alarm,
        "rounding": needs.rounding,
        "concentrations": [needs.concentration, needs.concentration / sequential.COARSER],
        "log_threshold": needs.threshold,
        "size": needs.size,
    }
