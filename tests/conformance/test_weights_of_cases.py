"""The probabilities of all small cases, one by one, and where large cases have their symbols."""

import math
from fractions import Fraction

import numpy as np
import pytest
from each_case import each

from otspec.conformance.cases import library, text_cases
from otspec.conformance.cases.cases import memoryless, remembering
from otspec.conformance.cases.kinds import Block, Tokens, Tree


def law(row):
    """Return the law of weights with their sum, such as ``1 1 2 / 4``."""
    weights, whole = row.split("/")
    masses = [Fraction(weight) / Fraction(whole) for weight in weights.split()]
    assert sum(masses) == 1
    return masses


ROWS = {
    "all positive": "4 2 1 1 / 8 | 1 2 4 1 / 8",
    "draft and target alike": "3 2 2 1 / 8 | 3 2 2 1 / 8",
    "nearly alike": "64 32 16 16 / 128 | 63 33 15 17 / 128",
    "ties": "1 1 1 1 / 4 | 1 1 3 3 / 8",
    "disjoint supports": "3 1 0 0 / 4 | 0 0 1 3 / 4",
    "a drafted token that the target never says": "2 1 1 0 / 4 | 0 4 1 3 / 8",
    "a token that is never drafted": "1 1 0 0 / 2 | 2 2 3 1 / 8",
    "one certain draft": "1 0 0 0 / 1 | 4 2 1 1 / 8",
    "one certain target": "4 2 1 1 / 8 | 0 0 1 0 / 1",
    "both certain, of one token": "0 1 0 0 / 1 | 0 1 0 0 / 1",
    "both certain, of two tokens": "0 1 0 0 / 1 | 0 0 0 1 / 1",
    "a vocabulary of one token": "1 / 1 | 1 / 1",
    "a target that is nearly certain": "4 2 1 1 / 8 | 1 10000 1 1 / 10003",
    "a draft that is nearly certain": "10000 1 1 1 / 10003 | 2 2 3 1 / 8",
    "temperatures far apart": "8 4 2 1 / 15 | 4096 256 16 1 / 4369",
    "a grammar that forbids the likeliest drafts": "4 2 1 1 / 8 | 0 0 3 1 / 4",
    "a residual with next to nothing for one token": "13 0 0 3 / 16 | 5 1 19 7 / 32",
    "both nearly certain, of one token": ".999 .0004 .0003 .0003 / 1 | .992 .002 .003 .003 / 1",
    "both all but certain, of one token":
        ".99997 .00001 .00001 .00001 / 1 | .9995 .0002 .0002 .0001 / 1",
    "an unlikely draft": "1 11 / 12 | 1 19 / 20",
}  # fmt: skip
TABLES = {
    "rows that depend on the text": (
        "2 1 1 / 4 | 1 2 1 / 4 | 1 1 2 / 4 | 3 1 0 / 4",
        "1 1 2 / 4 | 2 1 1 / 4 | 0 3 1 / 4 | 1 1 2 / 4",
    ),
    "good drafts after bad ones": (
        "3 1 0 / 4 | 1 1 2 / 4 | 1 1 2 / 4 | 1 4 3 / 8",
        "1 3 0 / 4 | 1 1 2 / 4 | 2 1 1 / 4 | 4 1 3 / 8",
    ),
}
TEXTS = {
    "rows that depend on the text": ("3 1 / 4 | 1 2 / 3", "1 2 / 3 | 2 1 / 3"),
    "draft and target alike": ("2 1 / 3 | 1 3 / 4", "2 1 / 3 | 1 3 / 4"),
    "drafts that are mostly rejected": ("9 1 / 10 | 1 4 / 5", "1 9 / 10 | 4 1 / 5"),
    "nearly certain, and drafts more so": ("97 3 / 100 | 1 24 / 25", "19 1 / 20 | 1 9 / 10"),
    "a token that is never drafted, and one that is never said": (
        "1 0 / 1 | 2 1 / 3", "2 1 / 3 | 0 1 / 1",
    ),
    "corrections to two tokens": (
        "2 9 13 / 24 | 1 9 10 / 20 | 13 3 3 / 19", "5 13 8 / 26 | 1 24 25 / 50 | 2 4 13 / 19",
    ),
    "corrections after two distinct drafts": (
        "25 5 17 / 47 | 16 10 1 / 27 | 14 3 21 / 38", "6 20 25 / 51 | 13 19 11 / 43 | 22 18 2 / 42",
    ),
    "three symbols, some forbidden": (
        "13 0 3 / 16 | 1 2 1 / 4 | 3 1 0 / 4", "5 20 7 / 32 | 0 3 1 / 4 | 1 1 2 / 4",
    ),
}  # fmt: skip
PAIR = "2 1 0 0 / 3 | 1 3 0 0 / 4 | 0 0 2 1 / 3 | 0 0 2 1 / 3"
OTHER = "1 2 0 0 / 3 | 5 2 0 0 / 7 | 0 0 1 3 / 4 | 0 0 1 3 / 4"


