"""Text that is no distribution of three tokens, nor a name of anything."""

import numpy as np

BAD_TEXTS = (
    "", " ", ",", ",,", "\t", "\n", "nan", "inf", "-inf", "1e400", "-1e400", "1e99999999", "1",
    "²,0,0", "1/2,1e9999999,1/2", "1/2,1e-99999999,1/2", "1/0,1/2,1/2", "1//2,0,0", "1/-2,1,1",
    "0x1,0,0", "1;0;0", "[1,0,0]", "1 0 0", "1.2.3,0,0", "--1,0,0", "+-1,0,0", "½,½,0", "0.5,0.5",
    "0,0,0", "1,0,0,0", "nan,0.5,0.5", "inf,0,0", "1e308,1e308,0", "9" * 5000, "9" * 5000 + ",0,0",
    "\ud800",
    "0," * 20_000 + "1", "x" * 100_000, "1/" + "9" * 5000, "\ud800,1,0", "\u0660.\u0665,x,\u0660",
    "\u202e0.5,0.5,\u202c0", "0.5,\u200b0.5,0", "🙂,🙂,🙂",
)  # fmt: skip


def bad_texts(rng):
    yield from BAD_TEXTS
    for code in (*range(1, 9), 14, 15, 27, 127):
        yield f"0.5{chr(code)}1,0.3,0.2"
        yield chr(code)
    while True:
        number = rng.random(3)
        yield ",".join(map(str, number / number.sum() * rng.choice((0.3, 0.999, 1.001, 40))))
        number = rng.dirichlet(np.ones(3))
        yield ",".join(map(str, number * (1, 1, -1)))
        cells = [f"{cell:.3f}" for cell in number]
        cells[rng.integers(3)] = rng.choice(("nan", "inf", "", "x", "-1", "1e999", "1/0", "None"))
        yield ",".join(cells)
        commas = list("0.5,0.3,0.2")
        commas.insert(rng.choice((0, 3, 4, 7, 11)), ",")
        yield "".join(commas)
        yield "".join(map(chr, rng.integers(0x2200, 0x2BFF, 5)))
        yield "".join(rng.choice(list("qwzyk _-+*/.;:'\"\\"), rng.integers(1, 30)))
