"""Tables 2 to 4, section 4.1 and appendix C: what their printed numbers say by themselves."""

from fractions import Fraction

from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import given
from validation.notation import ZERO
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


def improves(statistic, token, block, change, **_):
    """Check that a printed change is that of the printed values, and for the better."""
    least = 100 * ((block - ROUNDING) / (token + ROUNDING) - 1) - ROUNDING
    most = 100 * ((block + ROUNDING) / (token - ROUNDING) - 1) + ROUNDING
    return min(
        at_least(change, least, "the printed change in percent"),
        at_least(most, change, "what the values allow at most"),
        above(-change if statistic == TIME else change, ZERO, "improvement"),
    )


for number, length, where in (
    (2, 8, "Table 2, section 4.1"),
    (3, 4, "Table 3, appendix C"),
    (4, 6, "Table 4, appendix C"),
):
    claim(
        f"block.tab{number}",
        where,
        improvement(length),
        f"At $L = {length}$ BlockVerify improves block efficiency and wall-clock time on all seven "
        "data sets, by the percentages that the printed values give (up to rounding).",
    )(improves)


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
def larger_improvement(improved, **_):
    """The improvement is larger when $L$ is larger, on every data set of tables 3, 4 and 2 ($L$ =
    4, 6, 8).

    Printed: 'We do see that the improvement is larger when L is larger'.
    """
    return above(improved, ZERO, "growth of the improvement in percent")


@corrected("block.appC", Severity.CONDITION, larger_lengths((4, 6), (4, 8), (6, 8)))
def larger_but_one(name, shorter, longer, improved, **_):
    """It is larger at $L = 6$ and at $L = 8$ than at $L = 4$ on every data set, and larger at
    $L = 8$ than at $L = 6$ on all but GSM8K.
    """
    exception = (name, shorter, longer) == ("GSM8K", 6, 8)
    equal(improved < 0, exception, f"a difference of {improved} is negative")
    return abs(improved)
