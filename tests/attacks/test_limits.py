"""Long exact numbers and large sizes: printed whole or shortened, quick, or refused in words."""

import json
import sys
import time
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from command_line import complaint, run
from hypothesis import given
from hypothesis import strategies as st
from searching import NIGHTLY

import otspec
from otspec import closed_forms
from otspec._base.arithmetic import as_numbers
from otspec._base.coerce import counted, digits_of, plain, shortened, shown, written
from otspec.blocks import BLOCK_RULES
from otspec.cli.main import main
from otspec.distributions import as_distribution, as_k, token_set
from otspec.models import memoryless
from otspec.rules import KSequential, NaiveSampling, PooledSelection, RecursiveRejection
from otspec.rules.base.counts import at_least_once, covers, geometric

LONG = Fraction(1, 3**20_000)
"""A fraction of 9,543 digits."""
FAR = "999999/1000000,1/1000000", "1/2,1/2"


@pytest.fixture
def any_length():
    """Let Python itself write and read long numbers, for comparisons."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("bits", [1, 64, 1023, 1025, 11_999, 12_001, 50_000, 131_072])
def test_digits_are_those_of_python(any_length, bits):
    rng = np.random.default_rng(bits)
    number = int.from_bytes(rng.bytes(bits // 8 + 1), "little") >> 3
    for each in (number, -number, 2**bits, 2**bits - 1, 10 ** (bits // 4), 0):
        assert digits_of(each) == str(each)


def test_digits_need_no_switch_of_the_process_and_change_none():
    before = sys.get_int_max_str_digits()
    try:
        for limit in (640, 4300):
            sys.set_int_max_str_digits(limit)
            assert digits_of(10**100_000) == "1" + "0" * 100_000
            assert digits_of(10**700) == "1" + "0" * 700
            assert sys.get_int_max_str_digits() == limit
    finally:
        sys.set_int_max_str_digits(before)


def test_people_see_the_ends_of_long_numbers():
    assert shortened(LONG) == f"1/{written(LONG)[2:5]}…001 (9,543 digits)"
    assert shortened(-LONG).startswith("-1/")
    assert plain(0.5) == "0.5"
    assert counted(10**5000).startswith("more than 10^49")
    assert shown(LONG) == shortened(LONG)
    assert shown([LONG]) == "of type list"


CALLS = {
    "accept": ("accept", *FAR, "-k", "1000"),
    "compare": ("compare", *FAR, "-k", "300"),
    "blocks": ("blocks", "--draft", FAR[0], "--target", FAR[1], "-L", "60",
               "--tree", "3"),
}  # fmt: skip


def exact_strings(document):
    """Yield the exact numbers of a JSON document."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        for item in document:
            yield from exact_strings(item)
    elif isinstance(document, str) and "/" in document:
        yield document


@pytest.mark.parametrize("command", CALLS)
def test_long_results_are_whole_as_json_and_short_as_a_table(capsys, any_length, command):
    sys.set_int_max_str_digits(640)
    table = run(capsys, *CALLS[command])
    assert "…" in table
    rows = [line for line in table.splitlines() if not line.endswith(".")]
    assert max(map(len, rows)) < 160
    assert max(map(len, table.splitlines())) < 180
    document = json.loads(run(capsys, *CALLS[command], "--json"))
    sys.set_int_max_str_digits(0)
    numbers = list(exact_strings(document))
    assert max(map(len, numbers)) > 700
    for number in numbers:
        numerator, denominator = map(int, number.split("/"))
        assert written(Fraction(numerator, denominator)) == number


def test_the_json_of_the_example_is_the_closed_form(capsys, any_length):
    sys.set_int_max_str_digits(4300)
    (row,) = json.loads(run(capsys, *CALLS["accept"], "--json"))["results"]
    sys.set_int_max_str_digits(0)
    inside = Fraction(999_999, 1_000_000)
    assert Fraction(row["acceptance"]) == Fraction(1, 2) + 1 - inside**1000


