"""Tables 2 to 4: what their printed numbers say by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from otspec.arithmetic import Number
from validation.checks import over_all
from validation.claim import Check, Claim, Corrected, above, at_least, equal
from validation.printed_tables import read_tables

PRINTED = {int(length): rows for length, rows in read_tables("block").items()}
"""By the draft length L the rows of tables 2, 3 and 4."""
STATISTICS = ("block efficiency", "wall-clock time")
ROUNDING = Fraction(1, 2000)
"""Half of the last printed digit, of the values and of the percentages."""


@dataclass(frozen=True)
class Row:
    """One statistic of one data set."""

    token: Fraction
    block: Fraction
    change: Fraction
    """In percent, as printed."""


def printed_rows(length: int) -> dict[tuple[str, str], Row]:
    """Return the rows of the table for one draft length, by data set and statistic."""
    rows = {}
    for line in PRINTED[length]:
        name, *numbers = line.split()
        for statistic, three in zip(STATISTICS, (numbers[:3], numbers[3:]), strict=True):
            rows[name, statistic] = Row(*map(Fraction, three))
    return rows


def _improves(length: int) -> Check:
    def rows() -> Iterator[dict[str, Any]]:
        for (name, statistic), row in printed_rows(length).items():
            yield {"name": name, "statistic": statistic, **vars(row)}

    return over_all(rows, _row, "7 data sets, 2 statistics")


def _row(name: str, statistic: str, token: Fraction, block: Fraction, change: Fraction) -> Number:
    """Check that the printed change is that of the printed values, up to rounding, and its sign."""
    del name
    lowest = 100 * ((block - ROUNDING) / (token + ROUNDING) - 1) - ROUNDING
    highest = 100 * ((block + ROUNDING) / (token - ROUNDING) - 1) + ROUNDING
    inside = min(
        at_least(change, lowest, "the printed change in percent"),
        at_least(highest, change, "what the values allow at most"),
    )
    better = change if statistic == STATISTICS[0] else -change
    return min(inside, above(better, Fraction(0), "improvement"))


def _improvement(length: int, name: str, statistic: str) -> Fraction:
    return abs(printed_rows(length)[name, statistic].change)


def _comparisons(*pairs: tuple[int, int]) -> Iterator[dict[str, Any]]:
    for shorter, longer in pairs:
        for name, statistic in printed_rows(shorter):
            yield {"name": name, "statistic": statistic, "shorter": shorter, "longer": longer}


def _larger(name: str, statistic: str, shorter: int, longer: int) -> Number:
    return above(
        _improvement(longer, name, statistic),
        _improvement(shorter, name, statistic),
        f"improvement in percent at L = {longer}",
    )


def _larger_but_one(name: str, statistic: str, shorter: int, longer: int) -> Number:
    difference = _improvement(longer, name, statistic) - _improvement(shorter, name, statistic)
    exception = (name, shorter, longer) == ("GSM8K", 6, 8)
    equal(difference < 0, exception, f"a difference of {difference} is negative")
    return abs(difference)


def _table(number: int, length: int, where: str) -> Claim:
    return Claim(
        id=f"block.tab{number}",
        where=where,
        statement=(
            f"At $L = {length}$ BlockVerify improves block efficiency and wall-clock time on all "
            "seven data sets, by the percentages that the printed values give (up to rounding)."
        ),
        check=_improves(length),
    )


SECTION_5 = (_table(2, 8, "Table 2, section 4.1"),)
APPENDIX_C = (
    _table(3, 4, "Table 3, appendix C"),
    _table(4, 6, "Table 4, appendix C"),
    Claim(
        "block.appC",
        "Appendix C, text, on tables 2, 3 and 4",
        "The improvement is larger when $L$ is larger, on every data set of tables 3, 4 and 2 "
        "($L$ = 4, 6, 8).",
        over_all(lambda: _comparisons((4, 6), (6, 8)), _larger, "7 data sets, 2 statistics"),
        printed="'We do see that the improvement is larger when L is larger'.",
        corrected=Corrected(
            "It is larger at $L = 6$ and at $L = 8$ than at $L = 4$ on every data set, and larger "
            "at $L = 8$ than at $L = 6$ on all but GSM8K.",
            over_all(
                lambda: _comparisons((4, 6), (4, 8), (6, 8)),
                _larger_but_one,
                "7 data sets, 2 statistics, 3 pairs of lengths",
            ),
        ),
    ),
)
