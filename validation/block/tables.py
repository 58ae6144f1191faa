"""Tables 2 to 4: what their printed numbers say by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from otspec.arithmetic import Number
from validation.claim import Check, Claim, Corrected, Outcome, Search, above, at_least, equal

PRINTED = {
    8: """
        LM1B     3.226 3.299 +2.253 0.462 0.453 -1.941
        WebQA    3.445 3.524 +2.284 0.434 0.425 -1.974
        PIQA     3.389 3.485 +2.826 0.441 0.430 -2.468
        ShareGPT 3.346 3.439 +2.786 0.446 0.435 -2.437
        XSum     3.510 3.590 +2.282 0.426 0.418 -1.964
        GSM8K    3.900 3.957 +1.479 0.386 0.381 -1.195
        WMT-DeEn 3.179 3.255 +2.412 0.469 0.459 -2.106
    """,
    4: """
        LM1B     2.781 2.788 +0.274 0.427 0.426 -0.119
        WebQA    2.902 2.915 +0.460 0.410 0.409 -0.304
        PIQA     2.887 2.893 +0.211 0.412 0.412 -0.054
        ShareGPT 2.845 2.862 +0.587 0.418 0.416 -0.419
        XSum     2.949 2.967 +0.615 0.404 0.402 -0.439
        GSM8K    3.145 3.169 +0.777 0.380 0.378 -0.587
        WMT-DeEn 2.748 2.753 +0.166 0.432 0.432 -0.024
    """,
    6: """
        LM1B     3.080 3.116 +1.152 0.434 0.430 -0.927
        WebQA    3.261 3.296 +1.065 0.411 0.407 -0.828
        PIQA     3.223 3.252 +0.894 0.415 0.412 -0.691
        ShareGPT 3.188 3.216 +0.902 0.420 0.417 -0.683
        XSum     3.326 3.363 +1.110 0.403 0.400 -0.860
        GSM8K    3.592 3.662 +1.926 0.375 0.369 -1.623
        WMT-DeEn 3.032 3.066 +1.125 0.440 0.436 -0.901
    """,
}
"""Draft length L to data set, then for block efficiency and for wall-clock time: TokenVerify,
BlockVerify and the improvement in percent."""
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
    for line in PRINTED[length].split("\n"):
        name, *numbers = line.split() or [""]
        values = [Fraction(number) for number in numbers]
        for statistic, start in zip(STATISTICS, range(0, len(values), 3), strict=False):
            rows[name, statistic] = Row(*values[start : start + 3])
    return rows


def _improves(length: int) -> Check:
    def rows() -> Iterator[dict[str, Any]]:
        for (name, statistic), row in printed_rows(length).items():
            yield {"name": name, "statistic": statistic, **vars(row)}

    def check(search: Search) -> Outcome:
        return search.every(rows(), _row, scope="7 data sets, 2 statistics")

    return check


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


def _comparisons(pairs: tuple[tuple[int, int], ...]) -> Iterator[dict[str, Any]]:
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


def _check_larger(search: Search) -> Outcome:
    pairs = (4, 6), (6, 8)
    return search.every(_comparisons(pairs), _larger, scope="7 data sets, 2 statistics")


def _check_larger_but_one(search: Search) -> Outcome:
    pairs = (4, 6), (4, 8), (6, 8)
    scope = "7 data sets, 2 statistics, 3 pairs of lengths"
    return search.every(_comparisons(pairs), _larger_but_one, scope=scope)


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
        id="block.appC",
        where="Appendix C, text, on tables 2, 3 and 4",
        statement=(
            "The improvement is larger when $L$ is larger, on every data set of tables 3, 4 and 2 "
            "($L$ = 4, 6, 8)."
        ),
        printed="'We do see that the improvement is larger when L is larger'.",
        check=_check_larger,
        corrected=Corrected(
            "It is larger at $L = 6$ and at $L = 8$ than at $L = 4$ on every data set, and larger "
            "at $L = 8$ than at $L = 6$ on all but GSM8K.",
            _check_larger_but_one,
        ),
    ),
)