BAD = {
    "as_distribution, sum": lambda: as_distribution([LONG, LONG]),
    "as_distribution, negative": lambda: as_distribution([1 + LONG, -LONG]),
    "as_numbers, mixed": lambda: as_numbers([0.5, LONG], "x"),
    "as_numbers, kind": lambda: as_numbers({10**5000}, "x"),
    "as_k, negative": lambda: as_k(-(10**5000)),
    "as_k, fraction": lambda: as_k(LONG),
    "token_set": lambda: token_set([10**5000], 3),
    "rho": lambda: KSequential([LONG, 1 - LONG], [LONG, 1 - LONG], 2, rho=-LONG),
    "rho, lossy": lambda: KSequential(["1/2", "1/2"], [LONG, 1 - LONG], 2, rho=1 + LONG),
    "rho of another kind": lambda: KSequential([0.5, 0.5], [0.5, 0.5], 2, rho=LONG),
    "within": lambda: PooledSelection.within(["1/2", "1/2"], ["1/4", "3/4"], 2, -LONG),
    "pools": lambda: PooledSelection(["1/2", "1/2"], ["1/4", "3/4"], 2, pools=[LONG, LONG]),
    "probability": lambda: closed_forms.bernoulli_acceptance(-LONG, LONG, 2),
    "ratio": lambda: closed_forms.uniform_acceptance(LONG, 2),
    "marginal": lambda: otspec.IID(["1/2", "1/2"], 2).marginal(10**5000),
    "table": lambda: otspec.IID(["1/2", "1/2"], 10**5).tuples(),
    "check": lambda: otspec.optimum.Optimum(
        otspec.IID(["1/2", "1/2"], 2), as_distribution(["1/4", "3/4"]), LONG, (0,)
    ).check(),
}  # fmt: skip


@pytest.mark.parametrize("call", BAD)
def test_a_complaint_about_a_long_number_is_one_of_ours(call):
    with pytest.raises(ValueError) as complained:  # noqa: PT011  # the message is looked at below
        BAD[call]()
    message = str(complained.value)
    assert "set_int_max_str_digits" not in message
    assert "Exceeds the limit" not in message
    assert len(message) < 600


def test_an_optimum_of_long_numbers_has_a_repr():
    best = otspec.optimal_acceptance(otspec.IID([1 - LONG, LONG], 2), ["1/2", "1/2"])
    assert "…" in repr(best)


@pytest.mark.parametrize("text", ["1" * 5000, "1/" + "3" * 5000, "0." + "1" * 5000])
def test_long_numbers_are_not_read_from_text(capsys, tmp_path, text):
    with pytest.raises(ValueError, match=r"x\[0\] is .*5,000 digits: exact numbers are read with"):
        as_numbers([text], "x")
    path = tmp_path / "long.json"
    path.write_text(json.dumps([text, "0"]), encoding="utf-8")
    for given_as in (f"{text},0", str(path)):
        said = complaint(capsys, "accept", given_as, "1,0", "--exact")
        assert "5,000 digits" in said
        assert len(said) < 400


# Sizes


@given(st.fractions(0, 1, max_denominator=40), st.integers(1, 40))
def test_exact_powers_are_the_sums_that_define_them(ratio, k):
    assert geometric(ratio, k) == sum(ratio**i for i in range(k))
    assert at_least_once(ratio, k) == sum(
        comb(k, i) * ratio**i * (1 - ratio) ** (k - i) for i in range(1, k + 1)
    )
    for rho in (Fraction(0), ratio, Fraction(1, 2), Fraction(k, 3), Fraction(k)):
        assert covers(rho, ratio, k) == (rho * ratio >= 1 - (1 - ratio) ** k)
    if ratio:  # equality is decided exactly
        assert covers((1 - (1 - ratio) ** k) / ratio, ratio, k)


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_powers_of_floats_are_those_of_fractions(ratio, k):
    r = Fraction(ratio)
    exact = float(k if r == 1 else (1 - r**k) / (1 - r))
    # At most two roundings for each of 14 binary digits of k, each of which k may multiply once.
    assert geometric(ratio, k) == pytest.approx(exact, rel=60 * k * 2**-53)


