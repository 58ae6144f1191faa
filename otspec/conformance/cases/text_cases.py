"""Cases of texts over several steps, which engines draft and verify."""

from dataclasses import replace
from functools import lru_cache

from otspec.conformance.cases.cases import Case, prompted, spread
from otspec.conformance.cases.library import among

MOST_TEXTS = 100  # most texts over several steps that are told apart, if there is a choice

TEXTS = {  # texts over several steps: the rows after each symbol
    "rows that depend on the text": (((3, 1), (1, 2)), ((1, 2), (2, 1))),
    "draft and target alike": (((2, 1), (1, 3)), ((2, 1), (1, 3))),
    "drafts that are mostly rejected": (((9, 1), (2, 8)), ((1, 9), (8, 2))),
    "nearly certain, and drafts more so": (((97, 3), (1, 24)), ((19, 1), (1, 9))),
    "a token that is never drafted, and one that is never said": (
        ((1, 0), (2, 1)),
        ((2, 1), (0, 1)),
    ),
    # What is wrong in the draw of a correction alone, or in a second correction, shows here.
    "corrections to two tokens": (
        ((2, 9, 13), (1, 9, 10), (13, 3, 3)),
        ((5, 13, 8), (1, 24, 25), (2, 4, 13)),
    ),
    # Traversal verification of distinct drafts seldom has a correction to two tokens elsewhere.
    "corrections after two distinct drafts": (
        ((25, 5, 17), (16, 10, 1), (14, 3, 21)),
        ((6, 20, 25), (13, 19, 11), (22, 18, 2)),
    ),
    # The first row shows one random number for two siblings.
    "three symbols, some forbidden": (
        ((13, 0, 3), (1, 2, 1), (3, 1, 0)),
        ((5, 20, 7), (0, 3, 1), (1, 1, 2)),
    ),
}

BESIDE = (
    ((2, 1, 0, 0), (1, 3, 0, 0), *[(0, 0, 2, 1)] * 2),
    ((1, 2, 0, 0), (5, 2, 0, 0), *[(0, 0, 1, 3)] * 2),
)
"""Texts say the first two symbols, or the last two, whose rows are always the same."""


@lru_cache
def beside_texts() -> Case:
    """Return the case of texts beside others, whose rows are known wherever they have got to."""
    return replace(prompted("texts beside others", *BESIDE, 3), other=2)


def text_cases(length: int, vocabulary: int) -> list[Case]:
    """Return the cases of texts over several steps: small ones, and three in a large vocabulary."""
    small = _small_texts(length)
    large = [among(case, vocabulary, turn) for turn, case in enumerate((small[0], small[-1]))]
    return [*small, *large, spread(small[0], vocabulary)]


@lru_cache
def _small_texts(length: int) -> tuple[Case, ...]:
    """Return the small cases of texts, the same ones in each check: laws on them are kept."""

    def prompts(n: int) -> int:
        return n if n ** (length + 1) <= MOST_TEXTS else 1

    return tuple(
        prompted(name, draft, target, prompts(len(draft)))
        for name, (draft, target) in TEXTS.items()
    )
