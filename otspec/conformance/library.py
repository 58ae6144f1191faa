"""The cases of a check: small, and each with something that verifiers get wrong."""

from __future__ import annotations

from otspec.conformance.cases import Case, embedded, memoryless, mixed, prompted, remembering
from otspec.conformance.kinds import Kind

MOST_TEXTS = 100
"""Of texts over several steps, at most so many are told apart, if there is a choice."""

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


TEXTS = {
    "rows that depend on the text": (((3, 1), (1, 2)), ((1, 2), (2, 1))),
    "draft and target alike": (((2, 1), (1, 3)), ((2, 1), (1, 3))),
    "drafts that are mostly rejected": (((9, 1), (2, 8)), ((1, 9), (8, 2))),
    "nearly certain, and drafts more so": (((97, 3), (1, 24)), ((19, 1), (1, 9))),
    "a token that is never drafted": (((1, 0), (2, 1)), ((2, 1), (1, 2))),
    "a drafted token that the target never says": (((1, 2), (2, 1)), ((2, 1), (0, 1))),
    "three symbols, some forbidden": (
        ((2, 1, 1), (1, 2, 1), (3, 1, 0)),
        ((1, 1, 2), (0, 3, 1), (1, 1, 2)),
    ),
}
"""Of texts over several steps: the rows after each symbol."""


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
    return [*small, *(embedded(case, vocabulary) for case in small)]


def text_cases(length: int, vocabulary: int) -> list[Case]:
    """Return the cases of texts over several steps: small ones, and two in a large vocabulary.

    Parameters
    ----------
    length : int
        T, the tokens of a text.
    vocabulary : int
        Of the large ones.
    """
    small = []
    for name, pair in TEXTS.items():
        n = len(pair[0])
        small.append(prompted(name, *pair, n if n ** (length + 1) <= MOST_TEXTS else 1))
    return [*small, *(embedded(case, vocabulary) for case in (small[0], small[-1]))]
