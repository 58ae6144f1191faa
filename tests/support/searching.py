"""How far a search goes: a share of the way in ``make test``, all of it in ``make nightly``."""

import os

import pytest

NIGHTLY = bool(os.environ.get("OTSPEC_NIGHTLY"))
"""Whether the long searches run, too: all instances, and tests that are marked as nightly."""
_SHARE = 5
_LEAST = 16


def enough(count: int, least: int = _LEAST) -> int:
    """How many of ``count`` random instances are looked at: a fifth, but not below ``least``.

    They are the first ones of those that ``make nightly`` looks at.
    """
    return count if NIGHTLY else max(-(-count // _SHARE), min(count, least))


def by_day(cases, some):
    """Return the cases of a test as parameters: all but some of them run in ``make nightly``."""
    assert set(some) <= set(cases)
    return [pytest.param(case, marks=() if case in some else pytest.mark.nightly) for case in cases]


def of_all(count: int) -> int:
    """How many of the instances that are looked at are to be of a kind, of ``count`` of all.

    By day half of their share: few instances vary more than many.
    """
    return count if NIGHTLY else count // (2 * _SHARE)
