"""The abstract, sections 1 and 5, appendix F: what is said of the numbers of tables 1 to 9."""

from validation.printed_tables import Printed, declare, read_tables


class Row(Printed):
    """The acceptance of the second draft, or the batch efficiency."""

    shown = "table {table}, T = {temperature}, {data}, {tree}"
    columns = "temperature data tree: rrs rrsw spechub"

    def of(self, kind, more):
        """Return the row of a tree of this kind with more levels."""
        other = {**vars(self), "tree": f"{kind}^{int(self.tree[-1]) + more}"}
        return next(row for row in ROWS if str(row) == self.shown.format(**other))

    def quantities(self):
        """Return what is told of a row; deeper and binary trees are those of the same data."""
        return {
            "tokens": lambda: self.spechub,
            "over_rrs": lambda: gains(self)[0],
            "over_rrsw": lambda: gains(self)[1],
            "most_over_rrs": lambda: max(gains(self.of("2", -less))[0] for less in range(4)),
            "over_deeper": lambda: self.spechub - best_without(self.of(self.tree[0], 1)),
            "binary_over": lambda: self.of("2", 0).spechub - best_without(self),
            "deeper_binary_over": lambda: self.of("2", 1).spechub - best_without(self),
        }


TABLES = read_tables("spechub")
ROWS = [Row(table, line) for table in TABLES if table != "4" for line in TABLES[table]]
BATCHES = [row for row in ROWS if row.table >= 5 and row.spechub is not None]


def gains(row):
    """Return by how much SpecHub is above RRS and above RRSw."""
    return row.spechub - row.rrs, row.spechub - row.rrsw


def best_without(row):
    """Return the better of RRS and RRSw."""
    return max(row.rrs, row.rrsw)


declare("spechub", ROWS)
