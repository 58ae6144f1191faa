"""Tables 1 to 8: the printed rows, and what ``tables.toml`` tells of them."""

from fractions import Fraction
from itertools import pairwise
from math import prod

from validation.printed_tables import declare, read_tables

TABLES = read_tables("mcsd")


def lines(table):
    """Yield the rows of a table."""
    for line in table:
        row, _, rest = line.partition(": ")
        yield {"row": row, "values": tuple(tuple(part.split()) for part in rest.split(", "))}


class Row:
    """One printed row: its numbers, and the configurations in front of them where there are."""

    def __init__(self, table, row, values):
        """Read the numbers exactly."""
        self.table, self.row = table, row
        self.draft, self.target, *_ = row.split()
        self.trees = [tuple(map(int, each[0].split("x"))) for each in values if table == "runs"]
        self.numbers = [tuple(map(Fraction, each[table == "runs" :])) for each in values]

    def __str__(self):
        """Return where it stands."""
        return f"{self.table}, {self.row}"

    def quantities(self):
        """Return what is told of a row: one number, or several for each of which it is told."""
        row, trees, first = self.row, self.trees, self.numbers[0]
        columns = list(zip(*self.numbers, strict=True))
        steps = list(zip(trees, columns[-1], strict=False))
        one_draft = NUMBERS.get(f"first rates, LLaMA-{self.draft} {self.target} {row[-1]}", [()])[0]
        return {
            "rates_away_from_table_8": lambda: apart(first, NUMBERS[f"rates, {row}"][0][::3]),
            "away_from_table_8": lambda: apart(first, NUMBERS[f"rates, {row}"][0][:2]),
            "budget": lambda: [prod(tree) for tree in trees],
            "outside_the_grid": lambda: len(set().union(*trees) - {1, 2, 4, 8, 16, 32}),
            "increases": lambda: sum(b > a for tree in trees for a, b in pairwise(tree)),
            "gamma_over_that_of_sd": lambda: len(trees[2]) - len(trees[0]),
            "tokens": lambda: list(columns[-1]),
            "most_tokens_over_printed": lambda: [len(tree) + 1 - each for tree, each in steps],
            "one_step_away_from_table_1": lambda: [
                abs(each - 1 - one_draft["WMT" in row]) for tree, each in steps if tree == (1,)],
            "over_sd": lambda: [column[2] - max(column[:2]) for column in columns],
            "best_sd_over_same": lambda: columns[0][1] - columns[0][0],
            "away_from_tables_2_and_6": lambda: apart(first, NUMBERS[f"runs, {row} Alpaca 1"][2]),
            "over_the_next": lambda: [a - b for each in columns for a, b in pairwise(each)],
            "gain": lambda: list(first[2::3]),
            "gain_away_from_difference": lambda: [
                abs(first[i + 1] - first[i] - first[i + 2]) for i in (0, 3)],
            "gain_of_opt_iml_over_most": lambda:
                NUMBERS[f"rates, OPT-125M OPT-iml-30B {row[-1]}"][0][5] - max(first[2::3]),
        }  # fmt: skip


def apart(some, others):
    """Return how far numbers are from others."""
    return [abs(a - b) for a, b in zip(some, others, strict=True)]


ROWS = [Row(name, **line) for name in TABLES for line in lines(TABLES[name])]
NUMBERS = {str(row): row.numbers for row in ROWS}
declare("mcsd", ROWS)
