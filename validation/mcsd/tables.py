"""Tables 1 to 8: whether the printed numbers agree with each other and with the theory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import prod
from typing import Any

from validation.checks import Slack, over_all
from validation.claim import Check, Claim, Corrected, above, at_least, equal
from validation.printed_tables import read_tables

Values = tuple[tuple[str, ...], ...]
CENT = Fraction(1, 100)
TABLES = read_tables("mcsd")


def lines(table: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table."""
    for line in table:
        row, _, rest = line.partition(": ")
        yield {"row": row, "values": tuple(tuple(part.split()) for part in rest.split(", "))}


def widths(config: str) -> tuple[int, ...]:
    """Return (k_1, ..., k_gamma)."""
    return tuple(map(int, config.split("x")))


def budgets(row: str, values: Values) -> Fraction:
    """The configurations are within the space that was searched, and fall."""
    del row
    for config in (widths(value[0]) for value in values):
        at_least(32, prod(config), "budget")
        equal([k for k in config if k not in (1, 2, 4, 8, 16, 32)], [], "values outside the grid")
        equal(config, tuple(sorted(config, reverse=True)), "decreasing")
    return equal(len(widths(values[0][0])), len(widths(values[2][0])), "same gamma")


def in_range(row: str, values: Values) -> Fraction:
    """Tokens a block are between 1 and gamma + 1."""
    del row
    return min(
        min(at_least(Fraction(t), 1), at_least(len(widths(c)) + 1, Fraction(t)))
        for c, _, t in values
    )


def faster(row: str, values: Values) -> Fraction:
    """Ours has the largest speedup and the most tokens a block."""
    del row
    same, best, ours = ([Fraction(x) for x in value[1:]] for value in values)
    at_least(best[0], same[0], "speedup of the best gamma")
    return min(above(ours[i], max(same[i], best[i])) for i in (0, 1))


def one_step(row: str, values: Values) -> Fraction | None:
    """For gamma = 1 and one candidate, tokens a block are 1 + alpha of Table 1."""
    draft, target, data, temperature = row.split()
    tokens = {Fraction(t) for c, _, t in values if c == "1"}
    rates = _rates(TABLES["first rates"])[f"LLaMA-{draft} {target} {temperature}"]
    rate = Fraction(rates[0 if data == "Alpaca" else 1])
    if not tokens:
        return None
    return min(at_least(CENT, abs(t - 1 - rate), f"{t} against 1 + {rate}") for t in tokens)


def _rates(table: Iterable[str]) -> dict[str, tuple[str, ...]]:
    return {line["row"]: line["values"][0] for line in lines(table)}


def table1(tolerance: Fraction) -> Callable[..., Fraction | None]:
    """Table 8 begins where Table 1 is."""

    def check(row: str, values: Values) -> Fraction | None:
        other = _rates(TABLES["rates"]).get(row)
        if other is None:
            return None
        both = zip(values[0], (other[0], other[3]), strict=True)
        return min(
            at_least(tolerance, abs(Fraction(a) - Fraction(b)), f"{a} against {b}") for a, b in both
        )

    return check


def table5(row: str, values: Values) -> Fraction:
    """Table 5 is part of Table 8."""
    return equal(values[0], _rates(TABLES["rates"])[row][:2])


def table8(row: str, values: Values) -> Fraction:
    """Gains are positive, and differences as far as rounding allows."""
    del row
    rates = [Fraction(x) for x in values[0]]
    slack = CENT
    for before, after, gain in (rates[:3], rates[3:]):
        above(gain, 0, "gain")
        slack = min(slack, at_least(CENT, abs(after - before - gain), f"{after} - {before}"))
    return slack


def peak(row: str, values: Values) -> Fraction | None:
    """Among the OPT targets, OPT-iml-30B on WMT gains most at either temperature."""
    if not row.startswith("OPT"):
        return None
    best = _rates(TABLES["rates"])[f"OPT-125M OPT-iml-30B {row.rsplit(maxsplit=1)[-1]}"][5]
    return at_least(Fraction(best), max(Fraction(values[0][i]) for i in (2, 5)))


def table4(row: str, values: Values) -> Fraction:
    """Without replacement before with, before naive sampling; the first as in Tables 2 and 6."""
    draft, target = row.split()
    (mine,) = (
        line["values"][2]
        for line in lines(TABLES["runs"])
        if line["row"] == f"{draft} {target} Alpaca 1"
    )
    equal(values[0], mine[1:], "as in Tables 2 and 6")
    without, with_, naive = ([Fraction(x) for x in value] for value in values)
    return min(min(above(without[i], with_[i]), above(with_[i], naive[i])) for i in (0, 1))


def _over_rows(table: Iterable[str], slack: Slack) -> Check:
    return over_all(lambda: lines(table), slack, "all rows")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mcsd.tab1",
        "Tables 1 and 8",
        r"The acceptance of one draft is the same number in both tables, for the pairs in both.",
        _over_rows(TABLES["first rates"], table1(Fraction(0))),
        corrected=Corrected(
            r"It is so within 0.01: LLaMA-68M for Vicuna-13B at temperature 1 on Alpaca has 0.36 "
            r"in Table 1 and 0.35 in Table 8.",
            _over_rows(TABLES["first rates"], table1(CENT)),
        ),
    ),
    Claim(
        "mcsd.tab2a",
        "Tables 2, 3, 6, 7 and section 4.3",
        r"All configurations have a budget up to 32 and $k_i \in \{1, 2, 4, 8, 16, 32\}$, "
        r"decrease, and SD of the same $\gamma$ has that $\gamma$.",
        _over_rows(TABLES["runs"], budgets),
    ),
    Claim(
        "mcsd.tab2b",
        "Tables 2, 3, 6, 7",
        r"All printed $\tau$ are between 1 and $\gamma + 1$.",
        _over_rows(TABLES["runs"], in_range),
    ),
    Claim(
        "mcsd.tab2c",
        "Tables 2, 3, 6, 7 and section 4.3, last sentence",
        r"In all settings the printed speedup and $\tau$ are above those of SD, and SD of the "
        r"best $\gamma$ is at least as fast as SD of the same.",
        _over_rows(TABLES["runs"], faster),
    ),
    Claim(
        "mcsd.tab2d",
        "Tables 3, 6, 7 with Table 1",
        r"For one draft and $\gamma = 1$ the printed $\tau$ is $1 + \alpha$ with the $\alpha$ of "
        r"Table 1, within rounding.",
        _over_rows(TABLES["runs"], one_step),
    ),
    Claim(
        "mcsd.tab4",
        "Table 4",
        r"Without replacement there is more speedup and $\tau$ than with, and with more than "
        r"for naive sampling; the first row is that of Tables 2 and 6.",
        _over_rows(TABLES["ablation"], table4),
    ),
    Claim(
        "mcsd.tab5",
        "Table 5",
        r"Its numbers are those of Table 8.",
        _over_rows(TABLES["some rates"], table5),
    ),
    Claim(
        "mcsd.tab8a",
        "Table 8",
        r"All gains from $k = 1$ to $k = 4$ are positive, and the differences of the numbers "
        r"before them, within rounding.",
        _over_rows(TABLES["rates"], table8),
    ),
    Claim(
        "mcsd.tab8b",
        "appendix F, last sentence",
        r"Among the OPT targets, the largest gain is that of OPT-iml-30B on WMT, at either "
        r"temperature.",
        _over_rows(TABLES["rates"], peak),
    ),
)
