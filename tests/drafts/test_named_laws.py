"""Draft laws that have a name: what they say of themselves, and a new one in one file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracles
import pytest
from instances import pairs
from searching import of_all

import otspec
from otspec.auditing import audit_over, random_instances
from otspec.distributions import as_distribution
from otspec.drafts import LAWS, TooFewTokensError, named_law
from otspec.drafts.single import FixedButOne, register
from otspec.plots.axes import LAW_LOOKS, look_of, style_of
from otspec.plots.pictures import acceptance_figure
from otspec.rules import PlannedRule
from otspec.traces import compare

ROOT = Path(__file__).parents[2]
TABLES = {
    "iid": oracles.iid_table,
    "without-replacement": oracles.without_replacement_table,
    "hub": lambda draft, _k: oracles.hub_table(draft),
    "top-plus-one": oracles.top_plus_one_table,
    "top": lambda draft, k: oracles.fixed_table(oracles.likeliest(draft, k)),
}


def test_the_registry_is_in_the_order_of_tables():
    assert list(LAWS) == list(TABLES)
    assert all(name == law.name for name, law in LAWS.items())
    assert len({law.words for law in LAWS.values()}) == len(LAWS)
    assert len({style_of(name) for name in LAWS}) == len(LAWS)
    assert len({look_of("optimum", name)["markersize"] for name in LAWS}) == len(LAWS)


def test_the_table_of_the_documentation_has_the_names():
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\([^|]*\| `([a-z-]+)` \|", page, re.MULTILINE)
    assert {name: law for law, name in rows} == {
        name: law_class.__name__ for name, law_class in LAWS.items()
    }


@pytest.mark.parametrize("name", TABLES)
def test_a_law_exists_where_it_can_be_made_and_is_the_law_of_its_name(name):
    law_class, seen = LAWS[name], {True: 0, False: 0}
    for draft, _ in pairs(180, 32, 4):
        checked = as_distribution(draft)
        for k in (1, 2, 3, 5):
            exists = law_class.exists(checked, k)
            assert type(exists) is bool
            seen[exists] += 1
            if not exists:
                with pytest.raises(ValueError, match=r"too few for|come in pairs"):
                    named_law(name, checked, k)
                continue
            law = named_law(name, checked, k)
            assert type(law) is law_class
            tuples, masses = law.tuples()
            found = dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))
            assert found == {x: mass for x, mass in TABLES[name](draft, k).items() if mass > 0}
            if law_class.distinct:
                assert all(len(set(x)) == k for x in found)
    assert seen[True] >= of_all(32)
    assert (seen[False] == 0) is (name == "iid")


@pytest.mark.parametrize("law_class", [law for law in LAWS.values() if law.distinct])
def test_too_few_tokens_are_told_apart_from_other_refusals(law_class):
    with pytest.raises(TooFewTokensError, match="draft has 1 token of positive probability"):
        law_class([1, 0], 2)
    with pytest.raises(ValueError, match="k must be") as refusal:
        law_class([1, 0], 0)
    assert type(refusal.value) is ValueError


def test_a_hub_is_made_for_two_drafts_whether_they_are_counted_or_not():
    assert otspec.Hub(["1/2", "1/2"]).k == otspec.Hub(["1/2", "1/2"], 2).k == 2
    with pytest.raises(ValueError, match="k is 3, but hub drafts come in pairs"):
        otspec.Hub(["1/2", "1/2"], 3)


@pytest.fixture
def repeated():
    """A law that the package does not have: one token, drafted k times, for k up to 2."""

    @register
    @dataclass(frozen=True, eq=False)
    class Repeated(FixedButOne):
        name = "repeated"
        words = "repeated"

        @classmethod
        def check_k(cls, draft, k):  # noqa: ARG003
            if k > 2:
                raise ValueError("a token is drafted twice at most")

        fixed = np.array([], dtype=np.intp)

        def free(self):
            return self.draft

        def table_rows(self):
            return self.n

        def _table(self):
            return np.repeat(np.arange(self.n)[:, None], self.k, axis=1), self.draft

    LAW_LOOKS["repeated"] = (0, (1, 3)), 18
    yield Repeated
    LAW_LOOKS.pop("repeated")
    LAWS._entries.pop("repeated", None)


def test_a_new_law_needs_nothing_but_its_own_file(repeated):
    draft, target = ["1/2", "1/2", 0], ["1/4", "1/4", "1/2"]
    assert type(named_law("repeated", draft, 2)) is repeated
    rows = compare(draft, target, [1, 2, 3], ["iid", "repeated"])
    # One token is accepted at best with Σ min(p, q), however often it is drafted.
    found = [(row.k, row.acceptance) for row in rows if row.drafts == "repeated"]
    assert found == [(1, Fraction(1, 2)), (2, Fraction(1, 2))]
    panels = acceptance_figure(rows, title="arrivals").axes
    assert [axes.get_title(loc="left") for axes in panels] == ["i.i.d. drafts", "repeated drafts"]
    (line,) = [line for line in panels[1].lines if line.get_label() == "optimum, repeated"]
    assert (line.get_markersize(), line.get_markerfacecolor()) == (18, "none")

    class Named(PlannedRule):
        drafts = "repeated"

    def named(p, q, k):
        return Named(otspec.optimal_plan(repeated(p, k), q, solver="rational"))

    report = audit_over(named, random_instances(30, most_tokens=3))
    assert report.lossless
    assert report.laws == ("repeated",)
    assert report.worst_gap == 0
    assert report.refused > 0
    assert audit_over(named, random_instances(30), drafts="iid").failure is not None


def test_a_new_law_says_what_its_cut_is(repeated):
    for draft, target in pairs(181, 24, 5):
        best = otspec.optimal_acceptance(repeated(draft, 2), target)
        table = {(y, y): mass for y, mass in enumerate(draft)}
        assert best.acceptance == oracles.optimum(table, target)
        best.check()
    n = 60_000  # more than max flow takes
    draft, target = np.full(n, 1 / n), np.linspace(0, 2 / n, n)
    best = otspec.optimal_acceptance(repeated(draft, 2), target, normalize=True)
    # Of the target's line half a triangle is above the draft: 1/4 in the limit, 1/n off it.
    assert best.acceptance == pytest.approx(3 / 4, abs=1 / n)
    best.check()


def test_two_laws_of_one_name_are_refused(repeated):
    assert register(repeated) is repeated

    class Other(repeated):
        pass

    with pytest.raises(ValueError, match="another draft law named 'repeated'"):
        register(Other)