PAIRS = {
    "two": (["1/3", "2/3"], ["3/4", "1/4"]),
    "zeros": (["1/2", "0", "1/2"], ["1/4", "1/2", "1/4"]),
    "slow": (["1/5", "1/50", "39/50"], ["1/2", "1/4", "1/4"]),
    "equal": (["1/3", "2/3"], ["1/3", "2/3"]),
    "disjoint": (["1", "0"], ["0", "1"]),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("k", [1, 2, 3, 7, 30])
def test_rejections_are_those_of_the_definition(pair, k):
    draft, target = (as_distribution(law) for law in PAIRS[pair])
    rejections, drafted = [Fraction(1)], Fraction(0)
    for _ in range(k):
        drafted += rejections[-1]
        missing = [max(q - drafted * p, Fraction(0)) for p, q in zip(draft, target, strict=True)]
        rejections.append(sum(missing, Fraction(0)))
    rule = RecursiveRejection(draft, target, k)
    assert rule.acceptance() == 1 - rejections[-1]
    assert rule.accepted().by_position.tolist() == [
        rejections[i] - rejections[i + 1] for i in range(k)
    ]
    assert rule.accepted().by_token.sum() == rule.acceptance()
    floats = RecursiveRejection(draft.astype(float), target.astype(float), k)
    # Each of k rounds adds a few roundings of numbers up to 1.
    assert abs(floats.acceptance() - rule.acceptance()) < 10 * (k + 3) * 2**-53


@pytest.mark.parametrize("rule", [KSequential, NaiveSampling, RecursiveRejection, PooledSelection])
def test_exact_rules_of_very_many_drafts_are_close_to_the_floats(rule):
    for draft, target in PAIRS.values():
        exact = rule(draft, target, 1500).acceptance()
        assert isinstance(exact, Fraction)
        floats = rule(*(as_distribution(law).astype(float) for law in (draft, target)), 1500)
        assert abs(floats.acceptance() - exact) < 1e-11


def test_one_pass_gives_what_every_length_has():
    draft, target = memoryless(["1/2", "1/3", "1/6"]), memoryless(["1/4", "1/4", "1/2"])
    for rule in BLOCK_RULES.values():
        found = rule(draft, target, 5).expected_up_to()
        assert found == [rule(draft, target, length).expected() for length in range(1, 6)]
        outcomes = rule(draft, target, 4).outcomes()
        assert found[3] == sum(outcome.mass * len(outcome.accepted) for outcome in outcomes)


EXTREMES = {
    "accept": ("accept", "1/3,2/3", "3/4,1/4", "-k", "999999"),
    "compare": ("compare", "1/3,2/3", "3/4,1/4", "-k", "2000" if NIGHTLY else "1000"),
    "compare, long": ("compare", *FAR, "-k", "1000" if NIGHTLY else "500"),
    "compare, beyond": ("compare", "1/3,2/3", "3/4,1/4", "-k", "999999"),
    "compare, floats": ("compare", "0.3,0.7", "0.75,0.25", "-k", "999999"),
    "solve": ("solve", "0.5,0.3,0.2", "0.1,0.6,0.3", "-k", "999999"),
    "blocks, refused": ("blocks", "--draft", "1/2,3/10,1/5", "--target",
                        "1/10,3/5,3/10", "-L", "200"),
    "blocks": ("blocks", "--draft", "1/2,1/2", "--target", "1/4,3/4", "-L", "60"),
    "trees": ("blocks", "--draft", "1/2,1/2", "--target", "1/4,3/4", "-L", "1",
              "--tree", "200x200" if NIGHTLY else "60x60"),
    "trees, deep": ("blocks", "--draft", "0.5,0.5", "--target", "0.25,0.75", "-L", "1",
                    "--tree", "x".join(["1"] * (60 if NIGHTLY else 30))),
}  # fmt: skip


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_sizes_end_or_are_refused(capsys, monkeypatch, name):
    if name == "blocks, refused":  # as of a smaller limit
        monkeypatch.setattr("otspec.blocks.single_draft.STATE_LIMIT", 30_000)
    start = time.process_time()
    status = main(list(EXTREMES[name]))
    assert time.process_time() - start < 10
    printed = capsys.readouterr()
    if status:
        assert status == 2
        assert "use a smaller" in printed.err
        assert printed.err.count("\n") == 1
        assert len(printed.err) < 400
    else:
        assert name not in ("compare, beyond", "solve", "blocks, refused", "trees")
        assert "at most" in printed.out or "at best" in printed.out
