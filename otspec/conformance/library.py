"""The cases of a check: small, and each with something that verifiers get wrong."""

from __future__ import annotations

from collections import Counter

from otspec.conformance.cases import Case, embedded, memoryless, mixed, remembering
from otspec.conformance.kinds import Kind

ROWS = {
    "all positive": ((4, 2, 1, 1), (1, 2, 4, 1)),
    "draft and target alike": ((3, 2, 2, 1), (3, 2, 2, 1)),
    "nearly alike": ((64, 32, 16, 16), (63, 33, 15, 17)),
    "ties": ((2, 2, 2, 2), (1, 1, 3, 3)),
    "disjoint supports": ((3, 1, 0, 0), (0, 0, 1, 3)),
    "a drafted token that the target never says": ((4, 2, 2, 0), (0, 4, 1, 3)),
    "a token that is never drafted": ((4, 4, 0, 0), (2, 2, 3, 1)),
    "one certain draft": ((1, 0, 0, 0), (4, 2, 1, 1)),
    "one certain target": ((4, 2, 1, 1), (0, 0, 1, 0)),
    "both certain, of one token": ((0, 1, 0, 0), (0, 1, 0, 0)),
    "a target that is nearly certain": ((4, 2, 1, 1), (1, 10_000, 1, 1)),
    "a draft that is nearly certain": ((10_000, 1, 1, 1), (2, 2, 3, 1)),
    "temperatures far apart": ((8, 4, 2, 1), (4096, 256, 16, 1)),
    "a grammar that forbids the likeliest drafts": ((8, 4, 2, 2), (0, 0, 3, 1)),
}
"""Weights of draft and target, by what is hard about them."""

TABLES = {
    "rows that depend on the text": (
        ((2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 0)),
        ((1, 1, 2), (2, 1, 1), (0, 3, 1), (1, 1, 2)),
    ),
    "good drafts after bad ones": (
        ((3, 1, 0), (1, 1, 2), (2, 2, 4), (1, 4, 3)),
        ((1, 3, 0), (1, 1, 2), (4, 2, 2), (4, 1, 3)),
    ),
}
"""The row after the text, and that after each symbol."""


def cases_of(kind: Kind, vocabulary: int, uneven: bool) -> list[Case]:
    """Return the cases of a kind: small ones, and each again in a large vocabulary.

    Parameters
    ----------
    kind : Kind
    vocabulary : int
        Of the large ones.
    uneven : bool
        Whether the verifier takes rows of different lengths.
    """
    rows = [memoryless(name, *pair) for name, pair in ROWS.items()]
    small = [*rows, mixed("rows of a batch that differ", rows[:3])]
    if kind.name != "tokens":
        small += [remembering(name, *pair) for name, pair in TABLES.items()]
        if uneven:
            small += [
                remembering(f"{name}, uneven lengths", *pair, uneven=True)
                for name, pair in TABLES.items()
            ]
    fitting = [case for case in small if not kind.distinct or _has_siblings(case, kind)]
    return [*fitting, *(embedded(case, vocabulary) for case in fitting)]


def _has_siblings(case: Case, kind: Kind) -> bool:
    """Return whether all siblings can be different tokens that are drafted."""
    siblings = max(Counter(kind.parents).values(), default=0)
    return bool(((case.draft > 0).sum(axis=-1) >= siblings).all())
