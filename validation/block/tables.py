"""Tables 2 to 4, section 4.1 and appendix C: what their printed numbers say by themselves."""

from fractions import Fraction

from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import given
from validation.printed_tables import read_tables

TIME = "wall-clock time"
ROUNDING = Fraction(1, 2000)
"""Half of the last printed digit, of the values and of the percentages."""


def rows():
    """Yield the rows of all tables: L, data set, statistic, TokenVerify, BlockVerify, percent."""
    for length, lines in read_tables("block").items():
        for line in lines:
            name, *numbers = line.split()
            for at, statistic in enumerate(("block efficiency", TIME)):
                yield int(length), name, statistic, *map(Fraction, numbers[3 * at : 3 * at + 3])


ROWS = tuple(rows())


def improvement(length):
    """Return the domain of the rows of the table for one draft length."""
    names = ("name", "statistic", "token", "block", "change")
    return given(*(dict(zip(names, row, strict=True)) for at, *row in ROWS if at == length))


@claim(
    "block.tab2",
    "Table 2, section 4.1",
    improvement(8),
    "At $L = 8$ BlockVerify improves block efficiency and wall-clock time on all seven data sets, "
    "by the percentages that the printed values give (up to rounding).",
)
@claim("block.tab3", "Table 3, appendix C", improvement(4), "The same at $L = 4$.")
@claim("block.tab4", "Table 4, appendix C", improvement(6), "The same at $L = 6$.")
def improves(name, statistic, token, block, change):
    del name
    least = 100 * ((block - ROUNDING) / (token + ROUNDING) - 1) - ROUNDING
    most = 100 * ((block + ROUNDING) / (token - ROUNDING) - 1) + ROUNDING
    return min(
        at_least(change, least, "the printed change in percent"),
        at_least(most, change, "what the values allow at most"),
        above(-change if statistic == TIME else change, Fraction(0), "improvement"),
    )


def larger_lengths(*lengths):
    """Return the domain of the changes at two draft lengths, of each row of the tables."""
    percent = {(length, *of): change for length, *of, _, _, change in ROWS}
    return given(
        *(
            {"name": name, "statistic": statistic, "shorter": shorter, "longer": longer,
             "improved": abs(percent[longer, name, statistic]) - abs(change)}
            for shorter, longer in lengths
            for (length, name, statistic), change in percent.items() if length == shorter
        )
    )  # fmt: skip


@claim("block.appC", "Appendix C, text, on tables 2, 3 and 4", larger_lengths((4, 6), (6, 8)))
def larger_improvement(name, statistic, shorter, longer, improved):
    """The improvement is larger when $L$ is larger, on every data set of tables 3, 4 and 2 ($L$ =
    4, 6, 8).

    Printed: 'We do see that the improvement is larger when L is larger'.
    """
    return above(improved, Fraction(0), "")


@corrected("block.appC", Severity.CONDITION, larger_lengths((4, 6), (4, 8), (6, 8)))
def larger_but_one(name, statistic, shorter, longer, improved):
    """It is larger at $L = 6$ and at $L = 8$ than at $L = 4$ on every data set, and larger at
    $L = 8$ than at $L = 6$ on all but GSM8K.
    """
    exception = (name, shorter, longer) == ("GSM8K", 6, 8)
    equal(improved < 0, exception, f"a difference of {improved} is negative")
    return abs(improved)