def shown(weights):
    return [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]


def near(row):
    return pytest.approx([float(mass) for mass in row], rel=1e-15, abs=0)


def test_every_row_has_its_probabilities():
    rest = {
        "alike but for the last bit", "a cold draft and a warm target",
        "a warm draft and a cold target", "subnormal weights",
    }  # fmt: skip
    assert library.ROWS.keys() - rest == ROWS.keys()
    for name, rows in ROWS.items():
        draft, target = map(law, rows.split("|"))
        assert [float(mass) for mass in shown(library.ROWS[name][0])] == near(draft), name
        assert [float(mass) for mass in shown(library.ROWS[name][1])] == near(target), name


def test_rows_at_the_edges_of_floats():
    draft, target = library.ROWS["alike but for the last bit"]
    assert draft == (0.25,) * 4
    assert target == (0.25 + 2**-23, 0.25 - 2**-24, 0.25 - 2**-24, 0.25)
    assert [float(np.float32(q)) for q in target] == list(target)
    assert sum(target) == 1
    draft, target = library.ROWS["subnormal weights"]
    assert shown(draft)[:2] == [shown(draft)[0]] * 2
    assert [float(p) for p in shown(draft)[2:]] == near([5e-31, 5e-41])
    assert [float(q) for q in shown(target)] == near([0.5, 5e-41, 0.5, 5e-31])
    logits = (2, 1, 0, -1.5)
    cold, warm = ([math.exp((x - 2) / t) for x in logits] for t in (0.05, 20))
    draft, target = library.ROWS["a cold draft and a warm target"]
    assert [p / draft[0] for p in draft] == pytest.approx(cold, rel=1e-12, abs=0)
    assert [q / target[0] for q in target] == pytest.approx(warm, rel=1e-12, abs=0)
    assert draft[0] == pytest.approx(1)  # no weight is beyond float32
    assert library.ROWS["a warm draft and a cold target"] == (target, draft[::-1])


@each(
    "found,wanted",
    [
        (lambda: library.TABLES, TABLES),
        (lambda: text_cases.TEXTS, TEXTS),
        (lambda: {"beside": text_cases.BESIDE}, {"beside": (PAIR, OTHER)}),
        (
            lambda: {"shared": [(row,) for row in library.SHARED]},
            {"shared": ("4 4 1 1 / 10", "1 1 4 4 / 10")},
        ),
    ],
)
def test_every_table_has_its_probabilities(found, wanted):
    found = found()
    assert found.keys() == wanted.keys()
    for name, models in wanted.items():
        for rows, given in zip(models, found[name], strict=True):
            assert [shown(row) for row in given] == [law(row) for row in rows.split("|")], name


@each(
    "n,vocabulary,turn,places",
    [
        (4, 8, 0, [0, 7, 1, 2]),
        (4, 8, 1, [7, 1, 2, 0]),
        (4, 33, 0, [0, 32, 1, 2]),  # token 32 is the last: it is at no border
        (4, 34, 0, [0, 33, 31, 32]),
        (4, 34, 2, [31, 32, 0, 33]),
        (4, 200, 0, [0, 199, 31, 32]),
        (4, 200, 1, [199, 127, 128, 0]),
        (5, 200, 2, [31, 32, 1, 0, 199]),
        (2, 65_539, 5, [65_538, 0]),
        (3, 65_539, 6, [0, 65_538, 31]),
        (4, 65_539, 5, [65_538, 65_535, 65_536, 0]),
        (1, 8, 3, [0]),
    ],
)
def test_where_a_large_case_has_its_symbols(n, vocabulary, turn, places):
    assert library._places(n, vocabulary, turn) == places


