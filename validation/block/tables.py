"""Tables 2 to 4, section 4.1 and appendix C: the printed rows, and what is told of them."""

from dataclasses import dataclass, replace
from fractions import Fraction

from validation.printed_tables import declare, read_tables

ROUNDING = Fraction(1, 2000)
"""Half of the last printed digit, of the values and of the percentages."""


@dataclass(frozen=True)
class Row:
    """One data set at one length: TokenVerify, BlockVerify and the change in percent."""

    length: int
    name: str
    statistic: str
    token: Fraction
    block: Fraction
    change: Fraction

    def __str__(self):
        """Return where it stands."""
        return f"{self.name}, L = {self.length}, {self.statistic}"

    def improvement(self, length):
        """Return it at this length, in percent."""
        change = ROWS[str(replace(self, length=length))].change
        return change if self.statistic == "block efficiency" else -change

    def quantities(self):
        """Return what is told of a row: the change that its values allow, and other lengths."""
        least = 100 * ((self.block - ROUNDING) / (self.token + ROUNDING) - 1) - ROUNDING
        most = 100 * ((self.block + ROUNDING) / (self.token - ROUNDING) - 1) + ROUNDING
        now = self.improvement(self.length)
        return {
            "improvement": lambda: now,
            "change_over_least": lambda: self.change - least,
            "most_over_change": lambda: most - self.change,
            "improvement_over_first": lambda: now - self.improvement(4),
            "improvement_over_last": lambda: now - self.improvement(self.length - 2),
        }


ROWS = {
    str(row): row
    for length, lines in read_tables("block").items() for name, *line in map(str.split, lines)
    for at, statistic in ((0, "block efficiency"), (3, "wall-clock time"))
    for row in [Row(int(length), name, statistic, *map(Fraction, line[at : at + 3]))]
}  # fmt: skip
declare("block", ROWS.values())
