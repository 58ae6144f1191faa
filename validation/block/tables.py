"""Tables 2 to 4, section 4.1 and appendix C: what their printed numbers say by themselves."""

from fractions import Fraction

from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import given
from validation.notation import ZERO
from validation.printed_tables import read_tables

STATISTICS = ("block efficiency", "wall-clock time")
ROUNDING = Fraction(1, 2000)
"""Half of the last printed digit, of the values and of the percentages."""
ROWS = {
    (int(length), line.split()[0], statistic): tuple(map(Fraction, line.split()[at : at + 3]))
    for length, lines in read_tables("block").items() for line in lines
    for at, statistic in zip((1, 4), STATISTICS, strict=True)
}  # fmt: skip
"""TokenVerify, BlockVerify and the change in percent, by L, data set and statistic."""


def improves(statistic, token, block, change, **_):
    """Check that a printed change is that of the printed values, and for the better."""
    least = 100 * ((block - ROUNDING) / (token + ROUNDING) - 1) - ROUNDING
    most = 100 * ((block + ROUNDING) / (token - ROUNDING) - 1) + ROUNDING
    more = above(change if statistic == STATISTICS[0] else -change, ZERO, "improvement")
    return min(more, at_least(change, least, "the printed change in percent"),
               at_least(most, change, "what the values allow at most"))  # fmt: skip


for table, length, where in ((2, 8, "section 4.1"), (3, 4, "appendix C"), (4, 6, "appendix C")):
    names = "name", "statistic", "token", "block", "change"
    some = (dict(zip(names, (*at, *row), strict=True))
            for (L, *at), row in ROWS.items() if length == L)  # fmt: skip
    claim(f"block.tab{table}", f"Table {table}, {where}", given(*some),
          f"At $L = {length}$ BlockVerify improves block efficiency and wall-clock time on all "
          "seven data sets, by the percentages that the printed values give (up to rounding).",
          )(improves)  # fmt: skip


def larger_lengths(*pairs):
    """Return the domain of the improvements in percent at two lengths, of each row of a table."""
    return given(*(
        {"name": name, "statistic": statistic, "shorter": shorter, "longer": longer,
         "difference": abs(ROWS[longer, name, statistic][2]) - abs(change)}
        for shorter, longer in pairs
        for (length, name, statistic), (*_, change) in ROWS.items() if length == shorter
    ))  # fmt: skip


claim("block.appC", "Appendix C, text, on tables 2, 3 and 4", larger_lengths((4, 6), (6, 8)),
      "The improvement is larger when $L$ is larger, on every data set of tables 3, 4 and 2 ($L$ = "
      "4, 6, 8).",
      printed="'We do see that the improvement is larger when L is larger'.")(
    lambda difference, **_: above(difference, ZERO, "difference of the improvements in percent")
)  # fmt: skip


@corrected("block.appC", Severity.CONDITION, larger_lengths((4, 6), (4, 8), (6, 8)))
def larger_but_one(name, shorter, longer, difference, **_):
    """It is larger at $L = 6$ and at $L = 8$ than at $L = 4$ on every data set, and larger at
    $L = 8$ than at $L = 6$ on all but GSM8K."""
    exception = (name, shorter, longer) == ("GSM8K", 6, 8)
    equal(difference < 0, exception, f"a difference of {difference} is negative")
    return abs(difference)
