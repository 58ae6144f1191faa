"""What an advice says, on choices that are made up: each sentence and number is known."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from matplotlib.figure import Figure

from otspec.advice import draw_pareto
from otspec.advice.advice import (
    Advice,
    document_of,
    percent_words,
    sentences,
    short,
    shown_choices,
    simpler_kinds,
    too_few,
    words_for,
)
from otspec.advice.evaluation.choices import UNKNOWN, Choice, Loss
from otspec.advice.report import _drafted as drafted_words
from otspec.advice.report import _draw_rays, pareto_figure, write_report
from otspec.blocks import as_shape
from otspec.frames import Rows
from otspec.plots.axes import UNNAMED
from otspec.reports.findings import interval_words

TREE = Choice(
    "recursive rejection", "i.i.d.", "2x1", 4, 2, 2, 2.5, (2.25, 2.75), 12.5, 2.0, (1.75, 2.25)
)
CHAIN = Choice(
    "token verification", "i.i.d.", "1x1", 2, 2, 1, 1.875, (1.75, 2.0), 12.5, 1.5, (1.25, 1.75)
)
ALONE = Choice("no draft", "", "", 0, 0, 0, 1.0, (1.0, 1.0), 10.0, 1.0, (1.0, 1.0))
LOSSY = replace(CHAIN, rule="lossy, 0.25 a token", speed_up=2.5, tokens=3.125, lossy=0.25)
SIMPLER = [
    Loss("token verification", CHAIN.rule, "i.i.d.", "1x1", 1.5, 0.25, (0.125, 0.375)),
    Loss("no draft", "no draft", "", "", 1.0, 0.5, (0.4, 0.6)),
]
GAIN = Loss("a lossy shortcut", LOSSY.rule, "i.i.d.", "1x1", 2.5, -0.25, (-0.5, 0.0))


def advice(choices=(TREE, CHAIN, ALONE), simpler=SIMPLER, texts=40, held_out=1.875, ends=(1.5, 2)):
    return Advice(
        Rows(list(choices), Choice, "two files"), Rows(list(simpler), Loss, "two files"),
        held_out, ends, texts, "two files",
    )  # fmt: skip


def without_intervals(choice):
    return replace(choice, tokens_interval=UNKNOWN, speed_up_interval=UNKNOWN)


FASTEST = (
    "The fastest is recursive rejection with the tree 2x1: 2.5000 tokens per call, 2.000 times"
)
HELD_OUT = "Cross-validated, with the choice made on other texts: 1.875 times"
BARE = {"choices": [*map(without_intervals, (TREE, CHAIN, ALONE))], "held_out": math.nan,
        "ends": UNKNOWN}  # fmt: skip


def test_kinds_of_simpler_choices():
    choices = {
        "tree": replace(TREE, drafts="iid"),
        "chain": CHAIN,
        "alone": ALONE,
        "shortcut": LOSSY,
        "uneven": replace(TREE, rule="pooled selection", tree="[[]][]"),
        "noise": replace(TREE, rule="shared noise", tree="2"),
    }
    assert {
        kind: {name for name, choice in choices.items() if holds(choice)}
        for kind, holds in simpler_kinds()
    } == {
        "a branching": {"tree", "chain", "shortcut", "noise"},
        "i.i.d. drafts": {"tree"},
        "a tree by recursive rejection": {"tree"},
        "the same text whatever is drafted": {"noise"},
        "a chain": {"chain", "shortcut"},
        "token verification": {"chain"},
        "no draft": {"alone"},
        "a lossy shortcut": {"shortcut"},
    }


def test_sentences_of_many_texts():
    assert list(sentences(advice())) == [
        f"{FASTEST} as fast as without drafts (95% interval 1.750 to 2.250).",
        f"{HELD_OUT} (95% interval 1.500 to 2.000).",
        "Intervals are 95% confidence intervals for the mean over texts.",
    ]


@pytest.mark.parametrize(
    ("texts", "said"), [(0, []), (1, ["One text gives no interval."]), (2, [])]
)
def test_sentences_without_intervals(texts, said):
    assert list(sentences(advice(texts=texts, **BARE))) == [
        f"{FASTEST} as fast as without drafts.", *said
    ]  # fmt: skip


def test_sentences_of_a_lossy_shortcut_and_of_no_draft():
    lossy = advice([LOSSY, TREE, CHAIN, ALONE], [*SIMPLER, GAIN])
    assert lossy.best is TREE
    assert list(sentences(lossy))[-1] == (
        "Output that is off (lossy, 0.25 a token) is 1.250 times as fast as that at best, on the "
        "chain 1x1."
    )
    slow = replace(CHAIN, speed_up=0.5)
    assert list(sentences(advice([ALONE, slow]))) == ["At these costs no draft pays."]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (0, []),
        (1, ["1 text is too few to choose by: log at least 10, better a hundred."]),
        (2, ["2 texts are too few to choose by: log at least 10, better a hundred."]),
        (9, ["9 texts are too few to choose by: log at least 10, better a hundred."]),
        (10, []),
    ],
)
def test_too_few_texts(texts, said):
    assert list(too_few(advice(texts=texts))) == said
    assert advice(texts=texts).enough == (not said)


def test_intervals_in_words():
    assert interval_words((1.25, 2.5)) == "1.250 to 2.500"
    assert interval_words((-0.00001, 2.5), 4) == "0.0000 to 2.5000"
    assert percent_words((0.125, 0.375)) == "12.5% to 37.5%"
    assert interval_words(UNKNOWN) == percent_words(UNKNOWN) == ""


def test_choices_and_trees_in_words():
    assert words_for(ALONE) == "no draft"
    assert words_for(TREE) == "recursive rejection with the tree 2x1"
    assert drafted_words(ALONE) == "no tree"
    assert drafted_words(TREE) == "the tree 2x1"
    uneven = replace(TREE, tree="[[]][]", nodes=3)
    assert drafted_words(uneven) == "a tree of 3 drafted tokens on 2 levels"


def test_long_trees_are_shown_by_their_levels():
    longest, longer = "[]" * 18, "[]" * 19
    assert len(longest) == 36
    assert short(longest) == longest
    assert short(longer) == "19"
    assert short("[[][[]]]" * 5) == "5+10+5"


def test_a_table_has_the_fastest_the_best_of_every_rule_and_your_own():
    slower, own = replace(TREE, tree="2", speed_up=1.25), replace(TREE, tree="3", speed_up=1.125)
    every = advice([TREE, CHAIN, slower, own, ALONE])
    assert shown_choices(every, 0) == [TREE, CHAIN, ALONE]
    assert shown_choices(every, 3) == [TREE, CHAIN, slower, ALONE]
    assert shown_choices(every, 1, [as_shape("3")]) == [TREE, CHAIN, own, ALONE]


def test_a_document_has_every_number():
    exact = document_of(advice(texts=0, **BARE))
    assert (exact["held_out"], exact["texts"], exact["enough_texts"]) == (None, 0, True)
    document = document_of(advice(texts=9))
    assert document["held_out"] == 1.875
    assert document["held_out_interval"] == [1.5, 2]
    assert not document["enough_texts"]
    assert [row["speed"] for row in document["choices"]] == [0.2, 0.15, 0.1]
    assert document["choices"][0]["tokens_interval"] == [2.25, 2.75]
    assert document["simpler"][0]["loss_interval"] == [0.125, 0.375]


def page_of(path, *advices):
    write_report(path / "advice.html", advices)
    return unescape((path / "advice.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(1.875, "0.6250 fewer"), (2.75, "0.2500 more"), (2.5, "as many")],
)
def test_a_report_begins_with_what_is_gained(tmp_path, tokens, words):
    found = advice([TREE, replace(CHAIN, tokens=tokens), ALONE])
    page = page_of(tmp_path, found)
    lead = re.search(r'<p class="lead">(.*?)</p>', page)[1]
    assert lead == (
        f"On two files: {FASTEST[:1].lower()}{FASTEST[1:]} as fast as without drafts (95% interval "
        "1.750 to 2.250). Token verification of a chain is 1.500 times as fast at best, "
        f"25.0% slower, with {words} tokens per call. Cross-validated, with the choice made "
        "on other texts: 1.875 times (95% interval 1.500 to 2.000)."
    )
    assert "<dd>×2.000</dd>" in page
    assert "<dd>+33.3%</dd>" in page
    assert "<dd>2.500</dd>" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"texts": 0, **BARE}, "Nothing: all numbers are exact for these two models."),
        ({"texts": 1, **BARE}, "All numbers are from one text, so that there are no intervals."),
        ({"texts": 2}, "All numbers are means over 2 texts, with 95% confidence intervals"),
    ],
)
def test_a_report_says_what_is_uncertain(tmp_path, options, said):
    page = page_of(tmp_path, advice(**options))
    assert said in page
    assert ("How it depends on what is done to the models" in page) is False
    both = page_of(tmp_path, advice(**options), advice(**options))
    assert "How it depends on what is done to the models" in both
    assert both.count("<svg") == 2


def test_the_tables_of_a_report_have_words_on_the_left_and_numbers_on_the_right(tmp_path):
    page = page_of(tmp_path, advice(), advice([CHAIN, ALONE]))
    rows = [
        re.findall(r'<td data-name="([\w -]+)"( class="words")?>(.*?)</td>', row)
        for row in re.findall(r"<tr>\n(<td.*?)</tr>", page, re.DOTALL)
    ]
    for row in rows:
        kinds = [bool(words) for _, words, _ in row]
        assert kinds == sorted(kinds, reverse=True)
        names = {"models", "simpler", "rule", "drafts", "tree"}
        assert {name for name, words, _ in row if words} == names & {name for name, *_ in row}
    first, second = ([cell for *_, cell in row] for row in rows[:2])
    worth = ["2.5000<small>2.2500 to 2.7500</small>", "2.000<small>1.750 to 2.250</small>"]
    assert first == ["two files", "recursive rejection", "2x1", *worth]
    assert second[:3] == ["two files", "token verification", "1x1"]
    cells = [[cell for *_, cell in row] for row in rows]
    assert ["recursive rejection", "i.i.d.", "2x1", "4", "2", worth[0], "12.5", worth[1]] in cells
    lost = "25.0%<small>12.5% to 37.5%</small>"
    assert ["token verification", "token verification", "i.i.d.", "1x1", "1.500", lost] in cells


def test_a_chain_that_is_best_gains_nothing_over_itself(tmp_path):
    page = page_of(tmp_path, advice([CHAIN, ALONE], SIMPLER))
    assert "slower, with" not in page
    page = page_of(tmp_path, advice([ALONE, replace(CHAIN, speed_up=0.5)], SIMPLER))
    assert "gain over a chain" not in page


def test_a_chart_begins_right_of_no_time_at_all():
    ax = draw_pareto(advice([replace(TREE, seconds=0.125), ALONE]))
    assert ax.get_xlim() == pytest.approx((0.01, 1 + 0.06 * 0.9875))
    ax = draw_pareto(advice([replace(TREE, seconds=10.5), ALONE]))  # a tenth at least is shown
    assert ax.get_xlim() == pytest.approx((1 - 0.06 * 0.1, 1.05 + 0.06 * 0.1))


def test_each_advice_of_a_report_has_one_chart(tmp_path):
    for number in (1, 3):
        others = [replace(advice(), source=f"source {i}") for i in range(number)]
        assert page_of(tmp_path, *others).count("Each mark is a choice;") == number


def test_a_chart_has_a_mark_for_each_choice_at_its_time_and_tokens():
    """Times are parts of a call without drafts, which takes 10; the ring is around the best."""
    ax = draw_pareto(advice())
    lines = {line.get_label(): line for line in ax.get_lines()}
    for choice in (TREE, CHAIN, ALONE):
        assert lines[choice.rule].get_xydata().tolist() == [[choice.seconds / 10, choice.tokens]]
    assert lines["the fastest"].get_xydata().tolist() == [[1.25, 2.5]]
    sizes = [lines[name].get_markersize() for name in ("the fastest", TREE.rule, CHAIN.rule)]
    assert sizes == [14, 5, 9]  # the ring is wide enough to go around each mark
    steps = lines["the most for the time"]
    assert steps.get_xydata().tolist() == [[1, 1], [1.25, 2.5]]
    assert (steps.get_drawstyle(), steps.get_linewidth(), steps.get_zorder()) == (
        "steps-post", 1.2, 2
    )  # fmt: skip
    assert lines["the fastest"].get_markeredgewidth() == 2
    rays = [line for line in ax.get_lines() if line.get_color() == "#BBBBBB"]
    assert {(line.get_linewidth(), line.get_zorder()) for line in rays} == {(0.7, 0)}
    assert ax.get_ylim() == (0.9, 2.8)
    assert ax.get_xlim() == pytest.approx((1 - 0.06 * 0.25, 1.25 + 0.06 * 0.25))
    speeds = []
    assert {text.get_text(): text.xy for text in ax.texts if "×" not in text.get_text()} == {
        "the fastest": (1.25, 2.5), "no draft": (1, 1)
    }  # fmt: skip
    for text in (text for text in ax.texts if "×" in text.get_text()):
        speed, (x, y) = float(text.get_text().strip().removeprefix("×")), text.xy
        speeds.append(speed)
        assert y == pytest.approx(speed * x)  # where the line of this speed leaves the axes
        assert x == pytest.approx(ax.get_xlim()[1]) or y == pytest.approx(2.8)
    assert speeds == sorted(speeds)
    figure = pareto_figure(advice(), title="A title")
    assert figure.get_size_inches()[1] == pytest.approx(4.6)


def test_of_many_rules_those_with_the_fastest_choices_have_names():
    many = [replace(TREE, rule=f"rule {i}", speed_up=1 + i / 10) for i in range(8)]
    slow = [replace(one, tree="1", speed_up=1 - i / 10) for i, one in enumerate(many)]
    ax = draw_pareto(advice([*many, *slow, ALONE]))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(names[1:]) == ["3 other rules", *(f"rule {i}" for i in range(3, 8))]
    marks = {line.get_label(): line for line in ax.get_lines()}
    gray = {name for name, line in marks.items() if line.get_color() == UNNAMED["color"]}
    assert gray & {ALONE.rule, *(one.rule for one in many)} == {"rule 0", "rule 1", "rule 2"}


@pytest.mark.parametrize(
    ("slowest", "tokens", "speeds"),
    [
        # A sixth from 2.8/0.985 down to 0.9/1.265 is nearest to a quarter. The line of 0.75 ends
        # at the right at 0.949 tokens, in the corner with 0.9; that of 2.75 above at 1.018.
        (1.25, 2.5, [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75]),
        # From 4.8/0.76 down to 0.9/5.24 nearest to 1. That of 5 ends above at 0.96, in the corner.
        (5, 4.5, [1, 2, 3, 4]),
        # A sixth from 4.23/0.76 is 0.899; a seventh would be nearest to 3/4. The corner is wider.
        (5, 3.93, [1, 2, 3]),
    ],
)
def test_lines_of_equal_speed_are_quarters_halves_or_whole_numbers(slowest, tokens, speeds):
    best = replace(TREE, seconds=10 * slowest, tokens=tokens)
    ax = draw_pareto(advice([best, ALONE]))
    texts = [text.get_text().strip() for text in ax.texts]
    assert [float(text.removeprefix("×")) for text in texts if "×" in text] == speeds


def test_lines_of_equal_speed_have_numbers_unless_they_end_in_a_corner():
    rng, figure = np.random.default_rng(2), Figure()
    numbered = []
    for left, width, top in rng.uniform([0.1, 0.1, 1.5], [1, 4, 6], (30, 3)):
        ax = figure.add_subplot()
        _draw_rays(ax, left, left + width, top)
        ends = np.array([line.get_xydata()[1] for line in ax.get_lines()])
        parts = (ends - [left, 0.9]) / [width, top - 0.9]
        assert parts.min() > 0  # no line ends outside
        wanted = ends[parts.min(axis=1) >= 0.08]
        assert np.array([text.xy for text in ax.texts]) == pytest.approx(wanted)
        numbered.append(len(wanted) / len(ends))
    assert min(numbered) < max(numbered) == 1


def test_a_line_that_ends_where_a_corner_does_has_a_number(monkeypatch):
    monkeypatch.setattr("otspec.advice.report._CORNER", 0.25)
    ax = Figure().add_subplot()
    _draw_rays(ax, 1.0, 2.0, 2.5)  # the line of 2 ends above at 1.25, that of 2.25 before
    assert [text.get_text() for text in ax.texts][-1] == "×2 "


@pytest.mark.parametrize(
    ("number", "near"),
    [(0.01, 0.25), (0.3, 0.25), (0.4, 0.5), (0.65, 0.75), (0.9, 1), (1.2, 1), (1.3, 1.5),
     (1.7, 1.5), (1.8, 2), (3.3, 3.5)],
)  # fmt: skip
def test_steps_of_speed_are_near_what_they_are_to_be(number, near):
    from otspec.advice.report import _round

    assert _round(number) == near
