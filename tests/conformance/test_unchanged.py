"""What reports, certificates and vectors name stays what it was: cases, and vectors of a version.

A change on purpose is one line here. A report of an older release is of other cases then.
"""

import hashlib
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from otspec.conformance.cases.generated import HISTORIES, history_case
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.cases.library import (
    cases_of,
    plain_cases,
    settings_cases,
)
from otspec.conformance.cases.settings import ALLOWED, SETTINGS
from otspec.conformance.cases.text_cases import beside_texts, text_cases
from otspec.conformance.faults import RIGHT_RULES, joint_law
from otspec.conformance.faults.base import faults_of
from otspec.conformance.vectors.vectors import reference_vectors
from tests.support.docs_scripts import script
from tests.support.limits import of_module

measure = script("fault_controls")
FAULTY = ("a drafted token that the target never says", "good drafts after bad ones")
BLOCK = Block.of_length(2)
CALLS = [name for name in SETTINGS if not name.endswith("s")]


def plain(thing):
    """Return a thing as nested lists, its floats to nine digits."""
    if isinstance(thing, (float, np.floating)):
        return round(float(thing), 9) + 0.0
    if is_dataclass(thing):
        values = {each.name: getattr(thing, each.name) for each in fields(thing)}
        return [(name, plain(value)) for name, value in values.items() if value is not None]
    if isinstance(thing, dict):
        return [(name, plain(value)) for name, value in thing.items()]
    if isinstance(thing, np.ndarray):
        return plain(thing.tolist())
    return [plain(each) for each in thing] if isinstance(thing, (list, tuple)) else thing


def digest(thing):
    return hashlib.sha256(repr(plain(thing)).encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("kind", "uneven", "wanted"),
    [
        (Tokens(3), True, "c43965d2977c"),
        (Tokens(3, "without-replacement"), False, "a41f2f7add34"),
        (BLOCK, True, "d6dbd21a844b"),
    ],
    ids=["tokens", "distinct tokens", "blocks and trees"],
)
def test_the_cases_of_a_kind_are_those_that_they_were(kind, uneven, wanted):
    one, several = (
        ("all positive", "several pairs") if kind != BLOCK else ("a table", "several tables")
    )
    made = [
        *cases_of(kind, 1_031, uneven),
        *plain_cases(kind, uneven, one),
        *plain_cases(kind, uneven, several, pairs=None),
    ]
    assert digest(made) == wanted


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ((*CALLS, "draft_logits", ALLOWED), "acc00f0539e4"),
        ((*SETTINGS, ALLOWED), "b6aaaeb0787d"),
        (("temperatures", "top_ps"), "c58b7326edb6"),
        (("temperature", "top_k", "top_p", "min_p"), "2673bf64ed1b"),
    ],
)
def test_the_cases_of_settings_are_those_that_they_were(asked, wanted):
    assert digest(settings_cases(BLOCK, asked, uneven=True)) == wanted


def test_whole_rows_of_distinct_drafts_have_settings_where_there_are_so_many():
    """Two of the cases have more tokens than drafts, however many these are."""
    for k, count in ((3, 8), (4, 6), (5, 2)):
        cases = settings_cases(Tokens(k, "without-replacement"), ("temperatures",), uneven=False)
        assert len(cases) == count
        assert len(settings_cases(Tokens(k), ("temperatures",), uneven=False)) == 6


def test_the_cases_of_texts_are_those_that_they_were():
    assert digest([text_cases(length, 4_099) for length in (1, 2, 3)]) == "9c0d8641de0c"
    assert digest(beside_texts()) == "4954c7632cf3"
    histories = [history_case(option) for option in HISTORIES]
    laws = [law.texts(3) for _, law in histories]
    assert digest([histories, laws]) == "b36600afad97"


