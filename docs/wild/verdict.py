"""Repeats a verdict: by the kit, and by an enumeration that shares no code with it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from checkout import Checkout
from enumeration import law, total_variation
from instances import TWO, WARPED, Instance, of_paths

Decoder = Callable[..., Any]
SECONDS = 10
"""After which the kit's small cases end."""
SAME = 1e-5
"""Two total variations differ by less."""


class Case(NamedTuple):
    """One function of a repository, and what it is tried on."""

    name: str  # of the row in the page's table
    file: str
    function: str  # or Class.method
    mode: str  # kernel, exact or pipeline
    instance: Instance
    length: int  # of the texts that are compared
    wrap: Callable[[Checkout], Decoder]  # a decoder: draft, target, length → text
    kit: Callable[[Checkout], tuple[Any, dict[str, Any]]] | None = None  # a verifier for ``check``
    followed: bool = True  # whether the kit can follow its random numbers; else it draws samples
    unused: frozenset[int] = frozenset()  # uniform numbers that nothing depends on, by their order


def of_verifier(
    name: str,
    file: str,
    function: str,
    wrapped: Callable[[Checkout], Any],
    decoder: Callable[[Any], Decoder],
    *,
    instance: Instance = TWO,
    length: int = 3,
    **how: Any,
) -> Case:
    """Return the case of a verifier that is handed its drafts."""
    return Case(
        name,
        file,
        function,
        "exact",
        instance,
        length,
        lambda checkout: decoder(wrapped(checkout)),
        lambda checkout: (wrapped(checkout), {"arrays": "torch", **how}),
    )


def of_posterior(
    name: str, file: str, function: str, wrapped: Callable[[Checkout], Any]
) -> Case:
    """Return the case of a function of logits, candidates and a warp, as EAGLE's.

    The warp is temperature 1/2. Drafts count as certain, whatever they are drawn from.
    """

    def warped(_: Any, logits: Any) -> Any:
        return logits * 2

    def wrap(checkout: Checkout) -> Decoder:
        evaluate = wrapped(checkout)

        def verify(_: Any, target: Any, drafts: Any) -> Any:
            candidates = torch.nn.functional.pad(drafts[0], (1, 0))
            path, kept, weights = evaluate(target[0].log() / 2, candidates, warped)
            return path, kept, weights.reshape(-1).multinomial(1)

        return of_paths(verify)

    def kit(checkout: Checkout) -> Any:
        from otspec.conformance.adapters import eagle_tree

        evaluate = wrapped(checkout)

        def flat(logits: Any, candidates: Any, _: Any) -> Any:
            path, kept, weights = evaluate(logits / 2, candidates, warped)
            return path, kept, weights.reshape(-1)

        return eagle_tree(flat), {"kind": "tree", "distinct": True, "shape": "2"}

    return Case(name, file, function, "exact", WARPED, 2, wrap, kit)


def main(repository: str, commit: str, *cases: Case) -> None:
    """Print the verdict of each case on a checkout that is told."""
    parser = argparse.ArgumentParser(description=f"Repeat the verdicts on {repository}.")
    parser.add_argument("checkout", type=Path, help=f"a clone of github.com/{repository}")
    parser.add_argument("--json", type=Path, help="a file that the results are added to")
    options = parser.parse_args()
    checkout = Checkout(options.checkout)
    found = checkout.commit()
    if found not in (None, commit):
        print(f"This checkout is at {found}; the verdicts of the page are of {commit}.")  # noqa: T201
    for case in cases:
        result = {"repository": repository, "commit": found or commit, **tried(case, checkout)}
        print(f"{result['name']}, {result['file']}:{result['line']}: {in_words(result)}")  # noqa: T201
        if options.json:
            add(options.json, result)


def tried(case: Case, checkout: Checkout) -> dict[str, Any]:
    """Return the verdict of one case."""
    from otspec.conformance import check, exact_texts

    began = time.process_time()
    decoder, instance = case.wrap(checkout), case.instance
    alone = law(
        lambda: tuple(decoder(instance.draft, instance.target, case.length))[: case.length],
        instance.cells,
        case.unused,
    )
    distance = total_variation(alone, instance.texts(case.length))
    found = float("nan")
    if case.followed:
        report = exact_texts(
            decoder, instance.draft, instance.target, case.length, tolerance=1e-6, least=1e-6
        )
        if report.lossless is None:
            raise SystemExit(f"{case.name}: {report.reason}\n{report.traceback}")
        found = float(report.total_variation)
        if abs(float(distance) - found) > SAME:
            raise SystemExit(f"{case.name}: the kit says {found}, the enumeration {distance}")
    names: list[str] = []
    outcome = None
    if case.kit is not None:
        verifier, how = case.kit(checkout)
        checked = check(verifier, **({"mode": "exact", "seconds": SECONDS} if case.followed else {}), **how)
        outcome = checked.outcome
        if (outcome == "failed") != (distance > 0):
            raise SystemExit(f"{case.name}: the check {outcome}, the enumeration says {distance}")
        names = [name for finding in checked.findings[:1] for name in finding.looks_like[:1]]
    return {
        "name": case.name,
        "file": case.file,
        "line": checkout.line(case.file, case.function),
        "function": case.function,
        "mode": case.mode,
        "lossless": distance == 0,
        "total_variation": str(distance),
        "kit": None if found != found else round(found, 6),
        "check": outcome,
        "looks_like": names,
        "seconds": round(time.process_time() - began, 1),
    }


def in_words(result: dict[str, Any]) -> str:
    """Return a verdict as a sentence."""
    if result["lossless"]:
        return "lossless"
    named = f"; it looks like: {result['looks_like'][0]}" if result["looks_like"] else ""
    return f"lossy, total variation {result['total_variation']}{named}"


def add(path: Path, result: dict[str, Any]) -> None:
    """Put a result in the place of an earlier one of its name."""
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    key = (result["repository"], result["name"])
    kept = [each for each in results if (each["repository"], each["name"]) != key]
    ordered = sorted([*kept, result], key=lambda each: (each["repository"].lower(), each["name"]))
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
