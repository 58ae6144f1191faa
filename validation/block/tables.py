"""Tables 2 to 4, section 4.1 and appendix C: the printed rows, and what is told of them."""

from fractions import Fraction

from validation.printed_tables import Printed, declare, read_tables

ROUNDING = Fraction(1, 2000)  # half of the last printed digit, of the percentages too


class Row(Printed):
    """TokenVerify, BlockVerify and the change in percent, of block efficiency and of time."""

    shown = "{name}, L = {length}"
    columns = "name: length token block change token_time block_time change_time"

    def over(self, length):
        """Return how much larger the improvements are than at another length."""
        other = next(row for row in ROWS if (row.name, row.length) == (self.name, length))
        return [self.change - other.change, other.change_time - self.change_time]

    def quantities(self):
        """Return what is told of a row: the change that its values allow, and other lengths."""
        both = ((self.token, self.block, self.change),
                (self.token_time, self.block_time, self.change_time))  # fmt: skip
        return {
            "improvement": lambda: [self.change, -self.change_time],
            "room_for_the_change": lambda: [
                ROUNDING + sign * (100 * ((block + off) / (token - off) - 1) - change)
                for token, block, change in both
                for sign, off in ((1, ROUNDING), (-1, -ROUNDING))],
            "improvement_over_first": lambda: self.over(4),
            "improvement_over_last": lambda: self.over(self.length - 2),
        }  # fmt: skip


ROWS = [Row(table, line) for table, lines in read_tables("block").items() for line in lines]
declare("block", ROWS)