RULES = {rule.name: rule for rule in RIGHT_RULES}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("maximal coupling", "176ba26f2638"),
        ("recursive rejection", "3be4abd6fbfc"),
        ("recursive rejection without replacement", "3a9ac69f3a9d"),
        ("k-sequential", "7dfc2cb2de23"),
        ("token verification", "9ebcfb6906f7"),
        ("block verification", "7a1cebfcd7ab"),
        ("recursive rejection by depth", "f2d41168f868"),
        ("recursive rejection without replacement by depth", "76ad5d2847a7"),
    ],
)
def test_the_laws_of_known_faults_are_those_that_they_were(name, wanted):
    """Explanations of older reports name them."""
    rule = RULES[name]
    kind = measure.kind_of(rule)
    laws = {
        (case.name, fault.name): joint_law(fault.machine, rule, kind, case)
        for case in measure.cases_of(kind)
        if case.name in (FAULTY[:1] if kind.name == "tree" else FAULTY)
        for fault in faults_of(kind.name)
    }
    assert digest(dict(sorted(laws.items()))) == wanted  # whatever the order of the table


LIMITS = {
    "cases.arrays": {
        "DTYPES": {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-9},
        "MOSTLY": 0.9, "MOST_RESERVED": 1_024,
    },
    "cases.tasks": {"MANY_ROWS": 2**16, "GROSS": 4, "MOST_GROSS": 0.15, "MOST_DRAFTED": 1_000},
    "check": {
        "BUDGET": 10**11, "VOCABULARY": 65_539, "ENTRIES": 2**24, "MOST_ENTRIES": 2**36,
        "MOST_BUDGET": 10**15, "MOST_TOKENS": 2**20, "LEAST": 1e-100,
    },
    "evidence.batches": {"APART": 8, "MOST_COUNTED": 4_096, "PROBE": 64, "STEPS": 2},
    "evidence.case_by_case": {
        "MOST_ROWS": 2**14, "MOST_NUMBERS": 2**22, "COARSE": 0.1, "LARGE": 0.2
    },
    "evidence.dependence": {"CALLS_APART": 64, "SHORT": 8, "ALIKE": 32},
    "evidence.evidence": {
        "MISS": 1e-3, "EARLY": (0.5, 0.75), "COARSER": 100, "RATIOS": (3, 10, 30),
        "LARGEST": 10**9,
    },
    "exact": {"MOST_WAYS": 20_000},
    "exact_check": {"AS_OFTEN": 10**8, "MOST_DRAFTED": 20_000},
    "faults.base": {"MISFIT": 1e-6},
    "faults.last_draw": {"MOST_WAYS": 20_000},
    "faults.explanations": {
        "FORGIVEN": 1, "WORSE": 12.0, "SHOWN": 5, "FAILING": 8, "PASSING": 6, "TIE": 1e-6,
        "MOST_PAIRS": 3, "MOST_SYMBOLS": 4,
    },
    "faults.two_faults": {"ALONE": 4, "MOST": 10, "FIRST": 3, "GRID": 9, "IMPOSSIBLE": 1e12},
    "keyed": {"PROBED": 64},
    "report.certificate": {"VERSION": 1, "PATIENCE": 10.0},
    "report.document": {"VERSION": 2, "MOST_SHOWN": 5},
    "report.rendering": {"MOST_CELLS": 12},
    "same_seed": {
        "ROWS": 32, "FEW_ROWS": 8, "STREAMS": 16, "FEW_STREAMS": 4, "FARTHEST": 1_024, "STEPS": 6,
        "LOOKED_AT": 4,
    },
    "texts": {"MOST_TEXTS": 4_096},
}  # fmt: skip


@pytest.mark.parametrize("module", LIMITS)
def test_a_check_looks_as_closely_as_it_did(module):
    assert of_module(f"conformance.{module}", LIMITS[module]) == LIMITS[module]


def test_the_vectors_of_a_version_are_those_that_they_were():
    document = reference_vectors()
    assert document.pop("version") == 1
    del document["otspec"]
    assert digest(document) == "420878cb0a60"
