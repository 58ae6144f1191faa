"""Tables 1 and 4: the printed rows, and what is told of them."""

from validation.printed_tables import Printed, declare, read_tables


class Row(Printed):
    """The block efficiency, and in table 1 the speedup, with K drafts of L tokens."""

    shown = "table {table}, K = {k}, L = {length}"
    columns = ": size k length efficiency speedup"

    def quantities(self):
        """Return what is told of a row, beside the others of its table."""
        others = [row for row in ROWS if row.table == self.table and row is not self]
        single = [row for row in others if row.k == 1 < self.k and row.length == self.length]
        return {
            "speedup_over_smaller_sizes": lambda: [
                self.speedup - row.speedup
                for row in others if row.k <= self.k and row.length <= self.length],
            "efficiency_over_speedup": lambda: self.efficiency - self.speedup,
            "further_factor": lambda: [self.speedup / row.speedup for row in single],
            "efficiency_over_smaller_models": lambda: [
                self.efficiency - row.efficiency for row in others
                if (row.k, row.length) == (self.k, self.length) and row.size < self.size],
            "efficiency_over_speculative_decoding": lambda: [
                self.efficiency - row.efficiency for row in single if row.size == self.size],
        }  # fmt: skip


ROWS = [Row(table, line) for table, lines in read_tables("spectr").items() for line in lines]
declare("spectr", ROWS)
