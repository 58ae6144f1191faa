"""Every argument of every function refuses what it cannot be, in one line, and soon."""

import inspect
from enum import Enum
from fractions import Fraction
from importlib import import_module

import hostile_calls
import numpy as np
import pytest
from each_case import each
from hostile_calls import TABLE, hold, settled, valid
from hostile_values import EndlessList, deep, endless
from searching import NIGHTLY

import otspec
from otspec import blocks, closed_forms, models, rules
from otspec._base.arguments import as_list, as_tokens
from otspec._base.arithmetic import as_numbers, as_scalar, counted_power, power
from otspec.optimum import optimal_acceptances
from otspec.rules.base.counts import at_least_once, geometric

MODULES = (
    "otspec", "otspec.rules", "otspec.drafts", "otspec.programs", "otspec.solvers", "otspec.cones",
    "otspec.auditing", "otspec.models", "otspec.blocks", "otspec.logged",
    "otspec.traces", "otspec.datasets", "otspec.closed_forms", "otspec.rules.lossy",
    "otspec.frames", "otspec.advice", "otspec.plots",
    "otspec.conformance.adapters",
)  # fmt: skip
RESULTS = {
    "BestTree", "BestTrees", "Column", "FastestTree", "FinishedRun", "LoggedTrees",
    "Shape", "Thresholded", "TimedTree",
    "HandOverPlan", "HandOverRule", "LongRun", "Residual",
    "BlockPlan", "LossyOptimum", "PathPlan", "PriceBound", "TextOptimum",
    "Audit", "BlockAudit", "BlockComparison", "Certificate", "Comparison", "Condition", "Cone",
    "Configuration", "Decoded", "DraftedTree", "Elimination", "LinearProgram", "Names", "Optimum",
    "Outcome", "Plan", "SampleAudit", "SearchReport", "SelectionPolytope", "Size", "Solution",
    "Step", "Summary", "TextAudit", "TreeComparison", "Witness", "Estimate",
    "Advice", "Choice", "Load", "LoadAdvice", "Loss", "PolicyAudit", "WithNull",
    "AcceptLengths", "Ratio", "Replay", "Tally",
}  # fmt: skip
"""Records that the package makes, whose fields nobody passes."""
ABSTRACT = {
    "Drafted", "KeptTexts", "LossyRule", "AcceptOrReplace", "AgainstAnother",
    "LenientRule",
    "BlockRule", "DraftLaw", "Formulation", "Model", "PairRule", "Rule",
    "SingleDraftLaw", "SingleDraftRule", "TreeRule",
}  # fmt: skip
ALIKE = {"CompactMaxFlow", "Importance", "MaxFlow", "Membership", "Reduced"}
"""The programs that ``formulate`` makes, and nobody else."""
HUGE = 2**70
DRAFT, TARGET = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]


def public():
    """Yield the names of what takes arguments."""
    for module in map(import_module, MODULES):
        for name in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, name)
            if name.startswith("_") or (
                not inspect.isroutine(value) and not inspect.isclass(value)
            ):
                continue
            if inspect.isclass(value) and issubclass(value, (Exception, Enum, float, str)):
                continue
            home = value.__module__ == module.__name__ or hasattr(module, "__all__")
            if home and inspect.signature(value).parameters:
                yield name


def test_the_table_has_every_function_and_class():
    rows = {row.split(".")[-1] for row in TABLE}
    assert set(public()) - RESULTS - ABSTRACT - ALIKE <= rows


@each("name", TABLE)
def test_the_examples_are_taken(name):
    row = TABLE[name]
    arguments = valid(row)
    if all(kind != "path" for kind, _ in row.arguments.values()):
        settled(row.call(**arguments))


@pytest.fixture
def sooner(monkeypatch):
    """By day lists end after a thousand entries, which takes a thousandth of the time."""
    if not NIGHTLY:
        monkeypatch.setattr("otspec._base.coerce._MOST_GIVEN", 10**3)
        monkeypatch.setattr("otspec._base.arguments.MOST_ITEMS", 10**3)


