"""Tables 1 and 4: what the text says of their numbers."""

from fractions import Fraction
from itertools import permutations

from validation.claim import Severity, above, claim, corrected
from validation.domains import given

NUMBERS = {(1, 4): "2.4 1.67", (8, 4): "3.1 2.08", (1, 8): "2.9 1.56", (8, 8): "4.0 2.13"}
TABLE_1 = {sizes: tuple(map(Fraction, row.split())) for sizes, row in NUMBERS.items()}
"""Block efficiency and relative wall-clock speedup by K and L."""
STEPS = given(*(
    {"k": (k, more), "length": (length, longer)}
    for (k, length), (more, longer) in permutations(TABLE_1, 2) if more >= k and longer >= length
), note="the four rows")  # fmt: skip

claim("spectr.tab1a", "Table 1, section 8", STEPS,
      "In Table 1 the wall-clock speedup increases as K and L increase.")(
    grows := lambda k, length: above(
        TABLE_1[k[1], length[1]][1], TABLE_1[k[0], length[0]][1], "speedup"))  # fmt: skip
corrected("spectr.tab1a", Severity.CONDITION, STEPS,
          "It increases with K, and with L for K = 8; for K = 1 it falls as L grows.")(
    lambda k, length: grows(k, length[::-1] if k == (1, 1) else length))  # fmt: skip
claim("spectr.tab1b", "Table 1, section 8", given(*({"sizes": sizes} for sizes in TABLE_1)),
      "In Table 1 the wall-clock speedup is smaller than the block efficiency.")(
    lambda sizes: above(*TABLE_1[sizes], "block efficiency"))  # fmt: skip
claim("spectr.tab1c", "Table 1, section 8; abstract", given({"k": 8, "length": 8}),
      "For L = 8 and K = 8 the speedup is 2.13, a further 1.37 over speculative decoding.",
      printed="That is against speculative decoding with the same L = 8 (1.56); against its better "
      "speedup in the table (1.67, L = 4) the factor is 1.28.")(
    lambda k, length: above(
        Fraction(1, 200), abs(TABLE_1[k, length][1] / TABLE_1[1, length][1] - Fraction("1.37")),
        "rounding error"))  # fmt: skip

PRINTED = {2: "1.86 2.07 2.32 2.56 1.91 2.15 2.41 2.68",
           6: "2.21 2.43 2.74 2.99 2.33 2.61 2.96 3.27",
           20: "2.71 2.96 3.28 3.49 3.12 3.48 3.85 4.15"}  # fmt: skip
ROWS = tuple((k, length) for length in (4, 8) for k in (1, 2, 4, 8))
TABLE_4 = {(size, *sizes): Fraction(value) for size, row in PRINTED.items()
           for sizes, value in zip(ROWS, row.split(), strict=True)}  # fmt: skip
"""Block efficiency by millions of parameters, K and L; K = 1 is speculative decoding."""

claim("spectr.tab4", "Table 4, appendix E", given(*(
    {"before": (size, k, length), "after": (larger, more, length)}
    for (size, k, length), (larger, more, longer) in permutations(TABLE_4, 2)
    if length == longer and ((larger > size and more == k) or (larger == size and k == 1))
), note="all pairs of rows that this compares"),
      "In Table 4 larger draft models have larger block efficiency for every K and L, and SpecTr "
      "has the best for all sizes of the draft model.")(
    lambda before, after: above(TABLE_4[after], TABLE_4[before], "block efficiency"))  # fmt: skip
