"""Repeats a verdict: by the kit, and by an enumeration that shares no code with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import torch
from checkout import Checkout
from enumeration import law, total_variation
from small_models import TWO, WARPED, Instance, of_paths

Decoder = Callable[..., Any]
SECONDS = 10
"""After which the kit's small cases end."""
MANY = 3
"""Faults of one law on the cases that were looked at: so many are no name."""
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
    alone: Callable[[], float] | None = None  # in place of the enumeration, a closed form


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


def of_posterior(name: str, file: str, function: str, wrapped: Callable[[Checkout], Any]) -> Case:
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


def tried(case: Case, checkout: Checkout) -> dict[str, Any]:
    """Return the verdict of one case."""
    from otspec.conformance import check, exact_texts

    began = time.process_time()
    decoder, instance = case.wrap(checkout), case.instance
    distance = case.alone() if case.alone else enumerated(case, decoder)
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
        checked = check(
            verifier, **({"mode": "exact", "seconds": SECONDS} if case.followed else {}), **how
        )
        outcome = checked.outcome
        if outcome == ("passed" if distance > 0 else "failed"):
            raise SystemExit(f"{case.name}: the check {outcome}, the enumeration says {distance}")
        names = [
            n
            for each in checked.findings[:1]
            for n in each.looks_like[:1]
            if n.count(" or ") < MANY
        ]
    return {
        "name": case.name,
        "file": case.file,
        "line": checkout.line(case.file, case.function),
        "function": case.function,
        "mode": case.mode,
        "lossless": distance == 0,
        "total_variation": str(distance) if isinstance(distance, Fraction) else f"{distance:.5f}",
        "kit": None if found != found else round(found, 6),
        "check": outcome,
        "looks_like": names,
        "seconds": round(time.process_time() - began, 1),
    }


def enumerated(case: Case, decoder: Decoder) -> Fraction:
    """Return the total variation between the decoder's texts and the target's."""
    models = case.instance.draft, case.instance.target
    found = law(
        lambda: tuple(decoder(*models, case.length))[: case.length],
        case.instance.cells,
        case.unused,
    )
    return total_variation(found, case.instance.texts(case.length))