@pytest.mark.usefixtures("sooner")
@each("name", TABLE)
def test_hostile_values_are_refused(name):
    for case in hostile_calls.hostile_calls([name]):
        hold(case)


ALL = rules.compared_rules()


@each("rule", ALL)
@each("question", ["kernel", "joint_kernel", "sample"])
def test_drafts_are_integers(rule, question):
    made = rule(DRAFT, TARGET, rule.only_k or 2)
    more = (np.random.default_rng(0),) if question == "sample" else ()
    for token in (1.9, 0.2, True, np.True_, "0", "01", None, -1, 3, np.float64(1), HUGE):
        with pytest.raises(ValueError, match=r"^x\[0\] is .*token ids"):
            getattr(made, question)([token, 0][: made.k], *more)


@pytest.mark.parametrize(
    "x", [(1, 0), [1, 0], np.array([1, 0]), (np.int8(1), np.uint64(0)), iter([1, 0])]
)
def test_drafts_of_any_integer_type_are_the_same(x):
    rule = rules.KSequential(DRAFT, TARGET, 2)
    assert (rule.kernel(x) == rule.kernel((1, 0))).all()


@pytest.mark.parametrize("number", [np.int64(2), np.array(2), np.uint8(2)])
def test_integers_of_numpy_count(number):
    assert type(otspec.IID(DRAFT, number).k) is int
    assert otspec.IID(DRAFT, 2).marginal(number - 1).tolist() == DRAFT
    assert otspec.IID(DRAFT, 2).sample(number, np.random.default_rng(0)).shape == (2, 2)


@pytest.mark.parametrize("values", [np.array(0.5), np.float32(0.5), 0.5])
def test_numbers_of_no_dimension_are_numbers(values):
    assert as_scalar(values, "value") == 0.5
    assert as_numbers([values, values], "values").tolist() == [0.5, 0.5]


def test_an_array_without_masked_entries_is_an_array():
    values = np.ma.array(DRAFT, mask=[False] * 3)
    assert otspec.distributions.as_distribution(values).tolist() == DRAFT


@pytest.mark.parametrize(
    "values",
    [
        np.ma.array(DRAFT, mask=[1, 0, 0]),
        [np.ma.masked, 0.5, 0.5],
        [np.ma.array([0.5, 0.5], mask=[0, 1])],
        np.ma.array(["1/2", "1/2"], mask=[0, 1]),
    ],
)
def test_masks_are_not_dropped(values):
    with pytest.raises(ValueError, match=r"^draft.*mask"):
        otspec.IID(values, 2)


@pytest.mark.parametrize(
    "read",
    [
        lambda values: as_list(values, "values", "a list"),
        lambda values: as_tokens(values, 1, "values"),
    ],
)
def test_lists_without_an_end_are_given_up_after_a_million_entries(read):
    with pytest.raises(ValueError, match="values has more than 1,000,000 entries: pass"):
        read(EndlessList([0, 0]))


@pytest.mark.parametrize("values", [deep(), endless(), deep(33)])
def test_lists_end_before_the_stack(values):
    with pytest.raises(ValueError, match="nested more than 32 levels"):
        as_numbers(values, "values")


def test_lists_of_32_levels_are_read():
    assert as_numbers(deep(32, 1), "values").shape == (1,) * 32


# k beyond all loops


def test_many_drafts_accept_what_the_limit_says():
    limit = closed_forms.limit_acceptance([0.5, 0.5, 0.0], TARGET)
    pair = [0.5, 0.5, 0.0], TARGET
    assert limit == TARGET[0] + TARGET[1]
    slack = 8 * np.finfo(float).eps
    for k in (10**4, 10**9, HUGE):
        law = otspec.IID(pair[0], k)
        found = [
            otspec.optimal_acceptance(law, pair[1]).acceptance,
            *optimal_acceptances(*pair, [k, 1]),
        ]
        found[2:] = [
            rule(*pair, k).acceptance() for rule in (rules.KSequential, rules.NaiveSampling)
        ]
        if k < 10**5:
            found.append(rules.RecursiveRejection(*pair, k).acceptance())
        assert all(abs(value - limit) <= slack for value in found), (k, found)
        assert law.marginal(k - 1).tolist() == pair[0]