UNEVEN = "fewer drafts in some rows"


@each(
    "kind,hard,behind",
    [
        (Tokens(2), 2, ["same"] * 2 + ["garbage"]),
        (Block.of_length(2), 4, ["same"] * 4 + ["garbage", "nan"]),
        (Tree((-1, 0)), 4, ["same"] * 4 + ["garbage", "nan"]),
    ],
)
def test_which_cases_have_fewer_drafts(kind, hard, behind):
    cases = library.small_cases(kind)
    *uneven, apart = [case for case in cases if case.uneven]
    assert [case.behind for case in uneven] == behind
    assert [*uneven, apart] == list(cases[-len(behind) - 1 :])
    assert (apart.name, apart.behind) == (f"rows of a batch that differ, {UNEVEN}", "same")
    rows = [target.tolist() for target in apart.target]
    assert all(rows.count(each) == 1 for each in rows)
    assert len(rows) == (3 if kind.name == "tokens" else len(TABLES))
    names = ["all positive", "a drafted token that the target never says", *TABLES][:hard]
    words = {"same": "", "garbage": ", garbage behind them", "nan": ", NaN behind them"}
    assert [case.name for case in uneven] == [
        f"{name}, {UNEVEN}{words[each]}"
        for name, each in zip([*names, *names[-1:] * 2], behind, strict=False)
    ]
    (several,) = [case for case in cases if case.variants > 1 and not case.uneven]
    assert several.name == "rows of a batch that differ"
    assert several.draft[:, 0].tolist() == [
        [float(mass) for mass in law(ROWS[name].split("|")[0])] for name in list(ROWS)[:3]
    ]
    names = [case.name for case in cases if not case.uneven and case.variants == 1]
    assert names == [*library.ROWS, *(TABLES if kind.name != "tokens" else ())]


def test_the_plain_case_of_a_kind_and_its_batch_of_several():
    rows = [memoryless("", *pair) for pair in list(library.ROWS.values())[:3]]
    tables = [remembering("", *pair) for pair in library.TABLES.values()]
    for kind, wanted in (
        (Tokens(2), rows),
        (Block.of_length(2), tables),
        (Tokens(4, "without-replacement"), rows),
    ):
        (one,) = library.plain_cases(kind, False, "alone", beside=True)
        assert (one.name, one.beside) == ("alone", True)
        assert (one.draft == wanted[0].draft).all()
        assert (one.target == wanted[0].target).all()
        (several,) = library.plain_cases(kind, False, pairs=None)
        assert (several.draft == np.concatenate([case.draft for case in wanted])).all()
        assert (several.target == np.concatenate([case.target for case in wanted])).all()
    # Of three tokens there are no four distinct ones.
    wide = Tree((-1,) * 4, "without-replacement")
    assert [case.n for case in library.plain_cases(wide, False)] == [4]
    assert [case.n for case in library.plain_cases(wide, True)] == [3]
    for pairs in (1, None):
        kind = Tokens(5, "without-replacement")
        assert library.plain_cases(kind, False, pairs=pairs) == []


@each("length,prompts", [(3, [2] * 5 + [3] * 3), (4, [2] * 5 + [1] * 3), (6, [1] * 8)])
def test_texts_begin_with_each_symbol_if_they_are_few(length, prompts):
    """Of two symbols and five steps there are 2⁶ texts, of three 3⁶."""
    cases = text_cases.text_cases(length, 8)
    assert [case.variants for case in cases[:8]] == prompts
    assert [case.vocabulary for case in cases[8:]] == [8, 8, 8]
    other = text_cases.beside_texts()
    assert (other.variants, other.other) == (3, 2)