def test_exact_powers_of_zero_and_one_have_no_limit():
    law = otspec.IID([1, 0], HUGE)
    assert law.inside([0]) == 1
    assert law.inside([1]) == 0
    assert otspec.optimal_acceptance(law, ["1/4", "3/4"]).acceptance == Fraction(1, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda pair: otspec.optimal_acceptance(otspec.IID(pair[0], HUGE), pair[1]),
        lambda pair: optimal_acceptances(*pair, [1, HUGE]),
        lambda pair: rules.NaiveSampling(*pair, HUGE).acceptance(),
        lambda pair: rules.KSequential(*pair, HUGE),
        lambda pair: rules.RecursiveRejection(*pair, HUGE).acceptance(),
        lambda pair: rules.PooledSelection(*pair, HUGE),
        lambda pair: rules.ImportanceSampling(*pair, HUGE),
        lambda _: closed_forms.bernoulli_acceptance("1/4", "3/4", HUGE),
        lambda _: closed_forms.uniform_acceptance(4, HUGE),
        lambda _: closed_forms.k_sequential_guarantee(HUGE),
        lambda pair: otspec.IID(pair[0], HUGE).tuples(),
        lambda pair: otspec.IID(pair[0], HUGE).sample(1, np.random.default_rng(0)),
        lambda pair: otspec.IID(pair[0], 10**101),
    ],
)
def test_more_drafts_than_exact_numbers_can_bear_are_refused(call):
    with pytest.raises(ValueError, match=r"\bk\b.*(1180591620717411303424|10000000|1e\+100)|^size"):
        call((["1/2", "1/2"], ["1/4", "3/4"]))


@pytest.mark.parametrize("k", [*range(1, 20), 31, 32, 33, 100])
def test_geometric_sums_are_sums(k):
    ratio = Fraction(2, 7)
    assert geometric(ratio, k) == sum(ratio**i for i in range(k))
    assert at_least_once(ratio, k) == 1 - (1 - ratio) ** k
    wanted = float(sum(ratio**i for i in range(k)))
    # 2 log2 k steps, each of three roundings of positive terms; powers carry k roundings.
    assert abs(geometric(float(ratio), k) - wanted) <= wanted * np.finfo(float).eps * (k + 40)


@pytest.mark.parametrize("k", [1, 2, 3, 40, 41, 1000])
def test_several_numbers_of_drafts_are_those_of_each(k):
    draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    found = optimal_acceptances(draft, target, [7, k, 1])
    assert found[1] == otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance


def test_powers_and_counts():
    third = np.array([Fraction(1, 3), Fraction(0), Fraction(1)])
    assert power(third, 5).tolist() == [Fraction(1, 243), 0, 1]
    assert counted_power(3, 5) == 243
    assert counted_power(3, HUGE) == counted_power(10, 18) == counted_power(10, 10**400) == 10**18
    assert (counted_power(1, HUGE), counted_power(0, 3)) == (1, 0)


@pytest.mark.parametrize("given", [5, None, "x", np.random.RandomState(0), np.random])
def test_generators_are_those_of_numpy(given):
    for call in (
        lambda: otspec.IID(DRAFT, 2).sample(2, given),
        lambda: rules.KSequential(DRAFT, TARGET, 2).sample((0, 1), given),
        lambda: blocks.BlockVerificationPreprint(*[models.memoryless(DRAFT)] * 2, 1).sample(given),
    ):
        with pytest.raises(ValueError, match=r"^rng is .*default_rng"):
            call()


def test_what_is_too_large_is_said():
    with pytest.raises(ValueError, match=r"size is 1000000000000, .*2 numbers.*memory"):
        otspec.IID(DRAFT, 2).sample(10**12, np.random.default_rng(0))
